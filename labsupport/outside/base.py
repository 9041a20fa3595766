"""What every store outside a log does alike: its database, its clock, its end."""
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import Connection
from types import TracebackType
from typing import Self

from labsupport.database import Database, Kind, Refusals
from labsupport.errors import OutsideBusyError, OutsideCorruptError, OutsideFileError, OutsideFormatError
from labsupport.outside.extraction import HIGHEST_SEQ

_REFUSALS = Refusals(
    unusable=lambda sentence, path, version: OutsideFileError(sentence, path),
    format=lambda sentence, path, version: OutsideFormatError(sentence, path, version),
    corrupt=lambda sentence, path, version: OutsideCorruptError(sentence, path),
    busy=lambda sentence, path, version: OutsideBusyError(sentence, path),
    system=lambda sentence, path, version: OutsideFileError(sentence, path))


class OutsideStore:
    """A database of *kind* at *path*, made or checked now, until `close`; *clock* gives epoch milliseconds.

    What was committed is on the disk. Raises OutsideFormatError, OutsideCorruptError, OutsideBusyError, or OutsideFileError
    where a file cannot be written.
    """

    def __init__(self, path: Path | str, kind: Kind, clock: Callable[[], int]) -> None:
        self.path, self._clock, self._closed = Path(path), clock, False
        self._database = Database(self.path, kind, _REFUSALS)
        with self._transaction(make=True):
            pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let the file go. What was committed is on the disk already."""
        self._closed = True
        self._database.close()

    @contextmanager
    def _transaction(self, *, write: bool = False, make: bool = False) -> Iterator[Connection]:
        if self._closed:
            raise ValueError("this store is closed; open it again")
        with self._database.transaction(write=write, make=make) as connection:
            yield connection

    def _now(self) -> int:
        time = self._clock()
        if type(time) is not int or not 0 <= time <= HIGHEST_SEQ:
            raise ValueError("the clock gives whole milliseconds from 0 on")
        return time


def to_bytes(text: str) -> bytes:
    """UTF-8, in which a lone surrogate is let through: SQLite's own text knows none, and its functions stop at a NUL."""
    return text.encode("utf-8", "surrogatepass")


def to_text(stored: bytes) -> str:
    """What `to_bytes` was given."""
    return stored.decode("utf-8", "surrogatepass")
