"""How the events of a good log relate: each rule broken once, and the first problem stands where it is broken."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labsupport.sessionlog import SessionEvent, check_compaction, check_invariants
from tests.sessionlog import builders as make
from tests.sessionlog.builders import Record, replacing
from tests.sessionlog.strategies import json_of, logs, texts

START, STEP, CALL = make.turn_start(), make.step_start(), make.call("c1")
SYNTHETIC = make.result_data("c9", is_error=True)


def synthetic(code: str = "TOOL_NOT_STARTED", is_error: object = True) -> Record:
    block = {**SYNTHETIC["message"]["content"][0], "isError": is_error}
    return make.record(
        "tool/result",
        {**SYNTHETIC, "message": {**SYNTHETIC["message"], "content": [block]}, "error": {"name": "x", "code": code}},
        surfaceOp="append",
    )


GOOD: dict[str, list[Record]] = {
    "nothing": [],
    "two steps": make.two_steps(),
    "an open turn": [START],
    "an open step": [START, STEP],
    "an open call": [START, STEP, CALL],
    "a user's message anywhere": [make.user(), START, make.user(), make.turn_end(), make.user()],
    "an end-seed anywhere": [START, make.record("session/end-seed", {}), STEP],
    "turns from 1": [START, make.turn_end(), make.turn_start(2), make.turn_end(2)],
    "steps start again in a turn": [START, STEP, make.step_end(), make.turn_end(), make.turn_start(2), make.step_start(1, 2)],
    "a call that was never started": [START, STEP, make.asks("c9"), synthetic()],
    "1.0 is 1": [make.record("turn/start", {"turn": 1.0}), make.record("step/start", {"turn": 1, "step": 1.0}), CALL],
    "a rewrite between steps": [
        START,
        STEP,
        CALL,
        make.result("c1"),
        make.step_end(),
        make.result("c1", "x", op=replacing(3, 3), sourceEventSeqs=[3]),
    ],
    "types that relate to nothing": [make.record("plugin/x", None, ignorable=True), make.record("session/title", {})],
}


@pytest.mark.parametrize("records", GOOD.values(), ids=GOOD)
def test_good_logs(records: list[Record]) -> None:
    assert check_invariants(make.log(*records)) == []


BAD: dict[str, tuple[list[Record], int]] = {
    "the first turn is 2": ([make.turn_start(2)], 0),
    "the first turn is 0": ([make.turn_start(0)], 0),
    "a turn is left out": ([START, make.turn_end(), make.turn_start(3)], 2),
    "a turn comes twice": ([START, make.turn_end(), START], 2),
    "a turn in a turn": ([START, make.turn_start(2)], 1),
    "an end without a start": ([make.turn_end()], 0),
    "another turn ends": ([START, make.turn_end(2)], 1),
    "a turn ends twice": ([START, make.turn_end(), make.turn_end()], 2),
    "a turn ends over a step": ([START, STEP, make.turn_end()], 2),
    "a turn without a number": ([make.record("turn/start", {})], 0),
    "a turn that is true": ([make.record("turn/start", {"turn": True})], 0),
    "a turn that is text": ([make.record("turn/start", {"turn": "1"})], 0),
    "a step outside a turn": ([STEP], 0),
    "a step of another turn": ([START, make.step_start(1, 2)], 1),
    "the first step is 2": ([START, make.step_start(2)], 1),
    "a step is left out": ([START, STEP, make.step_end(), make.step_start(3)], 3),
    "a step comes twice": ([START, STEP, make.step_end(), STEP], 3),
    "a step in a step": ([START, STEP, make.step_start(2)], 2),
    "a step ends outside": ([START, make.step_end()], 1),
    "another step ends": ([START, STEP, make.step_end(2)], 2),
    "a step ends twice": ([START, STEP, make.step_end(), make.step_end()], 3),
    "a chunk outside a step": ([START, make.chunk("x")], 1),
    "a chunk of another step": ([START, STEP, make.chunk("x", 2)], 2),
    "a chunk of another turn": ([START, STEP, make.chunk("x", 1, 2)], 2),
    "an answer outside a step": ([START, make.says()], 1),
    "an answer after the step": ([START, STEP, make.step_end(), make.says()], 3),
    "an answer of another step": ([START, STEP, make.says(step=2)], 2),
    "a call outside a step": ([START, CALL], 1),
    "a call of another step": ([START, STEP, make.call("c1", 2)], 2),
    "a result of no call": ([START, STEP, make.asks("c1"), make.result("c1")], 3),
    "a result of another call": ([START, STEP, CALL, make.result("c2")], 3),
    "a result twice": ([START, STEP, CALL, make.result("c1"), make.result("c1")], 4),
    "a result in the next step": ([START, STEP, CALL, make.step_end(), make.step_start(2), make.result("c1", step=2)], 5),
    "a result outside a step": ([START, STEP, CALL, make.step_end(), make.result("c1")], 4),
    "another code": ([START, STEP, synthetic("TOOL_OUTCOME_UNKNOWN")], 2),
    "not started, but no error": ([START, STEP, synthetic(is_error=False)], 2),
    "not started, and isError is 1": ([START, STEP, synthetic(is_error=1)], 2),
    "not started, outside a step": ([START, synthetic()], 1),
    "a rewrite outside a turn": (
        [
            START,
            STEP,
            CALL,
            make.result("c1"),
            make.step_end(),
            make.turn_end(),
            make.result("c1", "x", op=replacing(3, 3), sourceEventSeqs=[3]),
        ],
        6,
    ),
    "a todo outside a turn": ([make.record("todo/write", {"todos": []})], 0),
    "a request header outside a turn": ([make.request_header()], 0),
    "a request context after the turn": ([START, make.turn_end(), make.record("request/context", {})], 2),
    "a call that is no object": ([START, STEP, make.record("tool/call", [])], 2),
    "a step that is no object": ([START, make.record("step/start", None)], 1),
}


@pytest.mark.parametrize(("records", "at"), BAD.values(), ids=BAD)
def test_each_rule_broken(records: list[Record], at: int) -> None:
    problems = check_invariants(make.log(*records))
    assert problems
    assert problems[0].seq == at
    assert problems[0].message


def test_seqs_grow_and_may_leave_gaps() -> None:
    assert check_invariants([*make.log(START), *make.log(STEP, first=7)]) == []
    assert [problem.seq for problem in check_invariants([*make.log(START, first=3), *make.log(STEP, first=3)])] == [3]
    assert check_invariants(list(reversed(make.log(make.user(), make.user()))))[0].seq == 0


@given(logs())
def test_every_log_of_the_strategy_is_good(records: list[Record]) -> None:
    assert check_invariants(make.log(*records)) == []
    assert check_compaction(make.log(*records)) == []


@given(logs(cut=False), st.data())
def test_a_bracket_that_is_taken_out_is_missed(records: list[Record], data: st.DataObject) -> None:
    brackets = [at for at, one in enumerate(records) if one["type"] in ("turn/start", "turn/end", "step/start", "step/end")]
    at = data.draw(st.sampled_from(brackets))
    events = make.log(*records)
    later = [event for event in events[at + 1 :] if event.type in ("turn/start", "step/start", "turn/end", "step/end")]
    problems = check_invariants(events[:at] + events[at + 1 :])
    assert bool(problems) == bool(later)
    assert all(problem.seq > at for problem in problems)


loose = st.fixed_dictionaries(
    {},
    optional={
        "turn": st.integers(0, 2) | st.none() | texts,
        "step": st.integers(0, 2) | st.just([]),
        "callId": texts | st.just([]) | st.just({}),
        "reason": texts | st.just({}),
        "compactionId": texts,
        "shadowedSeqs": st.lists(st.integers(0, 3), max_size=2),
        "error": st.integers(),
    },
)
KINDS = [
    "turn/start",
    "turn/end",
    "step/start",
    "step/end",
    "assistant/chunk",
    "tool/call",
    "todo/write",
    "compaction/start",
    "compaction/summary",
    "compaction/end",
    "session/end-seed",
]


@given(st.lists(st.tuples(st.sampled_from(KINDS), loose | json_of(st.none() | st.integers() | texts)), max_size=6))
def test_log_only_data_of_any_kind_gives_problems_and_no_error(records: list[tuple[str, Any]]) -> None:
    events = [
        SessionEvent.from_json({"type": kind, "seq": at, "time": 0, "data": data}) for at, (kind, data) in enumerate(records)
    ]
    for problem in [*check_invariants(events), *check_compaction(events)]:
        assert 0 <= problem.seq < len(events)


# Compaction brackets


def opens(id: object = "k1", turn: object = None, **more: object) -> Record:
    return make.record("compaction/start", {"compactionId": id, "turn": turn, "trigger": "manual", **more})


def sums(id: object = "k1", seqs: object = (0, 1), ends: object = None, tokens: object = 9, **more: object) -> Record:
    shadowed = list(seqs) if isinstance(seqs, tuple) else seqs
    span = {"start": shadowed[0], "end": shadowed[-1]} if ends is None and isinstance(shadowed, list) and shadowed else ends
    return make.record(
        "compaction/summary",
        {
            "compactionId": id,
            "summary": [],
            "shadowedRange": span,
            "shadowedSeqs": shadowed,
            "shadowedTokenCount": tokens,
            "provider": "p",
            "model": "m",
            **more,
        },
    )


def checkpoint(id: object = "k1") -> Record:
    return make.record(
        "user/message",
        make.user_data("sum", "m9", kind="plugin", plugin="compact", compactionId=id),
        surfaceOp=replacing(0, 1),
        sourceEventSeqs=[2, 3, 0, 1],
    )


def closes(id: object = "k1", turn: object = None, **more: object) -> Record:
    return make.record("compaction/end", {"compactionId": id, "turn": turn, **more})


TALK = [make.user(), make.says()]
SEED = make.record("session/end-seed", {})
GOOD_BRACKETS: dict[str, list[Record]] = {
    "whole": [*TALK, opens(), sums(), checkpoint(), closes()],
    "open": [*TALK, opens()],
    "failed": [*TALK, opens(), closes(error={"code": "summary"})],
    "failed after the summary": [*TALK, opens(), sums(), closes(error={})],
    "in a turn": [*TALK, START, opens(turn=1), sums(), checkpoint(), closes(turn=1), make.turn_end()],
    "stale: a turn may cross it": [*TALK, opens(), START, make.turn_end(), SEED],
    "stale, then another": [*TALK, opens(), SEED, opens("k2"), sums("k2"), closes("k2")],
    "with a command": [*TALK, opens(sourceCommandId="d"), sums(sourceCommandId="d"), closes(sourceCommandId="d")],
    "tokens spelled 9.0": [*TALK, opens(), sums(tokens=9.0), closes()],
    "another plug-in's replacement": [
        *TALK,
        make.record(
            "user/message",
            make.user_data("x", "m", kind="plugin", plugin="other"),
            surfaceOp=replacing(0, 1),
            sourceEventSeqs=[0, 1],
        ),
    ],
}


@pytest.mark.parametrize("records", GOOD_BRACKETS.values(), ids=GOOD_BRACKETS)
def test_good_brackets(records: list[Record]) -> None:
    assert check_compaction(make.log(*records)) == []


BAD_BRACKETS: dict[str, tuple[list[Record], int]] = {
    "an empty id": ([*TALK, opens("")], 2),
    "no id": ([*TALK, opens(None)], 2),
    "an id that is a number": ([*TALK, opens(1)], 2),
    "between turns, but it names one": ([*TALK, opens(turn=1)], 2),
    "in a turn, but it names none": ([*TALK, START, opens()], 3),
    "in turn 1, but it names 2": ([*TALK, START, opens(turn=2)], 3),
    "a second start": ([*TALK, opens(), opens("k2")], 3),
    "a summary without a start": ([*TALK, sums()], 2),
    "a summary of another": ([*TALK, opens(), sums("k2")], 3),
    "two summaries": ([*TALK, opens(), sums(), sums()], 4),
    "no shadowed seqs": ([*TALK, opens(), sums(seqs=[])], 3),
    "another range": ([*TALK, opens(), sums(ends={"start": 1, "end": 1})], 3),
    "no range": ([*TALK, opens(), sums(ends=0)], 3),
    "tokens below 0": ([*TALK, opens(), sums(tokens=-1)], 3),
    "tokens 1.5": ([*TALK, opens(), sums(tokens=1.5)], 3),
    "tokens true": ([*TALK, opens(), sums(tokens=True)], 3),
    "tokens 2**53": ([*TALK, opens(), sums(tokens=2**53)], 3),
    "an end without a start": ([*TALK, closes()], 2),
    "an end of another": ([*TALK, opens(), sums(), closes("k2")], 4),
    "an end without a summary": ([*TALK, opens(), closes()], 3),
    "an end of another owner": ([*TALK, opens(), sums(), closes(turn=1)], 4),
    "a checkpoint without a start": ([*TALK, make.user(), make.user(), checkpoint()], 4),
    "a checkpoint of another": ([*TALK, opens(), sums(), checkpoint("k2")], 4),
    "another command in the summary": ([*TALK, opens(sourceCommandId="d"), sums(sourceCommandId="e")], 3),
    "a command that went": ([*TALK, opens(sourceCommandId="d"), sums()], 3),
    "a command that came": ([*TALK, opens(), sums(), closes(sourceCommandId="d")], 4),
    "a turn starts across it": ([*TALK, opens(), START], 3),
    "a turn ends across it": ([*TALK, START, opens(turn=1), make.turn_end()], 4),
}


@pytest.mark.parametrize(("records", "at"), BAD_BRACKETS.values(), ids=BAD_BRACKETS)
def test_each_bracket_rule_broken(records: list[Record], at: int) -> None:
    problems = check_compaction(make.log(*records))
    assert problems
    assert problems[0].seq == at
