"""The projection units that come with the library, over the same events as everything else."""

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw

from labsupport.sessionlog import (
    SessionEvent,
    Unit,
    estimate_message,
    fold,
    interrupted_turn_closers,
    session_stats,
    surface_tokens,
    todo,
    tool_pairing,
    turn_status,
    units,
)
from labsupport.sessionlog.folding import fold_state
from labsupport.sessionlog.json_text import write_data
from tests.sessionlog import builders as make
from tests.sessionlog import oracle
from tests.sessionlog.builders import Record
from tests.sessionlog.strategies import json_of, logs, texts

UNITS = [turn_status, tool_pairing, session_stats, todo, surface_tokens]
each_unit = pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.key)


@each_unit
@settings(max_examples=40)
@given(logs(), st.data())
def test_prefix_then_rest_is_all_at_once(unit: Unit, records: list[Record], data: st.DataObject) -> None:
    events = make.log(*records)
    cut = data.draw(st.integers(0, len(events)))
    state = fold_state(unit, events[:cut])
    assert fold(unit, events[cut:], state) == fold(unit, events)


@each_unit
@settings(max_examples=40)
@given(logs())
def test_apply_is_pure_and_is_told_of_its_own_types_only(unit: Unit, records: list[Record]) -> None:
    state = unit.init()
    for event in make.log(*records):
        before = copy.deepcopy(state)
        once = unit.apply(state, event) if event.type in unit.event_types else state
        assert state == before, "the state that was given stays"
        if event.type in unit.event_types:
            assert unit.apply(before, event) == once
        state = once
    assert unit.view(state) == fold(unit, make.log(*records))


def test_other_types_are_passed_over_unread() -> None:
    seen: list[str] = []
    unit = Unit("seen", frozenset({"turn/start"}), lambda: 0, lambda state, event: seen.append(event.type) or state + 1)
    assert fold(unit, make.log(*make.two_steps())) == 1
    assert seen == ["turn/start"]


loose = st.fixed_dictionaries(
    {},
    optional={
        "turn": st.integers(0, 2) | texts,
        "step": st.integers(0, 2) | st.just([]),
        "callId": texts | st.just([]) | st.just("c1"),
        "name": st.integers(),
        "reason": texts | st.just({}),
        "chunk": texts
        | st.fixed_dictionaries(
            {}, optional={"type": st.sampled_from(["text-delta", "tool-call-delta"]), "text": st.integers() | texts}
        ),
        "error": st.integers(),
    },
)


@each_unit
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["turn/start", "turn/end", "step/start", "step/end", "assistant/chunk", "tool/call"]),
            loose | json_of(st.none() | st.integers() | texts),
        ),
        max_size=6,
    )
)
def test_log_only_data_of_any_kind_is_folded(unit: Unit, records: list[tuple[str, Any]]) -> None:
    events = [
        SessionEvent.from_json({"type": kind, "seq": at, "time": 0, "data": data}) for at, (kind, data) in enumerate(records)
    ]
    assert fold(unit, events) == fold(unit, events)


@each_unit
def test_blocks_usage_and_errors_of_any_kind_are_folded(unit: Unit) -> None:
    strange = make.says_data(None, 5, {"type": "tool-call"}, {"type": "tool-call", "id": []})
    records = [
        make.turn_start(),
        make.step_start(),
        make.chunk("x"),
        make.record("assistant/message", {**strange, "usage": 5}, surfaceOp="append"),
        make.asks("c1"),
        make.call("c1"),
        make.record("tool/result", {**make.result_data("c1"), "error": 5}, surfaceOp="append"),
    ]
    events = make.log(*records)
    assert unit.see(fold_state(unit, events)) == fold(unit, events)


# What they say


def test_turn_status() -> None:
    def status(*records: Record) -> Any:
        return fold(turn_status, make.log(*records))

    assert status() == {"turn": None, "step": None, "steps": 0, "status": "none"}
    assert status(make.turn_start()) == {"turn": 1, "step": None, "steps": 0, "status": "running"}
    assert status(make.turn_start(), make.step_start()) == {"turn": 1, "step": 1, "steps": 1, "status": "running"}
    assert status(*make.two_steps()) == {"turn": 1, "step": None, "steps": 2, "status": "completed"}
    assert status(make.turn_start(), make.turn_end(kind="aborted"))["status"] == "aborted"
    assert status(*make.two_steps(), make.turn_start(2)) == {"turn": 2, "step": None, "steps": 0, "status": "running"}
    cut = make.log(make.turn_start(), make.step_start())
    assert fold(turn_status, [*cut, *interrupted_turn_closers(cut)]) == {
        "turn": 1,
        "step": None,
        "steps": 1,
        "status": "interrupted",
    }


def test_tool_pairing() -> None:
    def pairing(*records: Record) -> Any:
        return fold(tool_pairing, make.log(*records))

    opening = [make.turn_start(), make.step_start(), make.asks("a", "b")]
    assert pairing(*opening)["calls"] == {
        "a": {"name": "read", "status": "requested"},
        "b": {"name": "read", "status": "requested"},
    }
    assert pairing(*opening, make.call("a"))["calls"]["a"]["status"] == "started"
    done = pairing(*opening, make.call("a"), make.result("a"))
    assert (done["calls"]["a"]["status"], done["succeeded"], done["failed"]) == ("succeeded", 1, 0)
    failed = make.record("tool/result", make.result_data("a", is_error=True), surfaceOp="append")
    assert (pairing(*opening, make.call("a"), failed)["calls"]["a"]["status"]) == "failed"
    cut = make.log(*opening, make.call("b"))
    recovered = fold(tool_pairing, [*cut, *interrupted_turn_closers(cut)])
    assert {name: one["status"] for name, one in recovered["calls"].items()} == {"a": "failed", "b": "unknown"}
    assert (recovered["failed"], recovered["unknown"]) == (1, 1)
    again = [*make.two_steps(), make.turn_start(2)]
    assert pairing(*again) == {"calls": {}, "succeeded": 2, "failed": 0, "unknown": 0}


def test_a_rewritten_result_counts_once() -> None:
    records = [
        make.turn_start(),
        make.step_start(),
        make.asks("a"),
        make.call("a"),
        make.result("a"),
        make.result("a", "short", op=make.replacing(4, 4), sourceEventSeqs=[4]),
    ]
    assert fold(tool_pairing, make.log(*records))["succeeded"] == 1


def test_todo_is_the_latest_list_whole() -> None:
    first = [{"content": "count", "status": "pending"}]
    second = [{"content": "预算 🙂", "status": "done"}, {"content": "\ud83d"}]

    def todos(*records: Record) -> Any:
        return fold(todo, make.log(*records))

    assert todos() is None
    assert todos(make.turn_start(), make.record("todo/write", {"todos": first})) == first
    assert todos(make.record("todo/write", {"todos": first}), make.record("todo/write", {"todos": second})) == second
    assert todos(make.record("todo/write", {"todos": first}), make.record("todo/write", {"todos": []})) == []
    assert todos(make.record("todo/write", 5)) is None


@settings(max_examples=60)
@given(logs(turns=3))
def test_surface_tokens_are_the_sum_over_the_surface_from_scratch_at_every_seq(records: list[Record]) -> None:
    events, state = make.log(*records), surface_tokens.init()
    for event in events:
        state = fold_state(surface_tokens, [event], state)
        assert surface_tokens.view(state) == tokens_of(make.plain(events[:event.seq + 1]))


def tokens_of(events: list[Record]) -> Record:
    """The surface and its messages as the oracle has them, with the estimate of each."""
    return {"tokens": sum(map(estimate_message, oracle.derive(events))), "nodes": len(oracle.surface(events))}


@pytest.mark.parametrize("count", [255, 256, 257, 600])
@pytest.mark.parametrize(("first", "last"), [(0, 0), (0, -1), (250, 254), (254, -1), (1, -2)])
def test_surface_tokens_of_a_long_surface_with_a_replacement_anywhere(count: int, first: int, last: int) -> None:
    """Longer than a page of the state: replacements within a page, over its edge, of everything, and appends behind them."""
    nodes = list(range(count))[first:None if last == -1 else last + 1]
    records = [make.user("x" * (at % 7)) for at in range(count)]
    summary = make.user("in short", op=make.replacing(nodes[0], nodes[-1]), sourceEventSeqs=nodes)
    again = make.user("shorter", op=make.replacing(count, count), sourceEventSeqs=[count])
    events = make.log(*records, summary, make.user("more"), again, *[make.user("and more")] * 300)
    for stop in (count, count + 1, count + 2, count + 3, len(events)):
        assert fold(surface_tokens, events[:stop]) == tokens_of(make.plain(events[:stop]))


def test_an_answer_without_content_is_a_node_that_costs_nothing() -> None:
    empty = make.record("assistant/message", make.says_data(), surfaceOp="append")
    assert fold(surface_tokens, make.log(empty)) == {"tokens": 0, "nodes": 1}


def test_surface_tokens_passes_over_a_replacement_that_no_surface_has() -> None:
    events = make.log(make.user("a"), make.user("b", op=make.replacing(7, 8), sourceEventSeqs=[0]))
    state = fold_state(surface_tokens, events[:1])
    assert surface_tokens.apply(state, events[1]) is state


def test_what_changes_nothing_gives_the_same_object() -> None:
    """The registry's feed hangs on it: a rewritten result, an answer without calls, a turn after one without calls."""
    events = make.log(*make.two_steps(), make.turn_start(2), make.turn_end(2), make.turn_start(3))
    state = fold_state(tool_pairing, events[:9])
    assert tool_pairing.apply(state, make.log(make.result("nobody's"))[0]) is state
    assert tool_pairing.apply(state, make.log(make.says("words"))[0]) is state
    empty = fold_state(tool_pairing, events[:-1])
    assert tool_pairing.apply(empty, events[-1]) is empty
    answered = fold_state(tool_pairing, events[:10])
    assert tool_pairing.apply(answered, make.log(make.result("c1", "short"))[0]) is answered


def at(time: int, one: Record) -> Record:
    return {**one, "time": time}


def stats(*records: Record) -> Any:
    return fold(session_stats, [SessionEvent.from_json({"seq": seq, **one}) for seq, one in enumerate(records)])


def answered(time: int, tokens: object = 40, step: int = 1) -> Record:
    return at(
        time,
        make.record(
            "assistant/message",
            {**make.says_data(make.text_block("x"), step=step), "usage": {"inputTokens": 1, "outputTokens": tokens}},
            surfaceOp="append",
        ),
    )


ZERO = {"turns": 0, "steps": 0, "llmMs": 0, "toolMs": 0, "ttftMs": 0, "ttftSteps": 0, "decodeMs": 0, "decodeTokens": 0}


def test_session_stats_of_one_step() -> None:
    records = [
        at(0, make.turn_start()),
        at(10, make.step_start()),
        at(30, make.chunk("")),
        at(40, make.chunk("x")),
        at(50, make.chunk("y")),
        answered(100),
        at(110, make.call("a")),
        at(150, make.result("a")),
        at(160, make.step_end()),
        at(170, make.turn_end()),
    ]
    assert stats(*records) == {
        "turns": 1,
        "steps": 1,
        "llmMs": 90,
        "toolMs": 40,
        "ttftMs": 30,
        "ttftSteps": 1,
        "decodeMs": 60,
        "decodeTokens": 40,
    }
    assert stats() == ZERO


def test_session_stats_edges() -> None:
    opening = [at(0, make.turn_start()), at(10, make.step_start())]
    assert stats(*opening, answered(100))["decodeTokens"] == 0, "no first token, no decode"
    assert stats(*opening, at(40, make.chunk("x")), answered(20))["llmMs"] == 10
    assert stats(*opening, at(40, make.chunk("x")), answered(20))["decodeMs"] == 0, "times that step back count as 0"
    assert stats(*opening, answered(5))["llmMs"] == 0
    assert stats(*opening, at(40, make.chunk("x", step=2)), answered(100))["ttftSteps"] == 0, "another step's chunk"
    assert (
        stats(*opening, at(20, make.call_chunk("")), at(40, make.call_chunk("", name="read")), answered(100))["ttftMs"] == 30
    ), "a name is a token"
    assert stats(*opening, at(40, make.chunk("x")), answered(100, "many"))["decodeMs"] == 0
    assert stats(*opening, at(20, make.call("a")), at(30, make.turn_end()), at(99, make.result("a")))["toolMs"] == 0, (
        "calls drop at the turn's end"
    )
    assert stats(at(0, make.call("a")), at(5, make.result("a")), at(9, make.result("a")))["toolMs"] == 5


HOSTILE = [
    {"type": "tool-call"}, {"type": "tool-call", "id": 5, "name": "n"}, {"type": "tool-call", "id": "a"}, "text", None,
    {"type": "tool-call", "id": "b", "name": None}, {"type": "tool-call", "id": "c", "name": {"odd": 1}}, {"id": "d"},
    {"type": "tool-call", "id": "e\ud83d", "name": "n", "isError": 1},
]


@pytest.mark.parametrize("block", HOSTILE, ids=ascii)
@pytest.mark.parametrize("error", [None, 5, {"code": "TOOL_OUTCOME_UNKNOWN"}, {"code": None}, {"code": ["x"]}], ids=str)
def test_the_quick_readers_of_tool_pairing_see_what_the_slow_ones_see(block: Any, error: Any,
                                                                      monkeypatch: pytest.MonkeyPatch) -> None:
    def event(seq: int, kind: str, data: Any) -> SessionEvent:
        return SessionEvent(kind, seq, 0, Raw(write_data(data)))

    content = [{"type": "tool-result", "isError": block == HOSTILE[2]}, block]
    result = {"message": {"source": {"callId": "a"}, "content": content}, "error": error}
    log = [event(0, "turn/start", {"turn": 1}), event(1, "assistant/message", {"message": {"content": [block], "source": {}}}),
           event(2, "tool/call", {"callId": "a", "name": block}), event(3, "tool/call", {"callId": block, "name": "n"}),
           event(4, "tool/result", result)]
    quick = fold(tool_pairing, log)
    monkeypatch.setattr(units, "_quickly", lambda read, event: None)
    assert quick == fold(tool_pairing, log)
