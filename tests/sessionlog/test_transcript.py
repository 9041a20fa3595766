"""What a person saw: appended messages only, streams without a message, and what is marked."""
import pytest

from labsupport.sessionlog import Session, SessionEvent, interrupted_turn_closers
from labsupport.sessionlog.driver import run_turn
from labsupport.sessionlog.models import Reply, ScriptedModel, call
from labsupport.sessionlog.transcript import TranscriptRow, transcript

CONFIG = {"provider": "p", "model": "m"}
ADD = call("c1", "add", "[1, 2]")
TOOLS = {"add": lambda numbers: str(sum(numbers))}


def record(*replies, tools=TOOLS, **options):
    session = Session.create("s1")
    run_turn(session, "1 + 2?", ScriptedModel(replies), tools, config=CONFIG, **options)
    return session


def seen(events):
    return [(row.role, row.kind, row.text, row.marks) for row in transcript(events)]


TASK = [("user", "text", "1 + 2?", ()), ("assistant", "reasoning", "A sum.", ()), ("assistant", "call", "add [1, 2]", ()),
        ("tool", "result", "3", ()), ("assistant", "text", "It is 3.", ())]


def two_step():
    return record(Reply(calls=[ADD], reasoning="A sum."), Reply("It is 3.", size=3))


def test_a_row_is_a_block_at_the_seq_of_its_message():
    session = two_step()
    rows = transcript(session.events)
    assert seen(session.events) == TASK
    nodes = list(session.surface.nodes)
    assert [row.seq for row in rows] == [nodes[0], nodes[1], nodes[1], nodes[2], nodes[3]]
    assert [row.call for row in rows] == [None, None, "c1", "c1", None]


def test_at_every_watermark_it_shows_what_was_seen_by_then():
    events = two_step().events
    whole = "".join(text for _, _, text, _ in TASK)
    lengths = []
    for end in range(len(events) + 1):
        said = "".join(row.text for row in transcript(events[:end]) if row.kind != "call")
        lengths.append(len(said))
        assert said == whole.replace("add [1, 2]", "")[:len(said)]
    assert lengths == sorted(lengths)  # what was seen is not taken back


def test_a_running_stream_stands_at_its_first_chunk():
    events = two_step().events
    last = max(event.seq for event in events if event.type == "assistant/chunk" and event.data["chunk"]["type"] == "text-delta")
    first = next(event.seq for event in events if event.type == "assistant/chunk" and event.data["step"] == 2)
    assert transcript(events[:last])[-1] == TranscriptRow(first, "assistant", "text", "It is ", ("partial",))
    assert transcript(events[:last + 1])[-1].text == "It is 3."


@pytest.mark.parametrize("error", [("gone", "GONE"), None], ids=["the provider gave up", "the user cancelled"])
def test_a_stream_that_broke_is_shown_as_far_as_it_came(error):
    session = Session.create("s1")
    run_turn(session, "hi", ScriptedModel([Reply("It is", [ADD], error=error)]), TOOLS, config=CONFIG,
             cancelled=lambda: error is None and "argumentsDelta" in str(session.events[-1].data))
    assert seen(session.events)[1:] == [
        ("assistant", "text", "It is", ("partial",)), ("assistant", "call", "add [1, 2]", ("partial",))]


def test_two_broken_streams_do_not_run_together():
    session = Session.create("s1")
    for _ in range(2):
        run_turn(session, "hi", ScriptedModel([Reply("It is", error=("gone", "GONE"))]), {}, config=CONFIG)
    assert [text for _, _, text, _ in seen(session.events)] == ["hi", "It is", "hi", "It is"]


def test_what_nobody_said_is_marked():
    session = record(Reply("Monday."), dynamic_context=lambda: {"today": "It is Monday."})
    assert [(role, marks) for role, _, _, marks in seen(session.events)] == [
        ("user", ()), ("user", ("injected",)), ("assistant", ())]


def test_a_replacement_is_for_the_model_only():
    session = two_step()
    before, nodes = seen(session.events), list(session.surface.nodes)
    result = session.events[nodes[2]].read()
    result["message"]["content"][0]["content"] = [{"type": "text", "text": "pruned"}]
    session.append("turn/start", {"turn": 2})
    session.append("tool/result", result, {"op": "replace", "start": nodes[2], "end": nodes[2]}, [nodes[2]])
    summary = {"id": "m-sum", "role": "user", "source": {"kind": "plugin", "plugin": "compact"},
               "content": [{"type": "text", "text": "They added."}]}
    session.append("user/message", summary, {"op": "replace", "start": nodes[0], "end": nodes[1]}, nodes[:2])
    assert len(session.derive_messages()) == 3
    assert seen(session.events) == before


def test_an_error_result_and_a_call_that_was_not_started_are_no_closers():
    session = record(Reply(calls=[call("c1", "none", "[]")]), Reply("I look.", [ADD], finish="max-tokens"))
    assert [marks for role, _, _, marks in seen(session.events) if role == "tool"] == [("error",), ("error",)]


def test_closers_are_marked_as_recoverys():
    session = record(Reply(calls=[ADD, {**ADD, "id": "c2"}]), Reply("3"))
    started = next(event.seq for event in session.events if event.type == "tool/call")
    events = session.events[:started + 1]
    rows = transcript([*events, *interrupted_turn_closers(events)])
    assert [(row.call, row.marks) for row in rows if row.role == "tool"] == [("c1", ("recovery",)), ("c2", ("recovery",))]


@pytest.mark.parametrize("data", [
    None, [], {"chunk": None}, {"chunk": {"type": 1}}, {"chunk": {"type": "text-delta", "index": [], "text": "x"}},
    {"chunk": {"type": "block-end", "index": 0, "block": {}}}, {"chunk": {"type": "finish"}},
])
def test_a_chunk_that_is_none_has_nothing_to_show(data):
    assert transcript([SessionEvent.from_json({"type": "assistant/chunk", "seq": 0, "time": 0, "data": data})]) == []


@pytest.mark.parametrize(("block", "shown"), [
    ({"type": "image", "url": "x"}, [("image", "")]), ({"type": "text", "text": 3}, [("text", "")]), ("text", []), (None, []),
    ({"type": 3}, []), ({"type": "text", "text": "<b>"}, [("text", "<b>")]), ({"type": "tool-call"}, [("call", "")]),
    ({"type": "tool-result", "toolCallId": 1, "content": "x"}, [("result", "")]),
    ({"type": "tool-result", "content": [{"type": "text", "text": "a"}, 3, {"type": "image"}]}, [("result", "a\n")]),
])
def test_blocks_of_any_shape_are_shown_as_they_are(block, shown):
    message = {"id": "m1", "role": "user", "source": {"kind": "user"}, "content": [block]}
    said = {"type": "user/message", "seq": 0, "time": 0, "data": message, "surfaceOp": "append"}
    assert [(row.kind, row.text) for row in transcript([SessionEvent.from_json(said)])] == shown
