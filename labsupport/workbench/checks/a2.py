"""The check of lab A2's exercise: name the results that stand without their call."""
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from labsupport.miniagent import Message, ToolMessage, find_orphans
from labsupport.own import own_id
from labsupport.workbench.checks.base import Verdict, attempt, correct, not_started, untouched, wrong
from labsupport.workbench.histories import history, random_history, shape


class Case(NamedTuple):
    """A history in the chapter's notation, and the key of what to say when its one telling result is judged wrongly."""

    notation: str
    sentence: str = "a2_law_other"


CASES = (  # the smallest first, so that the first one that fails says most
    Case(""),
    Case("user"),
    Case("tool a", "a2_law_silent"),
    Case("assistant{a}, tool a"),
    Case("tool a, assistant{a}", "a2_law_later"),
    Case("assistant{a,b}, tool b", "a2_law_first_call"),
    Case("assistant{a}, user, tool a", "a2_law_neighbour"),
    Case("assistant{a,b}, tool a, tool b", "a2_law_neighbour"),
    Case("assistant{a}, tool a, tool a", "a2_law_second_result"),
    Case("assistant{x}, assistant{y}, tool x, tool y", "a2_law_newest_only"),
    Case("assistant{y}, tool x, tool y", "a2_law_silent"),  # what the chapter's rule leaves of the one before
)
SEEDS = range(40)
MOST = 20
"""As many entries of an answer are quoted."""


def check_results_without_call(function: Callable[[Sequence[Message]], Any]) -> Verdict:
    """Judge *function*: on named small histories first, then on random ones of which the oldest messages were cut off."""
    if untouched(function, lambda messages: None):
        return not_started()
    for messages, sentence in _cases():
        case = shape(messages)
        answer = attempt(function, list(messages))
        if answer.error:
            return answer.verdict(f"[{case}]")
        verdict = _compare(messages, answer.value, case, sentence)
        if verdict:
            return verdict
    return correct()


def _cases() -> Iterator[tuple[list[Message], str]]:
    for case in CASES:
        yield history(re.sub(r"\b[abxy]\b", lambda found: own_id(found[0]), case.notation)), case.sentence
    whole = [random_history(seed) for seed in SEEDS]
    cuts = [messages[start:] for messages in whole for start in range(len(messages))]
    yield from ((cut, "a2_law_other") for cut in sorted(cuts, key=len))


def _compare(messages: Sequence[Message], got: Any, case: str, sentence: str) -> Verdict | None:
    """What is wrong with the answer *got* for *messages*, if anything is."""
    expected = find_orphans(messages)
    if got is None:
        return wrong("a2_law_no_value", case=case)
    if type(got) is not list:  # not of a class of its own either, whose comparisons may do anything
        return wrong("a2_law_not_a_list", case=case, kind=type(got).__name__)
    others = [item for item in got if type(item) is not int]
    if others and all(type(item) is str for item in others):
        return wrong("a2_law_ids", case=case, got=others[:MOST])
    if others:
        return wrong("a2_law_not_a_list", case=case, kind=f"list[{type(others[0]).__name__}]")
    if not all(0 <= index < len(messages) for index in got):
        return wrong("a2_law_outside", case=case, n=len(messages))  # unquoted: Python may refuse to write a number that long
    if sorted(got) == expected:
        return None
    accused = [index for index in got if not isinstance(messages[index], ToolMessage)]
    if accused:
        return wrong("a2_law_wrong_role", case=case, index=accused[0])
    differing = sorted(set(got) ^ set(expected))
    if sentence == "a2_law_other" or len(differing) != 1:
        return wrong("a2_law_other", case=case, expected=expected, got=got[:MOST])
    return wrong(sentence, case=case, index=differing[0])
