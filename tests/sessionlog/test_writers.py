"""What the writer of a live session promises, over every kind of store."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from labsupport.errors import ReentrantAppendError, SessionLogError, StoreBusyError, StoredLogError
from labsupport.sessionlog import Session, SessionEvent, SessionHeader, check_invariants
from labsupport.sessionlog.storage import (
    Policy,
    barrier,
    end_of_step,
    end_of_turn,
    every_event,
    every_ms,
    flush,
    on_barriers,
    on_flush,
)
from tests.sessionlog import builders as make
from tests.sessionlog.builders import Record
from tests.sessionlog.stores import Kind

Held = Callable[[], Any]
TALK = [make.turn_start(), make.user(), make.turn_end()]
OPEN = [make.turn_start(), make.step_start(), make.user(), make.asks("a", "b"), make.call("a")]


def live(store: Any, policy: Policy = on_flush, *records: Record) -> tuple[Session, Any]:
    session = Session.create("s1", header=SessionHeader("s1", created_at=1000))
    writer = store.attach(session, policy)
    for one in records:
        make.append(session, one)
    return session, writer


def on_disk(store: Any) -> int:
    """How many events are stored."""
    try:
        return len(store.read_from("s1", 0))
    except FileNotFoundError:
        return 0


TASK = make.two_steps()
STEP_ENDS = [at + 1 for at, one in enumerate(TASK) if one["type"] == "step/end"]


def written_after_each(store: Any, policy: Policy) -> list[int]:
    session, writer = live(store, policy)
    counts = []
    for one in TASK:
        make.append(session, one)
        counts.append(on_disk(store))
        assert on_disk(store) + writer.waiting == len(session.events)
    writer.close()
    assert on_disk(store) == len(TASK)
    return counts


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (every_event, list(range(1, 19))),
        (on_flush, [0] * 18),
        (on_barriers, [0] * 18),
        (end_of_step, [0] * 12 + [13] * 4 + [17, 18]),
        (end_of_turn, [0] * 17 + [18]),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_when_a_policy_writes(store: Any, policy: Policy, expected: list[int]) -> None:
    assert written_after_each(store, policy) == expected


def test_a_policy_by_the_clock(store: Any) -> None:
    now = [0]
    session, writer = live(store, every_ms(100, lambda: now[0]))
    counts = []
    for now[0] in (0, 50, 99, 100, 150, 199, 200, 1000):
        session.append("plugin/x", None, ignorable=True)
        counts.append(on_disk(store))
    assert counts == [0, 0, 0, 4, 4, 4, 7, 8]
    writer.close()


@pytest.mark.parametrize(
    ("policy", "waits"),
    [(on_barriers, True), (on_flush, False), (end_of_turn, False)],
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_barrier_is_for_the_policy_that_wants_it(store: Any, policy: Policy, waits: bool) -> None:
    session, writer = live(store, policy, make.turn_start())
    barrier(session)
    assert on_disk(store) == (1 if waits else 0)
    flush(session)
    assert on_disk(store) == 1
    writer.close()


def test_flush_without_a_writer_or_without_news_does_nothing(store: Any, held: Held) -> None:
    session = Session.create("s1")
    flush(session)
    barrier(session)
    _, writer = live(store)
    writer.flush()
    assert held() == {}
    writer.close()
    assert held() == {}
    store.create(SessionHeader("s1"))


def test_an_attached_session_is_stored_from_its_first_event(store: Any) -> None:
    session = Session.create("s1")
    make.append(session, make.turn_start())
    writer = store.attach(session)
    assert writer.waiting == 1
    writer.close()
    assert on_disk(store) == 1


def test_close_writes_the_rest_ends_the_watch_and_may_come_twice(store: Any) -> None:
    session, writer = live(store, on_flush, make.turn_start())
    writer.close()
    writer.close()
    assert on_disk(store) == 1
    flush(session)  # nothing came since
    make.append(session, make.turn_end())
    with pytest.raises(StoredLogError, match="1 events came since"):
        flush(session)
    assert on_disk(store) == 1
    again = store.attach(session)
    assert again.waiting == 1
    again.close()
    assert on_disk(store) == 2


def test_resume_goes_on_in_the_same_log(store: Any) -> None:
    _, writer = live(store, on_flush, *OPEN)
    writer.close()
    for round_number in range(2):
        loaded = store.load("s1")
        resumed = Session.create("s1", seed=loaded.events, header=loaded.header)
        writer = store.attach(resumed)
        turn = round_number + 2
        make.append(resumed, make.turn_start(turn))
        make.append(resumed, make.turn_end(turn))
        writer.close()
        assert make.plain(store.load("s1").events) == make.plain(resumed.events)
    assert check_invariants(store.load("s1").events) == []
    assert [event.type for event in store.load("s1").events].count("session/end-seed") == 2


def test_one_writer_at_a_time(store: Any, kind: Kind, held: Held, folder: Path) -> None:
    session, writer = live(store, on_flush, *TALK)
    flush(session)
    other = kind.open(folder)
    twin = Session.create("s1", seed=make.log(*TALK))
    before = held()
    for busy in (
        lambda: store.attach(session),
        lambda: store.load("s1"),
        lambda: other.attach(twin),
        lambda: other.load("s1"),
        lambda: other.append("s1", make.log(make.user(), first=3)),
    ):
        with pytest.raises(StoreBusyError) as caught:
            busy()
        assert caught.value.pid == os.getpid()
        assert "Nothing was changed" in str(caught.value)
    assert held() == before
    assert len(other.inspect("s1").events) == 3, "a live log can be inspected"
    make.append(session, make.user("more"))
    writer.close()
    assert len(other.load("s1").events) == 4


def test_logs_of_different_sessions_do_not_wait_for_each_other(store: Any) -> None:
    first, second = (Session.create(id) for id in ("s1", "s2"))
    with_first, with_second = store.attach(first), store.attach(second)
    make.append(first, make.turn_start())
    make.append(second, make.turn_start())
    with_second.close()
    with_first.close()
    assert sorted(header.id for header in store.list()) == ["s1", "s2"]


class Failing:
    """A store whose next writes fail as often as it is told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, store: Any) -> None:
        self.times = 0
        write = store._store  # behind append and behind the writers

        def failing(id: str, events: Any) -> None:
            if self.times:
                self.times -= 1
                raise OSError(28, f"disk full {self.times}")
            write(id, events)

        monkeypatch.setattr(store, "_store", failing)


def test_a_failed_write_keeps_its_events_for_the_next_try(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    failing = Failing(monkeypatch, store)
    session, writer = live(store, on_flush, *TALK)
    failing.times = 2
    for _ in range(2):
        with pytest.raises(OSError, match="disk full"):
            flush(session)
        assert writer.waiting == 3
    make.append(session, make.user("more"))
    flush(session)
    assert (writer.waiting, on_disk(store)) == (0, 4)
    writer.close()


def test_a_write_that_fails_behind_an_append_does_not_undo_it(
    store: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    failing = Failing(monkeypatch, store)
    session, writer = live(store, every_event, make.turn_start())
    failing.times = 1
    assert make.append(session, make.user()).seq == 1
    assert "OSError" in caplog.text
    assert (writer.waiting, on_disk(store)) == (1, 1)
    make.append(session, make.turn_end())
    assert (writer.waiting, on_disk(store)) == (0, 3)
    writer.close()


def test_a_close_that_fails_lets_another_writer_in(
    store: Any, kind: Kind, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    session, writer = live(store, on_flush, *TALK)
    writer.flush()
    make.append(session, make.user("lost"))
    failing = Failing(monkeypatch, store)
    failing.times = 1
    with pytest.raises(OSError, match="disk full"):
        writer.close()
    other = kind.open(folder)
    assert len(other.load("s1").events) == 3


def test_flush_serves_every_writer_before_it_raises_the_first_failure(
    kind: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stores = [kind.open(tmp_path / str(at)) for at in range(3)]
    session = Session.create("s1")
    writers = [store.attach(session, on_flush) for store in stores]
    for store in stores[:2]:
        Failing(monkeypatch, store).times = 1
    make.append(session, make.turn_start())
    with pytest.raises(OSError, match="disk full"):
        flush(session)
    assert [on_disk(store) for store in stores] == [0, 0, 1], "the third did not suffer from the first two"
    flush(session)
    assert [on_disk(store) for store in stores] == [1, 1, 1]
    for writer in writers:
        writer.close()
    assert len({tuple(map(str, make.plain(store.load("s1").events))) for store in stores}) == 1


def test_a_policy_that_writes_from_inside_an_append_cannot_append(store: Any) -> None:
    session = Session.create("s1")
    refused: list[Exception] = []

    def due(event: SessionEvent) -> bool:
        try:
            session.append("plugin/x", None)
        except SessionLogError as error:
            refused.append(error)
        return True

    writer = store.attach(session, Policy("appends", due))
    make.append(session, make.turn_start())
    writer.close()
    assert [type(error) for error in refused] == [ReentrantAppendError]
    assert on_disk(store) == 1
