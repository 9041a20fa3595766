"""The rules of chapter 4 once more, over plain JSON and as slow as they are simple: what the library is compared with."""

from typing import Any

from labsupport.sessionlog import SessionEvent, SessionLogError, decode_record
from labsupport.strict_json import NumberTooLargeError, read_json

Record = dict[str, Any]
ROWS = ("text-chunks", "reasoning-chunks", "tool-call-chunks")


def surface(events: list[Record]) -> list[int]:
    """The seqs on the surface, by rebuilding the list for every event."""
    nodes: list[int] = []
    for event in events:
        op = event.get("surfaceOp")
        if op == "append":
            nodes = [*nodes, event["seq"]]
        elif op:
            first, last = nodes.index(op["start"]), nodes.index(op["end"])
            nodes[first : last + 1] = [event["seq"]]
    return nodes


def derive(events: list[Record]) -> list[Any]:
    """The messages of the surface; an assistant's message without content gives none."""
    messages = []
    for seq in surface(events):
        data = events[seq]["data"]
        message = data if events[seq]["type"] == "user/message" else data["message"]
        if message["content"] or events[seq]["type"] != "assistant/message":
            messages.append(message)
    return messages


def is_open(events: list[Record]) -> bool:
    """Whether the log ends inside a turn."""
    bounds = [event["type"] for event in events if event["type"] in ("turn/start", "turn/end")]
    return bool(bounds) and bounds[-1] == "turn/start"


def closers(events: list[Record]) -> list[tuple[str, Any]]:
    """What a recovery adds: (type, code of the call's result, or what is closed), by looking backwards for each call."""
    if not is_open(events):
        return []
    start = max(at for at, event in enumerate(events) if event["type"] == "turn/start")
    turn = events[start:]
    bounds = [at for at, event in enumerate(turn) if event["type"] in ("step/start", "step/end")]
    in_step = bool(bounds) and turn[bounds[-1]]["type"] == "step/start"
    ends = [at for at in bounds if turn[at]["type"] == "step/end"]
    live = turn[ends[-1] + 1 :] if ends else turn
    added: list[tuple[str, Any]] = []
    asked = [
        (at, block["id"])
        for at, event in enumerate(live)
        if event["type"] == "assistant/message"
        for block in event["data"]["message"]["content"]
        if block.get("type") == "tool-call"
    ]
    for at, call_id in asked:
        later = live[at:]
        if any(event["type"] == "tool/result" and event["data"]["message"]["source"]["callId"] == call_id for event in later):
            continue
        started = any(event["type"] == "tool/call" and event["data"]["callId"] == call_id for event in later)
        added.append(("tool/result", (call_id, "TOOL_OUTCOME_UNKNOWN" if started else "TOOL_NOT_STARTED")))
    if in_step:
        added.append(("step/end", turn[bounds[-1]]["data"]["step"]))
    return [*added, ("turn/end", "interrupted")]


def told(event: Record) -> tuple[str, Any]:
    """A closer that was written, in the words of `closers`."""
    data = event["data"]
    if event["type"] == "tool/result":
        return event["type"], (data["message"]["source"]["callId"], data["error"]["code"])
    if event["type"] == "step/end":
        return event["type"], data["step"]
    return event["type"], data["reason"]["kind"] if event["type"] == "turn/end" else "no closer"


def scan(data: bytes) -> tuple[Any, ...]:
    """("whole", events, committed bytes), or ("damaged", line), of a log whose header is good."""
    lines = data.split(b"\n")[:-1]
    events: list[Record] = []
    committed = len(lines[0]) + 1
    for at, line in enumerate(lines[1:], 1):
        try:
            record = read_json(line)
        except NumberTooLargeError:
            return "damaged", at + 1
        except ValueError:
            return _tail(lines, at, events, committed)
        if not isinstance(record, dict):
            return _tail(lines, at, events, committed)
        try:
            found = decode_record(record) if record.get("type") in ROWS else [SessionEvent.from_json(record)]
        except SessionLogError:
            seq = record.get("seq")
            if record.get("type") not in ROWS and type(seq) in (int, float) and seq == len(events):
                return "damaged", at + 1
            return _tail(lines, at, events, committed)
        if found[0].seq != len(events):
            return _tail(lines, at, events, committed)
        events += [event.to_json() for event in found]
        committed += len(line) + 1
    return "whole", events, committed


def _tail(lines: list[bytes], at: int, events: list[Record], committed: int) -> tuple[Any, ...]:
    for line in lines[at:]:
        try:
            record = read_json(line)
        except ValueError:
            continue
        if isinstance(record, dict) and record.get("type") == "turn/end":
            return "damaged", at + 1
    return "whole", events, committed
