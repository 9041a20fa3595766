"""nbgrader on a course, in this process: its own steps, with its words kept for what went wrong."""
import logging
import warnings
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from typing import Any

from nbgrader.apps import NbGraderAPI, ZipCollectApp
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
            warnings.simplefilter("ignore", SAWarning)  # of nbgrader's use of its database
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
    """release/LAB for each of *labs* from source/LAB: nbgrader's generate_assignment."""
    with grader(course) as api:
        for lab in labs:
            succeed(api.generate_assignment(lab, force=True, create=True), lab)


def collect(course: Course, lab: str) -> None:
    """submitted/ID/LAB from the files in downloaded/LAB/archive: nbgrader's zip_collect."""
    with chdir(course.folder):
        app = ZipCollectApp(config=_config(), log_level=logging.ERROR)
        app.force = True
        app.extra_args = [lab]
        app.coursedir = CourseDirectory(config=app.config, assignment_id=lab)
        app.start()
