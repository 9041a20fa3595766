"""The report of a compaction: six answers, each with its events, the same from the live session, a replay and both stores."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labsupport.errors import CompactionError
from labsupport.sessionlog import Session, estimate_message, fold_surface, replay
from labsupport.sessionlog.compaction import compact
from labsupport.sessionlog.compaction_report import Answer, CompactionReport, compaction_ids, compaction_report
from labsupport.sessionlog.summarizers import ScriptedSummarizer
from tests.sessionlog import builders as make
from tests.sessionlog.compacting import LONG, Summarizing, refusal, report, session_of, surfaces, talk
from tests.sessionlog.stores import Kind


def test_the_six_answers_and_the_events_that_give_them():
    session = talk("first", LONG, LONG, "last")
    usage = {"inputTokens": 5}

    class Late(ScriptedSummarizer):
        def summarize(self, messages: Any) -> Any:
            make.append(session, make.user("late", "late"))
            return super().summarize(messages)

    compact(session, 1, 2, Late(["the plan is X"], "acme", "sum-2", {"usage": usage, "rawOutput": "never reported"}))
    cost = sum(estimate_message(session.message(seq)) for seq in (1, 2))
    told = report(session)
    assert told == CompactionReport(
        "compaction-4",
        why=Answer("manual", (4,)),
        positions=Answer([1, 2], (6,)),
        nodes=Answer({"count": 2, "tokens": cost}, (1, 2)),
        writer=Answer({"provider": "acme", "model": "sum-2", "usage": usage}, (6,)),
        state=Answer({"state": "replaced", "stale": False}, (4, 7, 8)),
        arrived=Answer({"5": True}, (5,)))
    assert "the plan is X" not in str(told)
    assert "late" not in str(told)


def test_a_second_one_that_covers_the_first_has_positions_of_its_own_time():
    session = talk(LONG, LONG, LONG, "d")
    compact(session, 0, 1, Summarizing())
    compact(session, 6, 2, Summarizing())
    first, second = (compaction_report(session.events, id) for id in compaction_ids(session.events))
    assert (first.positions.value, first.nodes.seqs) == ([0, 1], (0, 1))
    assert (second.positions.value, second.nodes.seqs) == ([0, 1], (6, 2))
    assert second.state.value == {"state": "replaced", "stale": False}


def test_what_arrived_and_was_replaced_before_the_end_is_told_as_gone():
    session = talk(LONG, LONG, "c")

    def work(messages: Any) -> str:
        make.append(session, make.user("late", "late"))
        make.append(session, make.user("better", "b", make.replacing(4, 4), sourceEventSeqs=[4]))
        return "short"

    compact(session, 0, 1, Summarizing(work))
    assert report(session).arrived == Answer({"4": False, "5": True}, (4, 5))


def test_what_came_after_the_end_is_no_part_of_it():
    session = talk(LONG, LONG, "c")
    compact(session, 0, 1, Summarizing(lambda messages: make.append(session, make.user(LONG, "late")) and "short"))
    before = report(session)
    assert before.arrived.value == {"4": True}
    make.append(session, make.user("later"))
    compact(session, 6, 4, Summarizing())
    assert compaction_report(session.events, "compaction-3") == before
    assert compaction_report(replay(session.events).events, "compaction-3") == before


def test_an_id_that_the_log_does_not_have():
    session = talk(LONG, LONG)
    compact(session, 0, 1, Summarizing())
    error = refusal(lambda: compaction_report(session.events, "compaction-9"))
    assert error.code == "range"
    assert "compaction-9" in str(error)
    assert compaction_ids(session.events) == ["compaction-2"]
    assert compaction_ids([]) == []


outcomes = st.sampled_from(["ok", "fails", "too long", "late", "changed", "automatic changed"])


def one(session: Session, how: str, data: st.DataObject) -> None:
    """Try a compaction of *session* that goes as *how* says."""
    nodes = session.surface.nodes
    first = data.draw(st.integers(0, len(nodes) - 1))
    last = data.draw(st.integers(first, len(nodes) - 1))

    def work(messages: Any) -> str:
        if how == "fails":
            raise TimeoutError
        if how in ("late", "automatic changed"):
            make.append(session, make.user("late", "late"))
        if how == "changed":
            gone = nodes[first]
            make.append(session, make.user("e", "e", make.replacing(gone, gone), sourceEventSeqs=[gone]))
        return LONG * 20 if how == "too long" else "short"

    with suppress(CompactionError):
        compact(session, nodes[first], nodes[last], Summarizing(work),
                trigger="pressure" if how == "automatic changed" else "manual")


@given(st.lists(outcomes, min_size=1, max_size=4), st.data())
def test_a_replay_gives_the_report_of_the_live_session(hows, data):
    session = talk(LONG, "b", LONG, "d", LONG)
    for how in hows:
        one(session, how, data)
        ids = compaction_ids(session.events)
        again = replay(session.events)
        assert [compaction_report(session.events, id) for id in ids] == [compaction_report(again.events, id) for id in ids]
    assert len(ids) == len(set(ids)) == len(hows)
    folded = {made.seq: made for made in fold_surface(session.events).replacements}
    for id in ids:
        told = compaction_report(session.events, id)
        if told.state.value["state"] == "replaced":
            made = folded[told.state.seqs[1]]
            assert made.shadowed_seqs == told.nodes.seqs
            before = list(fold_surface(session.events[:told.why.seqs[0]]).nodes)
            first, last = told.positions.value
            assert tuple(before[first:last + 1]) == told.nodes.seqs
        else:
            assert told.state.value["error"] in ("summary", "changed")


def test_a_log_that_was_stored_and_loaded_gives_the_same_reports(kind: Kind, folder):
    session = Session.create("s1")
    writer = kind.open(folder).attach(session)
    for at in range(6):
        make.append(session, make.user(LONG, f"u{at}"))
    for start, end, work in [(0, 1, lambda messages: "short"), (2, 3, lambda messages: LONG * 9), (2, 3, lambda messages: "s"),
                             (4, 5, lambda messages: make.append(session, make.user("late", "late")) and "s")]:
        with suppress(CompactionError):  # one of them fails
            compact(session, start, end, Summarizing(work), command_id="cmd")
    writer.close()
    loaded = kind.open(folder).load("s1").session()
    ids = compaction_ids(session.events)
    assert len(ids) == 4
    assert compaction_ids(loaded.events) == ids
    assert [compaction_report(loaded.events, id) for id in ids] == [compaction_report(session.events, id) for id in ids]


@pytest.mark.parametrize("behind", [1, 2, 3])
def test_a_bracket_that_a_death_left_open_is_told_as_it_stands(behind, kind: Kind, folder):
    """The process dies behind the first, second or third event of the bracket; all that it flushed is there."""
    session = talk(LONG, LONG, "c")
    compact(session, 0, 1, Summarizing())
    store = kind.open(folder)
    make.stored(store, *make.plain(session.events)[:3 + behind])
    left = compaction_report(store.read_from("s1", 0), "compaction-3")
    assert left.state.value == {"state": "open and replaced" if behind == 3 else "open", "stale": False}
    assert left.why == Answer("manual", (3,))
    assert (left.nodes.seqs, left.positions.value) == (((0, 1), [0, 1]) if behind > 1 else ((), None))
    resumed = store.load("s1").session()
    told = report(resumed)
    assert told.state.value == {**left.state.value, "stale": True}
    assert (told.why, told.nodes, told.positions, told.writer) == (left.why, left.nodes, left.positions, left.writer)
    make.append(resumed, make.user("later"))
    assert report(resumed) == told, "what comes after the resume is not of this bracket"


@given(surfaces())
def test_the_positions_are_those_at_the_start(session):
    nodes = list(session.surface.nodes)
    earlier = len(compaction_ids(session.events))
    made = None
    with suppress(CompactionError):
        made = compact(session, nodes[0], nodes[-1], Summarizing()) if nodes else None
    if made is not None:
        told = compaction_report(session.events, made.id)
        assert told.positions == Answer([0, len(nodes) - 1], (made.summary_seq,))
        assert told.nodes == Answer({"count": len(nodes), "tokens": made.shadowed_tokens}, tuple(nodes))
        assert len(compaction_ids(session.events)) == earlier + 1


# Logs of other writers: nothing checks the data of an event that is only logged


@pytest.mark.parametrize("said", [
    None, [], "x", {}, {"shadowedRange": None}, {"shadowedSeqs": None, "shadowedTokenCount": 1},
    {"shadowedSeqs": [9], "shadowedTokenCount": 1, "shadowedRange": {"start": 9, "end": 9}},
    {"shadowedSeqs": [0], "shadowedTokenCount": 1, "shadowedRange": {"start": []}},
    {"shadowedSeqs": [{}], "shadowedTokenCount": 1, "shadowedRange": [0, 0]}, {"shadowedSeqs": 7, "shadowedRange": 7},
], ids=str)
def test_a_summary_of_another_writer_has_a_report_as_far_as_it_says_something(said):
    if isinstance(said, dict):
        said = {"compactionId": "x", **said}
    named = {"compactionId": "x", "turn": None}
    session = session_of(make.user("a"), make.record("compaction/start", named), make.record("compaction/summary", said),
                         make.record("compaction/end", {**named, "error": {}}))
    told = report(session)
    assert told.why == Answer(None, (1,))
    assert told.state.value["state"] == "failed"
    assert told.positions.value is None


@pytest.mark.parametrize("data", [None, [1], {}, {"compactionId": 5}, {"compactionId": None}, {"compactionId": []}], ids=str)
def test_a_start_without_an_id_has_none(data):
    session = session_of(make.record("compaction/start", data))
    assert compaction_ids(session.events) == []
