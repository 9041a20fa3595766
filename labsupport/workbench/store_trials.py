"""JSONL and SQLite on the chapter's six points, each tried out (chapter 4, §4.8.2)."""
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from functools import partial
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

import pandas as pd

from labsupport.errors import LabError
from labsupport.sessionlog import SessionEvent, SessionHeader
from labsupport.sessionlog.lineage import resume
from labsupport.sessionlog.storage import JsonlStore, SqliteStore, every_event, scan_log
from labsupport.workbench import log_samples
from labsupport.workbench.flush_runs import new_session, play, run_under
from labsupport.workbench.tables import TextTable
from labsupport.workbench.text import say

STORES = ("JSONL", "SQLite")
DATABASE = "sessions.db"
PATIENCE = 1.0
"""Seconds after which a write that has not come back is said to wait."""

ODD_LOG = (b'{"type":"session","version":0,"id":"odd","createdAt":0,"delegationDepth":0}\n'
           b'{"seq": 0, "time": 5, "type": "turn/start", "data": {"turn":  1}}\n')
"""A log as another program may spell it."""


@contextmanager
def open_store(name: str, folder: Path) -> Iterator[Any]:
    """A store of the kind *name* in *folder*, closed at the end."""
    if name == "JSONL":
        yield JsonlStore(folder)
        return
    store = SqliteStore(folder / DATABASE)
    try:
        yield store
    finally:
        store.close()


def file_of(name: str, folder: Path, id: str) -> Path:
    """The file that session *id* lies in."""
    return JsonlStore(folder).path(id) if name == "JSONL" else folder / DATABASE


def store_table() -> pd.DataFrame:
    """The six points, and what each store did when it was tried."""
    rows = []
    for title, trial in TRIALS:
        found = []
        for name in STORES:
            with TemporaryDirectory() as folder:
                found.append(trial(name, Path(folder)))
        rows.append((say(title), *found))
    return TextTable(rows, columns=[say("b7_col_point"), *STORES], index=range(1, len(rows) + 1))


def _put(store: Any, id: str, events: Sequence[SessionEvent]) -> None:
    store.create(SessionHeader(id))
    store.append(id, events)


def _count(name: str, folder: Path, id: str) -> int:
    """How many events of *id* a new store finds in *folder*; 0 where it finds no log."""
    with suppress(LabError, OSError), open_store(name, folder) as store:
        return len(store.inspect(id).events)
    return 0


# 1. Several writers

def concurrent(name: str, folder: Path) -> str:
    """Write session b while session a is being written."""
    with open_store(name, folder) as store:
        for id in ("a", "b"):
            _put(store, id, run_under("on_flush").events)
        closer = SessionEvent.from_json({"type": "session/end-seed", "seq": len(run_under("on_flush").events), "time": 0,
                                         "data": {}})
        waits = _waits(_being_written(name, folder), partial(store.append, "b", [closer]))
    return say("b7_point_waits" if waits else "b7_point_side_by_side")


def _being_written(name: str, folder: Path) -> AbstractContextManager[Any]:
    """Session a in the middle of a write, as far as others can see."""
    if name == "JSONL":
        store = JsonlStore(folder)
        return closing(store.attach(resume(store, "a")))
    return _transaction(folder / DATABASE)


@contextmanager
def _transaction(file: Path) -> Iterator[None]:
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def _waits(other: AbstractContextManager[Any], write: Callable[[], None]) -> bool:
    """Whether *write* comes back only when *other* is over."""
    thread = Thread(target=write)
    with other:
        thread.start()
        thread.join(PATIENCE)
        waits = thread.is_alive()
    thread.join()
    return waits


# 2. Backup

def backup(name: str, folder: Path) -> str:
    """Copy the file of a session that is open."""
    (folder / "copy").mkdir()
    with open_store(name, folder) as store:
        session = new_session()
        with closing(store.attach(session, every_event)):
            play(session)
            file = file_of(name, folder, session.id)
            shutil.copy(file, folder / "copy" / file.name)
            plain = _count(name, folder / "copy", session.id)
            if name == "JSONL":
                return say("b7_point_copied", n=plain, of=len(session.events))
            (folder / "copy" / file.name).unlink()
            with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(folder / "copy" / file.name)) as target:
                source.backup(target)
            return say("b7_point_backup", n=plain, of=len(session.events), own=_count(name, folder / "copy", session.id))


# 3. Size

def size(name: str, folder: Path) -> str:
    """Store the longest sample, a turn a write; its size beside that of plain JSONL."""
    log = log_samples.load("long")
    turns = [list(turn) for _, turn in groupby(log.events, _turn_counter())]

    def written(store: Any, file: Path) -> int:
        store.create(log.header)
        for turn in turns:
            store.append(log.header.id, turn)
        if isinstance(store, SqliteStore):
            store.close()  # so that nothing is left in the WAL
        return file.stat().st_size

    plain = written(JsonlStore(folder / "plain"), JsonlStore(folder / "plain").path(log.header.id))
    if name == "JSONL":
        packed = JsonlStore(folder / "packed", compression="zstd")
        return say("b7_point_zstd", part=_tenths(written(packed, packed.path(log.header.id)), plain))
    with open_store(name, folder) as store:
        return say("b7_point_size", part=_tenths(written(store, folder / DATABASE), plain))


def _turn_counter() -> Callable[[SessionEvent], int]:
    """The number of the turn that an event belongs to; what stands between turns goes with the one before."""
    turns = 0

    def count(event: SessionEvent) -> int:
        nonlocal turns
        turns += event.type == "turn/start"
        return turns

    return count


def _tenths(part: int, whole: int) -> str:
    """A share in steps of ten per cent: finer ones depend on the versions of the libraries."""
    return f"{10 * round(10 * part / whole)}\N{NO-BREAK SPACE}%"


# 4. Raw bytes

def raw_bytes(name: str, folder: Path) -> str:
    """Take over a log that another program wrote, and look for its bytes in the file."""
    line, text = ODD_LOG.splitlines()[1], b'{"turn":  1}'
    if name == "JSONL":
        path = JsonlStore(folder).path("odd")
        path.write_bytes(ODD_LOG)
        JsonlStore(folder).inspect("odd")
    else:
        with open_store(name, folder) as store:
            _put(store, "odd", scan_log(ODD_LOG).events)
        path = folder / DATABASE
    stored = path.read_bytes()
    return say("b7_point_whole_line" if line in stored else "b7_point_data_only" if text in stored else "b7_point_not_raw")


# 5. Damage

def damage(name: str, folder: Path) -> str:
    """Store two sessions, overwrite the beginning of the file of one, and open both."""
    ids = ("a", "b")
    with open_store(name, folder) as store:
        for id in ids:
            _put(store, id, run_under("on_flush").events)
    with file_of(name, folder, "a").open("r+b") as file:
        file.write(b"\0" * 100)
    return say("b7_point_damage", n=sum(_count(name, folder, id) > 0 for id in ids), of=len(ids))


# 6. Tools

def tools(name: str, folder: Path) -> str:
    """Count the calls with what everybody has: a search in text, or a query."""
    with open_store(name, folder) as store:
        _put(store, "a", run_under("on_flush").events)
    if name == "JSONL":
        lines = file_of(name, folder, "a").read_bytes().splitlines()
        return say("b7_point_text", n=sum(b'"type":"tool/call"' in line for line in lines))
    with closing(sqlite3.connect(folder / DATABASE)) as database:
        found, = database.execute("SELECT count(*) FROM events WHERE type = 'tool/call'").fetchone()
    return say("b7_point_sql", n=found)


TRIALS = (("b7_point_concurrent", concurrent), ("b7_point_backups", backup), ("b7_point_sizes", size),
          ("b7_point_raw", raw_bytes), ("b7_point_damages", damage), ("b7_point_tools", tools))
