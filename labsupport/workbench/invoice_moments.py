"""Every moment of lab B9's session, as a death would leave it: the files, what can be known from them, and what a retry does.

A killed process leaves the bytes that it had written. So the recording runs once in this process, its files are copied at
each point, and each copy is opened as a new process would open it. `invoice_kills` does the same with real deaths.
"""
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from labsupport.sessionlog import Session
from labsupport.sessionlog.storage import JsonlStore
from labsupport.workbench.invoice_kills import Found, look
from labsupport.workbench.invoice_task import ID, LEDGER, again, invoices, record
from labsupport.workbench.mail_task import Point

Files = tuple[tuple[str, bytes], ...]
"""Names and bytes of the files in a folder."""


@dataclass(frozen=True)
class Moment:
    """The files at *point*, when the process had *appended* so many events."""

    point: Point
    appended: int
    files: Files


@dataclass(frozen=True)
class Known:
    """What is known after a death at *moment*: what was *found*; and the invoices after a retry as the first try was made.

    *sent* is their number then, None where the session cannot be resumed; *refused* says that the tool did not run, as
    nothing was approved.
    """

    moment: Moment
    found: Found
    sent: int | None
    refused: bool = False


def moments(with_key: bool = True) -> tuple[Session, list[Moment]]:
    """The whole session, and its moments in order."""
    found: list[Moment] = []
    with TemporaryDirectory() as folder:
        place = Path(folder)

        def keep(point: Point, appended: int) -> None:
            found.append(Moment(point, appended, _files(place)))

        return record(place, keep, with_key=with_key), found


def _files(folder: Path) -> Files:
    names = [JsonlStore(folder).path(ID), folder / LEDGER, folder / f"{LEDGER}-wal"]
    return tuple((path.name, path.read_bytes()) for path in names if path.exists())


def known(moment: Moment, with_key: bool = True) -> Known:
    """What a new process finds after a death at *moment*, and what comes of trying again."""
    found, sent, refused = _opened(moment.files, with_key)
    return Known(moment, found, sent, refused)


@cache
def _opened(files: Files, with_key: bool) -> tuple[Found, int | None, bool]:
    with _written(files) as folder:
        found = look(folder)
    if not found.events:
        return found, None, False
    with _written(files) as folder:
        last = [event for event in again(folder, with_key=with_key).events if event.type == "tool/result"][-1]
        return found, len(invoices(folder)), "error" in last.data


@contextmanager
def _written(files: Files) -> Iterator[Path]:
    with TemporaryDirectory() as folder:
        for name, data in files:
            (Path(folder) / name).write_bytes(data)
        yield Path(folder)


def tries(*, with_key: bool = True) -> list[Known]:
    """What is known at every moment of the session, and what came of trying again there."""
    return [known(moment, with_key) for moment in moments(with_key)[1]]


def exactly_one(found: Sequence[Known]) -> bool:
    """Whether each retry that was permitted left exactly one invoice."""
    return all(it.sent == 1 for it in found if it.sent is not None and not it.refused)
