"""What instructors use: a course for nbgrader, its students, its grading, and the page that says where the class is stuck."""
