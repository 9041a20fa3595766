"""Projections: many views of one log at one watermark, their feed of changes, and the caches they go on from (§4.7)."""

import gc
import json
import logging
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TypedDict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labsupport.errors import ProjectionError, ReentrantAppendError
from labsupport.sessionlog import (
    ProjectionRegistry,
    Session,
    SessionEvent,
    Snapshot,
    Unit,
    fold,
    session_stats,
    surface_tokens,
    to_json,
    todo,
    tool_pairing,
    turn_status,
)
from labsupport.sessionlog.folding import check_pure
from labsupport.sessionlog.snapshots import Change, Failure
from labsupport.sessionlog.storage import JsonlStore, scan_log
from tests.sessionlog import builders as make
from tests.sessionlog.builders import Record
from tests.sessionlog.strategies import json_of, logs, texts

SHIPPED = [turn_status, tool_pairing, session_stats, todo, surface_tokens]
STARTS = frozenset({"turn/start"})


def counting(key: str = "n", types: frozenset[str] = STARTS, **more: Any) -> Unit:
    return Unit(key, types, lambda: 0, lambda state, event: state + 1, **more)


def live(*records: Record) -> Session:
    """A session with these records, as if they had just been appended."""
    session = Session.create("s1")
    for one in records:
        make.append(session, one)
    return session


def replayed(events: list[SessionEvent], each: Callable[[Session], None]) -> Session:
    """A live session to which the *events* come one by one, at their own times; *each* is called after each of them."""
    times = iter([event.time for event in events])
    session = Session.create("s1", clock=lambda: next(times, 0))
    for event in events:
        session.append(event.type, event.read(), event.surface_op, event.source_event_seqs, event.ignorable is True)
        each(session)
    return session


# Laws


@settings(max_examples=40)
@given(logs())
def test_a_snapshot_is_the_fold_from_scratch_at_every_seq(records: list[Record]) -> None:
    registry = ProjectionRegistry(SHIPPED)
    assert registry.snapshot(Session.create("s0")).as_of_seq == -1

    def same(session: Session) -> None:
        seen = registry.snapshot(session)
        assert seen.as_of_seq == len(session.events) - 1
        assert seen.failures == ()
        assert to_json(seen.values) == {unit.key: to_json(fold(unit, session.events)) for unit in SHIPPED}

    replayed(make.log(*records), same)


@settings(max_examples=40)
@given(logs())
def test_the_feed_has_every_view_that_changed_and_no_other(records: list[Record]) -> None:
    """Between two changes a view stays what it was: who listens never has to ask."""
    registry, told = ProjectionRegistry(SHIPPED), list[Change]()
    registry.on_changed(told.append)
    session = Session.create("s1")
    known = dict(registry.snapshot(session).values)
    for event in make.log(*records):
        told.clear()
        session.append(event.type, event.read(), event.surface_op, event.source_event_seqs, event.ignorable is True)
        assert all(event.type in unit.event_types for unit in SHIPPED for change in told if change.key == unit.key)
        assert all((change.session, change.seq) == (session, event.seq) for change in told)
        known |= {change.key: change.value for change in told}
        assert known == registry.snapshot(session).values


@settings(max_examples=40)
@given(logs(cut=False), st.data())
def test_a_checkpoint_and_the_rest_of_the_log_are_the_whole_log(records: list[Record], data: st.DataObject) -> None:
    events = make.log(*records)
    cut = data.draw(st.integers(0, len(events)), label="cut")
    registry = ProjectionRegistry(SHIPPED)
    rows = registry.checkpoint(replayed(events[:cut], lambda session: None))
    rows = json.loads(json.dumps(rows))  # what a file would give back
    assert {row["seq"] for row in rows.values()} == {cut - 1}
    floor = registry.restore_floor(rows)
    assert floor == max(0, cut - 1)
    for base in (0, floor):
        restored = registry.restore(rows, events[base:], base)
        assert restored.as_of_seq == len(events) - 1
        assert sorted(restored.reused) == sorted(unit.key for unit in SHIPPED)
        assert restored.refolded == {}
        assert restored.values == registry.restore({}, events).values


@settings(max_examples=20)
@given(logs(), st.sampled_from(SHIPPED))
def test_the_shipped_units_show_no_impurity(records: list[Record], unit: Unit) -> None:
    assert check_pure(unit, make.log(*records)) == []


@pytest.mark.parametrize("unit", SHIPPED, ids=lambda unit: unit.key)
def test_an_event_that_is_not_the_units_leaves_the_same_object(unit: Unit) -> None:
    """And some of its own do: the state is the same object before and after, so nobody is told."""
    registry, told = ProjectionRegistry([unit]), list[Change]()
    registry.on_changed(told.append)
    session = live(*make.two_steps())
    before = registry.snapshot(session).values[unit.key]
    make.append(session, make.record("session/title", {"title": "new"}))
    assert told == []
    assert registry.snapshot(session).values[unit.key] is before
    assert registry.snapshot(session).as_of_seq == len(session.events) - 1, "the watermark moves all the same"


# The feed


def test_no_change_is_the_same_object_or_an_equal_scalar() -> None:
    answers: Iterator[Any] = iter([1, 1, 1.0, True, "1", "1", None, None])
    unit = Unit("n", STARTS, lambda: 1, lambda state, event: next(answers))
    registry, told = ProjectionRegistry([unit]), list[Any]()
    registry.on_changed(lambda change: told.append(change.value))
    session = Session.create("s1")
    registry.follow(session)
    for _ in range(8):
        make.append(session, make.turn_start())
    assert [(type(value), value) for value in told] == [(float, 1.0), (bool, True), (str, "1"), (type(None), None)]


def test_an_equal_dict_that_is_another_object_is_a_change() -> None:
    registry, told = ProjectionRegistry([Unit("n", STARTS, dict, lambda state, event: {})]), list[Change]()
    registry.on_changed(told.append)
    session = Session.create("s1")
    registry.follow(session)
    make.append(session, make.turn_start())
    assert [(change.key, change.seq, change.value) for change in told] == [("n", 0, {})]


def test_a_log_that_is_there_already_is_no_change() -> None:
    registry, told = ProjectionRegistry([counting()]), list[Change]()
    registry.on_changed(told.append)
    registry.follow(live(*make.two_steps()))
    assert told == []


def test_a_listener_that_raises_stops_nobody(caplog: pytest.LogCaptureFixture) -> None:
    def fails(change: Change) -> None:
        raise ValueError("private words")

    registry, told = ProjectionRegistry([counting()]), list[Any]()
    registry.on_changed(fails)
    stop = registry.on_changed(lambda change: told.append(change.value))
    session = Session.create("s1")
    registry.follow(session)
    with caplog.at_level(logging.ERROR):
        make.append(session, make.turn_start())
    assert told == [1]
    assert "ValueError" in caplog.text
    assert "private words" not in caplog.text
    stop()
    stop()
    make.append(session, make.turn_start())
    assert told == [1]


def test_the_same_listener_twice_is_two_listeners_and_each_ends_alone() -> None:
    registry, told = ProjectionRegistry([counting()]), list[Change]()
    first, _ = registry.on_changed(told.append), registry.on_changed(told.append)
    session = Session.create("s1")
    registry.follow(session)
    make.append(session, make.turn_start())
    assert len(told) == 2
    first()
    make.append(session, make.turn_start())
    assert len(told) == 3


def test_a_listener_that_takes_a_snapshot_sees_all_views_at_the_new_watermark() -> None:
    registry, seen = ProjectionRegistry([counting("a"), counting("b"), turn_status]), list[Snapshot]()
    session = Session.create("s1")
    registry.follow(session)
    registry.on_changed(lambda change: seen.append(registry.snapshot(change.session)))
    make.append(session, make.turn_start())
    assert len(seen) == 3
    assert [(one.as_of_seq, one.values["a"], one.values["b"], one.values["turn_status"]["status"]) for one in seen] == [
        (0, 1, 1, "running")] * 3


@pytest.mark.parametrize("first", [True, False], ids=["before the registry", "after the registry"])
def test_an_observer_that_takes_a_snapshot_sees_its_event_and_it_counts_once(first: bool) -> None:
    registry, seen, told = ProjectionRegistry([counting()]), list[Any](), list[Change]()
    registry.on_changed(told.append)
    session = Session.create("s1")

    def look(event: SessionEvent) -> None:
        now = registry.snapshot(session)
        seen.append((event.seq, now.as_of_seq, now.values["n"]))

    if not first:
        registry.follow(session)
    session.observe(look)
    registry.follow(session)
    for _ in range(3):
        make.append(session, make.turn_start())
    assert seen == [(0, 0, 1), (1, 1, 2), (2, 2, 3)]
    assert [change.value for change in told] == [1, 2, 3]


def test_a_session_that_is_first_looked_at_by_an_observer_is_folded_once() -> None:
    registry, session = ProjectionRegistry([counting()]), Session.create("s1")
    session.observe(lambda event: None if event.seq else [registry.snapshot(session)].clear())
    for _ in range(3):
        make.append(session, make.turn_start())
    assert registry.snapshot(session).values["n"] == 3


def test_a_listener_cannot_append(caplog: pytest.LogCaptureFixture) -> None:
    registry, session = ProjectionRegistry([counting()]), Session.create("s1")
    registry.follow(session)
    caught: list[Exception] = []

    def append(change: Change) -> None:
        with pytest.raises(ReentrantAppendError) as info:
            make.append(change.session, make.turn_start())
        caught.append(info.value)

    registry.on_changed(append)
    make.append(session, make.turn_start())
    assert (len(caught), len(session.events), caplog.text) == (1, 1, "")


def test_a_listener_may_release_a_unit_that_has_a_change_of_its_own_to_tell(caplog: pytest.LogCaptureFixture) -> None:
    registry, told = ProjectionRegistry([counting("a")]), list[str]()
    release = registry.register(counting("b"))
    session = Session.create("s1")
    registry.follow(session)
    registry.on_changed(lambda change: (told.append(change.key), release())[0])
    registry.on_changed(lambda change: told.append(change.key + "!"))
    make.append(session, make.turn_start())
    assert told == ["a", "a!"], "what was released has nothing to tell"
    assert caplog.text == ""
    assert registry.snapshot(session).values == {"a": 1}


def test_a_listener_may_register_a_unit() -> None:
    registry, told = ProjectionRegistry([counting("a")]), list[tuple[str, Any]]()
    session = live(make.turn_start())
    registry.follow(session)

    def more(change: Change) -> None:
        told.append((change.key, change.value))
        if len(told) == 1:
            registry.register(counting("b"))

    registry.on_changed(more)
    make.append(session, make.turn_start())
    assert registry.snapshot(session).values == {"a": 2, "b": 2}
    make.append(session, make.turn_start())
    assert told == [("a", 2), ("a", 3), ("b", 3)]


@pytest.mark.parametrize("look", [False, True], ids=["and goes on", "and looks"])
@pytest.mark.parametrize("place", ["an observer", "another unit", "a listener"])
def test_an_interrupt_in_the_middle_of_an_append_loses_no_event_and_doubles_none(place: str, look: bool) -> None:
    """A learner presses the stop button while an append tells its observers: the event is logged."""
    interrupts = iter([place])

    def stop_once(here: str) -> None:
        if here == place and next(interrupts, None):
            raise KeyboardInterrupt

    def slow(state: int, event: SessionEvent) -> int:
        stop_once("another unit")
        return state + 1

    registry, session = ProjectionRegistry([counting("a"), Unit("b", STARTS, lambda: 0, slow)]), Session.create("s1")
    session.observe(lambda event: stop_once("an observer"))
    registry.follow(session)
    registry.on_changed(lambda change: stop_once("a listener"))
    with pytest.raises(KeyboardInterrupt):
        make.append(session, make.turn_start())
    assert len(session.events) == 1
    if look:
        assert registry.snapshot(session) == Snapshot(0, {"a": 1, "b": 1})
    make.append(session, make.turn_start())
    assert registry.snapshot(session) == Snapshot(1, {"a": 2, "b": 2})


def test_a_listener_that_takes_a_snapshot_while_two_events_are_caught_up_doubles_none() -> None:
    """The event that was missed for an interrupt comes with the next one; a listener asks for all that there is."""
    interrupts, session = iter([True]), Session.create("s1")
    registry, seen = ProjectionRegistry([counting()]), list[Any]()

    def stop_once(event: SessionEvent) -> None:
        if next(interrupts, False):
            raise KeyboardInterrupt

    session.observe(stop_once)
    registry.follow(session)
    registry.on_changed(lambda change: seen.append((change.seq, registry.snapshot(change.session).as_of_seq)))
    with pytest.raises(KeyboardInterrupt):
        make.append(session, make.turn_start())
    make.append(session, make.turn_start())
    assert registry.snapshot(session) == Snapshot(1, {"n": 2})
    assert sorted(seen) == [(0, 1), (1, 1)]


# Sessions


def test_one_subscription_for_all_units_of_a_session() -> None:
    registry, session = ProjectionRegistry(SHIPPED), Session.create("s1")
    subscriptions: list[Any] = []
    observe = session.observe
    session.observe = lambda observer: subscriptions.append(observer) or observe(observer)  # type: ignore[method-assign]
    registry.follow(session)
    registry.snapshot(session)
    registry.register(counting())
    registry.follow(session)
    registry.checkpoint(session)
    assert len(subscriptions) == 1


def test_sessions_are_told_apart_and_are_not_kept_alive() -> None:
    registry = ProjectionRegistry([counting()])
    one, other = Session.create("same-id"), Session.create("same-id")
    make.append(one, make.turn_start())
    assert (registry.snapshot(one).values["n"], registry.snapshot(other).values["n"]) == (1, 0)
    kept = weakref.ref(one)
    del one
    gc.collect()
    assert kept() is None
    assert registry.snapshot(other).values["n"] == 0
    registry.register(counting("late"))


def test_two_registries_do_not_know_each_other() -> None:
    session = Session.create("s1")
    one, other = ProjectionRegistry([counting()]), ProjectionRegistry([counting(state_version=7)])
    one.follow(session)
    make.append(session, make.turn_start())
    assert (one.snapshot(session).values, other.snapshot(session).values) == ({"n": 1}, {"n": 1})
    assert (one.versions, other.versions) == ({"n": 0}, {"n": 7})


def test_values_are_frozen_and_detached() -> None:
    state: dict[str, Any] = {"seen": []}
    unit = Unit("n", STARTS, lambda: state, lambda state, event: {"seen": [*state["seen"], event.seq]})
    registry = ProjectionRegistry([unit])
    session = Session.create("s1")
    empty = registry.snapshot(session)
    make.append(session, make.turn_start())
    later = registry.snapshot(session)
    assert (empty.values, later.values) == ({"n": {"seen": []}}, {"n": {"seen": [0]}})
    with pytest.raises(TypeError):
        later.values["n"]["seen"].append(1)
    with pytest.raises(TypeError):
        later.values["n"] = 0  # type: ignore[index]
    rows = registry.checkpoint(session)
    rows["n"]["val"]["seen"].append("spoilt")
    restored = registry.restore(rows, session.events)
    rows["n"]["val"]["seen"].clear()
    assert restored.values["n"] == {"seen": [0, "spoilt"]}
    assert registry.snapshot(session).values["n"] == {"seen": [0]}


# Registration


def test_a_key_that_comes_again_is_shared_until_all_are_gone() -> None:
    registry, session = ProjectionRegistry(), live(make.turn_start())
    first, second = registry.register(counting()), registry.register(counting())
    assert registry.snapshot(session).values == {"n": 1}
    first()
    first()
    assert registry.snapshot(session).values == {"n": 1}, "the second still holds it, however often the first lets go"
    second()
    assert registry.snapshot(session).values == {}
    make.append(session, make.turn_start())
    registry.register(counting())
    assert registry.snapshot(session).values == {"n": 2}


def test_another_version_of_a_key_is_refused_and_nothing_changes() -> None:
    registry, session = ProjectionRegistry([counting()]), live(make.turn_start())
    with pytest.raises(ProjectionError, match="state_version 0, not 1"):
        registry.register(counting(state_version=1))
    assert (registry.versions, registry.snapshot(session).values) == ({"n": 0}, {"n": 1})


def test_a_late_unit_folds_the_log_so_far() -> None:
    registry, session = ProjectionRegistry(), live(*make.two_steps())
    registry.follow(session)
    registry.register(tool_pairing)
    make.append(session, make.turn_start(2))
    assert registry.snapshot(session).values["tool_pairing"] == fold(tool_pairing, session.events)


def test_a_unit_that_an_observer_registers_before_the_registry_is_told_counts_the_event_once() -> None:
    registry, session = ProjectionRegistry([counting("a")]), Session.create("s1")
    session.observe(lambda event: None if event.seq else [registry.register(counting("b"))].clear())
    registry.follow(session)
    for _ in range(2):
        make.append(session, make.turn_start())
    assert registry.snapshot(session) == Snapshot(1, {"a": 2, "b": 2})


def test_a_unit_is_told_of_the_types_that_it_names_only() -> None:
    seen: list[str] = []
    types = frozenset({"tool/call", "tool/result"})
    unit = Unit("seen", types, lambda: 0, lambda state, event: seen.append(event.type) or state + 1)
    assert ProjectionRegistry([unit]).snapshot(live(*make.two_steps())).values == {"seen": 4}
    assert seen == ["tool/call", "tool/result"] * 2


async def waits(state: Any, event: Any) -> Any:
    return state


def steps(state: Any, event: Any) -> Iterator[Any]:
    yield state


async def streams(state: Any, event: Any) -> Any:
    yield state


class Caller:
    async def __call__(self, state: Any, event: Any) -> Any:
        return state

    async def method(self, state: Any, event: Any) -> Any:
        return state


async def waits_for_init() -> Any:
    return 0


@pytest.mark.parametrize("function", [
    pytest.param(waits, id="async"), pytest.param(steps, id="generator"), pytest.param(streams, id="async generator"),
    pytest.param(partial(waits), id="partial"), pytest.param(partial(partial(waits)), id="partial of a partial"),
    pytest.param(Caller(), id="callable object"), pytest.param(Caller().method, id="method"),
    pytest.param(partial(Caller()), id="partial of a callable object"),
])
def test_what_may_wait_is_refused_at_registration(function: Any) -> None:
    registry = ProjectionRegistry()
    with pytest.raises(ProjectionError, match="n: apply is asynchronous"):
        registry.register(Unit("n", STARTS, lambda: 0, function))
    assert registry.versions == {}


@pytest.mark.parametrize(("change", "said"), [
    ({"init": waits_for_init}, "init is asynchronous"), ({"view": waits}, "view is asynchronous"),
    ({"apply": 5}, "apply is a function"), ({"key": ""}, "a unit has a key"), ({"key": 5}, "a unit has a key"),
    ({"state_version": -1}, "state_version"), ({"state_version": True}, "state_version"),
    ({"event_types": "turn/start"}, "event_types"), ({"event_types": frozenset({5})}, "event_types"),
])
def test_a_unit_that_cannot_be_folded_is_refused(change: dict[str, Any], said: str) -> None:
    good: dict[str, Any] = {"key": "n", "event_types": STARTS, "init": lambda: 0, "apply": lambda state, event: state}
    with pytest.raises(ProjectionError, match=said):
        ProjectionRegistry([Unit(**(good | change))])


# Units that fail


def failing(at: int) -> Unit:
    def apply(state: int, event: SessionEvent) -> int:
        if event.seq == at:
            raise ZeroDivisionError("private words")
        return state + 1

    return Unit("fails", STARTS, lambda: 0, apply)


def test_a_unit_that_raises_is_named_and_stands_still_and_the_others_go_on(caplog: pytest.LogCaptureFixture) -> None:
    registry, told = ProjectionRegistry([failing(1), counting()]), list[Any]()
    registry.on_changed(lambda change: told.append((change.key, change.value)))
    session = Session.create("s1")
    registry.follow(session)
    for _ in range(3):
        make.append(session, make.turn_start())
    seen = registry.snapshot(session)
    assert (seen.as_of_seq, seen.values) == (2, {"n": 3})
    assert seen.failures == (Failure("fails", 1, "ZeroDivisionError"),)
    assert told == [("fails", 1), ("n", 1), ("n", 2), ("n", 3)]
    assert "'fails' stopped at event 1 (ZeroDivisionError)" in caplog.text
    assert "private words" not in caplog.text
    assert set(registry.checkpoint(session)) == {"n"}, "a failed unit has no state to go on from"
    assert registry.restore({}, session.events).failures == seen.failures, "and the same log makes it fail again"


def test_an_init_that_raises_fails_before_the_first_event() -> None:
    registry = ProjectionRegistry([Unit("n", STARTS, lambda: 1 // 0, lambda state, event: state), counting("other")])
    seen = registry.snapshot(live(make.turn_start()))
    assert (seen.values, seen.failures) == ({"other": 1}, (Failure("n", -1, "ZeroDivisionError"),))


def test_a_unit_that_gives_something_to_wait_for_fails_without_a_warning(recwarn: pytest.WarningsRecorder) -> None:
    """Registration cannot see it in a plain function; the first event does."""
    registry = ProjectionRegistry([Unit("n", STARTS, lambda: 0, lambda state, event: waits(state, event)), counting("other")])
    session = Session.create("s1")
    registry.follow(session)
    make.append(session, make.turn_start())
    gc.collect()
    seen = registry.snapshot(session)
    assert (seen.values, seen.failures) == ({"other": 1}, (Failure("n", 0, "ProjectionError"),))
    assert [str(warning.message) for warning in recwarn if "never awaited" in str(warning.message)] == []


class Named(TypedDict):
    """A view with a schema."""

    name: str


def test_a_view_outside_its_schema_is_not_handed_out_until_it_fits_again() -> None:
    names: Iterator[Any] = iter([5, "words"])
    unit = Unit("n", STARTS, lambda: {"name": ""}, lambda state, event: {"name": next(names)}, schema=Named)
    registry, told = ProjectionRegistry([unit, counting("other")]), list[Any]()
    registry.on_changed(lambda change: told.append((change.key, change.value)))
    session = Session.create("s1")
    registry.follow(session)
    make.append(session, make.turn_start())
    seen = registry.snapshot(session)
    assert (seen.values, seen.failures) == ({"other": 1}, (Failure("n", 0, "ProjectionError"),))
    make.append(session, make.turn_start())
    assert registry.snapshot(session) == Snapshot(1, {"n": {"name": "words"}, "other": 2})
    assert told == [("other", 1), ("n", {"name": "words"}), ("other", 2)]


def test_a_schema_says_the_type_and_never_the_value() -> None:
    unit = Unit("n", STARTS, lambda: {"name": ["private words"]}, lambda state, event: state, schema=Named)
    with pytest.raises(ProjectionError) as caught:
        unit.see(unit.init())
    assert "Expected `str`" in str(caught.value)
    assert "private" not in str(caught.value)


@pytest.mark.parametrize("state", [{1: 2}, (1,), {1}, float("nan"), object()], ids=lambda state: type(state).__name__)
def test_a_state_that_is_no_json_has_no_view_and_no_checkpoint(state: Any) -> None:
    registry = ProjectionRegistry([Unit("n", STARTS, lambda: 0, lambda _, event: state), counting("other")])
    session = live(make.turn_start())
    seen = registry.snapshot(session)
    assert (seen.values, [one.key for one in seen.failures]) == ({"other": 1}, ["n"])
    with pytest.raises(ProjectionError, match="n: its state is no JSON"):
        registry.checkpoint(session)


def test_a_unit_that_appends_is_contained() -> None:
    session = Session.create("s1")
    unit = Unit("n", STARTS, lambda: 0, lambda state, event: session.append("session/title", {"title": "x"}).seq)
    registry = ProjectionRegistry([unit])
    registry.follow(session)
    make.append(session, make.turn_start())
    assert registry.snapshot(session).failures == (Failure("n", 0, "ReentrantAppendError"),)
    assert len(session.events) == 1


# Purity


def test_check_pure_finds_a_state_that_is_changed_in_place_a_clock_and_a_state_that_is_no_json() -> None:
    events = make.log(make.turn_start(), make.user(), make.turn_start(2))
    ticks = iter(range(99))

    def in_place(state: dict[str, int], event: SessionEvent) -> dict[str, int]:
        state["n"] = state.get("n", 0) + 1
        return state

    found = check_pure(Unit("n", STARTS, dict, in_place), events)
    assert [(problem.seq, "changes the state" in problem.message) for problem in found] == [(0, True), (2, True)]
    found = check_pure(Unit("n", STARTS, lambda: 0, lambda state, event: next(ticks)), events)
    assert [(problem.seq, "two answers" in problem.message) for problem in found] == [(0, True), (2, True)]
    found = check_pure(Unit("n", STARTS, lambda: 0, lambda state, event: {event.seq}), events)
    assert [(problem.seq, "no JSON" in problem.message) for problem in found] == [(0, True)]
    found = check_pure(Unit("n", STARTS, lambda: {1}, lambda state, event: 0), events)
    assert [(problem.seq, "no JSON" in problem.message) for problem in found] == [(-1, True)]
    assert check_pure(counting(), events) == []


def test_a_state_that_is_changed_in_place_is_told_to_nobody() -> None:
    """Why purity matters: the same object says that nothing happened."""
    def in_place(state: dict[str, int], event: SessionEvent) -> dict[str, int]:
        state["n"] += 1
        return state

    registry, told = ProjectionRegistry([Unit("n", STARTS, lambda: {"n": 0}, in_place)]), list[Change]()
    registry.on_changed(told.append)
    session = Session.create("s1")
    assert registry.snapshot(session).values == {"n": {"n": 0}}
    make.append(session, make.turn_start())
    assert told == []
    assert registry.snapshot(session).values == {"n": {"n": 0}}


# Checkpoints


def rows_at(seq: int, val: Any = 1, ver: Any = 0, key: str = "n") -> dict[str, Any]:
    return {key: {"ver": ver, "seq": seq, "val": val}}


LOG = make.log(make.turn_start(), make.turn_end(), make.turn_start(2), make.turn_end(2), make.turn_start(3))


def test_a_row_of_another_version_is_refolded_and_said_so() -> None:
    """An apply that changed with the version left as it was gives a wrong count: nothing else can tell."""
    rows = ProjectionRegistry([counting()]).checkpoint(replayed(LOG[:3], lambda session: None))

    def ends(**more: Any) -> ProjectionRegistry:
        return ProjectionRegistry([counting("n", frozenset({"turn/end"}), **more)])

    stale = ends().restore(rows, LOG)
    assert (stale.values["n"], stale.reused) == (3, ("n",))
    fresh = ends(state_version=1).restore(rows, LOG)
    assert (fresh.values["n"], fresh.reused, dict(fresh.refolded)) == (
        2, (), {"n": "the row was made by another state_version"})
    newer = ends().restore({"n": {**rows["n"], "ver": 99}}, LOG)
    assert "newer state_version" in newer.refolded["n"]


def test_a_log_that_became_shorter_is_noticed() -> None:
    registry, rows = ProjectionRegistry([counting()]), rows_at(4, 3)
    restored = registry.restore(rows, LOG[:2])
    assert (restored.as_of_seq, restored.values["n"]) == (1, 1)
    assert dict(restored.refolded) == {"n": "the row is for event 4, and the events end at 1"}
    floor = registry.restore_floor(rows)
    assert floor == 4, "one below the first new event, so that a log that ends earlier gives nothing from there"
    with pytest.raises(ProjectionError, match="the row is for event 4, and the events end at 3"):
        registry.restore(rows, LOG[:4][floor:], floor)
    assert registry.restore(rows, LOG[floor:], floor).values["n"] == 3


@pytest.mark.parametrize(("rows", "base", "why"), [
    pytest.param({}, 2, "there is no row", id="none"),
    pytest.param(rows_at(3, ver=1), 2, "state_version", id="another version"),
    pytest.param(rows_at(0), 2, "the row ends at event 0, and the events begin at 2", id="a gap"),
    pytest.param(rows_at(9), 2, "the row is for event 9, and the events end at 4", id="beyond the end"),
    pytest.param(rows_at(3, {1}), 2, "no view", id="no JSON"),
])
def test_restore_refuses_what_it_cannot_prove(rows: dict[str, Any], base: int, why: str) -> None:
    registry = ProjectionRegistry([counting()])
    with pytest.raises(ProjectionError, match=f"^n: .*{why}.*read the whole log"):
        registry.restore(rows, LOG[base:], base)
    whole = registry.restore(rows, LOG)
    assert (whole.values["n"], whole.reused) == (3, (("n",) if rows and "ends" in why and "begin" in why else ()))


@pytest.mark.parametrize("seq", [1, 2, 4])
def test_a_row_is_used_from_just_before_the_events_to_their_end(seq: int) -> None:
    restored = ProjectionRegistry([counting()]).restore(rows_at(seq, 70), LOG[2:], 2)
    assert restored.reused == ("n",)
    assert restored.values["n"] == 70 + sum(event.type == "turn/start" for event in LOG[seq + 1:])


@pytest.mark.parametrize("row", [
    None, 5, [], {}, {"ver": 0, "seq": 1}, {"ver": 0, "seq": 1, "val": 0, "more": 0}, {"ver": "0", "seq": 1, "val": 0},
    {"ver": True, "seq": 1, "val": 0}, {"ver": 0, "seq": "1", "val": 0}, {"ver": 0, "seq": True, "val": 0},
    {"ver": 0, "seq": -2, "val": 0}, {"ver": 0, "seq": 1.0, "val": 0}, {"ver": 0, "seq": 10**30, "val": 0},
], ids=repr)
def test_a_spoilt_row_is_refolded(row: Any) -> None:
    registry = ProjectionRegistry([counting()])
    restored = registry.restore({"n": row, "nobody's": row}, LOG)
    assert (restored.values, restored.reused, list(restored.refolded)) == ({"n": 3}, (), ["n"])
    assert registry.restore_floor({"n": row}) in (0, 10**30)
    assert registry.view_checkpoint({"n": row}).values in ({}, {"n": 0})


def test_events_that_do_not_begin_where_they_are_said_to_are_refused() -> None:
    for events, base in ((LOG[1:], 0), (LOG, 1), ([LOG[0], LOG[2]], 0)):
        with pytest.raises(ProjectionError, match="give the log from base_seq on"):
            ProjectionRegistry([counting()]).restore({}, events, base)


def test_one_row_that_cannot_be_used_takes_the_floor_to_0() -> None:
    registry = ProjectionRegistry([counting("a"), counting("b")])
    assert registry.restore_floor(rows_at(4, key="a") | rows_at(2, key="b")) == 2
    assert registry.restore_floor(rows_at(4, key="a")) == 0
    assert registry.restore_floor(rows_at(-1, 0, key="a") | rows_at(2, key="b")) == 0
    assert ProjectionRegistry().restore_floor({}) == 0


def test_views_of_a_checkpoint_need_no_log() -> None:
    registry = ProjectionRegistry([counting("a"), counting("b"), counting("c", state_version=1)])
    seen = registry.view_checkpoint(rows_at(4, 3, key="a") | rows_at(2, 2, key="b") | rows_at(9, 9, key="c"))
    assert (seen.as_of_seq, seen.values) == (2, {"a": 3, "b": 2}), "the lowest watermark, and no row of another version"
    assert registry.view_checkpoint({}) == Snapshot(-1, {})


def test_a_session_is_followed_from_a_checkpoint() -> None:
    registry, session = ProjectionRegistry([counting()]), replayed(LOG, lambda session: None)
    restored = registry.follow(session, rows_at(2, 70))
    assert (restored.as_of_seq, restored.values["n"], restored.reused) == (4, 71, ("n",))
    make.append(session, make.turn_start())
    assert registry.snapshot(session).values["n"] == 72
    again = registry.follow(session, rows_at(9, 70))
    assert (again.values["n"], dict(again.refolded)) == (4, {"n": "the row is for event 9, and the events end at 5"})
    make.append(session, make.turn_start())
    assert (registry.snapshot(session).values["n"], registry.follow(session).values["n"]) == (5, 5)


# What stored logs bring along


BIG = 2**60


@pytest.mark.parametrize("unit", [turn_status, todo], ids=lambda unit: unit.key)
def test_integers_that_a_stored_log_may_hold_pass_through_views_and_checkpoints(unit: Unit) -> None:
    lines = [make.record("turn/start", {"turn": BIG}), make.record("todo/write", {"todos": [BIG]})]
    events = scan_log(make.log_bytes(*lines)).events
    registry = ProjectionRegistry([unit])
    session = Session.create("s1", seed=events)
    assert registry.snapshot(session).failures == ()
    rows = registry.checkpoint(session)
    assert registry.restore(rows, session.events).reused == (unit.key,)
    assert check_pure(unit, events) == []


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from(sorted(turn_status.event_types | todo.event_types | {"tool/call"})),
                          json_of(st.none() | st.integers() | texts)), max_size=6))
def test_log_only_data_of_any_kind_has_a_view(records: list[tuple[str, Any]]) -> None:
    events = [SessionEvent.from_json({"type": kind, "seq": at, "time": 0, "data": data})
              for at, (kind, data) in enumerate(records)]
    assert ProjectionRegistry(SHIPPED).restore({}, events).failures == ()


# Bugs that others had


def test_b49_a_message_id_that_comes_again_stays_two_messages() -> None:
    """Ids of messages are no keys of any view: views go by seq."""
    hint = [make.user("hint: read AGENTS.md", "hint-demo"), make.says("ok")]
    session = live(make.turn_start(), *hint, make.turn_end(), make.turn_start(2), *hint, make.turn_end(2))
    seen = ProjectionRegistry(SHIPPED).snapshot(session)
    assert seen.failures == ()
    assert seen.values["surface_tokens"]["nodes"] == 4
    assert seen.values["turn_status"]["turn"] == 2


def test_b50_a_clock_that_runs_back_changes_no_view_but_the_times() -> None:
    records = [make.turn_start(), make.step_start(), make.asks("q1"), make.call("q1"), make.result("q1"), make.step_end()]
    numbered = make.numbered(*records)
    back = [SessionEvent.from_json({**one, "time": 5000 - 900 * at}) for at, one in enumerate(numbered)]
    registry = ProjectionRegistry([turn_status, tool_pairing, surface_tokens])
    assert registry.restore({}, back).values == registry.restore({}, make.log(*records)).values
    assert fold(session_stats, back)["toolMs"] == 0


def test_b70_a_watermark_above_the_log_is_said_and_a_newer_cache_is_neither_used_nor_changed() -> None:
    registry, rows = ProjectionRegistry([counting(state_version=2)]), rows_at(10, 70, ver=2)
    assert "the events end at 4" in registry.restore(rows, LOG).refolded["n"]
    newer = rows_at(10, 70, ver=99)
    before = json.dumps(newer)
    restored = registry.restore(newer, LOG)
    assert (restored.values["n"], json.dumps(newer)) == (3, before)
    assert "newer" in restored.refolded["n"]
    with pytest.raises(ProjectionError, match="newer"):
        registry.restore(newer, LOG[2:], 2)


def test_b71_a_log_of_the_same_size_that_is_another_has_another_revision(tmp_path: Path) -> None:
    """Rows hold a watermark and no size; that a log was replaced as a whole is the store's to tell, by its revision."""
    first = make.jsonl_file(tmp_path / "a", make.log_bytes(make.user("alpha", "m0"), make.says("beta", id="m1")))
    data = make.log_bytes(make.user("gamma", "m0"), make.says("zeta", id="m1"))
    assert len(data) == first.path("s1").stat().st_size
    before = first.revision("s1")
    first.path("s1").unlink()
    first.path("s1").write_bytes(data)
    assert JsonlStore(tmp_path / "a").revision("s1") != before


def test_a_type_that_is_a_slip_of_the_pen_is_refused_and_a_type_of_ones_own_is_not() -> None:
    with pytest.raises(ProjectionError, match="did you mean 'tool/call'"):
        ProjectionRegistry([Unit("n", frozenset({"tool/calls"}), lambda: 0, lambda state, event: state + 1)])
    ProjectionRegistry([Unit("n", frozenset({"lab/price"}), lambda: 0, lambda state, event: state + 1)])


def test_a_failure_says_why_only_in_the_words_of_this_library() -> None:
    def breaks(state: int, event: SessionEvent) -> int:
        raise ValueError("private words")

    units = [Unit("a", STARTS, lambda: 0, breaks), Unit("b", STARTS, lambda: 0, lambda state, event: (1,))]
    session = Session.create("s1")
    make.append(session, make.turn_start())
    failed, odd = ProjectionRegistry(units).snapshot(session).failures
    assert (failed.error, failed.why) == ("ValueError", "")
    assert odd.error == "ProjectionError"
    assert "a tuple is no JSON value" in odd.why
