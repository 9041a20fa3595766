"""What students handed in, as a learning platform gives it, put where nbgrader looks.

Of a file, its name and its folders say whose it is and of which lab; nothing else of a zip is unpacked, and nothing is run.

    ID_LAB.ipynb     ID/LAB.ipynb     ID.zip with LAB.ipynb in it     … LAB (1).ipynb, …-1.ipynb

A lab report may lie beside a notebook, as LAB.json; of it only counts are taken. Links are not followed.
"""
import codecs
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from lzma import LZMAError
from pathlib import Path, PurePosixPath
from shutil import rmtree
from struct import error as StructError
from zlib import error as ZlibError

from labsupport.classroom.course import ID, Course
from labsupport.classroom.handed import Handed, read_report
from labsupport.errors import CourseError

MOST = 20_000_000
"""Bytes of a notebook; a larger one is not taken."""
ALL = 50 * MOST
"""Bytes that are taken out of one zip."""
LONGEST = 255
"""Characters of a name, as disks have it; a zip may have longer ones."""
TAKEN = (".ipynb", ".json")
ARCHIVES = (".zip", ".rar", ".7z", ".tar", ".gz", ".tgz", ".bz2", ".xz")
SKIPPED = {".ipynb_checkpoints", "__MACOSX"}
COPY = re.compile(r"(?:\s*\(\d+\)|[-_ ](?:\d{1,3}|copy\d*))+$", re.IGNORECASE)
UNREADABLE = (zipfile.BadZipFile, zipfile.LargeZipFile, ZlibError, LZMAError, StructError, OSError, NotImplementedError,
              RuntimeError, EOFError, ValueError, IndexError, OverflowError)
"""What zipfile raises for what is no zip, is damaged or has a password."""


@dataclass
class Gathered:
    """Which *files* were taken, by lab and student, and which were not: their paths, each with the key of its reason."""

    files: dict[str, dict[str, bytes]] = field(default_factory=dict)
    reports: list[Handed] = field(default_factory=list)
    left: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Item:
    """A file at *path*, seen from the folder of the downloads, changed at a *time*, of a *size* in bytes; *read* gives them."""

    path: PurePosixPath
    time: float
    size: int
    read: Callable[[], bytes]


def gather(course: Course, folder: Path) -> Gathered:
    """The notebooks under *folder*, the newest of each student and lab. With a roster, only its students are known.

    CourseError where there is no such folder.
    """
    if not folder.is_dir():
        raise CourseError(f"{folder} is no folder: name the one with what was downloaded")
    found, labs, roster = Gathered(), course.labs, {id.lower(): id for id in course.roster()}
    newest: dict[tuple[str, str, bool], float] = {}
    reports: dict[tuple[str, str], Handed] = {}
    for item in _items(folder, found):
        lab, id = _lab(item.path, labs), _student(item.path, labs, roster)
        report = item.path.suffix.lower() == ".json"
        reason = "class_left_lab" if lab is None else "class_left_student" if id is None else _large(item)
        if reason or lab is None or id is None:
            found.left += [] if report else [(str(item.path), reason)]  # data, settings: whatever else lies in a folder
        elif item.time >= newest.get((lab, id, report), item.time):
            data = item.read()
            handed = read_report(id, lab, data) if report else None
            if handed is not None:
                reports[lab, id] = handed
            if handed is not None or not report:
                newest[lab, id, report] = item.time
            if not report:
                found.files.setdefault(lab, {})[id] = data.removeprefix(codecs.BOM_UTF8)
    found.reports = list(reports.values())
    return found


def shown(path: str) -> str:
    """*path* for a terminal: without what a terminal obeys, and cut where it is long.

    >>> shown("s01/a\\x1b[2J.ipynb")
    's01/a\ufffd[2J.ipynb'
    """
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in path[:LONGEST])


def place(course: Course, gathered: Gathered) -> list[str]:
    """Put what was *gathered* into downloaded/LAB/archive, where zip_collect looks; the labs that are there.

    What lay there before was collected before, and may have been mended by hand in submitted/ since.
    """
    for lab, files in gathered.files.items():
        archive = course.folder / "downloaded" / lab / "archive"
        rmtree(archive, ignore_errors=True)
        archive.mkdir(parents=True, exist_ok=True)
        for id, data in files.items():
            (archive / f"{id}_{lab}.ipynb").write_bytes(data)
    return [lab for lab in course.labs if lab in gathered.files]


def _items(folder: Path, found: Gathered) -> Iterator[Item]:
    """Each notebook and report under *folder*, in zips too; each is read, if at all, before the next one is asked for."""
    for path in sorted(folder.rglob("*")):
        seen = PurePosixPath(path.relative_to(folder).as_posix())
        kind = path.suffix.lower()
        if SKIPPED & set(seen.parts) or kind not in (*TAKEN, *ARCHIVES):
            continue
        if path.is_symlink():
            found.left.append((str(seen), "class_left_link"))
        elif not path.is_file():
            continue
        elif kind in TAKEN:
            yield Item(seen, path.stat().st_mtime, path.stat().st_size, path.read_bytes)
        elif kind == ".zip":
            try:
                yield from _in_zip(path, seen, found)
            except UNREADABLE:
                found.left.append((str(seen), "class_left_zip"))
        else:
            found.left.append((str(seen), "class_left_zip"))


def _in_zip(path: Path, seen: PurePosixPath, found: Gathered) -> Iterator[Item]:
    room = ALL
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            inside = PurePosixPath(member.filename.replace("\\", "/"))
            kind = inside.suffix.lower()
            if member.is_dir() or SKIPPED & set(inside.parts) or len(member.filename) > LONGEST:
                continue
            if kind in ARCHIVES:
                found.left.append((str(seen / inside), "class_left_inner"))
            elif kind in TAKEN:
                room -= min(member.file_size, MOST)
                if room < 0:
                    found.left.append((str(seen), "class_left_large"))
                    return
                with archive.open(member) as file:  # gives no more than the size that the archive says
                    yield Item(seen.with_suffix("") / inside, path.stat().st_mtime, member.file_size, file.read)


def _large(item: Item) -> str:
    return "class_left_large" if item.size > MOST else ""


def _lab(path: PurePosixPath, labs: list[str]) -> str | None:
    stem = COPY.sub("", path.stem)
    return next((lab for lab in labs if stem == lab or stem.endswith(f"_{lab}")), None)


def _student(path: PurePosixPath, labs: list[str], roster: dict[str, str]) -> str | None:
    """The id before the lab in the file's name, else the nearest folder that is one."""
    stem = COPY.sub("", path.stem)
    before = next((stem.removesuffix(f"_{lab}") for lab in labs if stem.endswith(f"_{lab}")), "")
    folders = [name for part in reversed(path.parts[:-1]) for name in dict.fromkeys((part, COPY.sub("", part)))]
    for name in [before, *folders]:
        if roster and name.lower() in roster:
            return roster[name.lower()]
        if not roster and ID.fullmatch(name):
            return name
    return None
