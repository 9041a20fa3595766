"""The check of lab B4: may a call be repeated, must somebody ask outside, or is it to be left alone?"""
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from labsupport.own import own_id
from labsupport.sessionlog import Session, SessionEvent, interrupted_turn_closers
from labsupport.sessionlog.driver import run_turn
from labsupport.sessionlog.models import Reply, ScriptedModel, call
from labsupport.workbench.checks.base import Verdict, attempt, correct, not_started, untouched, wrong
from labsupport.workbench.text import say

Decide = Callable[[Sequence[SessionEvent], str], Any]
WORDS = ("retry", "verify", "leave")


class Case(NamedTuple):
    """A log in *words*: its *turns*, each the ids of the calls of one message and what their tools do; the call asked about.

    *wrong* has the sentence for each wrong answer.
    """

    words: str
    turns: tuple[dict[str, str], ...]
    call_id: str
    answer: str
    wrong: dict[str, str]


def _dies(given: Any) -> str:
    raise KeyboardInterrupt


def _fails(given: Any) -> str:
    raise ConnectionError("no such address")


TOOLS: dict[str, Callable[[Any], str]] = {
    "works": lambda given: "sent",
    "quotes": lambda given: "found in the manual: TOOL_NOT_STARTED",
    "fails": _fails,
    "dies": _dies,
}

CASES = (
    Case("b4_case_answered", ({"c1": "works"},), "c1", "leave", {"retry": "b4_wrong_again", "verify": "b4_wrong_answered"}),
    Case("b4_case_unknown", ({"c1": "dies"},), "c1", "verify", {"retry": "b4_wrong_twice", "leave": "b4_wrong_ignored"}),
    Case("b4_case_not_started", ({"c1": "dies", "c2": "works"},), "c2", "retry",
         {"verify": "b4_wrong_nothing_to_ask", "leave": "b4_wrong_undone"}),
    Case("b4_case_failed", ({"c1": "fails"},), "c1", "leave", {"retry": "b4_wrong_failed", "verify": "b4_wrong_failed"}),
    Case("b4_case_quotes", ({"c1": "quotes"},), "c1", "leave", {"retry": "b4_wrong_quotes", "verify": "b4_wrong_quotes"}),
    Case("b4_case_other", ({"c1": "dies", "c2": "works"},), "c1", "verify",
         {"retry": "b4_wrong_other", "leave": "b4_wrong_other"}),
    Case("b4_case_again", ({"c1": "works"}, {"c1": "dies"}), "c1", "verify",
         {"retry": "b4_wrong_old", "leave": "b4_wrong_old"}),
)


def recovered(turns: Sequence[dict[str, str]]) -> list[SessionEvent]:
    """The events of a session of *turns*, recorded by the loop, cut short where a tool dies, and closed by recovery."""
    session = Session.create("case")
    for calls in turns:
        model = ScriptedModel([Reply(calls=[call(own_id(id), tool, "{}") for id, tool in calls.items()]), Reply("Done.")])
        with suppress(KeyboardInterrupt):
            run_turn(session, "Go on.", model, TOOLS, config={"provider": "workbook", "model": "scripted-1"})
    return [*session.events, *interrupted_turn_closers(session.events)]


def check_decide(decide: Decide) -> Verdict:
    """Ask *decide* about a call of each case, the plainest first."""
    if untouched(decide, lambda events, call_id: None):
        return not_started()
    for case in CASES:
        it = attempt(decide, recovered(case.turns), own_id(case.call_id))
        if it.error:
            return it.verdict(say(case.words))
        if it.value is None:
            return wrong("b4_wrong_none", case=say(case.words))
        if it.value not in WORDS:
            return wrong("b4_wrong_word", words=", ".join(WORDS))
        if it.value != case.answer:
            return wrong(case.wrong[it.value], case=say(case.words))
    return correct()
