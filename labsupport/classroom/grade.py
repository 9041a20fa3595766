"""Collect, grade, give feedback, and say where the class is stuck: what `python3 lab.py grade` runs.

    python3 lab.py grade COURSE --from DOWNLOADS      what the learning platform gave: notebooks and zips
    python3 lab.py grade COURSE                       what is in submitted/ already, from nbgrader's exchange for example

Students' code is run here, as whoever runs this: grade on a machine or an account that holds nothing but the course.
"""
import argparse
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry

from labsupport.classroom import findings
from labsupport.classroom.course import Course, asked, chosen
from labsupport.classroom.gather import gather, place
from labsupport.classroom.grader import collect, grader
from labsupport.classroom.handed import keep
from labsupport.classroom.page import write_page
from labsupport.classroom.students import make_data, mark
from labsupport.errors import LabError
from labsupport.workbench.text import say, speaking

LOG = "grading.log"
"""What nbgrader said of submissions that it could not grade; it may quote them."""


def grade(course: Course, labs: list[str], again: bool = False) -> list[findings.Finding]:
    """Grade every submission of *labs* that is new, or all of them *again*; feedback and reports are written, findings given.

    One that nbgrader cannot grade, since it is no notebook for example, is found to be unreadable and stops no other.
    """
    found = []
    roster = course.roster()
    for lab, id in submissions(course, labs):
        folder = course.folder / "submitted" / id / lab
        if id in roster:  # whatever was handed in: the seed is the roster's
            make_data(course.folder / "students" / id, roster[id])
            mark(folder, roster[id], f"../../../students/{id}/data")
        else:
            (folder / ".student").unlink(missing_ok=True)
        with grader(course) as api:
            done = course.folder / "autograded" / id / lab
            if again or not done.is_dir() or _changed(folder, done, lab):
                result = api.autograde(lab, id, force=True, create=True)
                if result["success"]:
                    api.generate_feedback(lab, id, force=True)
                    _offline(course.folder / "feedback" / id / lab / f"{lab}.html")
                else:
                    shutil.rmtree(done, ignore_errors=True)
                    with (course.folder / LOG).open("a", encoding="utf-8") as file:
                        file.write(f"== {lab}, {id}\n{result.get('log', '')}\n{result.get('error', '')}\n")
        one = findings.find(course, id, lab, grades(course, lab, id))
        findings.save(course, one)
        found.append(one)
        points = f"{sum(each.points for each in one.exercises):g}"
        print(say("class_failed" if one.state == "unreadable" else "class_graded", lab=lab, id=id,
                  state=say(findings.LAB_STATES[one.state]), points=points, log=LOG), flush=True)
    return found


def _offline(page: Path) -> None:
    """Take out what the feedback page would fetch from elsewhere: it opens without the network, and tells nobody."""
    if page.is_file():
        text = re.sub(r"""(?s)<script[^>]*\ssrc=["']https?:.*?</script>""", "", page.read_text("utf-8"))
        page.write_text(text, "utf-8", newline="\n")


def submissions(course: Course, labs: list[str]) -> Iterator[tuple[str, str]]:
    """The labs and students of what lies in submitted/."""
    for lab in labs:
        for path in sorted((course.folder / "submitted").glob(f"*/{lab}")):
            yield lab, path.parent.name


def _changed(submitted: Path, autograded: Path, lab: str) -> bool:
    """Whether what was handed in is newer than its grading."""
    pair = [folder / f"{lab}.ipynb" for folder in (submitted, autograded)]
    return not all(path.is_file() for path in pair) or pair[0].stat().st_mtime > pair[1].stat().st_mtime


def grades(course: Course, lab: str, id: str) -> dict[str, tuple[float, float]]:
    """Points and most points of each check of a submission, as the gradebook has them now, corrections by hand included."""
    try:
        with Gradebook(f"sqlite:///{(course.folder / 'gradebook.db').as_posix()}") as book:
            return {one.name: (one.score, one.max_score) for one in book.find_submission_notebook(lab, lab, id).grades}
    except MissingEntry:
        return {}


def main() -> None:
    parser = argparse.ArgumentParser("lab.py grade", description="Collect and grade what students handed in.")
    parser.add_argument("course", metavar="COURSE", help="what lab.py release made")
    parser.add_argument("names", nargs="*", metavar="LAB", help="a2, b4 …; all labs of the course when none is named")
    parser.add_argument("--from", dest="source", metavar="FOLDER", help="what was downloaded: notebooks and zips")
    parser.add_argument("--again", action="store_true", help="grade what was graded before, too")
    args = parser.parse_args()
    try:
        course = Course(asked(args.course))
        with speaking(course.lang):
            labs = chosen(args.names, course.labs)
            new = []
            if args.source:
                gathered = gather(course, asked(args.source))
                for path, reason in gathered.left:
                    print(say("class_left", path=path, why=say(reason)))
                new = gathered.reports
                for lab in place(course, gathered):
                    collect(course, lab)
            if not grade(course, labs, args.again):
                sys.exit(say("class_nothing", folder=course.folder))
            write_page(course, findings.load(course), keep(course, new))
            print(say("class_page", path=course.folder / "class.html"))
    except LabError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
