"""The check of lab B7: where to flush, so that every promise is kept with as few flushes as possible."""
from collections.abc import Callable, Sequence
from typing import Any

from labsupport.workbench.checks.base import Verdict, attempt, correct, not_started, shown, untouched, wrong
from labsupport.workbench.flush_places import PROMISES, broken_promise, fewest_flushes, random_run
from labsupport.workbench.text import say

PlaceFlushes = Callable[[Sequence[str]], Any]
CASES = (
    ["user/message"],
    ["tool/call", "tool/result", "tell-user"],
    *(["user/message", promise] for promise in PROMISES[1:]),
    ["tell-user"],
    ["user/message", "tell-user", "hand-over"],
    ["user/message", "tell-user", "assistant/message", "hand-over"],
    *(random_run(seed) for seed in range(60)),
)
"""Runs, the smallest first."""

BROKEN = {"tell-user": "b7_wrong_tell", "hand-over": "b7_wrong_hand_over", "use-summary": "b7_wrong_summary",
          "publish-checkpoint": "b7_wrong_checkpoint", "restart-test": "b7_wrong_restart"}


def check_place_flushes(place_flushes: PlaceFlushes) -> Verdict:
    """Ask *place_flushes* where to flush in runs of growing length."""
    if untouched(place_flushes, lambda run: None):
        return not_started()
    for run in CASES:
        it = attempt(place_flushes, list(run))
        if it.error:
            return it.verdict(_case(run))
        found = _verdict(run, it.value)
        if not found.correct:
            return found
    return correct()


def _case(run: Sequence[str]) -> str:
    return say("b7_case", run=", ".join(run))


def _verdict(run: Sequence[str], places: Any) -> Verdict:
    case = _case(run)
    if not isinstance(places, list):
        return wrong("b7_wrong_kind", case=case, kind=type(places).__name__)
    other = [place for place in places if type(place) is not int]
    if other:
        return wrong("b7_wrong_number", case=case, place=shown(other[0]))
    if any(not 0 <= place <= len(run) for place in places) or len(set(places)) < len(places):
        return wrong("b7_wrong_place", case=case, last=len(run) - 1)
    broken = broken_promise(run, places)
    if broken is not None:
        if broken + 1 in places:
            return wrong("b7_wrong_late", case=case, place=broken, promise=run[broken])
        again = any(place < broken for place in places)
        return wrong("b7_wrong_again" if again else BROKEN[run[broken]], case=case, place=broken, promise=run[broken])
    for place in sorted(places):
        if not _waiting(run, places, place):
            return wrong("b7_wrong_empty", case=case, place=place)
    if len(places) > len(fewest_flushes(run)):
        return wrong("b7_wrong_too_many", case=case, n=len(places), least=len(fewest_flushes(run)))
    return correct()


def _waiting(run: Sequence[str], places: Sequence[int], place: int) -> bool:
    """Whether anything was appended between the flush at *place* and the one before it."""
    since = max((other for other in places if other < place), default=0)
    return any(entry not in PROMISES for entry in run[since:place])
