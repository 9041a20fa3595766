"""What grading found of one student's lab, without a word of theirs: states, points, keys of our own sentences, minutes."""
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, get_args

import nbformat

from labsupport.classroom.course import Course
from labsupport.classroom.execute import CORRECT, FATES, IDEA
from labsupport.lossless import js_json
from labsupport.strict_json import read_json
from labsupport.workbench.text import vocabulary

FORMAT = 1
PAUSE = 10
"""Minutes after which somebody who ran no cell was away."""
LARGEST = 1e9
ExerciseState = Literal["right", "wrong", "not_started", "not_run"]
LabState = Literal["done", "started", "untouched", "unreadable"]
LAB_STATES: dict[LabState, str] = {"done": "class_done", "started": "class_started", "untouched": "class_untouched",
                                   "unreadable": "class_unreadable"}


@dataclass(frozen=True)
class Exercise:
    """An exercise: its *name*, *points* of *most*, its *state*, and the key of what its check said, the wrong *idea*."""

    name: str
    points: float
    most: float
    state: ExerciseState
    idea: str


@dataclass(frozen=True)
class Finding:
    """A lab that the student *id* handed in. *minutes* is None where the notebook has no times; *cells* of *of* were run."""

    id: str
    lab: str
    state: LabState
    minutes: int | None
    cells: int
    of: int
    exercises: tuple[Exercise, ...]
    graded: str = ""
    """A digest of what was graded: while it stays, so does the grade."""

    def to_json(self) -> str:
        """As the text of reports/ID/LAB.json."""
        return js_json({"format": FORMAT, **asdict(self), "exercises": [asdict(one) for one in self.exercises]})


def find(course: Course, id: str, lab: str, grades: dict[str, tuple[float, float]], digest: str = "") -> Finding:
    """What is found of the *lab* of the student *id*; *grades* are the points, and the most, of each check."""
    submitted = _read(course.folder / "submitted" / id / lab / f"{lab}.ipynb")
    graded = _read(course.folder / "autograded" / id / lab / f"{lab}.ipynb")
    if submitted is None or graded is None:
        return Finding(id, lab, "unreadable", None, 0, 0, (), digest)
    fates = {cell.metadata.get("nbgrader", {}).get("grade_id", ""): cell.metadata.get("lab", {}).get("fate", "")
             for cell in graded.cells}
    exercises = tuple(_exercise(cell, grades, fates) for cell in graded.cells if cell.metadata.get("nbgrader", {}).get("grade"))
    handed = [cell for cell in submitted.cells if isinstance(cell, dict)]
    code = [cell for cell in handed if cell.get("cell_type") == "code" and str(cell.get("source", "")).strip()]
    ran = [cell for cell in code if cell.get("execution_count") is not None]
    state: LabState = ("done" if exercises and all(one.state == "right" for one in exercises) else
                       "started" if ran or any(one.state != "not_started" for one in exercises) else "untouched")
    return Finding(id, lab, state, minutes_of(handed), len(ran), len(code), exercises, digest)


def _read(path: Path) -> Any:
    """The notebook at *path*, which may be against the rules of its format; None where it is none."""
    try:
        nb = nbformat.convert(nbformat.reader.reads(path.read_text("utf-8")), 4)
        return nb if isinstance(nb.cells, list) else None
    except Exception:  # noqa: BLE001  a notebook may hold anything
        return None


def _exercise(cell: Any, grades: dict[str, tuple[float, float]], fates: dict[str, str]) -> Exercise:
    check = cell.metadata.nbgrader.grade_id
    name = check.removesuffix("-check")
    points, most = grades.get(check, (0.0, float(cell.metadata.nbgrader.get("points", 0))))
    said = cell.metadata.get("lab", {})
    key, fate = said.get(IDEA, ""), fates.get(check) or fates.get(name, "")
    state: ExerciseState = ("not_run" if fate else "right" if key == CORRECT and points == most else
                            "not_started" if key == "check_not_started" else "wrong")
    return Exercise(name, points, most, state, FATES.get(fate, "") if fate else
                    key if state == "wrong" else "")


def minutes_of(cells: Iterable[Any]) -> int | None:
    """The minutes between the first cell that was run and the last, as JupyterLab noted them, without the pauses.

    Only the last run of each cell is noted, so it is an estimate. None where fewer than two times are noted.
    """
    times = sorted(filter(None, (_time(cell) for cell in cells)))
    if len(times) < 2:
        return None
    gaps = [(later - earlier).total_seconds() / 60 for earlier, later in pairwise(times)]
    return round(sum(gap for gap in gaps if gap <= PAUSE))


def _time(cell: Any) -> datetime | None:
    try:
        found = datetime.fromisoformat(cell["metadata"]["execution"]["shell.execute_reply"])
        return found.astimezone(UTC) if found.tzinfo is not None else None
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


def save(course: Course, finding: Finding) -> None:
    """Keep *finding* as reports/ID/LAB.json: the body-free report that the class page is made of."""
    path = course.folder / "reports" / finding.id / f"{finding.lab}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(finding.to_json() + "\n", "utf-8", newline="\n")


def load(course: Course) -> list[Finding]:
    """Every report of the course that can be read, by lab and student; one that somebody altered is left out."""
    order = course.labs
    paths = [(lab, path) for lab in order for path in sorted((course.folder / "reports").glob(f"*/{lab}.json"))]
    found = (_finding(path.parent.name, lab, path) for lab, path in paths)
    return [one for one in found if one is not None]


def digest_of(course: Course, id: str, lab: str) -> str:
    """The digest of what was graded when the report on *lab* of the student *id* was written; empty where there is none."""
    one = _finding(id, lab, course.folder / "reports" / id / f"{lab}.json")
    return "" if one is None else one.graded


def _finding(id: str, lab: str, path: Path) -> Finding | None:
    """The report at *path*, which is to be that of the *lab* of the student *id*; None when it is not."""
    try:
        said = read_json(path.read_bytes())
        if said.pop("format") != FORMAT:
            return None
        one = Finding(**said | {"exercises": tuple(Exercise(**each) for each in said["exercises"])})
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    numbers = [one.cells, one.of, one.minutes or 0, *(figure for each in one.exercises for figure in (each.points, each.most))]
    ours = (one.id == id and one.lab == lab and one.state in LAB_STATES and isinstance(one.graded, str)
            and all(type(number) in (int, float) and 0 <= number < LARGEST for number in numbers)
            and type(one.minutes) in (int, type(None))
            and all(re.fullmatch(r"[a-z0-9-]{1,80}", each.name) for each in one.exercises)
            and all(each.state in get_args(ExerciseState) and each.idea in ("", *vocabulary()) for each in one.exercises))
    return one if ours else None
