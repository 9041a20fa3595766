"""The lab reports that students handed in beside their notebooks (`workbench.report`): counts of them, and no name or word."""
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from labsupport.classroom.course import Course
from labsupport.lossless import js_json
from labsupport.strict_json import read_json
from labsupport.workbench.labs import LABS
from labsupport.workbench.report import FORMAT

LARGEST = 10**9
PARTS = {"format", "events", "order", "counts", "turns", "pairing", "surface", "figures", "requests", "problems", "checks"}


@dataclass(frozen=True)
class Handed:
    """A report of the student *id* on *lab*: events, requests and checks, and how many of them are good."""

    id: str
    lab: str
    events: int
    requests: int
    rebuilt: int
    checks: int
    passed: int
    faults: int


def read_report(id: str, lab: str, data: bytes) -> Handed | None:
    """The counts in the lab report *data*; None when it is none. Names of checks are the student's own, so they stay out.

    >>> read_report("s01", "b11_clinic", b"{}") is None
    True
    """
    try:
        said = read_json(data)
        if not isinstance(said, dict) or said.keys() != PARTS or said["format"] != FORMAT:
            return None
        events = said["counts"]["events"]
        rebuilt, passed = _flags(said["requests"], "rebuilds"), _flags(said["checks"], "passed")
        faults = sum(len(said["problems"][name]) for name in ("invariants", "compaction"))
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        return None
    if type(events) is not int or not 0 <= events < LARGEST:
        return None
    return Handed(id, lab, events, len(rebuilt), sum(rebuilt), len(passed), sum(passed), faults)


def _flags(rows: Sequence[Any], name: str) -> list[bool]:
    found = [row[name] for row in rows]
    if not all(type(flag) is bool for flag in found):
        raise ValueError("a flag is true or false")
    return found


def keep(course: Course, new: Sequence[Handed]) -> list[Handed]:
    """The reports of the course, *new* ones instead of older ones of a student and lab; kept in reports/."""
    path = course.folder / "reports" / "handed.json"
    old = _kept(path)
    both = {(one.lab, one.id): one for one in (*old, *new)}
    kept = [both[at] for at in sorted(both)]
    path.parent.mkdir(exist_ok=True)
    path.write_text(js_json([asdict(one) for one in kept]) + "\n", "utf-8", newline="\n")
    return kept


def _kept(path: Path) -> list[Handed]:
    """The reports at *path*, without those that somebody altered so that they are none."""
    try:
        found = [Handed(**row) for row in read_json(path.read_bytes())]
    except (OSError, ValueError, TypeError, RecursionError):
        return []
    labs = [lab.name for lab in LABS]
    return [one for one in found if one.lab in labs and isinstance(one.id, str)
            and all(type(count) is int and 0 <= count < LARGEST
                    for count in (one.events, one.requests, one.rebuilt, one.checks, one.passed, one.faults))]
