"""Resume a log of some megabytes beside a bare decode, and fork it beside writing the same bytes to a new file.

Run as a program, this module is a process of either side, which has nothing else in its memory.
"""
import gc
import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Any

from tests.benchmarks import logs
from tests.benchmarks.environment import Worker, serve, timed
from tests.benchmarks.table import Row, beside, megabytes
from tests.benchmarks.turns import by_turns, paired

PART = 10_000
"""Events in a transaction when a log is copied to the database that is measured."""


def rows(folder: Path, count: int, rounds: int, peers: Path | None, here: str) -> list[Row]:
    """Rows for a log of *count* events, which are whole turns; *peers* is the Python that has orjson, *here* ours."""
    root = folder / "lineage"
    root.mkdir()
    logs.write(root / f"{logs.ID}.jsonl", count)
    times: dict[str, list[float]] = {}
    with Worker(here, "lineage") as ours:
        ours.ask("copy", root=str(root))
        for _ in range(rounds):  # a process keeps what it read until it is asked again, so each process does one thing
            for python, ways in ((here, ("resume_jsonl", "resume_sqlite")), (peers, ("decode", "select"))):
                for way in ways:
                    if python:
                        with Worker(python, "lineage") as worker:
                            times.setdefault(way, []).append(worker.ask(way, root=str(root), count=count))
        forked, written = ours.ask("fork", root=str(root), boundary=count // logs.TURN // 2 * logs.TURN - 1, rounds=rounds)
    best = {way: min(done) for way, done in times.items()}
    size = megabytes((root / f"{logs.ID}.jsonl").stat().st_size)
    return [
        beside(f"resume {size}, {count:,} events, jsonl", best["resume_jsonl"], "orjson, the same lines, kept",
               best.get("decode"), at_most=1.5),
        beside(f"resume {size}, {count:,} events, sqlite", best["resume_sqlite"], "sqlite3 select, orjson, kept",
               best.get("select")),
        beside(f"fork at the middle of {size}, stored, jsonl", median(forked), "the same bytes, one write, fsync",
               median(written), at_most=3, ratio=paired(written, forked)),
    ]


def copy(root: str) -> None:
    """Put the log into a database as well."""
    from labsupport.sessionlog.storage import JsonlStore, SqliteStore

    log = JsonlStore(root).load(logs.ID)
    with closing(SqliteStore(Path(root, "log.db"))) as store:
        store.create(log.header)
        for start in range(0, len(log.events), PART):
            store.append(logs.ID, log.events[start:start + PART])


def resume_jsonl(root: str, count: int) -> float:
    from labsupport.sessionlog.storage import JsonlStore

    return _resumed(JsonlStore(root), count)


def resume_sqlite(root: str, count: int) -> float:
    from labsupport.sessionlog.storage import SqliteStore

    with closing(SqliteStore(Path(root, "log.db"))) as store:
        return _resumed(store, count)


def _resumed(store: Any, count: int) -> float:
    """Seconds from the store to a session that can go on."""
    from labsupport.sessionlog import resume

    gc.collect()
    start = time.perf_counter()
    session = resume(store, logs.ID)
    spent = time.perf_counter() - start
    if session.first_live_seq != count:
        raise RuntimeError(f"{session.first_live_seq} events were resumed, not {count}")
    return spent


def decode(root: str, count: int) -> float:
    """Seconds for orjson to decode every line of the log."""
    from orjson import loads

    kept = []

    def read() -> None:
        with open(Path(root, f"{logs.ID}.jsonl"), "rb") as file:
            kept.extend([loads(line) for line in file])

    return _checked(timed(read), len(kept) - 1, count)


def select(root: str, count: int) -> float:
    """Seconds to select every row and let orjson decode the data in it."""
    from orjson import loads

    kept = []

    def read() -> None:
        with closing(sqlite3.connect(Path(root, "log.db"))) as database:
            kept.extend([(row, loads(row[4])) for row in database.execute("SELECT * FROM events ORDER BY seq")])

    return _checked(timed(read), len(kept), count)


def _checked(spent: float, found: int, count: int) -> float:
    if found != count:
        raise RuntimeError(f"{found} events were read, not {count}")
    return spent


def fork(root: str, boundary: int, rounds: int) -> list[list[float]]:
    """Seconds to fork a resumed session at *boundary* and store the child, and to write the same bytes to a new file."""
    from labsupport.sessionlog import fork as fork_
    from labsupport.sessionlog import resume
    from labsupport.sessionlog.storage import JsonlStore, on_flush

    store = JsonlStore(root)
    session = resume(store, logs.ID)
    child, bare = "child", Path(root, "bare.bytes")

    def store_fork(number: int) -> None:
        writer = store.attach(fork_(session, boundary, child), on_flush)
        writer.flush()
        writer.close()

    def write(number: int) -> None:
        fd = os.open(bare, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        os.write(fd, data)
        os.fsync(fd)
        os.close(fd)

    def clear(number: int) -> None:
        store.delete(child)
        bare.unlink(missing_ok=True)
        gc.collect()

    store_fork(0)
    data = store.path(child).read_bytes()
    return by_turns(rounds, store_fork, write, before=clear)


if __name__ == "__main__":
    serve({"copy": copy, "resume_jsonl": resume_jsonl, "resume_sqlite": resume_sqlite, "decode": decode, "select": select,
           "fork": fork})
