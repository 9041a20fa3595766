"""A folder of logs, one JSONL file a session, plain or as Zstandard frames (chapter 4, §4.8)."""
import hashlib
import io
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from labsupport.errors import EventError, LogCorruptError, StoredLogError, TornLogError
from labsupport.sessionlog.events import SessionEvent
from labsupport.sessionlog.header import SessionHeader
from labsupport.sessionlog.json_text import field, write_data
from labsupport.sessionlog.storage.base import LogStore, Rows
from labsupport.sessionlog.storage.checkpoints import ROW_FIELDS, Row, stored_rows
from labsupport.sessionlog.storage.chunk_rows import record_lines
from labsupport.sessionlog.storage.contract import Listing, Unreached
from labsupport.sessionlog.storage.files import (
    append_durably,
    cut,
    is_taken,
    open_plain,
)
from labsupport.sessionlog.storage.frames import ENCODINGS
from labsupport.sessionlog.storage.paths import encode_segment
from labsupport.sessionlog.storage.scan import Scan, TornTail, ends_a_turn, scan_file
from labsupport.strict_json import read_json
from labsupport.system import fsync_folder, make_whole, replace_whole


@dataclass(frozen=True)
class _Tail:
    """Where a log ended when it was last looked at; it is looked at again when the file is not that any more."""

    size: int
    changed: int
    next_seq: int
    last: SessionEvent | None


class JsonlStore(LogStore):
    """The logs in the folder *root*; *compression* None or "zstd". With *pack* runs of streamed chunks are written as rows.

    Rows take a third of the space and several times the work, both ways; every store reads them.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> store = JsonlStore(folder.name)
    >>> store.create(SessionHeader("demo"))
    >>> store.append("demo", [SessionEvent.from_json({"type": "turn/start", "seq": 0, "time": 1, "data": {"turn": 1}})])
    >>> [event.type for event in store.inspect("demo").events]
    ['turn/start', 'turn/end']
    >>> folder.cleanup()

    Errors: StoreBusyError (another writer), StaleCursorError (the log went on), TornLogError, LogCorruptError, LogFormatError,
    UnknownEventError, FileNotFoundError for an id that is not there; other errors of the system come through. Chapter 4, §4.8.
    """

    def __init__(self, root: str | os.PathLike[str], compression: Literal["zstd"] | None = None, pack: bool = False) -> None:
        super().__init__(Path(root))
        if self.root.is_symlink():
            raise StoredLogError("this folder is a link; name the folder that it points to", self.root)
        self._encoding, self._pack = ENCODINGS[compression], pack
        self._tails: dict[str, _Tail] = {}
        self._paths: dict[str, Path] = {}

    def path(self, id: str) -> Path:
        """Where the log of session *id* lies; no id leads out of the root."""
        if type(id) is not str or not id:
            raise EventError("id", "a session has an id")
        if id not in self._paths:
            self._paths[id] = self.root / (encode_segment(id) + self._encoding.ending)
        return self._paths[id]

    def _lock_at(self, id: str) -> Path:
        return self.path(id)

    def _is_stored(self, id: str) -> bool:
        return is_taken(self.path(id))

    def _begin(self, header: SessionHeader, events: Sequence[SessionEvent]) -> None:
        path = self.path(header.id)
        make_whole(path, self._encoding.encode(header_line(header) + record_lines(events, self._pack)))
        self._note(header.id, path, events)

    def _add(self, id: str, events: Sequence[SessionEvent]) -> None:
        path = self.path(id)
        self._expect(id, events[0].seq, self._next_seq(id))
        append_durably(path, self._encoding.encode(record_lines(events, self._pack)), self._tails[id].size)
        self._note(id, path, events)

    def _note(self, id: str, path: Path, events: Sequence[SessionEvent]) -> None:
        """The file at *path* is as this process left it, and *events* are the latest in it."""
        self._tails[id] = _tail(path.stat(), events)

    def _next_seq(self, id: str) -> int:
        return self._tail(id).next_seq

    def _last(self, id: str) -> SessionEvent | None:
        return self._tail(id).last

    def _tail(self, id: str) -> _Tail:
        """The end of the stored log, read again unless the file is as it was left."""
        path = self.path(id)
        found, known = path.lstat(), self._tails.get(id)
        if known is None or (found.st_size, found.st_mtime_ns) != (known.size, known.changed):
            scan = self._read(id)
            if scan.torn is not None:
                raise TornLogError("the last write to this log did not finish. Nothing was added; load(id) repairs it.",
                                   path, scan.torn.line or None)
            known = self._tails[id] = _tail(found, scan.events)
        return known

    def _read(self, id: str) -> Scan:
        path = self.path(id)
        with os.fdopen(open_plain(path, os.O_RDONLY), "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if self._encoding.ending == ".jsonl":
                return scan_file(file, path, size)
            raw = file.read(size)
        decoded = self._encoding.decode(raw)
        if ends_a_turn(decoded.behind):
            raise LogCorruptError(f"the batch at byte {len(raw) - decoded.torn} cannot be read, and a turn ends behind it, so "
                                  "this is damage, not a torn tail. Nothing was changed.", path)
        scan = scan_file(io.BytesIO(decoded.data), path)
        if scan.torn is None and decoded.torn:
            torn = TornTail(0, len(raw) - decoded.torn, decoded.torn, 0, 0, "the last batch is not whole")
            return Scan(scan.header, scan.events, scan.committed_bytes, torn)
        return scan

    def _repair(self, id: str, scan: Scan, closers: Sequence[SessionEvent]) -> Path | None:
        path = self.path(id)
        kept_in = self._cut_tail(path, scan) if scan.torn is not None else None
        if closers:
            append_durably(path, self._encoding.encode(record_lines(closers)), path.stat().st_size)
        self._note(id, path, closers or scan.events)
        return kept_in

    def _cut_tail(self, path: Path, scan: Scan) -> Path:
        """Keep what was not committed in a file beside the log, then cut it off."""
        raw = path.read_bytes()
        decoded = self._encoding.decode(raw)
        start, line_start = [batch for batch in decoded.starts if batch[1] <= scan.committed_bytes][-1]
        if self._encoding.ending == ".jsonl":
            start, line_start = scan.committed_bytes, scan.committed_bytes
        elif scan.committed_bytes == len(decoded.data):
            start, line_start = len(raw) - decoded.torn, scan.committed_bytes
        kept_in = _keep(path.with_name(f"{path.name}.torn-{start}"), raw[start:])
        if line_start < scan.committed_bytes:  # the batch was whole and its end was not good: its good part stays
            replace_whole(path, raw[:start] + self._encoding.encode(decoded.data[line_start:scan.committed_bytes]))
        else:
            cut(path, start)
        return kept_in

    def list(self) -> Listing:
        """The headers of the logs in the folder; no log is read. Logs whose header cannot be read are in `.problems`."""
        headers: list[SessionHeader] = []
        problems: list[StoredLogError] = []
        for path in sorted(self.root.glob(f"*{self._encoding.ending}")) if self.root.is_dir() else ():
            try:
                headers.append(self._header_at(path))
            except StoredLogError as error:
                problems.append(error)
            except OSError as error:
                problems.append(StoredLogError(f"this log cannot be opened ({error.strerror})", path))
        return Listing(headers, problems)

    def _header(self, id: str) -> SessionHeader:
        return self._header_at(self.path(id))

    def _header_at(self, path: Path) -> SessionHeader:
        with os.fdopen(open_plain(path, os.O_RDONLY), "rb") as file:
            start = self._encoding.first_line(file)
        return scan_file(io.BytesIO(start), path).header

    def revision(self, id: str) -> str:
        """An opaque word that changes when the log of *id* does."""
        path = self.path(id)
        with os.fdopen(open_plain(path, os.O_RDONLY), "rb") as file:
            found = os.fstat(file.fileno())
            file.seek(max(0, found.st_size - 4096))
            facts = [found.st_size, found.st_mtime_ns, found.st_ino, hashlib.sha256(file.read()).hexdigest()]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:24]

    def _remove(self, id: str) -> tuple[Sequence[str], Sequence[Unreached]]:
        path = self.path(id)
        beside = re.compile(re.escape(path.name) + r"\.(torn-\d+(\.\d+)?|views)?(\.?\d+\.draft)?")
        lock = path.with_name(f"{path.name}.lock")
        side = sorted(name for name in os.listdir(self.root) if beside.fullmatch(name))
        for name in side:
            (self.root / name).unlink()
        fsync_folder(self.root)  # the log goes last: as long as it is there, the deletion can be asked for again
        path.unlink()
        self._tails.pop(id, None)
        if os.name == "posix":
            lock.unlink()  # whoever opened it meanwhile sees that its name is gone
        fsync_folder(self.root)
        return [path.name, *side], [Unreached("disk")]

    def _views(self, id: str) -> Path:
        path = self.path(id)
        return path.with_name(f"{path.name}.views")

    def _rows(self, id: str) -> Rows:
        """Checkpoints are a cache: a file that cannot be read is as good as none, and the next save replaces it."""
        try:
            with os.fdopen(open_plain(self._views(id), os.O_RDONLY), "rb") as file:
                found = field(read_json(file.read()), "rows")
        except (FileNotFoundError, ValueError):
            return []
        return stored_rows(found if isinstance(found, list) else [], lambda row: tuple(row[name] for name in ROW_FIELDS))

    def _keep_rows(self, id: str, rows: Sequence[Row]) -> None:
        kept = [{name: getattr(row, name) for name in ROW_FIELDS} for row in rows]
        replace_whole(self._views(id), write_data({"rows": kept}, stored=True))


def _tail(found: os.stat_result, events: Sequence[SessionEvent]) -> _Tail:
    """The end of a file as it was *found*, of which *events* are the latest."""
    last = events[-1] if events else None
    return _Tail(found.st_size, found.st_mtime_ns, 0 if last is None else last.seq + 1, last)


def header_line(header: SessionHeader) -> bytes:
    """The first line of the log of *header*."""
    return write_data({"type": "session", **header.to_json()}) + b"\n"


def _keep(path: Path, data: bytes) -> Path:
    """Keep *data* at *path*, or beside it where that name holds something else already."""
    name = path.name
    number = 1
    while is_taken(path) and path.read_bytes() != data:
        number += 1
        path = path.with_name(f"{name}.{number}")
    if not is_taken(path):  # else a load kept it that was stopped before it cut
        make_whole(path, data)
    return path
