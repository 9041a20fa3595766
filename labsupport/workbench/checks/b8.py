"""The check of lab B8: behind which events may a fork begin?"""
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from labsupport.own import own_id
from labsupport.sessionlog import Session, SessionEvent, interrupted_turn_closers, lineage
from labsupport.sessionlog.compaction import compact
from labsupport.sessionlog.models import Reply, call
from labsupport.sessionlog.summarizers import ScriptedSummarizer
from labsupport.sessionlog.tools import Tool
from labsupport.workbench.checks.base import Verdict, attempt, correct, not_started, shown, untouched, wrong
from labsupport.workbench.outbox_play import SUM_CALL, ask
from labsupport.workbench.random_logs import random_log
from labsupport.workbench.text import say

Boundaries = Callable[[Sequence[SessionEvent]], Any]


class Case(NamedTuple):
    """A log: the key of its name, its events, and the seed of a random one."""

    words: str
    events: Sequence[SessionEvent]
    seed: int = 0


MISSING = {"turn/end": "b8_wrong_turn_end", "user/message": "b8_wrong_summary"}
LONG = "Hello. " * 60
"""Long enough for a summary to be shorter."""

RANDOM = 20
"""Random sessions that are asked about, behind the small ones."""


def check_boundaries(boundaries: Boundaries) -> Verdict:
    """Ask *boundaries* about logs from the smallest up; the sentence says what differs at the first seq that does."""
    if untouched(boundaries, lambda events: None):
        return not_started()
    for case in _cases():
        words = say("b8_case", log=say(case.words, seed=case.seed), n=len(case.events))
        it = attempt(boundaries, case.events)
        if it.error:
            return it.verdict(words)
        if not isinstance(it.value, list | tuple):
            return wrong("b8_wrong_kind", case=words, kind=type(it.value).__name__)
        other = [seq for seq in it.value if type(seq) is not int]
        if other:
            return wrong("b8_wrong_member", case=words, member=shown(other[0]))
        if len(set(it.value)) < len(it.value):
            twice = next(seq for seq in it.value if it.value.count(seq) > 1)
            return wrong("b8_wrong_twice", case=words, seq=twice)
        verdict = _differs(words, case.events, set(it.value))
        if verdict is not None:
            return verdict
    return correct()


def _differs(case: str, events: Sequence[SessionEvent], found: set[int]) -> Verdict | None:
    """What is wrong with the seqs that were *found*: first those too many, then those that are missing."""
    legal = set(lineage.boundaries(events))
    extra, missing = sorted(found - legal), sorted(legal - found)
    outside = [seq for seq in extra if not 0 <= seq < len(events)]
    if outside:
        return wrong("b8_wrong_negative" if outside[0] < 0 else "b8_wrong_no_event", case=case, seq=outside[0])
    types = {events[seq].type: seq for seq in reversed(extra)}  # the first of each type
    for type, key in (("user/message", "b8_wrong_balanced"), ("step/end", "b8_wrong_step_end"),
                      ("turn/start", "b8_wrong_turn_start")):
        if type in types:
            return wrong(key, case=case, seq=types[type])
    if extra:
        return wrong("b8_wrong_inside", case=case, seq=extra[0], type=events[extra[0]].type)
    if missing:
        return wrong(_missing(events, missing[0]), case=case, seq=missing[0], type=events[missing[0]].type)
    return None


def _missing(events: Sequence[SessionEvent], seq: int) -> str:
    """The sentence for a boundary that is not in the answer."""
    if events[seq].type in MISSING:
        return MISSING[events[seq].type]
    return "b8_wrong_between" if any(event.type == "turn/end" for event in events[:seq]) else "b8_wrong_before"


def _cases() -> Iterator[Case]:
    session = Session.create("case")
    yield Case("b8_log_empty", session.events)
    ask(session, "Hello.", Reply("Hello."))
    yield Case("b8_log_turn", session.events)
    session.append("session/title", {"title": "Hello"})
    yield Case("b8_log_title", session.events)
    ask(session, "Count.", Reply(calls=[call(own_id("c1"), *SUM_CALL)]), Reply("Done."))
    yield Case("b8_log_tool", session.events)
    started = next(event.seq for event in session.events if event.type == "tool/call")
    broken = session.events[:started + 1]
    yield Case("b8_log_open", broken)
    resumed = Session.create("case", seed=[*broken, *interrupted_turn_closers(broken)])
    ask(resumed, "Go on.", Reply("Done."))
    yield Case("b8_log_resumed", resumed.events)
    early = Session.create("case")
    early.append("session/title", {"title": "Hello"})
    ask(early, LONG, Reply("Hello."))
    yield Case("b8_log_before", early.events)
    nodes = early.surface.nodes
    compact(early, nodes[0], nodes[-1], ScriptedSummarizer(["A greeting."]))
    yield Case("b8_log_compacted", early.events)
    titled = Session.create("case")
    ask(titled, "Count.", Reply(calls=[call(own_id("c1"), *SUM_CALL)]), Reply("Done."), tools={"sum_column": _naming(titled)})
    yield Case("b8_log_titled", titled.events)
    yield from (Case("b8_log_random", random_log(seed).events, seed) for seed in range(RANDOM))


def _naming(session: Session) -> Tool:
    """A tool that gives *session* a title while its turn is open."""
    def name(given: Any) -> str:
        session.append("session/title", {"title": "Count"})
        return "done"

    return name
