"""One case of a real kill: a process records a task, is killed at a point chosen from a seed, and the log is opened again.

What must hold, whatever the point: nothing that was flushed is gone; what is kept is a prefix of what was logged; a second
recovery changes nothing; and with the barrier before tools, a call that ran is never said to have been not started.
"""

import os
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Literal

from labsupport import database, system
from labsupport.sessionlog import Session, SessionEvent, SessionHeader, check_invariants
from labsupport.sessionlog.recovery import NOT_STARTED
from labsupport.sessionlog.storage import (
    JsonlStore,
    Policy,
    barrier,
    end_of_step,
    every_event,
    files,
    on_barriers,
    on_flush,
)
from tests.sessionlog import builders as make
from tests.sessionlog import oracle, stores
from tests.sessionlog.builders import in_child

POLICIES = [on_barriers, on_barriers, on_barriers, on_barriers, every_event, every_event, end_of_step, on_flush]
CALLS = ("write", "fsync", "fdatasync", "link", "replace", "open", "close", "ftruncate")
"""The system's calls at which a process can be killed."""

MAKING = 12
"""The call with which a log of one batch has been made: its lock, its draft, the link, the folder."""

CALLS_OF = {every_event.name: 120, on_barriers.name: 50, end_of_step.name: 25, on_flush.name: 6}
"""About how many calls a task makes behind that."""

STEPS = 10
"""A database can be stopped after so many steps of its machine."""

STEPS_OF_MAKING = 45
STEPS_OF = {every_event.name: 300, on_barriers.name: 110, end_of_step.name: 130, on_flush.name: 90}
"""About how often that is in a task, behind the making of the tables."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class Plan:
    """Where a process is killed: at its *at*-th call of the system (of a write, after *part* of the bytes) or by a clock."""

    seed: int
    at: int
    part: float
    delay: float | None

    @classmethod
    def of(cls, seed: int) -> "Plan":
        random = Random(seed)
        first = 1 if random.random() < 0.15 else MAKING  # mostly behind the making of the log
        at = random.randint(first, MAKING + CALLS_OF[setting(seed)[0].name])
        return cls(seed, at, random.random(), random.uniform(0.002, 0.02) if random.random() < 0.2 else None)

    @classmethod
    def in_a_database(cls, seed: int) -> "Plan":
        random = Random(seed)
        first = 1 if random.random() < 0.15 else STEPS_OF_MAKING
        at = random.randint(first, STEPS_OF_MAKING + STEPS_OF[setting(seed)[0].name])
        return cls(seed, at, 0, random.uniform(0.005, 0.03) if random.random() < 0.2 else None)


@dataclass
class Witness:
    """What the process told before it died."""

    durable: int = 0
    ran: list[str] = field(default_factory=list)
    ended: bool = False

    @classmethod
    def heard(cls, text: str) -> "Witness":
        """Only whole lines count: the last may be cut."""
        witness = cls()
        for word, _, value in (line.partition(" ") for line in text.split("\n")[:-1]):
            if word == "durable":
                witness.durable = int(value)
            elif word == "ran":
                witness.ran.append(value)
            else:
                witness.ended = True
        return witness


def task(seed: int) -> Iterator[make.Record | str]:
    """The records of a few turns, as a driver makes them, and "barrier" and "run ID" where it waits and where a tool runs."""
    random = Random(seed)
    for turn in range(1, random.randint(2, 4)):
        yield make.turn_start(turn)
        for step in range(1, random.randint(2, 3)):
            yield make.step_start(step, turn)
            yield make.user("预算 🙂 " * random.randint(1, 200))
            yield "barrier"
            for _ in range(random.randint(0, 5)):
                yield make.chunk("piece ", step, turn)
            ids = [f"{turn}.{step}.{at}" for at in range(random.randint(0, 3))]
            yield make.asks(*ids, step=step, turn=turn) if ids else make.says("done", step, turn)
            for call_id in ids:
                yield make.call(call_id, step, turn)
                yield "barrier"
                yield f"run {call_id}"
                yield make.result(call_id, "x" * random.randint(0, 6000), step, turn)
            yield make.step_end(step, turn)
        yield make.turn_end(turn)
        if random.random() < 0.3:
            yield "flush"


def script(seed: int) -> list[make.Record]:
    """The events that the task logs, when nothing stops it."""
    session = Session.create("s1", header=SessionHeader("s1", created_at=1000))
    for one in task(seed):
        if not isinstance(one, str):
            make.append(session, one)
    return make.plain(session.events)


def setting(seed: int) -> tuple[Policy, Literal["zstd"] | None]:
    """The policy and the compression of the run of *seed*."""
    random = Random(-seed)
    return random.choice(POLICIES), random.choice([None, "zstd"])


def record(folder: Path, seed: int, say: Say, policy: Policy | None = None, sqlite: bool = False) -> None:
    """Record the task into *folder*, and say what is durable and what ran."""
    usual, _ = setting(seed)
    store = open_again(folder, seed, sqlite)
    session = Session.create("s1", header=SessionHeader("s1", created_at=1000))
    writer = store.attach(session, policy or usual)
    for one in task(seed):
        if one == "barrier":
            barrier(session)
        elif one == "flush":
            writer.flush()
        elif isinstance(one, str):
            say(one.replace("run", "ran"))
        else:
            make.append(session, one)
        say(f"durable {len(session.events) - writer.waiting}")
    writer.close()
    say("ended")


def open_again(folder: Path, seed: int, sqlite: bool = False) -> Any:
    """A store of the files of *seed*, or of a database."""
    return stores.named("sqlite").open(folder) if sqlite else JsonlStore(folder, setting(seed)[1])


class _Killing:
    """`os` as the store's module sees it; the call that is due is the last one of this process."""

    def __init__(self, at: int, part: float) -> None:
        self._left, self._part = at, part

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in CALLS:
            return real

        def call(*args: Any, **more: Any) -> Any:
            self._left -= 1
            if self._left:
                return real(*args, **more)
            if name == "write":
                real(args[0], args[1][: int(len(args[1]) * self._part)])
            elif self._part > 0.5:
                real(*args, **more)
            os.kill(os.getpid(), signal.SIGKILL)
            raise AssertionError("not reached")

        return call


@contextmanager
def killed_at(at: int, part: float) -> Iterator[None]:
    """Kill this process at its *at*-th call of the system inside the store."""
    files.os = system.os = _Killing(at, part)  # type: ignore[assignment]
    try:
        yield
    finally:
        files.os = system.os = os


class _KillingDatabase:
    """`sqlite3` as the store's module sees it; a connection that is killed in the middle of a statement."""

    def __init__(self, at: int) -> None:
        self._left = at

    def __getattr__(self, name: str) -> Any:
        return getattr(sqlite3, name)

    def connect(self, *args: Any, **more: Any) -> sqlite3.Connection:
        connection = sqlite3.connect(*args, **more)
        connection.set_progress_handler(self._step, STEPS)
        return connection

    def _step(self) -> int:
        self._left -= 1
        if not self._left:
            os.kill(os.getpid(), signal.SIGKILL)
        return 0


@contextmanager
def killed_in_a_statement(at: int) -> Iterator[None]:
    """Kill this process after *at* times STEPS steps of the statements that the store runs."""
    database.sqlite3 = _KillingDatabase(at)  # type: ignore[assignment]
    try:
        yield
    finally:
        database.sqlite3 = sqlite3


def in_a_child(work: Callable[[Say], None], delay: float | None = None, last_word: str = "") -> tuple[str, bool]:
    """Run *work* in a forked child: what it said, and whether it was killed.

    It is killed after *delay* seconds, or right after the first thing it says that begins with *last_word*.
    """
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:

        def say(words: str) -> None:
            os.write(theirs, f"{words}\n".encode())
            if last_word and words.startswith(last_word):
                os.kill(os.getpid(), signal.SIGKILL)

        try:
            os.close(ours)
            work(say)
        finally:
            os._exit(0)
    os.close(theirs)
    if delay is not None:
        time.sleep(delay)
        os.kill(child, signal.SIGKILL)
    with os.fdopen(ours, "rb") as back:
        said = back.read().decode()
    return said, os.WIFSIGNALED(os.waitpid(child, 0)[1])


def read_once(folder: Path, seed: int, sqlite: bool) -> list[make.Record] | None:
    """What can be read of the log; None when there is none."""
    try:
        return make.plain(open_again(folder, seed, sqlite).inspect("s1").events)
    except FileNotFoundError:
        return None


def kill_once(
    folder: Path, plan: Plan, policy: Policy | None = None, last_word: str = "", sqlite: bool = False
) -> tuple[Witness, list[SessionEvent]]:
    """One case: record and kill; kill the recovery too; then recover. What was witnessed, and the events that are left."""

    def recorded(say: Say) -> None:
        if plan.delay is None and not last_word:
            with killed_in_a_statement(plan.at) if sqlite else killed_at(plan.at, plan.part):
                record(folder, plan.seed, say, policy, sqlite)
        else:
            record(folder, plan.seed, say, policy, sqlite)

    def recovered(say: Say) -> None:
        with killed_in_a_statement(1 + plan.at % 40) if sqlite else killed_at(1 + plan.at % 8, plan.part):
            open_again(folder, plan.seed, sqlite).load("s1")

    said, killed = in_a_child(recorded, plan.delay, last_word)
    witness = Witness.heard(said)
    assert killed or witness.ended, "a child ended by itself without ending its task"
    before = in_child(lambda: read_once(folder, plan.seed, sqlite))
    if before is None:
        assert witness.durable == 0, "what was flushed is gone"
        return witness, []
    in_a_child(recovered)
    store = open_again(folder, plan.seed, sqlite)
    after = store.load("s1")
    assert make.plain(after.events) == before, "a recovery that was killed as well changed what is there"
    assert store.load("s1").repair is None, "a second recovery changed something"
    return witness, after.events


def check(plan: Plan, witness: Witness, events: list[SessionEvent], waits: bool | None = None) -> None:
    """What must hold after every kill; AssertionError says what does not.

    *waits*: whether a call was made durable before its tool ran; by the policy of the seed if it is None.
    """
    left, logged = make.plain(events), script(plan.seed)
    kept = 0
    while kept < min(len(left), len(logged)) and left[kept] == logged[kept]:
        kept += 1
    assert kept >= witness.durable, f"{witness.durable} events were durable and {kept} are left"
    assert [oracle.told(one) for one in left[kept:]] == oracle.closers(logged[:kept]), "something was invented"
    assert check_invariants(events) == []
    if setting(plan.seed)[0] in (on_barriers, every_event) if waits is None else waits:
        assert not said_not_started(events) & set(witness.ran), "a call that ran is said to have been not started"


def said_not_started(events: list[SessionEvent]) -> set[str]:
    """The ids of the calls of which *events* say that they were never started."""
    found = [event.read() for event in events if event.type == "tool/result"]
    return {data["message"]["source"]["callId"] for data in found if data.get("error", {}).get("code") == NOT_STARTED}
