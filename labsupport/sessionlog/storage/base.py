"""What both stores do alike: check, announce, lock, repair, attach, keep checkpoints (chapter 4, §4.8).

A store of one kind says where a log lies, how it is read, and how events are added; everything else is here.
"""
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from weakref import WeakSet

from labsupport.errors import EventError, LogCorruptError, StaleCursorError, StoreBusyError, StoredLogError, SurfaceError
from labsupport.sessionlog.events import SessionEvent, natural
from labsupport.sessionlog.header import SessionHeader
from labsupport.sessionlog.json_text import same_json
from labsupport.sessionlog.lineage import check_attached
from labsupport.sessionlog.recovery import interrupted_turn_closers
from labsupport.sessionlog.session import Session
from labsupport.sessionlog.storage.checkpoints import Checkpoint, Row, choose, new_rows, proof_of
from labsupport.sessionlog.storage.contract import (
    Deletion,
    Listing,
    LoadedLog,
    Repair,
    Unreached,
    check_batch,
    check_types,
)
from labsupport.sessionlog.storage.files import WriterLock
from labsupport.sessionlog.storage.scan import Scan
from labsupport.sessionlog.storage.writers import Policy, Writer, on_barriers
from labsupport.system import make_folder

Events = list[SessionEvent]
Rows = list[Row]
Names = list[str]


class LogStore(ABC):
    """A store, but for where its logs lie."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._announced: dict[str, SessionHeader] = {}
        self._locks: dict[str, WriterLock] = {}
        self._written: WeakSet[Session] = WeakSet()  # the sessions that were attached here

    @abstractmethod
    def path(self, id: str) -> Path:
        """The file that the log of *id* lies in; no id leads out of the store."""

    @abstractmethod
    def list(self) -> Listing:
        """The headers of the logs; no log is read. Logs whose header cannot be read are in `.problems`."""

    @abstractmethod
    def revision(self, id: str) -> str:
        """An opaque word that changes when the log of *id* does."""

    @abstractmethod
    def _lock_at(self, id: str) -> Path:
        """The path whose lock the one writer of *id* holds."""

    @abstractmethod
    def _is_stored(self, id: str) -> bool: ...

    @abstractmethod
    def _header(self, id: str) -> SessionHeader:
        """The stored header of *id*."""

    @abstractmethod
    def _read(self, id: str) -> Scan:
        """What is stored of *id*, and what was torn off its end."""

    @abstractmethod
    def _next_seq(self, id: str) -> int:
        """The seq that the stored log goes on at; TornLogError when its end is torn."""

    @abstractmethod
    def _last(self, id: str) -> SessionEvent | None:
        """The stored log's last event; None when it has none."""

    @abstractmethod
    def _begin(self, header: SessionHeader, events: Sequence[SessionEvent]) -> None:
        """Store a new log, whole and durable, or nothing of it."""

    @abstractmethod
    def _add(self, id: str, events: Sequence[SessionEvent]) -> None:
        """Add to a stored log, durable on return. StaleCursorError or TornLogError where they do not go on at its end."""

    def _check_medium(self) -> None:  # noqa: B027 - most stores have nothing to ask
        """LogCorruptError where what the log lies in is damaged itself, so that its end may be missing without a trace."""

    @abstractmethod
    def _repair(self, id: str, scan: Scan, closers: Sequence[SessionEvent]) -> Path | None:
        """Keep aside and cut off what *scan* found torn, and add *closers*; where it was kept."""

    @abstractmethod
    def _remove(self, id: str) -> tuple[Sequence[str], Sequence[Unreached]]:
        """Remove all that is kept of *id*: what that was, and what of it is still there."""

    @abstractmethod
    def _rows(self, id: str) -> Rows:
        """The rows of all checkpoints of *id*."""

    @abstractmethod
    def _keep_rows(self, id: str, rows: Sequence[Row]) -> None:
        """Put *rows* in the place of the rows of *id*."""

    def create(self, header: SessionHeader) -> None:
        """Announce the session of *header*. Its log is made, whole, by the first append."""
        header.check()
        if self._is_stored(header.id) or header.id in self._announced:
            raise StoredLogError("there is a session of this id. Nothing was changed.", self.path(header.id))
        self._announced[header.id] = header

    def append(self, id: str, events: Sequence[SessionEvent]) -> None:
        """Add *events* to the log of *id*, durable on return. What a load would refuse is refused before it is written."""
        check_batch(events)
        self._store(id, events)

    def _store(self, id: str, events: Sequence[SessionEvent]) -> None:
        """Store *events*, which were checked."""
        if not events:
            return
        with self._writing(id):
            if id in self._announced and not self._is_stored(id):
                self._expect(id, events[0].seq, 0)
                self._begin(self._announced[id], events)
                self._announced.pop(id)
            else:
                self._add(id, events)

    def _expect(self, id: str, seq: int, stored: int) -> None:
        if seq != stored:
            raise StaleCursorError(seq, stored, self.path(id))

    def inspect(self, id: str) -> LoadedLog:
        """The log of *id*, repaired in memory; nothing of the log is touched, and no lock is taken."""
        return self._checked(id, self._read(id), None)

    def load(self, id: str) -> LoadedLog:
        """The log of *id*, repaired, and the repair committed: what it cuts off is kept beside the log first.

        StoreBusyError while a writer is attached, here or elsewhere: a live session is not repaired as if it had crashed.
        """
        self._refuse_live(id, "changed")
        self._find(id)
        with self._writing(id):
            return self._checked(id, self._read(id), self._repair)

    def _refuse_live(self, id: str, done: str) -> None:
        if id in self._locks:
            raise StoreBusyError(f"this session is live in this process. Nothing was {done}; close its writer first.",
                                 self.path(id), self._locks[id].pid)

    def _find(self, id: str) -> None:
        if not self._is_stored(id):
            raise FileNotFoundError(f"{self.path(id)}: there is no session of this id")

    def _checked(self, id: str, scan: Scan, commit: Callable[..., Path | None] | None) -> LoadedLog:
        """The log that *scan* found, closed; what cannot be read faithfully is refused before *commit* changes anything."""
        path = self.path(id)
        if scan.header.id != id:
            raise LogCorruptError("the header names another session than the file does. Nothing was changed; a log that was "
                                  "copied keeps its name, or gets a header of its own (fork).", path, 1)
        check_types(scan.events, path)
        closers = interrupted_turn_closers(scan.events)
        events = scan.events + closers
        try:  # what opens is derivable: surface rules and relations of the header are checked here
            scan.header.check()
            session = Session.seeded(scan.header, events)
        except (EventError, SurfaceError) as error:
            raise LogCorruptError(f"{str(error).removesuffix('. Nothing was changed.')}. Nothing was changed.", path) from None
        if scan.torn is None and not closers:
            return LoadedLog(scan.header, events, None, session)
        self._check_medium()
        kept_in = None if commit is None else commit(id, scan, closers)
        return LoadedLog(scan.header, events, Repair(scan.torn, tuple(closers), kept_in), session)

    def read_from(self, id: str, seq: int) -> Events:
        """The committed events of *id* from *seq* on."""
        natural(seq, "seq")
        events = self._read(id).events
        check_types(events, self.path(id))
        return events[seq:]

    def attach(self, session: Session, policy: Policy = on_barriers) -> Writer:
        """The log's one writer: it stores what *session* logs from now on, and what of it is not stored yet.

        A session may have a writer in each of several stores; `flush(session)` waits for all. DetachedSessionError for a
        replay, StoreBusyError for a second writer, StaleCursorError where the stored log is not the beginning of the session.
        """
        check_attached(session)
        id = session.id
        if id in self._locks:
            raise StoreBusyError("this session has a writer in this process. Nothing was changed.", self.path(id),
                                 self._locks[id].pid)
        make_folder(self._lock_at(id).parent)
        lock = WriterLock(self._lock_at(id), self.path(id))
        fresh = id not in self._announced
        try:
            is_stored = self._is_stored(id)
            if is_stored and session.header.parent_session not in (None, self._header(id).parent_session):
                raise StoredLogError("another session has this id: it was not forked from where this one was. Nothing was "
                                     "changed; give the new one an id of its own.", self.path(id))
            if is_stored and session not in self._written and session.header.seed_length == session.first_live_seq:
                raise StoredLogError("there is a session of this id, and a fork begins a log of its own. Nothing was changed; "
                                     "fork again with another child_id.", self.path(id))
            stored = self._next_seq(id) if is_stored else 0
            if stored > len(session.events) or (stored and not self._continues(session, stored)):
                raise StaleCursorError(len(session.events), stored, self.path(id))
            if not is_stored:
                session.header.check()
                self._announced[id] = session.header
        except BaseException:
            lock.release()
            raise
        self._locks[id] = lock
        self._written.add(session)

        def write(events: Sequence[SessionEvent]) -> None:
            check_batch(events, session.first_live_seq)
            self._store(id, events)

        return Writer(session, stored, policy, write, lambda: self._detach(id, fresh))

    def _continues(self, session: Session, stored: int) -> bool:
        last = self._last(session.id)
        return last is not None and same_json(last.to_json(), session.events[stored - 1].to_json())

    def _detach(self, id: str, fresh: bool) -> None:
        if fresh and not self._is_stored(id):
            self._announced.pop(id, None)  # nothing was ever written
        lock = self._locks.pop(id, None)
        if lock is not None:
            lock.release()

    @contextmanager
    def _writing(self, id: str) -> Iterator[None]:
        """While this process is the log's one writer."""
        held = self._locks.get(id)
        if held is not None:
            if held.pid != os.getpid():
                raise StoreBusyError(f"process {held.pid}, which this one was forked from, is writing this log. "
                                     "Nothing was written; open a store of your own.", self.path(id), held.pid)
            yield
            return
        if id not in self._announced and not self._is_stored(id):
            raise FileNotFoundError(f"{self.path(id)}: there is no session of this id; create(header) announces one")
        make_folder(self._lock_at(id).parent)
        lock = WriterLock(self._lock_at(id), self.path(id))
        try:
            yield
        finally:
            lock.release()

    def delete(self, id: str) -> Deletion:
        """Remove the log of *id*, what repairs kept of it, and its checkpoints; the answer says what that cannot reach.

        StoreBusyError while a writer is attached; FileNotFoundError for an id that is not there.
        """
        self._refuse_live(id, "removed")
        if id in self._announced and not self._is_stored(id):
            self._announced.pop(id)
            return Deletion((), ())
        self._find(id)
        forks = self._forks(id)
        with self._writing(id):
            removed, left = self._remove(id)
        copies = [Unreached("fork", fork) for fork in forks]
        return Deletion(tuple(removed), (*left, *copies, *(Unreached(kind) for kind in ("backup", "memory", "outside"))))

    def _forks(self, id: str) -> Names:
        """The sessions in this store that began with events of *id*, and those that began with theirs."""
        children: dict[str, Names] = {}
        for header in self.list():
            if header.parent_session is not None and header.seed_length:
                children.setdefault(header.parent_session, []).append(header.id)
        found, waiting = Names(), [id]
        while waiting:
            fresh = [child for child in children.get(waiting.pop(), ()) if child not in found and child != id]
            found += fresh
            waiting += fresh
        return found

    def save_checkpoint(self, session: Session, rows: Mapping[str, Any]) -> None:
        """Keep *rows*, a registry's checkpoint of *session*, beside its log, each with a proof of the event that it ends at.

        Rows of other versions stay, and so do rows for events that the log does not have. StoredLogError for a row that is
        ahead of what is durable: flush first.
        """
        self._find(session.id)
        check_attached(session)
        stored = self._next_seq(session.id)
        for seq in {row["seq"] for row in rows.values()}:
            if seq >= stored:
                raise StoredLogError(f"this checkpoint is for event {seq}, and the stored log ends before {stored}. Nothing "
                                     "was kept; flush the session first.", self.path(session.id))
            if seq >= 0 and proof_of([self.read_from(session.id, seq)[0]], 0) != proof_of(session.events, seq):
                raise StoredLogError("the stored log is not the one of this session. Nothing was kept; load the session again.",
                                     self.path(session.id))
        self._keep_rows(session.id, new_rows(self._rows(session.id), rows, session.events, self.revision(session.id)))

    def read_checkpoint(self, id: str, versions: Mapping[str, int] | None = None) -> Checkpoint:
        """Of each key the latest row that the stored log proves, of the version in *versions* where it names one.

        What cannot be proven is in `refused`, with the reason, and stays where it is. The log is read only when it changed
        after the rows were kept.
        """
        self._find(id)
        return choose(self._rows(id), versions or {}, self.revision(id), lambda: self._read(id).events)
