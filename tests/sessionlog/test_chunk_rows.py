"""The one codec between events and records: packing loses nothing, and a malformed row is an error."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labsupport.errors import EventError
from labsupport.lossless import MAX_SAFE_INTEGER
from labsupport.sessionlog import SessionEvent, decode_record, pack_chunk_runs
from labsupport.sessionlog.json_text import is_lossless_json, same_json
from tests.sessionlog import builders as make
from tests.sessionlog.builders import Record
from tests.sessionlog.strategies import logs, texts, values

ROWS = ("text-chunks", "reasoning-chunks", "tool-call-chunks")


def unpacked(records: list[Record]) -> list[SessionEvent]:
    return [event for record in records for event in decode_record(record)]


pieces = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["text-delta", "reasoning-delta", "tool-call-delta", "finish"]),
        "index": st.sampled_from([0, 1, 0.0, 1.5, "x", None, True]),
    },
    optional={
        "text": texts | st.none(),
        "id": st.sampled_from(["c", "d", 1]),
        "name": st.sampled_from(["read", None]),
        "argumentsDelta": texts,
        "more": st.none(),
    },
)
ours = st.fixed_dictionaries({"type": st.just("text-delta"), "index": st.sampled_from([0, 1]), "text": texts})
theirs = st.fixed_dictionaries(
    {"type": st.just("tool-call-delta"), "index": st.just(1), "id": st.sampled_from("cd"), "argumentsDelta": texts},
    optional={"name": st.sampled_from("xy")},
)
chunk_data = st.fixed_dictionaries(
    {"turn": st.sampled_from([1, 1, 1, 1.0, True, 2]), "step": st.just(1), "chunk": ours | ours | theirs | theirs | pieces}
)
times = st.sampled_from([0, 1, 5, -3, MAX_SAFE_INTEGER, -MAX_SAFE_INTEGER])


@given(st.lists(st.tuples(chunk_data | values, times, st.sampled_from([1, 1, 1, 1, 2])), max_size=12))
def test_packing_loses_nothing(given_chunks: list[tuple[Any, int, int]]) -> None:
    seq, events = 0, []
    for data, time, gap in given_chunks:
        events.append(SessionEvent.from_json({"type": "assistant/chunk", "seq": seq, "time": time, "data": data}))
        seq += gap
    packed = pack_chunk_runs(events)
    assert same_json(make.plain(unpacked(packed)), make.plain(events))
    assert all(is_lossless_json(record) for record in packed)
    assert all(len(record["data"]["dt"]) >= 2 for record in packed if record["type"] in ROWS), "three members at least"


@given(logs())
def test_packing_any_log_loses_nothing(records: list[Record]) -> None:
    events = make.log(*records)
    assert make.plain(unpacked(pack_chunk_runs(events))) == make.plain(events)


def kinds(*records: Record) -> list[str]:
    return [record["type"] for record in pack_chunk_runs(make.log(*records))]


CHUNK = "assistant/chunk"
PACKED: dict[str, tuple[list[Record], list[str]]] = {
    "three": ([make.chunk("a")] * 3, ["text-chunks"]),
    "two": ([make.chunk("a")] * 2, [CHUNK] * 2),
    "another index between": ([make.chunk("a"), make.chunk("a"), make.chunk("b", index=1), make.chunk("a")], [CHUNK] * 4),
    "another step": ([make.chunk("a")] * 3 + [make.chunk("a", step=2)] * 3, ["text-chunks"] * 2),
    "something between": (
        [make.chunk("a")] * 2 + [make.user()] + [make.chunk("a")] * 3,
        [CHUNK, CHUNK, "user/message", "text-chunks"],
    ),
    "arguments": ([make.call_chunk("a")] * 3, ["tool-call-chunks"]),
    "arguments with a name": ([make.call_chunk("a", name="read")] * 3, ["tool-call-chunks"]),
    "the name comes first only": (
        [make.call_chunk("a", name="read")] + [make.call_chunk("b")] * 3,
        [CHUNK, "tool-call-chunks"],
    ),
    "two calls": ([make.call_chunk("a", "c")] * 3 + [make.call_chunk("a", "d")] * 3, ["tool-call-chunks"] * 2),
    "ignorable ones": ([{**make.chunk("a"), "ignorable": True}] * 3, [CHUNK] * 3),
    "another field": ([make.record(CHUNK, {**make.chunk("a")["data"], "more": 1})] * 3, [CHUNK] * 3),
    "true for a turn": ([make.record(CHUNK, {**make.chunk("a")["data"], "turn": True})] * 3, [CHUNK] * 3),
    "no object": ([make.record(CHUNK, None)] * 3, [CHUNK] * 3),
}


@pytest.mark.parametrize(("records", "expected"), PACKED.values(), ids=PACKED)
def test_what_is_packed(records: list[Record], expected: list[str]) -> None:
    assert kinds(*records) == expected
    assert make.plain(unpacked(pack_chunk_runs(make.log(*records)))) == make.plain(make.log(*records))


def test_a_gap_in_seq_ends_a_run() -> None:
    events = [*make.log(*[make.chunk("a")] * 3), *make.log(*[make.chunk("b")] * 3, first=4)]
    assert [record["seq0"] for record in pack_chunk_runs(events)] == [0, 4]
    assert make.plain(unpacked(pack_chunk_runs(events))) == make.plain(events)


def row(type: str = "text-chunks", **change: Any) -> Record:
    base: Record = {
        "turn": 1,
        "step": 2,
        "index": 0,
        "dt": [3, -1],
        **({"args": ["a", "b", ""], "id": "c"} if type == "tool-call-chunks" else {"texts": ["a", "b", ""]}),
    }
    data = {key: item for key, item in {**base, **change}.items() if item is not ...}
    return {"type": type, "seq0": 5, "time0": 100, "data": data}


def test_a_row_expands() -> None:
    assert [(event.seq, event.time, event.read()["chunk"]) for event in decode_record(row())] == [
        (5, 100, {"type": "text-delta", "index": 0, "text": "a"}),
        (6, 103, {"type": "text-delta", "index": 0, "text": "b"}),
        (7, 102, {"type": "text-delta", "index": 0, "text": ""}),
    ]
    assert decode_record(row("reasoning-chunks"))[0].read() == {
        "turn": 1,
        "step": 2,
        "chunk": {"type": "reasoning-delta", "index": 0, "text": "a"},
    }
    assert decode_record(row("tool-call-chunks"))[1].read()["chunk"] == {
        "type": "tool-call-delta",
        "index": 0,
        "id": "c",
        "argumentsDelta": "b",
    }
    assert decode_record(row("tool-call-chunks", name="read"))[1].read()["chunk"]["name"] == "read"


@pytest.mark.parametrize("count", [1, 2, 3, 50])
@pytest.mark.parametrize("number", [0, -1, 1.5, 2**60], ids=repr)
def test_rows_of_any_length_and_any_numbers_decode(count: int, number: float) -> None:
    events = decode_record(row(turn=number, step=number, index=number, dt=[1] * (count - 1), texts=["x"] * count))
    assert [event.seq for event in events] == list(range(5, 5 + count))
    assert events[-1].read()["turn"] == number


MALFORMED: dict[str, Record] = {
    "no texts": row(texts=...),
    "empty texts": row(texts=[], dt=[]),
    "texts is text": row(texts="abc"),
    "a text is null": row(texts=["a", None, "b"]),
    "a gap too few": row(dt=[1]),
    "a gap too many": row(dt=[1, 1, 1]),
    "no gaps": row(dt=...),
    "gaps is null": row(dt=None),
    "a gap of 1.5": row(dt=[1.5, 1]),
    "a gap that is true": row(dt=[True, 1]),
    "a gap that is text": row(dt=["1", 1]),
    "a gap beyond": row(dt=[2**53, 1]),
    "a time on the way beyond": {**row(dt=[1, -1]), "time0": MAX_SAFE_INTEGER},
    "the last seq beyond": {**row(), "seq0": MAX_SAFE_INTEGER - 1},
    "seq0 below 0": {**row(), "seq0": -1},
    "seq0 is text": {**row(), "seq0": "5"},
    "time0 is 1.5": {**row(), "time0": 1.5},
    "turn is text": row(turn="1"),
    "turn is true": row(turn=True),
    "step is null": row(step=None),
    "index is a list": row(index=[]),
    "no turn": row(turn=...),
    "one field more": row(more=1),
    "one key more": {**row(), "more": 1},
    "ignorable": {**row(), "ignorable": True},
    "no time0": {key: item for key, item in row().items() if key != "time0"},
    "data is null": {**row(), "data": None},
    "data is a list": {**row(), "data": []},
    "a call without id": row("tool-call-chunks", id=...),
    "a call with texts": row("tool-call-chunks", texts=["a", "b", "c"]),
    "an id that is a number": row("tool-call-chunks", id=1),
    "a name that is null": row("tool-call-chunks", name=None),
    "a text with an id": row(id="c"),
}


@pytest.mark.parametrize("bad", MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_row_is_an_error(bad: Record) -> None:
    with pytest.raises(EventError) as caught:
        decode_record(bad)
    assert caught.value.where.startswith("row")


def test_gaps_and_numbers_may_be_spelled_with_a_point() -> None:
    assert [event.time for event in decode_record({**row(dt=[3.0, -0.0]), "seq0": 5.0, "time0": 1e2})] == [100, 103, 103]


def test_a_record_that_is_no_row_is_one_event() -> None:
    [event] = decode_record({"type": "plugin/x", "seq": 0, "time": 0, "data": 1})
    assert event.read() == 1
    for bad in (None, [], "x", {"type": "plugin/x"}, {"type": 1}, {"type": []}):
        with pytest.raises(EventError):
            decode_record(bad)


def test_a_packed_log_reads_as_the_plain_one() -> None:
    from labsupport.sessionlog.storage import scan_log

    records = make.two_steps()
    packed = make.HEADER_LINE + b"".join(map(make.line, pack_chunk_runs(make.log(*records))))
    assert b"text-chunks" in packed
    assert make.plain(scan_log(packed).events) == make.plain(scan_log(make.log_bytes(*records)).events)
