"""The loop: what it logs, in which order, and what every end of a turn looks like. Every log here has good relations."""
import json
from collections import deque
from itertools import count, groupby
from random import Random

import pytest

from labsupport.errors import CompactionError, EventError, LosslessError
from labsupport.lossless import MAX_SAFE_INTEGER
from labsupport.outside.attachments import Attachments
from labsupport.sessionlog import (
    PruneConfig,
    Session,
    SessionEvent,
    check_compaction,
    check_invariants,
    estimate_header,
    estimate_message,
    fold,
    interrupted_turn_closers,
    pairing_cuts,
    replay,
    tool_pairing,
)
from labsupport.sessionlog.compaction import Compacted, compact_after_overflow, compact_under_pressure
from labsupport.sessionlog.compaction_report import compaction_ids, compaction_report
from labsupport.sessionlog.driver import ABORTED, COMPLETED, CONTEXT_OVERFLOW, MAX_TOKENS, TurnOutcome, run_turn
from labsupport.sessionlog.models import Reply, ScriptedModel, call
from labsupport.sessionlog.pruning import prune_session
from labsupport.sessionlog.ranges import choose_range
from labsupport.sessionlog.spill import Spill
from labsupport.sessionlog.storage import JsonlStore, barrier, on_barriers, on_flush, scan_log
from labsupport.sessionlog.summarizers import ExtractiveSummarizer
from labsupport.sessionlog.tokens import context_tokens
from tests.sessionlog import builders as make
from tests.sessionlog.compacting import Summarizing

CONFIG = {"provider": "p", "model": "m"}
TOOLS = {"add": lambda numbers: str(sum(numbers)), "echo": lambda given: json.dumps(given)}
ADD = call("c1", "add", "[1, 2]")
ECHO = call("c2", "echo", '{"a": 1}')


def new_session():
    return Session.create("s1", clock=count(1_000).__next__)


def turn(session, *replies, tools=TOOLS, prompt="1 + 2?", **options):
    """Run a turn and check what always holds: good relations, no open call, and a log that loads as it is."""
    outcome = run_turn(session, prompt, ScriptedModel(replies), tools, **{"config": CONFIG, **options})
    good(session)
    assert session.events[-1].read() == {"turn": outcome.turn, "reason": outcome.reason}
    return outcome


def good(session):
    assert check_invariants(session.events) == []
    assert interrupted_turn_closers(session.events) == []
    assert pairing_cuts(session.events)[-1] is True
    assert [SessionEvent.from_json(event.to_json()) for event in session.events] == list(session.events)


def types(session, start=0):
    """The types from seq *start* on, a run of the same one told once."""
    return [kind for kind, _ in groupby(event.type for event in session.events[start:])]


def of(session, kind):
    return [event for event in session.events if event.type == kind]


def results(session):
    """(call id, error code or None, text) of each result."""
    found = []
    for event in of(session, "tool/result"):
        data = event.read()
        block = data["message"]["content"][0]
        assert block["isError"] is ("error" in data)
        found.append((block["toolCallId"], data.get("error", {}).get("code"), block["content"][0]["text"]))
    return found


ONE_STEP = ["turn/start", "step/start", "user/message", "request/header", "request/context", "assistant/chunk",
            "assistant/message", "step/end", "turn/end"]
TOOL_STEP = ["assistant/chunk", "assistant/message", "tool/call", "tool/result", "step/end"]


def test_the_two_step_task_is_logged_in_this_order():
    session = new_session()
    assert turn(session, Reply(calls=[ADD]), Reply("It is 3.")) == TurnOutcome(1, COMPLETED, 2)
    assert types(session) == [*ONE_STEP[:5], *TOOL_STEP, "step/start", *ONE_STEP[5:]]
    assert [event.seq for event in session.events] == list(range(len(session.events)))
    chunks = [event.seq for event in of(session, "assistant/chunk")]
    answers = of(session, "assistant/message")
    assert [seq for answer in answers for seq in answer.source_event_seqs] == chunks
    (asked,), (result,) = of(session, "tool/call"), of(session, "tool/result")
    assert asked.read() == {"turn": 1, "step": 1, "callId": "c1", "name": "add", "arguments": "[1, 2]"}
    assert result.source_event_seqs == (asked.seq,)
    assert results(session) == [("c1", None, "3")]
    assert list(session.surface.nodes) == [2, answers[0].seq, result.seq, answers[1].seq]
    second = of(session, "step/start")[1].seq
    steps = [(event.data["turn"], event.data["step"], event.seq > second) for event in of(session, "assistant/chunk")]
    assert set(steps) == {(1, 1, False), (1, 2, True)}


def test_a_request_is_what_the_log_says():
    session = new_session()
    model = ScriptedModel([Reply(calls=[ADD]), Reply("It is 3.")])
    schemas = [{"name": "add", "parameters": {}}]
    run_turn(session, "1 + 2?", model, TOOLS, config=CONFIG, system="Add.", tool_schemas=schemas)
    first, second = model.requests
    assert first.header == second.header == {"config": CONFIG, "system": "Add.", "tools": schemas} == session.request_header()
    assert [message["role"] for message in first.messages] == ["user"]
    assert list(second.messages) == list(session.derive_messages())[:3]
    with pytest.raises(TypeError):
        second.messages[0]["role"] = "assistant"


def test_two_calls_in_one_message_run_one_after_the_other():
    session = new_session()
    turn(session, Reply("Both.", [ADD, ECHO]), Reply("Done."))
    assert [event.type for event in session.events if event.type.startswith("tool/")] == ["tool/call", "tool/result"] * 2
    assert results(session) == [("c1", None, "3"), ("c2", None, '{"a": 1}')]
    assert [event.source_event_seqs for event in of(session, "tool/result")] == [
        (event.seq,) for event in of(session, "tool/call")]


def test_usage_stands_on_the_message():
    session = new_session()
    turn(session, Reply("Hi.", usage={"inputTokens": 3, "outputTokens": 2}))
    assert of(session, "assistant/message")[0].data["usage"] == {"inputTokens": 3, "outputTokens": 2}
    turn(session, Reply("Hi."))
    assert "usage" not in of(session, "assistant/message")[1].data


def test_an_empty_answer_is_logged_and_not_derived():
    session = new_session()
    assert turn(session, Reply(usage={"inputTokens": 3, "outputTokens": 0})).reason == COMPLETED
    assert of(session, "assistant/message")[0].data["message"]["content"] == []
    assert len(session.derive_messages()) == 1


def test_header_and_context_are_logged_only_when_they_differ():
    session = new_session()
    turn(session, Reply(calls=[ADD]), Reply("3"))
    turn(session, Reply("again"))
    turn(session, Reply("other"), config={**CONFIG, "model": "n"}, context_window=8_000)
    turn(session, Reply("same"), config={**CONFIG, "model": "n"}, context_window=8_000)
    assert [(event.data["reason"], event.data["header"]["config"]["model"]) for event in of(session, "request/header")] == [
        ("initial", "m"), ("change", "n")]
    other = {"provider": "p", "model": "n"}
    assert [event.read() for event in of(session, "request/context")] == [CONFIG, {**other, "contextWindow": 8_000}]
    assert of(session, "assistant/message")[-1].data["message"]["source"] == {"kind": "model", **other}


@pytest.mark.parametrize(("model", "reasons"), [("m", ["initial"]), ("n", ["initial", "resume"])], ids=["as before", "another"])
def test_a_resumed_session_goes_on_counting_and_says_resume(model, reasons):
    session = new_session()
    turn(session, Reply("3"))
    resumed = Session.create("s1", seed=session.events, header=session.header)
    assert turn(resumed, Reply("4"), config={**CONFIG, "model": model}).turn == 2
    assert [event.data["reason"] for event in of(resumed, "request/header")] == reasons
    again = {**CONFIG, "model": "o"}
    turn(resumed, Reply("5"), config=again)
    assert of(resumed, "request/header")[-1].data["reason"] == ("change" if model == "n" else "resume")


def test_steering_enters_with_the_next_step():
    waiting = deque()
    tools = {"add": lambda numbers: waiting.append("in words") or "3"}
    session = new_session()
    taken = lambda: [waiting.popleft() for _ in range(len(waiting))]  # noqa: E731
    assert turn(session, Reply(calls=[ADD]), Reply("three"), tools=tools, steering=taken) == TurnOutcome(1, COMPLETED, 2)
    second = of(session, "step/start")[1].seq
    assert types(session, second)[:3] == ["step/start", "user/message", "assistant/chunk"]
    assert [message["content"][0].get("text") for message in session.derive_messages()] == ["1 + 2?", None, None, "in words",
                                                                                           "three"]


def test_words_that_meet_an_answer_get_another_step():
    waiting = ["and in words?"]
    session = new_session()
    assert turn(session, Reply("3"), Reply("three"), steering=lambda: [waiting.pop()] if waiting else []).steps == 2
    assert types(session).count("turn/start") == 1


def test_words_are_not_taken_when_no_step_is_left():
    waiting = ["and in words?"]
    session = new_session()
    assert turn(session, Reply("3"), steering=lambda: [waiting.pop()], max_steps=1).reason == COMPLETED
    assert waiting == ["and in words?"]


def test_a_changed_dynamic_context_is_another_message():
    session, context = new_session(), {}
    hook = {"dynamic_context": lambda: context}
    turn(session, Reply("3"), **hook)
    context["today"] = "It is Monday."
    turn(session, Reply(calls=[ADD]), Reply("3"), **hook)
    turn(session, Reply("3"), **hook)
    context["today"] = "It is Tuesday."
    turn(session, Reply("3"), **hook)
    context.clear()
    turn(session, Reply("3"), **hook)
    sources = [event.data["source"] for event in of(session, "user/message")]
    assert [source["kind"] for source in sources] == ["user", "user", "plugin", "user", "user", "plugin", "user", "plugin"]
    snapshots = [source["sections"] for source in sources if source["kind"] == "plugin"]
    assert snapshots == [[{"name": "today", "text": "It is Monday."}], [{"name": "today", "text": "It is Tuesday."}], []]


def test_a_snapshot_that_was_replaced_is_logged_again():
    session = new_session()
    hook = {"dynamic_context": lambda: {"today": "It is Monday."}}
    turn(session, Reply("3"), **hook)
    nodes = list(session.surface.nodes)
    summary = {"id": "m-sum", "role": "user", "source": {"kind": "plugin", "plugin": "x"}, "content": []}
    session.append("user/message", summary, {"op": "replace", "start": nodes[0], "end": nodes[-1]}, nodes)
    turn(session, Reply("3"), **hook)
    kinds = [event.data["source"]["kind"] for event in of(session, "user/message")]
    assert kinds == ["user", "plugin", "plugin", "user", "plugin"]


# Tools

def failing(error):
    def tool(given):
        raise error
    return tool


class Silent(Exception):
    def __str__(self):
        raise RuntimeError("not even words")


@pytest.mark.parametrize(("tool", "arguments", "code", "said"), [
    (failing(FileNotFoundError("no table")), "[]", "TOOL_FAILED", "FileNotFoundError: no table"),
    (failing(SystemExit(3)), "[]", "TOOL_FAILED", "SystemExit: 3"),
    (failing(Silent()), "[]", "TOOL_FAILED", "Error: Silent"),
    (failing(ValueError("half \ud83d")), "[]", "TOOL_FAILED", "half \ud83d"),
    (lambda given: 3, "[]", "TOOL_FAILED", "no text but a int"),
    (lambda given: None, "[]", "TOOL_FAILED", "no text but a NoneType"),
    (lambda given: "x", "[1, 2", "BAD_ARGUMENTS", "no JSON"),
    (lambda given: "x", "", "BAD_ARGUMENTS", "no JSON"),
    (lambda given: "x", "[NaN]", "BAD_ARGUMENTS", "NaN is no JSON value"),
    (lambda given: "x", "[1e999]", "BAD_ARGUMENTS", "too large"),
    (lambda given: "x", '"\ud83d"', "BAD_ARGUMENTS", "no JSON"),
    (None, "[]", "UNKNOWN_TOOL", "no tool t"),
])
def test_what_goes_wrong_in_a_tool_is_a_result(tool, arguments, code, said):
    session = new_session()
    tools = {} if tool is None else {"t": tool}
    assert turn(session, Reply(calls=[call("c1", "t", arguments)]), Reply("Sorry."), tools=tools).reason == COMPLETED
    ((call_id, found, text),) = results(session)
    assert (call_id, found) == ("c1", code)
    assert said in text
    assert of(session, "tool/call")[0].data["arguments"] == arguments  # as the model wrote it
    assert fold(tool_pairing, session.events)["failed"] == 1


class Words(str):
    """A string of a class of its own, which no log takes."""


@pytest.mark.parametrize(("text", "logged"), [
    (Words("yes"), "yes"), ("\ud83d" + "\ude42", "🙂"), ("\ud83d", "\ud83d"), ("", ""),
])
def test_a_result_is_plain_text(text, logged):
    session = new_session()
    turn(session, Reply(calls=[ADD]), Reply("ok"), tools={"add": lambda numbers: text})
    assert results(session) == [("c1", None, logged)]


def test_one_call_id_twice_in_a_message_gets_two_results():
    session = new_session()
    turn(session, Reply(calls=[ADD, {**ECHO, "id": "c1"}]), Reply("ok"))
    assert [text for _, _, text in results(session)] == ["3", '{"a": 1}']


# Streams

def test_a_cut_answer_keeps_what_came_and_starts_nothing():
    session, ran = new_session(), []
    cut = call("c2", "echo", '{"a": ')
    outcome = turn(session, Reply("I look.", [ADD, cut], finish="max-tokens"), tools={"add": ran.append, "echo": ran.append})
    assert (outcome, ran) == (TurnOutcome(1, MAX_TOKENS, 1), [])
    assert [block["type"] for block in session.derive_messages()[1]["content"]] == ["text", "tool-call", "tool-call"]
    assert {call_id: code for call_id, code, _ in results(session)} == dict.fromkeys(["c1", "c2"], "TOOL_NOT_STARTED")
    assert of(session, "tool/call") == []
    assert "sourceEventSeqs" not in of(session, "tool/result")[0].to_json()
    assert turn(session, Reply("Once more.")).turn == 2


class Stream:
    """A model that sends these chunks; an exception among them is raised."""

    def __init__(self, *chunks):
        self.chunks = chunks

    def stream(self, request):
        for chunk in self.chunks:
            if isinstance(chunk, BaseException):
                raise chunk
            yield chunk


DELTA = {"type": "text-delta", "index": 0, "text": "Hel"}


def delta(text, index=0, **more):
    return {"type": "tool-call-delta", "index": index, "id": "c1", "argumentsDelta": text, **more}


def finish(kind, **more):
    return {"type": "finish", "reason": {"kind": kind, **more}}


@pytest.mark.parametrize(("chunks", "code", "said"), [
    ([DELTA, finish("error", failure={"message": "no key", "code": "AUTH"})], "AUTH", "no key"),
    ([DELTA, finish("error")], "MODEL_FAILED", "error"),
    ([DELTA, finish("error", failure=7)], "MODEL_FAILED", "error"),
    ([DELTA, finish("filtered")], "MODEL_FAILED", "filtered"),
    ([DELTA], "STREAM_INCOMPLETE", "without a finish"),
    ([], "STREAM_INCOMPLETE", "without a finish"),
    ([DELTA, ConnectionError("reset")], "MODEL_FAILED", "ConnectionError: reset"),
    ([finish("stop"), ConnectionError("reset")], "MODEL_FAILED", "ConnectionError: reset"),
    ([DELTA, "no chunk"], "MODEL_FAILED", "lacks type"),
    ([DELTA, {"type": "text-delta", "index": 0}], "MODEL_FAILED", "lacks text"),
    ([DELTA, {**DELTA, "text": {1}}], "MODEL_FAILED", "LosslessError"),
    ([DELTA, delta("x", name="add")], "MODEL_FAILED", "goes on a block"),
    ([{"type": "block-end", "index": 0, "block": call("", "add", "[]")}, finish("stop")], "MODEL_FAILED", "has an id"),
    ([{"type": "block-end", "index": 0, "block": {**ADD, "arguments": [1, 2]}}], "MODEL_FAILED", "lacks arguments"),
    ([{"type": "block-end", "index": 0, "block": {"text": "x"}}], "MODEL_FAILED", "lacks type"),
    ([{"type": "finish", "reason": None}], "MODEL_FAILED", "lacks reason"),
])
def test_a_stream_that_fails_writes_no_message(chunks, code, said):
    session = new_session()
    outcome = run_turn(session, "hi", Stream(*chunks), {}, config=CONFIG)
    good(session)
    assert (outcome.reason["kind"], outcome.reason["error"]["code"]) == ("error", code)
    assert said in outcome.reason["error"]["message"]
    assert types(session)[-2:] == ["step/end", "turn/end"]
    assert of(session, "assistant/message") == []
    assert len(session.derive_messages()) == 1


def test_a_finish_that_says_aborted_is_an_aborted_turn():
    session = new_session()
    assert run_turn(session, "hi", Stream(DELTA, finish("aborted")), {}, config=CONFIG).reason == ABORTED
    good(session)


def test_a_script_that_is_too_short_ends_the_turn_with_an_error():
    session = new_session()
    assert "the script has 1 replies" in turn(session, Reply(calls=[ADD])).reason["error"]["message"]


def test_blocks_without_an_end_are_made_of_their_deltas_in_order():
    session = new_session()
    thought = {"type": "reasoning-delta", "index": 0}
    chunks = [delta("[1, ", 1, name="add"), {"type": "block-start", "index": 0, "blockType": "reasoning"},
              {**thought, "text": "Hm \ud83d"}, {**thought, "text": "\ude42"}, delta("2]", 1), {"type": "later/kind"},
              finish("tool-calls")]
    answers = iter([Stream(*chunks), Stream(DELTA, finish("stop"))])

    class Both:
        def stream(self, request):
            return next(answers).stream(request)

    assert run_turn(session, "hi", Both(), TOOLS, config=CONFIG) == TurnOutcome(1, COMPLETED, 2)
    good(session)
    assert session.derive_messages()[1]["content"] == [
        {"type": "reasoning", "text": "Hm 🙂"}, {"type": "tool-call", "id": "c1", "name": "add", "arguments": "[1, 2]"}]
    assert results(session) == [("c1", None, "3")]


# Cancelling

REPLIES = [Reply("Both.", [ADD, ECHO], "Hm.", usage={"inputTokens": 1, "outputTokens": 1}), Reply("Done.")]


def cancel_after(looks):
    """Says yes from the look number *looks* + 1 on."""
    left = count(-looks)
    return lambda: next(left) >= 0


def looks_of_a_whole_run():
    seen = count()
    asked = []
    turn(new_session(), *REPLIES, cancelled=lambda: asked.append(next(seen)) and False)
    return len(asked)


def test_a_cancel_at_every_look_leaves_a_closed_turn():
    ends = []
    looks = looks_of_a_whole_run()
    for at in range(looks):
        session, ran = new_session(), []
        tools = dict.fromkeys(TOOLS, lambda given, ran=ran: ran.append(given) or "x")
        outcome = turn(session, *REPLIES, tools=tools, cancelled=cancel_after(at))
        assert outcome.reason == ABORTED
        messages, calls = len(of(session, "assistant/message")), len(of(session, "tool/call"))
        assert (calls, len(of(session, "tool/result"))) == ((2, 2) if messages else (0, 0))
        succeeded = [call_id for call_id, code, _ in results(session) if code is None]
        assert len(succeeded) == len(ran)  # what ran says so, and what did not run does not
        ends.append((messages, len(ran)))
    assert looks > 15
    assert sorted(set(ends)) == [(0, 0), (1, 0), (1, 1), (1, 2)]


def test_a_cancel_between_two_tools_answers_the_second():
    session, stop = new_session(), []
    outcome = turn(session, Reply(calls=[ADD, ECHO]), tools={**TOOLS, "add": lambda numbers: stop.append(1) or "3"},
                   cancelled=lambda: bool(stop))
    assert outcome == TurnOutcome(1, ABORTED, 1)
    assert [(call_id, code) for call_id, code, _ in results(session)] == [("c1", None), ("c2", "ABORTED_BEFORE_DISPATCH")]
    assert [event.source_event_seqs for event in of(session, "tool/result")] == [(e.seq,) for e in of(session, "tool/call")]


def test_a_cancel_before_the_first_request_asks_nobody():
    session, model = new_session(), ScriptedModel([])
    assert run_turn(session, "hi", model, {}, config=CONFIG, cancelled=lambda: True).reason == ABORTED
    assert model.requests == []
    assert types(session) == [*ONE_STEP[:5], "step/end", "turn/end"]


def test_a_cancel_closes_the_stream():
    closed = []

    class Open:
        def stream(self, request):
            try:
                while True:
                    yield DELTA
            finally:
                closed.append(True)

    looks = cancel_after(3)
    assert run_turn(new_session(), "hi", Open(), {}, config=CONFIG, cancelled=looks).reason == ABORTED
    assert closed == [True]


def test_a_cancel_after_the_answer_is_too_late():
    session = new_session()
    late = lambda: session.events[-1].data.get("chunk", {}).get("type") == "finish"  # noqa: E731
    assert turn(session, Reply("3"), cancelled=late).reason == COMPLETED


# Limits

def test_the_step_limit_ends_the_turn_with_every_call_answered():
    session = new_session()
    outcome = turn(session, Reply(calls=[ADD]), Reply(calls=[ECHO]), Reply("never"), max_steps=2)
    assert (outcome.steps, outcome.reason["kind"], outcome.reason["error"]["code"]) == (2, "error", "MAX_STEPS")
    assert [call_id for call_id, _, _ in results(session)] == ["c1", "c2"]


def test_an_answer_with_the_last_step_is_an_answer():
    assert turn(new_session(), Reply(calls=[ADD]), Reply("3"), max_steps=2).reason == COMPLETED


@pytest.mark.parametrize(("options", "error"), [
    ({"max_steps": 0}, ValueError), ({"config": {"provider": "p"}}, EventError),
    ({"config": {**CONFIG, "t": {1}}}, LosslessError), ({"context_window": MAX_SAFE_INTEGER + 1}, LosslessError),
    ({"prompt": None}, TypeError),
])
def test_what_cannot_be_logged_is_refused_before_the_turn(options, error):
    session = new_session()
    with pytest.raises(error):
        turn(session, Reply("3"), **options)
    assert list(session.events) == []


def test_an_open_turn_is_refused():
    session = new_session()
    session.append("turn/start", {"turn": 1})
    with pytest.raises(EventError, match="turn 1 is open"):
        turn(session, Reply("3"))
    assert len(session.events) == 1


# Barriers and kills

def test_the_barriers_stand_before_each_request_and_each_tool():
    session, seen = new_session(), []
    tools = {"add": lambda numbers: seen.append("tool add") or "3", "echo": lambda given: seen.append("tool echo") or "x"}
    flushed = lambda session: seen.append(session.events[-1].type)  # noqa: E731

    class Model(ScriptedModel):
        def stream(self, request):
            seen.append("model")
            return super().stream(request)

    run_turn(session, "hi", Model([Reply(calls=[ADD, ECHO]), Reply("ok")]), tools, config=CONFIG, barrier=flushed)
    assert seen == ["request/context", "model", "tool/call", "tool add", "tool/call", "tool echo", "step/start", "model"]
    seen.clear()
    run_turn(session, "hi", Model([Reply(calls=[ADD, ECHO]), Reply("ok")]), tools, config=CONFIG, barrier=flushed,
             barrier_before_tools=False)
    assert seen == ["user/message", "model", "tool add", "tool echo", "step/start", "model"]


def test_nothing_starts_so_nothing_is_flushed_for_a_call_that_cannot_run():
    session, seen = new_session(), []
    turn(session, Reply(calls=[call("c1", "none", "[]"), call("c2", "add", "[")]), Reply("ok"),
         barrier=lambda session: seen.append(session.events[-1].type))
    assert seen == ["request/context", "step/start"]


def test_a_barrier_that_fails_stops_before_the_tool():
    session, ran = new_session(), []

    def full(session):
        if session.events[-1].type == "tool/call":
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        run_turn(session, "hi", ScriptedModel([Reply(calls=[ADD])]), {"add": ran.append}, config=CONFIG, barrier=full)
    assert (ran, session.events[-1].type) == ([], "tool/call")


@pytest.mark.parametrize(("before_tools", "code"), [(True, "TOOL_OUTCOME_UNKNOWN"), (False, None)])
def test_a_kill_inside_a_tool(tmp_path, before_tools, code):
    """With the barrier the disk knows that the call was started; without it, not even that it was asked for."""
    store, session = JsonlStore(tmp_path), new_session()
    store.attach(session, on_barriers)

    def kill(given):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_turn(session, "hi", ScriptedModel([Reply(calls=[ADD])]), {"add": kill}, config=CONFIG, barrier=barrier,
                 barrier_before_tools=before_tools)
    scan = scan_log(store.path("s1").read_bytes())  # what lies on the disk if the process dies now
    closers = interrupted_turn_closers(scan.events)
    codes = [event.data["error"]["code"] for event in closers if event.type == "tool/result"]
    assert codes == ([] if code is None else [code])
    resumed = Session.create("s1", seed=[*scan.events, *closers], header=scan.header)
    assert turn(resumed, Reply("Go on.")).turn == 2


def test_a_kill_at_every_event_can_be_closed_and_gone_on_with():
    whole = new_session()
    turn(whole, *REPLIES)
    turn(whole, Reply("Again."))
    for end in range(len(whole.events) + 1):
        events = whole.events[:end]
        resumed = Session.create("s1", seed=[*events, *interrupted_turn_closers(events)], header=whole.header)
        starts = [event for event in events if event.type == "turn/start"]
        assert turn(resumed, Reply(calls=[ADD]), Reply("3")).turn == len(starts) + 1


@pytest.mark.parametrize("where", [0, 1, 5])
def test_a_keyboard_interrupt_in_the_stream_comes_through(where):
    session = new_session()
    chunks = [DELTA] * where + [KeyboardInterrupt()]
    with pytest.raises(KeyboardInterrupt):
        run_turn(session, "hi", Stream(*chunks), {}, config=CONFIG)
    closers = interrupted_turn_closers(session.events)
    assert [event.type for event in closers] == ["step/end", "turn/end"]


@pytest.mark.parametrize("hook", ["cancelled", "steering", "dynamic_context"])
def test_what_a_hook_raises_is_no_provider_error(hook):
    session = new_session()
    with pytest.raises(ZeroDivisionError):
        run_turn(session, "hi", ScriptedModel(REPLIES), TOOLS, config=CONFIG, **{hook: lambda: 1 // 0})
    assert of(session, "turn/end") == []


# On a disk

def test_a_log_loads_as_it_was_recorded(tmp_path):
    store, session = JsonlStore(tmp_path), new_session()
    with_writer = store.attach(session, on_flush)
    turn(session, *REPLIES)
    turn(session, Reply("I look.", [ADD], finish="max-tokens"))
    turn(session, Reply("half", error=("gone", "GONE")))
    turn(session, Reply(calls=[call("c9", "none", "[")]), Reply("\ud83d"))
    with_writer.close()
    loaded = store.load("s1")
    assert loaded.repair is None
    assert [event.to_json() for event in loaded.events] == [event.to_json() for event in session.events]
    resumed = Session.create("s1", seed=loaded.events, header=loaded.header)
    assert list(resumed.derive_messages()) == list(session.derive_messages())


def test_the_same_script_makes_the_same_bytes_and_ids_are_the_callers(tmp_path):
    def record(folder):
        store, session = JsonlStore(folder), new_session()
        writer = store.attach(session)
        turn(session, *REPLIES, barrier=barrier, new_id=(f"id-{number}" for number in count()).__next__)
        writer.close()
        return store.path("s1").read_bytes()

    first = record(tmp_path / "a")
    assert record(tmp_path / "b") == first
    assert b'"id":"id-0"' in first


def test_ids_are_those_of_the_seqs_by_default():
    session = new_session()
    turn(session, *REPLIES)
    events = [event for event in session.events if event.surface_op == "append"]
    assert [message["id"] for message in session.derive_messages()] == [f"m{event.seq}" for event in events]


# Room: pressure, overflow, and long results that are kept outside


def cost(request):
    return estimate_header(request.header) + sum(map(estimate_message, request.messages))


class Narrow(ScriptedModel):
    """A model that refuses requests of more than *limit* estimated tokens, and keeps what it took."""

    def __init__(self, replies, limit, usage=None):
        super().__init__(replies, usage)
        self.limit, self.refused = limit, 0

    def stream(self, request):
        if cost(request) <= self.limit:
            yield from super().stream(request)
        else:
            self.refused += 1
            yield finish("error", failure={"message": "too long", "code": CONTEXT_OVERFLOW})


def random_replies(random, turns):
    """For each turn some steps with calls of a tool whose results are of any length, then an answer."""
    script = []
    for turn in range(turns):
        steps = [Reply("", [call(f"c{turn}.{step}.{at}", "rows", json.dumps(random.choice([0, 40, 400, 1500])))
                            for at in range(random.randint(1, 3))]) for step in range(random.randint(0, 3))]
        script.append([*steps, Reply(f"Order {turn} is done. " * random.randint(1, 20))])
    return script


ROWS = {"rows": lambda length: "x" * length}


@pytest.mark.parametrize("reports", [False, True], ids=["estimated", "reported"])
@pytest.mark.parametrize("seed", range(4))
def test_under_pressure_a_long_run_stays_below_the_threshold_or_the_log_says_why(seed, reports):
    random, session, threshold, retain = Random(seed), new_session(), 900, 250
    usage = (lambda request, reply: {"inputTokens": cost(request), "outputTokens": 60}) if reports else None
    said, over = [], 0

    def room(session, trigger):
        assert trigger == "pressure"
        before = context_tokens(session).tokens
        chosen, failed = choose_range(session, retain), len(of(session, "compaction/end"))
        try:
            made = compact_under_pressure(session, ExtractiveSummarizer(300), threshold=threshold, retain_tokens=retain)
        except CompactionError as error:
            made = error.code
        if before < threshold:
            assert made is None
        elif made is None:
            assert chosen is None or (failed and "error" in of(session, "compaction/end")[-1].read())
        said.append("" if before < threshold else "compacted" if isinstance(made, Compacted) else "none")

    seen = []
    for number, replies in enumerate(random_replies(random, 12)):
        model = ScriptedModel(replies, usage)
        run_turn(session, f"Order {number}: " + "words " * random.randint(1, 80), model, ROWS, config=CONFIG, make_room=room)
        seen += model.requests
        good(session)
        assert check_compaction(session.events) == []
    assert len(said) == len(seen)
    for request, why in zip(seen, said, strict=True):
        if cost(request) >= threshold and not reports:
            over += 1
            assert why, "what is over the threshold was compacted, or could not be"
    assert said.count("compacted") >= 3
    assert over < len(seen) / 2
    assert [compaction_report(session.events, id).why.value for id in compaction_ids(session.events)] == [
        "pressure"] * len(compaction_ids(session.events))
    assert make.same_messages(replay(session.events)) == make.same_messages(session)


def test_a_compaction_leaves_a_request_only_as_long_as_its_tail():
    session = new_session()
    requests = []

    def room(session, trigger):
        compact_under_pressure(session, Summarizing(), threshold=500, retain_tokens=100)

    for _ in range(6):
        model = ScriptedModel([Reply("y" * 600)])
        run_turn(session, "x" * 600, model, {}, config=CONFIG, make_room=room)
        requests += model.requests
        good(session)
    assert len(compaction_ids(session.events)) >= 3
    assert max(map(cost, requests)) < 500
    assert all(request.messages[0]["source"].get("plugin") == "compact" for request in requests[3:])


def test_an_overflow_prunes_then_compacts_once_and_the_next_step_asks_again():
    session, triggers = new_session(), []

    def room(session, trigger):
        triggers.append(trigger)
        return trigger == "context-overflow" and compact_after_overflow(session, Summarizing())

    model = Narrow([Reply(calls=[call("c1", "rows", "9000")]), Reply("done")], limit=1_500)
    outcome = run_turn(session, "read", model, ROWS, config=CONFIG, make_room=room)
    good(session)
    assert outcome == TurnOutcome(1, COMPLETED, 3)
    assert (model.refused, len(model.requests)) == (1, 2)
    assert triggers == ["pressure", "pressure", "context-overflow", "pressure"]
    first = of(session, "compaction/prune")[0].seq
    assert types(session, first)[:7] == ["compaction/prune", "tool/result", "compaction/start", "compaction/summary",
                                         "user/message", "compaction/end", "step/end"]
    assert check_compaction(session.events) == []
    assert all(cost(request) <= 1_500 for request in model.requests)
    assert "9000" not in str(model.requests[-1].messages)
    assert "x" * 9_000 in results(session)[0][2], "the log has the result whole"


def test_a_second_overflow_in_a_turn_ends_it_and_another_turn_may_make_room_again():
    session, asked = new_session(), []

    def room(session, trigger):
        if trigger == "context-overflow":
            asked.append(len(session.events))
            return compact_after_overflow(session, Summarizing())
        return None

    long = "words " * 400
    model = Narrow([Reply("ok")], limit=10)
    outcome = run_turn(session, long, model, {}, config=CONFIG, make_room=room)
    good(session)
    assert outcome.reason == {"kind": "error", "error": {"message": "too long", "code": CONTEXT_OVERFLOW}}
    assert (outcome.steps, model.refused, len(asked)) == (2, 2, 1)
    outcome = run_turn(session, long, Narrow([Reply("ok")], limit=200), {}, config=CONFIG, make_room=room)
    good(session)
    assert outcome.reason == COMPLETED
    assert len(asked) == 2
    assert check_compaction(session.events) == []


@pytest.mark.parametrize("room", [lambda session, trigger: None, lambda session, trigger: trigger == "pressure"],
                         ids=["no room", "room only under pressure"])
def test_an_overflow_without_room_ends_the_turn(room):
    session = new_session()
    outcome = run_turn(session, "words " * 100, Narrow([Reply("ok")], limit=10), {}, config=CONFIG, make_room=room)
    good(session)
    assert (outcome.reason["error"]["code"], outcome.steps) == (CONTEXT_OVERFLOW, 1)


def test_an_overflow_in_the_last_step_is_the_step_limit():
    session = new_session()
    outcome = run_turn(session, "words " * 100, Narrow([Reply("ok")], limit=10), {}, config=CONFIG, max_steps=1,
                       make_room=lambda session, trigger: trigger == "context-overflow" and compact_after_overflow(
                           session, Summarizing()))
    good(session)
    assert outcome.reason["error"]["code"] == "MAX_STEPS"


@pytest.mark.parametrize("error", [TimeoutError, KeyboardInterrupt])
def test_what_stops_the_summarizer_comes_through_and_leaves_a_closed_bracket_in_an_open_turn(error):
    session = new_session()

    def fail(messages):
        raise error

    with pytest.raises(CompactionError if error is TimeoutError else error):
        run_turn(session, "words " * 400, ScriptedModel([Reply("ok")]), {}, config=CONFIG,
                 make_room=lambda session, trigger: compact_under_pressure(session, Summarizing(fail), threshold=10,
                                                                           retain_tokens=0))
    assert types(session)[-2:] == ["compaction/start", "compaction/end"]
    assert [event.type for event in interrupted_turn_closers(session.events)] == ["step/end", "turn/end"]
    assert check_invariants(session.events) == check_compaction(session.events) == []


def test_a_result_of_a_hundred_thousand_rows_leaves_its_ends_and_a_way_to_the_rest(tmp_path):
    attachments, session = Attachments(tmp_path / "kept", bytes(32)), new_session()
    rows = "".join(f"{number},north\n" for number in range(100_000))
    turn(session, Reply(calls=[call("c1", "rows", "1")]), Reply("done"), tools={"rows": lambda given: rows},
         spill=Spill(attachments.put))
    (result,) = of(session, "tool/result")
    shown, attachment = result.read()["message"]["content"][0]["content"]
    assert sum(len(bytes(event.json_text)) for event in session.events) < 12_000
    assert attachments.get(attachment["ref"]).decode() == rows
    assert (attachment["lines"], attachment["chars"]) == (100_000, len(rows))
    assert shown["text"].startswith(rows[:4096])
    assert shown["text"].endswith(rows[-1024:])
    assert attachment["ref"] in str(make.same_messages(session))
    assert prune_session(session) == []
    assert attachments.lines(attachment["ref"], 70_000, 1).lines == ("69999,north",)


def test_a_long_error_is_spilled_and_keeps_its_code():
    session = new_session()

    def broken(given):
        raise ValueError("z" * 1_000)

    turn(session, Reply(calls=[call("c1", "broken", "1")]), Reply("done"), tools={"broken": broken},
         spill=Spill(lambda data: "attachment:1f", 100, 50, 20))
    assert [one[1] for one in results(session)] == ["TOOL_FAILED"]
    data = of(session, "tool/result")[0].read()
    assert data["message"]["content"][0]["content"][1]["ref"] == "attachment:1f"


def unable(data):
    raise OSError("disk full")


@pytest.mark.parametrize("keep", [unable, lambda data: None, lambda data: data, lambda data: "", lambda data: 7], ids=[
    "raises", "gives nothing", "gives bytes", "gives an empty name", "gives a number"])
def test_what_cannot_be_kept_outside_is_logged_whole(keep):
    session = new_session()
    turn(session, Reply(calls=[call("c1", "rows", "500")]), Reply("done"), tools=ROWS, spill=Spill(keep, 100, 50, 20))
    assert results(session) == [("c1", None, "x" * 500)]


def test_a_spilled_result_that_is_pruned_keeps_its_reference():
    session = new_session()
    turn(session, Reply(calls=[call("c1", "rows", "500")]), Reply("done"), tools=ROWS,
         spill=Spill(lambda data: "attachment:1f", 200, 100, 100),
         make_room=lambda session, trigger: prune_session(session, PruneConfig(60, 10, 5)))
    assert len(of(session, "compaction/prune")) == 1
    shown, attachment = of(session, "tool/result")[1].read()["message"]["content"][0]["content"]
    assert len(shown["text"]) == 54
    assert attachment["ref"] == "attachment:1f"
