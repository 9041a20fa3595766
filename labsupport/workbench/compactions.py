"""What a compaction of a session would do, range by range: each is really made, on a copy, and never on the session itself."""
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from labsupport.errors import CompactionError
from labsupport.sessionlog import Session, SessionEvent, estimate_message
from labsupport.sessionlog.compaction import Compacted, compact, framed
from labsupport.sessionlog.ranges import choose_range, legal_cuts
from labsupport.sessionlog.recovery import answered_call, blocks
from labsupport.sessionlog.summarizers import ExtractiveSummarizer, Summarizer, Summary
from labsupport.sessionlog.tokens import count_tokens

Refused = Literal["", "backwards", "tail", "pair", "summary", "empty", "other"]


@dataclass(frozen=True)
class Node:
    """An event on the surface, what it says to the model, and what that costs: by the estimate, and by the tokenizer."""

    event: SessionEvent
    message: Any
    estimated: int
    real: int

    @property
    def seq(self) -> int:
        return self.event.seq


@dataclass(frozen=True)
class Size:
    """How long a log is, and what of it the model reads: nodes, estimated tokens, tokens of a real tokenizer."""

    events: int
    nodes: int
    estimated: int
    real: int


@dataclass(frozen=True)
class Edge:
    """The edge of a range that would part a call from its result: at *cut*, the id, both seqs, and the legal edges nearby."""

    cut: int
    is_start: bool
    call_id: str
    call: int
    result: int | None
    nearby: tuple[int, ...]


@dataclass(frozen=True)
class Made:
    """A compaction that took place, the node that stands in the place of the range, and the *text* of the summary in it."""

    result: Compacted
    checkpoint: Node
    text: str


@dataclass(frozen=True)
class Tried:
    """A range from position *first* to *last*, and what came of it. *tail* is the first position that is to be retained, for
    *retain* tokens.

    *refused* says why there is no compaction, and then *after* is as before (but for what a failed one leaves in the log).
    """

    first: int
    last: int
    tail: int
    after: Size
    refused: Refused = ""
    made: Made | None = None
    cost: int = 0
    shadowed: int = 0
    edge: Edge | None = None
    why: str = ""
    retain: int = 0
    automatic: bool = False
    """Whether this is the range that the library chooses for this tail."""


class _Heard:
    """*summarizer*, and what it said last."""

    def __init__(self, summarizer: Summarizer) -> None:
        self._summarizer = summarizer
        self.said: Summary | None = None

    def summarize(self, messages: Sequence[Any]) -> Summary:
        self.said = self._summarizer.summarize(messages)
        return self.said


class Compactions:
    """The surface of *session* as it is now, and every compaction of it that somebody asks for."""

    def __init__(self, session: Session, summarizer: Summarizer | None = None) -> None:
        self._header, self._events = session.header, session.events
        self._summarizer = ExtractiveSummarizer() if summarizer is None else summarizer
        self._base = self._copy()
        self._tried: dict[tuple[int, int, int], Tried] = {}
        self._known: dict[int, Node] = {}
        self.nodes = self._nodes(self._base)
        self.cuts = legal_cuts(self._base)
        self.before = self._size(self._base)
        self._places = {node.seq: place for place, node in enumerate(self.nodes)}

    def _copy(self) -> Session:
        """The session again, in memory, with the same seqs."""
        return Session.seeded(self._header, self._events)

    def _nodes(self, session: Session) -> list[Node]:
        for seq in session.surface.nodes:
            if seq not in self._known or self._known[seq].event is not session.events[seq]:
                self._known[seq] = node_of(session, seq)
        return [self._known[seq] for seq in session.surface.nodes]

    def _size(self, session: Session) -> Size:
        nodes = self._nodes(session)
        return Size(len(session.events), len(nodes), sum(node.estimated for node in nodes), sum(node.real for node in nodes))

    def tail(self, retain: int) -> int:
        """The first position of the tail that keeps *retain* tokens, as the library chooses it; 0 when there is only tail."""
        return self._chosen(retain) if retain else len(self.nodes)

    def _chosen(self, retain: int) -> int:
        chosen = choose_range(self._base, retain)
        return 0 if chosen is None else chosen.last + 1

    def at(self, start: int, end: int, retain: int) -> Tried:
        """Compact from node *start* to node *end*, unless that touches the tail of *retain* tokens. Made once, then kept."""
        if (start, end, retain) not in self._tried:
            it = self._try(self._places[start], self._places[end], self.tail(retain))
            automatic = it.first == 0 and it.last == self._chosen(retain) - 1
            self._tried[start, end, retain] = replace(it, retain=retain, automatic=automatic)
        return self._tried[start, end, retain]

    def _try(self, first: int, last: int, tail: int) -> Tried:
        shadowed = sum(node.estimated for node in self.nodes[first:last + 1])
        if last >= tail and first <= last:
            return Tried(first, last, tail, self.before, "tail", shadowed=shadowed)
        session, summarizer = self._copy(), _Heard(self._summarizer)
        try:
            made = compact(session, self.nodes[first].seq, self.nodes[last].seq, summarizer, flush=lambda session: None)
        except CompactionError as error:
            after = self._size(session)
            if error.code == "range":
                edge = self._edge(first, last, error)
                return Tried(first, last, tail, after, "backwards" if edge is None else "pair", edge=edge, shadowed=shadowed)
            cost = 0 if summarizer.said is None else estimate_message({"content": framed(summarizer.said.blocks)})
            why: Refused = "other"
            if error.code == "summary" and summarizer.said is not None:
                why = "empty" if not said_in(summarizer.said.blocks).strip() else "summary" if cost >= shadowed else "other"
            return Tried(first, last, tail, after, why, cost=cost, shadowed=shadowed, why=str(error))
        checkpoint = node_of(session, made.checkpoint_seq)
        text = said_in(session.events[made.summary_seq].read()["summary"])
        return Tried(first, last, tail, self._size(session), "", Made(made, checkpoint, text), checkpoint.estimated, shadowed)

    def _edge(self, first: int, last: int, error: CompactionError) -> Edge | None:
        """The edge at which *error* would part a pair; None when it says something else."""
        if error.call is None:
            return None
        is_start = not self.cuts[first]
        cut = first if is_start else last + 1
        legal = [at for at, is_legal in enumerate(self.cuts) if is_legal]
        below, above = max(at for at in legal if at < cut), next((at for at in legal if at > cut), None)
        near = [at for at in (below, above) if at is not None]
        if is_start:
            nearby = [self.nodes[at].seq for at in near if at < len(self.nodes)]
        else:
            nearby = [self.nodes[at - 1].seq for at in near if at]
        return Edge(cut, is_start, self._call_id(error.call, error.result), error.call, error.result, tuple(nearby))

    def _call_id(self, call: int, result: int | None) -> str:
        if result is not None:
            return answered_call(self._events[result].read())
        asked = [str(block.get("id", "")) for block in blocks(self._known[call].message) if block.get("type") == "tool-call"]
        return asked[-1] if asked else ""


def said_in(summary: Sequence[Any]) -> str:
    """The text of the blocks of a *summary*.

    >>> said_in([{"type": "text", "text": "op-0001"}, {"type": "image"}])
    'op-0001\\n'
    """
    return "\n".join(str(block.get("text", "")) for block in summary)


def node_of(session: Session, seq: int) -> Node:
    """Event *seq* of *session* as a node of its surface."""
    message = session.message(seq)
    estimated = 0 if message is None else estimate_message(message)
    return Node(session.events[seq], message, estimated, sum(map(count_tokens, spoken(message))))


def spoken(message: Any) -> list[str]:
    """The words of *message* that a tokenizer counts: texts, what calls ask for, what results hold; no ids, no frames.

    >>> spoken({"content": [{"type": "text", "text": "hello"}, {"type": "tool-call", "name": "add", "arguments": "[1]"}]})
    ['hello', 'add', '[1]']
    """
    said: list[Any] = []
    for block in blocks(message):
        inner = block.get("content") if block.get("type") == "tool-result" else [block]
        for part in inner if isinstance(inner, list) else ():
            said += [part.get(name) for name in ("text", "name", "arguments")] if isinstance(part, dict) else []
    return [text for text in said if isinstance(text, str)]


class WhileWriting:
    """A summarizer that takes its time: before *inner* answers, a user says *words* in *session*."""

    def __init__(self, session: Session, words: str, inner: Summarizer) -> None:
        self._session, self._words, self._inner = session, words, inner

    def summarize(self, messages: Sequence[Any]) -> Summary:
        """What *inner* makes of *messages*, a moment later."""
        session = self._session
        message = {"id": f"m{len(session.events)}", "role": "user", "source": {"kind": "user"},
                   "content": [{"type": "text", "text": self._words}]}
        session.append("user/message", message, "append")
        return self._inner.summarize(messages)
