"""Writes that are undone when they fail, and the lock of a log's one writer."""
import os
import stat
from contextlib import suppress
from pathlib import Path

import portalocker

from labsupport.errors import StoreBusyError, StoredLogError
from labsupport.system import write_all as write_all


def open_plain(path: Path, flags: int) -> int:
    """Open the file *path* with *flags*, but neither through a link nor a folder: StoredLogError."""
    if not _NO_LINKS and path.is_symlink():
        raise _not_plain("link", path)
    try:
        fd = os.open(path, flags | _NO_LINKS | getattr(os, "O_BINARY", 0), 0o666)
    except OSError:
        for what, found in (("link", path.is_symlink()), ("folder", path.is_dir())):
            if found:
                raise _not_plain(what, path) from None
        raise
    if stat.S_ISDIR(os.fstat(fd).st_mode):  # a folder opens for reading
        os.close(fd)
        raise _not_plain("folder", path)
    return fd


_NO_LINKS = getattr(os, "O_NOFOLLOW", 0)


def _not_plain(what: str, path: Path) -> StoredLogError:
    return StoredLogError(f"this is a {what}; a log is a file of its own. Nothing was read or written.", path)


def is_taken(path: Path) -> bool:
    """Whether the name *path* is in use, if only by a link that leads nowhere."""
    return path.exists() or path.is_symlink()


def append_durably(path: Path, data: bytes, size: int) -> None:
    """Add *data* to the file *path*, which is *size* bytes long; durable on return. When it fails the file is cut back."""
    fd = open_plain(path, os.O_WRONLY | os.O_APPEND)
    try:
        try:
            write_all(fd, data)
            sync_data(fd)
        except BaseException:
            with suppress(OSError):
                os.ftruncate(fd, size)
                os.fsync(fd)
            raise
    finally:
        os.close(fd)


def sync_data(fd: int) -> None:
    """Make durable what was written to *fd*, and its size."""
    getattr(os, "fdatasync", os.fsync)(fd)


def cut(path: Path, size: int) -> None:
    """Cut the file *path* to *size* bytes, durable on return."""
    fd = open_plain(path, os.O_WRONLY)
    try:
        os.ftruncate(fd, size)
        os.fsync(fd)
    finally:
        os.close(fd)


class WriterLock:
    """The lock of the one writer of the log *path*, held until `release` or the end of the process, whichever comes first.

    The system holds it, so it never goes stale. The pid in the lock's file is for the message alone. A log that shares its
    file with others has a lock of its own, at *path*; *log* is then the file to name.
    """

    def __init__(self, path: Path, log: Path | None = None) -> None:
        self._log = path if log is None else log
        self.file = path.with_name(f"{path.name}.lock")
        self.pid = os.getpid()
        self._fd = self._lock()
        while not self._is_there():  # a deletion took the name away after it was opened: that lock keeps nobody out
            os.close(self._fd)
            self._fd = self._lock()
        with suppress(OSError):  # on a full disk the message does without the pid
            if _pid(os.read(self._fd, 32)) != self.pid:  # a write here is one more for the next sync to carry
                os.ftruncate(self._fd, 0)
                os.lseek(self._fd, 0, os.SEEK_SET)
                os.write(self._fd, str(self.pid).encode())

    def _lock(self) -> int:
        fd = open_plain(self.file, os.O_RDWR | os.O_CREAT)
        try:
            portalocker.lock(fd, portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING)
        except portalocker.LockException:
            pid = _pid(os.read(fd, 32))
            os.close(fd)
            who = f"process {pid}" if pid else "another process"
            raise StoreBusyError(f"{who} is writing this log. Nothing was changed; close it there, or inspect the log here.",
                                 self._log, pid) from None
        return fd

    def _is_there(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self._fd), os.stat(self.file))
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Let another writer in; a second call does nothing. A forked child gives up its copy, not the parent's lock."""
        if self._fd >= 0:
            if self.pid == os.getpid():
                portalocker.unlock(self._fd)
            os.close(self._fd)
            self._fd = -1


def _pid(text: bytes) -> int | None:
    return int(text) if text.isdigit() else None
