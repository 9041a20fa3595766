"""What a log that ends inside a turn lacks, and how it is closed without claiming anything (chapter 4, §4.9)."""
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from msgspec import UNSET, Raw

from labsupport.sessionlog.events import SessionEvent
from labsupport.sessionlog.json_text import field, write_data

NOT_STARTED = "TOOL_NOT_STARTED"
OUTCOME_UNKNOWN = "TOOL_OUTCOME_UNKNOWN"

WORDS = {
    NOT_STARTED: "This call was never started: the session was interrupted before its tool was run.",
    OUTCOME_UNKNOWN: ("This call was started and its outcome is unknown: the session was interrupted before a result was "
                      "recorded. Find out from the outside system whether it took effect before you repeat it."),
}
_NAMES = {NOT_STARTED: "ToolNotStartedError", OUTCOME_UNKNOWN: "ToolOutcomeUnknownError"}


@dataclass
class _Pending:
    """A call that a message asked for: its turn and step, and the seq of its tool/call once that was recorded."""

    turn: Any
    step: Any
    call_seq: int | None = None


def blocks(message: Any) -> list[dict[str, Any]]:
    """The blocks of *message* that are objects."""
    content = field(message, "content")
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def answered_call(data: Any) -> str:
    """The id of the call that a tool/result answers; empty where it names none."""
    call_id = field(field(field(data, "message"), "source"), "callId")
    return call_id if type(call_id) is str else ""


class _Walk:
    """What is open after the events so far."""

    def __init__(self) -> None:
        self.turn: Any = None
        self.step: Any = None
        self.pending: dict[str, _Pending] = {}

    def see(self, event: SessionEvent) -> None:
        kind = event.type
        if kind in ("turn/start", "turn/end"):
            self.turn, self.step = (field(event.read(), "turn") if kind == "turn/start" else None), None
            self.pending.clear()
        elif kind == "step/start":
            self.step = field(event.read(), "step")
        elif kind == "step/end":
            self.step = None
            self.pending.clear()
        elif kind == "assistant/message":
            data = event.read()
            for block in blocks(field(data, "message")):
                if block.get("type") == "tool-call" and type(block.get("id")) is str:
                    known = self.pending.get(block["id"])
                    fresh = _Pending(field(data, "turn"), field(data, "step"))
                    if known is None:
                        self.pending[block["id"]] = fresh
                    else:  # registered again: its place stays, its call is forgotten
                        known.turn, known.step, known.call_seq = fresh.turn, fresh.step, None
        elif kind == "tool/call":
            call_id = field(event.read(), "callId")
            if type(call_id) is str and call_id in self.pending:
                self.pending[call_id].call_seq = event.seq
        elif kind == "tool/result":
            self.pending.pop(answered_call(event.read()), None)



def interrupted_turn_closers(events: Iterable[SessionEvent]) -> list[SessionEvent]:
    """The events that close the turn which *events* end in; none when no turn is open.

    One error result for each call that was asked for and not answered: TOOL_OUTCOME_UNKNOWN when its tool/call was recorded,
    else TOOL_NOT_STARTED; then the end of an open step, then the end of the turn, `interrupted`. Seqs go on; the time is that
    of the last event. They say that no success was seen, never that there was none. Chapter 4, §4.9.
    """
    walk, last = _Walk(), None
    for last in events:
        walk.see(last)
    if last is None or walk.turn is None:
        return []
    closers: list[SessionEvent] = []

    def close(kind: str, data: object, op: Any = UNSET, sources: Any = UNSET) -> None:
        text = Raw(write_data(data, stored=True))
        closers.append(SessionEvent(kind, last.seq + 1 + len(closers), last.time, text, op, sources))

    for call_id, call in walk.pending.items():
        code = NOT_STARTED if call.call_seq is None else OUTCOME_UNKNOWN
        close("tool/result", {
            "turn": walk.turn, "step": call.step,
            "message": {
                "id": f"interrupted-tool-result-{call_id}-{last.seq + 1 + len(closers)}", "role": "user",
                "source": {"kind": "tool", "callId": call_id},
                "content": [{"type": "tool-result", "toolCallId": call_id, "isError": True,
                             "content": [{"type": "text", "text": WORDS[code]}]}],
            },
            "error": {"name": _NAMES[code], "code": code},
        }, "append", UNSET if call.call_seq is None else (call.call_seq,))
    if walk.step is not None:
        close("step/end", {"turn": walk.turn, "step": walk.step})
    close("turn/end", {"turn": walk.turn, "reason": {"kind": "interrupted"}})
    return closers
