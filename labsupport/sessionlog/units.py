"""The projection units that come with the library: turn status, tool pairing, session statistics, todos, surface tokens
(chapter 4, §4.7)."""
from collections.abc import Callable
from typing import Any, Literal, TypedDict

import msgspec
from msgspec import UNSET

from labsupport.sessionlog.events import Replace, SessionEvent
from labsupport.sessionlog.folding import State, Unit
from labsupport.sessionlog.json_text import field
from labsupport.sessionlog.recovery import OUTCOME_UNKNOWN, answered_call, blocks
from labsupport.sessionlog.surface import derive_event_message
from labsupport.sessionlog.tokens import estimate_message


class TurnStatus(TypedDict):
    """The view of `turn_status`. A log may name its turns and reasons as it likes; the relations are checked elsewhere."""

    turn: Any
    step: Any
    steps: int
    status: Any


def _turn_status(state: State, event: SessionEvent) -> State:
    data = event.read()
    if event.type == "turn/start":
        return {"turn": field(data, "turn"), "step": None, "steps": 0, "status": "running"}
    if event.type == "step/start":
        return {**state, "step": field(data, "step"), "steps": state["steps"] + 1}
    if event.type == "step/end":
        return {**state, "step": None}
    return {**state, "step": None, "status": field(field(data, "reason"), "kind")}


turn_status = Unit(
    "turn_status", frozenset({"turn/start", "turn/end", "step/start", "step/end"}),
    lambda: {"turn": None, "step": None, "steps": 0, "status": "none"}, _turn_status, schema=TurnStatus)
"""The latest turn: its number, the step that is open, how many steps it had, and "running" or why it ended."""


class PairedCall(TypedDict):
    """One call in the view of `tool_pairing`."""

    name: Any
    status: Literal["requested", "started", "succeeded", "failed", "unknown"]


class ToolPairing(TypedDict):
    """The view of `tool_pairing`."""

    calls: dict[str, PairedCall]
    succeeded: int
    failed: int
    unknown: int


def _tool_pairing(state: State, event: SessionEvent) -> State:
    kind = event.type
    if kind == "turn/start":
        return {**state, "calls": {}} if state["calls"] else state
    if kind == "assistant/message":
        asked = {call_id: {"name": name, "status": "requested"} for call_id, name in _asked(event)}
        return {**state, "calls": {**state["calls"], **asked}} if asked else state
    if kind == "tool/call":
        call_id, name = _started(event)
        if type(call_id) is not str:
            return state
        return {**state, "calls": {**state["calls"], call_id: {"name": name, "status": "started"}}}
    call_id, status = _answered(event)
    call = state["calls"].get(call_id)
    if call is None or call["status"] not in ("requested", "started"):
        return state  # a rewrite of a result: what happened, happened
    return {**state, status: state[status] + 1, "calls": {**state["calls"], call_id: {**call, "status": status}}}


def _asked(event: SessionEvent) -> list[tuple[str, Any]]:
    """The id and name of each call in an assistant's message."""
    quick = _quickly(_read_said, event)
    if quick is not None:
        return [(block.id, block.name) for block in quick.message.content
                if block.type == "tool-call" and block.id is not UNSET]
    return [(block["id"], block.get("name")) for block in blocks(field(event.read(), "message"))
            if block.get("type") == "tool-call" and type(block.get("id")) is str]


def _started(event: SessionEvent) -> tuple[Any, Any]:
    """The id and name in a tool/call."""
    quick = _quickly(_read_call, event)
    data = event.read() if quick is None else None
    return (quick.call_id, quick.name) if quick is not None else (field(data, "callId"), field(data, "name"))


def _answered(event: SessionEvent) -> tuple[str, str]:
    """The id in a tool/result, and what became of its call: succeeded, failed or unknown."""
    quick = _quickly(_read_said, event)
    if quick is not None:
        code = quick.error.code if quick.error is not None else ""
        call_id, failed = quick.message.source.call_id, any(block.is_error for block in quick.message.content)
    else:
        data = event.read()
        code = field(field(data, "error"), "code")
        call_id, failed = answered_call(data), any(block.get("isError") for block in blocks(field(data, "message")))
    return call_id, "unknown" if code == OUTCOME_UNKNOWN else "failed" if failed else "succeeded"


class _Block(msgspec.Struct, gc=False, rename="camel"):
    type: str
    id: str | msgspec.UnsetType = UNSET
    name: str | None = None
    is_error: bool = False


class _Source(msgspec.Struct, gc=False, rename="camel"):
    call_id: str = ""


class _Message(msgspec.Struct, gc=False):
    content: list[_Block]
    source: _Source


class _Call(msgspec.Struct, gc=False, rename="camel"):
    call_id: str
    name: str | None = None


class _Error(msgspec.Struct, gc=False):
    code: str | None = None


class _Said(msgspec.Struct, gc=False):
    message: _Message
    error: _Error | None = None


_read_said = msgspec.json.Decoder(_Said).decode
_read_call = msgspec.json.Decoder(_Call).decode


def _quickly(read: Callable[[bytes], Any], event: SessionEvent) -> Any:
    """What a typed reader, four times as fast, makes of the data; None where it is too strict, and the slow way decides."""
    try:
        return read(event.json_text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


tool_pairing = Unit(
    "tool_pairing", frozenset({"turn/start", "assistant/message", "tool/call", "tool/result"}),
    lambda: {"calls": {}, "succeeded": 0, "failed": 0, "unknown": 0}, _tool_pairing, schema=ToolPairing)
"""Of the latest turn, each call by its id: requested, started, succeeded, failed or unknown; and the counts over all turns."""


def _session_stats(state: State, event: SessionEvent) -> State:
    kind, time = event.type, event.time
    if kind == "assistant/chunk" and (state["began"] is None or state["firstToken"] is not None):
        return state
    data = event.read()
    if kind == "step/start":
        return {**state, "step": [field(data, "turn"), field(data, "step")], "began": time, "firstToken": None}
    if kind == "assistant/chunk":
        counts = _in_step(state, data) and _is_token(field(data, "chunk"))
        return {**state, "firstToken": time} if counts else state
    if kind == "assistant/message":
        return _message_stats(state, time, data)
    if kind == "step/end":
        ended = {"steps": state["steps"] + 1, "step": None, "began": None, "firstToken": None}
        turn = field(data, "turn")
        return {**state, **ended, "turns": state["turns"] + (turn != state["turn"]), "turn": turn}
    if kind == "turn/end":
        return {**state, "calls": {}} if state["calls"] else state
    if kind == "tool/call":
        call_id = field(data, "callId")
        return {**state, "calls": {**state["calls"], call_id: time}} if type(call_id) is str else state
    calls = dict(state["calls"])
    began = calls.pop(answered_call(data), None)
    return state if began is None else {**state, "calls": calls, "toolMs": state["toolMs"] + max(0, time - began)}


def _is_token(chunk: Any) -> bool:
    if not isinstance(chunk, dict):
        return False
    if chunk.get("type") in ("text-delta", "reasoning-delta"):
        return bool(chunk.get("text"))
    return chunk.get("type") == "tool-call-delta" and ("name" in chunk or bool(chunk.get("argumentsDelta")))


def _in_step(state: State, data: Any) -> bool:
    """Whether *data* names the step that is open."""
    return bool([field(data, "turn"), field(data, "step")] == state["step"])


def _message_stats(state: State, time: int, data: Any) -> State:
    began, first = state["began"], state["firstToken"]
    if began is None or not _in_step(state, data):
        return state
    fresh = {**state, "began": None, "firstToken": None, "llmMs": state["llmMs"] + max(0, time - began)}
    if first is not None:
        fresh["ttftMs"] += max(0, first - began)
        fresh["ttftSteps"] += 1
        tokens: Any = field(field(data, "usage"), "outputTokens")
        if type(tokens) in (int, float) and tokens >= 0:
            fresh["decodeMs"] += max(0, time - first)
            fresh["decodeTokens"] += tokens
    return fresh


_COUNTS = ("turns", "steps", "llmMs", "toolMs", "ttftMs", "ttftSteps", "decodeMs", "decodeTokens")

session_stats = Unit(
    "session_stats",
    frozenset({"step/start", "step/end", "turn/end", "assistant/chunk", "assistant/message", "tool/call", "tool/result"}),
    lambda: {**dict.fromkeys(_COUNTS, 0), "turn": None, "step": None, "began": None, "firstToken": None, "calls": {}},
    _session_stats,
    lambda state: {name: state[name] for name in _COUNTS}, schema=dict[str, int | float])
"""Turns and steps that ended, and where the time went, in milliseconds: model, tools, up to the first token, and after it."""


def _todo(state: State, event: SessionEvent) -> State:
    return field(event.read(), "todos")


todo = Unit("todo", frozenset({"todo/write"}), lambda: None, _todo)
"""The list that the latest todo/write gave, whole; None before the first."""


def _surface_tokens(state: State, event: SessionEvent) -> State:
    message = derive_event_message(event)
    node = [event.seq, 0 if message is None else estimate_message(message)]
    op = event.surface_op
    if not isinstance(op, Replace):
        last = [*state["last"], node]
        full = len(last) == _PAGE
        return {"tokens": state["tokens"] + node[1], "nodes": state["nodes"] + 1,
                "pages": [*state["pages"], last] if full else state["pages"], "last": [] if full else last}
    nodes = [kept for page in (*state["pages"], state["last"]) for kept in page]
    places = [at for at, (seq, _) in enumerate(nodes) if seq in (op.start, op.end)]
    if not places:
        return state  # no surface has this replacement; who checks the log says so
    nodes[places[0]:places[-1] + 1] = [node]
    cut = len(nodes) - len(nodes) % _PAGE
    return {"tokens": sum(tokens for _, tokens in nodes), "nodes": len(nodes),
            "pages": [nodes[at:at + _PAGE] for at in range(0, cut, _PAGE)], "last": nodes[cut:]}


_PAGE = 256  # nodes in a page of the state: an append copies one page and the list of pages, whatever the length

surface_tokens = Unit(
    "surface_tokens", frozenset({"user/message", "assistant/message", "tool/result"}),
    lambda: {"tokens": 0, "nodes": 0, "pages": [], "last": []}, _surface_tokens,
    lambda state: {"tokens": state["tokens"], "nodes": state["nodes"]}, schema=dict[str, int])
"""What the surface costs by the fixed estimate, in tokens, and its number of nodes."""
