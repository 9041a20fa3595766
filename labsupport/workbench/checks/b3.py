"""The checks of lab B3: do a learner's two projections give what the library's give, purely, after every event?"""
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any

from labsupport.errors import LosslessError
from labsupport.own import own_id
from labsupport.sessionlog import Session, SessionEvent, Unit, tool_pairing, turn_status
from labsupport.sessionlog.driver import run_turn
from labsupport.sessionlog.json_text import field, read_data, write_data
from labsupport.sessionlog.models import Reply, ScriptedModel, call
from labsupport.sessionlog.recovery import NOT_STARTED
from labsupport.workbench.checks.b4 import recovered
from labsupport.workbench.checks.base import Verdict, attempt, correct, not_started, shown, untouched, wrong
from labsupport.workbench.random_logs import CONFIG, random_log
from labsupport.workbench.text import say

Apply = Callable[[Any, SessionEvent], Any]
Log = tuple[str, int, Sequence[SessionEvent]]
"""The key of its name, its seed, and its events."""

SEEDS = range(30)


def check_turn_status(apply: Apply) -> Verdict:
    """Compare *apply* with the unit turn_status after every event of small logs, then of random ones."""
    return _check(apply, turn_status, _turn_logs(), lambda view: view, _turn_sentence)


def check_pairing(apply: Apply) -> Verdict:
    """Compare *apply* with the unit tool_pairing, of each call its status only."""
    def plain(view: Any) -> Any:
        return {**view, "calls": {call_id: call["status"] for call_id, call in view["calls"].items()}}

    return _check(apply, tool_pairing, _call_logs(), plain, _pairing_sentence)


def _check(apply: Apply, unit: Unit, logs: Iterator[Log], plain: Callable[[Any], Any],
           sentence: Callable[[SessionEvent, Any, Any], str]) -> Verdict:
    if untouched(apply, lambda state, event: None):
        return not_started()
    for name, seed, events in logs:
        expected, text = unit.init(), write_data(plain(unit.init()))
        for event in events:
            if event.type not in unit.event_types:
                continue
            before, expected = expected, unit.apply(expected, event)
            case = say("b3_case", type=event.type, seq=event.seq, log=say(name, seed=seed))
            found = _step(apply, event, text, plain(expected), case, expected is before, sentence)
            if isinstance(found, Verdict):
                return found
            text = found
    return correct()


def _step(apply: Apply, event: SessionEvent, text: bytes, expected: Any, case: str, nothing: bool,
          sentence: Callable[[SessionEvent, Any, Any], str]) -> Verdict | bytes:
    """The text of the state behind *event*, or what is wrong with it; *nothing* says that the event changes nothing."""
    given = read_data(text)
    answer = attempt(apply, given, event)
    if answer.error is not None:
        return answer.verdict(case)
    if isinstance(answer.value, Coroutine):
        answer.value.close()  # nobody awaits it, which Python would complain of
        return wrong("b3_async", case=case)
    if answer.value is None:
        return wrong("b3_none", case=case)
    try:
        found = write_data(answer.value)
        if write_data(given) != text:
            return wrong("b3_mutates", case=case)
    except LosslessError:
        return wrong("b3_no_json", case=case)
    again = attempt(apply, read_data(text), event)
    if again.error is not None or again.value != answer.value:
        return wrong("b3_impure", case=case)
    if answer.value != expected:
        return wrong(sentence(event, expected, answer.value), case=case, expected=shown(expected), found=shown(answer.value))
    if nothing and answer.value is not given:
        return wrong("b3_new_object", case=case)
    return found


# Which sentence fits

def _turn_sentence(event: SessionEvent, expected: Any, found: Any) -> str:
    if not isinstance(found, dict) or found.keys() != expected.keys():
        return "b3_names"
    wrong_names = {name for name in expected if found[name] != expected[name]}
    if event.type == "turn/start" and "steps" in wrong_names:
        return "b3_steps_kept"
    if event.type == "step/end" and "steps" in wrong_names:
        return "b3_steps_at_end"
    if event.type in ("step/end", "turn/end") and "step" in wrong_names:
        return "b3_step_left"
    if event.type == "turn/end" and "status" in wrong_names:
        return "b3_reason" if isinstance(found["status"], str) else "b3_reason_whole"
    return "b3_differs"


def _pairing_sentence(event: SessionEvent, expected: Any, found: Any) -> str:
    if not isinstance(found, dict) or found.keys() != expected.keys() or not isinstance(found["calls"], dict):
        return "b3_names"
    if event.type == "turn/start" and found["calls"]:
        return "b3_old_calls"
    if event.type == "assistant/message":
        return "b3_not_requested" if found["calls"].keys() >= expected["calls"].keys() - _asked(event) else "b3_calls_lost"
    if event.type == "tool/call":
        return "b3_not_started"
    if event.type == "tool/result":
        if event.surface_op != "append":
            return "b3_twice"
        if expected["unknown"] != found["unknown"] and found["failed"] > expected["failed"]:
            return "b3_unknown_failed"
        if found["succeeded"] > expected["succeeded"]:
            return "b3_failed_succeeded" if field(event.read(), "error") is not None else "b3_failed_bare"
        if field(field(event.read(), "error"), "code") == NOT_STARTED and found["failed"] < expected["failed"]:
            return "b3_not_started_failed"
    return "b3_differs"


def _asked(event: SessionEvent) -> set[str]:
    """The ids of the calls in the message of *event*."""
    return {block["id"] for block in event.data["message"]["content"] if block["type"] == "tool-call"}


# The logs, from small to large

def _turn_logs() -> Iterator[Log]:
    session = Session.create("case")
    records: list[tuple[str, str, dict[str, Any]]] = [
        ("b3_log_begun", "turn/start", {"turn": 1}), ("b3_log_step", "step/start", {"turn": 1, "step": 1}),
        ("b3_log_step_ended", "step/end", {"turn": 1, "step": 1}),
        ("b3_log_ended", "turn/end", {"turn": 1, "reason": {"kind": "completed"}})]
    for name, kind, data in records:
        session.append(kind, data)
        yield name, 0, session.events
    aborted = Session.create("case")
    for _, kind, data in records[:2]:
        aborted.append(kind, data)
    aborted.append("turn/end", {"turn": 1, "reason": {"kind": "aborted", "reason": {"kind": "user"}}})
    yield "b3_log_aborted", 0, aborted.events
    session.append("turn/start", {"turn": 2})
    yield "b3_log_second", 0, session.events
    yield from _random_logs()


def _call_logs() -> Iterator[Log]:
    answer = Session.create("case")
    run_turn(answer, "Go on.", ScriptedModel([Reply("Done.")]), {}, config=CONFIG)
    run_turn(answer, "Go on.", ScriptedModel([Reply("Done.")]), {}, config=CONFIG)
    worked = recovered([{"c1": "works"}])
    yield "b3_log_answer", 0, answer.events
    yield "b3_log_works", 0, worked
    yield "b3_log_fails", 0, recovered([{"c1": "fails"}])
    yield "b3_log_bare", 0, _without_error(recovered([{"c1": "fails"}]))
    yield "b3_log_unknown", 0, recovered([{"c1": "dies"}])
    yield "b3_log_two", 0, recovered([{"c1": "dies", "c2": "works"}])
    yield "b3_log_steps", 0, _two_steps()
    yield "b3_log_rewritten", 0, _rewritten(worked)
    later = Session.create("case", seed=worked)
    later.append("turn/start", {"turn": 2})
    yield "b3_log_rewritten_later", 0, _rewritten(later.events)
    yield "b3_log_again", 0, recovered([{"c1": "works"}, {"c1": "works"}])
    yield from _random_logs()


def _two_steps() -> Sequence[SessionEvent]:
    """One turn in which a second message asks for another call."""
    session = Session.create("case")
    replies = [Reply(calls=[call(own_id(id), "works", "{}")]) for id in ("c1", "c2")]
    run_turn(session, "Go on.", ScriptedModel([*replies, Reply("Done.")]), {"works": lambda given: "done"}, config=CONFIG)
    return session.events


def _without_error(events: Sequence[SessionEvent]) -> Sequence[SessionEvent]:
    """*events* as another program may write them: a result that failed, and no `error` beside it."""
    records = [event.to_json() for event in events]
    for record in records:
        record["data"].pop("error", None)
    return [SessionEvent.from_json(record) for record in records]


def _rewritten(events: Sequence[SessionEvent]) -> Sequence[SessionEvent]:
    """*events*, and a short copy in the place of their result."""
    session = Session.create("case", seed=events)
    result = next(event for event in events if event.type == "tool/result")
    data = result.read()
    data["message"]["content"][0]["content"] = [{"type": "text", "text": "[…]"}]
    session.append("tool/result", data, {"op": "replace", "start": result.seq, "end": result.seq}, [result.seq])
    return session.events


def _random_logs() -> Iterator[Log]:
    return (("b3_log_random", seed, random_log(seed).events) for seed in SEEDS)
