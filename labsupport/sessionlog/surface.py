"""The surface: which messages the model sees, in which order (chapter 4, §4.4).

One transition serves the live append, the seed and the cold fold: `Surface.plan` looks at an event and changes nothing,
`Surface.apply` carries a plan out and cannot fail.
"""
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import UNSET

from labsupport.errors import EventError, PairingError, SurfaceError
from labsupport.frozen import freeze_tree
from labsupport.sessionlog.events import SURFACE_TYPES, Replace, SessionEvent, check_envelope
from labsupport.sessionlog.json_text import field, same_json
from labsupport.sessionlog.views import View

FindEvent = Callable[[int], SessionEvent]


@dataclass(frozen=True)
class Replacement:
    """Event *seq* stands in the place of the nodes from *start* to *end*; these are the *shadowed_seqs*, in surface order."""

    seq: int
    start: int
    end: int
    shadowed_seqs: tuple[int, ...]


@dataclass(frozen=True)
class Plan:
    """What an event does to a surface: it goes to the end, or (*replacement*) between positions *first* and *last*."""

    seq: int
    first: int = -1
    last: int = -1
    replacement: Replacement | None = None


class Surface:
    """The nodes (seqs) that the model's history is derived from, in order, and how often some were replaced."""

    def __init__(self) -> None:
        self._nodes: list[int] = []
        self._on: set[int] = set()  # the same seqs, to ask whether one is there
        self._replacements: list[Replacement] = []

    @property
    def nodes(self) -> View[int]:
        """The seqs on the surface now; the view does not change afterwards."""
        return View(self._nodes)

    @property
    def replacements(self) -> View[Replacement]:
        """All replacements so far, in order."""
        return View(self._replacements)

    @property
    def replace_generation(self) -> int:
        """How many replacements there were."""
        return len(self._replacements)

    def plan(self, event: SessionEvent, find: FindEvent) -> Plan | None:
        """What *event* would do; None when it does not touch the surface. *find* gives an earlier event by its seq.

        SurfaceError (or EventError, for the envelope alone) where it cannot be done. Nothing changes here.
        """
        try:
            check_envelope(event)
        except EventError as error:
            raise SurfaceError(event.seq, str(error)) from None
        if event.type not in SURFACE_TYPES:
            return None
        if event.source_event_seqs is not UNSET:
            self._check_sources(event, event.source_event_seqs)
        op = event.surface_op
        if not isinstance(op, Replace):
            return Plan(event.seq)
        first, last = (self._nodes.index(seq) if seq in self._on else -1 for seq in (op.start, op.end))
        for name, seq, place in (("start", op.start, first), ("end", op.end, last)):
            if place < 0:
                raise SurfaceError(event.seq, f"the replacement's {name}, {seq}, is not on the surface")
        if first > last:
            raise SurfaceError(event.seq, f"on the surface the replacement's start, {op.start}, stands after its end, {op.end}")
        shadowed = tuple(self._nodes[first:last + 1])
        cited = event.source_event_seqs
        missing = set(shadowed).difference(() if cited is UNSET else cited)
        if missing:
            raise SurfaceError(event.seq, f"sourceEventSeqs must cite every node that is replaced; {min(missing)} is missing")
        if event.type == "tool/result":
            self._check_rewrite(event, shadowed, find)
        return Plan(event.seq, first, last, Replacement(event.seq, op.start, op.end, shadowed))

    @staticmethod
    def _check_sources(event: SessionEvent, cited: Sequence[int]) -> None:
        """Cited events are distinct and earlier; only an assistant's message may cite none."""
        if not cited and event.type != "assistant/message":
            raise SurfaceError(event.seq, "only an assistant's message may cite no event")
        if len(set(cited)) != len(cited):
            raise SurfaceError(event.seq, "it cites the same event twice")
        if cited and max(cited) >= event.seq:
            raise SurfaceError(event.seq, f"it cites event {max(cited)}; an event cites only earlier ones")

    @staticmethod
    def _check_rewrite(event: SessionEvent, shadowed: Sequence[int], find: FindEvent) -> None:
        """A result may rewrite one result, and of that only what the tool said."""
        if len(shadowed) != 1:
            raise SurfaceError(event.seq, f"a result replaces one result, not {len(shadowed)} nodes")
        old = find(shadowed[0])
        if old.type != "tool/result":
            raise SurfaceError(event.seq, f"a result replaces a result; {shadowed[0]} is {old.type}")
        if not same_json(_without_content(old.read()), _without_content(event.read())):
            raise SurfaceError(event.seq, f"a result that replaces result {shadowed[0]} may change its block's content only")

    def as_of(self, seq: int) -> "Surface | None":
        """The surface as it was behind event *seq*; None where a later replacement has taken nodes that it had."""
        if self._replacements and self._replacements[-1].seq > seq:
            return None
        made = Surface()
        made._nodes = [node for node in self._nodes if node <= seq]
        made._on = set(made._nodes)
        made._replacements = list(self._replacements)
        return made

    def apply(self, plan: Plan | None) -> None:
        """Carry out *plan*, which `plan` made of this surface as it is."""
        if plan is None:
            return
        if plan.replacement is None:
            self._on.add(plan.seq)
            self._nodes.append(plan.seq)
            return
        self._on.difference_update(plan.replacement.shadowed_seqs)
        self._on.add(plan.seq)
        self._nodes = [*self._nodes[:plan.first], plan.seq, *self._nodes[plan.last + 1:]]  # views keep the old list
        self._replacements.append(plan.replacement)


def _without_content(data: Any) -> Any:
    """*data* of a tool/result with its first block alone, and of that all but the content."""
    try:
        block = data["message"]["content"][0]
        block.pop("content", None)
        data["message"]["content"] = [block]
    except (TypeError, KeyError, IndexError, AttributeError):
        pass  # not the shape of a result: compared whole
    return data


def fold_surface(events: Iterable[SessionEvent]) -> Surface:
    """The surface of *events* from scratch, in O(events + nodes moved by replacements).

    SurfaceError at the first event that cannot go on. Chapter 4, §4.4.
    """
    kept = list(events)
    surface = Surface()
    for at, event in enumerate(kept):
        if event.seq != at:
            raise SurfaceError(event.seq, f"it stands where event {at} belongs")
        surface.apply(surface.plan(event, kept.__getitem__))
    return surface


def derive_event_message(event: SessionEvent) -> Any:
    """The message that *event* gives to the model, frozen; None when it gives none.

    An assistant's message without content only carries usage, so it gives none. Chapter 4, §4.4.1.
    """
    if event.type not in SURFACE_TYPES:
        return None
    data = event.read()
    message = data if event.type == "user/message" else field(data, "message")
    if not isinstance(field(message, "content"), list):
        raise EventError(f"event {event.seq}", "it was logged without the shape of a message, so none can be derived from it")
    return None if event.type == "assistant/message" and not message["content"] else freeze_tree(message)


def pairing_cuts(events: Iterable[SessionEvent]) -> list[bool]:
    """For each cut of the surface (N nodes, N + 1 cuts): whether no call stands before it whose result stands after it.

    It counts and never matches ids: calls so far less results so far. PairingError where a result has no open call.
    Chapter 4, §4.10.
    """
    kept = list(events)
    return balanced_cuts((seq, calls_and_results(derive_event_message(kept[seq]))) for seq in fold_surface(kept).nodes)


def balanced_cuts(nodes: Iterable[tuple[int, Sequence[int]]]) -> list[bool]:
    """As `pairing_cuts`, for *nodes* as (seq, `calls_and_results` of its message)."""
    open_calls, cuts = 0, [True]
    for seq, steps in nodes:
        for step in steps:
            open_calls += step
            if open_calls < 0:
                raise PairingError(seq)
        cuts.append(open_calls == 0)
    return cuts


def calls_and_results(message: Any) -> tuple[int, ...]:
    """+1 for each call in *message* and -1 for each result, in order; nothing for None."""
    blocks = () if message is None else message["content"]
    kinds = (block.get("type") if isinstance(block, dict) else None for block in blocks)
    return tuple(1 if kind == "tool-call" else -1 for kind in kinds if kind in ("tool-call", "tool-result"))
