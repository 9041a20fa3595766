"""Lab B7's session, recorded under six flush policies: what each had made durable at every point, and how often it wrote.

Nothing here is computed by formula: the loop runs, a writer sees every event, and what it writes is noted.
Nothing here needs pandas, so that a process of its own starts fast.
"""
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import NamedTuple

from labsupport.miniagent.cli import tools as table_tools
from labsupport.own import own_seed
from labsupport.sessionlog import Session, SessionEvent, SessionHeader
from labsupport.sessionlog.driver import run_turn
from labsupport.sessionlog.models import Reply, ScriptedModel, call
from labsupport.sessionlog.storage import (
    Policy,
    Writer,
    barrier,
    end_of_step,
    end_of_turn,
    every_event,
    every_ms,
    on_barriers,
    on_flush,
)
from labsupport.sessionlog.tools import Tool

ID = "clinic"
CONFIG = {"provider": "workbook", "model": "scripted-1"}
START = 1_772_442_000_000
INTERVAL = 200
"""Milliseconds of the policy every_ms, on the session's own clock."""

Clock = Callable[[], int]
POLICIES: Mapping[str, Callable[[Clock], Policy]] = {
    "every_event": lambda clock: every_event,
    "on_barriers": lambda clock: on_barriers,
    "end_of_step": lambda clock: end_of_step,
    "end_of_turn": lambda clock: end_of_turn,
    "every_ms": lambda clock: every_ms(INTERVAL, clock),
    "on_flush": lambda clock: on_flush,
}
TOOLS: Mapping[str, Tool] = {**table_tools(), "send_mail": lambda given: f"sent to {given['to']}"}
SUM = '{"file": "outpatient.csv", "column": "count", "where": {"year": "2025"}}'
MAIL = '{"to": "wang@clinic.example", "text": "The audit is on Monday."}'


class Ask(NamedTuple):
    """One turn: the *prompt* and what the model says to it."""

    prompt: str
    replies: tuple[Reply, ...]


SCRIPT = (
    Ask("How many tests were there in 2025?",
        (Reply("I count them.", [call("c1", "sum_column", SUM)], size=40), Reply("The table has the sum of 2025.", size=10))),
    Ask("Remind Dr. 王 of the audit.",
        (Reply(calls=[call("c2", "send_mail", MAIL)], size=24), Reply("The reminder is out.", size=8))),
)


def random_script(seed: int) -> tuple[Ask, ...]:
    """One to three turns with up to two rounds of calls; the same for the same *seed*."""
    random = Random(own_seed(seed))

    def below(stop: int) -> int:
        return int(stop * random.random())

    def reply(number: int, asks: bool) -> Reply:
        calls = [call(f"c{number}.{at}", *(("sum_column", SUM), ("send_mail", MAIL))[below(2)])
                 for at in range(1 + below(2) if asks else 0)]
        return Reply("so it is " * below(4) or "Done.", calls, size=6 + below(40))

    return tuple(Ask(f"question {turn}", tuple(reply(at, at < rounds) for at in range(rounds + 1)))
                 for turn, rounds in enumerate(below(3) for _ in range(1 + below(3))))


def new_session(seed: int = 39) -> Session:
    """An empty session. Time passes on its clock as *seed* says: mostly a little with an event, now and then much."""
    random, now = Random(seed), START

    def clock() -> int:
        nonlocal now
        now += int(1 + 24 * random.random()) if random.random() < 0.8 else int(100 + 300 * random.random())
        return now

    return Session.create(ID, header=SessionHeader(ID, created_at=START), clock=clock)


def play(session: Session, script: Sequence[Ask] = SCRIPT) -> None:
    """Record *script* in *session*; the loop asks for a barrier before each request and each tool."""
    for prompt, replies in script:
        run_turn(session, prompt, ScriptedModel(replies), TOOLS, config=CONFIG, barrier=barrier)


def policy_of(name: str, session: Session) -> Policy:
    """The policy *name*; its clock, where it has one, is the time of the session's latest event."""
    return POLICIES[name](lambda: session.events[-1].time if session.events else START)


@dataclass(frozen=True)
class Run:
    """The session under one *policy*: its *events*, and how many of them each flush covered when it returned.

    >>> run = run_under("end_of_turn")
    >>> run.flushes[-1] == len(run.events), run.lost(len(run.events)) == len(run.events) - run.flushes[-2]
    (True, True)
    """

    policy: str
    events: tuple[SessionEvent, ...]
    flushes: tuple[int, ...]

    def durable(self, killed: float) -> int:
        """How many events are on the disk when the process is killed as soon as *killed* were appended.

        A flush that the last of them brings about has not returned then. Half an event later it has: there a tool runs.
        """
        before = bisect_left(self.flushes, killed)
        return self.flushes[before - 1] if before else 0

    def lost(self, killed: float) -> int:
        """How many events were appended and are gone."""
        return int(killed) - self.durable(killed)

    @property
    def moments(self) -> list[float]:
        """All that *killed* may be: after so many events; and half an event after a `tool/call`, while its tool runs."""
        running = [event.seq + 1.5 for event in self.events if event.type == "tool/call"]
        return sorted([*range(len(self.events) + 1), *running])

    @property
    def worst(self) -> int:
        """The longest loss window: the most events that are lost, wherever the process is killed."""
        return max(self.lost(killed) for killed in self.moments)


@cache
def run_under(policy: str) -> Run:
    """Record the session under *policy*, with a writer that writes into memory and notes every flush."""
    session, flushes = new_session(), list[int]()

    def write(events: Sequence[SessionEvent]) -> None:
        flushes.append(events[-1].seq + 1)

    writer = Writer(session, 0, policy_of(policy, session), write, release=lambda: None)
    play(session)
    writer.close()
    return Run(policy, tuple(session.events), tuple(flushes))


def all_runs() -> list[Run]:
    """The session under each of the six policies."""
    return [run_under(policy) for policy in POLICIES]
