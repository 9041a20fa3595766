"""Faults in the log of a case, each as a change of a good one: what a writer, a compaction or a resume does wrong."""
import json
from typing import Any

from labsupport.sessionlog.prompt import DYNAMIC_CONTEXT
from labsupport.sessionlog.request import REQUEST_SOURCES
from labsupport.workbench.clinic.draft import Draft, Event

AGAIN = "op-0090"
"""The id of an operation that is done a second time."""


# Row 1: after a resume the model forgot a constraint

def drop_context(draft: Draft) -> None:
    """No snapshot of the dynamic context was logged any more, once the compaction had removed the first."""
    removed = draft.find("compaction/end")["seq"]
    draft.drop(*[event for event in draft.events if event["type"] == "user/message" and event["seq"] > removed
                 and event["data"]["source"].get("plugin") == DYNAMIC_CONTEXT])


def _lose(draft: Draft, said: str) -> None:
    """Take *said* out of the summary, and out of the message that stands for the range."""
    summary = draft.find("compaction/summary")
    checkpoint = draft.find("user/message", after=summary["seq"])
    for block in (*summary["data"]["summary"], *checkpoint["data"]["content"]):
        block["text"] = block["text"].replace(said, "")


def lose_rule(draft: Draft) -> None:
    """The summary does not say what a user had forbidden."""
    _lose(draft, draft.good.rule)


def other_scope(draft: Draft) -> None:
    """After the resume the prompt was composed for no scope: the section that only the scope has is not in it."""
    sources = draft.find(REQUEST_SOURCES, after=draft.resume_end)["data"]
    header = draft.find("request/header", after=draft.resume_end)["data"]["header"]
    first = sources["sections"][0]
    start, end = first["span"]
    header["system"] = header["system"][start:end]
    sources.update(scope="global", sections=[first], tools=[{**tool, "scope": "global"} for tool in sources["tools"]])


# Row 3: the tool protocol is broken

def _lookup_after_fork(draft: Draft) -> Event:
    return draft.find("tool/call", after=draft.fork_end)


def filter_result(draft: Draft) -> None:
    """Somebody passed the result over when the log was written."""
    draft.drop(draft.result(_lookup_after_fork(draft)["data"]["callId"]))


def swap(draft: Draft) -> None:
    """The result stands before the message that asks for it."""
    call = _lookup_after_fork(draft)
    asked = draft.find("assistant/message", after=draft.fork_end)
    result = draft.result(call["data"]["callId"])
    draft.drop(result)
    result.pop("sourceEventSeqs")
    draft.insert(asked["seq"], result)


def leave_tail(draft: Draft) -> None:
    """The resume went on behind the open turn, without its closers."""
    died = [event for event in draft.events if event["seq"] < draft.resume_end and event["type"] == "tool/call"][-1]
    draft.drop(*[event for event in draft.events if died["seq"] < event["seq"] < draft.resume_end])


# Row 4: "saved", and gone after a restart

def _cut_last_turn(draft: Draft) -> None:
    start = draft.last("turn/start")["seq"]
    kept = [event for event in draft.events if event["seq"] < start]
    draft.lost, draft.events = len(draft.events) - len(kept), kept


def never_flush(draft: Draft) -> None:
    """The client was told behind the last turn, and nobody asked for a flush there."""
    _cut_last_turn(draft)
    last = draft.events[-1]["seq"]
    draft.flushes = [flush for flush in draft.flushes if flush.asked <= last]


def fail_flush(draft: Draft) -> None:
    """The flush was asked for, the backend refused, and the client was told all the same."""
    never_flush(draft)


# Row 6: an action is done again

def _repeat(draft: Draft) -> None:
    """In the turn after the resume the model sends the notice a second time, before it answers."""
    chunk = draft.find("assistant/chunk", after=draft.resume_end)
    turn, step = chunk["data"]["turn"], chunk["data"]["step"]
    if any(event["type"] == "tool/call" and event["seq"] > draft.resume_end for event in draft.events):
        return  # another fault has it do so already
    where, later = {"turn": turn, "step": step}, {"turn": turn, "step": step + 1}
    asked = {"type": "tool-call", "id": "c90", "name": "send_notice", "arguments": json.dumps({"notice": draft.good.notice})}
    answer = draft.find("assistant/message", after=chunk["seq"])
    for event in draft.events:
        if chunk["seq"] <= event["seq"] <= draft.find("step/end", after=answer["seq"])["seq"]:
            event["data"]["step"] = step + 1
    said = {"operationId": AGAIN, "status": "done"}
    text = {"type": "text", "text": json.dumps(said)}
    block = {"type": "tool-result", "toolCallId": "c90", "isError": False, "content": [text]}
    made: list[tuple[str, Any, dict[str, Any]]] = [
        ("assistant/message", {**where, "message": {**answer["data"]["message"], "id": "m-again", "content": [asked]}},
         {"surfaceOp": "append"}),
        ("tool/call", {**where, "callId": "c90", "name": "send_notice", "arguments": asked["arguments"]}, {}),
        ("tool/result", {**where, "message": {"id": "r-again", "role": "user", "source": {"kind": "tool", "callId": "c90"},
                                              "content": [block]}}, {"surfaceOp": "append"}),
        ("step/end", where, {}), ("step/start", later, {})]
    draft.insert(chunk["seq"], *({"type": kind, "time": chunk["time"], "data": data, **more} for kind, data, more in made))


def lose_operation(draft: Draft) -> None:
    """The summary does not say that the notice went out, and it goes out again."""
    _lose(draft, draft.good.done)
    _repeat(draft)


def split_range(draft: Draft) -> None:
    """The range begins at the result of the notice: its call stays, and looks as if nobody had answered."""
    sent = draft.find("tool/call", where=lambda event: event["data"]["name"] == "send_notice")
    result = draft.result(sent["data"]["callId"])["seq"]
    summary = draft.find("compaction/summary")
    gone = [seq for seq in summary["data"]["shadowedSeqs"] if seq < result]
    summary["data"]["shadowedSeqs"] = [seq for seq in summary["data"]["shadowedSeqs"] if seq >= result]
    checkpoint = draft.find("user/message", after=summary["seq"])
    checkpoint["surfaceOp"] = {**checkpoint["surfaceOp"], "start": result}
    checkpoint["sourceEventSeqs"] = [seq for seq in checkpoint["sourceEventSeqs"] if seq not in gone]
    _repeat(draft)


# Row 7: odd permissions after a fork

def copy_only(draft: Draft) -> None:
    """The child asked with its parent's header: it logged none of its own before it was resumed."""
    own = {"request/header", REQUEST_SOURCES, "request/context"}
    draft.drop(*[event for event in draft.events
                 if draft.fork_end < event["seq"] < draft.resume_end and event["type"] in own])


def keep_scope(draft: Draft) -> None:
    """The child logged a header of its own, and it was composed for its parent's scope."""
    parent, own = draft.find("request/header"), draft.find("request/header", after=draft.fork_end)
    own["data"]["header"]["tools"] = parent["data"]["header"]["tools"]
    made = draft.find(REQUEST_SOURCES)["data"]
    draft.find(REQUEST_SOURCES, after=draft.fork_end)["data"].update(scope=made["scope"], tools=made["tools"])
