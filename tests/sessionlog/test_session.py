"""A session in memory: append, observers, seed, clock, and what is in force."""

import logging
from typing import Any

import pytest
from hypothesis import given

from labsupport.errors import EventError, LosslessError, ReentrantAppendError, SurfaceError
from labsupport.sessionlog import Session, SessionEvent, SessionHeader, is_lossless_json, to_json
from labsupport.sessionlog.json_text import same_json
from tests.sessionlog import builders as make
from tests.sessionlog.builders import Record
from tests.sessionlog.strategies import logs, unfit_values, values


def types(session: Session) -> list[str]:
    return [event.type for event in session.events]


# Append


@given(values)
def test_append_returns_what_is_logged(data: Any) -> None:
    session = Session.create("s1")
    event = session.append("plugin/x", data, ignorable=True)
    assert session.events == [event]
    assert same_json(event.to_json(), {"type": "plugin/x", "seq": 0, "time": 0, "data": data, "ignorable": True})


@given(logs())
def test_append_logs_what_from_json_reads(records: list[Record]) -> None:
    session = Session.create("s1")
    for one in records:
        make.append(session, one)
    assert [{**event, "time": 0} for event in make.plain(make.log(*records))] == make.plain(session.events)


@given(unfit_values)
def test_a_refused_append_changes_nothing(data: Any) -> None:
    session = Session.create("s1")
    session.append("plugin/x", 1)
    if is_lossless_json(data):
        return
    with pytest.raises(LosslessError):
        session.append("plugin/x", data)
    assert make.plain(session.events) == [{"type": "plugin/x", "seq": 0, "time": 0, "data": 1}]
    assert session.append("plugin/x", 2).seq == 1


@pytest.mark.parametrize("kind", [None, 1, b"x", ["x"], ("x",)], ids=repr)
def test_a_type_is_a_string(kind: Any) -> None:
    session = Session.create("s1")
    with pytest.raises(EventError):
        session.append(kind, {})
    assert not session.events


def test_any_type_may_be_logged_in_memory() -> None:
    session = Session.create("s1")
    for kind in ("", "nobody/knows", "\ud83d", "text-chunks"):
        assert session.append(kind, None).type == kind


@pytest.mark.parametrize(
    ("kind", "data"), [("request/header-delta", {}), ("request/header", {"reason": "fallback", "header": {}})]
)
def test_retired_shapes_are_refused_at_append(kind: str, data: Any) -> None:
    session = Session.create("s1")
    with pytest.raises((EventError, SurfaceError)):
        session.append(kind, data)
    assert not session.events


@pytest.mark.parametrize(
    "op",
    ["replace", 1, {"op": "replace"}, {"op": "replace", "start": 0, "end": 0, "x": 1}, [], True, {"op": "append"}],
    ids=repr,
)
def test_an_op_that_is_none(op: Any) -> None:
    session = Session.create("s1")
    session.append("user/message", make.user_data(), surface_op="append")
    with pytest.raises((EventError, SurfaceError)):
        session.append("user/message", make.user_data(), surface_op=op, source_event_seqs=[0])
    assert len(session.events) == 1


# Time


def test_the_clock_gives_the_time_and_may_step_back() -> None:
    times = iter([5, 5, 3, -7, 0])
    session = Session.create("s1", clock=lambda: next(times))
    for _ in range(5):
        session.append("plugin/x", None)
    assert [event.time for event in session.events] == [5, 5, 3, -7, 0]
    assert [event.seq for event in session.events] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("now", [1.5, float("nan"), 2**53, True, None, "5"], ids=repr)
def test_a_clock_that_gives_no_safe_integer_is_refused(now: Any) -> None:
    session = Session.create("s1", clock=lambda: now)
    with pytest.raises(EventError):
        session.append("plugin/x", None)
    assert not session.events


def test_without_a_clock_time_stands_still() -> None:
    session = Session.create("s1", header=SessionHeader("s1", created_at=9))
    assert [session.append("plugin/x", None).time for _ in range(2)] == [9, 9]
    resumed = Session.create("s1", seed=make.log(make.turn_start(), make.turn_end()))
    assert resumed.append("plugin/x", None).time == 1001


# Seed


@given(logs())
def test_a_seed_is_checked_kept_and_marked(records: list[Record]) -> None:
    seed = make.log(*records)
    session = Session.create("s1", seed=seed)
    assert session.events[: len(seed)] == seed
    assert types(session)[len(seed) :] == ["session/end-seed"]
    assert session.events[-1].read() == {}
    assert session.first_live_seq == len(seed)
    again = Session.create("s1", seed=session.events)
    assert again.events == session.events, "a seed that ends in the marker gets no second one"
    assert again.first_live_seq == len(session.events)


def test_no_seed_and_an_empty_seed_differ() -> None:
    assert types(Session.create("s1")) == []
    assert types(Session.create("s1", seed=[])) == ["session/end-seed"]
    assert Session.create("s1").first_live_seq == Session.create("s1", seed=[]).first_live_seq == 0


def test_a_marker_in_the_middle_is_no_end() -> None:
    session = Session.create("s1", seed=make.log(make.record("session/end-seed", {}), make.user()))
    assert types(session) == ["session/end-seed", "user/message", "session/end-seed"]


@pytest.mark.parametrize(
    "seed",
    [
        make.log(make.user(), first=1),
        [*make.log(make.user()), *make.log(make.user(), first=2)],
        [*make.log(make.user()), *make.log(make.user())],
        make.log(make.user(op=make.replacing(0, 0), sourceEventSeqs=[0])),
        list(reversed(make.log(make.user(), make.says()))),
    ],
    ids=["begins late", "a gap", "twice", "replaces itself", "backwards"],
)
def test_a_seed_that_does_not_fit_makes_no_session(seed: list[SessionEvent]) -> None:
    with pytest.raises((EventError, SurfaceError)):
        Session.create("s1", seed=seed)


def test_a_seed_is_checked_for_shapes_which_append_is_not() -> None:
    session = Session.create("s1")
    session.append("user/message", {"no": "shape"}, surface_op="append")
    with pytest.raises(EventError):
        Session.create("s1", seed=session.events)


def test_a_seed_may_come_from_anywhere_once() -> None:
    assert len(Session.create("s1", seed=iter(make.log(*make.two_steps()))).events) == len(make.two_steps()) + 1


# Observers


def test_observers_are_told_in_order_after_the_commit() -> None:
    session = Session.create("s1")
    told: list[Any] = []
    session.observe(lambda event: told.append(("first", event.seq, len(session.events))))
    session.observe(lambda event: told.append(("second", event.seq, len(session.derive_messages()))))
    make.append(session, make.user())
    make.append(session, make.turn_start())
    assert told == [("first", 0, 1), ("second", 0, 1), ("first", 1, 2), ("second", 1, 1)]


def test_an_observer_that_raises_stops_nobody(caplog: pytest.LogCaptureFixture) -> None:
    session = Session.create("s1")
    told: list[int] = []

    def fails(event: SessionEvent) -> None:
        raise RuntimeError(f"CANARY {event.read()}")

    session.observe(fails)
    session.observe(lambda event: told.append(event.seq))
    with caplog.at_level(logging.ERROR):
        event = session.append("plugin/x", "CANARY")
    assert (event.seq, told, len(session.events)) == (0, [0], 1)
    assert len(caplog.records) == 1
    assert "event 0" in caplog.text
    assert "RuntimeError" in caplog.text
    assert "CANARY" not in caplog.text


def test_an_observer_cannot_append() -> None:
    session = Session.create("s1")
    errors: list[Exception] = []

    def appends(event: SessionEvent) -> None:
        try:
            session.append("plugin/y", None)
        except Exception as error:
            errors.append(error)
            raise

    session.observe(appends)
    session.append("plugin/x", None)
    assert [type(error) for error in errors] == [ReentrantAppendError]
    assert types(session) == ["plugin/x"]
    assert session.append("plugin/z", None).seq == 1, "after the telling it may be appended again"


def test_an_observer_may_end_itself() -> None:
    session = Session.create("s1")
    told: list[str] = []

    def once(event: SessionEvent) -> None:
        told.append("once")
        stop()

    stop = session.observe(once)
    session.observe(lambda event: told.append("always"))
    session.append("plugin/x", None)
    session.append("plugin/x", None)
    assert told == ["once", "always", "always"]
    stop()


def test_two_observations_by_one_function_are_two() -> None:
    session = Session.create("s1")
    told: list[SessionEvent] = []
    first = session.observe(told.append)
    session.observe(told.append)
    first()
    first()
    session.append("plugin/x", None)
    assert len(told) == 1


def test_a_keyboard_interrupt_in_an_observer_comes_through_and_leaves_the_session_whole() -> None:
    session = Session.create("s1")

    def interrupted(event: SessionEvent) -> None:
        raise KeyboardInterrupt

    stop = session.observe(interrupted)
    with pytest.raises(KeyboardInterrupt):
        session.append("plugin/x", None)
    stop()
    assert session.append("plugin/x", None).seq == 1


def test_a_seed_is_not_told() -> None:
    session = Session.create("s1", seed=make.log(make.user()))
    told: list[int] = []
    session.observe(lambda event: told.append(event.seq))
    make.append(session, make.says())
    assert told == [2]


# What is in force


def test_the_latest_request_header_in_its_one_form() -> None:
    session = Session.create("s1")
    assert session.request_header() is None
    for model, more in (
        ("m1", {"system": "be kind", "tools": [{"name": "read"}]}),
        ("m2", {"system": "", "tools": [], "adapterDefaults": {}, "mood": 1}),
    ):
        session.append("request/header", {"header": {"config": {"provider": "p", "model": model}, **more}, "reason": "initial"})
        found = to_json(session.request_header())
        expected = {
            "config": {"provider": "p", "model": model},
            **({key: more[key] for key in ("system", "tools")} if model == "m1" else {}),
        }
        assert found == expected
    marked = {
        "config": {"provider": "p", "model": "m", "maxTokens": 5, "reasoningEffort": "low"},
        "adapterDefaults": {"maxTokens": True},
    }
    session.append("request/header", {"header": marked, "reason": "change"})
    assert to_json(session.request_header()) == marked


def test_the_latest_request_context() -> None:
    session = Session.create("s1")
    assert session.request_context() is None
    for window in (1, 2):
        session.append("request/context", {"provider": "p", "model": "m", "contextWindow": window})
    assert to_json(session.request_context()) == {"provider": "p", "model": "m", "contextWindow": 2}
    with pytest.raises(TypeError):
        session.request_context()["provider"] = "q"


def test_the_header_stands_outside_the_events() -> None:
    header = SessionHeader("s1", created_at=5, cwd="/home/demo")
    session = Session.create("s1", header=header)
    assert session.header == header
    assert session.id == "s1"
    assert not session.events
    with pytest.raises(AttributeError):
        session.header.id = "s2"  # type: ignore[misc]
