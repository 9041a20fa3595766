"""A real process that records lab B4's task and is killed in the middle, and what can be known afterwards.

    python -m labsupport.workbench.crash FOLDER NUMBER [--no-barrier]     record, say so at point NUMBER, wait to be killed

The process stops itself where it was told to and waits, so the same number is the same death on every machine. It is killed
from outside: nothing in it gets a chance to tidy up.
"""
import argparse
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from labsupport.errors import LabError
from labsupport.sessionlog import SessionEvent
from labsupport.sessionlog.recovery import NOT_STARTED, blocks
from labsupport.sessionlog.storage import JsonlStore
from labsupport.workbench.child import last_words, stop_at
from labsupport.workbench.cuts import claims
from labsupport.workbench.mail_task import ID, Point, outbox, ran, record, tools

CALLS = {"send_mail": "c1", "sum_column": "c2"}


@cache
def points(barrier_before_tools: bool = True) -> tuple[Point, ...]:
    """All points of the recording, in order: the moments at which it can be killed.

    >>> [point.kind for point in points()[4:8]]
    ['event', 'write', 'half', 'written']
    """
    found: list[Point] = []
    with TemporaryDirectory() as folder:
        record(Path(folder), lambda point, durable: found.append(point), barrier_before_tools=barrier_before_tools)
    return tuple(found)


def points_from(seed: int, count: int, barrier_before_tools: bool = True) -> list[Point]:
    """*count* of the points, different ones, picked by *seed*; in the order of the recording."""
    found, random = points(barrier_before_tools), Random(seed)
    picked = sorted(range(len(found)), key=lambda number: random.random())[:count]
    return [found[number] for number in sorted(picked)]


@dataclass(frozen=True)
class Death:
    """A recording that was killed at *point*: what was durable by then, and what was found afterwards.

    *kept* are the events that were read back, *events* these and the closers, *started* the tools that a witness outside of
    the log saw start, *mails* how many went out. *torn* counts the bytes of a write that did not finish.
    """

    point: Point
    durable: int
    kept: int
    torn: int
    events: tuple[SessionEvent, ...]
    started: tuple[str, ...]
    mails: int

    @property
    def lost(self) -> int:
        """How many events are gone that were durable: none, or durable means nothing."""
        return max(0, self.durable - self.kept)

    @property
    def said(self) -> dict[str, str]:
        """What the recovered log says of each call that it knows: id → "answered", or the code of its closer."""
        return claims(self.events)

    @property
    def lies(self) -> list[str]:
        """The tools that were started and are said not to have been."""
        return [name for name in self.started if self.said.get(CALLS[name]) == NOT_STARTED]


def kill(folder: str | os.PathLike[str], point: Point, *, barrier_before_tools: bool = True) -> Death:
    """Record in *folder*, a new one, in a process of its own; kill that at *point*; recover, and say what is known.

    LabError when the process ends by itself: then there is no such point in its recording.
    """
    Path(folder).mkdir(parents=True)
    found = points(barrier_before_tools)
    if point not in found:
        raise LabError(f"the recording has no point {point}; it has {len(found)} others")
    durable = _run_until_killed(Path(folder), found.index(point), barrier_before_tools)
    return _look(Path(folder), point, durable)


def killed(moments: Iterable[Point], *, barrier_before_tools: bool = True) -> list[Death]:
    """One death at each of *moments*, each in a folder that is gone afterwards."""
    deaths = []
    for point in moments:
        with TemporaryDirectory() as folder:
            deaths.append(kill(Path(folder) / "run", point, barrier_before_tools=barrier_before_tools))
    return deaths


def _run_until_killed(folder: Path, number: int, barrier_before_tools: bool) -> int:
    """Start the recording, wait until it says that it stands at its point, kill it; how many events it knew to be durable."""
    options = [] if barrier_before_tools else ["--no-barrier"]
    durable: int = last_words(__name__, str(folder), str(number), *options, point=number)["durable"]
    return durable


def _look(folder: Path, point: Point, durable: int) -> Death:
    """What a new process finds: the log, repaired, and the world outside of it."""
    store = JsonlStore(folder)
    witnesses = tuple(ran(folder)), len(outbox(folder))
    if not store.path(ID).exists():  # killed before the first write was whole: there is no log, and nothing was promised
        return Death(point, durable, 0, 0, (), *witnesses)
    loaded = store.load(ID)
    added = loaded.repair.added if loaded.repair else ()
    torn = loaded.repair.torn.size if loaded.repair and loaded.repair.torn else 0
    return Death(point, durable, len(loaded.events) - len(added), torn, tuple(loaded.events), *witnesses)


def retry_not_started(folder: str | os.PathLike[str], death: Death) -> list[str]:
    """What a program does that believes the log: run every call again that "was not started". The ids of those calls."""
    asked = {block["id"]: block for event in death.events if event.type == "assistant/message"
             for block in blocks(event.read()["message"]) if block["type"] == "tool-call"}
    again = [call_id for call_id, said in death.said.items() if said == NOT_STARTED]
    for call_id in again:
        tools(Path(folder))[asked[call_id]["name"]](json.loads(asked[call_id]["arguments"]))
    return again


def main() -> None:
    """The process that will be killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("number", type=int)
    parser.add_argument("--no-barrier", action="store_true")
    args = parser.parse_args()
    stop = stop_at(args.number, lambda point, durable: {"point": point, "durable": durable})
    record(args.folder, stop, barrier_before_tools=not args.no_barrier)


if __name__ == "__main__":
    main()
