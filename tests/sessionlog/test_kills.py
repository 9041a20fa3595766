"""Real kills: a process that records is killed, and the log is opened again."""

import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from labsupport.sessionlog.storage import Policy, on_barriers
from tests.sessionlog import builders as make
from tests.sessionlog import kills
from tests.sessionlog.kills import Plan, Witness
from tests.sessionlog.soak import soak

posix = pytest.mark.skipif(not make.POSIX, reason="forks a process")
BATCH = 25


@posix
@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 200, BATCH))
def test_two_hundred_kills(first: int) -> None:
    seen = soak(BATCH, first)
    assert seen["recovered"] >= BATCH // 3, "else the kills come too late or too early to show anything"


@posix
def test_a_kill_at_every_call_of_the_system(tmp_path: Path) -> None:
    """The first calls one by one: making the log, and the first writes behind it."""
    kept = []
    for at in range(1, 26):
        for part in (0.4, 1.0):
            plan = Plan(3, at, part, None)
            folder = tmp_path / f"{at}.{part}"
            witness, events = kills.kill_once(folder, plan)
            kills.check(plan, witness, events)
            kept.append(len(events))
    assert min(kept) == 0
    assert max(kept) > 5


SEEDS_WITH_TOOLS = [seed for seed in range(20) if any(str(one).startswith("run") for one in kills.task(seed))][:6]
after_answers = Policy("after each answer, not before tools", lambda event: event.type == "assistant/message")


@posix
@pytest.mark.parametrize("seed", SEEDS_WITH_TOOLS)
def test_with_the_barrier_a_call_that_ran_has_an_unknown_outcome(tmp_path: Path, seed: int) -> None:
    witness, events = kills.kill_once(tmp_path, Plan(seed, 5, 0.9, None), on_barriers, last_word="ran")
    kills.check(Plan(seed, 0, 0, None), witness, events, waits=True)
    [call_id] = witness.ran
    outcomes = {
        data["message"]["source"]["callId"]: data["error"]["code"]
        for event in events
        if event.type == "tool/result"
        for data in [event.read()]
        if "error" in data
    }
    assert outcomes.pop(call_id) == "TOOL_OUTCOME_UNKNOWN"
    assert set(outcomes.values()) <= {"TOOL_NOT_STARTED"}


@posix
@pytest.mark.parametrize("seed", SEEDS_WITH_TOOLS)
def test_without_the_barrier_a_call_that_ran_is_called_not_started(tmp_path: Path, seed: int) -> None:
    """What the barrier is for: here the answer was durable, its call was not, and the check of the kills says so."""
    plan = Plan(seed, 5, 0.9, None)
    witness, events = kills.kill_once(tmp_path, plan, after_answers, last_word="ran")
    assert set(witness.ran) <= kills.said_not_started(events)
    with pytest.raises(AssertionError, match="a call that ran"):
        kills.check(plan, witness, events, waits=True)


RECORDER = """
import sys
from pathlib import Path
from tests.sessionlog import kills
kills.record(Path(sys.argv[1]), int(sys.argv[2]), lambda words: print(words, flush=True))
"""


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_a_process_of_its_own_that_is_killed(tmp_path: Path, seed: int) -> None:
    """As above without a fork, on any system: the process is killed a moment after something it said."""
    random = Random(seed)
    after, delay = random.randint(1, 60), random.uniform(0, 0.002)
    heard = ""
    with subprocess.Popen(
        [sys.executable, "-c", RECORDER, str(tmp_path), str(seed)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for _ in range(after):
            heard += process.stdout.readline()
        time.sleep(delay)
        process.kill()
        heard += process.stdout.read()
    store = kills.open_again(tmp_path, seed)
    witness = Witness.heard(heard)
    if not store.path("s1").exists():
        assert witness.durable == 0
        return
    events = store.load("s1").events
    kills.check(Plan(seed, 0, 0, delay), witness, events)
    assert store.load("s1").repair is None


def test_the_checks_notice_what_they_are_for() -> None:
    plan = Plan(3, 0, 0, None)
    logged = make.log(*[one for one in kills.task(3) if not isinstance(one, str)])
    whole = [event.to_json() | {"time": 1000} for event in logged]
    events = make.log(*[{key: one[key] for key in one if key not in ("seq",)} for one in whole])
    kills.check(plan, Witness(durable=len(events)), events)
    with pytest.raises(AssertionError, match="are left"):
        kills.check(plan, Witness(durable=len(events)), events[:-1])
    with pytest.raises(AssertionError, match="invented"):
        kills.check(plan, Witness(), [*events, *make.log(make.turn_start(9), make.turn_end(9), first=len(events))])


def test_only_whole_words_of_a_witness_count() -> None:
    assert Witness.heard("durable 3\nran a\ndurable 4") == Witness(3, ["a"])
    assert Witness.heard("") == Witness()
