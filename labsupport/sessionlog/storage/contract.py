"""What both stores promise (chapter 4, §4.8)."""
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Protocol

from labsupport.errors import EventError, StoredLogError, UnknownEventError
from labsupport.sessionlog.events import SessionEvent, check_envelope, is_known_type
from labsupport.sessionlog.header import SessionHeader
from labsupport.sessionlog.shapes import check_stored_shape
from labsupport.sessionlog.storage.scan import TornTail


@dataclass(frozen=True)
class Repair:
    """What a repair did: what it cut off (*torn*; a load keeps it in *kept_in*), and the events it *added* to close a turn."""

    torn: TornTail | None
    added: tuple[SessionEvent, ...]
    kept_in: Path | None = None


@dataclass(frozen=True)
class LoadedLog:
    """A stored log: its header, its events with those that the repair added, and the *repair*, None when none was needed."""

    header: SessionHeader
    events: list[SessionEvent]
    repair: Repair | None


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


def check_types(events: Iterable[SessionEvent], path: Path | None = None) -> None:
    """Refuse an event of a type that nobody registered, unless it says that it may be passed over: UnknownEventError."""
    for event in events:
        if not is_known_type(event.type) and event.ignorable is not True:
            raise UnknownEventError(
                f"event {event.seq} has a type that is not known here and not marked ignorable, so it may change how the rest "
                "is read. The log is whole: register the type (register_event_type), or load the plug-in that wrote it.",
                event.type, event.seq, path)


def check_batch(events: Sequence[SessionEvent]) -> None:
    """What a load would refuse, an append refuses before it writes: EventError, UnknownEventError."""
    check_types(events)
    for before, event in pairwise(events):
        if event.seq != before.seq + 1:
            raise EventError("seq", f"event {event.seq} comes after event {before.seq}")
    for event in events:
        check_envelope(event)
        check_stored_shape(event.type, event.json_text)
