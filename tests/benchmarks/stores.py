"""Append to the stores, one event or a group in a commit, beside a bare database, a bare file, and peers; and read all."""
import gc
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import median

from labsupport.sessionlog import Session, SessionHeader
from labsupport.sessionlog.storage import JsonlStore, SqliteStore, Store, every_event, on_flush
from tests.benchmarks import logs
from tests.benchmarks.environment import Worker
from tests.benchmarks.table import Row, a_second, beside
from tests.benchmarks.turns import Side, by_turns, paired

GROUP = 100
PEERS = ("openai-agents", "eventsourcing")
SCHEMA = """CREATE TABLE events (session_id TEXT NOT NULL, seq INTEGER NOT NULL, type TEXT NOT NULL, time INTEGER NOT NULL,
    data TEXT NOT NULL, source_event_seqs TEXT, surface_op TEXT, ignorable INTEGER,
    PRIMARY KEY (session_id, seq)) WITHOUT ROWID"""
INSERT = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?)"


def rows(folder: Path, single: int, groups: int, reads: int, python: Path | None) -> list[Row]:
    """Rows for *single* commits of one event and *groups* commits of a hundred; *python* is the one that has the peers."""
    return [_sqlite(folder, single, 1, 0.8), _without_a_writer(folder, single), _sqlite(folder, groups, GROUP, 0.7),
            _jsonl(folder, groups), *_beside_peers(folder, single, groups, reads, python)]


class _Live:
    """A session of *commits* commits of *size* events with its writer, as a program has it.

    A single event is stored as it is logged. Of a group only the commit is measured: its events are logged before.
    """

    def __init__(self, store: Store, commits: int, size: int) -> None:
        self._session = Session.create(logs.ID, clock=logs.clock())
        self._writer = store.attach(self._session, every_event if size == 1 else on_flush)
        self._blocks = logs.blocks(commits, size)

    def log(self, number: int) -> None:
        """Log what commit *number* will store, where it is a group."""
        if self._writer.policy is on_flush:
            self._append(number)

    def commit(self, number: int) -> None:
        """Store commit *number*."""
        if self._writer.policy is on_flush:
            self._writer.flush()
        else:
            self._append(number)

    def _append(self, number: int) -> None:
        for record in self._blocks[number]:
            logs.append(self._session, record)

    def close(self) -> None:
        """Nothing is left to be stored, or what was measured did not store it."""
        if self._writer.waiting:
            raise RuntimeError(f"{self._writer.waiting} events were not stored")
        self._writer.close()


def _sqlite(folder: Path, commits: int, size: int, at_least: float) -> Row:
    """A writer, beside the rows made beforehand in the same table, with the same pragmas."""
    path = folder / f"sqlite-{size}.db"
    rows = [[logs.row(record) for record in block] for block in logs.blocks(commits + 1, size)]
    with closing(SqliteStore(path)) as store, closing(_Live(store, commits + 1, size)) as live, _bare(folder, size) as database:

        def insert(number: int) -> None:
            if size == 1:
                database.execute(INSERT, rows[number][0])
                return
            database.execute("BEGIN IMMEDIATE")
            database.executemany(INSERT, rows[number])
            database.execute("COMMIT")

        times = by_turns(commits, live.commit, insert, before=live.log)
        _compare(path, database)
    return _rates(f"sqlite: {_events(size)} a commit, writer", times, size, "bare sqlite3, same pragmas", at_least)


def _without_a_writer(folder: Path, commits: int) -> Row:
    """`store.append` for somebody who has events and no session: each call takes and gives back the lock of the one writer."""
    session = Session.create(logs.ID, clock=logs.clock())
    events = [logs.append(session, record) for record, in logs.blocks(commits + 1, 1)]
    rows = [logs.row(record) for record, in logs.blocks(commits + 1, 1)]
    path = folder / "without.db"
    with closing(SqliteStore(path)) as store, _bare(folder, 0) as database:
        store.create(SessionHeader(logs.ID))
        times = by_turns(commits, lambda number: store.append(logs.ID, [events[number]]),
                         lambda number: database.execute(INSERT, rows[number]))
        _compare(path, database)
    return _rates("sqlite: 1 event a commit, store.append alone", times, 1, "bare sqlite3, same pragmas", None)


def _jsonl(folder: Path, commits: int) -> Row:
    """A group commit, beside one write of bytes made beforehand to an open file, and fdatasync."""
    lines = [b"".join(map(logs.line, block)) for block in logs.blocks(commits + 1, GROUP)]
    store, bare = JsonlStore(folder / "jsonl"), folder / "bare.jsonl"
    fd = os.open(bare, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o666)
    sync = getattr(os, "fdatasync", os.fsync)

    def write(number: int) -> None:
        os.write(fd, lines[number])
        sync(fd)

    try:
        with closing(_Live(store, commits + 1, GROUP)) as live:
            times = by_turns(commits, live.commit, write, before=live.log)
    finally:
        os.close(fd)
    if store.path(logs.ID).read_bytes().split(b"\n", 1)[1] != bare.read_bytes():
        raise RuntimeError("the two sides did not write the same")
    return _rates(f"jsonl: {_events(GROUP)} a commit, writer", times, GROUP, f"bare write, {sync.__name__}", 0.8)


def _beside_peers(folder: Path, single: int, groups: int, reads: int, python: Path | None) -> list[Row]:
    """One event a commit, groups, and reading all that the groups stored, each peer with a database of its own."""
    if python is None:
        return _peer_rows(folder, single, groups, reads, None)
    with Worker(python, "peer_stores") as worker:
        return _peer_rows(folder, single, groups, reads, worker)


def _peer_rows(folder: Path, single: int, groups: int, reads: int, worker: Worker | None) -> list[Row]:
    table = []
    for commits, size in ((single, 1), (groups, GROUP)):
        path = folder / f"peers-{size}.db"
        names = [_opened(worker, peer, folder / f"{peer}-{size}.db", commits + 1, size) for peer in PEERS]
        with closing(SqliteStore(path)) as store, closing(_Live(store, commits + 1, size)) as live:
            ours, *theirs = by_turns(commits, live.commit, *_asked(worker, "append"), before=live.log)
        table += [_rates(f"sqlite: {_events(size)} a commit, writer", [ours, times], size, name, 1)
                  for name, times in _named(names, theirs)]

    def read(number: int) -> None:
        with closing(SqliteStore(path)) as fresh:
            if len(fresh.read_from(logs.ID, 0)) != (groups + 1) * GROUP:
                raise RuntimeError("not every event was read")

    ours, *theirs = by_turns(reads, read, *_asked(worker, "decode"), *_asked(worker, "read")[1:],
                              before=lambda number: gc.collect())
    names = [*(f"{name}, decoded" for name in names), f"{names[1]}, bytes"]
    return table + [beside(f"sqlite: read {(groups + 1) * GROUP:,} events", min(ours), name, min(times, default=None),
                           at_most=None if name.endswith("bytes") else 1) for name, times in _named(names, theirs)]


def _named(names: list[str], times: list[list[float]]) -> list[tuple[str, list[float]]]:
    """The times of each peer with its name; none where there are no peers."""
    return list(zip(names, times or [[] for _ in names], strict=True))


def _opened(worker: Worker | None, peer: str, path: Path, commits: int, size: int) -> str:
    """Let *peer* make its database; what it is called in the table, with how durable its commits are."""
    if worker is None:
        return peer
    return str(worker.ask("open", peer=peer, path=str(path), commits=commits, size=size))


def _asked(worker: Worker | None, do: str) -> list[Side]:
    """A side for each peer; its process measures it."""
    def asked(worker: Worker, peer: str) -> Side:
        return lambda number: worker.ask(do, peer=peer, number=number)

    return [] if worker is None else [asked(worker, peer) for peer in PEERS]


@contextmanager
def _bare(folder: Path, number: int) -> Iterator[sqlite3.Connection]:
    """A database with the table and the pragmas of the store's."""
    with closing(sqlite3.connect(folder / f"bare-{number}.db", isolation_level=None)) as database:
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON"):
            database.execute(f"PRAGMA {pragma}")
        database.execute(SCHEMA)
        yield database


def _compare(path: Path, bare: sqlite3.Connection) -> None:
    """RuntimeError unless the store's database *path* holds the rows of *bare*."""
    with closing(sqlite3.connect(path)) as stored:
        every = "SELECT * FROM events ORDER BY seq"
        if stored.execute(every).fetchall() != bare.execute(every).fetchall():
            raise RuntimeError("the two sides did not store the same")


def _events(count: int) -> str:
    return f"{count} event{'s' if count > 1 else ''}"


def _rates(subject: str, times: list[list[float]], size: int, name: str, at_least: float | None) -> Row:
    """The typical commit of each side as events a second; the ratio is taken round by round."""
    ours, other = times
    return beside(subject, size / median(ours), name, size / median(other) if other else None, show=a_second, at_least=at_least,
                  ratio=paired(ours, other) if other else None)
