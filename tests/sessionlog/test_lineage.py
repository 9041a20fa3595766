"""Resume, fork, replay, delegate: what each takes in, leaves alone and refuses (chapter 4, §4.11 and §4.9.1)."""
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labsupport.errors import (
    DetachedSessionError,
    EventError,
    ForkError,
    SessionLogError,
    StaleCursorError,
    StoreBusyError,
    StoredLogError,
)
from labsupport.sessionlog import (
    Reply,
    ScriptedModel,
    Session,
    SessionHeader,
    check_compaction,
    check_invariants,
    delegate,
    fold,
    fold_surface,
    fork,
    replay,
    resume,
    run_turn,
    session_stats,
    tool_pairing,
    turn_status,
)
from labsupport.sessionlog.lineage import boundaries, compaction_locks, last_boundary
from labsupport.sessionlog.models import call
from labsupport.sessionlog.storage import JsonlStore
from labsupport.workbench import log_samples
from labsupport.workbench.random_logs import random_log
from tests.sessionlog import builders as make
from tests.sessionlog.builders import files_of, log, plain, same_messages, stored
from tests.sessionlog.strategies import logs

SAMPLES = [name for name in log_samples.NAMES if name not in log_samples.DAMAGE]
CONFIG = {"provider": "p", "model": "m"}
END_SEED = "session/end-seed"
UNITS = (turn_status, tool_pairing, session_stats)


def session_of(*records, **header):
    """A live session with these records, whose last turn may be open."""
    session = Session.create("s1", header=SessionHeader("s1", created_at=1000, **header))
    times = iter(range(1000, 1000 + len(records)))
    session._clock = lambda: next(times)  # the times of `log`
    for one in records:
        make.append(session, one)
    session._clock = None
    return session


def sample(name):
    """A sample log as a live session: with what a repair adds, and no end-seed of ours."""
    found = log_samples.load(name)
    return Session.seeded(found.header, found.events)


def legal_by_count(events):
    """The boundaries, found in another way: as many turns have ended as began."""
    return [at for at in range(len(events))
            if sum({"turn/start": 1, "turn/end": -1}.get(event.type, 0) for event in events[:at + 1]) == 0]


def facts(session):
    """All that a fork must leave as it is."""
    return plain(session.events), list(session.surface.nodes), session.surface.replace_generation, same_messages(session), \
        session.header, session.first_live_seq


def check_child(parent, at):
    """Fork *parent* behind *at*, and compare the child with what the parent was there."""
    before = facts(parent)
    child = fork(parent, at)
    prefix = list(parent.events[:at + 1])
    past = Session.seeded(parent.header, prefix)
    own = [] if prefix and prefix[-1].type == END_SEED else [END_SEED]
    assert list(child.events[:at + 1]) == prefix
    assert [event.type for event in child.events[at + 1:]] == own
    assert child.first_live_seq == at + 1
    assert not child.detached
    assert same_messages(child) == same_messages(past)
    assert list(child.surface.nodes) == list(past.surface.nodes)
    assert [fold(unit, child.events) for unit in UNITS] == [fold(unit, prefix) for unit in UNITS]
    source = parent.header
    assert child.header.to_json() == {
        "version": 0, "id": child.id, "createdAt": prefix[at].time, "parentSession": parent.id, "seedLength": at + 1,
        "delegationDepth": source.delegation_depth, **({"cwd": source.cwd} if source.cwd else {}),
        **({"agentPreset": source.agent_preset} if source.agent_preset else {})}
    assert child.id == f"{parent.id}-fork-{at + 1}"
    assert facts(parent) == before
    return child


# Fork: the laws

@pytest.mark.parametrize("name", SAMPLES)
def test_at_every_boundary_of_a_sample_the_child_is_what_the_parent_was(name):
    parent = sample(name)
    legal = boundaries(parent.events)
    assert legal
    for at in legal:
        child = check_child(parent, at)
        assert check_invariants(child.events) == []
        assert check_compaction(child.events) == []


@pytest.mark.parametrize("name", SAMPLES)
def test_everywhere_else_a_sample_refuses_and_names_the_boundary_before(name):
    parent, before = sample(name), None
    legal = boundaries(parent.events)
    assert legal == legal_by_count(parent.events)
    inside = 0
    for event in parent.events:
        if event.seq in legal:
            before = event.seq
            continue
        inside += 1
        with pytest.raises(ForkError) as caught:
            fork(parent, event.seq)
        assert (caught.value.boundary, caught.value.last_legal) == (event.seq, before)
    assert inside == len(parent.events) - len(legal) > 0


@given(logs(turns=3))
def test_so_it_is_in_random_logs(records):
    parent = session_of(*records)
    legal = legal_by_count(parent.events)
    assert boundaries(parent.events) == legal
    assert [event.seq for event in parent.events if last_boundary(parent.events[: event.seq + 1]) == event.seq] == legal
    for event in parent.events:
        before = [at for at in legal if at < event.seq]
        assert last_boundary(parent.events[:event.seq]) == (before[-1] if before else None)
        if event.seq in legal:
            check_child(parent, event.seq)
        else:
            with pytest.raises(ForkError) as caught:
                fork(parent, event.seq)
            assert caught.value.last_legal == (before[-1] if before else None)


@pytest.mark.parametrize("seed", range(10))
def test_a_child_of_a_recorded_session_breaks_no_rule_and_goes_on(seed):
    parent = random_log(seed)
    for at in boundaries(parent.events):
        child = fork(parent, at)
        run_turn(child, "and now?", ScriptedModel([Reply("Done.")]), {}, config=CONFIG)
        assert check_invariants(child.events) == []
        assert child.events[-1].data["turn"] == sum(event.type == "turn/end" for event in parent.events[:at + 1]) + 1
    assert facts(parent) == facts(random_log(seed))


@pytest.mark.parametrize("name", SAMPLES)
def test_no_byte_of_the_parent_changes_when_its_children_are_stored(name, tmp_path):
    parent = sample(name)
    store = JsonlStore(tmp_path)
    store.create(parent.header)
    store.append(parent.id, parent.events)
    path = store.path(parent.id)
    before, revision = path.read_bytes(), store.revision(parent.id)
    for at in boundaries(parent.events)[:6]:
        child = fork(parent, at)
        store.attach(child).close()
        again = store.load(child.id)
        assert again.header == child.header
        assert again.events == list(child.events)
        assert again.repair is None
    assert path.read_bytes() == before
    assert store.revision(parent.id) == revision


def test_a_child_is_a_session_of_its_own():
    parent = session_of(make.turn_start(), make.user(), make.turn_end())
    heard = []
    parent.observe(heard.append)
    child = fork(parent)
    child.append("session/title", {"title": "x"})
    parent.append("feedback/record", {})
    assert [event.type for event in heard] == ["feedback/record"]
    assert [event.type for event in child.events[3:]] == [END_SEED, "session/title"]
    assert [event.type for event in parent.events[3:]] == ["feedback/record"]


@pytest.mark.parametrize("seed", range(10))
def test_replacements_on_either_side_do_not_reach_the_other(seed):
    """The child may share what it took; whatever either does afterwards, each surface is its own log's, folded from scratch."""
    parent = random_log(seed)
    for at in boundaries(parent.events):
        child, family = fork(parent, at), [parent]
        family += [child, fork(child, at)]
        for step in range(2):
            for one in family:
                one.append("user/message", make.user_data(f"{one.id} {step}"), "append")
                nodes = list(one.surface.nodes)[-1 - step:]
                one.append("user/message", make.user_data("short"), make.replacing(nodes[0], nodes[-1]), nodes)
        for one in family:
            folded = fold_surface(one.events)
            assert list(one.surface.nodes) == list(folded.nodes)
            assert one.surface.replace_generation == len(folded.replacements)
            assert same_messages(one) == same_messages(replay(one.events))


def test_what_append_takes_and_a_seed_does_not_is_refused():
    """append checks surface rules, a seed shapes too; a fork is a seed."""
    parent = session_of(make.user())
    parent.append("user/message", {**make.user_data(), "content": "words"}, "append")
    assert fork(parent, 0).header.seed_length == 1
    with pytest.raises(EventError, match="content"):
        fork(parent, 1)


# Fork: what is taken over

def test_the_header_takes_over_depth_preset_and_folder_and_nothing_else():
    parent = session_of(make.turn_start(), make.turn_end(), cwd="/clinic", agent_preset="reader", delegation_depth=2,
                        parent_session="s0", seed_length=7, origin="subagent")
    child = fork(parent, 1, "idea")
    assert child.header == SessionHeader("idea", created_at=1001, cwd="/clinic", agent_preset="reader", delegation_depth=2,
                                         parent_session="s1", seed_length=2)


def test_a_clock_gives_the_time_of_the_child_and_of_its_end_seed():
    parent = session_of(make.turn_start(), make.turn_end())
    times = count(5000)
    child = fork(parent, clock=lambda: next(times))
    assert (child.header.created_at, child.events[-1].time) == (5000, 5001)
    assert child.append("session/title", {}).time == 5002


def test_a_time_before_1970_does_not_get_into_the_header():
    parent = Session.create("s1", clock=lambda: -5)
    parent.append("session/title", {})
    assert fork(parent).header.created_at == 0


def test_without_a_boundary_the_whole_log_is_taken():
    parent = session_of(make.turn_start(), make.turn_end(), make.record("session/title", {}))
    assert fork(parent).header.seed_length == 3


@pytest.mark.parametrize("clock", [None, lambda: 77])
def test_an_empty_session_can_be_forked_as_a_whole_alone(clock):
    empty = session_of()
    child = fork(empty, clock=clock)
    assert child.id == "s1-fork-0"
    assert (child.header.seed_length, child.header.parent_session) == (0, "s1")
    assert child.header.created_at == (77 if clock else 1000)
    assert [event.type for event in child.events] == [END_SEED]
    for boundary in (0, -1):
        with pytest.raises(ForkError, match="the log is empty") as caught:
            fork(empty, boundary)
        assert caught.value.last_legal is None


def test_a_fork_of_a_fork_knows_its_own_parent():
    parent = session_of(make.turn_start(), make.turn_end(), make.turn_start(2), make.turn_end(2))
    child = fork(parent)
    grandchild = fork(child, 1, "third")
    assert (grandchild.header.parent_session, grandchild.header.seed_length) == (child.id, 2)
    assert [event.type for event in grandchild.events] == ["turn/start", "turn/end", END_SEED]
    whole = fork(child)  # its seed ends in an end-seed, and there is no second one
    assert [event.type for event in whole.events].count(END_SEED) == 1
    assert (whole.header.seed_length, whole.first_live_seq, len(whole.events)) == (5, 5, 5)


def test_a_fork_of_a_resumed_session_may_begin_before_and_behind_its_end_seed(tmp_path):
    store = stored(JsonlStore(tmp_path), make.turn_start(), make.user(), make.turn_end())
    parent = resume(store, "s1")
    run_turn(parent, "go on", ScriptedModel([Reply("Yes.")]), {}, config=CONFIG)
    assert boundaries(parent.events) == [2, 3, len(parent.events) - 1]
    assert [event.type for event in fork(parent, 2).events[2:]] == ["turn/end", END_SEED]
    assert [event.type for event in fork(parent, 3).events[2:]] == ["turn/end", END_SEED]
    assert check_invariants(fork(parent).events) == []


def test_an_event_of_an_unknown_type_comes_along(tmp_path):
    parent = session_of(make.turn_start(), make.turn_end(), make.record("plugin/x", {"a": [1.5, None]}, ignorable=True))
    child = fork(parent)
    assert child.events[2].to_json() == parent.events[2].to_json()
    store = JsonlStore(tmp_path)
    store.attach(child).close()
    assert store.load(child.id).events[2].to_json() == parent.events[2].to_json()


def test_history_gives_no_permission():
    calls = []
    parent = session_of()
    tools = {"send": lambda given: calls.append(given) or "sent"}
    replies = [Reply(calls=[call("c1", "send", "{}")]), Reply("Sent.")]
    run_turn(parent, "send it", ScriptedModel(replies), tools, config=CONFIG)
    parent.append("approval/decided", {"tool": "send", "decision": "approved"})
    child = fork(parent)
    run_turn(child, "again", ScriptedModel(replies), {}, config=CONFIG)
    assert len(calls) == 1
    assert [event.data["error"]["code"] for event in child.events
            if event.type == "tool/result" and event.seq >= child.first_live_seq] == ["UNKNOWN_TOOL"]


# Fork: what is refused

OPEN = [make.record("session/title", {}), make.turn_start(), make.step_start(), make.asks("c1"), make.call("c1")]


@pytest.mark.parametrize(("boundary", "last_legal", "sentence"), [
    pytest.param(4, 0, "event 4 lies inside a turn.*The last boundary before it is 0", id="inside a turn"),
    pytest.param(None, 0, "event 4 lies inside a turn.*The last boundary before it is 0", id="the end is inside a turn"),
    pytest.param(5, 0, "there is no event 5.*the last one is 4", id="behind the end"),
    pytest.param(2**60, 0, "there is no event", id="far behind the end"),
    pytest.param(-1, 0, "there is no event -1", id="before the beginning"),
    pytest.param(True, 0, "there is no event True", id="a bool, which is 1 to Python"),
    pytest.param(False, 0, "there is no event False", id="a bool, which is 0 to Python"),
    pytest.param(0.0, 0, "there is no event 0.0", id="a float"),
    pytest.param(float("nan"), 0, "there is no event nan", id="not a number"),
    pytest.param("0", 0, "there is no event 0", id="a string"),
])
def test_a_fork_that_may_not_be(boundary, last_legal, sentence):
    parent = session_of(*OPEN)
    before = facts(parent)
    with pytest.raises(ForkError, match=sentence) as caught:
        fork(parent, boundary)
    assert caught.value.last_legal == last_legal
    assert isinstance(caught.value, SessionLogError)
    assert facts(parent) == before


def test_where_no_boundary_comes_before_the_error_says_to_wait():
    with pytest.raises(ForkError, match="There is no boundary before it; wait for the turn's end") as caught:
        fork(session_of(*OPEN[1:]))
    assert (caught.value.boundary, caught.value.last_legal) == (3, None)


def test_a_fork_has_an_id_of_its_own():
    parent = session_of(make.turn_start(), make.turn_end())
    with pytest.raises(ForkError, match="on the same id a session is resumed"):
        fork(parent, 1, "s1")
    with pytest.raises(EventError, match=r"header\.id"):
        fork(parent, 1, "")


@pytest.mark.parametrize("other", [
    pytest.param([make.user("mine")], id="another session"),
    pytest.param([make.turn_start(), make.turn_end(), make.turn_start(2), make.turn_end(2), make.user("x")], id="a longer one"),
])
def test_an_id_that_is_taken_in_the_store_is_refused(other, tmp_path):
    store = stored(JsonlStore(tmp_path), *other, id="taken")
    before = files_of(tmp_path)
    child = fork(session_of(make.turn_start(), make.turn_end()), 1, "taken")
    with pytest.raises(StoredLogError):
        store.attach(child)
    with pytest.raises(StoredLogError):
        store.create(child.header)
    assert files_of(tmp_path) == before


# Logs that no loop wrote

HOSTILE = {
    "an end without a start": ([make.turn_end(), make.turn_end()], [0, 1]),
    "a start inside a turn": ([make.turn_start(), make.turn_start(2), make.turn_end(2), make.user()], [2, 3]),
    "an end-seed inside a turn": ([make.turn_start(), make.record(END_SEED, {}), make.turn_end()], [2]),
    "a turn without a number": ([make.record("turn/start"), make.record("turn/end", [None])], [1]),
    "types that look alike": ([make.record("turn/start ", {}), make.record("Turn/start", {}), make.record("", {})], [0, 1, 2]),
    "a call that waits between turns": ([make.asks("c1"), make.call("c1")], [0, 1]),
    "a half of a surrogate pair": ([make.user("\ud83d"), make.record("\ud83d", "\ude42", ignorable=True)], [0, 1]),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_log_that_no_loop_wrote(name):
    records, legal = HOSTILE[name]
    parent = Session.seeded(SessionHeader("s1", created_at=1000), log(*records))
    assert boundaries(parent.events) == legal
    for event in parent.events:
        if event.seq in legal:
            check_child(parent, event.seq)
        else:
            with pytest.raises(ForkError):
                fork(parent, event.seq)


def test_an_error_says_nothing_of_what_was_said():
    parent = session_of(make.turn_start(), make.user("secret 预算"))
    with pytest.raises(ForkError) as caught:
        fork(parent, 1)
    assert "secret" not in str(caught.value)


# Resume

def test_a_resumed_session_has_its_id_and_one_end_seed(tmp_path):
    store = stored(JsonlStore(tmp_path), make.turn_start(), make.user(), make.turn_end())
    before = files_of(tmp_path)
    session = resume(store, "s1")
    assert (session.id, session.first_live_seq, session.detached) == ("s1", 3, False)
    assert [event.type for event in session.events[3:]] == [END_SEED]
    assert session.header.parent_session is None
    assert files_of(tmp_path) == before  # it is written when somebody attaches it


def test_it_is_written_on_and_resumed_again(tmp_path):
    store = stored(JsonlStore(tmp_path), make.turn_start(), make.turn_end())
    raw = store.path("s1").read_bytes()
    for again in range(1, 4):
        session = resume(JsonlStore(tmp_path), "s1")
        store = JsonlStore(tmp_path)
        writer = store.attach(session)
        run_turn(session, "go on", ScriptedModel([Reply("Yes.")]), {}, config=CONFIG)
        writer.close()
        events = JsonlStore(tmp_path).load("s1").events
        assert events == list(session.events)
        assert sum(event.type == END_SEED for event in events) == again
        assert check_invariants(events) == []
    assert store.path("s1").read_bytes().startswith(raw)


def test_a_log_that_ends_in_its_end_seed_gets_no_second_one(tmp_path):
    store = stored(JsonlStore(tmp_path), make.turn_start(), make.turn_end(), make.record(END_SEED, {}))
    session = resume(store, "s1")
    assert (len(session.events), session.first_live_seq) == (3, 3)


def test_a_turn_that_was_interrupted_is_closed_before_it_goes_on(tmp_path):
    store = stored(JsonlStore(tmp_path), *OPEN)
    session = resume(store, "s1")
    assert [event.type for event in session.events[5:]] == ["tool/result", "step/end", "turn/end", END_SEED]
    assert session.first_live_seq == 8
    assert run_turn(session, "go on", ScriptedModel([Reply("Yes.")]), {}, config=CONFIG).turn == 2


@pytest.mark.parametrize(("model", "reasons"), [("m", ["initial"]), ("m2", ["initial", "resume"])])
def test_the_request_header_is_logged_again_only_when_it_differs(model, reasons, tmp_path):
    session = Session.create("s1")
    run_turn(session, "hi", ScriptedModel([Reply("Hi.")]), {}, config=CONFIG)
    store = JsonlStore(tmp_path)
    store.attach(session).close()
    again = resume(store, "s1")
    for _ in range(2):
        run_turn(again, "go on", ScriptedModel([Reply("Yes.")]), {}, config={**CONFIG, "model": model})
    assert [event.data["reason"] for event in again.events if event.type == "request/header"] == reasons


def test_a_clock_gives_the_time_of_what_is_live(tmp_path):
    session = resume(stored(JsonlStore(tmp_path), make.user()), "s1", clock=lambda: 9000)
    assert [event.time for event in session.events] == [1000, 9000]


def test_while_it_is_live_nobody_else_resumes_it(tmp_path):
    store = stored(JsonlStore(tmp_path), make.user())
    session = resume(store, "s1")
    writer = store.attach(session)
    for other in (store, JsonlStore(tmp_path)):
        with pytest.raises(StoreBusyError):
            resume(other, "s1")
    writer.close()
    assert resume(JsonlStore(tmp_path), "s1").first_live_seq == 2


def test_one_that_another_left_behind_is_stale(tmp_path):
    store = stored(JsonlStore(tmp_path), make.user())
    late, early = resume(store, "s1"), resume(store, "s1")
    writer = store.attach(early)
    early.append("session/title", {"title": "x"})
    writer.close()
    before = files_of(tmp_path)
    with pytest.raises(StaleCursorError):
        store.attach(late)
    late.append("feedback/record", {})
    with pytest.raises(StaleCursorError):
        store.attach(late)
    assert files_of(tmp_path) == before


def test_two_resumes_of_one_load_do_not_share_a_session(tmp_path):
    loaded = stored(JsonlStore(tmp_path), make.user()).load("s1")
    first, second = loaded.session(), loaded.session()
    first.append("session/title", {})
    assert len(second.events) == 2


def test_what_is_not_there_cannot_be_resumed(tmp_path):
    with pytest.raises(FileNotFoundError):
        resume(JsonlStore(tmp_path), "s1")
    assert files_of(tmp_path) == {}


# Replay

@pytest.mark.parametrize("name", SAMPLES)
def test_a_replay_derives_and_folds_the_same_and_touches_no_file(name, tmp_path):
    before = log_samples.path(name).read_bytes()
    original = sample(name)
    again = replay(original.events, original.header)
    assert again.detached
    assert again.header == original.header
    assert same_messages(again) == same_messages(original)
    assert [fold(unit, again.events) for unit in UNITS] == [fold(unit, original.events) for unit in UNITS]
    assert log_samples.path(name).read_bytes() == before


@given(logs(), st.data())
def test_a_prefix_is_replayed_as_it_was(records, data):
    parent = session_of(*records)
    at = data.draw(st.integers(0, len(records)))
    live = session_of(*records[:at])
    assert same_messages(replay(parent.events[:at])) == same_messages(live)


def test_a_replay_never_calls_a_tool():
    called = []
    tools = {"send": lambda given: called.append(given) or "sent"}
    session = Session.create("s1")
    replies = [Reply(calls=[call("c1", "send", "{}")]), Reply("Sent.")]
    run_turn(session, "send it", ScriptedModel(replies), tools, config=CONFIG)
    again = replay(session.events)
    before, model = plain(again.events), ScriptedModel(replies)
    with pytest.raises(DetachedSessionError, match="writes to no store and runs no tool"):
        run_turn(again, "again", model, tools, config=CONFIG, barrier=called.append)
    assert plain(again.events) == before
    assert (len(called), model.requests) == (1, [])


@pytest.mark.parametrize("there", [True, False])
def test_no_store_attaches_a_replay(there, tmp_path):
    store = stored(JsonlStore(tmp_path), make.user()) if there else JsonlStore(tmp_path)
    again = replay(log(make.user()), SessionHeader("s1", created_at=1000))
    before = sorted(tmp_path.iterdir()), files_of(tmp_path)
    with pytest.raises(DetachedSessionError):
        store.attach(again)
    again.append("session/title", {})
    assert (sorted(tmp_path.iterdir()), files_of(tmp_path)) == before


def test_a_fork_of_a_replay_is_live():
    child = fork(replay(log(make.turn_start(), make.turn_end())), 1)
    assert not child.detached
    assert run_turn(child, "hi", ScriptedModel([Reply("Hi.")]), {}, config=CONFIG).turn == 2


def test_a_replay_checks_its_events():
    with pytest.raises(EventError, match="seq"):
        replay(log(make.user(), first=3))


# Sub-agents

def test_a_delegate_is_empty_and_one_level_deeper():
    parent = session_of(make.turn_start(), make.user(), cwd="/clinic", agent_preset="writer")
    child = delegate(parent, "s1-reader", "reader")
    assert child.header == SessionHeader("s1-reader", created_at=1001, cwd="/clinic", parent_session="s1", origin="subagent",
                                         delegation_depth=1, agent_preset="reader")
    assert (len(child.events), child.first_live_seq) == (0, 0)
    assert delegate(parent, "s1-b", clock=lambda: 7).header.created_at == 7
    assert delegate(session_of(), "s1-c").header.created_at == 1000


def test_depth_is_bounded():
    session = session_of()
    for depth in range(1, 4):
        session = delegate(session, f"d{depth}")
        assert session.header.delegation_depth == depth
    with pytest.raises(ForkError, match="would stand at depth 4, and 3 is the limit"):
        delegate(session, "d4")
    assert delegate(session, "d4", max_depth=4).header.delegation_depth == 4
    with pytest.raises(ForkError, match="depth 1, and 0 is the limit"):
        delegate(session_of(), "d1", max_depth=0)


def test_a_fork_of_a_delegate_keeps_its_depth_and_is_no_delegate():
    child = delegate(session_of(), "d1")
    child.append("session/title", {})
    branch = fork(child)
    assert (branch.header.delegation_depth, branch.header.origin, branch.header.parent_session) == (1, None, "d1")


# Locks of compactions

START, END, SEED = make.record("compaction/start", {}), make.record("compaction/end", {}), make.record(END_SEED, {})


@pytest.mark.parametrize(("records", "live", "stale"), [
    pytest.param([], None, (), id="an empty log"),
    pytest.param([START], 0, (), id="running"),
    pytest.param([START, make.user()], 0, (), id="running while somebody talks"),
    pytest.param([START, END], None, (), id="done"),
    pytest.param([START, SEED], None, (0,), id="its process is gone"),
    pytest.param([START, SEED, START], 2, (0,), id="the next process began anew"),
    pytest.param([START, SEED, START, END], None, (0,), id="and ended"),
    pytest.param([START, SEED, START, SEED], None, (0, 2), id="two processes died"),
    pytest.param([START, END, SEED], None, (), id="done before the end-seed"),
    pytest.param([SEED, END, START, END, START], 4, (), id="an end without a start"),
    pytest.param([make.record("compaction/prune", {}), make.record("compaction/summary", {})], None, (), id="other kinds"),
])
def test_a_lock_is_live_or_stale(records, live, stale):
    locks = compaction_locks(log(*records))
    assert (locks.live, locks.stale) == (live, stale)


@pytest.mark.parametrize("name", ["replaced", "long"])
def test_in_a_child_no_lock_is_live(name):
    parent = sample(name)
    start = next(event.seq for event in parent.events if event.type == "compaction/start")
    assert compaction_locks(parent.events[:start + 1]).live == start
    for at in boundaries(parent.events):
        locks = compaction_locks(fork(parent, at).events)
        assert locks.live is None
        assert locks.stale == ((start,) if start <= at < start + 3 else ())


def test_a_resumed_log_has_a_stale_lock_and_is_compacted_again(tmp_path):
    store = JsonlStore(tmp_path)
    parent = sample("replaced")
    start = next(event.seq for event in parent.events if event.type == "compaction/start")
    store.create(parent.header)
    store.append(parent.id, parent.events[:start + 1])
    assert compaction_locks(store.inspect(parent.id).events).live == start
    session = resume(store, parent.id)
    assert compaction_locks(session.events).stale == (start,)
    session.append("compaction/start", {**parent.events[start].read(), "compactionId": "again"})
    assert compaction_locks(session.events).live == start + 2


def test_a_fork_begins_a_log_of_its_own(tmp_path: Path) -> None:
    """Two forks at one boundary have one default id: the second does not write on in the log of the first."""
    store, source = JsonlStore(tmp_path), Session.create("s1")
    for record in (make.turn_start(), make.user(), make.turn_end()):
        make.append(source, record)
    first, second = fork(source), fork(source)
    writer = store.attach(first)
    writer.close()
    before = store.path(first.id).read_bytes()
    with pytest.raises(StoredLogError, match="another child_id"):
        store.attach(second)
    assert store.path(first.id).read_bytes() == before
    store.attach(first).close()
    store.attach(resume(store, first.id)).close()
    other = Session.create("s9")
    for record in (make.turn_start(), make.user(), make.turn_end()):
        make.append(other, record)
    with pytest.raises(StoredLogError):
        store.attach(fork(other, child_id=first.id))


def test_a_sub_agent_is_not_its_own_parent() -> None:
    with pytest.raises(ForkError, match="id of its own"):
        delegate(Session.create("s1"), "s1")
