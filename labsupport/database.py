"""A SQLite file of ours, opened safely: guarded by its ids, written ahead, synced, and able to forget for good."""
import os
import sqlite3
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from weakref import WeakSet

from labsupport.system import fsync_folder

WAIT = 5.0
"""Seconds that a transaction waits for another one that writes."""

Refusal = Callable[[str, Path, int | None], Exception]
"""Makes an error of a sentence, the file's path, and the version that was found in it, None where that is not the matter."""


@dataclass(frozen=True)
class Refusals:
    """The errors that a database raises: *unusable* here, of another *format*, *corrupt*, or *busy* for too long.

    *system* is for an error of the operating system (a file that is not there, no permission); without it, it is passed on.
    """

    unusable: Refusal
    format: Refusal
    corrupt: Refusal
    busy: Refusal
    system: Refusal | None = None


@dataclass(frozen=True)
class Kind:
    """What a file has to be: its *application_id*, the *version* of its tables, and the *schema* that makes them.

    With *check*, the first look at a file goes through all of it: pages, constraints, and rows that name rows which are not
    there. It takes as long as reading the file. SQLite has no checksum that would find another letter inside a value.
    """

    application_id: int
    version: int
    schema: str
    check: bool = False


@dataclass(frozen=True)
class _Open:
    connection: sqlite3.Connection
    file: os.stat_result

    def is_of(self, path: Path) -> bool:
        """Whether the name still leads to the file that is open: after a restore from a backup it does not."""
        try:
            return os.path.samestat(os.stat(path), self.file)
        except FileNotFoundError:
            return False


class Database:
    """Connections to the file *path*, as many as there are transactions at a time; the first that may *make* it does.

    Nothing here opens the file but SQLite: a process that closes any descriptor of it gives up the locks of all (POSIX).
    """

    def __init__(self, path: Path, kind: Kind, refusals: Refusals) -> None:
        self.path, self._kind, self._refusals = path, kind, refusals
        self._lock = threading.Lock()
        self._idle: list[_Open] = []
        self._looked_at: os.stat_result | None = None  # the file of which it is known that it is sound, and nothing is due
        _databases.add(self)

    @contextmanager
    def transaction(self, *, write: bool = False, make: bool = False) -> Iterator[sqlite3.Connection]:
        """One transaction, committed at the end and rolled back on an error; *write* takes the lock of the one writer.

        FileNotFoundError where there is no database yet, unless it may *make* one.
        """
        with self._told(), self._connection(make) as connection:
            connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # an error of the system may have ended it already
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _connection(self, make: bool) -> Iterator[sqlite3.Connection]:
        """A connection that nobody else has at this time."""
        with self._lock:
            opened = self._idle.pop() if self._idle else None
        try:
            if opened is not None and not opened.is_of(self.path):
                opened.connection.close()
                opened = None
            if opened is None:
                opened = self._new(make)
            _in_use[id(opened)] = opened
            yield opened.connection
        except BaseException:
            if opened is not None:
                opened.connection.close()  # whatever is left of the transaction goes with it
            raise
        else:
            with self._lock:
                self._idle.append(opened)
        finally:
            _in_use.pop(id(opened), None)

    def _new(self, make: bool) -> _Open:
        if make:
            with suppress(FileExistsError):
                os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666))
        found = os.lstat(self.path)
        if not stat.S_ISREG(found.st_mode):
            what = "link" if stat.S_ISLNK(found.st_mode) else "folder" if stat.S_ISDIR(found.st_mode) else "device"
            raise self._refusals.unusable(f"this is a {what}; a database is a file of its own. Nothing was read or written.",
                                          self.path, None)
        if (found.st_dev, found.st_ino) in _in_use_at_fork:
            raise self._refusals.busy("this process was forked while a transaction was under way. Nothing was changed; open "
                                      "the file in a process that was started, not forked.", self.path, None)
        connection = sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=rw", WAIT, isolation_level=None, uri=True,
                                     check_same_thread=False)
        try:
            if not self._is_ours(connection):
                if not make:
                    raise FileNotFoundError(f"{self.path}: there is nothing in this database yet")
                self._make(connection)
            for setting in ("synchronous = FULL", "secure_delete = ON", "foreign_keys = ON", "temp_store = MEMORY"):
                connection.execute(f"PRAGMA {setting}")
            if self._looked_at is None or not os.path.samestat(found, self._looked_at):
                if self._kind.check:
                    self._check(connection)
                _erase(connection)  # which a crash may have cut off
                self._looked_at = found
        except BaseException:
            connection.close()
            raise
        return _Open(connection, found)

    def _is_ours(self, connection: sqlite3.Connection) -> bool:
        """Whether the file has our tables; not yet when it is empty. A file of something else is refused."""
        connection.execute("BEGIN")  # one look at all three, since another process may make the tables now
        mark, = connection.execute("PRAGMA application_id").fetchone()
        version, = connection.execute("PRAGMA user_version").fetchone()
        tables, = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        connection.execute("COMMIT")
        if mark == version == tables == 0:
            return False
        if mark != self._kind.application_id:
            raise self._refusals.format("this database belongs to something else. Nothing was changed; name another file.",
                                        self.path, None)
        if version != self._kind.version:
            age = "newer" if version > self._kind.version else "older"
            raise self._refusals.format(
                f"the tables in this database are of version {version}, {age} than {self._kind.version}, which is used here. "
                "Nothing was changed; open it with a version of this library that knows it.", self.path, version)
        return True

    def _check(self, connection: sqlite3.Connection) -> None:
        if connection.execute("PRAGMA integrity_check(1)").fetchone() != ("ok",) or (
                connection.execute("PRAGMA foreign_key_check").fetchone() is not None):
            raise self._refusals.corrupt(_DAMAGED.format(""), self.path, None)

    def _make(self, connection: sqlite3.Connection) -> None:
        if connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
            raise self._refusals.unusable("this file system does not carry a write-ahead log; take another folder.", self.path,
                                          None)
        connection.execute("BEGIN IMMEDIATE")
        try:
            if not connection.execute("PRAGMA user_version").fetchone()[0]:  # nobody was quicker
                for statement in (_ERASURE + self._kind.schema).split(";"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {self._kind.application_id}")
                connection.execute(f"PRAGMA user_version = {self._kind.version}")
            connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise
        fsync_folder(self.path.parent)

    @staticmethod
    def want_erasure(connection: sqlite3.Connection) -> None:
        """Note, in a transaction that deletes, that the bytes have to go as well: a crash does not lose the note."""
        connection.execute("UPDATE erasure SET wanted = wanted + 1")

    def erase(self) -> bool:
        """Take the bytes of what was deleted out of the file and its write-ahead log; False where somebody still reads them.

        `secure_delete` overwrites a row that is deleted, but not the copies left where rows moved from page to page: the file
        is written anew (VACUUM), and the log beside it is emptied. What could not be erased is tried again when the file is
        opened. What was deleted stays deleted either way.
        """
        with self._told(), self._connection(False) as connection:
            return _erase(connection)

    def close(self) -> None:
        """Close the connections that are not in use; the next transaction opens one again."""
        with self._lock:
            idle, self._idle = self._idle, []
        for opened in idle:
            opened.connection.close()

    def __del__(self) -> None:
        self.close()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """SQLite's errors as ours. Its messages name tables and columns, and never a value."""
        try:
            yield
        except (sqlite3.ProgrammingError, sqlite3.InterfaceError):
            raise  # the caller's
        except UnicodeDecodeError:
            raise self._refusals.corrupt(_DAMAGED.format(""), self.path, None) from None  # the error would carry bytes along
        except sqlite3.Error as error:
            kind = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
            if kind in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise self._refusals.busy(f"another transaction kept this database busy for {WAIT:.0f} seconds. Nothing was "
                                          "changed; try again.", self.path, None) from None
            if kind == sqlite3.SQLITE_NOTADB:
                raise self._refusals.format("this is no SQLite database, or its beginning is damaged. Nothing was changed; "
                                            "name another file.", self.path, None) from None
            if kind == sqlite3.SQLITE_CORRUPT:
                raise self._refusals.corrupt(_DAMAGED.format(f" ({error})"), self.path, None) from None
            raise self._refusals.unusable(f"SQLite cannot do this ({error}). Nothing was changed.", self.path, None) from None
        except OSError as error:
            if self._refusals.system is None:
                raise
            why = error.strerror or "it is empty"
            raise self._refusals.system(f"it cannot be opened, read or written here ({why}). Nothing was changed.", self.path,
                                        None) from None


def _erase(connection: sqlite3.Connection) -> bool:
    wanted, done = connection.execute("SELECT wanted, done FROM erasure").fetchone()
    if wanted == done:
        return True
    try:
        connection.execute("VACUUM")
        blocked, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if not blocked:  # a later wish is not fulfilled by what was done before it
            connection.execute("UPDATE erasure SET done = ? WHERE done < ?", (wanted, wanted))
    except sqlite3.OperationalError:
        return False
    return not blocked


_ERASURE = """
CREATE TABLE erasure (wanted INTEGER NOT NULL, done INTEGER NOT NULL);
INSERT INTO erasure VALUES (0, 0);
"""
_DAMAGED = ("this database is damaged{}. Nothing was changed; keep a copy, then restore a backup, or save what can be read by "
            "`sqlite3 FILE .recover`.")
_databases: "WeakSet[Database]" = WeakSet()
_in_use: dict[int, _Open] = {}
_in_use_at_fork: set[tuple[int, int]] = set()  # files, by device and inode, that another thread was using then


def _before_fork() -> None:
    """SQLite's locks belong to a process: a child that inherits an open file believes that it holds locks, and does not."""
    for database in list(_databases):
        database.close()


def _in_child() -> None:
    for database in list(_databases):
        database._lock = threading.Lock()
    _in_use_at_fork.update((opened.file.st_dev, opened.file.st_ino) for opened in _in_use.values())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_in_child)
