"""Lab A1: the branch of the parser for tool messages."""
from collections.abc import Callable
from typing import Any

from labsupport.lossless import js_json
from labsupport.miniagent import ToolMessage, session_message_problem
from labsupport.own import own_id, own_number
from labsupport.workbench.breakage import problem_words
from labsupport.workbench.checks.base import Verdict, attempt, correct, not_started, untouched, wrong
from labsupport.workbench.text import say

ID = own_id("c1")
SHARED = {"role": "tool", "content": str(own_number(42, 40))}  # the shared precondition holds for every case
MESSAGES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("a1_good_refused", {"toolCallId": ID, "isError": True}),
    ("a1_false_refused", {"toolCallId": ID, "isError": False}),
    ("a1_empty_id_refused", {"toolCallId": "", "isError": False}),
    ("a1_extra_refused", {"toolCallId": ID, "isError": False, "mood": "good"}),
)
"""What a message may have for fields, and the sentence for refusing it; small cases first."""
OTHERS: tuple[dict[str, Any], ...] = (
    {"isError": False}, {"toolCallId": ID}, {"toolCallId": None, "isError": False}, {"toolCallId": 7, "isError": False},
    {"toolCallId": ID, "isError": 1}, {"toolCallId": ID, "isError": 0}, {"toolCallId": ID, "isError": "false"},
    {"toolCallId": ID, "isError": None},
)


def check_parse_tool(parse_tool: Callable[[dict[str, Any]], object]) -> Verdict:
    """Try *parse_tool* on values of which role and content are known to be right."""
    tried = [attempt(parse_tool, SHARED | fields) for _, fields in MESSAGES]
    if untouched(parse_tool, lambda value: None):
        return not_started()
    if all(found.error is None and found.value is None for found in tried):
        return wrong("a1_never_returns", case=say("a1_case_fields", fields=js_json(MESSAGES[0][1])))
    for (key, fields), found in zip(MESSAGES, tried, strict=True):
        case = say("a1_case_fields", fields=js_json(fields))
        if found.error is not None:
            return found.verdict(case)
        verdict = _judge_message(key, case, SHARED | fields, found.value)
        if verdict is not None:
            return verdict
    for fields in OTHERS:
        case, found = say("a1_case_fields", fields=js_json(fields)), attempt(parse_tool, SHARED | fields)
        if isinstance(found.error, LookupError):
            return wrong("a1_missing_raises", case=case, error=type(found.error).__name__)
        if found.error is not None:
            return wrong("a1_bad_raises", case=case, error=found.said)
        if found.value is not None:
            return _wrongly_taken(case, SHARED | fields, found.value)
    return correct()


def _judge_message(key: str, case: str, value: dict[str, Any], found: object) -> Verdict | None:
    """What is wrong with *found* for a *value* that is a message, if anything."""
    if found is None:
        return wrong(key, case=case)
    if not isinstance(found, ToolMessage):
        return wrong("a1_no_message", case=case, kind=type(found).__name__)
    pairs = {"toolCallId": found.tool_call_id, "content": found.content, "isError": found.is_error}
    field = next((name for name, got in pairs.items() if type(got) is not type(value[name]) or got != value[name]), None)
    return wrong("a1_good_changed", case=case, field=field) if field else None


def _wrongly_taken(case: str, value: dict[str, Any], found: object) -> Verdict:
    """The sentence for a *value* that is no message and was taken for one."""
    problem = session_message_problem(value)
    if problem is not None and problem.where == "toolCallId":
        return wrong("a1_id_unchecked", case=case)
    if type(value["isError"]) is int:
        converted = isinstance(found, ToolMessage) and type(found.is_error) is bool
        return wrong("a1_number_converted" if converted else "a1_number_kept", case=case)
    return wrong("a1_bad_passes", case=case, why=problem_words(problem) if problem else "")
