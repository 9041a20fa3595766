"""What keeps a student's code apart from the course while it runs, as far as that goes without a sandbox.

The code runs in an empty folder, with a copy of the student's data, a home of its own and few variables of the environment:
what it writes and leaves there is gone afterwards, and so are the processes that it started. It runs as whoever grades, and
may look for the course and write there: whether it did is seen, and grading stops. It may read whatever that account may read.
"""
import ctypes
import os
import shutil
import signal
import site
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp

import psutil

from labsupport.classroom.course import CONFIG
from labsupport.own import mark, student

KEPT = {"PATH", "LANG", "LANGUAGE", "TZ", "SYSTEMROOT", "COMSPEC", "PATHEXT", "VIRTUAL_ENV", "PYTHONPATH", "PYTHONUTF8",
        "LD_LIBRARY_PATH", "NBGRADER_EXECUTION"}
READ = ("gradebook.db", CONFIG, "roster.csv", ".lang", "source", "release", "submitted", "autograded", "reports", "students")
"""What grading reads in a course."""
SUBREAPER = 36  # of Linux's prctl: who is left behind by their parent becomes our child


class Meddled(KeyboardInterrupt):
    """*files* of the course changed while a student's code ran. Not an Exception, after any of which nbgrader goes on."""

    def __init__(self, files: list[str]) -> None:
        super().__init__(", ".join(files[:5]))


@contextmanager
def apart(folder: Path, lang: str) -> Iterator[tuple[Path, dict[str, str]]]:
    """A working folder and an environment for the code of the submission in *folder*; both are gone afterwards."""
    seed, data = student(folder.resolve())
    place = Path(mkdtemp(prefix="grade-")).resolve()
    work, home = place / "work", place / "home"
    try:
        for made in (work, home, place / "tmp"):
            made.mkdir()
        (work / ".lang").write_text(lang, "utf-8")
        if seed:
            mark(work, seed, shutil.copytree(data, place / "data"))
        names = {name: value for name, value in os.environ.items() if name.upper() in KEPT or name.startswith("LC_")}
        yield work, names | {"HOME": str(home), "USERPROFILE": str(home), "IPYTHONDIR": str(home / "ipython"),
                             "PYTHONUSERBASE": site.getuserbase(),
                             **{name: str(place / "tmp") for name in ("TMPDIR", "TEMP", "TMP")}}
    finally:
        shutil.rmtree(place, ignore_errors=True)


@contextmanager
def no_one_left() -> Iterator[None]:
    """End every process that is started inside and still there afterwards; where it hides from us, on Linux alone."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    before = {process.pid for process in psutil.Process().children()}
    try:
        yield
    finally:
        for _ in range(20):  # one may start others until it is ended
            left = [process for process in psutil.Process().children() if process.pid not in before]
            for process in [*left, *(child for one in left for child in _children(one))]:
                with suppress(psutil.Error):
                    process.send_signal(signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
            psutil.wait_procs(left, timeout=1)
            if not left:
                break


def _children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return list(process.children(recursive=True))
    except psutil.Error:
        return []


@contextmanager
def untouched(root: Path, own: Path) -> Iterator[None]:
    """Raise Meddled when what grading reads of the course *root* changes inside, but for the files in *own*."""
    before = _seen(root, own)
    yield
    now = _seen(root, own)
    changed = sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))
    if changed:
        raise Meddled(changed)


def _seen(root: Path, own: Path) -> dict[str, tuple[int, int, int]]:
    """Each file, with what no program can set back: its number, its size and when it was changed at all."""
    paths = [str(root / part) for part in READ]
    for part in READ:
        for folder, folders, names in os.walk(root / part):
            folders[:] = [name for name in folders if name != ".ipynb_checkpoints"]
            paths += [os.path.join(folder, name) for name in names if Path(folder) != own]
    found: dict[str, tuple[int, int, int]] = {}
    for path in paths:
        with suppress(OSError):
            seen = os.lstat(path)
            if not stat.S_ISDIR(seen.st_mode):
                found[os.path.relpath(path, root)] = (seen.st_ino, seen.st_size, seen.st_ctime_ns)
    return found
