"""A course: a folder as nbgrader lays it out, for one language, with a roster of ids and seeds.

    .lang  nbgrader_config.py      the language; nbgrader's settings, which are `configure`
    source/LAB  release/LAB        with and without the answers
    roster.csv  students/ID        who takes part, each with a seed, and what each is given (`students`)
    submitted/ID/LAB  autograded/  feedback/  gradebook.db  (`collect`, `grade`)
    reports/ID/LAB.json  class.html  class.csv  (`findings`, `page`)
"""
import csv
import hashlib
import io
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from labsupport.errors import CourseError
from labsupport.workbench.labs import LABS
from labsupport.workbench.text import LANGUAGES, Language

ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,39}")
"""A student's id is part of names of files: letters, digits, dots and hyphens, and no underscore, which ends it there."""
CONFIG = "nbgrader_config.py"


@dataclass(frozen=True)
class Course:
    """The course in *folder*; CourseError for a name with which nbgrader cannot work."""

    folder: Path

    def __post_init__(self) -> None:
        signs = sorted(set("[]{}*?") & set(str(self.folder)))
        if signs:
            raise CourseError(f"{self.folder}: nbgrader finds nothing in a folder with {' '.join(signs)} in its path. "
                              "Name it otherwise.")

    @cached_property
    def lang(self) -> Language:
        """Its language; CourseError where *folder* is no course."""
        try:
            said = (self.folder / ".lang").read_text("utf-8").strip()
        except (OSError, ValueError):
            said = ""
        found = next((lang for lang in LANGUAGES if lang == said), None)
        if found is None or not (self.folder / CONFIG).is_file():
            raise CourseError(f"{self.folder} is no course: it lacks .lang or {CONFIG}. "
                              "Make one there: python3 lab.py release FOLDER")
        return found

    @property
    def labs(self) -> list[str]:
        """The names of its labs, in the order of the road."""
        return [lab.name for lab in LABS if (self.folder / "source" / lab.name).is_dir()]

    def roster(self) -> dict[str, int]:
        """The seed of each student, by id. CourseError names the line of `roster.csv` that cannot be read."""
        path = self.folder / "roster.csv"
        if not path.is_file():
            return {}
        found: dict[str, int] = {}
        try:
            rows = list(csv.DictReader(io.StringIO(path.read_text("utf-8-sig"), newline="")))
        except (UnicodeDecodeError, csv.Error) as error:
            raise CourseError(f"{path} cannot be read: {error}. Save it as CSV in UTF-8.") from None
        for number, row in enumerate(rows, start=2):
            id, seed = (row.get("id") or "").strip(), (row.get("seed") or "").strip()
            taken = id.lower() in map(str.lower, found)
            if taken or ID.fullmatch(id) is None or re.fullmatch(r"[1-9][0-9]{0,9}", seed, re.ASCII) is None:
                raise CourseError(f"{path}:{number}: a line is an id of letters, digits, dots and hyphens, which no other "
                                  "has, and a seed from 1 on. Mend it, or delete the file and let lab.py class make it.")
            found[id] = int(seed)
        return found

    def write_roster(self, roster: dict[str, int]) -> None:
        """Save *roster* as `roster.csv`: new ids come after those that are there, whose lines and columns stay."""
        path = self.folder / "roster.csv"
        there = self.roster()
        new = [(id, seed) for id, seed in roster.items() if id not in there]
        text = path.read_text("utf-8-sig") if path.is_file() else "id,seed\n"
        columns = next(csv.reader(io.StringIO(text, newline="")))
        out = io.StringIO()
        rows = [[{"id": id, "seed": seed}.get(column, "") for column in columns] for id, seed in new]
        csv.writer(out, lineterminator="\n").writerows(rows)
        if new:
            made = path.with_suffix(".new")
            made.write_text(text + ("" if text.endswith("\n") else "\n") + out.getvalue(), "utf-8", newline="\n")
            made.replace(path)


def seed_of(id: str, course_seed: int) -> int:
    """The seed of the student *id* in a course of that *course_seed*; it does not depend on who else takes part.

    >>> seed_of("s01", 2026) == seed_of("s01", 2026), seed_of("s01", 2026) == seed_of("s02", 2026)
    (True, False)
    """
    return int.from_bytes(hashlib.sha256(f"{course_seed} {id}".encode()).digest()[:4], "big") % (2**31 - 1) + 1


def asked(folder: str) -> Path:
    """The *folder* that somebody named, seen from where they typed the command: lab.py has left that place."""
    return Path(os.path.abspath(Path(os.environ.get("LAB_FROM", "."), folder)))


def chosen(names: Iterable[str], known: Iterable[str]) -> list[str]:
    """The labs meant by *names*, each a name or an id such as a2; all that are *known* when none is given.

    >>> chosen(["A2"], ["a1_parse_and_load", "a2_trim_to_a_budget"])
    ['a2_trim_to_a_budget']

    CourseError for one that is not there.
    """
    known, wanted = list(known), list(names)
    by_word = {word.lower(): lab.name for lab in LABS for word in (lab.id, lab.name) if lab.name in known}
    unknown = [name for name in wanted if name.lower() not in by_word]
    if unknown:
        raise CourseError(f"there is no lab {unknown[0]!r} here; there are {', '.join(known)}")
    return [by_word[name.lower()] for name in wanted] or known


def configure(c: Any, stub: str) -> None:
    """Set up nbgrader: *c* is its configuration, *stub* what learners find where the answer was."""
    from nbgrader import preprocessors
    from nbgrader.converters.autograde import Autograde

    from labsupport.classroom.execute import LabExecute
    from labsupport.classroom.restore import RestoreCells

    steps = Autograde.autograde_preprocessors.default_args[0]
    c.CourseDirectory.course_id = "labs"
    c.ClearSolutions.code_stub = {"python": stub}
    c.Autograde.sanitize_preprocessors = [RestoreCells, *Autograde.sanitize_preprocessors.default_args[0]]
    c.Autograde.autograde_preprocessors = [LabExecute if step is preprocessors.Execute else step for step in steps]
    c.FileNameCollectorPlugin.named_regexp = rf".*[/\\](?P<student_id>{ID.pattern})_(?P<file_id>[a-z0-9_]+)\.ipynb"
