"""Many logs in one SQLite file (chapter 4, §4.8)."""
import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from labsupport.database import Database, Kind, Refusals
from labsupport.errors import EventError, LogCorruptError, LogFormatError, StoreBusyError, StoredLogError, TornLogError
from labsupport.sessionlog.events import SessionEvent, natural
from labsupport.sessionlog.header import SessionHeader
from labsupport.sessionlog.json_text import write_data
from labsupport.sessionlog.storage.base import Events, LogStore, Rows
from labsupport.sessionlog.storage.checkpoints import Row, stored_rows
from labsupport.sessionlog.storage.contract import Listing, Unreached, check_types
from labsupport.sessionlog.storage.jsonl import header_line
from labsupport.sessionlog.storage.paths import encode_segment
from labsupport.sessionlog.storage.rows import COLUMNS, event_row, row_line, to_text, to_value
from labsupport.sessionlog.storage.scan import Scan, scan_lines
from labsupport.strict_json import read_json

_SCHEMA = """
CREATE TABLE sessions (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, header TEXT NOT NULL);
CREATE TABLE events (session_id TEXT NOT NULL, seq INTEGER NOT NULL, type TEXT NOT NULL, time INTEGER NOT NULL,
    data TEXT NOT NULL, source_event_seqs TEXT, surface_op TEXT, ignorable INTEGER,
    PRIMARY KEY (session_id, seq)) WITHOUT ROWID;
CREATE TABLE torn (session_id TEXT NOT NULL, repair INTEGER NOT NULL, place INTEGER NOT NULL, row TEXT NOT NULL,
    PRIMARY KEY (session_id, repair, place)) WITHOUT ROWID;
CREATE TABLE checkpoints (session_id TEXT NOT NULL, key TEXT NOT NULL, ver INTEGER NOT NULL, seq INTEGER NOT NULL,
    val TEXT NOT NULL, proof TEXT NOT NULL, revision TEXT NOT NULL, PRIMARY KEY (session_id, key, ver, seq)) WITHOUT ROWID
"""
_TABLES = ("events", "torn", "checkpoints")
_KIND = Kind(0x4C4F4734, 1, _SCHEMA)  # "LOG4"
_REFUSALS = Refusals(
    unusable=lambda sentence, path, version: StoredLogError(sentence, path),
    format=lambda sentence, path, version: LogFormatError(sentence, version, path),
    corrupt=lambda sentence, path, version: LogCorruptError(sentence, path),
    busy=lambda sentence, path, version: StoreBusyError(sentence, path))


class SqliteStore(LogStore):
    """The logs in the file *path*; several sessions, in one database in WAL mode whose commits are synced.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> store = SqliteStore(f"{folder.name}/sessions.db")
    >>> store.create(SessionHeader("demo"))
    >>> store.append("demo", [SessionEvent.from_json({"type": "turn/start", "seq": 0, "time": 1, "data": {"turn": 1}})])
    >>> [event.type for event in store.inspect("demo").events]
    ['turn/start', 'turn/end']
    >>> store.close(); folder.cleanup()

    Errors as in JsonlStore. LogFormatError also for a database of something else or of another schema, LogCorruptError for one
    that SQLite finds damaged. A row that cannot be read, or a gap, and all rows behind it, are a torn tail, unless a turn ends
    there. Chapter 4, §4.8.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.file = Path(path)
        super().__init__(self.file.parent)
        if self.root.is_symlink():
            raise StoredLogError("this folder is a link; name the folder that it points to", self.root)
        self._database = Database(self.file, _KIND, _REFUSALS)
        self._ends: dict[str, tuple[int, int]] = {}  # id → the session's number, and its next seq when it was last read

    def close(self) -> None:
        """Close the database; the next call opens it again."""
        self._database.close()

    def path(self, id: str) -> Path:
        """The database's file, whatever the *id*."""
        if type(id) is not str or not id:
            raise EventError("id", "a session has an id")
        return self.file

    def _lock_at(self, id: str) -> Path:
        return self.file.with_name(f"{self.file.name}.locks") / encode_segment(id)

    @contextmanager
    def _cursor(self, *, write: bool = False, make: bool = False) -> Iterator[Any]:
        with self._database.transaction(write=write, make=make) as connection:
            connection.text_factory = bytes  # what is no UTF-8 is damage that a scan names, not an error of the driver
            yield connection

    def _is_stored(self, id: str) -> bool:
        self.path(id)
        try:
            with self._cursor() as database:
                return database.execute("SELECT 1 FROM sessions WHERE id = ?", (to_value(id),)).fetchone() is not None
        except FileNotFoundError:
            return False

    def _begin(self, header: SessionHeader, events: Sequence[SessionEvent]) -> None:
        with self._cursor(write=True, make=True) as database:
            head = to_value(header_line(header).decode())
            number = database.execute("INSERT INTO sessions (id, header) VALUES (?, ?)", (to_value(header.id), head)).lastrowid
            self._insert(database, header.id, events)
        self._ends[header.id] = (number, events[-1].seq + 1)

    def _add(self, id: str, events: Sequence[SessionEvent]) -> None:
        with self._cursor(write=True) as database:
            number, next_seq = self._checked_end(database, id)
            self._expect(id, events[0].seq, next_seq)
            self._insert(database, id, events)
        self._ends[id] = (number, events[-1].seq + 1)

    @staticmethod
    def _insert(database: Any, id: str, events: Sequence[SessionEvent]) -> None:
        key = to_value(id)
        database.executemany(f"INSERT INTO events ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                             [(key, *event_row(event)) for event in events])

    def _end(self, database: Any, id: str) -> tuple[int, int]:
        """The number of the session, and the seq behind its last row; FileNotFoundError when the session is not there."""
        number, next_seq = self._one(
            database, id, "number, (SELECT coalesce(max(seq), -1) + 1 FROM events WHERE session_id = sessions.id)")
        return number, next_seq

    def _one(self, database: Any, id: str, columns: str) -> Any:
        """*columns* of the row of the session."""
        self.path(id)
        found = database.execute(f"SELECT {columns} FROM sessions WHERE id = ?", (to_value(id),)).fetchone()
        if found is None:  # asked in the same transaction as its events: another process may delete it at any time
            raise FileNotFoundError(f"{self.file}: there is no session of this id")
        return found

    def _next_seq(self, id: str) -> int:
        with self._cursor() as database:
            return self._checked_end(database, id)[1]

    def _last(self, id: str) -> SessionEvent | None:
        next_seq = self._next_seq(id)
        return self.read_from(id, next_seq - 1)[0] if next_seq else None

    def _checked_end(self, database: Any, id: str) -> tuple[int, int]:
        """As `_end`; the log is read again unless it ends as it was left."""
        end = self._end(database, id)
        if self._ends.get(id) != end:
            scan = self._read(id, database)
            if scan.torn is not None:
                raise TornLogError("the last write to this log did not finish. Nothing was added; load(id) repairs it.",
                                   self.file, scan.torn.line)
            self._ends[id] = (end[0], len(scan.events))
        return self._ends[id]

    def _read(self, id: str, database: Any = None) -> Scan:
        if database is None:
            self.path(id)
            with self._cursor() as fresh:
                return self._read(id, fresh)
        head, = self._one(database, id, "header")
        return self._scan(database, id, _text(head), 0)

    def _scan(self, database: Any, id: str, head: bytes, seq: int) -> Scan:
        """The rows from *seq* on; all of them for 0, those that have no place in a log too."""
        which, values = ("", (to_value(id),)) if seq == 0 else ("AND seq >= ?", (to_value(id), seq))
        query = f"SELECT {COLUMNS} FROM events WHERE session_id = ? {which} ORDER BY seq"
        with closing(database.execute(query, values)) as rows:
            blocks = iter(lambda: [row_line(row) for row in rows.fetchmany(1000)], [])
            return scan_lines(head, blocks, self.file, first_seq=seq)

    def _check_medium(self) -> None:
        with self._cursor() as database:
            found, = database.execute("PRAGMA quick_check(1)").fetchone()
        if found != b"ok":
            raise LogCorruptError("SQLite finds this database damaged, so what looks like a torn tail may be lost rows. "
                                  "Nothing was changed; `sqlite3 FILE .recover` saves what can be read.", self.file)

    def _repair(self, id: str, scan: Scan, closers: Sequence[SessionEvent]) -> Path | None:
        key, kept = to_value(id), len(scan.events)
        with self._cursor(write=True) as database:
            if scan.torn is not None:
                behind = "session_id = ? AND NOT (typeof(seq) = 'integer' AND seq BETWEEN 0 AND ? - 1)"
                rows = database.execute(f"SELECT {COLUMNS} FROM events WHERE {behind} ORDER BY seq", (key, kept)).fetchall()
                repair, = database.execute("SELECT coalesce(max(repair), 0) + 1 FROM torn WHERE session_id = ?",
                                           (key,)).fetchone()
                database.executemany("INSERT INTO torn VALUES (?, ?, ?, ?)", [
                    (key, repair, place, json.dumps([_shown(value) for value in row[1:]])) for place, row in enumerate(rows)])
                database.execute(f"DELETE FROM events WHERE {behind}", (key, kept))
            self._insert(database, id, closers)
            number, _ = self._end(database, id)
        self._ends[id] = (number, kept + len(closers))
        return None if scan.torn is None else self.file

    def read_from(self, id: str, seq: int) -> Events:
        """The committed events of *id* from *seq* on. Rows before it are looked at only when the log's end was not seen yet."""
        natural(seq, "seq")
        self.path(id)
        with self._cursor() as database:
            if self._ends.get(id) != self._end(database, id):
                events = self._read(id, database).events[seq:]
            else:
                events = self._scan(database, id, header_line(SessionHeader(id)), seq).events
        check_types(events, self.file)
        return events

    def list(self) -> Listing:
        """The headers in the database; no event is read. Those that cannot be read are in `.problems`."""
        headers: list[SessionHeader] = []
        problems: list[StoredLogError] = []
        try:
            with self._cursor() as database:
                heads = database.execute("SELECT header FROM sessions ORDER BY id").fetchall()
        except FileNotFoundError:
            heads = []
        for head, in heads:
            try:
                headers.append(scan_lines(_text(head), [], self.file).header)
            except StoredLogError as error:
                problems.append(error)
        return Listing(headers, problems)

    def _header(self, id: str) -> SessionHeader:
        with self._cursor() as database:
            head, = self._one(database, id, "header")
        return scan_lines(_text(head), [], self.file).header

    def revision(self, id: str) -> str:
        """An opaque word that changes when the log of *id* does."""
        self.path(id)
        with self._cursor() as database:
            end = self._end(database, id)
            last = database.execute(f"SELECT {COLUMNS} FROM events WHERE session_id = ? ORDER BY seq DESC LIMIT 1",
                                    (to_value(id),)).fetchone()
        return hashlib.sha256(repr((end, last)).encode()).hexdigest()[:24]

    def _remove(self, id: str) -> tuple[Sequence[str], Sequence[Unreached]]:
        with self._cursor(write=True) as database:
            self._database.want_erasure(database)
            removed = ["sessions"]
            database.execute("DELETE FROM sessions WHERE id = ?", (to_value(id),))
            for table in _TABLES:
                if database.execute(f"DELETE FROM {table} WHERE session_id = ?", (to_value(id),)).rowcount:
                    removed.append(table)
        self._ends.pop(id, None)
        emptied = self._database.erase()
        if os.name == "posix":
            lock = self._lock_at(id)
            lock.with_name(f"{lock.name}.lock").unlink()  # whoever opened it meanwhile sees that its name is gone
        return removed, [Unreached("disk")] if emptied else [Unreached("disk"), Unreached("wal")]

    def _rows(self, id: str) -> Rows:
        with self._cursor() as database:
            rows = database.execute("SELECT key, ver, seq, val, proof, revision FROM checkpoints WHERE session_id = ?",
                                    (to_value(id),)).fetchall()
        return stored_rows(rows, lambda row: (to_text(row[0]), row[1], row[2], read_json(row[3]), to_text(row[4]),
                                              to_text(row[5])))

    def _keep_rows(self, id: str, rows: Sequence[Row]) -> None:
        key = to_value(id)
        with self._cursor(write=True) as database:
            database.execute("DELETE FROM checkpoints WHERE session_id = ?", (key,))
            database.executemany("INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)", [
                (key, to_value(row.key), row.ver, row.seq, write_data(row.val, stored=True).decode(), row.proof, row.revision)
                for row in rows])


def _text(head: Any) -> bytes:
    """The header's line as it is stored; a column that holds no text is a line that cannot be read."""
    return head if isinstance(head, bytes) else b"\n"


def _shown(value: Any) -> Any:
    """A column of a row that is kept aside, as JSON; bytes as the text that they spell, byte by byte where they spell none."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    return value


