"""A folder of logs, one JSONL file a session, plain or as Zstandard frames (chapter 4, §4.8)."""
import hashlib
import io
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from labsupport.errors import (
    EventError,
    LogCorruptError,
    StaleCursorError,
    StoreBusyError,
    StoredLogError,
    SurfaceError,
    TornLogError,
)
from labsupport.sessionlog.events import SessionEvent, natural
from labsupport.sessionlog.header import SessionHeader
from labsupport.sessionlog.json_text import write_data
from labsupport.sessionlog.recovery import interrupted_turn_closers
from labsupport.sessionlog.session import Session
from labsupport.sessionlog.storage.chunk_rows import pack_chunk_runs
from labsupport.sessionlog.storage.contract import Listing, LoadedLog, Repair, check_batch, check_types
from labsupport.sessionlog.storage.files import WriterLock, append_durably, cut, is_taken, make_whole, open_plain
from labsupport.sessionlog.storage.frames import ENCODINGS
from labsupport.sessionlog.storage.paths import encode_segment
from labsupport.sessionlog.storage.scan import Scan, TornTail, ends_a_turn, scan_file
from labsupport.sessionlog.storage.writers import Policy, Writer, on_barriers


@dataclass(frozen=True)
class _Tail:
    """Where a log ended when it was last looked at; it is looked at again when the file is not that any more."""

    size: int
    changed: int
    next_seq: int


class JsonlStore:
    """The logs in the folder *root*; *compression* None or "zstd".

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

    def __init__(self, root: str | os.PathLike[str], compression: Literal["zstd"] | None = None) -> None:
        self.root = Path(root)
        if self.root.is_symlink():
            raise StoredLogError("this folder is a link; name the folder that it points to", self.root)
        self._encoding = ENCODINGS[compression]
        self._announced: dict[str, SessionHeader] = {}
        self._locks: dict[str, WriterLock] = {}
        self._tails: dict[str, _Tail] = {}

    def path(self, id: str) -> Path:
        """Where the log of session *id* lies; no id leads out of the root."""
        if type(id) is not str or not id:
            raise EventError("id", "a session has an id")
        return self.root / (encode_segment(id) + self._encoding.ending)

    def create(self, header: SessionHeader) -> None:
        """Announce the session of *header*. Its file is made, whole, by the first append."""
        header.check()
        if is_taken(self.path(header.id)) or header.id in self._announced:
            raise StoredLogError("there is a session of this id. Nothing was changed.", self.path(header.id))
        self._announced[header.id] = header

    def append(self, id: str, events: Sequence[SessionEvent]) -> None:
        """Add *events* to the log of *id*, durable on return. What a load would refuse is refused before it is written."""
        check_batch(events)
        if not events:
            return
        with self._writing(id) as path:
            lines = b"".join(write_data(record, stored=True) + b"\n" for record in pack_chunk_runs(events))
            if id in self._announced and not is_taken(path):
                self._expect(events[0].seq, 0, path)
                head = write_data({"type": "session", **self._announced[id].to_json()}) + b"\n"
                make_whole(path, self._encoding.encode(head + lines))
                self._announced.pop(id)
            else:
                tail = self._tail(id, path)
                self._expect(events[0].seq, tail.next_seq, path)
                append_durably(path, self._encoding.encode(lines), tail.size)
            self._note(id, path, events[-1].seq + 1)

    @staticmethod
    def _expect(seq: int, stored: int, path: Path) -> None:
        if seq != stored:
            raise StaleCursorError(seq, stored, path)

    def _note(self, id: str, path: Path, next_seq: int) -> None:
        found = path.stat()
        self._tails[id] = _Tail(found.st_size, found.st_mtime_ns, next_seq)

    def _tail(self, id: str, path: Path) -> _Tail:
        """The end of the stored log, read again unless the file is as it was left."""
        found, known = path.lstat(), self._tails.get(id)
        if known is None or (found.st_size, found.st_mtime_ns) != (known.size, known.changed):
            scan, torn_bytes = self._scan(path)
            if scan.torn is not None or torn_bytes:
                raise TornLogError("the last write to this log did not finish. Nothing was added; load(id) repairs it.",
                                   path, scan.torn.line if scan.torn else None)
            known = _Tail(found.st_size, found.st_mtime_ns, len(scan.events))
            self._tails[id] = known
        return known

    def _scan(self, path: Path) -> tuple[Scan, int]:
        """What is stored at *path*, and how many bytes at its end are no whole batch."""
        fd = open_plain(path, os.O_RDONLY)
        with os.fdopen(fd, "rb") as file:
            if self._encoding.ending == ".jsonl":
                return scan_file(file, path), 0
            raw = file.read()
        decoded = self._encoding.decode(raw)
        if ends_a_turn(decoded.behind):
            raise LogCorruptError(f"the batch at byte {len(raw) - decoded.torn} cannot be read, and a turn ends behind it, so "
                                  "this is damage, not a torn tail. Nothing was changed.", path)
        return scan_file(io.BytesIO(decoded.data), path), decoded.torn

    def inspect(self, id: str) -> LoadedLog:
        """The log of *id*, repaired in memory; nothing on the disk is touched, and no lock is taken."""
        return self._repaired(id, lambda scan, torn_bytes: None)

    def load(self, id: str) -> LoadedLog:
        """The log of *id*, repaired, and the repair committed: what it cuts off is kept beside the log first.

        StoreBusyError while a writer is attached, here or elsewhere: a live session is not repaired as if it had crashed.
        """
        if id in self._locks:
            raise StoreBusyError("this session is live in this process. Nothing was changed; close its writer first.",
                                 self.path(id), self._locks[id].pid)
        path = self.path(id)
        if not is_taken(path):
            raise FileNotFoundError(f"{path}: there is no session of this id")
        with self._writing(id):
            def commit(scan: Scan, torn_bytes: int) -> Path | None:
                return self._cut_tail(path, scan) if scan.torn or torn_bytes else None

            loaded = self._repaired(id, commit)
            if loaded.repair is not None and loaded.repair.added:
                added = [write_data(record, stored=True) + b"\n" for record in pack_chunk_runs(loaded.repair.added)]
                append_durably(path, self._encoding.encode(b"".join(added)), path.stat().st_size)
            self._note(id, path, len(loaded.events))
        return loaded

    def _repaired(self, id: str, commit: Callable[[Scan, int], Path | None]) -> LoadedLog:
        path = self.path(id)
        scan, torn_bytes = self._scan(path)
        if scan.header.id != id:
            raise LogCorruptError("the header names another session than the file does. Nothing was changed; a log that was "
                                  "copied keeps its name, or gets a header of its own (fork).", path, 1)
        check_types(scan.events, path)
        closers = interrupted_turn_closers(scan.events)
        try:  # what opens is derivable: surface rules and relations of the header are checked here, before anything is changed
            Session.create(scan.header.id, seed=[*scan.events, *closers], header=scan.header)
        except (EventError, SurfaceError) as error:
            raise LogCorruptError(f"{str(error).removesuffix('. Nothing was changed.')}. Nothing was changed.", path) from None
        torn = scan.torn
        if torn is None and torn_bytes:
            torn = TornTail(0, path.stat().st_size - torn_bytes, torn_bytes, 0, 0, "the last batch is not whole")
        if torn is None and not closers:
            return LoadedLog(scan.header, scan.events, None)
        kept_in = commit(scan, torn_bytes)
        return LoadedLog(scan.header, scan.events + closers, Repair(torn, tuple(closers), kept_in))

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
        cut(path, start)
        if line_start < scan.committed_bytes:  # the batch was whole and its end was not good: write its good part again
            append_durably(path, self._encoding.encode(decoded.data[line_start:scan.committed_bytes]), start)
        return kept_in

    def read_from(self, id: str, seq: int) -> list[SessionEvent]:
        """The committed events of *id* from *seq* on."""
        scan, _ = self._scan(self.path(id))
        check_types(scan.events, self.path(id))
        return scan.events[natural(seq, "seq"):]

    def list(self) -> Listing:
        """The headers of the logs in the folder; no log is read. Logs whose header cannot be read are in `.problems`."""
        headers: list[SessionHeader] = []
        problems: list[StoredLogError] = []
        for path in sorted(self.root.glob(f"*{self._encoding.ending}")) if self.root.is_dir() else ():
            try:
                headers.append(self._header(path))
            except StoredLogError as error:
                problems.append(error)
            except OSError as error:
                problems.append(StoredLogError(f"this log cannot be opened ({error.strerror})", path))
        return Listing(headers, problems)

    def _header(self, path: Path) -> SessionHeader:
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

    def attach(self, session: Session, policy: Policy = on_barriers) -> Writer:
        """The log's one writer: it stores what *session* logs from now on, and what of it is not stored yet."""
        path = self.path(session.id)
        if session.id in self._locks:
            raise StoreBusyError("this session has a writer in this process. Nothing was changed.", path,
                                 self._locks[session.id].pid)
        self.root.mkdir(parents=True, exist_ok=True)
        lock = WriterLock(path)
        fresh = session.id not in self._announced
        try:
            stored = self._tail(session.id, path).next_seq if is_taken(path) else 0
            if stored > len(session.events) or (stored and not self._continues(session, stored)):
                raise StaleCursorError(len(session.events), stored, path)
            if not is_taken(path):
                self._announced[session.id] = session.header
        except BaseException:
            lock.release()
            raise
        self._locks[session.id] = lock
        return Writer(session, stored, policy, lambda events: self.append(session.id, events),
                      lambda: self._detach(session.id, fresh))

    def _continues(self, session: Session, stored: int) -> bool:
        last = self.read_from(session.id, stored - 1)[0]
        return last.to_json() == session.events[stored - 1].to_json()

    def _detach(self, id: str, fresh: bool) -> None:
        if fresh and not is_taken(self.path(id)):
            self._announced.pop(id, None)  # nothing was ever written
        lock = self._locks.pop(id, None)
        if lock is not None:
            lock.release()

    @contextmanager
    def _writing(self, id: str) -> Iterator[Path]:
        """The path of the log, while this process is its one writer."""
        path = self.path(id)
        held = self._locks.get(id)
        if held is not None:
            if held.pid != os.getpid():
                raise StoreBusyError(f"process {held.pid}, which this one was forked from, is writing this log. "
                                     "Nothing was written; open a store of your own.", path, held.pid)
            yield path
            return
        if not is_taken(path) and id not in self._announced:
            raise FileNotFoundError(f"{path}: there is no session of this id; create(header) announces one")
        self.root.mkdir(parents=True, exist_ok=True)
        lock = WriterLock(path)
        try:
            yield path
        finally:
            lock.release()


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
