"""What the model was asked, rebuilt from the log alone, with the source of every part (chapter 4, §4.5–4.6)."""
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from msgspec import UNSET

from labsupport.errors import EventError
from labsupport.frozen import freeze
from labsupport.sessionlog.events import SessionEvent
from labsupport.sessionlog.json_text import field, same_json
from labsupport.sessionlog.models import Request
from labsupport.sessionlog.prompt import DYNAMIC_CONTEXT, SESSION_OPENER, SNAPSHOT_INTRO
from labsupport.sessionlog.ranges import is_checkpoint
from labsupport.sessionlog.shapes import canonical_header
from labsupport.sessionlog.surface import derive_event_message, fold_surface

REQUEST_SOURCES = "workbook/request-sources"
"""The event that says what the header before it was made of. It may be passed over by those who do not know it."""

Kind = Literal["config", "section", "tool", "opener", "context", "summary", "user", "plugin", "answer", "result"]


@dataclass(frozen=True)
class RebuiltRequest:
    """The request of one step: *header* and *context* in force, and the *messages* from the events *message_seqs*.

    It is what the log gave behind event *as_of_seq*.
    """

    header: Any
    context: Any
    messages: tuple[Any, ...]
    as_of_seq: int
    header_seq: int
    context_seq: int | None
    sources_seq: int | None
    message_seqs: tuple[int, ...]

    @property
    def request(self) -> Request:
        """As a model gets it."""
        return Request(self.header, self.messages)


@dataclass(frozen=True)
class Part:
    """One part of a request and where it comes from: the *seqs* of the events that hold it, its *scope* and *version*.

    *span* is its place in the text it stands in, in characters. Logs that do not say who made a section have None there.
    """

    kind: Kind
    name: str
    seqs: tuple[int, ...]
    scope: str | None = None
    version: str | None = None
    span: tuple[int, int] | None = None


def rebuild_request(events: Iterable[SessionEvent], at_seq: int) -> RebuiltRequest:
    """The request of the step that event *at_seq* lies in; between steps, what would be asked there.

    A step asks once, so all of its events name the same request: what the log gave before the first chunk of the answer.
    EventError for a seq that is not there, and where no request header was logged yet. Chapter 4, §4.6.
    """
    log = list(events)
    if type(at_seq) is not int or not 0 <= at_seq < len(log):
        raise EventError("at_seq", f"there is no event {at_seq}; the log has {len(log)}")
    as_of = _asked_behind(log, at_seq)
    known = log[:as_of + 1]
    header = _latest(known, "request/header")
    if header is None:
        raise EventError("at_seq", f"no request was logged up to event {as_of}")
    context, sources = _latest(known, "request/context"), _latest(known, REQUEST_SOURCES)
    said = [(seq, message) for seq in fold_surface(known).nodes if (message := derive_event_message(log[seq])) is not None]
    return RebuiltRequest(
        freeze(canonical_header(field(header.read(), "header"))), None if context is None else context.data,
        tuple(message for _, message in said), as_of, header.seq, None if context is None else context.seq,
        None if sources is None else sources.seq, tuple(seq for seq, _ in said))


def request_seqs(events: Iterable[SessionEvent]) -> list[int]:
    """For each step that asked, the seq of the last event before its answer: what `rebuild_request` takes.

    A step that was cancelled or refused when all was ready is one of them; nothing in the log tells it from a silent model.
    """
    log = list(events)
    starts = [event.seq for event in log if event.type == "step/start"]
    asked = [_asked_behind(log, seq) for seq in starts]
    first = next((event.seq for event in log if event.type == "request/header"), len(log))
    return [seq for seq in asked if seq >= first]


_ANSWERS = frozenset({"assistant/chunk", "assistant/message", "step/end", "turn/end", "session/end-seed"})


def _asked_behind(log: Sequence[SessionEvent], at_seq: int) -> int:
    """The seq behind which the step of event *at_seq* asked; *at_seq* itself between steps."""
    start = next((seq for seq in range(at_seq, -1, -1) if log[seq].type in ("step/start", "step/end", "turn/end")), None)
    if start is None or (log[start].type != "step/start" and start != at_seq):
        return at_seq
    if log[start].type != "step/start":  # the end of a step belongs to it
        begin = next((seq for seq in range(at_seq - 1, -1, -1) if log[seq].type in ("step/start", "step/end")), None)
        if log[at_seq].type != "step/end" or begin is None or log[begin].type != "step/start":
            return at_seq
        start = begin
    answer = next((seq for seq in range(start + 1, len(log)) if log[seq].type in _ANSWERS), len(log))
    return answer - 1


def _latest(log: Sequence[SessionEvent], kind: str) -> SessionEvent | None:
    return next((event for event in reversed(log) if event.type == kind), None)


def explain_request(events: Iterable[SessionEvent], at_seq: int) -> list[Part]:
    """Every part of the request that `rebuild_request` gives, in its order, each with the events that it comes from.

    Sources that do not fit the header, or say nothing that can be read, are as good as none.
    """
    log = list(events)
    rebuilt = rebuild_request(log, at_seq)
    header, sources = rebuilt.header, _sources(log, rebuilt.as_of_seq)
    config = header["config"]
    parts = [Part("config", f"{config['provider']} {config['model']}",
                  (rebuilt.header_seq,) if rebuilt.context_seq is None else (rebuilt.header_seq, rebuilt.context_seq))]
    parts += _sections(header.get("system", ""), sources, rebuilt.header_seq)
    parts += _tools(header.get("tools", ()), sources, rebuilt.header_seq)
    for seq in rebuilt.message_seqs:
        parts += _message_parts(log, log[seq])
    return parts


@dataclass(frozen=True)
class _Source:
    """What the log says of one part; event *seq* says it."""

    seq: int
    name: str
    scope: str | None
    version: str | None
    span: tuple[int, int] | None


def _sources(log: Sequence[SessionEvent], as_of: int) -> dict[str, list[_Source]]:
    """What is said of each kind of part by the latest sources up to event *as_of*. Any program may have written them."""
    event = _latest(log[:as_of + 1], REQUEST_SOURCES)
    found: dict[str, list[_Source]] = {"sections": [], "tools": [], "context": [], "openers": []}
    if event is None:
        return found
    data = event.read()
    for kind, sources in found.items():
        entries = field(data, kind)
        for entry in entries if isinstance(entries, list) else ():
            name = _text(entry, "name")
            if name is not None:
                span = _span(field(entry, "span"))
                sources.append(_Source(event.seq, name, _text(entry, "scope"), _text(entry, "version"), span))
    return found


def _text(value: Any, key: str) -> str | None:
    text = field(value, key)
    return text if type(text) is str else None


def _span(value: Any) -> tuple[int, int] | None:
    if not isinstance(value, list) or len(value) != 2 or not all(type(end) is int for end in value):
        return None
    return (value[0], value[1]) if 0 <= value[0] <= value[1] else None


def _sections(system: str, sources: Mapping[str, Sequence[_Source]], header_seq: int) -> list[Part]:
    """The sections of *system*, if they are what it is made of; all of it as one part otherwise."""
    if not system:
        return []
    named = sources["sections"]
    if all(source.span for source in named) and "\n\n".join(system[slice(*source.span or ())] for source in named) == system:
        return [Part("section", source.name, (header_seq, source.seq), source.scope, source.version, source.span)
                for source in named]
    return [Part("section", "system", (header_seq,), span=(0, len(system)))]


def _tools(tools: Sequence[Any], sources: Mapping[str, Sequence[_Source]], header_seq: int) -> list[Part]:
    """The *tools*, each with its source if the sources name these very tools."""
    named, names = sources["tools"], [str(field(tool, "name")) for tool in tools]
    if [source.name for source in named] == names:
        return [Part("tool", source.name, (header_seq, source.seq), source.scope, source.version) for source in named]
    return [Part("tool", name, (header_seq,)) for name in names]


def _message_parts(log: Sequence[SessionEvent], event: SessionEvent) -> list[Part]:
    cited = () if event.source_event_seqs is UNSET else event.source_event_seqs
    if event.type == "assistant/message":
        return [Part("answer", f"event {event.seq}", (event.seq,))]
    if event.type == "tool/result":
        return [Part("result", str(event.read()["message"]["source"]["callId"]), (event.seq, *cited))]
    source = event.read()["source"]
    if is_checkpoint(event):
        return [Part("summary", str(source.get("compactionId")), (event.seq, *cited))]
    spans = _spans(event) if source.get("plugin") == DYNAMIC_CONTEXT else None
    if spans is not None:
        return [_sourced("context", name, log, event.seq, span) for name, span in spans]
    name = _text(source, "name")
    if source.get("plugin") == SESSION_OPENER and name is not None:
        return [_sourced("opener", name, log, event.seq)]
    return [Part("user" if source["kind"] == "user" else "plugin", f"event {event.seq}", (event.seq,))]


def _sourced(kind: Literal["context", "opener"], name: str, log: Sequence[SessionEvent], seq: int,
             span: tuple[int, int] | None = None) -> Part:
    """A part in message *seq*, with what the sources of its own step say of it."""
    sources = _sources(log, _asked_behind(log, seq))["context" if kind == "context" else "openers"]
    found = next((source for source in sources if source.name == name), None)
    if found is None:
        return Part(kind, name, (seq,), span=span)
    return Part(kind, name, (seq, found.seq), found.scope, found.version, span)


def _spans(event: SessionEvent) -> list[tuple[str, tuple[int, int] | None]] | None:
    """The sections of a snapshot, each with its place in the text, None where it does not stand there as it was.

    None for a message that only looks like a snapshot.
    """
    data = event.read()
    sections, texts = data["source"].get("sections"), [_text(block, "text") for block in data["content"]]
    if not isinstance(sections, list) or len(texts) != 1 or texts[0] is None:
        return None
    found: list[tuple[str, tuple[int, int] | None]] = []
    text, at = texts[0], len(SNAPSHOT_INTRO) if texts[0].startswith(SNAPSHOT_INTRO) else 0
    for section in sections:
        name, said = _text(section, "name"), _text(section, "text")
        if name is None or said is None:
            return None
        begin = text.find(said, at)
        found.append((name, None if begin < 0 else (begin, begin + len(said))))
        at = at if begin < 0 else begin + len(said)
    return found


def difference(sent: Request, logged: Request) -> tuple[str, ...]:
    """The parts in which two requests differ: names of header fields, and "message N" from 0; empty when they are the same."""
    parts = [f"header.{key}" for key in sorted({*sent.header, *logged.header})
             if not same_json(sent.header.get(key), logged.header.get(key))]
    ours, theirs = list(logged.messages), list(sent.messages)
    changed = [f"message {at}" for at, (one, other) in enumerate(zip(theirs, ours, strict=False))
               if one is not other and not same_json(one, other)]
    more = [f"message {at}" for at in range(min(len(ours), len(theirs)), max(len(ours), len(theirs)))]
    return (*parts, *changed, *more)
