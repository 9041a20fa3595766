"""Bugs that other recorders of agent sessions had in public, rebuilt in this format: each must not happen here.

An id says which report it is and why this is the right behaviour; where a report asks for something else than the format,
the format wins and the id says so.
"""

import json
import logging
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from labsupport.errors import (
    EventError,
    LogCorruptError,
    LogFormatError,
    LosslessError,
    PairingError,
    SessionLogError,
    StaleCursorError,
    SurfaceError,
    UnknownEventError,
)
from labsupport.sessionlog import (
    Session,
    SessionEvent,
    SessionHeader,
    check_compaction,
    check_invariants,
    decode_record,
    interrupted_turn_closers,
    is_lossless_json,
    pairing_cuts,
    session_stats,
    to_json,
    tool_pairing,
)
from labsupport.sessionlog.folding import fold
from labsupport.sessionlog.storage import JsonlStore, encode_segment, on_flush, scan_log
from tests.sessionlog import builders as make
from tests.sessionlog import oracle
from tests.sessionlog.builders import HEADER_LINE, Record, files_of, line, log_bytes, numbered, replacing

TALK = [make.user("first"), make.says("second"), make.user("third")]
LINES = [line(one) for one in numbered(*TALK)]
END = line({"type": "turn/end", "seq": 9, "time": 0, "data": {"turn": 1}})
OPEN = [make.turn_start(), make.step_start()]


def kept(*lines: bytes) -> int:
    return len(scan_log(HEADER_LINE + b"".join(lines)).events)


def damaged_at(*lines: bytes) -> int | None:
    with pytest.raises(LogCorruptError) as caught:
        scan_log(HEADER_LINE + b"".join(lines))
    return caught.value.line


# Calls


def answered(id: str, text: str, step: int) -> list[Record]:
    """A step in which the call *id* is answered by *text*."""
    asked = [make.step_start(step), make.asks(id, step=step), make.call(id, step)]
    return [*asked, make.result(id, text, step), make.step_end(step)]


def test_b10_one_id_for_every_call_loses_no_result() -> None:
    events = make.log(make.turn_start(), *answered("call", "r1", 1), *answered("call", "r2", 2), *answered("call", "r3", 3))
    assert check_invariants(events) == []
    results = [message["content"][0] for message in make.same_messages(Session.create("s1", seed=events))[1::2]]
    assert [block["content"][0]["text"] for block in results] == ["r1", "r2", "r3"]
    assert fold(tool_pairing, events)["succeeded"] == 3
    assert pairing_cuts(events) == [True, False, True, False, True, False, True]


def test_b11_a_call_that_has_the_id_of_an_answered_one_is_open() -> None:
    events = make.log(make.turn_start(), *answered("f", "1", 1), make.step_start(2), make.asks("f", step=2), make.call("f", 2))
    assert fold(tool_pairing, events)["calls"]["f"]["status"] == "started"
    assert pairing_cuts(events) == [True, False, True, False]
    closers = [event.to_json() for event in interrupted_turn_closers(events)]
    assert oracle.told(closers[0]) == ("tool/result", ("f", "TOOL_OUTCOME_UNKNOWN"))
    assert [one["type"] for one in closers] == ["tool/result", "step/end", "turn/end"]


def test_b19_a_message_between_a_call_and_its_result_stays_there_and_no_cut_parts_the_pair() -> None:
    events = make.log(*OPEN, make.user("sync"), make.asks("s"), make.call("s"), make.user("[notice]"), make.result("s"))
    assert check_invariants(events) == []
    assert pairing_cuts(events) == [True, True, False, False, True]
    kinds = [message["content"][0]["type"] for message in make.same_messages(Session.create("s1", seed=events))]
    assert kinds[:4] == ["text", "tool-call", "text", "tool-result"]


def test_b13_an_empty_call_id_is_refused_in_a_result_and_pairs_nothing() -> None:
    with pytest.raises(EventError) as caught:
        SessionEvent.from_json(numbered(make.result(""))[0])
    assert caught.value.where == "data.message.source"
    events = make.log(*OPEN, make.asks("", ""))  # blocks of a stored answer are free, so the call itself is read
    assert oracle.told(interrupted_turn_closers(events)[0].to_json()) == ("tool/result", ("", "TOOL_NOT_STARTED"))
    assert fold(tool_pairing, events)["calls"][""]["status"] == "requested"


def test_b14_spec_wins_a_call_without_a_result_loads_and_is_closed_at_the_end_of_the_log_not_behind_its_siblings(
    tmp_path: Path,
) -> None:
    records = [
        *OPEN,
        make.user("build"),
        make.asks("b1", "b2"),
        make.call("b1"),
        make.result("b1"),
        make.call("b2"),
        make.user("are you there?"),
    ]
    store = make.jsonl_file(tmp_path, data := log_bytes(*records))
    session = Session.create("s1", seed=store.inspect("s1").events)
    kinds = [[block["type"] for block in message["content"]] for message in make.same_messages(session)]
    assert kinds == [["text"], ["tool-call", "tool-call"], ["tool-result"], ["text"], ["tool-result"]]
    assert files_of(tmp_path) == {"s1.jsonl": data}, "reading alone writes nothing"


def test_b16_spec_wins_a_call_that_was_not_started_is_said_so_and_only_a_started_one_is_unknown(tmp_path: Path) -> None:
    records = [*OPEN, make.asks("m1", "m2", "m3"), make.call("m1"), make.call("m2"), make.result("m2")]
    store = make.jsonl_file(tmp_path, data := log_bytes(*records))
    added = [event.to_json() for event in store.load("s1").events[6:]]
    assert [oracle.told(one)[1] for one in added[:2]] == [("m1", "TOOL_OUTCOME_UNKNOWN"), ("m3", "TOOL_NOT_STARTED")]
    text = added[0]["data"]["message"]["content"][0]["content"][0]["text"]
    assert "unknown" in text
    assert "not run" not in text
    assert files_of(tmp_path)["s1.jsonl"].startswith(data), "no line is rewritten"


def test_b17_spec_wins_an_orphan_result_is_on_the_surface_and_the_pairing_refuses_it_by_name() -> None:
    events = make.log(*OPEN, make.result("lost"), make.asks("a"), make.call("a"), make.result("a"), make.result("a"))
    assert [problem.seq for problem in check_invariants(events)] == [2, 6], "the second answer to one call is caught as well"
    with pytest.raises(PairingError) as caught:
        pairing_cuts(events)
    assert caught.value.seq == 2
    assert len(Session.create("s1", seed=events).derive_messages()) == 4
    assert fold(tool_pairing, events)["succeeded"] == 1


# Lines


def test_b20_spec_wins_a_bad_line_ends_the_log_and_says_how_much_is_behind_it_or_is_damage_when_a_turn_ends_there() -> None:
    found = scan_log(HEADER_LINE + LINES[0] + b'{"type":"snap\n' + LINES[1] + LINES[2])
    assert (len(found.events), found.torn and (found.torn.line, found.torn.records, found.torn.whole)) == (1, (3, 3, 2))
    assert damaged_at(LINES[0], b'{"type":"snap\n', LINES[1], END) == 3


def test_b22_a_tail_of_nuls_is_cut_and_kept_but_nuls_inside_and_alone_are_damage(tmp_path: Path) -> None:
    nuls = b"\x00" * 284
    store = make.jsonl_file(tmp_path, log_bytes(*TALK) + nuls)
    repair = store.load("s1").repair
    assert repair is not None
    assert repair.kept_in is not None
    assert repair.kept_in.read_bytes() == nuls
    assert store.path("s1").read_bytes() == log_bytes(*TALK)
    assert damaged_at(LINES[0], nuls + b"\n", LINES[1], END) == 3
    for data in (nuls, nuls + b"\n"):
        with pytest.raises(LogCorruptError):
            scan_log(data)


def test_b23_nuls_behind_a_record_on_its_line_spoil_that_record_and_the_log_stays_listed(tmp_path: Path) -> None:
    spoiled = LINES[1][:-1] + b"\x00" * 90 + b"\n"
    assert damaged_at(LINES[0], spoiled, END) == 3
    store = make.jsonl_file(tmp_path, HEADER_LINE + LINES[0] + spoiled + END)
    assert [header.id for header in store.list()] == ["s1"]


def test_b25_spec_wins_a_last_record_without_its_line_break_is_torn_even_if_it_could_be_read() -> None:
    found = scan_log(HEADER_LINE + LINES[0] + LINES[1][:-1])
    assert (len(found.events), found.torn is not None, found.committed_bytes) == (1, True, len(HEADER_LINE + LINES[0]))
    assert kept(LINES[0], LINES[1][:30]) == 1
    assert kept(LINES[0], LINES[1][:30] + b"\n") == 1


def test_b26_spec_wins_a_bad_byte_makes_its_line_unreadable_and_never_a_replacement_character() -> None:
    cut = LINES[0] + LINES[1][:-30] + b"\xe4\xbd"
    assert kept(cut) == 1
    spoiled = LINES[1].replace(b"second", b"caf\xe9")
    assert kept(LINES[0], spoiled, LINES[2]) == 1
    assert damaged_at(LINES[0], spoiled, LINES[2], END) == 3


@pytest.mark.parametrize("character", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\r", "\x7f", "\ufeff"], ids=repr)
def test_b28_b29_characters_that_other_readers_take_for_line_ends_stay_in_their_line(tmp_path: Path, character: str) -> None:
    session = Session.create("s1")
    session.append("user/message", make.user_data(f"before{character}after"), surface_op="append")
    writer = JsonlStore(tmp_path).attach(session)
    writer.close()
    assert JsonlStore(tmp_path).path("s1").read_bytes().count(b"\n") == 2
    assert make.same_messages(Session.create("s1", seed=JsonlStore(tmp_path).load("s1").events)) == make.same_messages(session)


@pytest.mark.parametrize("control", [b"\x0b", b"\x0c", b"\x1c", b"\x00", b"\x1f"], ids=repr)
def test_b29_a_bare_control_character_in_a_string_is_no_json_and_moves_no_line_number(control: bytes) -> None:
    assert damaged_at(LINES[0], LINES[1].replace(b"second", b"sec" + control + b"ond"), LINES[2], END) == 3


def test_b31_a_blank_line_is_a_bad_record_a_cr_before_the_line_break_is_space_and_a_lone_cr_ends_nothing() -> None:
    assert kept(LINES[0], b"\n", LINES[1]) == kept(LINES[0], b"   \n", LINES[1]) == 1
    assert damaged_at(LINES[0], b"\n", LINES[1], END) == 3
    crlf = scan_log((HEADER_LINE + b"".join(LINES)).replace(b"\n", b"\r\n"))
    assert make.plain(crlf.events) == numbered(*TALK)
    assert kept(LINES[0][:-1] + b"\r" + LINES[1]) == 0


@pytest.mark.parametrize("value", [b'"just text"', b"42", b"null", b"[]", b"true", b"{}"], ids=repr)
def test_b32_spec_wins_json_that_is_no_object_is_an_unreadable_line_and_no_crash(value: bytes) -> None:
    assert kept(LINES[0], value + b"\n", LINES[1]) == 1
    assert damaged_at(LINES[0], value + b"\n", LINES[1], END) == 3


# Values


def test_b34_digits_survive_and_a_number_that_another_reader_would_round_is_refused_at_append(tmp_path: Path) -> None:
    arguments = '{"id": 7312845690127734561, "n": 9007199254740993}'
    call = make.record("tool/call", {**make.call("o1")["data"], "arguments": arguments})
    store = make.jsonl_file(
        tmp_path,
        log_bytes(
            *OPEN, call, make.record("session/title", {"snowflake": 7312845690127734561}), make.step_end(), make.turn_end()
        ),
    )
    events = store.load("s1").events
    assert events[2].read()["arguments"] == arguments
    assert to_json(events[3].data) == {"snowflake": 7312845690127734561}
    store.append("s1", [SessionEvent.from_json({**events[3].to_json(), "seq": 6})])
    assert store.path("s1").read_bytes().count(b"7312845690127734561") == 3
    with pytest.raises(LosslessError):
        Session.create("s1").append("session/title", {"snowflake": 7312845690127734561})


@pytest.mark.parametrize("literal", [b"NaN", b"Infinity", b"-Infinity"])
def test_b35_a_literal_that_is_no_json_is_no_record_and_is_never_written(literal: bytes) -> None:
    spoiled = LINES[1].replace(b'"second"', literal)
    assert damaged_at(LINES[0], spoiled, END) == 3
    for value in (float("nan"), float("inf"), -float("inf")):
        with pytest.raises(LosslessError):
            Session.create("s1").append("plugin/x", {"loss": value})


def test_b35_a_number_that_overflows_is_refused_and_not_dropped() -> None:
    assert damaged_at(LINES[0], LINES[1].replace(b'"second"', b"1e999"), LINES[2]) == 3


def test_b37_spec_wins_depth_is_no_error_and_recursion_never_escapes(tmp_path: Path) -> None:
    deep = b"[" * 20_000 + b"]" * 20_000
    store = make.jsonl_file(
        tmp_path, HEADER_LINE + LINES[0].replace(b'"first"', deep) + LINES[1].replace(b'"second"', deep) + LINES[2]
    )
    loaded = store.load("s1")
    session = Session.create("s1", seed=loaded.events)
    assert len(session.derive_messages()) == 3
    assert check_invariants(loaded.events)[0].seq == 1
    assert is_lossless_json(to_json(session.derive_messages()[0]))
    assert fold(session_stats, loaded.events)["steps"] == 0


def test_b38_half_a_pair_is_kept_and_written_as_utf8(tmp_path: Path) -> None:
    session = Session.create("s1")
    for text in ("done \ud83d", "pair ok \ud83d\ude00", "\ude00"):
        session.append("user/message", make.user_data(text), surface_op="append")
    store = JsonlStore(tmp_path)
    store.attach(session, on_flush).close()
    store.path("s1").read_bytes().decode("utf-8")
    texts = [
        message["content"][0]["text"] for message in make.same_messages(Session.create("s1", seed=store.load("s1").events))
    ]
    assert texts == ["done \ud83d", "pair ok 😀", "\ude00"]


def test_b40_a_null_block_is_kept_and_crashes_nobody_but_content_is_a_list() -> None:
    events = make.log(
        *OPEN,
        make.record("user/message", {**make.user_data(), "content": [None, make.text_block("hi")]}, surfaceOp="append"),
        make.record("assistant/message", make.says_data(None, make.call_block("n1")), surfaceOp="append"),
    )
    session = Session.create("s1", seed=events)
    assert make.same_messages(session)[0]["content"] == [None, make.text_block("hi")]
    assert oracle.told(interrupted_turn_closers(events)[0].to_json()) == ("tool/result", ("n1", "TOOL_NOT_STARTED"))
    assert pairing_cuts(events) == [True, True, False]
    for unit in (tool_pairing, session_stats):
        assert fold(unit, events) is not None
    with pytest.raises(EventError):
        SessionEvent.from_json(
            numbered(make.record("user/message", {**make.user_data(), "content": None}, surfaceOp="append"))[0]
        )


# Files


def test_b41_a_record_and_its_line_break_are_one_write_and_welded_records_are_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from labsupport import system
    from labsupport.sessionlog.storage import files

    written: list[bytes] = []
    write_all = files.write_all

    def watched(fd: int, data: bytes) -> None:
        written.append(data)
        write_all(fd, data)

    for module in (files, system):  # appends, and files that are made whole
        monkeypatch.setattr(module, "write_all", watched)
    store = make.stored(JsonlStore(tmp_path), *TALK)
    store.append("s1", make.log(make.user("x" * 200_000), first=3))
    assert len(written) == 2
    assert all(data.endswith(b"\n") for data in written)
    assert damaged_at(LINES[0][:-1] + LINES[1], LINES[2], END) == 2


def test_b43_a_handle_whose_cursor_is_old_is_refused_and_no_seq_comes_twice(tmp_path: Path) -> None:
    records = [make.turn_start(), make.user("list"), make.asks("l1")]
    make.jsonl_file(tmp_path, log_bytes(*records))
    first, second = JsonlStore(tmp_path), JsonlStore(tmp_path)
    assert len(first.inspect("s1").events) == 5
    recovered = second.load("s1").events
    with pytest.raises(StaleCursorError):
        first.append("s1", make.log(make.result("l1"), first=3))
    assert [event.seq for event in first.load("s1").events] == [event.seq for event in recovered] == [0, 1, 2, 3, 4]


def test_b44_a_write_that_broke_off_is_cut_back_and_the_next_one_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from labsupport.sessionlog.storage import files

    store = make.stored(JsonlStore(tmp_path), *TALK)
    write_all = files.write_all

    def broken(fd: int, data: bytes) -> None:
        write_all(fd, data[:10])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "write_all", broken)
    with pytest.raises(OSError, match="No space"):
        store.append("s1", make.log(make.user("A"), first=3))
    assert store.path("s1").read_bytes() == log_bytes(*TALK)
    monkeypatch.setattr(files, "write_all", write_all)
    store.append("s1", make.log(make.user("B"), first=3))
    assert store.load("s1").events[3].read()["content"][0]["text"] == "B"


def test_b44_a_tear_that_could_not_be_cut_back_is_not_written_behind(tmp_path: Path) -> None:
    from labsupport.errors import TornLogError

    store = make.jsonl_file(tmp_path, log_bytes(*TALK) + b'{"type":"to')
    with pytest.raises(TornLogError):
        store.append("s1", make.log(make.user("B"), first=3))
    assert store.path("s1").read_bytes() == log_bytes(*TALK) + b'{"type":"to'


def test_b46_b47_a_refusal_of_the_system_names_the_path_and_speaks_of_no_damage(tmp_path: Path) -> None:
    store = JsonlStore(tmp_path / "file")
    (tmp_path / "file").write_text("in the way")
    store.create(SessionHeader("s1"))
    with pytest.raises(OSError, match=r"file") as caught:
        store.append("s1", make.log(*TALK))
    assert "damage" not in str(caught.value)
    assert list(store.list()) == []
    make.stored(folder := JsonlStore(tmp_path / "logs"), *TALK, id="good")
    folder.path("s1").mkdir()
    assert [header.id for header in folder.list()] == ["good"]


def test_b49_a_message_id_that_comes_twice_is_two_events() -> None:
    events = make.log(
        make.turn_start(),
        make.user("hint", "hint"),
        make.turn_end(),
        make.turn_start(2),
        make.user("hint", "hint"),
        make.turn_end(2),
    )
    assert [message["id"] for message in Session.create("s1", seed=events).derive_messages()] == ["hint", "hint"]
    assert check_invariants(events) == []


def test_b50_the_order_is_that_of_seq_whatever_the_clock_says() -> None:
    times = [5000, 5001, 3999, 0]
    values = [
        {**one, "time": time}
        for one, time in zip(numbered(make.user("go"), make.asks("q1"), make.result("q1"), make.says()), times, strict=True)
    ]
    found = scan_log(HEADER_LINE + b"".join(map(line, values))).events
    assert [(event.seq, event.time) for event in found] == list(enumerate(times))
    assert [message["role"] for message in Session.create("s1", seed=found).derive_messages()] == [
        "user",
        "assistant",
        "user",
        "assistant",
    ]


def test_b52_an_unknown_event_is_refused_by_name_and_an_ignorable_one_is_kept(tmp_path: Path) -> None:
    switch = make.record("fallbacks/switch", {"to": "m2"})
    store = make.jsonl_file(tmp_path, data := log_bytes(make.user(), switch, make.says()))
    for ask in (store.load, store.inspect, lambda id: store.read_from(id, 0)):
        with pytest.raises(UnknownEventError) as caught:
            ask("s1")
        assert (caught.value.type, caught.value.seq) == ("fallbacks/switch", 1)
    assert files_of(tmp_path)["s1.jsonl"] == data
    assert len(scan_log(data).events) == 3, "it can still be read raw"
    (folder := tmp_path / "other").mkdir()
    other = make.jsonl_file(folder, log_bytes(make.user(), {**switch, "ignorable": True}, make.says()))
    resumed = Session.create("s1", seed=other.load("s1").events)
    assert resumed.events[1].to_json() == numbered(make.user(), {**switch, "ignorable": True})[1]
    assert len(resumed.derive_messages()) == 2


@pytest.mark.parametrize(
    "op",
    [{"op": "replace", "startSeq": 0, "endSeq": 1}, {"op": "replace", "start": 0, "endSeq": 1}, {"op": "replace", "start": 0}],
    ids=repr,
)
def test_b53_spec_wins_one_dialect_is_read_and_another_is_refused_and_never_guessed(op: Record) -> None:
    with pytest.raises(EventError):
        SessionEvent.from_json({**make.user(op=op, sourceEventSeqs=[0, 1]), "seq": 2, "time": 0})
    assert damaged_at(LINES[0], LINES[1], line({**make.user(op=op, sourceEventSeqs=[0, 1]), "seq": 2, "time": 0})) == 4
    with pytest.raises(LogFormatError, match="newer"):
        scan_log(HEADER_LINE.replace(b'"version":0', b'"version":3') + LINES[0])


def test_b55_the_ends_of_a_replacement_are_positions_not_numbers() -> None:
    events = make.log(
        make.user("q1"),
        make.says("a1"),
        make.user("q2"),
        make.says("a2"),
        make.user("0-1", op=replacing(0, 1), sourceEventSeqs=[0, 1]),
        make.user("4-2", op=replacing(4, 2), sourceEventSeqs=[4, 2]),
    )
    session = Session.create("s1", seed=events)
    assert list(session.surface.nodes) == [5, 3]
    assert [message["content"][0]["text"] for message in session.derive_messages()] == ["4-2", "a2"]


def test_b56_a_compaction_that_was_left_open_is_stale_after_the_next_start() -> None:
    events = make.log(*TALK, make.record("compaction/start", {"compactionId": "k1", "turn": None}))
    session = Session.create("s1", seed=events)
    assert interrupted_turn_closers(events) == [], "recovery claims nothing about it"
    for one in (
        make.record("compaction/start", {"compactionId": "k2", "turn": None}),
        make.record("compaction/end", {"compactionId": "k2", "turn": None, "error": {}}),
    ):
        make.append(session, one)
    assert check_compaction(session.events) == []
    before = make.plain(session.events)
    with pytest.raises(SurfaceError):
        make.append(session, make.user("sum", op=replacing(0, 77), sourceEventSeqs=[0]))
    assert make.plain(session.events) == before


def test_b71_a_file_that_was_replaced_by_one_of_the_same_size_is_noticed(tmp_path: Path) -> None:
    first, second = log_bytes(make.user("alpha"), make.says("beta")), log_bytes(make.user("gamma"), make.says("zeta"))
    assert len(first) == len(second)
    store = make.jsonl_file(tmp_path, first)
    store.append("s1", make.log(make.user("more"), first=2))
    revision = store.revision("s1")
    path = store.path("s1")
    replacement = second + path.read_bytes()[len(first) :]
    path.write_bytes(replacement)
    assert store.revision("s1") != revision
    assert store.read_from("s1", 0)[0].read()["content"][0]["text"] == "gamma"
    session = Session.create("s1", seed=make.log(make.user("alpha"), make.says("beta"), make.user("other")))
    with pytest.raises(StaleCursorError):
        store.attach(session)


# Ids and links: test_disk has many more


@pytest.mark.parametrize(
    "id",
    [
        "../evil",
        "..\\evil",
        "/etc/passwd",
        "a/b",
        ".",
        "..",
        "con",
        "x\x00y",
        "a" * 300,
        "line\nbreak",
        "\u202egpj.exe",
        "ok-1_2",
    ],
    ids=ascii,
)
def test_b79_no_id_leads_out_of_the_folder(tmp_path: Path, id: str) -> None:
    store = make.stored(JsonlStore(tmp_path / "logs"), *TALK, id=id)
    assert [path.name for path in tmp_path.iterdir()] == ["logs"]
    assert store.path(id).parent == tmp_path / "logs"
    assert store.load(id).header.id == id


def test_b79_an_id_that_looks_like_an_encoded_one_is_another() -> None:
    assert len({encode_segment(id) for id in ("a/b", "a~002fb", "a~007e002fb", "A", "a", "~0041")}) == 6


@pytest.mark.skipif(not make.POSIX, reason="links as on POSIX")
def test_b80_links_are_not_followed_out_of_the_folder(tmp_path: Path) -> None:
    elsewhere = make.stored(JsonlStore(tmp_path / "elsewhere"), *TALK)
    before = files_of(tmp_path / "elsewhere")
    store = make.stored(JsonlStore(tmp_path / "logs"), *TALK, id="good")
    store.path("s1").symlink_to(elsewhere.path("s1"))
    (tmp_path / "linked").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    for refused in (
        lambda: store.append("s1", make.log(make.user(), first=3)),
        lambda: store.load("s1"),
        lambda: JsonlStore(tmp_path / "linked"),
    ):
        with pytest.raises(SessionLogError, match="link"):
            refused()
    assert [header.id for header in store.list()] == ["good"]
    assert files_of(tmp_path / "elsewhere") == before


# B76, B77: what errors say, and what they never say

SECRET = "sk-CANARY-4f9a<img src=x onerror=alert(1)>"
KEY = "hunter2-CANARY"


def with_body(one: Record) -> Record:
    return {**one, "data": {**one["data"], KEY: SECRET}}


BODY = json.dumps({KEY: SECRET})


def scanning(*lines: str) -> Callable[[], object]:
    return lambda: scan_log(HEADER_LINE + "".join(f"{one}\n" for one in lines).encode())


def appending(data: object, **more: object) -> Callable[[], object]:
    return lambda: Session.create("s1").append("user/message", data, **more)  # type: ignore[arg-type]


def seeding(*records: Record) -> Callable[[], object]:
    return lambda: Session.create("s1", seed=make.log(*records))


REFUSALS: dict[str, Callable[[], object]] = {
    "not JSON, and a turn ends": scanning('{"type":"x","data":"' + SECRET + '"', '{"type":"turn/end"}'),
    "a wrong field": scanning(f'{{"type":"x","seq":0,"time":5,"data":1,"{KEY}":{BODY}}}'),
    "a wrong time": scanning(f'{{"type":"x","seq":0,"time":"{SECRET}","data":{BODY}}}'),
    "a wrong op": scanning(f'{{"type":"user/message","seq":0,"time":0,"data":{BODY},"surfaceOp":"{SECRET}"}}'),
    "no shape": scanning(f'{{"type":"user/message","seq":0,"time":0,"data":{BODY},"surfaceOp":"append"}}'),
    "a role": scanning(
        f'{{"type":"user/message","seq":0,"time":0,"data":{{"id":"u","role":"{SECRET}"}},"surfaceOp":"append"}}'
    ),
    "an overflow": scanning(f'{{"type":"x","seq":0,"time":0,"data":["{SECRET}",1e999]}}'),
    "a header": lambda: scan_log(json.dumps({"type": SECRET, "version": 0, KEY: SECRET}).encode() + b"\n"),
    "a header that is no JSON": lambda: scan_log(b'{"type":"session","' + SECRET.encode() + b"\n"),
    "another version": lambda: scan_log(json.dumps({"version": 7, KEY: SECRET}).encode() + b"\n"),
    "a header field": lambda: SessionHeader.from_json({"version": 0, "id": "s", "createdAt": SECRET}),
    "a value": appending({KEY: SECRET, "x": {SECRET}}),
    "a key": appending({SECRET: {1}, KEY: {SECRET: (1,)}}),
    "an op": appending({KEY: SECRET}, surface_op=SECRET),
    "sources": appending({KEY: SECRET}, surface_op="append", source_event_seqs=SECRET),
    "no event": lambda: SessionEvent.from_json(SECRET),
    "a row": lambda: decode_record({"type": "text-chunks", "seq0": 0, "time0": 0, "data": {KEY: SECRET}}),
    "a row's member": lambda: decode_record(
        {
            "type": "text-chunks",
            "seq0": SECRET,
            "time0": 0,
            "data": {"turn": 1, "step": 1, "index": 0, "dt": [], "texts": [SECRET]},
        }
    ),
    "a rewrite": seeding(
        make.asks("c1"), make.result("c1", SECRET), make.result("c1", SECRET, step=2, op=replacing(1, 1), sourceEventSeqs=[1])
    ),
    "a replacement": seeding(make.user(SECRET), make.user(SECRET, op=replacing(5, 5), sourceEventSeqs=[0])),
    "a request header": seeding(make.record("request/header", {"header": {"config": {"provider": SECRET}}, KEY: SECRET})),
    "a derivation": lambda: (
        session := Session.create("s1"),
        session.append("user/message", {KEY: SECRET}, surface_op="append"),
        session.derive_messages(),
    ),
    "a cut": lambda: pairing_cuts(make.log(make.result("c1", SECRET))),
}


def everything_in(error: BaseException) -> Iterator[str]:
    """All that an error carries: its words, its attributes, and the errors behind it."""
    yield from traceback.format_exception(error)
    seen: BaseException | None = error
    while seen is not None:
        yield from (str(seen), repr(seen.args), repr(vars(seen)))
        seen = seen.__cause__ or seen.__context__


@pytest.mark.parametrize("refused", REFUSALS.values(), ids=REFUSALS)
def test_b76_no_error_carries_a_body_or_a_key_of_it(refused: Callable[[], object]) -> None:
    with pytest.raises(SessionLogError) as caught:
        refused()
    assert "CANARY" not in "".join(everything_in(caught.value))
    assert len(str(caught.value)) > 15


def test_b76_a_log_that_cannot_be_written_tells_no_body(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    from labsupport.sessionlog.storage import every_event

    session = Session.create("s1")
    writer = JsonlStore(tmp_path).attach(session, every_event)
    with caplog.at_level(logging.DEBUG):
        session.append("user/message", {KEY: SECRET}, surface_op="append")  # no shape: the store refuses it
    assert "EventError" in caplog.text
    assert "CANARY" not in caplog.text
    with pytest.raises(EventError) as caught:
        writer.close()
    assert "CANARY" not in "".join(everything_in(caught.value))


def test_b76_a_torn_tail_is_told_of_by_place_and_count_alone() -> None:
    torn = scan_log(HEADER_LINE + f'{{"{KEY}":"{SECRET}\n'.encode()).torn
    assert torn is not None
    assert "CANARY" not in repr(torn)


def test_b77_a_problem_says_nothing_that_a_log_said() -> None:
    records = [make.turn_start(), make.step_start(), make.asks('"><i id=1'), make.result('"><svg onload=alert(3)>')]
    for problem in [
        *check_invariants(make.log(*records)),
        *check_compaction(make.log(make.record("compaction/end", {"compactionId": SECRET, "turn": SECRET}))),
    ]:
        assert "<" not in problem.message
        assert "CANARY" not in problem.message


NEXT_STEPS = {
    "damage": (lambda: scan_log(HEADER_LINE + b"x\n" + END), "damage"),
    "newer": (lambda: scan_log(b'{"version":9}\n'), "newer version of this library"),
    "older": (lambda: scan_log(b'{"version":-9}\n'), "upgrade it"),
}


@pytest.mark.parametrize(("refused", "word"), NEXT_STEPS.values(), ids=NEXT_STEPS)
def test_a_refusal_says_what_it_means_or_what_to_do(refused: Callable[[], Any], word: str) -> None:
    with pytest.raises(SessionLogError, match=word):
        refused()
