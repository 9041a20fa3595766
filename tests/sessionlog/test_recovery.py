"""What closes a turn that was interrupted, and what it never claims."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labsupport.sessionlog import Session, SessionEvent, check_invariants, interrupted_turn_closers
from labsupport.sessionlog.recovery import WORDS
from labsupport.sessionlog.storage import scan_log
from tests.sessionlog import builders as make
from tests.sessionlog import oracle
from tests.sessionlog.builders import Record
from tests.sessionlog.strategies import logs


def closed(*records: Record) -> list[tuple[str, Any]]:
    return [oracle.told(one) for one in make.plain(interrupted_turn_closers(make.log(*records)))]


OPEN = [make.turn_start(), make.step_start()]
END = [("step/end", 1), ("turn/end", "interrupted")]
UNKNOWN, NOT_STARTED = "TOOL_OUTCOME_UNKNOWN", "TOOL_NOT_STARTED"

CASES: dict[str, tuple[list[Record], list[tuple[str, Any]]]] = {
    "nothing": ([], []),
    "no turn": ([make.user()], []),
    "a turn that ended": ([make.turn_start(), make.turn_end()], []),
    "a turn alone": ([make.turn_start()], [END[1]]),
    "a step alone": (OPEN, END),
    "between steps": ([*OPEN, make.step_end()], [END[1]]),
    "in the second turn": ([make.turn_start(), make.turn_end(), make.turn_start(2)], [END[1]]),
    "asked for, not started": ([*OPEN, make.asks("a")], [("tool/result", ("a", NOT_STARTED)), *END]),
    "started, not answered": ([*OPEN, make.asks("a"), make.call("a")], [("tool/result", ("a", UNKNOWN)), *END]),
    "answered": ([*OPEN, make.asks("a"), make.call("a"), make.result("a")], END),
    "answered without a start": ([*OPEN, make.asks("a"), make.result("a")], END),
    "a batch in the order asked, not in the order started": (
        [*OPEN, make.asks("a", "b", "c"), make.call("c"), make.call("a"), make.result("a")],
        [("tool/result", ("b", NOT_STARTED)), ("tool/result", ("c", UNKNOWN)), *END],
    ),
    "a start that nobody asked for": ([*OPEN, make.call("x")], END),
    "a step that ended with an open call": ([*OPEN, make.asks("a"), make.call("a"), make.step_end()], [END[1]]),
    "asked again after its start": (
        [*OPEN, make.asks("a", "b"), make.call("a"), make.asks("a")],
        [("tool/result", ("a", NOT_STARTED)), ("tool/result", ("b", NOT_STARTED)), *END],
    ),
    "asked again after its answer": (
        [*OPEN, make.asks("a", "b"), make.call("a"), make.result("a"), make.asks("a")],
        [("tool/result", ("b", NOT_STARTED)), ("tool/result", ("a", NOT_STARTED)), *END],
    ),
    "a rewrite answers as well": (
        [
            *OPEN,
            make.asks("a"),
            make.call("a"),
            make.result("a"),
            make.asks("a"),
            make.result("a", "x", op=make.replacing(4, 4), sourceEventSeqs=[4]),
        ],
        END,
    ),
    "the same id twice in one answer": ([*OPEN, make.asks("a", "a"), make.call("a")], [("tool/result", ("a", UNKNOWN)), *END]),
    "a message outside a step": ([make.turn_start(), make.asks("a")], [("tool/result", ("a", NOT_STARTED)), END[1]]),
    "a compaction that is open": (
        [make.turn_start(), make.record("compaction/start", {"compactionId": "k", "turn": 1})],
        [END[1]],
    ),
    "blocks that are no calls": (
        [
            *OPEN,
            make.record(
                "assistant/message",
                make.says_data(None, 5, {"type": "tool-call"}, {"type": "tool-call", "id": []}),
                surfaceOp="append",
            ),
        ],
        END,
    ),
    "a call whose id is no string": (
        [*OPEN, make.asks("a"), make.record("tool/call", {"callId": ["a"]})],
        [("tool/result", ("a", NOT_STARTED)), *END],
    ),
    "log-only data of any kind": ([*OPEN, make.record("tool/call", None), make.record("step/end", [])], [END[1]]),
}


@pytest.mark.parametrize(("records", "added"), CASES.values(), ids=CASES)
def test_what_closes_a_turn(records: list[Record], added: list[tuple[str, Any]]) -> None:
    assert closed(*records) == added


def test_a_closer_in_full() -> None:
    events = make.log(*OPEN, make.asks("a", "b"), make.call("b"))
    not_started, unknown, step, turn = make.plain(interrupted_turn_closers(events))
    text = [make.text_block(WORDS[NOT_STARTED])]
    assert not_started == {
        "type": "tool/result",
        "seq": 4,
        "time": 1003,
        "surfaceOp": "append",
        "data": {
            "turn": 1,
            "step": 1,
            "error": {"name": "ToolNotStartedError", "code": NOT_STARTED},
            "message": {
                "id": "interrupted-tool-result-a-4",
                "role": "user",
                "source": {"kind": "tool", "callId": "a"},
                "content": [{"type": "tool-result", "toolCallId": "a", "isError": True, "content": text}],
            },
        },
    }
    assert unknown["sourceEventSeqs"] == [3]
    assert unknown["data"]["message"]["id"] == "interrupted-tool-result-b-5"
    assert unknown["data"]["error"] == {"name": "ToolOutcomeUnknownError", "code": UNKNOWN}
    assert step == {"type": "step/end", "seq": 6, "time": 1003, "data": {"turn": 1, "step": 1}}
    assert turn == {"type": "turn/end", "seq": 7, "time": 1003, "data": {"turn": 1, "reason": {"kind": "interrupted"}}}


def test_the_words_claim_nothing() -> None:
    assert "outcome is unknown" in WORDS[UNKNOWN]
    assert "before you repeat" in WORDS[UNKNOWN]
    for word in ("succeeded", "failed", "did not run", "no effect"):
        assert word not in WORDS[UNKNOWN].lower()
    assert "never started" in WORDS[NOT_STARTED]


@given(logs())
def test_recovery_is_what_looking_backwards_gives(records: list[Record]) -> None:
    assert closed(*records) == oracle.closers(make.plain(make.log(*records)))


@given(logs(cut=False), st.data())
@settings(max_examples=60)
def test_a_log_cut_anywhere_is_closed_once_and_well(records: list[Record], data: st.DataObject) -> None:
    events = make.log(*records)
    kept = events[: data.draw(st.integers(0, len(events)))]
    whole = kept + interrupted_turn_closers(kept)
    assert interrupted_turn_closers(whole) == [], "a second recovery changes nothing"
    assert whole[: len(kept)] == kept
    assert [event.seq for event in whole] == list(range(len(whole)))
    assert check_invariants(whole) == []
    assert not oracle.is_open(make.plain(whole))
    assert Session.create("s1", seed=whole).first_live_seq == len(whole)


SPLIT_LOG = make.log_bytes(
    *make.two_steps(),
    make.turn_start(2),
    make.step_start(1, 2),
    make.user("pay 50 €"),
    make.asks("p", "q", turn=2),
    make.call("p", turn=2),
)
SPLIT_EVENTS = scan_log(SPLIT_LOG).events


def test_a_log_cut_at_every_byte_keeps_a_prefix() -> None:
    header = SPLIT_LOG.index(b"\n") + 1
    ends = [at + 1 for at, byte in enumerate(SPLIT_LOG) if byte == 10]
    for size in range(header, len(SPLIT_LOG) + 1):
        found = scan_log(SPLIT_LOG[:size])
        whole = sum(end <= size for end in ends) - 1
        assert found.events == SPLIT_EVENTS[:whole], size
        assert found.committed_bytes == max(end for end in ends if end <= size)
        assert (found.torn is None) == (found.committed_bytes == size)
        added = interrupted_turn_closers(found.events)
        assert [oracle.told(one) for one in make.plain(added)] == oracle.closers(make.plain(found.events))
        assert check_invariants([*found.events, *added]) == []


def test_no_header_no_log() -> None:
    from labsupport.sessionlog.storage import LogCorruptError

    for size in range(SPLIT_LOG.index(b"\n") + 1):
        with pytest.raises(LogCorruptError):
            scan_log(SPLIT_LOG[:size])


def test_events_that_a_session_appended_are_closed_alike() -> None:
    session = Session.create("s1")
    for one in [*OPEN, make.asks("a")]:
        make.append(session, one)
    added = interrupted_turn_closers(session.events)
    assert all(isinstance(event, SessionEvent) for event in added)
    assert [event.type for event in added] == ["tool/result", "step/end", "turn/end"]


def test_halves_of_pairs_and_quotes_in_a_call_id() -> None:
    for call_id in ("\ud83d", '"', "\n", "预算", ""):
        records = [*OPEN, make.asks(call_id)]
        [first, *_] = interrupted_turn_closers(make.log(*records))
        assert first.read()["message"]["source"]["callId"] == call_id
