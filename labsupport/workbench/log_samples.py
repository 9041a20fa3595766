"""Chapter 4's sample logs in data/sessionlog/: found by name, and recorded again by the project's own loop and store.

    python -m labsupport.workbench.log_samples     write them anew, the same bytes every time
"""
import shutil
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from tempfile import TemporaryDirectory

from labsupport.errors import LabError
from labsupport.own import DATA, SEED, own_number, own_random
from labsupport.sessionlog.storage import JsonlStore, LoadedLog
from labsupport.workbench.log_plays import PLAYS
from labsupport.workbench.log_studio import Studio
from labsupport.workbench.samples import own_cut

FOLDER = DATA / "sessionlog"


# What happens to a file afterwards. Each function takes the lines of a good log, line breaks and all.

def tear(lines: list[bytes]) -> list[bytes]:
    """The last record stops half way."""
    return [*lines[:-1], lines[-1][:own_cut(lines[-1])]]


def damage(lines: list[bytes]) -> list[bytes]:
    """A record in the middle has lost its end, but not its line break; a turn ends behind it."""
    middle = own_random("damage").randint(len(lines) // 3, len(lines) - 3) if SEED else len(lines) // 2
    return [*lines[:middle], lines[middle][:own_cut(lines[middle])] + b"\n", *lines[middle + 1:]]


def raise_version(lines: list[bytes]) -> list[bytes]:
    """The header says that a newer version wrote the log."""
    return [lines[0].replace(b'"version":0', b'"version":%d' % own_number(5, 4) if SEED else b'"version":1'), *lines[1:]]


def unmark(lines: list[bytes]) -> list[bytes]:
    """The event of an unknown type no longer says that it may be passed over."""
    return [line.replace(b',"ignorable":true', b"") for line in lines]


# name → the play that is recorded, and what happens to its file afterwards
DAMAGE: dict[str, tuple[str, Callable[[list[bytes]], list[bytes]]]] = {
    "torn": ("interrupted", tear),
    "damaged": ("two_step", damage),
    "newer_format": ("two_step", raise_version),
    "unknown_event": ("ignorable_event", unmark),
}
NAMES = (*PLAYS, *DAMAGE)


def path(name: str, folder: Path = FOLDER) -> Path:
    """Where the sample log *name* is.

    >>> path("two_step").relative_to(DATA).as_posix()
    'sessionlog/two_step.jsonl'

    >>> path("twostep")
    Traceback (most recent call last):
    labsupport.errors.LabError: there is no sample log 'twostep'; did you mean 'two_step'?
    """
    if name not in NAMES:
        near = get_close_matches(name, NAMES, 1)
        there_are = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(NAMES)}"
        raise LabError(f"there is no sample log {name!r}; {there_are}")
    return folder / f"{name}.jsonl"


def load(name: str) -> LoadedLog:
    """The sample log *name*, repaired in memory; its file stays as it is.

    >>> log = load("two_step")
    >>> log.events[0].type, log.events[-1].type, log.repair
    ('turn/start', 'turn/end', None)

    What the store refuses, it raises here: LogCorruptError, LogFormatError, UnknownEventError.
    """
    return JsonlStore(path(name).parent).inspect(name)


def write_all(folder: Path = FOLDER) -> None:
    """Record every sample log anew under *folder*. The tools read the table in data/, so that one has to be there."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, play in PLAYS.items():
        _record(name, play, path(name, folder))
    for name, (play_name, change) in DAMAGE.items():
        _record(name, PLAYS[play_name], path(name, folder))
        with path(name, folder).open("rb") as file:
            lines = list(file)
        path(name, folder).write_bytes(b"".join(change(lines)))


def _record(name: str, play: Callable[[Studio], None], target: Path) -> None:
    with TemporaryDirectory() as scratch:
        studio = Studio(Path(scratch), name)
        play(studio)
        studio.writer.close()
        shutil.copyfile(studio.store.path(name), target)


if __name__ == "__main__":
    write_all()
