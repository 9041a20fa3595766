"""The peers that keep sessions or events in SQLite. It runs in the peers' environment and knows nothing of this library.

The events are the same, as each peer takes them: openai-agents a dict, which it writes as JSON; eventsourcing bytes, which are
made beforehand, as its mapper would. Neither sets how durable a commit is, so `open` looks at what SQLite makes of that.
"""
import asyncio
import sqlite3
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import closing
from importlib.metadata import version
from typing import Any, Protocol

from tests.benchmarks import logs
from tests.benchmarks.environment import serve, timed

LEVELS = ("OFF", "NORMAL", "FULL", "EXTRA")


class Peer(Protocol):
    """One library; a commit is one call of it."""

    name: str

    def append(self, records: Sequence[dict[str, Any]]) -> Callable[[], object]:
        """What stores *records* in one commit; to make them its own is not part of that."""

    def read(self) -> Sequence[object]:
        """All that was stored, as the peer gives it."""

    def decoded(self) -> Sequence[object]:
        """All that was stored, as values."""


class Agents:
    """The sessions of openai-agents; one event loop runs all calls."""

    def __init__(self, path: str) -> None:
        from agents import SQLiteSession

        self.name = f"openai-agents {version('openai-agents')} SQLiteSession"
        self._session, self._loop = SQLiteSession(logs.ID, path), asyncio.new_event_loop()

    def append(self, records: Sequence[dict[str, Any]]) -> Callable[[], object]:
        return lambda: self._loop.run_until_complete(self._session.add_items([*records]))

    def read(self) -> Sequence[object]:
        return self._loop.run_until_complete(self._session.get_items())

    decoded = read


class Events:
    """The recorder of eventsourcing's applications; every event belongs to one aggregate."""

    def __init__(self, path: str) -> None:
        from eventsourcing.sqlite import SQLiteApplicationRecorder, SQLiteDatastore

        self.name = f"eventsourcing {version('eventsourcing')} SQLiteApplicationRecorder"
        self._id, self._recorder = uuid.uuid5(uuid.NAMESPACE_URL, logs.ID), SQLiteApplicationRecorder(SQLiteDatastore(path))
        self._recorder.create_table()

    def append(self, records: Sequence[dict[str, Any]]) -> Callable[[], object]:
        from eventsourcing.persistence import StoredEvent

        events = [StoredEvent(self._id, record["seq"], record["type"], logs.line(record)) for record in records]
        return lambda: self._recorder.insert_events(events)

    def read(self) -> Sequence[object]:
        return list(self._recorder.select_events(self._id))

    def decoded(self) -> Sequence[object]:
        from eventsourcing.persistence import JSONTranscoder

        decode = JSONTranscoder().decode
        return [decode(event.state) for event in self._recorder.select_events(self._id)]


KINDS: dict[str, Callable[[str], Peer]] = {"openai-agents": Agents, "eventsourcing": Events}
opened: dict[str, tuple[Peer, list[list[dict[str, Any]]]]] = {}
"""By its name each peer that `open` made, and the events of each of its commits."""


def open_(peer: str, path: str, commits: int, size: int) -> str:
    """Make a database of *peer* at *path* for *commits* commits of *size* events; its name, and how durable its commits are."""
    made = KINDS[peer](path)
    opened[peer] = made, logs.blocks(commits, size)
    with closing(sqlite3.connect(path)) as database:  # as the peers connect: they set the journal's mode and no more
        mode, = database.execute("PRAGMA journal_mode").fetchone()
        level, = database.execute("PRAGMA synchronous").fetchone()
    return f"{made.name}, {mode.upper()}, synchronous {LEVELS[level]}"


def append(peer: str, number: int) -> float:
    """Seconds for commit *number* of *peer*."""
    made, blocks = opened[peer]
    commit = made.append(blocks[number])
    start = time.perf_counter()
    commit()
    return time.perf_counter() - start


def read(peer: str, number: int) -> float:
    """Seconds for *peer* to read all that it stored."""
    made, blocks = opened[peer]
    return _read(made.read, sum(map(len, blocks)))


def decode(peer: str, number: int) -> float:
    """Seconds for *peer* to read and decode all that it stored."""
    made, blocks = opened[peer]
    return _read(made.decoded, sum(map(len, blocks)))


def _read(way: Callable[[], Sequence[object]], count: int) -> float:
    found: list[Sequence[object]] = []
    spent = timed(lambda: found.append(way()))
    if len(found[0]) != count:
        raise RuntimeError(f"{len(found[0])} events were read, not {count}")
    return spent


if __name__ == "__main__":
    serve({"open": open_, "append": append, "read": read, "decode": decode})
