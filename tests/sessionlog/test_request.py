"""Any request again from the log alone: the same as the model received, with the source of every part, and nothing unlogged."""
import re
from dataclasses import replace

import pytest

from labsupport.errors import EventError, UnloggedInputError
from labsupport.sessionlog import Reply, Request, ScriptedModel, Session, check_invariants, replay, run_turn, to_json
from labsupport.sessionlog.compaction import compact
from labsupport.sessionlog.json_text import same_json
from labsupport.sessionlog.models import call
from labsupport.sessionlog.prompt import DYNAMIC_CONTEXT, GLOBAL, SESSION_OPENER, ContextPart, Opener, Prompt, Section, Tools
from labsupport.sessionlog.request import (
    REQUEST_SOURCES,
    difference,
    explain_request,
    rebuild_request,
    request_seqs,
)
from labsupport.sessionlog.storage import JsonlStore
from labsupport.sessionlog.summarizers import ScriptedSummarizer
from labsupport.workbench import log_samples, log_studio
from labsupport.workbench.log_plays import PLAYS
from labsupport.workbench.log_studio import Studio
from labsupport.workbench.random_logs import random_log
from labsupport.workbench.random_requests import random_requests
from labsupport.workbench.received import Receiver
from tests.sessionlog import builders as make
from tests.sessionlog.strategies import NASTY

CONFIG = {"provider": "p", "model": "m"}
TOOLS = {"add": lambda numbers: str(sum(numbers)), "pay": lambda given: "paid"}
SCHEMAS = [{"name": "add", "parameters": {}}, {"name": "pay", "parameters": {}}]
ADD = call("c1", "add", "[1, 2]")
PROMPT = Prompt(
    [Section("role", "You help {{who}}.", version="role@1"), Section("style", "Be brief.", 1, version="style@2")],
    [Tools("tables", SCHEMAS, version="tables@1")], [ContextPart("day", lambda: "Monday", version="clock@1")],
    [Opener("house", "The house rules.", version="house@1")], {"who": "Ana"})


def asked(session, *replies, prompt=PROMPT, **options):
    """One turn; the requests that the model received."""
    model = Receiver(ScriptedModel(replies), session)
    said, config = options.pop("said", "1 + 2?"), options.pop("config", CONFIG)
    run_turn(session, said, model, TOOLS, config=config, parts=prompt, **options)
    return model.received


def new_session():
    return Session.create("s1")


def of(session, kind):
    return [event for event in session.events if event.type == kind]


def from_plugin(session, plugin):
    return [event for event in of(session, "user/message") if event.data["source"].get("plugin") == plugin]


def summarise(session, text="In short."):
    nodes = session.surface.nodes
    return compact(session, nodes[0], nodes[-1], ScriptedSummarizer([text]))


def assert_same(rebuilt, request):
    assert same_json(rebuilt.header, request.header)
    assert to_json(list(rebuilt.messages)) == to_json(list(request.messages))
    assert difference(request, rebuilt.request) == ()


# The law: rebuilt is received

class Watched(Studio):
    """A studio that keeps what its models receive."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.received = []

    def ask(self, *arguments, **options):
        slow = log_studio.SlowModel

        def received(model, clock):
            receiver = Receiver(slow(model, clock), self.session)
            receiver.received = self.received
            return receiver

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(log_studio, "SlowModel", received)
            return super().ask(*arguments, **options)


@pytest.mark.parametrize("name", PLAYS)
def test_every_request_of_every_play_is_rebuilt_as_it_was_received(name, tmp_path):
    studio = Watched(tmp_path, name)
    PLAYS[name](studio)
    studio.writer.close()
    events = log_samples.load(name).events
    assert [event.json_text for event in studio.session.events][:len(events)] == [
        event.json_text for event in events][:len(studio.session.events)]  # it is the sample that was played
    assert studio.received
    assert [one.seq for one in studio.received] == request_seqs(events)
    for one in studio.received:
        assert_same(rebuild_request(events, one.seq), one.request)


@pytest.mark.parametrize("seeds", [range(at, at + 10) for at in range(0, 60, 10)], ids=lambda seeds: f"from {seeds.start}")
def test_every_request_of_random_runs_is_rebuilt_as_it_was_received(seeds):
    for seed in seeds:
        run = random_requests(seed)
        events = run.session.events
        assert check_invariants(events) == []
        assert [one.seq for one in run.received] == request_seqs(events)
        for one in run.received:
            assert_same(rebuild_request(events, one.seq), one.request)


def test_the_random_runs_hold_what_the_law_is_about():
    runs = [random_requests(seed) for seed in range(60)]
    parts = {part.kind for run in runs for seq in request_seqs(run.session.events)
             for part in explain_request(run.session.events, seq)}
    assert parts == {"config", "section", "tool", "opener", "context", "summary", "user", "answer", "result"}
    for key in ("config", "system", "tools"):
        changes = [(before.request.header.get(key) != after.request.header.get(key))
                   for run in runs for before, after in zip(run.received, run.received[1:], strict=False)]
        assert 20 < sum(changes) < len(changes) - 20, key
    codes = {event.data["error"]["code"] for run in runs for event in of(run.session, "tool/result") if "error" in event.data}
    assert {"TOOL_HIDDEN", "UNKNOWN_TOOL"} <= codes


@pytest.mark.parametrize("name", sorted({*log_samples.NAMES} - {"damaged", "newer_format", "unknown_event"}))
def test_at_every_seq_it_is_what_a_session_of_that_prefix_would_ask(name):
    events = log_samples.load(name).events
    first, at = next(event.seq for event in events if event.type == "request/header"), None
    starts = {seq: event.type for seq, event in enumerate(events)}
    for seq in range(0, len(events), 1 if len(events) < 200 else 17):
        if seq < first and starts[seq] not in ("step/start", "user/message"):
            with pytest.raises(EventError, match="no request was logged"):
                rebuild_request(events, seq)
            continue
        rebuilt = rebuild_request(events, seq)
        if at is None or rebuilt.as_of_seq != at.as_of_seq:
            at = Session.seeded(log_samples.load(name).header, events[:rebuilt.as_of_seq + 1])
            at.as_of_seq = rebuilt.as_of_seq
        assert same_json(rebuilt.header, at.request_header())
        assert to_json(list(rebuilt.messages)) == make.same_messages(at)
        assert [events[node].seq for node in at.surface.nodes if at.message(node) is not None] == list(rebuilt.message_seqs)
        assert rebuilt.context == at.request_context()
        assert rebuilt.as_of_seq in request_seqs(events) or starts[seq] not in ("assistant/chunk", "tool/result", "step/end")


def test_all_events_of_a_step_name_its_one_request():
    session = new_session()
    first, second = asked(session, Reply("I look.", [ADD]), Reply("3"))
    spans = zip(of(session, "step/start"), of(session, "step/end"), (first, second), strict=True)
    for start, end, one in spans:
        assert {rebuild_request(session.events, seq).as_of_seq for seq in range(start.seq, end.seq + 1)} == {one.seq}
    last = len(session.events) - 1
    assert rebuild_request(session.events, last).as_of_seq == last  # between steps: what would be asked now
    assert len(rebuild_request(session.events, last).messages) == len(second.request.messages) + 1


@pytest.mark.parametrize("seq", [-1, 99, True, 1.0, None, "3"], ids=repr)
def test_a_seq_that_is_not_there_is_refused(seq):
    session = new_session()
    asked(session, Reply("3"))
    with pytest.raises(EventError, match="there is no event"):
        rebuild_request(session.events, seq)


def test_a_log_without_a_request_is_refused_and_has_none():
    session = new_session()
    session.append("turn/start", {"turn": 1})
    assert request_seqs(session.events) == request_seqs([]) == []
    with pytest.raises(EventError, match="no request was logged up to event 0"):
        rebuild_request(session.events, 0)
    with pytest.raises(EventError):
        explain_request(session.events, 0)


def test_a_rebuilt_request_cannot_be_changed():
    session = new_session()
    asked(session, Reply("3"))
    rebuilt = rebuild_request(session.events, 5)
    with pytest.raises(TypeError):
        rebuilt.header["system"] = "other"
    with pytest.raises(TypeError):
        rebuilt.messages[0]["role"] = "assistant"


def test_a_store_and_a_replay_give_the_same_requests(tmp_path):
    run = random_requests(7)
    store = JsonlStore(tmp_path / "logs")
    store.create(run.session.header)
    store.append(run.session.id, run.session.events)
    for events in (store.inspect(run.session.id).events, replay(run.session.events).events):
        for one in run.received:
            assert_same(rebuild_request(events, one.seq), one.request)
            assert explain_request(events, one.seq) == explain_request(run.session.events, one.seq)


def test_a_turn_that_is_cancelled_before_it_asks_sends_nothing_and_rebuilds_what_it_would_have_sent():
    session = new_session()
    assert asked(session, Reply("3"), cancelled=lambda: True) == []
    rebuilt = rebuild_request(session.events, of(session, "step/end")[0].seq)
    assert [message["source"].get("plugin") for message in rebuilt.messages] == [SESSION_OPENER, None, DYNAMIC_CONTEXT]


# Logged when it differs, and only then

def test_header_and_sources_are_logged_on_change_only():
    session = new_session()
    asked(session, Reply("I look.", [ADD]), Reply("3"))
    asked(session, Reply("3"))
    assert [event.type for event in session.events if event.type.startswith(("request/", "workbook/"))] == [
        "request/header", REQUEST_SOURCES, "request/context"]
    asked(session, Reply("3"), prompt=replace(PROMPT, variables={"who": "Bo"}))
    assert [len(of(session, kind)) for kind in ("request/header", REQUEST_SOURCES, "request/context")] == [2, 2, 1]
    asked(session, Reply("3"), prompt=replace(PROMPT, variables={"who": "Bo"}), config={**CONFIG, "model": "n"})
    assert [len(of(session, kind)) for kind in ("request/header", REQUEST_SOURCES, "request/context")] == [3, 2, 2]


def test_another_version_that_says_the_same_is_a_source_and_no_header():
    session = new_session()
    asked(session, Reply("3"))
    same = replace(PROMPT, sections=[replace(section, version="next") for section in PROMPT.sections])
    one, = asked(session, Reply("3"), prompt=same)
    assert [len(of(session, kind)) for kind in ("request/header", REQUEST_SOURCES)] == [1, 2]
    versions = {part.version for part in explain_request(session.events, one.seq) if part.kind == "section"}
    assert versions == {"next"}


def test_sources_may_be_passed_over_and_stand_behind_their_header():
    session = new_session()
    asked(session, Reply("3"))
    header, sources = of(session, "request/header")[0], of(session, REQUEST_SOURCES)[0]
    assert (sources.ignorable, sources.seq) == (True, header.seq + 1)
    assert len(rebuild_request(session.events, header.seq).messages) == 3


def test_a_snapshot_is_logged_when_the_whole_of_it_changed():
    said = {"day": "Monday", "ward": ""}
    prompt = replace(PROMPT, context=[ContextPart(name, lambda name=name: said[name]) for name in said])
    session = new_session()
    counts = []
    for change in ({}, {}, {"ward": "closed"}, {}, {"day": "Tuesday"}, {"ward": ""}, {"day": ""}, {}):
        said.update(change)
        asked(session, Reply("3"), prompt=prompt)
        counts.append(len(from_plugin(session, DYNAMIC_CONTEXT)))
    assert counts == [1, 1, 2, 2, 3, 4, 5, 5]
    assert [[section["name"] for section in event.data["source"]["sections"]]
            for event in from_plugin(session, DYNAMIC_CONTEXT)] == [["day"], ["day", "ward"], ["day", "ward"], ["day"], []]


def test_a_snapshot_may_change_between_two_steps():
    said = ["Monday", "Tuesday"]
    session = new_session()
    prompt = replace(PROMPT, context=[ContextPart("day", lambda: said.pop(0))])
    one, two = asked(session, Reply("I look.", [ADD]), Reply("3"), prompt=prompt)
    texts = [[part.name for part in explain_request(session.events, seen.seq) if part.kind == "context"] for seen in (one, two)]
    assert texts == [["day"], ["day", "day"]]


def test_what_a_compaction_removed_is_logged_again_and_what_it_kept_is_not():
    session = new_session()
    asked(session, Reply("3"))
    asked(session, Reply("3"))
    assert (len(from_plugin(session, SESSION_OPENER)), len(from_plugin(session, DYNAMIC_CONTEXT))) == (1, 1)
    summarise(session)
    one, = asked(session, Reply("three " * 100))
    assert (len(from_plugin(session, SESSION_OPENER)), len(from_plugin(session, DYNAMIC_CONTEXT))) == (2, 2)
    assert [part.kind for part in explain_request(session.events, one.seq)][5:] == ["summary", "opener", "user", "context"]
    nodes = session.surface.nodes
    answer = next(at for at, seq in enumerate(nodes) if session.events[seq].type == "assistant/message")
    compact(session, nodes[answer], nodes[answer], ScriptedSummarizer(["x"]))
    asked(session, Reply("3"))
    assert (len(from_plugin(session, SESSION_OPENER)), len(from_plugin(session, DYNAMIC_CONTEXT))) == (2, 2)


def test_a_compaction_that_makes_room_in_the_step_brings_both_back_before_the_request():
    session = new_session()
    asked(session, Reply("3 and a long story of how it came to be three after all that had been said and done before it"))
    one, = asked(session, Reply("3"), make_room=lambda session, trigger: summarise(session))
    kinds = [part.kind for part in explain_request(session.events, one.seq)]
    assert kinds[5:] == ["summary", "opener", "context"]
    assert_same(rebuild_request(session.events, one.seq), one.request)


def test_an_overflow_in_the_middle_of_a_turn_asks_again_and_both_requests_are_rebuilt():
    session = new_session()
    refused = Reply(error=("too long", "CONTEXT_OVERFLOW"))
    asked(session, Reply("3 and a long story of how it came to be three after all that had been said and done before it"))
    one, two = asked(session, refused, Reply("3"),
                     make_room=lambda session, trigger: trigger == "context-overflow" and summarise(session))
    assert len(one.request.messages) > len(two.request.messages)
    for seen in (one, two):
        assert_same(rebuild_request(session.events, seen.seq), seen.request)
    assert [seen.seq for seen in (one, two)] == request_seqs(session.events)[1:]


# Nothing unlogged is sent

def added(request, at, text="Psst."):
    messages = list(request.messages)
    messages.insert(at, {"id": "x", "role": "user", "source": {"kind": "user"}, "content": [{"type": "text", "text": text}]})
    return replace(request, messages=messages)


def with_header(request, **fields):
    return replace(request, header={**to_json(request.header), **fields})


def with_word(request):
    first = to_json(request.messages[0])
    first["content"][0]["text"] += " Psst."
    return replace(request, messages=[first, *request.messages[1:]])


SMUGGLED = [
    pytest.param(lambda request: with_header(request, system="You help Ana. Psst."), ("header.system",), id="system"),
    pytest.param(lambda request: with_header(request, system=""), ("header.system",), id="no system"),
    pytest.param(lambda request: with_header(request, tools=[*SCHEMAS, {"name": "x"}]), ("header.tools",), id="tool"),
    pytest.param(lambda request: with_header(request, tools=SCHEMAS[:1]), ("header.tools",), id="a tool less"),
    pytest.param(lambda request: with_header(request, tools=SCHEMAS[::-1]), ("header.tools",), id="tools turned"),
    pytest.param(lambda request: with_header(request, config={**CONFIG, "temperature": 1}), ("header.config",), id="config"),
    pytest.param(lambda request: with_header(request, extra=1), ("header.extra",), id="a field more"),
    pytest.param(lambda request: added(request, 3), ("message 3",), id="a message at the end"),
    pytest.param(lambda request: added(request, 0), ("message 0", "message 1", "message 2", "message 3"), id="one in front"),
    pytest.param(with_word, ("message 0",), id="a word in a message"),
    pytest.param(lambda request: replace(request, messages=request.messages[:-1]), ("message 2",), id="one dropped"),
    pytest.param(lambda request: replace(request, messages=()), ("message 0", "message 1", "message 2"), id="all dropped"),
    pytest.param(lambda request: replace(request, messages=[request.messages[at] for at in (1, 0, 2)]),
                 ("message 0", "message 1"), id="two change places"),
    pytest.param(lambda request: added(with_header(request, system="x"), 3), ("header.system", "message 3"), id="two parts"),
]


@pytest.mark.parametrize(("smuggle", "parts"), SMUGGLED)
def test_what_was_smuggled_in_is_found_named_and_not_sent(smuggle, parts):
    session, model = new_session(), ScriptedModel([Reply("3")])
    with pytest.raises(UnloggedInputError, match=re.escape(f"differs from the log in {', '.join(parts)}")) as caught:
        run_turn(session, "1 + 2?", model, TOOLS, config=CONFIG, parts=PROMPT, before_send=smuggle)
    assert caught.value.parts == parts
    assert model.requests == []
    assert "Psst" not in str(caught.value)
    assert "Psst" not in str(session.events[-1].read())
    assert [event.type for event in session.events[-2:]] == ["step/end", "turn/end"]
    assert session.events[-1].data["reason"]["error"]["code"] == "UNLOGGED_INPUT"
    assert check_invariants(session.events) == []
    assert len(asked(session, Reply("3"))) == 1  # the session goes on


@pytest.mark.parametrize(("smuggle", "parts"), SMUGGLED)
def test_it_is_found_in_a_log_afterwards_too(smuggle, parts):
    session = new_session()
    one, = asked(session, Reply("3"))
    assert difference(smuggle(one.request), rebuild_request(session.events, one.seq).request) == parts


@pytest.mark.parametrize("same", [lambda request: request, lambda request: replace(request),
                                  lambda request: Request(to_json(request.header), to_json(list(request.messages)))],
                         ids=["itself", "a copy", "plain JSON"])
def test_a_hook_that_changes_nothing_is_let_through(same):
    one, = asked(session := new_session(), Reply("3"), before_send=same)
    assert_same(rebuild_request(session.events, one.seq), one.request)


@pytest.mark.parametrize(("ours", "theirs"), [(1, True), (0, False), (1, "1"), (None, 0)])
def test_values_that_python_takes_for_equal_differ(ours, theirs):
    one, other = (Request({"config": {"x": value}}, ()) for value in (ours, theirs))
    assert difference(one, other) == ("header.config",)
    assert difference(one, one) == ()


def test_a_hook_cannot_change_the_request_in_place():
    def sneak(request):
        request.messages[0]["content"][0]["text"] = "Psst."

    with pytest.raises(TypeError):
        asked(new_session(), Reply("3"), before_send=sneak)


@pytest.mark.parametrize("where", ["before_send", "barrier"])
def test_what_a_hook_logs_is_sent_or_the_request_is_not(where):
    session = new_session()

    def logs(given):
        if len(session.surface.nodes) < 4:
            make.append(session, make.user("Remember this.", "x"))
        return given

    try:
        one, = asked(session, Reply("3"), **{where: logs})
    except UnloggedInputError:
        assert where == "before_send"
        return
    assert_same(rebuild_request(session.events, one.seq), one.request)


# Where each part is from

def texts_of(events, seq):
    """Each part with the text it names: cut out by its span where it has one."""
    rebuilt = rebuild_request(events, seq)
    for part in explain_request(events, seq):
        if part.kind == "section":
            yield part, rebuilt.header["system"][slice(*part.span)]
        elif part.kind in ("context", "opener", "user", "plugin", "summary"):
            blocks = events[part.seqs[0]].data["content"]
            yield part, "\n".join(block["text"] for block in blocks)[slice(*part.span) if part.span else slice(None)]


def test_every_part_is_named_in_order_with_its_events_scope_and_version():
    session = new_session()
    asked(session, Reply("I look.", [ADD]), Reply("3"))
    _, two = asked(session, Reply(calls=[call("c2", "add", "[3]")]), Reply("3"), said="And 3?")
    header, sources, context = (of(session, kind)[0].seq for kind in ("request/header", REQUEST_SOURCES, "request/context"))
    opener, user, snapshot, again = (event.seq for event in of(session, "user/message"))
    answers = [event.seq for event in of(session, "assistant/message")]
    calls, results = ([event.seq for event in of(session, kind)] for kind in ("tool/call", "tool/result"))
    found = [(part.kind, part.name, part.seqs, part.scope, part.version, part.span) for part in explain_request(session.events,
                                                                                                                two.seq)]
    assert found == [
        ("config", "p m", (header, context), None, None, None),
        ("section", "role", (header, sources), GLOBAL, "role@1", (0, 13)),
        ("section", "style", (header, sources), GLOBAL, "style@2", (15, 24)),
        ("tool", "add", (header, sources), GLOBAL, "tables@1", None),
        ("tool", "pay", (header, sources), GLOBAL, "tables@1", None),
        ("opener", "house", (opener, sources), GLOBAL, "house@1", None),
        ("user", f"event {user}", (user,), None, None, None),
        ("context", "day", (snapshot, sources), GLOBAL, "clock@1", (53, 59)),
        ("answer", f"event {answers[0]}", (answers[0],), None, None, None),
        ("result", "c1", (results[0], calls[0]), None, None, None),
        ("answer", f"event {answers[1]}", (answers[1],), None, None, None),
        ("user", f"event {again}", (again,), None, None, None),
        ("answer", f"event {answers[2]}", (answers[2],), None, None, None),
        ("result", "c2", (results[1], calls[1]), None, None, None)]
    assert {part.name: text for part, text in texts_of(session.events, two.seq) if part.scope} == {
        "role": "You help Ana.", "style": "Be brief.", "house": "The house rules.", "day": "Monday"}


@pytest.mark.parametrize("seed", range(12))
def test_every_part_of_random_requests_has_its_events_and_its_very_text(seed):
    run = random_requests(seed)
    events = run.session.events
    for one in run.received:
        rebuilt, parts = rebuild_request(events, one.seq), explain_request(events, one.seq)
        assert all(0 <= seq <= rebuilt.as_of_seq for part in parts for seq in part.seqs)
        assert [part.kind for part in parts].count("config") == 1
        offered = [tool["name"] for tool in one.request.header.get("tools", ())]
        assert [part.name for part in parts if part.kind == "tool"] == offered
        assert "\n\n".join(text for part, text in texts_of(events, one.seq) if part.kind == "section") == (
            one.request.header.get("system", ""))
        messages = [part for part in parts if part.kind not in ("config", "section", "tool")]
        assert list(dict.fromkeys(part.seqs[0] for part in messages)) == [
            seq for seq in rebuilt.message_seqs if events[seq].type != "user/message"
            or events[seq].data["source"].get("sections") != []]
        for part, text in texts_of(events, one.seq):
            if part.kind == "context":
                section = next(section for section in events[part.seqs[0]].data["source"]["sections"]
                               if section["name"] == part.name)
                assert text == section["text"]
            if part.kind == "opener":
                assert text == "The house rules."


def test_a_summary_cites_what_it_stands_for():
    session = new_session()
    asked(session, Reply("3"))
    made = summarise(session)
    one, = asked(session, Reply("3"))
    part = next(part for part in explain_request(session.events, one.seq) if part.kind == "summary")
    assert part.name == made.id
    assert part.seqs[0] == made.checkpoint_seq
    assert set(made.shadowed_seqs) <= set(part.seqs)


def test_a_log_that_does_not_say_its_sources_still_has_parts():
    events = log_samples.load("two_step").events
    parts = explain_request(events, request_seqs(events)[-1])
    assert [(part.kind, part.scope, part.version) for part in parts] == [
        (kind, None, None) for kind in ("config", "section", "tool", "tool", "user", "answer", "result")]
    header = next(event.seq for event in events if event.type == "request/header")
    assert parts[1].seqs == parts[2].seqs == (header,)
    assert events[header].data["header"]["system"][slice(*parts[1].span)] == events[header].data["header"]["system"]


def test_logs_of_other_makers_are_explained():
    for seed in range(10):
        events = random_log(seed).events
        for seq in request_seqs(events):
            assert len(explain_request(events, seq)) >= 1 + len(rebuild_request(events, seq).messages)


def test_sources_of_one_loop_say_nothing_of_the_header_of_another():
    """A program that logs no sources goes on with the session: its prompt is not what the old sources speak of."""
    session = new_session()
    asked(session, Reply("3"))
    model = Receiver(ScriptedModel([Reply("3")]), session)
    run_turn(session, "And now?", model, TOOLS, config=CONFIG, system="Another prompt altogether.")
    one, = model.received
    parts = explain_request(session.events, one.seq)
    assert [(part.kind, part.name, part.version) for part in parts if part.kind in ("section", "tool")] == [
        ("section", "system", None)]
    texts = [text for part, text in texts_of(session.events, one.seq) if part.kind == "section"]
    assert texts == ["Another prompt altogether."]


def test_an_old_snapshot_keeps_the_version_that_made_it():
    session, said = new_session(), ["Monday"]

    def prompt(version):
        return Prompt(context=[ContextPart("day", lambda: said[0], version=version)])

    asked(session, Reply("3"), prompt=prompt("clock@1"))
    said[0] = "Tuesday"
    one, = asked(session, Reply("3"), prompt=prompt("clock@2"))
    sources = [event.seq for event in of(session, REQUEST_SOURCES)]
    assert [(part.version, part.seqs[1]) for part in explain_request(session.events, one.seq) if part.kind == "context"] == [
        ("clock@1", sources[0]), ("clock@2", sources[1])]


@pytest.mark.parametrize("sources", [
    None, [], "x", 3, {}, {"sections": None}, {"sections": {}}, {"sections": [1], "tools": [None]},
    {"sections": [{}], "tools": [{}]}, {"sections": [{"name": 1, "span": [0]}]}, {"sections": [{"name": "x", "span": [9, 2]}]},
    {"context": [None], "openers": 3}], ids=repr)
def test_sources_that_are_none_are_as_good_as_none(sources):
    session = new_session()
    asked(session, Reply("3"))
    session.append(REQUEST_SOURCES, sources, ignorable=True)
    parts = explain_request(session.events, len(session.events) - 1)
    rest = [part.kind for part in parts if part.kind not in ("section", "tool")]
    assert rest == ["config", "opener", "user", "context", "answer"]
    assert all(type(part.name) is str for part in parts)


@pytest.mark.parametrize("source", [{"plugin": DYNAMIC_CONTEXT}, {"plugin": DYNAMIC_CONTEXT, "sections": None},
                                    {"plugin": DYNAMIC_CONTEXT, "sections": [1]}, {"plugin": DYNAMIC_CONTEXT, "sections": [{}]},
                                    {"plugin": DYNAMIC_CONTEXT, "sections": [{"name": 3, "text": None}]},
                                    {"plugin": SESSION_OPENER}, {"plugin": SESSION_OPENER, "name": {}}, {"plugin": None},
                                    {"plugin": [1]}], ids=repr)
def test_a_message_of_another_plugin_that_looks_like_ours_is_explained(source):
    session = new_session()
    asked(session, Reply("3"))
    data = make.user_data("hi", "x", **{"kind": "plugin", **source})
    for content in ([], [{"type": "image"}], [make.text_block("hi")]):
        session.append("user/message", {**data, "content": content}, "append")
    asked(session, Reply("3"))
    parts = explain_request(session.events, len(session.events) - 1)
    assert all(type(part.name) is str for part in parts)


@pytest.mark.parametrize("text", NASTY)
def test_any_text_is_rebuilt_and_cut_out(text):
    prompt = Prompt([Section("a", lambda values: text), Section("b", lambda values: f"{text}b{text}", 1)], (),
                    [ContextPart("x", lambda: text), ContextPart("y", lambda: f"{text}y")], [Opener(text, text)])
    session = new_session()
    one, = asked(session, Reply("3"), prompt=prompt, said=text)
    assert_same(rebuild_request(session.events, one.seq), one.request)
    found = {(part.kind, part.name): said for part, said in texts_of(session.events, one.seq)}
    assert found["section", "b"] == f"{text}b{text}"
    assert found["context", "y"] == f"{text}y"
    assert found["opener", text] == text
    assert found.get(("section", "a"), "") == found.get(("context", "x"), "") == text


@pytest.mark.parametrize("name", NASTY)
def test_hostile_names_stay_names(name):
    prompt = Prompt([Section(name, "A", version=name, scope=name)], [Tools(name, [{"name": name}], version=name)],
                    [ContextPart(name, lambda: "now", version=name)], [Opener(name, "first", version=name)], scope=name)
    session = new_session()
    one, = asked(session, Reply("3"), prompt=prompt)
    found = [(part.kind, part.name, part.version) for part in explain_request(session.events, one.seq)]
    assert [(kind, name, name) for kind in ("section", "tool", "opener", "context")] == [
        part for part in found if part[0] not in ("config", "user")]


def test_two_context_parts_that_say_the_same_are_told_apart():
    prompt = Prompt(context=[ContextPart(name, lambda: "Monday") for name in ("a", "b")])
    session = new_session()
    one, = asked(session, Reply("3"), prompt=prompt)
    spans = [part.span for part in explain_request(session.events, one.seq) if part.kind == "context"]
    assert spans[0][1] < spans[1][0]


def test_a_context_whose_words_stand_in_the_words_before_it_is_cut_out_at_its_own_place():
    prompt = Prompt(context=[ContextPart("a", lambda: "now")])
    session = new_session()
    one, = asked(session, Reply("3"), prompt=prompt)
    part = next(part for part in explain_request(session.events, one.seq) if part.kind == "context")
    text = from_plugin(session, DYNAMIC_CONTEXT)[0].data["content"][0]["text"]
    assert part.span == (len(text) - 3, len(text))
