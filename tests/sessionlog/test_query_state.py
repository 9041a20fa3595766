"""The query state: sources, versions, and a plan and an approval that hold for the fields they were made from alone."""
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labsupport.errors import ProjectionError, QueryStateError
from labsupport.sessionlog import ProjectionRegistry, Session, SessionEvent, check_invariants, fork, replay, to_json
from labsupport.sessionlog.folding import check_pure, fold
from labsupport.sessionlog.query_state import (
    EMPTY,
    FIELDS,
    PLANNED,
    QUERY_STATE,
    Source,
    approve,
    commit,
    current,
    log_state,
    may_act,
    plan,
    plan_hash,
    query_state,
    source_at,
)
from labsupport.sessionlog.storage import JsonlStore, SqliteStore

TESTS = {"id": "tests", "version": 2, "status": "active"}
YEAR = {"calendar": "gregorian", "mode": "calendar-year", "start": "2025-01-01", "end": "2025-12-31"}
OTHERS = {"goal": "another", "metric": {**TESTS, "version": 3}, "filters": {"clinic": "hillside"},
          "time": {**YEAR, "mode": "fiscal-year"}, "ambiguities": ["which clinic?"]}
CANARY = "CANARY-91c2"


def settled(**more):
    return commit(EMPTY, Source(1, 1), goal="bill", metric=TESTS, filters={"clinic": "harbour"}, time=YEAR, **more)


def approved(state=None):
    state = plan(settled() if state is None else state, Source(2, 1))
    return approve(state, Source(3, None), state["planHash"]["value"], "ana")


# Fields

def test_each_field_has_its_source_version_and_status():
    state = commit(settled(), Source(7, 2), filters={"clinic": "hillside"})
    assert to_json(state["filters"]) == {"value": {"clinic": "hillside"}, "source": {"seq": 7, "turn": 2}, "version": 2,
                                         "status": "committed"}
    assert to_json(state["goal"])["source"] == {"seq": 1, "turn": 1}
    assert state["approval"] is None


def test_the_same_value_is_no_change_and_the_state_is_the_same_object():
    state = approved()
    assert commit(state, Source(9, 4), metric=dict(TESTS), time=dict(YEAR)) is state
    assert plan(state, Source(9, 4)) is state


def test_a_state_is_frozen_and_takes_a_copy():
    given_filters = {"clinic": "harbour"}
    state = commit(EMPTY, Source(1, 1), filters=given_filters)
    given_filters["clinic"] = "hillside"
    assert state["filters"]["value"] == {"clinic": "harbour"}
    with pytest.raises(TypeError):
        state["filters"]["value"]["clinic"] = "x"


@pytest.mark.parametrize(("values", "place"), [
    ({"metric": "tests"}, "metric does not hold this"), ({"metric": {"id": "tests"}}, "metric does not hold this"),
    ({"metric": {**TESTS, "status": CANARY}}, r"at `\$.status`"), ({"metric": {**TESTS, "version": 0}}, r"at `\$.version`"),
    ({"time": {"calendar": "gregorian"}}, "time does not hold this"), ({"goal": ""}, "goal does not hold"),
    ({"filters": {"a": 1}}, "filters does not hold"), ({"ambiguities": [""]}, "ambiguities does not hold"),
    ({"mood": "good"}, "no field mood"), ({"planHash": "x"}, "no field planHash"), ({"approval": None}, "no field approval"),
], ids=lambda value: "" if isinstance(value, str) else next(iter(value)))
def test_what_a_field_does_not_hold_is_refused_and_not_quoted(values, place):
    with pytest.raises(QueryStateError, match=place) as caught:
        commit(EMPTY, Source(1, 1), **values)
    assert caught.value.code == "shape"
    assert CANARY not in str(caught.value)


# Plan and approval

@pytest.mark.parametrize("name", PLANNED)
def test_a_changed_field_makes_plan_and_approval_void(name):
    changed = commit(approved(), Source(9, 4), **{name: OTHERS[name]})
    assert [changed[field]["status"] for field in FIELDS if changed[field]] == ["committed"] * (len(FIELDS) - (
        name != "ambiguities") - 2) + ["void"] * 2
    assert may_act(approved())
    assert not may_act(changed)


def test_changed_to_and_fro_is_another_plan():
    state = approved()
    there = commit(state, Source(9, 4), metric=OTHERS["metric"])
    back = commit(there, Source(11, 5), metric=TESTS)
    assert plan_hash(back) != plan_hash(state)
    assert not may_act(back)


def test_a_new_plan_does_not_take_the_old_approval_along():
    changed = plan(commit(approved(), Source(9, 4), time=OTHERS["time"]), Source(10, 4))
    assert changed["planHash"]["status"] == "committed"
    assert changed["approval"]["status"] == "void"
    assert may_act(approve(changed, Source(11, 4), changed["planHash"]["value"], "ana"))


def test_an_approval_is_of_the_plan_as_it_is_now():
    state = approved()
    old = state["planHash"]["value"]
    changed = commit(state, Source(9, 4), metric=OTHERS["metric"], time=OTHERS["time"])
    with pytest.raises(QueryStateError, match=f"plan {old} is not the plan any more: metric, time changed since") as caught:
        approve(changed, Source(10, 4), old, "ana")
    assert caught.value.code == "stale"
    with pytest.raises(QueryStateError, match="the plan changed since"):
        approve(state, Source(10, 4), "0" * 16, "ana")
    with pytest.raises(QueryStateError, match="no plan"):
        approve(settled(), Source(10, 4), old, "ana")


def test_what_was_said_before_the_plan_does_not_approve_it():
    state = plan(settled(), Source(5, 1))
    for seq in (4, 5):
        with pytest.raises(QueryStateError, match=f"event {seq} came before the plan"):
            approve(state, Source(seq, 1), state["planHash"]["value"], "ana")


@pytest.mark.parametrize(("state", "code"), [
    (EMPTY, "incomplete"), (commit(EMPTY, Source(1, 1), goal="bill", metric=TESTS), "incomplete"),
    (settled(ambiguities=["which year?"]), "open"), (commit(settled(), Source(2, 1), metric={**TESTS, "status": "retired"}),
                                                     "definition")])
def test_there_is_no_plan_before_its_parts_are_settled(state, code):
    with pytest.raises(QueryStateError) as caught:
        plan(state, Source(3, 1))
    assert caught.value.code == code


@given(st.lists(st.sampled_from([*OTHERS, "plan", "approve", "back"]), max_size=12))
def test_law_an_approval_holds_only_for_what_was_approved(steps):
    """Whatever happens, an approval that holds is of the values that stood there when it was given."""
    state, seq, approved_values = settled(), 2, None
    for step in steps:
        seq += 2
        try:
            if step == "plan":
                state = plan(state, Source(seq, 1))
            elif step == "approve":
                if not may_act(state):
                    state = approve(state, Source(seq, 1), state["planHash"]["value"] if state["planHash"] else "-", "ana")
                    approved_values = [state[name] for name in PLANNED]
            elif step == "back":
                state = commit(state, Source(seq, 1), goal="bill", metric=TESTS, filters={}, time=YEAR, ambiguities=[])
            else:
                state = commit(state, Source(seq, 1), **{step: OTHERS[step]})
        except QueryStateError:
            pass
        if may_act(state):
            assert [state[name] for name in PLANNED] == approved_values
        session = Session.create("s")
        for _ in range(seq + 1):
            session.append("plugin/x", None, ignorable=True)
        log_state(session, state)
        assert current(session) == state


# The log and the projection

def logged():
    session = Session.create("s1")
    for turn in (1, 2):
        session.append("turn/start", {"turn": turn})
        session.append("todo/write", {"todos": []})
        session.append("turn/end", {"turn": turn, "reason": {"kind": "completed"}})
    log_state(session, commit(EMPTY, source_at(session, 1), goal="bill", metric=TESTS, time=YEAR))
    log_state(session, plan(current(session), source_at(session, 4)))
    return session


def test_the_whole_state_is_logged_once_and_reads_back_from_both_stores(tmp_path):
    session = logged()
    assert log_state(session, current(session)) is None
    event = session.events[-1]
    assert (event.type, event.ignorable, set(event.read())) == (QUERY_STATE, True, set(FIELDS))
    assert check_invariants(session.events) == []
    assert list(session.derive_messages()) == []
    for store in (JsonlStore(tmp_path), SqliteStore(tmp_path / "log.db")):
        store.create(session.header)
        store.append(session.id, session.events)
        assert fold(query_state, store.load(session.id).events) == current(session)


def test_a_source_knows_its_turn():
    session = logged()
    assert [source_at(session, seq).turn for seq in range(7)] == [1, 1, 1, 2, 2, 2, None]


def test_replay_fork_and_every_prefix_give_the_state_of_the_log():
    session = logged()
    assert current(replay(session.events)) == current(session) == current(fork(session))
    assert current(replay(session.events[:7]))["planHash"] is None
    assert current(replay(session.events[:6])) == EMPTY


def test_the_unit_is_pure_and_the_same_state_is_no_change():
    session = logged()
    assert check_pure(query_state, session.events) == []
    registry, seen = ProjectionRegistry([query_state]), []
    registry.on_changed(lambda change: seen.append(change.seq))
    registry.snapshot(session)
    session.append(QUERY_STATE, to_json(current(session)), ignorable=True)
    assert seen == []
    assert registry.snapshot(session).values["query_state"] == current(session)


def test_an_approval_that_a_writer_carried_over_is_void_for_every_reader():
    """Somebody writes the whole value by hand, with another metric and the old approval still marked as good."""
    session = Session.create("s1")
    for _ in range(5):
        session.append("plugin/x", None, ignorable=True)
    forged = to_json(approved())
    forged["metric"]["value"]["version"] = 3
    session.append(QUERY_STATE, forged, ignorable=True)
    assert [current(session)[name]["status"] for name in ("metric", "planHash", "approval")] == ["committed", "void", "void"]
    assert not may_act(current(session))


def spoilt(change):
    data = to_json(settled())
    change(data)
    return SessionEvent.from_json({"type": QUERY_STATE, "seq": 5, "time": 0, "data": data, "ignorable": True})


@pytest.mark.parametrize("change", [
    lambda data: data.pop("goal"), lambda data: data.update(more=1), lambda data: data["goal"].pop("source"),
    lambda data: data["goal"].update(version=0), lambda data: data["goal"].update(status=CANARY),
    lambda data: data["goal"].update(value=7), lambda data: data["goal"]["source"].update(seq=5),
    lambda data: data["metric"]["value"].update(status=CANARY), lambda data: data.update(time=[]),
    lambda data: data["filters"]["value"].update(clinic=None),
], ids=range(10))
def test_what_is_no_query_state_is_named_not_quoted_and_not_guessed_at(change):
    with pytest.raises(ProjectionError, match="event 5 holds no query state") as caught:
        fold(query_state, [spoilt(change)])
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize("data", [None, [], "x", 1, {}])
def test_other_json_is_no_query_state_either(data):
    event = SessionEvent.from_json({"type": QUERY_STATE, "seq": 0, "time": 0, "data": data, "ignorable": True})
    with pytest.raises(ProjectionError):
        fold(query_state, [event])


def test_a_bad_state_stops_this_unit_and_no_other():
    session = logged()
    registry = ProjectionRegistry([query_state])
    session.append(QUERY_STATE, {"goal": CANARY}, ignorable=True)
    snapshot = registry.snapshot(session)
    assert (snapshot.as_of_seq, snapshot.failures[0].key, snapshot.failures[0].seq) == (8, "query_state", 8)
