"""nbgrader on a course, in this process: its own steps, with its words kept for what went wrong."""
import io
import logging
import shutil
import traceback
import warnings
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from nbformat.warnings import DuplicateCellId, MissingIDFieldWarning
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI, ZipCollectApp
from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import SAWarning
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from labsupport.classroom.course import CONFIG, Course
from labsupport.errors import CourseError


@contextmanager
def grader(course: Course) -> Iterator[NbGraderAPI]:
    """nbgrader's own interface to *course*; the working folder is the course meanwhile."""
    course.lang  # noqa: B018  says so when it is none
    with chdir(course.folder):
        config = _config()
        logging.getLogger("traitlets").setLevel(logging.ERROR)
        api = NbGraderAPI(coursedir=CourseDirectory(config=config), config=config)
        api.log_level = logging.ERROR
        with warnings.catch_warnings():
            for kind in (SAWarning, DuplicateCellId, MissingIDFieldWarning):  # nbgrader's database; what was handed in
                warnings.simplefilter("ignore", kind)
            yield api


def _config() -> Config:
    config: Config = PyFileConfigLoader(CONFIG, path=".").load_config()
    config.CourseDirectory.root = "."
    return config


def succeed(result: dict[str, Any], what: str) -> None:
    """Raise CourseError when nbgrader's *result* of *what* is no success; the last line of what it said says why."""
    if not result["success"]:
        said = [line for line in (result.get("log") or result.get("error") or "").splitlines() if line.strip()]
        raise CourseError(f"{what}: nbgrader stopped. {said[-1].strip() if said else ''}")


def generate(course: Course, labs: list[str]) -> None:
    """release/LAB for each of *labs* from source/LAB: nbgrader's generate_assignment.

    CourseError where a lab that was graded has other exercises now, which nbgrader does not take.
    """
    with grader(course) as api:
        for lab in labs:
            result = api.generate_assignment(lab, force=True, create=True)
            if "Cannot add or remove cells" in result.get("log", ""):
                raise CourseError(f"{lab} was graded here, and has other exercises now. Its gradebook is for the old ones: "
                                  "release it into a new course. This one is as it was.")
            succeed(result, lab)


@contextmanager
def kept(*folders: Path) -> Iterator[None]:
    """Put *folders* back as they were when what is done inside does not come to its end."""
    with TemporaryDirectory() as place:
        for at, folder in enumerate(folders):
            if folder.is_dir():
                shutil.copytree(folder, Path(place, str(at)))
        try:
            yield
        except BaseException:
            for at, folder in enumerate(folders):
                shutil.rmtree(folder, ignore_errors=True)
                if Path(place, str(at)).is_dir():
                    shutil.copytree(Path(place, str(at)), folder)
            raise


def check_release(course: Course, lab: str) -> None:
    """CourseError where *lab* cannot be graded, whoever handed it in: its release is not there, or not in the gradebook."""
    with Gradebook(f"sqlite:///{(course.folder / 'gradebook.db').as_posix()}") as book:
        known = any(one.name == lab for one in book.assignments)
    if not known or not (course.folder / "release" / lab / f"{lab}.ipynb").is_file():
        raise CourseError(f"{lab} is not released here, or gradebook.db is another one. Release it again: "
                          f"python3 lab.py release COURSE {lab}")


def autograde(api: NbGraderAPI, lab: str, id: str) -> str:
    """Grade one submission; empty, or what nbgrader said when it could not.

    nbgrader's own way here takes Ctrl-C for a fault of the submission, and goes on with the next one.
    """
    api.coursedir.assignment_id, api.coursedir.student_id = lab, id
    steps = Autograde(coursedir=api.coursedir, parent=api)
    steps.force = steps.create_student = True
    said = io.StringIO()
    handler = logging.StreamHandler(said)
    steps.log.addHandler(handler)
    try:
        steps.start()
    except (Exception, SystemExit):  # noqa: BLE001  a notebook may be anything, and so may be what it breaks
        return f"{said.getvalue()}\n{traceback.format_exc()}"
    finally:
        steps.log.removeHandler(handler)
        api.coursedir.assignment_id, api.coursedir.student_id = "", "*"
    return ""


def collect(course: Course, lab: str) -> None:
    """submitted/ID/LAB from the files in downloaded/LAB/archive: nbgrader's zip_collect."""
    with chdir(course.folder):
        app = ZipCollectApp(config=_config(), log_level=logging.ERROR)
        app.force = True
        app.extra_args = [lab]
        app.coursedir = CourseDirectory(config=app.config, assignment_id=lab)
        app.start()
