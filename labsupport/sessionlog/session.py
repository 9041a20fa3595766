"""A session in memory: the log, its surface, and the history that is derived from it (chapter 4, §4.2–4.4)."""
import logging
from collections.abc import Callable, Iterable
from typing import Any

from msgspec import UNSET, Raw

from labsupport.errors import EventError, ReentrantAppendError
from labsupport.frozen import freeze
from labsupport.sessionlog.events import (
    RETIRED_TYPES,
    SURFACE_TYPES,
    SessionEvent,
    integer,
    sources_from_json,
    surface_op_from_json,
)
from labsupport.sessionlog.header import SessionHeader
from labsupport.sessionlog.json_text import write_data
from labsupport.sessionlog.shapes import SHAPED_TYPES, canonical_header, check_stored_shape
from labsupport.sessionlog.surface import Plan, Surface, derive_event_message
from labsupport.sessionlog.views import View
from labsupport.system import no_garbage_collection

_LOOKED_INTO = SURFACE_TYPES | SHAPED_TYPES | RETIRED_TYPES

Observer = Callable[[SessionEvent], None]
Clock = Callable[[], int]

_log = logging.getLogger(__name__)


class Session:
    """The events of one session, in order, and what follows from them. Made by `Session.create`.

    >>> session = Session.create("s1")
    >>> question = {"id": "m1", "role": "user", "source": {"kind": "user"}, "content": [{"type": "text", "text": "hi"}]}
    >>> session.append("user/message", question, surface_op="append").seq
    0
    >>> [message["id"] for message in session.derive_messages()]
    ['m1']
    """

    def __init__(self, header: SessionHeader, clock: Clock | None) -> None:
        self.header = header
        self.surface = Surface()
        self.first_live_seq = 0
        self.detached = False  # a replay: no store takes it, and no tool runs for it
        self._events: list[SessionEvent] = []
        self._clock = clock
        self._observers: list[Observer] = []
        self._telling = False
        self._messages: list[Any] = []  # derived from the first _derived nodes
        self._derived = 0
        self._generation = 0  # of the surface that they were derived from
        self._by_seq: dict[int, Any] = {}

    @classmethod
    def create(cls, id: str, seed: Iterable[SessionEvent] | None = None, header: SessionHeader | None = None,
               clock: Clock | None = None) -> "Session":
        """A session named *id*: empty, or with *seed* (resume, fork, replay), which then ends in a `session/end-seed`.

        *clock* gives epoch milliseconds; without one an event repeats the time of the event before it. Every seed event is
        checked: EventError, SurfaceError or LosslessError at the first that does not fit, and there is no session.
        """
        header = SessionHeader(id) if header is None else header
        header = SessionHeader.from_json(header.to_json())
        if header.id != id:
            raise EventError("header.id", "the header names another session")
        session = cls(header, clock)
        if seed is not None:
            session._take_all(seed)
            session.end_seed(clock)
        return session

    @classmethod
    def seeded(cls, header: SessionHeader, seed: Iterable[SessionEvent]) -> "Session":
        """A session of the checked *header* with the events of *seed*, which is not ended yet: `end_seed` brings it to life."""
        session = cls(header, None)
        session._take_all(seed)
        return session

    def branch(self, header: SessionHeader, length: int, clock: Clock | None) -> "Session":
        """A session of *header* that begins with the first *length* events of this one, which stays as it is."""
        seed = self._events[:length]
        surface = self.surface.as_of(length - 1)
        if surface is None:
            return Session.create(header.id, seed, header, clock)
        for event in seed[self.first_live_seq:]:  # those before it were checked when they were the seed of this session
            if event.type in SHAPED_TYPES:
                check_stored_shape(event.type, event.json_text)
        header.check()
        made = Session(header, None)
        made._events, made.surface = seed, surface
        made.end_seed(clock)
        return made

    def _take_all(self, seed: Iterable[SessionEvent]) -> None:
        with no_garbage_collection():
            events = self._events
            for event in seed:
                if (event.type in _LOOKED_INTO or event.seq != len(events) or event.surface_op is not UNSET
                        or event.source_event_seqs is not UNSET or event.ignorable is not UNSET):
                    self._take(event)
                else:
                    events.append(event)  # nothing in it is checked

    def end_seed(self, clock: Clock | None) -> None:
        """Log that what follows is live, unless the seed ends so already; *clock* gives the time from here on."""
        self._clock = clock
        self.first_live_seq = len(self._events)
        if not self._events or self._events[-1].type != "session/end-seed":
            self.append("session/end-seed", {})

    def _take(self, event: SessionEvent) -> None:
        """Put a seed event at its place."""
        if event.seq != len(self._events):
            raise EventError(f"seed[{len(self._events)}].seq", f"it is {event.seq}; a seed goes on from 0 without gaps")
        if event.type in SHAPED_TYPES:
            check_stored_shape(event.type, event.json_text)
        self._commit(event, self.surface.plan(event, self._events.__getitem__))

    def _commit(self, event: SessionEvent, plan: Plan | None) -> None:
        self._events.append(event)
        self.surface.apply(plan)

    @property
    def id(self) -> str:
        """The session's id."""
        return self.header.id

    @property
    def events(self) -> View[SessionEvent]:
        """All events so far; the view does not change afterwards."""
        return View(self._events)

    def append(self, type: str, data: object, surface_op: object = UNSET, source_event_seqs: object = UNSET,
               ignorable: bool = False) -> SessionEvent:
        """Log one event and return it. The data is copied; the log keeps it as JSON text.

        Refused before anything changes: LosslessError for data that JSON does not carry, EventError and SurfaceError for an
        event that does not fit, ReentrantAppendError from an observer. Observers run afterwards, one by one; one that raises is
        logged and stops nobody.
        """
        if self._telling:
            raise ReentrantAppendError("an observer cannot append while it is told of an append; note what to do, for later")
        event = self._make(type, data, surface_op, source_event_seqs, ignorable)
        self._commit(event, self.surface.plan(event, self._events.__getitem__))
        if self._observers:
            self._tell(event)
        return event

    def _make(self, type: str, data: object, surface_op: object, source_event_seqs: object, ignorable: bool) -> SessionEvent:
        if type.__class__ is not str:
            raise EventError("type", f"a string belongs here, not a {type.__class__.__name__}")
        text = Raw(write_data(data))
        op = UNSET if surface_op is UNSET or surface_op is None else surface_op_from_json(surface_op)
        sources = UNSET if source_event_seqs is UNSET or source_event_seqs is None else sources_from_json(source_event_seqs)
        event = SessionEvent(type, len(self._events), self._now(), text, op, sources, True if ignorable else UNSET)
        if type == "request/header" and isinstance(data, dict) and data.get("reason") == "fallback":
            raise EventError("data.reason", "this reason was retired")
        return event

    def _now(self) -> int:
        if self._clock is not None:
            return integer(self._clock(), "time")
        return self._events[-1].time if self._events else self.header.created_at

    def _tell(self, event: SessionEvent) -> None:
        self._telling = True
        try:
            for observer in tuple(self._observers):
                try:
                    observer(event)
                except Exception as error:  # noqa: BLE001 - an observer may be anybody's; the event is logged
                    _log.error("session %r: an observer failed at event %d (%s)", self.id, event.seq, error.__class__.__name__)
        finally:
            self._telling = False

    def observe(self, observer: Observer) -> Callable[[], None]:
        """Call *observer* with every event from now on; the function that is returned ends that."""
        def tell(event: SessionEvent) -> None:  # one of its own for each subscription, so that each ends alone
            observer(event)

        def stop() -> None:
            if tell in self._observers:
                self._observers.remove(tell)

        self._observers.append(tell)
        return stop

    def derive_messages(self) -> View[Any]:
        """The model's history now, frozen messages in surface order. A call costs the new nodes only; a replacement rebuilds.

        What one call returned neither grows nor changes afterwards. Chapter 4, §4.4.1.
        """
        nodes = self.surface.nodes
        if self._generation != self.surface.replace_generation:
            self._generation, self._derived, self._messages = self.surface.replace_generation, 0, []
        fresh = nodes[self._derived:]
        for seq in fresh:
            if seq not in self._by_seq:
                self._by_seq[seq] = derive_event_message(self._events[seq])
        self._messages += [message for message in map(self._by_seq.__getitem__, fresh) if message is not None]
        self._derived = len(nodes)
        return View(self._messages)

    def message(self, seq: int) -> Any:
        """What event *seq* says to the model, frozen; None when it says nothing. Each event is read once."""
        if seq not in self._by_seq:
            self._by_seq[seq] = derive_event_message(self._events[seq])
        return self._by_seq[seq]

    def request_header(self) -> Any:
        """The request header in force, in its one form, frozen; None before the first."""
        event = self._latest("request/header")
        return None if event is None else freeze(canonical_header(event.read().get("header")))

    def request_context(self) -> Any:
        """The latest request context, frozen; None before the first."""
        event = self._latest("request/context")
        return None if event is None else event.data

    def _latest(self, type: str) -> SessionEvent | None:
        return next((event for event in reversed(self._events) if event.type == type), None)
