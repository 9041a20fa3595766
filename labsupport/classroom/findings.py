"""What grading found of one student's lab, without a word of theirs: states, points, keys of our own sentences, minutes."""
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import nbformat

from labsupport.classroom.course import Course
from labsupport.classroom.execute import FATES, IDEA
from labsupport.lossless import js_json
from labsupport.strict_json import read_json
from labsupport.workbench.text import vocabulary

FORMAT = 1
PAUSE = 10
"""Minutes after which somebody who ran no cell was away."""
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

    def to_json(self) -> str:
        """As the text of reports/ID/LAB.json."""
        return js_json({"format": FORMAT, **asdict(self), "exercises": [asdict(one) for one in self.exercises]})


def find(course: Course, id: str, lab: str, grades: dict[str, tuple[float, float]]) -> Finding:
    """What is found of the *lab* of the student *id*; *grades* are the points, and the most, of each check."""
    submitted = _read(course.folder / "submitted" / id / lab / f"{lab}.ipynb")
    graded = _read(course.folder / "autograded" / id / lab / f"{lab}.ipynb")
    if submitted is None or graded is None:
        return Finding(id, lab, "unreadable", None, 0, 0, ())
    fates = {cell.metadata.get("nbgrader", {}).get("grade_id", ""): cell.metadata.get("lab", {}).get("fate", "")
             for cell in graded.cells}
    exercises = tuple(_exercise(cell, grades, fates) for cell in graded.cells if cell.metadata.get("nbgrader", {}).get("grade"))
    code = [cell for cell in submitted.cells if cell.cell_type == "code" and cell.source.strip()]
    ran = [cell for cell in code if cell.execution_count is not None]
    state: LabState = ("done" if exercises and all(one.state == "right" for one in exercises) else
                       "started" if ran or any(one.state != "not_started" for one in exercises) else "untouched")
    return Finding(id, lab, state, minutes_of(submitted.cells), len(ran), len(code), exercises)


def _read(path: Path) -> Any:
    try:
        return nbformat.read(path, as_version=4)
    except (OSError, ValueError, AttributeError, KeyError, TypeError, RecursionError):  # whatever a notebook may hold
        return None


def _exercise(cell: Any, grades: dict[str, tuple[float, float]], fates: dict[str, str]) -> Exercise:
    check = cell.metadata.nbgrader.grade_id
    name = check.removesuffix("-check")
    points, most = grades.get(check, (0.0, float(cell.metadata.nbgrader.get("points", 0))))
    said = cell.metadata.get("lab", {})
    key, fate = said.get(IDEA, ""), fates.get(check) or fates.get(name, "")
    state: ExerciseState = ("not_run" if fate else "right" if key == "check_correct" and points == most else
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
    noted = cell.metadata.get("execution", {})
    text = noted.get("shell.execute_reply") if isinstance(noted, dict) else None
    try:
        found = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return found if found is not None and found.tzinfo is not None else None


def save(course: Course, finding: Finding) -> None:
    """Keep *finding* as reports/ID/LAB.json: the body-free report that the class page is made of."""
    path = course.folder / "reports" / finding.id / f"{finding.lab}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(finding.to_json() + "\n", "utf-8", newline="\n")


def load(course: Course) -> list[Finding]:
    """Every report of the course that can be read, by lab and student; what is no key of ours is left out of it."""
    found = []
    for path in sorted((course.folder / "reports").glob("*/*.json")):
        try:
            found.append(_finding(read_json(path.read_bytes())))
        except (OSError, ValueError, KeyError, TypeError):
            continue
    order = course.labs
    return sorted((one for one in found if one.lab in order), key=lambda one: (order.index(one.lab), one.id))


def _finding(said: Any) -> Finding:
    if said.pop("format") != FORMAT:
        raise ValueError("a report of another format")
    exercises = tuple(Exercise(**one) for one in said.pop("exercises"))
    if any(one.idea and one.idea not in vocabulary() for one in exercises):
        raise ValueError("a report with words that are not ours")
    return Finding(**said, exercises=exercises)
