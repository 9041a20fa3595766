"""The transcript: what a person saw, which is not what the model sees (chapter 4, §4.1 and §4.4)."""
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from labsupport.sessionlog.events import SessionEvent
from labsupport.sessionlog.recovery import NOT_STARTED, OUTCOME_UNKNOWN
from labsupport.sessionlog.stream import Assembly, Block

ORDINARY_SOURCES = frozenset({"user", "model", "tool"})
KINDS = {"tool-call": "call", "tool-result": "result"}


@dataclass(frozen=True)
class TranscriptRow:
    """One block of a message, as event *seq* brought it: the *role* (user, assistant, tool), the *kind* (text, reasoning, call,
    result, or another block's type) and the *text*.

    *call* is the id of the call that is made or answered. *marks* say what is not ordinary: "injected" (no person, model or
    tool said it), "recovery" (a closer), "error" (a result that is one), "partial" (a stream without its message).
    """

    seq: int
    role: str
    kind: str
    text: str
    marks: tuple[str, ...] = ()
    call: str | None = None


def transcript(events: Iterable[SessionEvent]) -> list[TranscriptRow]:
    """The rows of *events*: everything that was appended to the surface, in order; what later replaced some of it is not here.

    >>> question = {"id": "m1", "role": "user", "source": {"kind": "user"}, "content": [{"type": "text", "text": "hi"}]}
    >>> said = {"type": "user/message", "seq": 0, "time": 0, "data": question, "surfaceOp": "append"}
    >>> transcript([SessionEvent.from_json(said)])
    [TranscriptRow(seq=0, role='user', kind='text', text='hi', marks=(), call=None)]

    A stream that has no message, because it broke, was cancelled or still runs, gives what has come of it, at the seq of its
    first chunk. Chapter 4, §4.4.
    """
    rows: list[TranscriptRow] = []
    stream: Assembly | None = None
    first = 0
    for event in events:
        if event.type == "assistant/chunk":
            if stream is None:
                stream, first = Assembly(), event.seq
            _take(stream, event.read())
        elif event.type == "assistant/message":
            stream = None  # the message says it all
        elif event.type in ("step/end", "turn/end", "step/start") and stream is not None:
            rows += _partial(first, stream)
            stream = None
        if event.surface_op == "append":
            rows += _message_rows(event)
    return rows if stream is None else rows + _partial(first, stream)


def _take(stream: Assembly, data: Any) -> None:
    with suppress(ValueError):  # a log holds whatever a stream brought; what is no chunk has nothing to show
        stream.take(data.get("chunk") if isinstance(data, dict) else None)


def _partial(first: int, stream: Assembly) -> list[TranscriptRow]:
    return [row for block in stream.content() for row in _block_rows(first, "assistant", block, ("partial",))]


def _message_rows(event: SessionEvent) -> list[TranscriptRow]:
    data = event.read()
    message = data if event.type == "user/message" else data["message"]
    role = {"user/message": "user", "assistant/message": "assistant", "tool/result": "tool"}[event.type]
    marks = () if message["source"]["kind"] in ORDINARY_SOURCES else ("injected",)
    if event.type == "tool/result" and _is_closer(data, event.seq):
        marks = ("recovery",)
    return [row for block in message["content"] for row in _block_rows(event.seq, role, block, marks)]


def _is_closer(data: Any, seq: int) -> bool:
    """Whether recovery wrote this result. Its code alone does not tell: the loop too says of a call that it was not started."""
    error = data.get("error")
    code = error.get("code") if isinstance(error, dict) else None
    message = data["message"]
    return (code in (NOT_STARTED, OUTCOME_UNKNOWN)
            and bool(message["id"] == f"interrupted-tool-result-{message['source']['callId']}-{seq}"))


def _block_rows(seq: int, role: str, block: Any, marks: tuple[str, ...]) -> list[TranscriptRow]:
    if not isinstance(block, dict) or not isinstance(block.get("type"), str):
        return []
    kind = KINDS.get(block["type"], _text(block, "type"))
    if kind == "call":
        asked = f"{_text(block, 'name')} {_text(block, 'arguments')}".strip()
        return [TranscriptRow(seq, role, kind, asked, marks, _text(block, "id"))]
    if kind == "result":
        inner = block.get("content")
        text = "\n".join(_text(part, "text") for part in inner if isinstance(part, dict)) if isinstance(inner, list) else ""
        error = ("error",) if block.get("isError") is True and "recovery" not in marks else ()
        return [TranscriptRow(seq, role, kind, text, (*marks, *error), _text(block, "toolCallId"))]
    return [TranscriptRow(seq, role, kind, _text(block, "text"), marks)]


def _text(block: Block, key: str) -> str:
    value = block.get(key)
    return value if isinstance(value, str) else ""
