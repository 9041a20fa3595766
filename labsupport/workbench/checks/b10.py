"""The check of lab B10: find the word that an export should not have, wherever it can be read."""
import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from labsupport.workbench.checks.base import Verdict, attempt, correct, not_started, untouched, wrong
from labsupport.workbench.exports import Lines
from labsupport.workbench.text import say

Leaks = Callable[[Lines, str], Any]


class Case(NamedTuple):
    """An export in which *word* can be read at the lines *found*, and the key of the sentence for who does not see that."""

    words: str
    export: Lines
    word: str
    found: list[int]
    missed: str


def check_leaks(leaks: Leaks) -> Verdict:
    """Give *leaks* small exports, the plainest first: none that leaks, then one for each place a word can hide in."""
    if untouched(leaks, lambda export, word: None):
        return not_started()
    for case in cases():
        it = attempt(leaks, json.loads(json.dumps(case.export)), case.word)
        if it.error:
            return it.verdict(say(case.words))
        verdict = _judged(it.value, case)
        if verdict is not None:
            return verdict
    return correct()


def _judged(value: Any, case: Case) -> Verdict | None:
    words = say(case.words)
    if not isinstance(value, list) or any(type(at) is not int for at in value):
        return wrong("b10_wrong_kind", case=words)
    if value == case.found:
        return None
    if sorted(set(value)) == case.found:
        return wrong("b10_wrong_order", case=words, found=case.found, value=value)
    if not case.found or set(value) > set(case.found):
        return wrong("b10_wrong_clean", case=words, line=min(set(value) - set(case.found)))
    if len(value) == len(case.found) and all(at - 1 == it for at, it in zip(case.found, value, strict=True)):
        return wrong("b10_wrong_place", case=words, line=case.found[0], value=value)
    return wrong(case.missed, case=words, line=min(set(case.found) - set(value)))


def cases() -> Sequence[Case]:
    """The cases, from the plainest on."""
    header = {"type": "session", "version": 0, "id": "session-1", "createdAt": 1, "delegationDepth": 0}
    start = _record(0, "turn/start", {"turn": 1})
    clean = [header, start, _record(1, "user/message", _message("[redacted prompt]"), "append")]
    said = [header, start, _record(1, "user/message", _message("Ana has a cough"), "append")]
    spelled = [header, start, _record(1, "user/message", _message("林安 has a cough"), "append")]
    titled = [{**header, "cwd": "/home/demo/Ana"}, *clean[1:]]
    failed = [*clean, _record(2, "turn/end", {"turn": 1, "reason": {"kind": "error", "error": {"message": "no row for Ana"}}})]
    keyed = [*clean, _record(2, "tool/result", {"turn": 1, "meta": {"rows": {"Ana": 3}}}, "append")]
    numbered = [*clean, _record(2, "tool/result", {"turn": 1, "meta": {"rows": [{"phone": 5550142}]}}, "append")]
    asked = [*clean, _record(2, "tool/call", {"turn": 1, "callId": "call-1", "arguments": '{"name": "\\u6797\\u5b89"}'})]
    deeper = [*clean, _record(2, "tool/call", {"turn": 1, "callId": "call-1",
                                               "arguments": json.dumps({"body": json.dumps([{"name": "林安"}])})})]
    twice = [titled[0], start, said[2], _record(2, "session/title", {"title": "Ana, Ana"})]
    return (Case("b10_case_clean", clean, "Ana", [], ""), Case("b10_case_said", said, "Ana", [2], "b10_wrong_said"),
            Case("b10_case_header", titled, "Ana", [0], "b10_wrong_header"),
            Case("b10_case_error", failed, "Ana", [3], "b10_wrong_error"),
            Case("b10_case_key", keyed, "Ana", [3], "b10_wrong_key"),
            Case("b10_case_number", numbered, "5550142", [3], "b10_wrong_number"),
            Case("b10_case_spelled", spelled, "林安", [2], "b10_wrong_spelled"),
            Case("b10_case_asked", asked, "林安", [3], "b10_wrong_asked"),
            Case("b10_case_deeper", deeper, "林安", [3], "b10_wrong_deeper"),
            Case("b10_case_twice", twice, "Ana", [0, 2, 3], "b10_wrong_twice"))


def _record(seq: int, type: str, data: Any, op: str | None = None) -> dict[str, Any]:
    return {"type": type, "seq": seq, "time": 1, "data": data, **({"surfaceOp": op} if op else {})}


def _message(text: str) -> dict[str, Any]:
    return {"id": "message-1", "role": "user", "source": {"kind": "user"}, "content": [{"type": "text", "text": text}]}
