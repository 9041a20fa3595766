"""After an unknown outcome: ask the outside world, by key and by business id, and say no more than it answers (§4.9)."""
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from labsupport.errors import OutsideError
from labsupport.outside import Ledger, Operation
from labsupport.sessionlog import Session, SessionEvent
from labsupport.sessionlog.events import Replace
from labsupport.sessionlog.json_text import field, same_json
from labsupport.sessionlog.recovery import OUTCOME_UNKNOWN, answered_call
from labsupport.strict_json import read_json
from labsupport.workbench.business_tools import EFFECTS, Effect

Answer = Literal["done", "not done", "ask a person"]
Why = Literal["key", "business id", "no trace", "compensated", "other request", "several", "no business id", "unreachable"]
PLUGIN = "reconcile"


@dataclass(frozen=True)
class Finding:
    """What the ledger says of a call whose outcome the log does not know, and *why*; the *operation* where there is one.

    "not done" says that there is no effect so far. A retry that takes the *key* along is right after any answer but the last.
    """

    call_id: str
    seq: int
    """The tool/call."""
    answer: Answer
    why: Why
    key: str | None = None
    operation: Operation | None = None


def reconcile(events: Iterable[SessionEvent], ledger: Ledger, effects: Mapping[str, Effect | None] = EFFECTS) -> list[Finding]:
    """One finding for each call in *events*, a recovered log, whose result says TOOL_OUTCOME_UNKNOWN; none for one that reads.

    It never guesses. Without a business id, or with an operation that is not the one that was asked for, was taken back, or is
    there twice, it is for a person to look; so it is when the ledger cannot be asked. Chapter 4, §4.9.
    """
    reads = {name for name, effect in effects.items() if effect is None}
    return [_ask(call, ledger, effects) for call in unknown_calls(events) if field(call.read(), "name") not in reads]


def unknown_calls(events: Iterable[SessionEvent]) -> Iterator[SessionEvent]:
    """The tool/call events whose outcome is unknown, in order. A result that came later has settled it, a rewrite has not."""
    calls: dict[int, SessionEvent] = {}
    unknown: dict[str, int] = {}
    for event in events:
        if event.type == "tool/call":
            calls[event.seq] = event
        elif event.type == "tool/result" and not isinstance(event.surface_op, Replace):
            data = event.read()
            unknown.pop(answered_call(data), None)
            if field(field(data, "error"), "code") == OUTCOME_UNKNOWN and event.source_event_seqs:
                unknown[answered_call(data)] = event.source_event_seqs[0]
    return (calls[seq] for seq in sorted(unknown.values()) if seq in calls)


def _ask(call: SessionEvent, ledger: Ledger, effects: Mapping[str, Effect | None]) -> Finding:
    data = call.read()
    call_id, effect, given = str(field(data, "callId")), effects.get(str(field(data, "name"))), _input(data)
    key = None if effect is None else effect.key(given)

    def found(answer: Answer, why: Why, operation: Operation | None = None) -> Finding:
        return Finding(call_id, call.seq, answer, why, key, operation)

    if effect is None or key is None:
        return found("ask a person", "no business id")
    try:
        by_key = ledger.find(key)
        id = effect.business_id(given)
        named = [done for done in ledger.operations(effect.kind) if effect.business_id(done.payload) == id]
    except (OutsideError, ValueError):  # a key that is too long for it, too
        return found("ask a person", "unreachable")
    if len(named) > 1:
        return found("ask a person", "several", by_key or named[0])
    done = by_key or (named[0] if named else None)
    if done is None:
        return found("not done", "no trace")
    if done.kind != effect.kind or not same_json(done.payload, given):
        return found("ask a person", "other request", done)
    if done.status != "done":
        return found("ask a person", "compensated", done)
    return found("done", "key" if by_key is not None else "business id", done)


def _input(data: Any) -> Any:
    """The input of a call; None where its arguments are no JSON."""
    text = field(data, "arguments")
    try:
        return read_json(text.encode("utf-8", "surrogatepass")) if isinstance(text, str) else None
    except ValueError:
        return None


def log_findings(session: Session, findings: Iterable[Finding]) -> None:
    """Tell the model: one message for each of *findings*, with where it is from. What counts stands on the surface."""
    for finding in findings:
        said = finding.answer if finding.operation is None else f"{finding.answer}, as operation {finding.operation.id}"
        source = {"kind": "plugin", "plugin": PLUGIN, "callId": finding.call_id, "callSeq": finding.seq}
        text = f"The ledger was asked about the call {finding.call_id}, whose outcome was unknown. It says: {said}."
        session.append("user/message", {"id": f"m{len(session.events)}", "role": "user", "source": source,
                                        "content": [{"type": "text", "text": text}]}, surface_op="append")
