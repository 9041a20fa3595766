"""The check of lab B8: behind which events may a fork begin?"""
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from labsupport.sessionlog import Session, SessionEvent, interrupted_turn_closers, lineage
from labsupport.sessionlog.models import Reply, call
from labsupport.workbench.checks.base import Verdict, attempt, correct, not_started, untouched, wrong
from labsupport.workbench.outbox_play import SUM_CALL, ask
from labsupport.workbench.text import say

Boundaries = Callable[[Sequence[SessionEvent]], Any]


class Case(NamedTuple):
    """A log: the key of its name and its events."""

    words: str
    events: Sequence[SessionEvent]


def check_boundaries(boundaries: Boundaries) -> Verdict:
    """Ask *boundaries* about logs from the smallest up; the sentence says what differs at the first seq that does."""
    if untouched(boundaries, lambda events: None):
        return not_started()
    for case in CASES:
        words = say("b8_case", log=say(case.words), n=len(case.events))
        it = attempt(boundaries, case.events)
        if it.error:
            return it.verdict(words)
        if not isinstance(it.value, list | tuple | set) or not all(type(seq) is int for seq in it.value):
            return wrong("b8_wrong_kind", case=words)
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
        return wrong("b8_wrong_no_event", case=case, seq=outside[0])
    types = {events[seq].type: seq for seq in reversed(extra)}  # the first of each type
    for type, key in (("user/message", "b8_wrong_balanced"), ("step/end", "b8_wrong_step_end"),
                      ("turn/start", "b8_wrong_turn_start")):
        if type in types:
            return wrong(key, case=case, seq=types[type])
    if extra:
        return wrong("b8_wrong_inside", case=case, seq=extra[0], type=events[extra[0]].type)
    if missing:
        key = "b8_wrong_turn_end" if events[missing[0]].type == "turn/end" else (
            "b8_wrong_before" if all(event.type != "turn/end" for event in events[:missing[0]]) else "b8_wrong_between")
        return wrong(key, case=case, seq=missing[0], type=events[missing[0]].type)
    return None


def _cases() -> Iterator[Case]:
    session = Session.create("case")
    yield Case("b8_log_empty", session.events)
    ask(session, "Hello.", Reply("Hello."))
    yield Case("b8_log_turn", session.events)
    session.append("session/title", {"title": "Hello"})
    yield Case("b8_log_title", session.events)
    ask(session, "Count.", Reply(calls=[call("c1", *SUM_CALL)]), Reply("Done."))
    yield Case("b8_log_tool", session.events)
    started = next(event.seq for event in session.events if event.type == "tool/call")
    broken = session.events[:started + 1]
    yield Case("b8_log_open", broken)
    resumed = Session.create("case", seed=[*broken, *interrupted_turn_closers(broken)])
    ask(resumed, "Go on.", Reply("Done."))
    yield Case("b8_log_resumed", resumed.events)
    early = Session.create("case")
    early.append("session/title", {"title": "Hello"})
    ask(early, "Hello.", Reply("Hello."))
    yield Case("b8_log_before", early.events)
    lock = {"compactionId": "k1", "turn": None}
    early.append("compaction/start", {**lock, "trigger": "manual"})
    early.append("compaction/end", {**lock, "error": {"message": "no summary", "code": "summary"}})
    ask(early, "Go on.", Reply("Done."))
    yield Case("b8_log_compacted", early.events)


CASES = tuple(_cases())
