"""The check of lab B6: is the price list that a model sees a part that the log knows, and the only thing that was added?"""
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from labsupport.own import own_id, own_number
from labsupport.sessionlog import Reply, Session, replay
from labsupport.sessionlog.prompt import DYNAMIC_CONTEXT, GLOBAL, ContextPart, Opener, Prompt, Section, Tools
from labsupport.workbench.checks.base import Verdict, attempt, correct, not_started, shown, untouched, wrong
from labsupport.workbench.desk_play import Desk, ask, summarise, tool_call
from labsupport.workbench.request_tables import plugins
from labsupport.workbench.text import say
from labsupport.workbench.whole_requests import WholeRequests

Sourced = Callable[[Prompt, Callable[[], str]], Any]

NAME, VERSION = "prices", "prices.csv"
PARTS = {"sections": (Section, "b6_kind_section"), "tools": (Tools, "b6_kind_tool"),
         "openers": (Opener, "b6_kind_opener"), "context": (ContextPart, "b6_kind_context")}
"""The fields of a prompt that hold parts: the class of the parts, and the key of their word."""
OTHER_KINDS = {"sections": "b6_wrong_section", "tools": "b6_wrong_section", "openers": "b6_wrong_opener"}
DEARER = own_number(0, 900)
"""A student's prices are all as much higher or lower than the book's, in hundredths, so what differs there differs here."""


def _list(blood: int, xray: int) -> str:
    """The price list: a blood test and an X-ray, in hundredths."""
    return f"blood test {(blood + DEARER) / 100:.2f}\nX-ray {(xray + DEARER) / 100:.2f}"


LISTS = (_list(1700, 3100), _list(1950, 3100), _list(1950, 3400))


def _more() -> Prompt:
    """A prompt with more context than the desk has: a name in two scopes, of which one does not count, and a third part."""
    prompt = Desk().prompt()
    more = [ContextPart("today", lambda: "Audit day.", scope="audit"), ContextPart("doctor", lambda: "Dr Lee is in.")]
    return Prompt(prompt.sections, prompt.tools, [*prompt.context, *more], prompt.openers, prompt.variables, prompt.scope)


@dataclass(frozen=True)
class Case:
    """A run: the key of its name, what makes the *prompt* before, and of each turn the price *lists* its requests should hold.

    In a turn with two lists the price changes while a tool runs. Before the turn *compacted*, from 0, the history is compacted;
    before the turn *resumed* the session goes on in another process.
    """

    words: str
    prompt: Callable[[], Prompt]
    turns: Sequence[tuple[str, ...]]
    compacted: int | None = None
    resumed: int | None = None


CASES = (
    Case("b6_case_one", Prompt, [LISTS[:1]]),
    Case("b6_case_desk", lambda: Desk().prompt(), [LISTS[:1]]),
    Case("b6_case_audit", lambda: Desk().prompt("audit"), [LISTS[:1]]),
    Case("b6_case_more", _more, [LISTS[:1]]),
    Case("b6_case_same", lambda: Desk().prompt(), [LISTS[:1], LISTS[:1]]),
    Case("b6_case_changed", lambda: Desk().prompt(), [LISTS[:1], LISTS[1:2], LISTS[2:]]),
    Case("b6_case_meanwhile", lambda: Desk().prompt(), [LISTS[:2], LISTS[1:3]]),
    Case("b6_case_compacted", lambda: Desk().prompt(), [LISTS[:1], LISTS[:1]], compacted=1),
    Case("b6_case_resumed", lambda: Desk().prompt(), [LISTS[:1], LISTS[:1], LISTS[1:2]], resumed=1),
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
    session, now = Session.create("case"), [""]
    for turn, lists in enumerate(case.turns):
        if turn == case.compacted:
            summarise(session, "A caller asked what it costs.")
        if turn == case.resumed:
            session = Session.create(session.id, replay(session.events).events)
        if turn in (0, case.resumed):  # each process makes its prompt, and its function, anew
            now = [lists[0]]
            given = _given(sourced, case.prompt(), now, words)
            if isinstance(given, Verdict):
                return given
        played = attempt(_turn, session, given, now, lists)
        if played.error is not None:
            return played.verdict(words)
    return _judge(session, case, words)


def _given(sourced: Sourced, before: Prompt, now: list[str], words: str) -> Prompt | Verdict:
    """What *sourced* makes of a copy of *before*, or what is wrong with that; *now* holds the price list as it is."""
    prompt = deepcopy(before)
    given = attempt(sourced, prompt, lambda: now[0])
    if given.error is not None:
        return given.verdict(words)
    if type(given.value) is not Prompt:
        return wrong("b6_wrong_kind", case=words, found=type(given.value).__name__)
    if prompt != before:
        return wrong("b6_wrong_mutated", case=words)
    return _compared(before, given.value, words) or given.value


def _compared(before: Prompt, after: Prompt, words: str) -> Verdict | None:
    """What is wrong with *after*, which should have all that *before* has as it was, and the price list as one part more."""
    for field, what in (("scope", "b6_field_scope"), ("variables", "b6_field_variables")):
        if getattr(before, field) != getattr(after, field):
            return wrong("b6_wrong_changed", case=words, what=say(what))
    added: list[tuple[str, Any]] = []
    for field, (kind, what) in PARTS.items():
        old, new = list(getattr(before, field)), getattr(after, field)
        if not isinstance(new, list | tuple):
            return wrong("b6_wrong_list", case=words, field=field, found=type(new).__name__)
        strays = [type(one).__name__ for one in new if not isinstance(one, kind)]
        if strays:
            return wrong("b6_wrong_part", case=words, field=field, kind=kind.__name__, found=strays[0])
        waiting, kept = list(old), []
        for part in new:
            if part in waiting:
                waiting.remove(part)
                kept.append(part)
            else:
                added.append((field, part))
        if waiting:
            return wrong("b6_wrong_lost", case=words, what=say(what), name=waiting[0].name)
        if kept != old:
            return wrong("b6_wrong_moved", case=words, what=say(what))
    return _added(after, added, words)


def _added(prompt: Prompt, added: Sequence[tuple[str, Any]], words: str) -> Verdict | None:
    """What is wrong with the parts that were *added* to *prompt*, each with the field that it stands in."""
    if not added:
        return wrong("b6_wrong_none", case=words)
    if len(added) > 1:
        names = say("scrub_comma").join(f"{say(PARTS[field][1])} {shown(part.name)}" for field, part in added)
        return wrong("b6_wrong_extra", case=words, n=len(added), names=names)
    field, part = added[0]
    if field in OTHER_KINDS:
        return wrong(OTHER_KINDS[field], case=words)
    if part.name != NAME:
        return wrong("b6_wrong_name", case=words, name=shown(part.name))
    if part.scope not in (GLOBAL, prompt.scope):
        return wrong("b6_wrong_scope", case=words, found=shown(part.scope), scope=prompt.scope)
    if part.version != VERSION:
        return wrong("b6_wrong_version", case=words, found=shown(part.version))
    if not callable(part.read):
        return wrong("b6_wrong_read", case=words, found=type(part.read).__name__)
    said = attempt(part.read)
    if said.error is not None:
        return said.verdict(words)
    return None if isinstance(said.value, str) else wrong("b6_wrong_text", case=words, found=type(said.value).__name__)


def _turn(session: Session, prompt: Prompt, now: list[str], lists: Sequence[str]) -> None:
    """A turn whose requests should hold *lists*."""
    now[0] = lists[0]
    if len(lists) == 1:
        ask(session, Desk(), "What does it cost?", Reply("It is on the list. " * 30), prompt=prompt)
    else:
        ask(session, _Dearer(now, lists[1]), "Is it free?", Reply(calls=[tool_call(own_id("c1"), "free_slots", day="Tuesday")]),
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
    """What is wrong with the requests of *session*, in order: each should say the price list of its moment, once."""
    requests = WholeRequests(session.events)
    for number, price in enumerate(_expected(case), start=1):
        told = _told(requests, number)
        if told is None:
            return wrong("b6_wrong_unseen", case=words, request=number)
        values = {"case": words, "request": number, "price": _line(price), "found": _line(told)[:80]}
        if price not in told:
            return wrong("b6_wrong_stale", **values)
        rest = told.replace(price, "", 1)
        if any(line in rest for one in LISTS for line in one.splitlines()):
            return wrong("b6_wrong_more", **values)
    snapshots = sum(plugin == DYNAMIC_CONTEXT for _, plugin in plugins(session.events))
    wanted = _snapshots(case)
    return wrong("b6_wrong_often", case=words, n=snapshots, wanted=wanted) if snapshots != wanted else None


def _told(requests: WholeRequests, number: int) -> str | None:
    """What the latest snapshot in request *number* says of prices; None where it says nothing: older ones count no more."""
    rebuilt = requests.rebuilt(number)
    snapshots = [seq for seq, message in zip(rebuilt.message_seqs, rebuilt.messages, strict=True)
                 if message["source"].get("plugin") == DYNAMIC_CONTEXT]
    found = [piece.text for piece in requests.pieces(number) if piece.part.kind == "context"
             and piece.part.name == NAME and piece.part.seqs[0] == snapshots[-1]]
    return found[0] if found else None


def _line(text: str) -> str:
    return " / ".join(text.splitlines())


def _expected(case: Case) -> Iterator[str]:
    return (price for lists in case.turns for price in lists)


def _snapshots(case: Case) -> int:
    """How many snapshots of the context are logged when the price list is a part of it and nothing else changes."""
    prices = list(_expected(case))
    changes = 1 + sum(before != after for before, after in pairwise(prices))
    return changes + (case.compacted is not None)
