"""A SQLite file that is ours, opened safely: WAL, synced commits, application_id and user_version as guards (§4.8)."""
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from labsupport.errors import LogCorruptError, LogFormatError, StoreBusyError, StoredLogError
from labsupport.sessionlog.storage.files import fsync_folder, make_folder, open_plain

APPLICATION_ID = 0x4C4F4734  # "LOG4"
SCHEMA_VERSION = 1
WAIT = 5.0
"""Seconds that a transaction waits for another one that writes."""

_ours_no_more: list[sqlite3.Connection] = []  # of the process that this one was forked from; closing them would disturb it


class Database:
    """Connections to the file *path*, one a thread; *schema* makes its tables, in the first transaction that may *make* it."""

    def __init__(self, path: Path, schema: str) -> None:
        self.path, self._schema = path, schema
        self._open = threading.local()
        self._all: list[sqlite3.Connection] = []
        self._pid = os.getpid()

    @contextmanager
    def transaction(self, *, write: bool = False, make: bool = False) -> Iterator[sqlite3.Connection]:
        """One transaction, committed at the end and rolled back on an error; *write* takes the lock of the one writer."""
        with self._told():
            connection = self._connection(make)
            if make and not connection.execute("PRAGMA user_version").fetchone()[0]:
                self._make(connection)
            connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            try:
                yield connection
            except BaseException:
                with suppress(sqlite3.Error):  # an error of the system may have ended it already
                    connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    def _connection(self, make: bool) -> sqlite3.Connection:
        if self._pid != os.getpid():
            _ours_no_more.extend(self._all)
            self._all, self._open, self._pid = [], threading.local(), os.getpid()
        known: sqlite3.Connection | None = getattr(self._open, "connection", None)
        if known is not None and self._is_same():
            return known
        self._drop()
        if make:
            make_folder(self.path.parent)
        os.close(open_plain(self.path, os.O_RDWR | (os.O_CREAT if make else 0)))
        connection = sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=rw", WAIT, isolation_level=None, uri=True,
                                     check_same_thread=False)
        try:
            connection.text_factory = bytes  # what is no UTF-8 is damage that a scan names, not an error of the driver
            self._check(connection, make)
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA secure_delete = ON")
        except BaseException:
            connection.close()
            raise
        self._open.connection, self._open.file = connection, os.stat(self.path)
        self._all.append(connection)
        return connection

    def _is_same(self) -> bool:
        """Whether the name still leads to the file that is open: after a restore from a backup it does not."""
        try:
            return os.path.samestat(os.stat(self.path), self._open.file)
        except FileNotFoundError:
            return False

    def _drop(self) -> None:
        known = getattr(self._open, "connection", None)
        if known is not None:
            known.close()
            self._all.remove(known)
            del self._open.connection

    def _check(self, connection: sqlite3.Connection, make: bool) -> None:
        """The file is ours, and of the schema that is known here; one that is empty may become ours."""
        mark, = connection.execute("PRAGMA application_id").fetchone()
        version, = connection.execute("PRAGMA user_version").fetchone()
        if mark == APPLICATION_ID and version == SCHEMA_VERSION:
            return
        if mark == APPLICATION_ID:
            age = "newer" if version > SCHEMA_VERSION else "older"
            raise LogFormatError(f"the tables in this database are of a schema ({version}) that is {age} than "
                                 f"{SCHEMA_VERSION}, the one used here. Nothing was changed; open it with a version of this "
                                 "library that knows it.", version, self.path)
        empty = mark == version == 0 and not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if not empty:
            raise LogFormatError("this database belongs to something else. Nothing was changed; name another file.", mark,
                                 self.path)
        if not make:
            raise FileNotFoundError(f"{self.path}: there is no session in this database yet")

    def _make(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN IMMEDIATE")
        try:
            if not connection.execute("PRAGMA user_version").fetchone()[0]:  # nobody was quicker
                for statement in self._schema.split(";"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise
        fsync_folder(self.path.parent)

    def empty_wal(self) -> bool:
        """Write what the WAL holds into the file and cut it to nothing; whether no reader kept that from being done."""
        with self._told():
            busy, *_ = self._connection(False).execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            return not busy

    def close(self) -> None:
        """Close the connections of all threads."""
        if self._pid == os.getpid():
            for connection in self._all:
                connection.close()
        self._all, self._open = [], threading.local()

    def __del__(self) -> None:
        self.close()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """SQLite's errors as ours. Its messages name tables and columns, and never a value."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            code = getattr(error, "sqlite_errorcode", None)
            kind = None if code is None else code & 0xFF
            if kind in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise StoreBusyError(f"another transaction kept this database busy for {WAIT:.0f} seconds. Nothing was "
                                     "changed; try again.", self.path) from None
            if kind == sqlite3.SQLITE_NOTADB:
                raise LogFormatError("this file is no SQLite database. Nothing was changed; name another file.", None,
                                     self.path) from None
            if kind == sqlite3.SQLITE_CORRUPT:
                raise LogCorruptError(f"SQLite finds this database damaged ({error}). Nothing was changed; `sqlite3 FILE "
                                      ".recover` saves what can be read.", self.path) from None
            raise StoredLogError(f"SQLite cannot do this ({error}). Nothing was changed.", self.path) from None
