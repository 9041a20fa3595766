"""The logs in data/sessionlog/: recorded again byte for byte, and each is what its name says."""
from itertools import groupby, pairwise

import pytest

from labsupport.errors import LabError, LogCorruptError, LogFormatError, UnknownEventError
from labsupport.sessionlog import (
    Session,
    check_compaction,
    check_invariants,
    fold,
    fold_surface,
    session_stats,
    tool_pairing,
    turn_status,
)
from labsupport.sessionlog.storage import JsonlStore, scan_log
from labsupport.sessionlog.transcript import transcript
from labsupport.workbench import log_samples
from labsupport.workbench.log_task import NAME, TOOLS, compare, list_rows

REFUSED = {"damaged": LogCorruptError, "newer_format": LogFormatError, "unknown_event": UnknownEventError}
LOADED = [name for name in log_samples.NAMES if name not in REFUSED]
COMPLETE = [name for name in LOADED if name not in ("interrupted", "torn")]


def types(name):
    return [kind for kind, _ in groupby(event.type for event in log_samples.load(name).events)]


def of(name, kind):
    return [event for event in log_samples.load(name).events if event.type == kind]


def session(name):
    log = log_samples.load(name)
    return Session.create(log.header.id, seed=log.events, header=log.header)


def codes(name):
    """The error code of each result, None where the tool did its work."""
    return [event.read().get("error", {}).get("code") for event in of(name, "tool/result")]


def test_everything_is_recorded_again_byte_for_byte(tmp_path):
    log_samples.write_all(tmp_path)
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    kept = {path.name: path.read_bytes() for path in log_samples.FOLDER.glob("*.jsonl")}
    assert sorted(made) == sorted(kept) == sorted(f"{name}.jsonl" for name in log_samples.NAMES)
    assert [name for name in made if made[name] != kept[name]] == []


@pytest.mark.parametrize("name", LOADED)
def test_a_log_that_opens_has_good_relations_and_derives(name):
    log = log_samples.load(name)
    assert (check_invariants(log.events), check_compaction(log.events)) == ([], [])
    assert (log.header.id, log.header.created_at <= log.events[0].time) == (name, True)
    assert len(session(name).derive_messages()) >= 2
    assert transcript(log.events)[0].role == "user"


@pytest.mark.parametrize("name", COMPLETE)
def test_a_complete_log_needs_no_repair(name):
    assert log_samples.load(name).repair is None


@pytest.mark.parametrize(("name", "error"), REFUSED.items())
def test_what_cannot_be_read_faithfully_is_refused_by_its_own_class(name, error):
    with pytest.raises(error) as caught:
        log_samples.load(name)
    assert type(caught.value) is error


def test_loading_touches_nothing():
    before = {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in log_samples.FOLDER.iterdir()}
    for name in ("interrupted", "torn", "two_step"):
        log_samples.load(name)
    assert {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in log_samples.FOLDER.iterdir()} == before


def test_the_two_step_task():
    assert types("two_step") == [
        "turn/start", "step/start", "user/message", "request/header", "request/context", "assistant/chunk", "assistant/message",
        "tool/call", "tool/result", "step/end", "step/start", "assistant/chunk", "assistant/message", "step/end", "turn/end"]
    result = of("two_step", "tool/result")[0].data["message"]["content"][0]["content"][0]["text"]
    found = compare("count")
    assert result == f"2024: {found.before:,}\n2025: {found.after:,}\nchange: {found.change}"
    answer = session("two_step").derive_messages()[-1]["content"][0]["text"]
    assert all(figure in answer for figure in (f"{found.before:,}", f"{found.after:,}", found.change))
    usage = [event.data["usage"] for event in of("two_step", "assistant/message")]
    assert usage[0]["inputTokens"] == usage[1]["cacheReadTokens"] > 0 == usage[0]["cacheReadTokens"]


def test_time_steps_back_in_parallel_alone():
    back = {name for name in LOADED for before, after in pairwise(log_samples.load(name).events) if after.time < before.time}
    assert back == {"parallel"}
    assert [event.type for event in log_samples.load("parallel").events if event.type.startswith("tool/")] == [
        "tool/call", "tool/result"] * 2
    asked = of("parallel", "assistant/message")[0].data["message"]["content"]
    assert [block["type"] for block in asked] == ["tool-call", "tool-call"]


def test_steering_enters_with_step_two():
    said = of("steering", "user/message")
    starts = of("steering", "step/start")
    assert [event.seq for event in said] == [starts[0].seq + 1, starts[1].seq + 1]


@pytest.mark.parametrize(("name", "ends", "answered"), [
    ("two_step", ["completed"], [None]),
    ("parallel", ["completed"], [None, None]),
    ("steering", ["completed"], [None, None]),
    ("max_tokens", ["max-tokens"], [None, "TOOL_NOT_STARTED"]),
    ("cancelled", ["aborted"], [None, "ABORTED_BEFORE_DISPATCH"]),
    ("cancelled_stream", ["aborted"], [None]),
    ("tool_raises", ["completed"], ["TOOL_FAILED", None]),
    ("provider_error", ["error"], [None]),
    ("replaced", ["completed"] * 3, [None, None, None]),
    ("interrupted", ["interrupted"], ["TOOL_OUTCOME_UNKNOWN", "TOOL_NOT_STARTED"]),
    ("torn", ["interrupted"], ["TOOL_NOT_STARTED", "TOOL_NOT_STARTED"]),
    ("resumed", ["interrupted", "completed"], ["TOOL_OUTCOME_UNKNOWN", "TOOL_NOT_STARTED", None]),
    ("packed", ["completed"], [None]),
    ("ignorable_event", ["completed"], [None]),
    ("long", ["completed"] * 32, [None] * 19 + ["TOOL_FAILED"] + [None] * 13),
])
def test_how_turns_ended_and_calls_were_answered(name, ends, answered):
    assert [event.data["reason"]["kind"] for event in of(name, "turn/end")] == ends
    assert codes(name) == answered
    assert fold(turn_status, log_samples.load(name).events)["status"] == ends[-1]


def test_every_sample_is_in_the_table_above():
    marks = test_how_turns_ended_and_calls_were_answered.pytestmark
    assert {row[0] for row in marks[0].args[1]} == set(LOADED)


@pytest.mark.parametrize("name", ["cancelled_stream", "provider_error"])
def test_a_broken_stream_has_chunks_and_no_message(name):
    assert len(of(name, "assistant/message")) == 1
    last = transcript(log_samples.load(name).events)[-1]
    assert (last.role, last.kind, last.marks) == ("assistant", "text", ("partial",))


def test_a_cut_call_has_no_tool_call():
    assert len(of("max_tokens", "tool/call")) == 1
    assert session("max_tokens").derive_messages()[-2]["content"][1]["arguments"] == '{"file": "outpa'


def test_what_was_replaced_stays_in_the_log():
    surface = fold_surface(log_samples.load("replaced").events)
    prune, summary = surface.replacements
    whole, pruned = (session("replaced").events[seq].data["message"]["content"][0]["content"][0]["text"]
                     for seq in (prune.start, prune.seq))
    assert whole == list_rows({"file": NAME})
    assert len(whole) > 8_192 > len(pruned)
    assert (whole[:4_096], whole[-1_024:]) == (pruned[:4_096], pruned[-1_024:])
    assert prune.seq in summary.shadowed_seqs
    assert [row.marks for row in transcript(log_samples.load("replaced").events)] == [()] * 10


def test_the_request_behind_a_pruned_result_has_the_pruned_one():
    events = log_samples.load("replaced").events
    prune = fold_surface(events).replacements[0].seq
    assert types("replaced")[types("replaced").index("compaction/prune"):][:3] == [
        "compaction/prune", "tool/result", "assistant/chunk"]
    assert events[prune].surface_op != "append"


def test_an_interrupted_log_says_what_is_known():
    scan = scan_log(log_samples.path("interrupted").read_bytes())
    assert (scan.torn, scan.events[-1].type, scan.events[-1].data["callId"]) == (None, "tool/call", "call_1")
    torn = scan_log(log_samples.path("torn").read_bytes())
    assert (torn.torn.records, torn.events[-1].type) == (1, "assistant/message")
    assert [event.to_json() for event in torn.events] == [event.to_json() for event in scan.events[:-1]]


def test_the_resumed_session_goes_on_with_another_model():
    resumed = types("resumed")
    assert resumed[resumed.index("turn/end"):][:3] == ["turn/end", "session/end-seed", "turn/start"]
    assert [(event.data["reason"], event.data["header"]["config"]["model"]) for event in of("resumed", "request/header")] == [
        ("initial", "scripted-1"), ("resume", "scripted-2")]


def test_the_packed_log_holds_every_kind_of_row():
    lines = log_samples.path("packed").read_bytes().split(b"\n")
    for kind in (b"text", b"reasoning", b"tool-call"):
        assert [line for line in lines if line.startswith(b'{"type":"' + kind + b'-chunks"')]
    assert len(lines) < len(log_samples.load("packed").events) / 3


def test_the_long_log_fills_a_slider():
    events = log_samples.load("long").events
    assert 900 <= len(events) <= 1_100
    assert len(fold_surface(events).replacements) == 1
    assert any("一" <= character <= "鿿" for character in str(events[-3].data) + str(of("long", "user/message")[2].data))
    stats = fold(session_stats, events)
    assert (stats["turns"], stats["steps"]) == (32, 65)
    assert {key: count for key, count in fold(tool_pairing, events).items() if key != "calls"} == {
        "succeeded": 32, "failed": 1, "unknown": 0}


def test_the_unknown_event_may_be_passed_over_when_it_says_so():
    last = log_samples.load("ignorable_event").events[-1]
    assert (last.type, last.ignorable) == ("bookmark/set", True)
    with pytest.raises(UnknownEventError) as caught:
        log_samples.load("unknown_event")
    assert (caught.value.type, caught.value.seq) == ("bookmark/set", last.seq)


def test_damage_stays_in_one_line():
    good, bad = (log_samples.path(name).read_bytes().split(b"\n") for name in ("two_step", "damaged"))
    assert [number for number, (a, b) in enumerate(zip(good, bad, strict=True), 1) if a != b] == [1, 15]  # line 1 holds the id
    with pytest.raises(LogCorruptError) as caught:
        log_samples.load("damaged")
    assert caught.value.line == 15


def test_a_store_lists_them_all_but_the_newer_one():
    listing = JsonlStore(log_samples.FOLDER).list()
    assert {header.id for header in listing} == set(log_samples.NAMES) - {"newer_format"}
    assert [type(problem) for problem in listing.problems] == [LogFormatError]


@pytest.mark.parametrize(("name", "sentence"), [
    ("two-step", "did you mean 'two_step'"), ("zzz", "there are two_step, parallel"),
])
def test_an_unknown_name_is_answered(name, sentence):
    with pytest.raises(LabError, match=sentence):
        log_samples.load(name)


def test_the_tools_read_the_table():
    assert TOOLS["compare_years"]({"file": NAME, "column": "repeats", "clinic": "hillside"}).startswith("2024: ")
    assert len(TOOLS["list_rows"]({"file": NAME}).split("\n")) == 218
    with pytest.raises(FileNotFoundError, match=NAME):
        TOOLS["list_rows"]({"file": "other.csv"})
