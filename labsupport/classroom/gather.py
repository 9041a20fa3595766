"""What students handed in, as a learning platform gives it, put where nbgrader looks.

Of a file, its name and its folders say whose it is and of which lab; nothing else of a zip is unpacked, and nothing is run.

    ID_LAB.ipynb     ID/LAB.ipynb     ID.zip with LAB.ipynb in it     … LAB (1).ipynb, …-1.ipynb

A lab report may lie beside a notebook, as LAB.json; of it only counts are taken.
"""
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from zlib import error as ZlibError

from labsupport.classroom.course import ID, Course
from labsupport.classroom.handed import Handed, read_report

MOST = 50_000_000
"""Bytes of a notebook; a larger one is not taken."""
TAKEN = (".ipynb", ".json")
COPY = re.compile(r"(?:\s*\(\d+\)|[-_ ](?:\d{1,3}|copy\d*))+$", re.IGNORECASE)


@dataclass
class Gathered:
    """Which *files* were taken, by lab and student, and which were not: their paths, each with the key of its reason."""

    files: dict[str, dict[str, bytes]] = field(default_factory=dict)
    reports: list[Handed] = field(default_factory=list)
    left: list[tuple[str, str]] = field(default_factory=list)


def gather(course: Course, folder: Path) -> Gathered:
    """The notebooks under *folder*, the newest of each student and lab. With a roster, only its students are known."""
    found, labs, roster = Gathered(), course.labs, {id.lower(): id for id in course.roster()}
    for path, _, data in sorted(_notebooks(folder, found), key=lambda one: one[1]):  # a newer one replaces an older one
        lab, id = _lab(path, labs), _student(path, labs, roster)
        reason = ("class_left_lab" if lab is None else "class_left_student" if id is None else
                  "class_left_large" if len(data) > MOST else "")
        report = read_report(id or "", lab or "", data) if path.suffix == ".json" and not reason else None
        if path.suffix == ".json" and report is None:
            continue  # data, settings: whatever else lies in a folder
        if reason or lab is None or id is None:
            found.left.append((str(path), reason))
        elif report is not None:
            found.reports.append(report)
        else:
            found.files.setdefault(lab, {})[id] = data
    return found


def place(course: Course, gathered: Gathered) -> list[str]:
    """Put what was *gathered* into downloaded/LAB/archive, where zip_collect looks; the labs that are there."""
    for lab, files in gathered.files.items():
        archive = course.folder / "downloaded" / lab / "archive"
        archive.mkdir(parents=True, exist_ok=True)
        for id, data in files.items():
            (archive / f"{id}_{lab}.ipynb").write_bytes(data)
    return [lab for lab in course.labs if lab in gathered.files]


def _notebooks(folder: Path, found: Gathered) -> Iterator[tuple[PurePosixPath, float, bytes]]:
    """Each notebook under *folder*, in zips too: its path seen from there, when it was changed, its bytes."""
    for path in sorted(folder.rglob("*")):
        seen = PurePosixPath(path.relative_to(folder).as_posix())
        if not path.is_file() or ".ipynb_checkpoints" in seen.parts:
            continue
        if path.suffix in TAKEN:
            yield seen, path.stat().st_mtime, path.read_bytes() if path.stat().st_size <= MOST else bytes(MOST + 1)
        elif path.suffix == ".zip":
            try:
                yield from _in_zip(path, seen)
            except (zipfile.BadZipFile, ZlibError, OSError, NotImplementedError, RuntimeError, EOFError):
                found.left.append((str(seen), "class_left_zip"))


def _in_zip(path: Path, seen: PurePosixPath) -> Iterator[tuple[PurePosixPath, float, bytes]]:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            inside = PurePosixPath(member.filename.replace("\\", "/"))
            if inside.suffix in TAKEN and not {".ipynb_checkpoints", "__MACOSX"} & set(inside.parts):
                with archive.open(member) as file:
                    data = file.read(MOST + 1)  # what the archive says of its size may be a lie
                yield seen.with_suffix("") / inside, path.stat().st_mtime, data


def _lab(path: PurePosixPath, labs: list[str]) -> str | None:
    stem = COPY.sub("", path.stem)
    return next((lab for lab in labs if stem == lab or stem.endswith(f"_{lab}")), None)


def _student(path: PurePosixPath, labs: list[str], roster: dict[str, str]) -> str | None:
    """The id before the lab in the file's name, else the nearest folder that is one."""
    stem = COPY.sub("", path.stem)
    before = next((stem.removesuffix(f"_{lab}") for lab in labs if stem.endswith(f"_{lab}")), "")
    names = [before, *reversed(path.parts[:-1])] if before else [*reversed(path.parts[:-1])]
    for name in names:
        if roster and name.lower() in roster:
            return roster[name.lower()]
        if not roster and ID.fullmatch(name):
            return name
    return None
