"""Which neighbours on the surface a summary may stand for (chapter 4, §4.10.1)."""
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from labsupport.errors import CompactionError, PairingError
from labsupport.sessionlog.events import SessionEvent
from labsupport.sessionlog.json_text import field as value_of
from labsupport.sessionlog.recovery import blocks
from labsupport.sessionlog.session import Session
from labsupport.sessionlog.surface import calls_and_results
from labsupport.sessionlog.tokens import estimate_message

PLUGIN = "compact"
"""The plugin that a checkpoint names as its source."""


@dataclass(frozen=True)
class Range:
    """Neighbours on the surface: the *seqs* at the positions *first* to *last*, and what they cost, in estimated tokens."""

    first: int
    last: int
    seqs: tuple[int, ...]
    tokens: int

    @property
    def start(self) -> int:
        """The seq of the first node. It may be larger than that of the last one: an earlier summary has a late seq."""
        return self.seqs[0]

    @property
    def end(self) -> int:
        """The seq of the last node."""
        return self.seqs[-1]


@dataclass
class _Meter:
    """The surface of a session, measured as far as it was when somebody last looked; a replacement has it measured again."""

    generation: int = -1
    nodes: list[int] = field(default_factory=list)
    tokens: list[int] = field(default_factory=lambda: [0])  # of the nodes before each cut
    calls: list[int] = field(default_factory=lambda: [0])  # that are open at each cut
    orphan: int | None = None  # the first result without an open call
    known: dict[int, tuple[int, tuple[int, ...]]] = field(default_factory=dict)  # of each node, which never changes

    def look(self, session: Session) -> None:
        surface = session.surface
        if self.generation != surface.replace_generation:
            self.generation, self.nodes, self.tokens, self.calls, self.orphan = surface.replace_generation, [], [0], [0], None
        for seq in surface.nodes[len(self.nodes):]:
            if seq not in self.known:
                message = session.message(seq)
                self.known[seq] = (0 if message is None else estimate_message(message), calls_and_results(message))
            tokens, steps = self.known[seq]
            open_calls = self.calls[-1]
            for step in steps:
                open_calls += step
                if open_calls < 0 and self.orphan is None:
                    self.orphan = seq
            self.nodes.append(seq)
            self.tokens.append(self.tokens[-1] + tokens)
            self.calls.append(open_calls)
        if self.orphan is not None:
            raise PairingError(self.orphan)

    def range(self, first: int, last: int) -> Range:
        return Range(first, last, tuple(self.nodes[first:last + 1]), self.tokens[last + 1] - self.tokens[first])


_meters: WeakKeyDictionary[Session, _Meter] = WeakKeyDictionary()


def _meter(session: Session) -> _Meter:
    meter = _meters.setdefault(session, _Meter())
    meter.look(session)
    return meter


def choose_range(session: Session, retain_tokens: int) -> Range | None:
    """The range from the head of the surface that leaves a tail of at least *retain_tokens*; None where none makes sense.

    >>> session = Session.create("s1")
    >>> for n, text in enumerate(("a" * 400, "b" * 400, "c" * 400)):
    ...     message = {"id": f"m{n}", "role": "user", "source": {"kind": "user"}, "content": [{"type": "text", "text": text}]}
    ...     _ = session.append("user/message", message, "append")
    >>> choose_range(session, 150)
    Range(first=0, last=0, seqs=(0,), tokens=108)

    No call is parted from its result. A range that is one earlier summary and nothing more makes no sense. PairingError where
    a result on the surface has no call at all.
    """
    meter = _meter(session)
    end = len(meter.nodes)
    while end > 0 and (meter.calls[end] or meter.tokens[-1] - meter.tokens[end] < retain_tokens):
        end -= 1
    if end == 0 or (end == 1 and is_checkpoint(session.events[meter.nodes[0]])):
        return None
    return meter.range(0, end - 1)


def is_checkpoint(event: SessionEvent) -> bool:
    """Whether *event* is a summary in the place of a range."""
    source = value_of(event.read(), "source") if event.type == "user/message" else None
    return bool(value_of(source, "plugin") == PLUGIN)


def range_between(session: Session, start: int, end: int) -> Range:
    """The range from node *start* to node *end*; CompactionError (code "range") says why there is none."""
    meter = _meter(session)
    for name, seq in (("start", start), ("end", end)):
        if seq not in meter.nodes:
            raise CompactionError("range", f"the {name} of the range, {seq}, is not on the surface. Nothing was changed.")
    first, last = meter.nodes.index(start), meter.nodes.index(end)
    if first > last:
        raise CompactionError("range", f"on the surface, {start} stands behind {end}. Nothing was changed.")
    for cut in (first, last + 1):
        if meter.calls[cut]:
            raise _parting(session, meter, cut)
    return meter.range(first, last)


def _pair(session: Session, meter: _Meter, before: list[int], after: list[int]) -> tuple[int, int | None]:
    """The message before a cut whose call is open there, and the result behind it; where no id fits, the counts decide."""
    asked: dict[Any, int] = {}
    for seq in before:
        for block in blocks(session.message(seq)):
            if block.get("type") == "tool-call":
                asked[block.get("id")] = seq
            elif block.get("type") == "tool-result":
                asked.pop(block.get("toolCallId"), None)
    for call_id, call in reversed(asked.items()):
        answers = (seq for seq in after for block in blocks(session.message(seq))
                   if block.get("type") == "tool-result" and block.get("toolCallId") == call_id)
        return call, next(answers, None)
    return (next(seq for seq in reversed(before) if 1 in meter.known[seq][1]),
            next((seq for seq in after if -1 in meter.known[seq][1]), None))


def _parting(session: Session, meter: _Meter, cut: int) -> CompactionError:
    """The refusal of a range with an edge at *cut*, between a call and its result."""
    begin = next(at for at in range(cut, -1, -1) if not meter.calls[at])
    end = next((at for at in range(cut, len(meter.calls)) if not meter.calls[at]), None)
    asked, answered = _pair(session, meter, meter.nodes[begin:cut], meter.nodes[cut:end])
    behind = "" if end is None else f", or behind {meter.nodes[end - 1]}"
    before = f"before {meter.nodes[begin]}" if begin == 0 else f"behind {meter.nodes[begin - 1]}"
    result = "which has no result yet" if answered is None else f"whose result is {answered}"
    return CompactionError("range", f"an edge here would part a call in message {asked}, {result}. An edge may be {before}"
                                    f"{behind}. Nothing was changed.", asked, answered)


def legal_cuts(session: Session) -> list[bool]:
    """Whether a range may begin or end at each cut of the surface: N nodes have N + 1 cuts."""
    return [not open_calls for open_calls in _meter(session).calls]
