"""The check of lab B1: which call does a result belong to?"""
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from labsupport.own import own_id, own_number
from labsupport.sessionlog import Session, SessionEvent
from labsupport.workbench.checks.base import Verdict, attempt, correct, not_started, untouched, wrong
from labsupport.workbench.text import say

CallOfResult = Callable[[Sequence[SessionEvent], int], Any]


class Case(NamedTuple):
    """A small log: the key of its *name*, its *events*, the seqs of a *result* and of its *call*, the sentence if it fails."""

    name: str
    events: Sequence[SessionEvent]
    result: int
    call: int | None
    key: str


def check_call_of_result(call_of_result: CallOfResult) -> Verdict:
    """Ask *call_of_result* for the call of each result of small logs, from one call up to ids that come again."""
    if untouched(call_of_result, lambda events, seq: None):
        return not_started()
    for case in CASES:
        answer = attempt(call_of_result, case.events, case.result)
        words = say("b1_case", log=say(case.name), seq=case.result)
        if answer.error is not None:
            return answer.verdict(words)
        if answer.value is not None and type(answer.value) is not int:
            return wrong("b1_not_a_seq", case=words, kind=type(answer.value).__name__)
        if answer.value != case.call:
            return wrong(case.key, case=words, expected=case.call, found=answer.value)
    return correct()


def _cases() -> Iterator[Case]:
    log = _Log()
    log.ask("a")
    call = log.start("a")
    result = log.answer("a", call)
    yield Case("b1_log_two_step", log.events, result, call, "b1_simple")

    log = _Log()
    log.ask("a", "b")
    calls = log.start("a"), log.start("b")
    results = log.answer("a", calls[0]), log.answer("b", calls[1])
    yield from (Case("b1_log_parallel", log.events, *pair, "b1_other_call") for pair in zip(results, calls, strict=True))

    log = _Log()
    first = log.round("a")
    second = log.round("a")
    yield Case("b1_log_repeated", log.events, first[1], first[0], "b1_other_turn")
    yield Case("b1_log_repeated", log.events, second[1], second[0], "b1_other_turn")
    rewritten = log.rewrite(first[1])
    yield Case("b1_log_rewritten", log.events, rewritten, first[0], "b1_rewritten")
    rewritten = log.rewrite(rewritten)
    yield Case("b1_log_rewritten_again", log.events, rewritten, first[0], "b1_rewritten_again")

    log = _Log()
    log.round("a")
    log.ask("a")
    result = log.answer("a")
    yield Case("b1_log_not_started", log.events, result, None, "b1_made_up")


class _Log:
    """Appends what a loop would, and gives the seqs."""

    def __init__(self) -> None:
        self._session = Session.create("case")

    @property
    def events(self) -> Sequence[SessionEvent]:
        return self._session.events

    def _message(self, role: str, source: dict[str, Any], block: list[dict[str, Any]]) -> dict[str, Any]:
        message = {"id": f"m{len(self.events)}", "role": role, "source": source, "content": block}
        return {"turn": 1, "step": 1, "message": message}

    def ask(self, *ids: str) -> None:
        """A message of the model that asks for calls."""
        blocks = [{"type": "tool-call", "id": own_id(id), "name": "look_up", "arguments": "{}"} for id in ids]
        source = {"kind": "model", "provider": "workbook", "model": "scripted-1"}
        self._session.append("assistant/message", self._message("assistant", source, blocks), "append")

    def start(self, id: str) -> int:
        """The tool of a call starts."""
        data = {"turn": 1, "step": 1, "callId": own_id(id), "name": "look_up", "arguments": "{}"}
        return self._session.append("tool/call", data).seq

    def answer(self, id: str, *call: int) -> int:
        """A result; of a call that never started it cites nothing."""
        block = {"type": "tool-result", "toolCallId": own_id(id), "content": [{"type": "text", "text": str(own_number(7, 6))}]}
        data = self._message("user", {"kind": "tool", "callId": own_id(id)}, [block])
        return self._session.append("tool/result", data, "append", call or None).seq

    def round(self, id: str) -> tuple[int, int]:
        """A turn with one call and its result."""
        self.ask(id)
        call = self.start(id)
        return call, self.answer(id, call)

    def rewrite(self, result: int) -> int:
        """A shorter copy of a result takes its place on the surface."""
        data = self.events[result].read()
        data["message"]["content"][0]["content"] = []
        return self._session.append("tool/result", data, {"op": "replace", "start": result, "end": result}, [result]).seq


CASES = tuple(_cases())
