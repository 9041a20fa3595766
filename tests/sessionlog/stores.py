"""The kinds of store that one suite runs over."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labsupport.sessionlog.storage import JsonlStore, SqliteStore
from labsupport.sessionlog.storage.frames import ENCODINGS
from tests.sessionlog import builders as make


@dataclass(frozen=True)
class Kind:
    """One kind of store: how it is opened in a folder, how the end of a log is torn there by a write of some text, and
    what is stored there."""

    name: str
    open: Callable[[Path], Any]
    tear: Callable[[Path, str, str], None]
    held: Callable[[Path], Any]


def _tear_lines(folder: Path, id: str, text: str) -> None:
    with JsonlStore(folder).path(id).open("ab") as file:
        file.write(b'{"type":"plugin/torn","data":"' + text.encode())


def _tear_frames(folder: Path, id: str, text: str) -> None:
    frame = ENCODINGS["zstd"].encode(f'{{"type":"plugin/torn","data":"{text}"}}\n'.encode())
    with JsonlStore(folder, "zstd").path(id).open("ab") as file:
        file.write(frame[: len(frame) // 2])


def database_of(folder: Path) -> Path:
    return folder / "sessions.db"


def with_rows(folder: Path, statement: str, *values: Any) -> list[Any]:
    """Run *statement* on the database in *folder*, beside the store."""
    with closing(sqlite3.connect(database_of(folder))) as database, database:
        return database.execute(statement, values).fetchall()


def _tear_rows(folder: Path, id: str, text: str) -> None:
    [[end]] = with_rows(folder, "SELECT max(seq) + 1 FROM events WHERE session_id = ?", id)
    row = (id, end, "plugin/torn", 5, f'"{text}')
    with_rows(folder, "INSERT INTO events (session_id, seq, type, time, data) VALUES (?, ?, ?, ?, ?)", *row)


def rows_of(folder: Path) -> dict[str, list[Any]]:
    """The rows of every table of the database in *folder*; tables without rows are left out."""
    if not database_of(folder).exists():
        return {}
    names = [name for [name] in with_rows(folder, "SELECT name FROM sqlite_master WHERE type = 'table'")]
    names = [name for name in names if name != "erasure" and not name.startswith("sqlite_")]  # it counts deletions
    found = {name: with_rows(folder, f"SELECT * FROM {name}") for name in sorted(names)}
    return {name: rows for name, rows in found.items() if rows}


KINDS = [
    Kind("plain", JsonlStore, _tear_lines, make.files_of),
    Kind("zstd", lambda folder: JsonlStore(folder, "zstd"), _tear_frames, make.files_of),
    Kind("sqlite", lambda folder: SqliteStore(database_of(folder)), _tear_rows, rows_of),
]


def named(name: str) -> Kind:
    return next(kind for kind in KINDS if kind.name == name)
