"""A copy of a log, cut on a disk and given to the store: what inspect and load make of the file, byte by byte."""
from dataclasses import dataclass
from tempfile import TemporaryDirectory

from labsupport.errors import StoredLogError
from labsupport.sessionlog.storage import JsonlStore, LoadedLog, scan_log
from labsupport.workbench.cuts import split_lines


@dataclass(frozen=True)
class Handled:
    """The bytes of a copy *before*, after `inspect`, *after* `load`, and after a second load (*again*).

    *kept* is what load cut off and kept beside the log. *seen* is what inspect gave, *loaded* what load gave; None where the
    store *refused* the copy.
    """

    before: bytes
    inspected: bytes
    after: bytes
    again: bytes
    kept: bytes
    seen: LoadedLog | None
    loaded: LoadedLog | None
    refused: StoredLogError | None


def handle(data: bytes) -> Handled:
    """Put *data* on a disk as a log; inspect it, load it, load it again.

    >>> handle(b"").refused is not None
    True
    """
    with TemporaryDirectory() as folder:
        store, id = JsonlStore(folder), _id(data)
        path = store.path(id)
        path.write_bytes(data)
        try:
            seen = store.inspect(id)
        except StoredLogError as error:
            left = path.read_bytes()
            return Handled(data, left, left, left, b"", None, None, error)
        inspected = path.read_bytes()
        loaded = store.load(id)
        after = path.read_bytes()
        kept = loaded.repair.kept_in.read_bytes() if loaded.repair and loaded.repair.kept_in else b""
        store.load(id)
        return Handled(data, inspected, after, path.read_bytes(), kept, seen, loaded, None)


def _id(data: bytes) -> str:
    """The session that *data* is the log of, for a log lies under its own name; any word where the header cannot be read."""
    try:
        return scan_log(data).header.id or "unnamed"
    except StoredLogError:
        return "unreadable"


def line_count(data: bytes) -> int:
    """How many lines *data* has, one that was not finished included.

    >>> line_count(b"a\\nb")
    2
    """
    return len(split_lines(data))
