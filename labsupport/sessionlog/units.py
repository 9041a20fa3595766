"""The projection units that come with the library: turn status, tool pairing, session statistics (chapter 4, §4.7)."""
from typing import Any

from labsupport.sessionlog.events import SessionEvent
from labsupport.sessionlog.json_text import field, may_mention
from labsupport.sessionlog.projections import State, Unit
from labsupport.sessionlog.recovery import OUTCOME_UNKNOWN, answered_call, blocks


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
    lambda: {"turn": None, "step": None, "steps": 0, "status": "none"}, _turn_status)
"""The latest turn: its number, the step that is open, how many steps it had, and "running" or why it ended."""


def _tool_pairing(state: State, event: SessionEvent) -> State:
    if event.type == "turn/start":
        return {**state, "calls": {}} if state["calls"] else state
    if event.type == "assistant/message" and not may_mention(event.json_text, b"tool-call"):
        return state  # most answers ask for nothing, and need not be read
    data = event.read()
    if event.type == "assistant/message":
        asked = {block["id"]: {"name": block.get("name"), "status": "requested"} for block in blocks(field(data, "message"))
                 if block.get("type") == "tool-call" and type(block.get("id")) is str}
        return {**state, "calls": {**state["calls"], **asked}} if asked else state
    if event.type == "tool/call":
        call_id = field(data, "callId")
        if type(call_id) is not str:
            return state
        return {**state, "calls": {**state["calls"], call_id: {"name": field(data, "name"), "status": "started"}}}
    call_id = answered_call(data)
    call = state["calls"].get(call_id)
    if call is None or call["status"] not in ("requested", "started"):
        return state  # a rewrite of a result: what happened, happened
    status = _outcome(data)
    return {**state, status: state[status] + 1, "calls": {**state["calls"], call_id: {**call, "status": status}}}


def _outcome(data: Any) -> str:
    if field(field(data, "error"), "code") == OUTCOME_UNKNOWN:
        return "unknown"
    return "failed" if any(block.get("isError") for block in blocks(field(data, "message"))) else "succeeded"


tool_pairing = Unit(
    "tool_pairing", frozenset({"turn/start", "assistant/message", "tool/call", "tool/result"}),
    lambda: {"calls": {}, "succeeded": 0, "failed": 0, "unknown": 0}, _tool_pairing)
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
    lambda state: {name: state[name] for name in _COUNTS})
"""Turns and steps that ended, and where the time went, in milliseconds: model, tools, up to the first token, and after it."""
