"""What both stores promise (chapter 4, §4.8)."""
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

from msgspec import UNSET

from labsupport.errors import EventError, StoredLogError, UnknownEventError
from labsupport.sessionlog.events import RETIRED_TYPES, SURFACE_TYPES, SessionEvent, check_envelope, is_known_type
from labsupport.sessionlog.header import SessionHeader
from labsupport.sessionlog.session import Clock, Session
from labsupport.sessionlog.shapes import SHAPED_TYPES, check_stored_shape
from labsupport.sessionlog.storage.checkpoints import Checkpoint
from labsupport.sessionlog.storage.scan import TornTail
from labsupport.sessionlog.storage.writers import Policy, Writer, on_barriers


@dataclass(frozen=True)
class Repair:
    """What a repair did: what it cut off (*torn*; a load keeps it in *kept_in*), and the events it *added* to close a turn."""

    torn: TornTail | None
    added: tuple[SessionEvent, ...]
    kept_in: Path | None = None


@dataclass
class LoadedLog:
    """A stored log: its header, its events with those that the repair added, and the *repair*, None when none was needed."""

    header: SessionHeader
    events: list[SessionEvent]
    repair: Repair | None
    built: Session | None = field(default=None, repr=False, compare=False)
    """The session that was built of the log to see that it can be; the first `session` takes it."""

    def session(self, clock: Clock | None = None) -> Session:
        """A session that goes on with this log, one of its own for each call; *clock* gives epoch milliseconds."""
        made, self.built = self.built, None
        if made is None:
            made = Session.seeded(self.header, self.events)
        made.end_seed(clock)
        return made


@dataclass(frozen=True)
class Unreached:
    """Where something of a deleted session may still be, and *which* one, where the store knows.

    *kind* is "fork" (a session that began with its events), "backup" (any copy of the store's files), "memory" (what other
    stores drew from it), "outside" (what its tools did), "disk" (blocks that the file system freed and did not overwrite) or
    "wal" (pages that a reader still holds).
    """

    kind: str
    which: str = ""


@dataclass(frozen=True)
class Deletion:
    """What a deletion *removed* (files, tables), and what it could not reach."""

    removed: tuple[str, ...]
    unreached: tuple[Unreached, ...]


class Listing(list[SessionHeader]):
    """The headers in a store; *problems* names the logs whose header cannot be read."""

    def __init__(self, headers: Iterable[SessionHeader], problems: Sequence[StoredLogError]) -> None:
        super().__init__(headers)
        self.problems = list(problems)


class Store(Protocol):
    """A place for logs. One contract suite runs over every store."""

    def create(self, header: SessionHeader) -> None:
        """Announce a new session; nothing is written before its first append."""

    def append(self, id: str, events: Sequence[SessionEvent]) -> None:
        """Add *events*, which go on at the stored next seq; durable on return."""

    def load(self, id: str) -> LoadedLog:
        """Read a log, repair it and commit the repair."""

    def inspect(self, id: str) -> LoadedLog:
        """Read a log and repair it in memory; nothing on the disk is touched."""

    def read_from(self, id: str, seq: int) -> list[SessionEvent]:
        """The committed events from *seq* on."""

    def list(self) -> Listing:
        """The headers of all logs; no log is read."""

    def revision(self, id: str) -> str:
        """An opaque word that changes when the log does."""

    def delete(self, id: str) -> Deletion:
        """Remove the log and all that is kept beside it; say what that cannot reach."""

    def attach(self, session: Session, policy: Policy = on_barriers) -> Writer:
        """Write behind a live session, as its one writer here."""

    def save_checkpoint(self, session: Session, rows: Mapping[str, Any]) -> None:
        """Keep a registry's checkpoint beside the log."""

    def read_checkpoint(self, id: str, versions: Mapping[str, int] | None = None) -> Checkpoint:
        """The rows that the log proves, and why the others are not used."""


def check_types(events: Sequence[SessionEvent], path: Path | None = None) -> None:
    """Refuse an event of a type that nobody registered, unless it says that it may be passed over: UnknownEventError."""
    unknown = {kind for kind in {event.type for event in events} if not is_known_type(kind)}
    for event in events if unknown else ():
        if event.type in unknown and event.ignorable is not True:
            raise UnknownEventError(
                f"event {event.seq} has a type that is not known here and not marked ignorable, so it may change how the rest "
                "is read. The log is whole: register the type (register_event_type), or load the plug-in that wrote it.",
                event.type, event.seq, path)


def check_batch(events: Sequence[SessionEvent], from_seq: int = 0) -> None:
    """What a load would refuse, an append refuses before it writes: EventError, UnknownEventError.

    The events before *from_seq* were the seed of a session, which has looked into each of them.
    """
    check_types(events)
    seqs = [event.seq for event in events]
    if seqs and seqs != list(range(seqs[0], seqs[0] + len(seqs))):
        before, seq = next((before, seq) for before, seq in pairwise(seqs) if seq != before + 1)
        raise EventError("seq", f"event {seq} comes after event {before}")
    seeded = max(0, min(from_seq - seqs[0], len(seqs))) if seqs else 0
    for event in events[seeded:]:
        if (event.type in _LOOKED_INTO or event.surface_op is not UNSET or event.source_event_seqs is not UNSET
                or event.ignorable is not UNSET):
            check_envelope(event)
            if event.type in SHAPED_TYPES:
                check_stored_shape(event.type, event.json_text)


_LOOKED_INTO = SHAPED_TYPES | SURFACE_TYPES | RETIRED_TYPES
