"""The check of lab B2: does a learner's derive_event_message give what the library's gives?"""
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from labsupport.own import own_id
from labsupport.sessionlog import Session, SessionEvent, derive_event_message
from labsupport.sessionlog.driver import run_turn
from labsupport.sessionlog.models import Reply, ScriptedModel, call
from labsupport.workbench.checks.base import Verdict, attempt, correct, not_started, untouched, wrong
from labsupport.workbench.random_logs import CONFIG, TOOLS, random_log
from labsupport.workbench.text import say

Derive = Callable[[SessionEvent], Any]
SEEDS = range(30)


def check_derive_event_message(derive: Derive) -> Verdict:
    """Compare *derive* with the library on every event of small logs, then of random ones; the first difference is told."""
    if untouched(derive, lambda event: None):
        return not_started()
    for name, seed, session in _logs():
        for event in session.events:
            words, expected = say("b2_case", type=event.type, log=say(name, seed=seed)), derive_event_message(event)
            answer = attempt(derive, event)
            if answer.error is not None:
                return answer.verdict(words)
            if answer.value != expected:
                return wrong(_sentence(event, expected, answer.value), case=words)
    return correct()


def _sentence(event: SessionEvent, expected: Any, found: Any) -> str:
    """The key of what is wrong with *found*."""
    if event.type == "assistant/message" and expected is None:
        return "b2_empty_in"
    if event.type in ("assistant/message", "tool/result"):
        if found == event.read():
            return "b2_answer_data"
        return "b2_answer_lost" if event.type == "assistant/message" else "b2_result_lost"
    if event.type == "user/message":
        if event.surface_op != "append":
            return "b2_replacement_lost"
        return "b2_user_lost" if event.data["source"]["kind"] == "user" else "b2_injected_lost"
    return {"tool/call": "b2_call_in", "assistant/chunk": "b2_chunk_in"}.get(event.type, "b2_structure_in")


def _logs() -> Iterator[tuple[str, int, Session]]:
    """The key of its name, its seed and a log, from one event up."""
    question = Session.create("case")
    question.append("user/message", _said("user"), "append")
    yield "b2_log_question", 0, question
    yield "b2_log_answer", 0, _turn(Reply("It is 3."))
    yield "b2_log_empty", 0, _turn(Reply(""))
    yield "b2_log_tool", 0, _turn(Reply(calls=[call(own_id("a"), "add", "[1, 2]")]), Reply("It is 3."))
    yield "b2_log_stream", 0, _turn(Reply("It is", error=("overloaded", "OVERLOADED")))
    yield "b2_log_injected", 0, _turn(Reply("Good."), context={"date": "Monday"})
    replaced = Session.create("case")
    replaced.append("user/message", _said("user"), "append")
    replaced.append("user/message", _said("plugin"), {"op": "replace", "start": 0, "end": 0}, [0])
    yield "b2_log_replaced", 0, replaced
    yield from (("b2_log_random", seed, random_log(seed)) for seed in SEEDS)


def _said(kind: str) -> dict[str, Any]:
    return {"id": "m", "role": "user", "source": {"kind": kind}, "content": [{"type": "text", "text": "1 + 2?"}]}


def _turn(*replies: Reply, context: Mapping[str, str] | None = None) -> Session:
    session = Session.create("case")
    run_turn(session, "1 + 2?", ScriptedModel(replies), TOOLS, config=CONFIG, dynamic_context=lambda: context or {})
    return session
