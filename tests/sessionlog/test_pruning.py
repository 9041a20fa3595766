"""Pruning: which characters stay, what else stays, and that a second time changes nothing, in memory and after a restart."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labsupport.errors import EventError
from labsupport.lossless import joined
from labsupport.sessionlog import (
    PruneConfig,
    Session,
    check_invariants,
    estimate_message,
    fold_surface,
    prune_content,
    replay,
    to_json,
)
from labsupport.sessionlog.pruning import MARKER, prune_session
from labsupport.sessionlog.storage import JsonlStore, flush
from tests.sessionlog import builders as make
from tests.sessionlog.builders import Record
from tests.sessionlog.compacting import lawful, session_of
from tests.sessionlog.stores import Kind
from tests.sessionlog.strategies import texts, values

SMALL = PruneConfig(60, 12, 5)


def is_text(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)


def expected(content: list[Any], config: PruneConfig) -> list[Any] | None:
    """What is left of *content*, decided character by character."""
    size = sum(len(joined(block["text"])) for block in content if is_text(block))
    if size <= config.threshold_chars:
        return None
    left, at, marked = [], 0, False
    for block in content:
        if not is_text(block):
            left.append(block)
            continue
        kept = ""
        for sign in joined(block["text"]):
            if at < config.head_chars or at >= size - config.tail_chars:
                kept += sign
            elif not marked:
                kept, marked = kept + MARKER, True
            at += 1
        if kept:
            left.append({**block, "text": kept})
    return left


@st.composite
def configs(draw: st.DrawFn) -> PruneConfig:
    head, tail = draw(st.integers(0, 30)), draw(st.integers(0, 30))
    return PruneConfig(head + tail + len(MARKER) + draw(st.integers(0, 20)), head, tail)


pieces = texts | st.integers(0, 90).map(lambda length: ("预a🙂b" * 30)[:length]) | st.just("\ud83d\ude42" * 9)
contents = st.lists(
    st.builds(lambda text, more: {**more, "type": "text", "text": text}, pieces, st.just({}) | st.just({"cache": [1]}))
    | st.builds(lambda value: {"type": "image", "data": value}, values)
    | st.just({"type": "text"}) | st.just({"type": "text", "text": 7}) | st.just("x" * 100),
    max_size=5,
)


@given(contents, configs())
def test_head_marker_and_tail_are_left_and_whatever_is_no_text(content, config):
    pruned = prune_content(content, config)
    assert pruned == expected(content, config)
    if pruned is not None:
        said = "".join(joined(block["text"]) for block in content if is_text(block))
        left = "".join(block["text"] for block in pruned if is_text(block))
        assert left == said[:config.head_chars] + MARKER + (said[-config.tail_chars:] if config.tail_chars else "")
        assert len(left) <= config.threshold_chars
        assert prune_content(pruned, config) is None


@given(contents, configs())
def test_what_was_pruned_is_never_pruned_again_also_as_it_is_read_from_a_log(content, config):
    pruned = prune_content(content, config)
    if pruned is not None:
        logged = Session.create("s1").append("plugin/x", pruned, ignorable=True).read()
        assert prune_content(logged, config) is None


def test_the_marker_has_the_length_that_the_defaults_count_with():
    assert len(MARKER) == 39
    config = PruneConfig()
    assert (config.threshold_chars, config.head_chars, config.tail_chars) == (8192, 4096, 1024)
    at_the_limit, above = "x" * 8192, "x" * 8193
    assert prune_content([make.text_block(at_the_limit)], config) is None
    assert prune_content([make.text_block(above)], config) == [make.text_block("x" * 4096 + MARKER + "x" * 1024)]


def test_an_emoji_is_one_character_and_never_cut():
    pruned = prune_content([make.text_block("🙂" * 100)], PruneConfig(50, 1, 1))
    assert pruned == [make.text_block("🙂" + MARKER + "🙂")]
    halves = "\ud83d\ude42" * 100
    assert prune_content([make.text_block(halves)], PruneConfig(50, 1, 1)) == pruned


def test_texts_of_which_nothing_is_left_go_and_empty_ones_stay_while_nothing_is_pruned():
    short = [make.text_block(""), make.text_block("x")]
    assert prune_content(short, SMALL) is None
    image = {"type": "image", "data": "…"}
    long = [make.text_block(""), make.text_block("a" * 12), image, make.text_block("b" * 50), make.text_block("c" * 5)]
    assert prune_content(long, SMALL) == [make.text_block("a" * 12), image, make.text_block(MARKER), make.text_block("c" * 5)]


@pytest.mark.parametrize(("sizes", "where"), [
    ((0, 0, 0), "threshold_chars"), ((-1, 0, 0), "threshold_chars"), ((True, 0, 0), "threshold_chars"),
    ((38, 0, 0), "threshold_chars"), ((100, 60, 2), "threshold_chars"), ((100, -1, 0), "head_chars"),
    ((100, 0, -1), "tail_chars"), ((100.0, 0, 0), "threshold_chars"), ((100, "1", 0), "head_chars"),
    ((100, 0, None), "tail_chars"),
], ids=str)
def test_a_config_that_would_prune_what_it_pruned_is_refused(sizes, where):
    with pytest.raises(EventError, match=where):
        PruneConfig(*sizes)


def test_nothing_but_the_marker_is_a_config():
    assert prune_content([make.text_block("x" * 40)], PruneConfig(39, 0, 0)) == [make.text_block(MARKER)]


# A session


def task(*results: str) -> list[Record]:
    """An open turn with one step, in which each call has one of the *results*."""
    ids = [f"c{at}" for at in range(len(results))]
    records = [make.turn_start(), make.step_start(), make.user("read them"), make.asks(*ids)]
    for id, text in zip(ids, results, strict=True):
        seq = len(records)
        records += [make.call(id), make.result(id, text, sourceEventSeqs=[seq])]
    return records


def test_a_long_result_costs_two_events_and_the_log_keeps_it_whole():
    whole = "a" * 50 + "b" * 50
    session = session_of(*task("short", whole, "x" * 60))
    before = make.plain(session.events)
    assert prune_session(session, SMALL) == [7]
    plain = make.plain(session.events)
    assert plain[:len(before)] == before
    note, result = plain[len(before):]
    old = before[7]
    assert (note["type"], note["data"]) == ("compaction/prune", {
        "shadowedRange": {"start": 7, "end": 7}, "shadowedSeqs": [7],
        "shadowedTokenCount": estimate_message(old["data"]["message"])})
    assert (result["surfaceOp"], result["sourceEventSeqs"]) == (make.replacing(7, 7), [7])
    block = result["data"]["message"]["content"][0]
    assert block["content"] == [make.text_block("a" * 12 + MARKER + "b" * 5)]
    block["content"] = old["data"]["message"]["content"][0]["content"]
    assert result["data"] == old["data"], "all else is as it was"
    assert list(session.surface.nodes) == [2, 3, 5, len(before) + 1, 9]
    lawful(session)
    make.append(session, make.step_end())
    make.append(session, make.turn_end())
    assert check_invariants(session.events) == []


def test_whatever_else_a_result_has_stays():
    data = make.result_data("c1", "x" * 100, is_error=True)
    block = data["message"]["content"][0]
    block |= {"more": [1.5, None]}
    block["content"] = [{**block["content"][0], "cache": True}, {"type": "attachment", "ref": "attachment:1f"}]
    data |= {"error": {"name": "E", "code": "BROKEN"}, "meta": {"ms": 3}}
    session = session_of(*task()[:3], make.asks("c1"), make.call("c1"), make.record("tool/result", data, surfaceOp="append"))
    seq, = prune_session(session, SMALL)
    assert seq == 5
    kept = session.events[-1].read()
    kept_block = kept["message"]["content"][0]
    assert kept_block["content"][0].pop("text") == "x" * 12 + MARKER + "x" * 5
    assert kept_block["content"] == [{"type": "text", "cache": True}, {"type": "attachment", "ref": "attachment:1f"}]
    assert {**kept, "message": None} == {**data, "message": None}
    assert {**kept_block, "content": None} == {**block, "content": None}


@given(st.lists(st.integers(0, 150), max_size=6), configs())
def test_a_second_time_changes_nothing_nor_does_one_on_a_replay(lengths, config):
    session = session_of(*task(*("x" * length for length in lengths)))
    pruned = prune_session(session, config)
    assert len(pruned) == sum(length > config.threshold_chars for length in lengths)
    after = make.plain(session.events)
    again = replay(session.events)
    assert prune_session(session, config) == prune_session(again, config) == []
    assert make.plain(session.events) == after == make.plain(again.events)[:-1]
    lawful(session)


def test_b68_after_a_restart_nothing_is_pruned_again(kind: Kind, folder):
    store = kind.open(folder)
    session = Session.create("s1")
    writer = store.attach(session)
    for one in [*task("Z" * 400, "short"), make.step_end()]:
        make.append(session, one)
    assert prune_session(session, SMALL) == [5]
    make.append(session, make.turn_end())
    writer.close()
    session = kind.open(folder).load("s1").session()
    length = len(session.events)
    assert prune_session(session, SMALL) == []
    assert len(session.events) == length
    assert "Z" * 400 in str(to_json(session.events[5])), "it can be read again"


def test_b67_pruning_appends_to_the_file(tmp_path):
    store = JsonlStore(tmp_path)
    session = Session.create("s1")
    writer = store.attach(session)
    for one in task("Z" * 400):
        make.append(session, one)
    flush(session)
    before = store.path("s1").read_bytes()
    prune_session(session, SMALL)
    writer.close()
    after = store.path("s1").read_bytes()
    assert after.startswith(before)
    assert len(after) > len(before)


def test_what_is_spared_or_shadowed_is_left():
    more = [make.asks("d1", "d2"), make.call("d1"), make.result("d1", "y" * 100), make.call("d2"), make.result("d2", "z" * 100)]
    session = session_of(*task("x" * 100), *more)
    session.append("user/message", make.user_data("sum"), make.replacing(2, 5), [2, 3, 5])
    assert prune_session(session, SMALL, spare=[8]) == [10]
    assert prune_session(session, SMALL) == [8]
    lawful(session)


def test_a_pruned_result_is_pruned_further_by_a_smaller_config_and_keeps_one_place():
    session = session_of(*task("x" * 1000))
    assert prune_session(session, PruneConfig(500, 200, 200)) == [5]
    assert prune_session(session, SMALL) == [7]
    assert [one.shadowed_seqs for one in fold_surface(session.events).replacements] == [(5,), (7,)]
    assert len(session.surface.nodes) == 3
    lawful(session)


def test_results_of_other_shapes_are_left_alone():
    deep: Any = {"type": "text", "text": "x" * 100}
    for _ in range(2_000):
        deep = {"type": "tool-result", "toolCallId": "i", "content": [deep]}
    data = make.result_data("c0")
    data["message"]["content"][0]["content"] = [deep, make.text_block("\ud83d" * 59)]
    session = session_of(*task()[:3], make.asks("c0"), make.call("c0"), make.record("tool/result", data, surfaceOp="append"))
    assert prune_session(session, SMALL) == []
    data["message"]["content"][0]["content"].append(make.text_block("yy"))
    make.append(session, make.record("tool/result", data, surfaceOp=make.replacing(5, 5), sourceEventSeqs=[5]))
    assert prune_session(session, SMALL) == [6]
    left = session.events[-1].read()["message"]["content"][0]["content"]
    assert [block["text"] for block in left[1:]] == ["\ud83d" * 12 + MARKER + "\ud83d" * 3, "yy"]
