"""The check of lab B6: is the price list that a model sees a part that the log knows?"""
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from labsupport.errors import LabError, UnloggedInputError
from labsupport.sessionlog import Reply, Session
from labsupport.sessionlog.prompt import DYNAMIC_CONTEXT, Prompt
from labsupport.workbench.checks.base import Verdict, attempt, correct, not_started, untouched, wrong
from labsupport.workbench.desk_play import Desk, ask, summarise, tool_call
from labsupport.workbench.request_tables import plugins
from labsupport.workbench.text import say
from labsupport.workbench.whole_requests import WholeRequests

Sourced = Callable[[Prompt, Callable[[], str]], Any]

NAME, VERSION = "prices", "prices.csv"
FIELDS = {"sections": "b6_field_sections", "tools": "b6_field_tools", "context": "b6_field_context",
          "openers": "b6_field_openers", "variables": "b6_field_variables", "scope": "b6_field_scope"}
LISTS = ("blood test 18.00", "blood test 19.50", "blood test 21.00")


@dataclass(frozen=True)
class Case:
    """A run: the key of its name, the *prompt* before, and of each turn the price *lists* that its requests should hold.

    In a turn with two lists the price changes while a tool runs. Before the turn *compacted*, from 0, the history is compacted.
    """

    words: str
    prompt: Prompt
    turns: Sequence[tuple[str, ...]]
    compacted: int | None = None


CASES = (
    Case("b6_case_one", Prompt(), [LISTS[:1]]),
    Case("b6_case_desk", Desk().prompt(), [LISTS[:1]]),
    Case("b6_case_audit", Desk().prompt("audit"), [LISTS[:1]]),
    Case("b6_case_same", Desk().prompt(), [LISTS[:1], LISTS[:1]]),
    Case("b6_case_changed", Desk().prompt(), [LISTS[:1], LISTS[1:2]]),
    Case("b6_case_meanwhile", Desk().prompt(), [LISTS[:2], LISTS[1:3]]),
    Case("b6_case_compacted", Desk().prompt(), [LISTS[:1], LISTS[:1]], compacted=1),
)


def check_sourced(sourced: Sourced) -> Verdict:
    """Run cases from the smallest up with the prompt that *sourced* gives; does each request hold the list, from the log?"""
    if untouched(sourced, lambda prompt, prices: None):
        return not_started()
    for case in CASES:
        verdict = _check(sourced, case)
        if verdict is not None:
            return verdict
    return correct()


def _check(sourced: Sourced, case: Case) -> Verdict | None:
    words = say(case.words)
    now = [case.turns[0][0]]
    given = attempt(sourced, case.prompt, lambda: now[0])
    if given.error is not None:
        return given.verdict(words)
    if not isinstance(given.value, Prompt):
        return wrong("b6_wrong_kind", case=words)
    lost = next((name for name in FIELDS if not _keeps(case.prompt, given.value, name)), None)
    if lost is not None:
        return wrong("b6_wrong_lost", case=words, what=say(FIELDS[lost]))
    session = Session.create("case")
    played = attempt(_play, session, case, given.value, now)
    if isinstance(played.error, LabError) and not isinstance(played.error, UnloggedInputError):
        return wrong("b6_wrong_refused", case=words, error=str(played.error))
    if played.error is not None:
        return played.verdict(words)
    return _judge(session, case, words)


def _keeps(before: Prompt, after: Prompt, name: str) -> bool:
    """Whether all that *before* has under *name* is in *after*, in the same order."""
    old, new = getattr(before, name), getattr(after, name)
    if name in ("variables", "scope"):
        return bool(old == new)
    return list(old) == [part for part in new if any(part is one for one in old)]


def _play(session: Session, case: Case, prompt: Prompt, now: list[str]) -> None:
    """The turns of *case*; *now* holds the price list as it is."""
    for turn, lists in enumerate(case.turns):
        if turn == case.compacted:
            summarise(session, "A caller asked what it costs.")
        now[0] = lists[0]
        desk = Desk()
        if len(lists) == 1:
            ask(session, desk, "What does it cost?", Reply("It is on the list. " * 30), prompt=prompt)
        else:
            ask(session, _Dearer(now, lists[1]), "Is it free?", Reply(calls=[tool_call("c1", "free_slots", day="Tuesday")]),
                Reply("It is."), prompt=prompt)


class _Dearer(Desk):
    """A desk at which the price changes while a tool runs."""

    def __init__(self, now: list[str], price: str) -> None:
        super().__init__()
        self._now, self._price = now, price

    def tools(self) -> dict[str, Any]:
        def free_slots(given: Any) -> str:
            self._now[0] = self._price
            return "09:30"

        return {"free_slots": free_slots}


def _judge(session: Session, case: Case, words: str) -> Verdict | None:
    """What is wrong with the requests of *session*, in order: each is looked at where it holds what is said of prices last."""
    requests = WholeRequests(session.events)
    for number, price in enumerate(_expected(case), start=1):
        pieces = requests.pieces(number)
        named = [piece for piece in pieces if piece.part.name == NAME]
        holding = [piece for piece in pieces if price in piece.text]
        if not named:
            return (wrong("b6_wrong_name", case=words, name=holding[-1].part.name) if holding
                    else wrong("b6_wrong_unseen", case=words, request=number))
        last = named[-1]
        if last.part.kind == "opener":
            return wrong("b6_wrong_opener", case=words)
        if last.part.kind in ("section", "tool"):
            return wrong("b6_wrong_section", case=words)
        if price not in last.text:
            return wrong("b6_wrong_stale", case=words, request=number, price=price, found=last.text[:60])
        if last.part.version != VERSION:
            return wrong("b6_wrong_version", case=words, found=last.part.version or "–")
    snapshots = sum(plugin == DYNAMIC_CONTEXT for _, plugin in plugins(session.events))
    wanted = _snapshots(case)
    return wrong("b6_wrong_often", case=words, n=snapshots, wanted=wanted) if snapshots != wanted else None


def _expected(case: Case) -> Iterator[str]:
    return (price for lists in case.turns for price in lists)


def _snapshots(case: Case) -> int:
    """How many snapshots of the context are logged when the price list is a part of it and nothing else changes."""
    prices = list(_expected(case))
    changes = 1 + sum(before != after for before, after in pairwise(prices))
    return changes + (case.compacted is not None)
