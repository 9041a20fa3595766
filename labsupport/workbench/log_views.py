"""What a log shows as of any of its events, worked out once, so that a slider may stand anywhere (chapter 4, §4.4 and §4.7).

Nothing is computed in a second way here: the surface, the transcript and the projections are the library's own, kept for every
watermark instead of only for the end.
"""
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any

from labsupport.errors import SurfaceError
from labsupport.sessionlog import SessionEvent, Surface, Unit, derive_event_message, tool_pairing, turn_status
from labsupport.sessionlog.surface import Plan
from labsupport.sessionlog.transcript import TranscriptRow, transcript
from labsupport.sessionlog.views import View

STEP_EDGES = frozenset({"step/start", "step/end", "turn/end"})  # no stream goes on past one of these


@dataclass(frozen=True)
class Place:
    """Where an event stands: in this *turn* and *step*, None outside."""

    turn: Any
    step: Any


@dataclass(frozen=True)
class LogRow:
    """A row of the log: one event, or a run of chunks from seq *first* to seq *last*."""

    first: int
    last: int
    type: str
    place: Place

    @property
    def count(self) -> int:
        return self.last - self.first + 1


@dataclass(frozen=True)
class Span:
    """A turn or a step: the seq it *began* at, the seq it *ended* at (None: the log stops first), the last row it covers."""

    began: int
    ended: int | None
    last: int


@dataclass
class CallSlot:
    """A tool call with what became of it: (seq, status) in order, as the unit tool_pairing saw it."""

    turn: Any
    call_id: str
    name: Any
    history: list[tuple[int, str]] = field(default_factory=list)

    def as_of(self, seq: int) -> str | None:
        """The status at this watermark; None before the call was asked for."""
        return next((status for at, status in reversed(self.history) if at <= seq), None)

    def seqs(self, seq: int) -> tuple[int | None, int | None, int | None]:
        """Where it was asked for, started and answered, as of *seq*."""
        found: dict[str, int] = {}
        for at, status in self.history:
            if at <= seq:
                found.setdefault(status if status in ("requested", "started") else "answered", at)
        return found.get("requested"), found.get("started"), found.get("answered")


class LogViews:
    """The *events* of a log, and what of them can be seen as of each.

    >>> from labsupport.workbench import log_samples
    >>> views = LogViews(log_samples.load("two_step").events)
    >>> views.rows[5].first, views.rows[5].last, views.rows[5].type
    (5, 18, 'assistant/chunk')
    >>> list(views.nodes(20)), len(views.transcript(20)), views.call_slots[0].as_of(20)
    ([2, 19], 3, 'started')

    SurfaceError for events that are no log. Chapter 4, §4.4 and §4.7.
    """

    def __init__(self, events: Sequence[SessionEvent]) -> None:
        self.events = tuple(events)
        surface = Surface()
        self._nodes: list[View[int]] = []
        self.order: list[int] = []
        """Every seq that is ever on the surface, so ordered that at each watermark the nodes stand in their order."""
        self.shadowed_by: dict[int, int] = {}
        for at, event in enumerate(self.events):
            if event.seq != at:
                raise SurfaceError(event.seq, f"it stands where event {at} belongs")
            plan = surface.plan(event, self.events.__getitem__)
            surface.apply(plan)
            self._nodes.append(surface.nodes)
            if plan is not None:
                self._put(plan)
        self.messages = {seq: derive_event_message(self.events[seq]) for seq in self.order}
        """What each of these gives to the model; None where it gives nothing."""
        self.turn_states = _states(turn_status, self.events)
        self.rows = list(_rows(self.events, self.turn_states))
        self.turns = list(_spans(self.events, "turn/start", "turn/end"))
        self.steps = list(_spans(self.events, "step/start", "step/end"))
        self.call_slots = _call_slots(self.events, self.turn_states, _states(tool_pairing, self.events))
        self._cut_transcript()

    def _put(self, plan: Plan) -> None:
        """A new node's place among all: at the end, or above the first that it shadows."""
        if plan.replacement is None:
            self.order.append(plan.seq)
            return
        self.order.insert(self.order.index(plan.replacement.shadowed_seqs[0]), plan.seq)
        self.shadowed_by.update(dict.fromkeys(plan.replacement.shadowed_seqs, plan.seq))

    def _cut_transcript(self) -> None:
        """The transcript step by step: what a step has shown stays, so as of any event only its own step is read again."""
        edges = [event.seq + 1 for event in self.events if event.type in STEP_EDGES]
        self._edges = [0, *edges]
        self.told: list[TranscriptRow] = []
        """All rows of the transcript."""
        self._told_until = [0]
        for first, stop in pairwise([*self._edges, len(self.events)]):
            self.told += transcript(self.events[first:stop])
            self._told_until.append(len(self.told))

    def row_at(self, seq: int) -> int:
        """The number of the row, from 0, that the event *seq* stands in."""
        return bisect_right(self.rows, seq, key=lambda row: row.first) - 1

    def nodes(self, seq: int) -> View[int]:
        """The surface as of *seq*."""
        return self._nodes[seq]

    def transcript(self, seq: int) -> list[TranscriptRow]:
        """What a person saw as of *seq*."""
        edge = bisect_right(self._edges, seq) - 1
        return self.told[:self._told_until[edge]] + transcript(self.events[self._edges[edge]:seq + 1])

    def model_sees(self, seq: int) -> int:
        """How many messages the surface as of *seq* gives to the model."""
        return sum(self.messages[node] is not None for node in self._nodes[seq])

    def waiting(self, seq: int) -> list[CallSlot]:
        """The calls of the open turn that have no result as of *seq*."""
        turn = span_at(self.turns, seq)
        if turn is None or self.turn_states[seq]["status"] != "running":
            return []
        return [slot for slot in self.call_slots
                if turn.began < slot.history[0][0] <= seq and slot.as_of(seq) in ("requested", "started")]


def span_at(spans: Sequence[Span], seq: int) -> Span | None:
    """The turn, or the step, that covers the event *seq*; None between two."""
    at = bisect_right(spans, seq, key=lambda span: span.began) - 1
    return spans[at] if at >= 0 and seq <= spans[at].last else None


def place_of(event: SessionEvent, before: Any, after: Any) -> Place:
    """Where *event* stands, from the turn status *before* and *after* it; an end belongs to what it ends."""
    state = before if event.type in ("step/end", "turn/end") else after
    return Place(state["turn"], state["step"]) if state["status"] == "running" else Place(None, None)


def _states(unit: Unit, events: Sequence[SessionEvent]) -> list[Any]:
    """The state of *unit* after each event."""
    def after(state: Any, event: SessionEvent) -> Any:
        return unit.apply(state, event) if event.type in unit.event_types else state

    return list(accumulate(events, after, initial=unit.init()))[1:]


def _rows(events: Sequence[SessionEvent], states: Sequence[Any]) -> Iterator[LogRow]:
    """One row an event; chunks that follow each other in one step share one."""
    run: LogRow | None = None
    for event, before, after in zip(events, [turn_status.init(), *states], states, strict=False):
        place = place_of(event, before, after)
        if run is not None and event.type == run.type == "assistant/chunk" and place == run.place:
            run = LogRow(run.first, event.seq, run.type, place)
            continue
        if run is not None:
            yield run
        run = LogRow(event.seq, event.seq, event.type, place)
    if run is not None:
        yield run


def _spans(events: Sequence[SessionEvent], start: str, end: str) -> Iterator[Span]:
    """The turns, or the steps, of a log. One that was left open reaches to where its turn, or the next one, ends it."""
    began: int | None = None
    for event in events:
        if began is not None and event.type in (start, end, "turn/start", "turn/end"):
            ended = event.type == end
            yield Span(began, event.seq if ended else None, event.seq if ended else event.seq - 1)
            began = None
        if event.type == start:
            began = event.seq
    if began is not None:
        yield Span(began, None, len(events) - 1)


def _call_slots(events: Sequence[SessionEvent], turns: Sequence[Any], states: Sequence[Any]) -> list[CallSlot]:
    """Every call of every turn, read off the states of tool_pairing. An id that comes again is another call."""
    slots: list[CallSlot] = []
    current: dict[str, CallSlot] = {}
    known: dict[str, Any] = {}
    for event, turn, state in zip(events, turns, states, strict=True):
        if event.type == "turn/start":
            current = {}
        for call_id, call in state["calls"].items() if state["calls"] is not known else ():
            if call is known.get(call_id):
                continue
            if call_id not in current or call["status"] == "requested":
                current[call_id] = CallSlot(turn["turn"], call_id, call["name"])
                slots.append(current[call_id])
            current[call_id].history.append((event.seq, call["status"]))
        known = state["calls"]
    return slots
