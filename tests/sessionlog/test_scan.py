"""Reading the bytes of a log: committed, torn, damaged, another version; quickly, and as an eager reader would."""

import io
import time
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from labsupport.errors import StoredLogError
from labsupport.sessionlog import check_invariants
from labsupport.sessionlog.json_text import same_json
from labsupport.sessionlog.storage import LogCorruptError, LogFormatError, Scan, scan_file, scan_log
from tests.sessionlog import builders as make
from tests.sessionlog import oracle
from tests.sessionlog.builders import HEADER_LINE, Record
from tests.sessionlog.strategies import SPLINTERS, logs, numbers


def outcome(data: bytes) -> tuple[Any, ...]:
    """What `scan_log` says, in the words of the oracle."""
    try:
        found = scan_log(data)
    except LogCorruptError as error:
        return "damaged", error.line
    return "whole", make.plain(found.events), found.committed_bytes


def agree(data: bytes) -> None:
    expected, found = oracle.scan(data), outcome(data)
    assert found[0] == expected[0], data
    assert same_json(list(found[1:]), list(expected[1:])), data


def scan_of(*lines: bytes) -> Scan:
    return scan_log(HEADER_LINE + b"".join(lines))


def event_line(seq: int, data: bytes = b"{}", type: str = "plugin/x") -> bytes:
    return b'{"type":"%s","seq":%d,"time":5,"data":%s}\n' % (type.encode(), seq, data)


TURN_END = event_line(9, b'{"turn":1}', "turn/end")


# What was written is read


@given(logs())
def test_a_log_reads_as_its_events(records: list[Record]) -> None:
    data = make.log_bytes(*records)
    found = scan_log(data)
    assert make.plain(found.events) == make.plain(make.log(*records))
    assert (found.committed_bytes, found.torn) == (len(data), None)
    agree(data)


def test_a_header_alone_is_an_empty_log() -> None:
    found = scan_log(HEADER_LINE)
    assert (found.events, found.committed_bytes, found.torn, found.header.id) == ([], len(HEADER_LINE), None, "s1")


def test_a_file_is_read_as_its_bytes() -> None:
    data = make.log_bytes(*make.two_steps())
    assert scan_file(io.BytesIO(data)) == scan_log(data)


# Damage: the quick decoder lets nothing through that an eager reader refuses

FUZZED = make.log_bytes(
    make.user("预算 🙂"),
    make.says("x", sourceEventSeqs=[]),
    make.user("y", op=make.replacing(0, 1), sourceEventSeqs=[0, 1]),
    make.request_header(),
    make.record("plugin/x", [1, -2.5, 1e5, "\ud83d\n"], ignorable=True),
).replace(b'"plugin/x"', b'"plugin\\/x"')
assert len(scan_log(FUZZED).events) == 5


@pytest.mark.parametrize("splinter", SPLINTERS, ids=repr)
def test_every_byte_replaced(splinter: bytes) -> None:
    for at in range(len(HEADER_LINE), len(FUZZED)):
        agree(FUZZED[:at] + splinter + FUZZED[at + 1 :])


@given(
    st.lists(
        st.tuples(
            st.integers(len(HEADER_LINE), len(FUZZED) - 1),
            st.integers(0, 30),
            st.sampled_from(SPLINTERS) | st.binary(max_size=3),
        ),
        min_size=1,
        max_size=3,
    ),
    st.booleans(),
)
@settings(max_examples=400)
def test_bytes_replaced_at_random(changes: list[tuple[int, int, bytes]], ended: bool) -> None:
    data = FUZZED + (event_line(5, b"{}", "turn/end") if ended else b"")
    for at, size, splinter in changes:
        data = data[:at] + splinter + data[at + size :]
    agree(data)


@given(logs(), st.data())
def test_lines_moved_dropped_and_doubled(records: list[Record], data: st.DataObject) -> None:
    lines = make.log_bytes(*records).splitlines(keepends=True)[1:]
    spoiled = data.draw(
        st.lists(st.sampled_from([*lines, b"\n", b"[]\n", b"null\n", b"{}\n", b'"turn/end"\n']), max_size=len(lines))
    )
    at = data.draw(st.integers(0, len(lines)))
    agree(HEADER_LINE + b"".join([*lines[:at], *spoiled, *lines[at:]]))


DOUBLED = {
    "seq": b'{"type":"plugin/x","seq":7,"seq":0,"time":5,"data":1}',
    "seq, the last is wrong": b'{"type":"plugin/x","seq":0,"seq":7,"time":5,"data":1}',
    "data": b'{"type":"plugin/x","seq":0,"time":5,"data":1,"data":2}',
    "data, the last overflows": b'{"type":"plugin/x","seq":0,"time":5,"data":1,"data":1e999}',
    "data, the first overflows": b'{"type":"plugin/x","seq":0,"time":5,"data":1e999,"data":1}',
    "type": b'{"type":"user/message","type":"plugin/x","seq":0,"time":5,"data":1}',
    "type, the last is retired": b'{"type":"plugin/x","type":"request/header-delta","seq":0,"time":5,"data":1}',
    "ignorable": b'{"type":"x","seq":0,"time":5,"data":1,"ignorable":true,"ignorable":null}',
    "an escaped key": b'{"t\\u0079pe":"plugin/x","seq":0,"time":5,"data":1}',
    "an escaped key of no event": b'{"type":"plugin/x","seq":0,"time":5,"data":1,"t\\u0079p":1}',
}
MESSAGE = (
    b'{"type":"user/message","seq":0,"time":5,'
    b'"data":{"id":"u","role":"user","source":{"kind":"user"},"content":[]%s},"surfaceOp":%s}'
)
DOUBLED |= {
    "op, the last is none": MESSAGE % (b"", b'{"op":"replace","start":0,"end":0,"op":"append"}'),
    "op, the first is none": MESSAGE % (b"", b'{"op":"append","start":0,"end":0,"op":"replace"}'),
    "op": MESSAGE % (b"", b'"append","surfaceOp":null'),
    "role": MESSAGE % (b',"role":"assistant"', b'"append"'),
    "content": MESSAGE % (b',"content":null', b'"append"'),
    "source": MESSAGE % (b',"source":{}', b'"append"'),
    "kind": MESSAGE % (b',"source":{"kind":"user","kind":5}', b'"append"'),
    "id": MESSAGE % (b',"id":1,"id":"v"', b'"append"'),
}


@pytest.mark.parametrize("line", DOUBLED.values(), ids=DOUBLED)
def test_of_a_doubled_key_the_last_counts(line: bytes) -> None:
    agree(HEADER_LINE + line + b"\n")


SPELLED = {
    "seq 0.0": b'{"type":"x","seq":0.0,"time":5,"data":1}',
    "seq -0": b'{"type":"x","seq":-0,"time":5,"data":1}',
    "seq 0e9": b'{"type":"x","seq":0e9,"time":5,"data":1}',
    "time 1e3": b'{"type":"x","seq":0,"time":1e3,"data":1}',
    "spaces": b' {"type" : "x" , "seq":0,"time":5,"data": [ 1 ] } \t',
    "CR at the end": b'{"type":"x","seq":0,"time":5,"data":1}\r',
    "DEL in a string": b'{"type":"x","seq":0,"time":5,"data":"\x7f"}',
    "NEL and separators": b'{"type":"x","seq":0,"time":5,"data":"\xc2\x85\xe2\x80\xa8"}',
    "a half pair": b'{"type":"x","seq":0,"time":5,"data":"\\ud83d"}',
    "a half pair in the type": b'{"type":"\\ud83d","seq":0,"time":5,"data":1}',
    "integers beyond": b'{"type":"x","seq":0,"time":5,"data":12345678901234567890123}',
    "1e308": b'{"type":"x","seq":0,"time":5,"data":1e308}',
    "a long way to 0": b'{"type":"x","seq":0,"time":5,"data":1e-999}',
    "a number in text": b'{"type":"x","seq":0,"time":5,"data":"1e999"}',
    "-0.0": b'{"type":"x","seq":0,"time":5,"data":-0.0}',
    "400 digits": b'{"type":"x","seq":0,"time":5,"data":%s}' % (b"1" * 400),
    "5,000 digits": b'{"type":"x","seq":0,"time":5,"data":%s}' % (b"1" * 5000),
    "an empty type": b'{"type":"","seq":0,"time":5,"data":1}',
}


@pytest.mark.parametrize("line", SPELLED.values(), ids=SPELLED)
def test_spellings_that_are_taken(line: bytes) -> None:
    data = HEADER_LINE + line + b"\n"
    assert len(scan_log(data).events) == 1
    agree(data)


@pytest.mark.parametrize("depth", [600, 20_000])
def test_depth_is_no_damage(depth: int) -> None:
    found = scan_of(event_line(0, b"[" * depth + b"]" * depth), event_line(1, b'{"a":' * depth + b"1" + b"}" * depth))
    assert len(found.events) == 2
    value, seen = found.events[0].read(), 1
    while value:
        value, seen = value[0], seen + 1
    assert seen == depth


# Numbers that overflow and bytes that are not UTF-8, wherever a block of the reader ends

digit = st.sampled_from("0123456789")


@given(
    st.text(digit, min_size=1, max_size=330),
    st.text(digit, max_size=330),
    st.sampled_from(["", "e", "E", "e+", "E-", "e-0", "e00"]),
    st.text(digit, max_size=5),
)
@example("1", "", "e", "308").via("the largest exponent")
@example("2", "", "e", "308").via("just too large")
@example("1" * 309, "", "", "")
@example("9" * 199, "", "e", "99")
@example("0", "0" * 300 + "1", "e", "609")
@settings(max_examples=300)
def test_no_number_that_overflows_gets_through(whole: str, fraction: str, mark: str, exponent: str) -> None:
    number = (whole.lstrip("0") or "0") + (f".{fraction}" if fraction else "") + (mark + exponent if exponent and mark else "")
    agree(HEADER_LINE + event_line(0, f'{{"a":[{number}]}}'.encode()))


@given(numbers)
def test_every_number_that_was_written_is_read(number: float) -> None:
    found = scan_of(make.line({"type": "x", "seq": 0, "time": 0, "data": number})).events
    assert same_json(found[0].read(), number)


BLOCK = 1 << 20
BAD = {
    "a byte that is none": b'"\xff"',
    "half a character": b'"\xe9\xa2"',
    "a surrogate in UTF-8": b'"\xed\xa0\x80"',
    "an overlong form": b'"\xc0\x80"',
    "beyond the last character": b'"\xf4\x90\x80\x80"',
    "a large exponent": b"1e999",
    "another large exponent": b"-1.5E+0309",
    "too many digits": b"1" * 310 + b".5",
    "not a number": b"NaN",
    "a control character": b'"\x01"',
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_no_block_border_hides_what_is_wrong(bad: bytes) -> None:
    damage = bad[:1] in b"-1"  # a number that overflows; the rest is no JSON
    for shift in (-60, -45, -3, -2, -1, 0, 1, 2, 40):  # the bad value stands before, across and behind the end of the first MiB
        first = event_line(0, b'""')
        spoiled = event_line(1, bad)
        room = BLOCK - len(first) - spoiled.index(bad) + shift
        data = HEADER_LINE + event_line(0, b'"%s"' % (b"x" * room)) + spoiled + event_line(2)
        if damage:
            with pytest.raises(LogCorruptError) as caught:
                scan_log(data)
            assert caught.value.line == 3
        else:
            found = scan_log(data)
            assert (len(found.events), found.torn and found.torn.line) == (1, 3)


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_no_length_of_a_line_hides_what_is_wrong(bad: bytes) -> None:
    for room in (BLOCK - 100, BLOCK - 47, BLOCK, 2 * BLOCK + 1):
        data = HEADER_LINE + event_line(0, b'["%s",%s]' % ("预".encode() * (room // 3), bad)) + event_line(1)
        agree(data)
        assert outcome(data)[0] == "damaged" or outcome(data)[1] == []


def test_characters_across_block_borders_are_whole() -> None:
    for shift in range(4):
        text = b"x" * shift + "🙂预".encode() * (2 * BLOCK // 7)
        found = scan_of(event_line(0, b'"%s"' % text), event_line(1))
        assert found.events[0].read() == text.decode()
        assert len(found.events) == 2


# Torn, or damage

GOOD, BROKEN = event_line(0), b'{"type":"plugin\n'
TORN: dict[str, tuple[list[bytes], int, int, int, int]] = {
    # name: lines behind the header, events that are kept, and of the tail: its line, its records, those of them that are whole
    "no line break": ([GOOD, event_line(1)[:-1]], 1, 3, 1, 0),
    "half a record": ([GOOD, b'{"type":"plu'], 1, 3, 1, 0),
    "not JSON": ([GOOD, BROKEN], 1, 3, 1, 0),
    "good records behind it go too": ([GOOD, BROKEN, event_line(1), event_line(2)], 1, 3, 3, 2),
    "a gap": ([GOOD, event_line(2)], 1, 3, 1, 1),
    "a step back": ([GOOD, GOOD], 1, 3, 1, 1),
    "a blank line": ([GOOD, b"\n", event_line(1)], 1, 3, 2, 1),
    "null": ([GOOD, b"null\n"], 1, 3, 1, 1),
    "a list": ([b"[]\n"], 0, 2, 1, 1),
    "NUL bytes": ([GOOD, b"\x00" * 50], 1, 3, 1, 0),
    "NUL bytes and a line break": ([GOOD, b"\x00" * 50 + b"\n"], 1, 3, 1, 0),
    "not UTF-8": ([GOOD, event_line(1, b'"\xe9"')], 1, 3, 1, 0),
    "a mark in front": ([b"\xef\xbb\xbf" + GOOD], 0, 2, 1, 0),
    "a row that is none": ([b'{"type":"text-chunks","seq0":0,"time0":1,"data":{}}\n'], 0, 2, 1, 1),
    "two records on a line": ([GOOD[:-1] + event_line(1)], 0, 2, 1, 0),
    "a torn end of a turn": ([GOOD, event_line(1, b'{"turn":1}', "turn/end")[:-1]], 1, 3, 1, 0),
    "an end of a turn that cannot be read": ([GOOD, BROKEN, b'{"type":"turn/end"\n'], 1, 3, 2, 0),
    "a wrong envelope behind it": ([BROKEN, b'{"type":"x","seq":1}\n'], 0, 2, 2, 1),
}


@pytest.mark.parametrize(("lines", "kept", "line", "records", "whole"), TORN.values(), ids=TORN)
def test_a_torn_tail(lines: list[bytes], kept: int, line: int, records: int, whole: int) -> None:
    data = HEADER_LINE + b"".join(lines)
    found = scan_log(data)
    assert len(found.events) == kept
    assert found.torn is not None
    assert (found.torn.line, found.torn.records, found.torn.whole) == (line, records, whole)
    assert found.torn.offset == found.committed_bytes == len(HEADER_LINE + b"".join(lines[:kept]))
    assert found.torn.size == len(data) - found.committed_bytes
    assert found.torn.why


DAMAGED: dict[str, tuple[list[bytes], int]] = {
    "not JSON, and a turn ends behind it": ([GOOD, BROKEN, event_line(1), TURN_END], 3),
    "a gap, and a turn ends behind it": ([GOOD, event_line(2), TURN_END], 3),
    "a gap at the end of a turn": ([TURN_END], 2),
    "a blank line, and a turn ends behind it": ([b"\n", TURN_END], 2),
    "a turn ends far behind it": ([BROKEN, *[GOOD] * 30_000, TURN_END], 2),
    "an end that is no event": ([BROKEN, b'{"type":"turn/end"}\n'], 2),
    "seqs start again": ([GOOD, GOOD, TURN_END], 3),
    "the right seq, no time": ([b'{"type":"x","seq":0,"data":1}\n'], 2),
    "the right seq, one field more": ([GOOD, b'{"type":"x","seq":1,"time":1,"data":1,"more":1}\n'], 3),
    "the right seq, a wrong op": ([b'{"type":"x","seq":0,"time":1,"data":1,"surfaceOp":"append"}\n'], 2),
    "the right seq, a message without shape": ([event_line(0, b"{}", "user/message")], 2),
    "the right seq, a retired type": ([event_line(0, b"{}", "request/header-delta")], 2),
    "the right seq as 0.0": ([b'{"type":"x","seq":0.0,"data":1}\n'], 2),
    "a number that overflows": ([event_line(0, b"1e999")], 2),
    "an overflow with any seq": ([GOOD, event_line(7, b"1e999")], 3),
}


@pytest.mark.parametrize(("lines", "line"), DAMAGED.values(), ids=DAMAGED)
def test_damage(lines: list[bytes], line: int) -> None:
    with pytest.raises(LogCorruptError, match="Nothing was changed") as caught:
        scan_of(*lines)
    assert caught.value.line == line


# The header


def with_header(value: object, *lines: bytes) -> bytes:
    return make.line(value) + b"".join(lines)


BASE = {"type": "session", "version": 0, "id": "s1", "createdAt": 5, "delegationDepth": 0}


@pytest.mark.parametrize(
    ("version", "word"), [(1, "newer"), (3, "newer"), (1.5, "newer"), (2**60, "newer"), (-1, "older"), (-0.5, "older")]
)
def test_another_version_is_told_apart_from_damage(version: Any, word: str) -> None:
    for value in ({**BASE, "version": version}, {"version": version}, {**BASE, "version": version, "id": 5, "sandboxMode": 1}):
        with pytest.raises(LogFormatError, match=word) as caught:
            scan_log(with_header(value, b"whatever \xff\n", TURN_END))
        assert caught.value.version == version
        assert "The log is whole" in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        {"type": "log"},
        {"type": None},
        {"version": "0"},
        {"version": None},
        {"version": True},
        {"id": None},
        {"id": 1},
        {"createdAt": None},
        {"createdAt": -1},
        {"createdAt": "x"},
        {"delegationDepth": None},
        {"delegationDepth": ...},
        {"createdAt": ...},
        {"id": ...},
        {"version": ...},
        {"type": ...},
        {"origin": "user"},
        {"agentPreset": 1},
        {"sandboxMode": "x"},
        {"approvalPolicy": "x"},
    ],
    ids=repr,
)
def test_a_damaged_header(change: dict[str, Any]) -> None:
    value = {key: item for key, item in {**BASE, **change}.items() if item is not ...}
    with pytest.raises(LogCorruptError) as caught:
        scan_log(with_header(value, GOOD))
    assert caught.value.line == 1


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"{}\n",
        b"null\n",
        b"\x00" * 64,
        b"\x00" * 64 + b"\n",
        b"\xff\n",
        GOOD,
        HEADER_LINE[:-1],
        HEADER_LINE[:20],
        b"\n" + HEADER_LINE,
        b"\xef\xbb\xbf" + HEADER_LINE,
        HEADER_LINE[:-2] + b"\n" + b"}\n",
    ],
    ids=repr,
)
def test_no_header_is_damage(data: bytes) -> None:
    with pytest.raises(LogCorruptError):
        scan_log(data)


@pytest.mark.parametrize(
    "change",
    [
        {"cwd": "not absolute"},
        {"cwd": None},
        {"parentSession": 5},
        {"seedLength": "x"},
        {"more": [1]},
        {"version": -0.0},
        {"createdAt": 5.0},
        {"id": ""},
    ],
    ids=repr,
)
def test_what_scanning_leaves_to_the_session(change: dict[str, Any]) -> None:
    assert len(scan_log(with_header({**BASE, **change}, GOOD)).events) == 1


# Laziness


def test_scanning_reads_no_data_that_it_need_not_look_into() -> None:
    found = scan_of(*[event_line(seq, b'{"a": [1, 2.50]}') for seq in range(3)])
    assert [bytes(event.json_text) for event in found.events] == [b'{"a": [1, 2.50]}'] * 3, "the text is kept as it stands"
    assert found.events[0].read() == {"a": [1, 2.5]}


def test_a_long_log_is_read_in_a_moment() -> None:
    lines = b"".join(
        event_line(seq, b'{"turn":1,"step":1,"chunk":{"type":"text-delta","index":0,"text":"word"}}', "assistant/chunk")
        for seq in range(50_000)
    )
    start = time.perf_counter()
    assert len(scan_of(lines).events) == 50_000
    assert time.perf_counter() - start < 5, "a hundred times what it takes"


def test_a_chunk_row_counts_its_members() -> None:
    row = b'{"type":"text-chunks","seq0":%d,"time0":5,"data":{"turn":1,"step":1,"index":0,"dt":[1,-1],"texts":["a","b","c"]}}\n'
    found = scan_of(GOOD, row % 1, event_line(4))
    assert [(event.seq, event.time) for event in found.events] == [(0, 5), (1, 5), (2, 6), (3, 5), (4, 5)]
    torn = scan_of(GOOD, row % 2)
    assert len(torn.events) == 1
    assert torn.torn is not None


def test_an_error_of_a_file_names_the_file(tmp_path: Any) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(HEADER_LINE + b"{}\n" + TURN_END)
    with path.open("rb") as file, pytest.raises(StoredLogError) as caught:
        scan_file(file, path)
    assert str(caught.value).startswith(f"{path}:2: ")
    assert (caught.value.path, caught.value.line) == (path, 2)


@given(logs())
@settings(max_examples=30)
def test_what_is_read_keeps_its_relations(records: list[Record]) -> None:
    assert check_invariants(scan_log(make.log_bytes(*records)).events) == []
