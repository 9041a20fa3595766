"""Lab B9's session in a process that is killed, what log and ledger say then, and what came of trying again.

    python -m labsupport.workbench.invoice_kills FOLDER NUMBER [--no-key]     record, stop at point NUMBER, wait to be killed
"""
import argparse
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from labsupport.errors import LabError
from labsupport.outside import Operation
from labsupport.sessionlog import SessionEvent
from labsupport.sessionlog.folding import fold
from labsupport.sessionlog.query_state import query_state
from labsupport.sessionlog.storage import JsonlStore
from labsupport.workbench.child import last_words, stop_at
from labsupport.workbench.cuts import claims
from labsupport.workbench.invoice_task import CALLED, ID, again, invoices, ledger_of, record
from labsupport.workbench.mail_task import Point
from labsupport.workbench.reconcile import Finding, reconcile

DONE = Point("done", "send_invoice")
"""The invoice is out, and nobody but the tool knows it."""


@dataclass(frozen=True)
class Found:
    """What lies in a folder after a death: the *events* of the log, *added* of them by recovery, and the *invoices*."""

    events: tuple[SessionEvent, ...]
    added: int
    invoices: tuple[Operation, ...]
    findings: tuple[Finding, ...]

    @property
    def said(self) -> str:
        """What the log says of the call of `send_invoice`: "answered", a code of recovery, or "" where it knows of none."""
        return claims(self.events).get(CALLED, "")

    @property
    def state(self) -> object:
        """The query state, from the log alone."""
        return fold(query_state, self.events)


@cache
def points(with_key: bool = True) -> tuple[Point, ...]:
    """All points of the recording, in order."""
    found: list[Point] = []
    with TemporaryDirectory() as folder:
        record(folder, lambda point, appended: found.append(point), with_key=with_key)
    return tuple(found)


@cache
def between(with_key: bool = True) -> tuple[Point, ...]:
    """The points from the tool/call of `send_invoice` until its result is on the disk: where a death leaves a question.

    >>> [point.kind for point in between()]
    ['event', 'write', 'half', 'written', 'tool', 'inserted', 'done', 'event', 'event', 'event', 'write', 'half', 'written']
    """
    found = points(with_key)
    first = max(at for at, point in enumerate(found) if point.name == "tool/call")
    result = max(at for at, point in enumerate(found) if point.name == "tool/result")
    return found[first:next(at for at in range(result, len(found)) if found[at].kind == "written") + 1]


def kill(folder: str | Path, point: Point = DONE, *, with_key: bool = True) -> Found:
    """Record in *folder*, a new one, in a process of its own; kill it at *point*; what a new process finds.

    LabError when there is no such point.
    """
    Path(folder).mkdir()
    if point not in points(with_key):
        raise LabError(f"the recording has no point {point}; it has {len(points(with_key))} others")
    number = points(with_key).index(point)
    last_words(__name__, str(folder), str(number), *([] if with_key else ["--no-key"]), point=number)
    return look(folder)


def look(folder: str | Path) -> Found:
    """What log and ledger in *folder* say. The log is repaired in memory only."""
    store = JsonlStore(folder)
    with ledger_of(folder) as ledger:
        sent = tuple(ledger.operations("invoice"))
        if not store.path(ID).exists():  # killed before the first write was whole
            return Found((), 0, sent, ())
        log = store.inspect(ID)
        added = len(log.repair.added) if log.repair else 0
        return Found(tuple(log.events), added, sent, tuple(reconcile(log.events, ledger)))


@dataclass(frozen=True)
class Death:
    """A death at *point*: what was *found*, and how many invoices there are after the call was made again."""

    point: Point
    found: Found
    after: int


def killed(moments: Iterable[Point], *, with_key: bool = True) -> list[Death]:
    """One death at each of *moments*, each followed by a resume and another try, with the same kind of tool."""
    deaths = []
    for point in moments:
        with TemporaryDirectory() as outer:
            folder = Path(outer) / "run"
            found = kill(folder, point, with_key=with_key)
            again(folder, with_key=with_key)
            deaths.append(Death(point, found, len(invoices(folder))))
    return deaths


def main() -> None:
    """The process that will be killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("number", type=int)
    parser.add_argument("--no-key", action="store_true")
    args = parser.parse_args()
    stop = stop_at(args.number, lambda point, appended: {"appended": appended})
    record(args.folder, stop, with_key=not args.no_key)


if __name__ == "__main__":
    main()
