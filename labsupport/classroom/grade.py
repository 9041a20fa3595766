"""Collect, grade, give feedback, and say where the class is stuck: what `python3 lab.py grade` runs.

    python3 lab.py grade COURSE --from DOWNLOADS      what the learning platform gave: notebooks and zips
    python3 lab.py grade COURSE                       what is in submitted/ already, from nbgrader's exchange for example

Students' code is run here, as whoever runs this: grade on a machine or an account that holds nothing but the course and the
workbook, best of all one that may not write the workbook. What is kept apart, and what is not, is said in `apart`; what a
check can be made to believe is said in `execute`.
"""
import argparse
import hashlib
import io
import re
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import TextIO

import portalocker
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.utils import rmtree

from labsupport.classroom import findings
from labsupport.classroom.apart import Meddled, no_one_left
from labsupport.classroom.course import Course, asked, chosen
from labsupport.classroom.gather import gather, place, shown
from labsupport.classroom.grader import autograde, check_release, collect, grader
from labsupport.classroom.handed import keep
from labsupport.classroom.page import write_page
from labsupport.classroom.students import make_data
from labsupport.errors import CourseError, LabError
from labsupport.own import FILE, mark
from labsupport.workbench.text import say, speaking

LOG = "grading.log"
"""What nbgrader said of submissions that it could not grade; it may quote them."""
RUNNING = ".grading"


def grade(course: Course, labs: list[str], again: bool = False) -> list[findings.Finding]:
    """Grade every submission of *labs* that is new, or all of them *again*; feedback and reports are written, findings given.

    New is what was not graded to the end, and what has other bytes, another release or another seed than when it was. One
    that nbgrader cannot grade, since it is no notebook for example, is found to be unreadable and stops no other.

    CourseError when the course cannot be used, when it is being graded already, and when a student's code changed it.
    """
    found = []
    roster = course.roster()
    for lab in {lab for lab, _ in submissions(course, labs)}:
        check_release(course, lab)
    with alone(course) as running:
        last = running.read()  # what ended its grading along with itself goes last
        ended = [one for one in submissions(course, labs) if last == "/".join(one)]
        for lab, id in ended:
            print(say("class_ended", lab=lab, id=id), flush=True)
        for lab, id in sorted(submissions(course, labs), key=lambda one: one in ended):
            running.write(f"{lab}/{id}")
            found.append(_grade(course, lab, id, roster.get(id, 0), again))
            running.write("")
    return sorted(found, key=lambda one: (course.labs.index(one.lab), one.id))


def _grade(course: Course, lab: str, id: str, seed: int, again: bool) -> findings.Finding:
    """Grade one submission where that is needed; what was found of it is saved, said and given."""
    folder, done = (course.folder / part / id / lab for part in ("submitted", "autograded"))
    remove(folder / FILE)
    if seed:  # whatever was handed in: the seed is the roster's
        make_data(course.folder / "students" / id, seed)
        mark(folder, seed, f"../../../students/{id}/data")
    digest = digest_of(course, lab, folder / f"{lab}.ipynb", seed)
    if again or not done.is_dir() or findings.digest_of(course, id, lab) != digest:
        remove(course.folder / "reports" / id / f"{lab}.json")
        with grader(course) as api, no_one_left():
            try:
                fault = autograde(api, lab, id)
            except Meddled as error:
                raise CourseError(say("class_meddled", lab=lab, id=id, files=error)) from None
            if not fault:
                result = api.generate_feedback(lab, id, force=True)
                fault = "" if result["success"] else result.get("error", "")
                _offline(course.folder / "feedback" / id / lab / f"{lab}.html")
            elif done.is_dir():
                rmtree(done)
        if fault:
            check_disk(course)
            with (course.folder / LOG).open("a", encoding="utf-8", errors="replace") as file:
                file.write(f"== {lab}, {id}\n{fault}\n")
    one = findings.find(course, id, lab, grades(course, lab, id), digest)
    findings.save(course, one)
    points = f"{sum(each.points for each in one.exercises):g}"
    print(say("class_failed" if one.state == "unreadable" else "class_graded", lab=lab, id=id,
              state=say(findings.LAB_STATES[one.state]), points=points, log=LOG), flush=True)
    return one


def _offline(page: Path) -> None:
    """Take out what the feedback page would fetch from elsewhere: it opens without the network, and tells nobody."""
    if page.is_file():
        text = re.sub(r"""(?s)<script[^>]*\ssrc=["']https?:.*?</script>""", "", page.read_text("utf-8"))
        page.write_text(text, "utf-8", newline="\n")


def submissions(course: Course, labs: list[str]) -> list[tuple[str, str]]:
    """The labs and students of what lies in submitted/."""
    return [(lab, path.parent.name) for lab in labs
            for path in sorted((course.folder / "submitted").glob(f"*/{lab}")) if path.is_dir()]


def digest_of(course: Course, lab: str, submitted: Path, seed: int) -> str:
    """What a grade depends on: the notebook that was *submitted*, the release, the seed."""
    said = hashlib.sha256(str(seed).encode())
    for path in (submitted, course.folder / "release" / lab / f"{lab}.ipynb"):
        said.update(hashlib.sha256(path.read_bytes() if path.is_file() else b"").digest())
    return said.hexdigest()


def remove(path: Path) -> None:
    """Remove what is at *path*: a file, a link and not what it leads to, or a folder with all that is in it."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def check_disk(course: Course) -> None:
    """CourseError where nothing can be written in the course, or its gradebook is in use: no fault of a submission."""
    try:
        with TemporaryFile(dir=course.folder) as file:
            file.write(bytes(1_000_000))
        with closing(sqlite3.connect(course.folder / "gradebook.db", timeout=1)) as book:
            book.execute("begin immediate")
    except (OSError, sqlite3.Error) as error:
        raise CourseError(say("class_closed", folder=course.folder, error=error)) from None


class Running:
    """The file that says what is being graded just now."""

    def __init__(self, file: TextIO) -> None:
        self.file = file

    def read(self) -> str:
        """What was being graded when grading was killed; empty where it was not."""
        self.file.seek(0)
        return self.file.read()

    def write(self, what: str) -> None:
        """Say that *what* is being graded."""
        self.file.seek(0)
        self.file.truncate()
        self.file.write(what)
        self.file.flush()


@contextmanager
def alone(course: Course) -> Iterator[Running]:
    """Be the only one that grades *course*; CourseError where somebody does already."""
    with (course.folder / RUNNING).open("a+", encoding="utf-8") as file:
        try:
            portalocker.lock(file, portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING)
        except portalocker.LockException:
            raise CourseError(say("class_busy", folder=course.folder)) from None
        running = Running(file)
        try:
            yield running
        except BaseException:
            running.write("")
            raise


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
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a file's name may have signs that the terminal has not
    try:
        course = Course(asked(args.course))
        with speaking(course.lang):
            labs = chosen(args.names, course.labs)
            new = []
            if args.source:
                gathered = gather(course, asked(args.source))
                for path, reason in gathered.left:
                    print(say("class_left", path=shown(path), why=say(reason)))
                new = gathered.reports
                for lab in place(course, gathered):
                    collect(course, lab)
            if not grade(course, labs, args.again):
                sys.exit(say("class_nothing", folder=course.folder))
            write_page(course, findings.load(course), keep(course, new))
            print(say("class_page", path=course.folder / "class.html"))
    except (LabError, OSError) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit(say("class_stopped"))


if __name__ == "__main__":
    main()
