"""What a log tells of one compaction: the chapter's six questions, each with the events that answer it (chapter 4, §4.10.1)."""
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from msgspec import UNSET

from labsupport.errors import CompactionError
from labsupport.sessionlog.events import SessionEvent
from labsupport.sessionlog.json_text import field
from labsupport.sessionlog.ranges import is_checkpoint
from labsupport.sessionlog.surface import fold_surface

State = Literal["replaced", "failed", "open", "open and replaced"]
WRITER = {"provider": str, "model": str, "maxTokens": int, "usage": dict}
"""What a summary says of its writer, and what kind of value each is."""


@dataclass(frozen=True)
class Answer:
    """What the log says, and the *seqs* of the events that say it; None where it says nothing."""

    value: Any
    seqs: tuple[int, ...]


@dataclass(frozen=True)
class CompactionReport:
    """Why, what, how much, by whom, with what end, and what came meanwhile: seqs and figures, and no text of messages."""

    id: str
    why: Answer
    """The trigger."""
    positions: Answer
    """The first and the last position on the surface, as it was at the start."""
    nodes: Answer
    """How many nodes were shadowed, and their estimated tokens, None where none were logged; its seqs are those nodes."""
    writer: Answer
    """Provider, model, and maxTokens and usage where they were logged."""
    state: Answer
    """What became of the surface: a `State`, with the error's code when it failed, and whether the bracket is stale."""
    arrived: Answer
    """The messages that came between start and end: seq → whether it stood on the surface at the end."""


def compaction_report(events: Iterable[SessionEvent], id: str) -> CompactionReport:
    """The report of compaction *id* in *events*, a log from its beginning; CompactionError (code "range") when it has none.

    It reads the log alone, so that a replay gives the same report as the live session.
    """
    log = list(events)
    start = next((event for event in log if _belongs(event, "compaction/start", id)), None)
    if start is None:
        raise CompactionError("range", f"this log has no compaction {id!r}; compaction_ids(events) names those that it has")
    rest = log[start.seq + 1:]
    stale = next((event for event in rest if event.type == "session/end-seed"), None)
    bracket = rest if stale is None else log[start.seq + 1:stale.seq]
    end = next((event for event in bracket if _belongs(event, "compaction/end", id)), None)
    inside = bracket if end is None else log[start.seq + 1:end.seq]
    summary = next((event for event in inside if _belongs(event, "compaction/summary", id)), None)
    checkpoint = next((event for event in inside if is_checkpoint(event)
                       and field(field(event.read(), "source"), "compactionId") == id), None)
    said: Any = None if summary is None else summary.read()
    last = end if end is not None else bracket[-1] if bracket else start
    return CompactionReport(
        id, Answer(_of(str, field(start.read(), "trigger")), (start.seq,)), _positions(log, start, summary),
        _nodes(said),
        Answer(None, ()) if summary is None else Answer(
            {key: value for key, kind in WRITER.items() if (value := _of(kind, field(said, key))) is not None},
            (summary.seq,)),
        _state(start, checkpoint, end, stale), _arrived(log, inside, checkpoint, last.seq))


def compaction_ids(events: Iterable[SessionEvent]) -> list[str]:
    """The ids of the compactions that *events* tell of, in order."""
    found = [field(event.read(), "compactionId") for event in events if event.type == "compaction/start"]
    return [id for id in found if type(id) is str]


def _nodes(said: Any) -> Answer:
    """What a summary says that it shadows; anybody may have logged it, so it is looked at first."""
    seqs = field(said, "shadowedSeqs")
    if not isinstance(seqs, list) or not all(type(seq) is int for seq in seqs):
        return Answer(None, ())
    return Answer({"count": len(seqs), "tokens": _of(int, field(said, "shadowedTokenCount"))}, tuple(seqs))


def _of(kind: type, value: Any) -> Any:
    """*value* if it is exactly of *kind*, which true is not of int; else None: another writer may have logged anything."""
    return value if type(value) is kind else None


def _belongs(event: SessionEvent, kind: str, id: str) -> bool:
    return event.type == kind and bool(field(event.read(), "compactionId") == id)


def _positions(log: Sequence[SessionEvent], start: SessionEvent, summary: SessionEvent | None) -> Answer:
    if summary is None:
        return Answer(None, ())
    nodes = list(fold_surface(log[:start.seq]).nodes)
    ends = field(summary.read(), "shadowedRange")
    found = [nodes.index(seq) for seq in (field(ends, "start"), field(ends, "end")) if seq in nodes]
    return Answer(found if len(found) == 2 else None, (summary.seq,))


def _state(start: SessionEvent, checkpoint: SessionEvent | None, end: SessionEvent | None,
           stale: SessionEvent | None) -> Answer:
    seqs = tuple(event.seq for event in (start, checkpoint, end) if event is not None)
    error = None if end is None else field(end.read(), "error")
    if end is None:
        value: dict[str, Any] = {"state": "open" if checkpoint is None else "open and replaced", "stale": stale is not None}
    else:
        value = {"state": "replaced" if checkpoint is not None else "failed", "stale": False}
    if error is not None:
        value["error"] = _of(str, field(error, "code"))
    return Answer(value, seqs)


def _arrived(log: Sequence[SessionEvent], inside: Sequence[SessionEvent], checkpoint: SessionEvent | None, last: int) -> Answer:
    came = [event.seq for event in inside if event.surface_op is not UNSET and event is not checkpoint]
    kept = set(fold_surface(log[:last + 1]).nodes)
    return Answer({str(seq): seq in kept for seq in came}, tuple(came))
