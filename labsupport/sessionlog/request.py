"""What the model was asked, rebuilt from the log alone, with the source of every part (chapter 4, §4.5–4.6)."""
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from msgspec import UNSET

from labsupport.errors import EventError
from labsupport.frozen import freeze
from labsupport.sessionlog.events import SessionEvent
from labsupport.sessionlog.json_text import field, same_json
from labsupport.sessionlog.models import Request
from labsupport.sessionlog.prompt import DYNAMIC_CONTEXT, SESSION_OPENER
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
    """For each step that asked, the seq of the last event before its answer: what `rebuild_request` takes."""
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
    """Every part of the request that `rebuild_request` gives, in its order, each with the events that it comes from."""
    log = list(events)
    rebuilt = rebuild_request(log, at_seq)
    sources = {} if rebuilt.sources_seq is None else log[rebuilt.sources_seq].read()
    made = (rebuilt.header_seq,) if rebuilt.sources_seq is None else (rebuilt.header_seq, rebuilt.sources_seq)
    parts = [Part("config", f"{rebuilt.header['config']['provider']} {rebuilt.header['config']['model']}",
                  (rebuilt.header_seq,) if rebuilt.context_seq is None else (rebuilt.header_seq, rebuilt.context_seq))]
    parts += _named("section", sources.get("sections"), made) or (
        [Part("section", "system", made, span=(0, len(rebuilt.header["system"])))] if "system" in rebuilt.header else [])
    parts += _named("tool", sources.get("tools"), made) or [
        Part("tool", str(field(tool, "name")), made) for tool in rebuilt.header.get("tools", ())]
    for seq in rebuilt.message_seqs:
        parts += _message_parts(log[seq], sources, rebuilt.sources_seq)
    return parts


def _named(kind: Kind, sources: Any, seqs: tuple[int, ...]) -> list[Part]:
    return [Part(kind, source["name"], seqs, source.get("scope"), source.get("version"),
                 tuple(source["span"]) if "span" in source else None) for source in sources or ()]


def _message_parts(event: SessionEvent, sources: Any, sources_seq: int | None) -> list[Part]:
    cited = () if event.source_event_seqs is UNSET else event.source_event_seqs
    if event.type == "assistant/message":
        return [Part("answer", f"event {event.seq}", (event.seq,))]
    if event.type == "tool/result":
        return [Part("result", str(event.read()["message"]["source"]["callId"]), (event.seq, *cited))]
    source = event.read()["source"]
    if is_checkpoint(event):
        return [Part("summary", str(source.get("compactionId")), (event.seq, *cited))]
    if source.get("plugin") == DYNAMIC_CONTEXT:
        return [_sourced("context", section["name"], event.seq, sources, sources_seq, span)
                for section, span in zip(source["sections"], _spans(event, source["sections"]), strict=True)]
    if source.get("plugin") == SESSION_OPENER:
        return [_sourced("opener", str(source.get("name")), event.seq, sources, sources_seq)]
    return [Part("user" if source["kind"] == "user" else "plugin", f"event {event.seq}", (event.seq,))]


def _sourced(kind: Kind, name: str, seq: int, sources: Any, sources_seq: int | None,
             span: tuple[int, int] | None = None) -> Part:
    found: Any = next((source for source in sources.get({"context": "context", "opener": "openers"}[kind], ())
                       if source["name"] == name), None)
    if found is None or sources_seq is None:
        return Part(kind, name, (seq,), span=span)
    return Part(kind, name, (seq, sources_seq), found.get("scope"), found.get("version"), span)


def _spans(event: SessionEvent, sections: Sequence[Any]) -> list[tuple[int, int] | None]:
    """Where each section stands in the snapshot's text; None where it does not stand there as it was."""
    text, spans, at = event.read()["content"][0]["text"], list[tuple[int, int] | None](), 0
    for section in sections:
        found = text.find(section["text"], at)
        spans.append(None if found < 0 else (found, found + len(section["text"])))
        at = at if found < 0 else found + len(section["text"])
    return spans


def difference(sent: Request, logged: Request) -> tuple[str, ...]:
    """The parts in which two requests differ: names of header fields, and "message N" from 0; empty when they are the same."""
    parts = [f"header.{key}" for key in sorted({*sent.header, *logged.header})
             if not same_json(sent.header.get(key), logged.header.get(key))]
    ours, theirs = list(logged.messages), list(sent.messages)
    changed = [f"message {at}" for at, (one, other) in enumerate(zip(theirs, ours, strict=False))
               if one is not other and not same_json(one, other)]
    more = [f"message {at}" for at in range(min(len(ours), len(theirs)), max(len(ours), len(theirs)))]
    return (*parts, *changed, *more)
