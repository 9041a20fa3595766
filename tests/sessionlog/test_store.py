"""What every store promises: one suite over all of them."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labsupport.errors import (
    EventError,
    LogCorruptError,
    LosslessError,
    ReentrantAppendError,
    SessionLogError,
    StaleCursorError,
    StoreBusyError,
    StoredLogError,
    TornLogError,
    UnknownEventError,
)
from labsupport.sessionlog import Session, SessionEvent, SessionHeader, check_invariants, register_event_type
from labsupport.sessionlog.json_text import same_json
from labsupport.sessionlog.storage import (
    JsonlStore,
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
from tests.sessionlog import oracle
from tests.sessionlog.builders import Record, stored
from tests.sessionlog.strategies import logs, values


@dataclass(frozen=True)
class Kind:
    """One kind of store: how it is opened at a folder, and how the end of a log is torn."""

    name: str
    open: Callable[[Path], Any]
    tear: Callable[[Any, str], None]


def _tear_lines(store: JsonlStore, id: str) -> None:
    with store.path(id).open("ab") as file:
        file.write(b'{"type":"plugin/torn","se')


def _tear_frames(store: JsonlStore, id: str) -> None:
    whole = store.path(id).read_bytes()
    with store.path(id).open("ab") as file:
        file.write(whole[: len(whole) // 2])


KINDS = [
    Kind("plain", JsonlStore, _tear_lines),
    Kind("zstd", lambda folder: JsonlStore(folder, compression="zstd"), _tear_frames),
]


@pytest.fixture(params=KINDS, ids=lambda kind: kind.name)
def kind(request: pytest.FixtureRequest) -> Kind:
    return request.param


@pytest.fixture
def store(kind: Kind, tmp_path: Path) -> Any:
    return kind.open(tmp_path / "logs")


def folder_of(store: Any) -> dict[str, bytes]:
    return make.files_of(store.root)


TALK = [make.turn_start(), make.user(), make.turn_end()]


# Create and append


def test_nothing_is_written_before_the_first_append(store: Any) -> None:
    store.create(SessionHeader("s1"))
    assert folder_of(store) == {}
    assert list(store.list()) == []
    with pytest.raises(FileNotFoundError):
        store.load("s1")


def test_what_was_appended_is_loaded(store: Any, kind: Kind) -> None:
    header = SessionHeader(
        "s1",
        created_at=1000,
        cwd="/home/demo",
        parent_session="s0",
        seed_length=1,
        origin="subagent",
        delegation_depth=2,
        agent_preset="plain",
    )
    store.create(header)
    events = make.log(*make.two_steps())
    store.append("s1", events[:7])
    store.append("s1", events[7:])
    for reader in (store, kind.open(store.root)):
        for loaded in (reader.inspect("s1"), reader.load("s1")):
            assert loaded.header == header
            assert make.plain(loaded.events) == make.plain(events)
            assert loaded.repair is None


def test_an_empty_append_writes_nothing(store: Any) -> None:
    store.create(SessionHeader("s1"))
    store.append("s1", [])
    assert folder_of(store) == {}


def test_a_session_is_created_once(store: Any, kind: Kind) -> None:
    store.create(SessionHeader("s1"))
    with pytest.raises(StoredLogError):
        store.create(SessionHeader("s1"))
    store.append("s1", make.log(*TALK))
    before = folder_of(store)
    for again in (store, kind.open(store.root)):
        with pytest.raises(StoredLogError):
            again.create(SessionHeader("s1"))
    assert folder_of(store) == before


def test_two_stores_announce_one_session_and_the_first_append_wins(store: Any, kind: Kind) -> None:
    other = kind.open(store.root)
    store.create(SessionHeader("s1"))
    other.create(SessionHeader("s1", created_at=9))
    store.append("s1", make.log(*TALK))
    with pytest.raises(StaleCursorError):
        other.append("s1", make.log(make.user("mine")))
    assert make.plain(store.inspect("s1").events) == make.plain(make.log(*TALK))


@pytest.mark.parametrize(
    "header",
    [SessionHeader(""), SessionHeader("s", created_at=2**53), SessionHeader("s", cwd="here"), SessionHeader("s", version=1)],
    ids=repr,
)
def test_a_header_that_no_reader_would_take_is_refused(store: Any, header: SessionHeader) -> None:
    with pytest.raises((EventError, LosslessError)):
        store.create(header)


@pytest.mark.parametrize("id", ["nobody", "../nobody"])
def test_an_id_that_is_not_there(store: Any, id: str) -> None:
    for ask in (
        store.load,
        store.inspect,
        store.revision,
        lambda id: store.read_from(id, 0),
        lambda id: store.append(id, make.log(*TALK)),
    ):
        with pytest.raises(FileNotFoundError):
            ask(id)
    assert folder_of(store) == {}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(logs(), st.data())
def test_what_append_takes_load_takes(
    kind: Kind, tmp_path_factory: pytest.TempPathFactory, records: list[Record], data: st.DataObject
) -> None:
    store = kind.open(tmp_path_factory.mktemp("law"))
    session = Session.create("s1", header=SessionHeader("s1", created_at=7))
    for one in records:
        make.append(session, one)
    session.append("plugin/any", data.draw(values), ignorable=True)
    store.create(session.header)
    at = 0
    while at < len(session.events):
        size = data.draw(st.integers(1, len(session.events) - at))
        store.append("s1", session.events[at : at + size])
        at += size
    loaded = store.inspect("s1")
    assert same_json(make.plain(loaded.events[:at]), make.plain(session.events))
    assert [oracle.told(one) for one in make.plain(loaded.events[at:])] == oracle.closers(make.plain(session.events))
    assert Session.create("s1", seed=loaded.events, header=loaded.header).derive_messages()[:1] == session.derive_messages()[:1]
    assert make.plain(store.load("s1").events) == make.plain(loaded.events)
    assert store.load("s1").repair is None, "a second recovery changes nothing"


@pytest.mark.parametrize("depth", [100, 20_000])
def test_depth_goes_to_the_disk_and_back(store: Any, depth: int) -> None:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    session = Session.create("s1")
    session.append("plugin/x", value, ignorable=True)
    store.create(session.header)
    store.append("s1", session.events)
    assert [bytes(event.json_text) for event in store.load("s1").events] == [b"[" * (depth + 1) + b"]" * (depth + 1)]


def events_without_shape() -> list[SessionEvent]:
    session = Session.create("s1")
    session.append("user/message", {"no": "shape"}, surface_op="append")
    return list(session.events)


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception]]] = {
    "a gap in the batch": (lambda: [*make.log(make.user(), first=3), *make.log(make.user(), first=5)], EventError),
    "the batch runs backwards": (lambda: [*make.log(make.user(), first=4), *make.log(make.user(), first=3)], EventError),
    "seqs that are stored": (lambda: make.log(make.user(), first=2), StaleCursorError),
    "seqs from the beginning": (lambda: make.log(make.user()), StaleCursorError),
    "seqs that come later": (lambda: make.log(make.user(), first=4), StaleCursorError),
    "an unknown type": (lambda: make.log(make.record("nobody/knows"), first=3), UnknownEventError),
    "an empty type": (lambda: make.log(make.record(""), first=3), UnknownEventError),
    "an unknown type behind good ones": (
        lambda: make.log(make.user(), make.record("nobody/knows"), first=3),
        UnknownEventError,
    ),
    "a message without its shape": (
        lambda: [SessionEvent("user/message", 3, 0, events_without_shape()[0].json_text, "append")],
        EventError,
    ),
}


@pytest.mark.parametrize(("batch", "error"), REFUSED.values(), ids=REFUSED)
def test_a_refused_append_writes_nothing(store: Any, batch: Callable[[], Any], error: type[Exception]) -> None:
    stored(store, *TALK)
    before = folder_of(store), store.revision("s1")
    with pytest.raises(error):
        store.append("s1", batch())
    assert (folder_of(store), store.revision("s1")) == before
    store.append("s1", make.log(make.user("next"), first=3))
    assert len(store.inspect("s1").events) == 4


def test_a_type_that_is_ignorable_or_registered_goes_through(store: Any) -> None:
    records = [*TALK, make.record("nobody/knows", {"a": 1}, ignorable=True)]
    register_event_type("store/registered")
    stored(store, *records, make.record("store/registered", [1]))
    loaded = store.load("s1")
    assert [(event.type, event.read()) for event in loaded.events[3:]] == [
        ("nobody/knows", {"a": 1}),
        ("store/registered", [1]),
    ]
    assert loaded.events[3].ignorable is True


# Stale cursors


def test_an_append_behind_the_stored_end_is_refused(store: Any, kind: Kind) -> None:
    stored(store, *TALK)
    other = kind.open(store.root)
    other.append("s1", make.log(make.user("theirs"), first=3))
    with pytest.raises(StaleCursorError) as caught:
        store.append("s1", make.log(make.user("mine"), first=3))
    assert (caught.value.expected, caught.value.stored) == (3, 4)
    assert len(store.inspect("s1").events) == 4
    store.append("s1", make.log(make.user("mine"), first=4))
    assert [event.seq for event in store.load("s1").events] == [0, 1, 2, 3, 4]


def test_a_session_that_fell_behind_cannot_be_attached(store: Any, kind: Kind) -> None:
    stored(store, *TALK)
    old = Session.create("s1", seed=store.load("s1").events[:2])
    with pytest.raises(StaleCursorError):
        store.attach(old)
    other_history = Session.create("s1", seed=make.log(make.turn_start(), make.user("another"), make.turn_end(kind="blocked")))
    with pytest.raises(StaleCursorError):
        store.attach(other_history)
    with pytest.raises(StaleCursorError):
        store.attach(Session.create("s1"))
    assert make.plain(store.load("s1").events) == make.plain(make.log(*TALK)), "and no lock is left behind"


# Inspect and load

OPEN = [make.turn_start(), make.step_start(), make.user(), make.asks("a", "b"), make.call("a")]


def test_inspect_repairs_in_memory_and_touches_nothing(store: Any, kind: Kind) -> None:
    stored(store, *OPEN)
    kind.tear(store, "s1")
    names = sorted(path.name for path in store.root.iterdir())
    before = folder_of(store), store.revision("s1"), os.stat(store.path("s1"))
    found = kind.open(store.root).inspect("s1")
    assert [oracle.told(one) for one in make.plain(found.events[5:])] == oracle.closers(make.plain(make.log(*OPEN)))
    assert found.repair is not None
    assert found.repair.torn is not None
    assert found.repair.kept_in is None
    after = os.stat(store.path("s1"))
    assert (folder_of(store), store.revision("s1"), after.st_mtime_ns) == (before[0], before[1], before[2].st_mtime_ns)
    assert sorted(path.name for path in store.root.iterdir()) == names


def test_load_commits_what_inspect_shows(store: Any, kind: Kind) -> None:
    stored(store, *OPEN)
    kind.tear(store, "s1")
    torn = store.path("s1").read_bytes()
    seen = store.inspect("s1")
    loaded = store.load("s1")
    assert make.plain(loaded.events) == make.plain(seen.events)
    repair = loaded.repair
    assert repair is not None
    assert repair.torn is not None
    assert repair.added == tuple(loaded.events[5:])
    assert repair.kept_in is not None
    assert torn.endswith(repair.kept_in.read_bytes())
    assert len(repair.kept_in.read_bytes()) == repair.torn.size > 0
    again = kind.open(store.root).load("s1")
    assert again.repair is None
    assert make.plain(again.events) == make.plain(loaded.events)
    assert check_invariants(again.events) == []


def test_what_is_cut_off_is_kept_each_time(store: Any, kind: Kind) -> None:
    """Two tears at one place: the second is not taken for the first."""
    stored(store, *TALK)
    kept = []
    for torn in (b"first", b"second one", b"first"):
        with store.path("s1").open("ab") as file:
            file.write(torn)
        repair = store.load("s1").repair
        assert repair is not None
        kept.append((torn, repair.kept_in))
    assert all(path.read_bytes() == torn for torn, path in kept)


def test_a_torn_log_takes_no_append_until_it_is_loaded(store: Any, kind: Kind) -> None:
    stored(store, *TALK)
    kind.tear(store, "s1")
    before = folder_of(store)
    for late in (store, kind.open(store.root)):
        with pytest.raises(TornLogError, match="load"):
            late.append("s1", make.log(make.user(), first=3))
    with pytest.raises(TornLogError):
        store.attach(Session.create("s1", seed=make.log(*TALK)))
    assert folder_of(store) == before
    store.load("s1")
    store.append("s1", make.log(make.user(), first=3))
    assert len(store.load("s1").events) == 4


def test_a_history_that_cannot_be_derived_is_refused_whole(store: Any) -> None:
    good = make.log(make.user(), make.user("sum", op=make.replacing(0, 0), sourceEventSeqs=[0]))
    bad = SessionEvent.from_json({**make.plain(good)[1], "surfaceOp": make.replacing(5, 5)})
    store.create(SessionHeader("s1"))
    store.append("s1", [good[0], bad])  # a store checks events; the surface is checked where the log is opened
    before = folder_of(store)
    for ask in (store.inspect, store.load):
        with pytest.raises(LogCorruptError, match="event 1"):
            ask("s1")
    assert folder_of(store) == before


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(logs(), st.data())
def test_read_from_is_the_rest(
    kind: Kind, tmp_path_factory: pytest.TempPathFactory, records: list[Record], data: st.DataObject
) -> None:
    store = stored(kind.open(tmp_path_factory.mktemp("rest")), *records)
    seq = data.draw(st.integers(0, len(records) + 2))
    assert make.plain(store.read_from("s1", seq)) == make.plain(make.log(*records))[seq:]
    with pytest.raises(EventError):
        store.read_from("s1", -1)


# List and revision


def test_list_reads_headers_only(store: Any) -> None:
    for id in ("b", "a", "预算"):
        stored(store, *TALK, id=id)
    assert sorted(header.id for header in store.list()) == ["a", "b", "预算"]
    assert store.list().problems == []


def test_list_shows_a_log_whose_first_batch_is_long(store: Any) -> None:
    noise = os.urandom(200_000).hex()
    stored(store, make.record("plugin/x", noise, ignorable=True), id="long")
    assert [header.id for header in store.list()] == ["long"]


def test_list_of_no_folder_is_empty(store: Any) -> None:
    assert list(store.list()) == []


def test_revision_changes_with_the_log_and_only_then(store: Any, kind: Kind) -> None:
    stored(store, *TALK)
    first = store.revision("s1")
    assert isinstance(first, str)
    store.inspect("s1")
    store.read_from("s1", 0)
    store.load("s1")
    assert store.revision("s1") == kind.open(store.root).revision("s1") == first
    store.append("s1", make.log(make.user(), first=3))
    second = store.revision("s1")
    assert second != first
    kind.tear(store, "s1")
    assert store.revision("s1") not in (first, second)


# Writers


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


def test_flush_without_a_writer_or_without_news_does_nothing(store: Any) -> None:
    session = Session.create("s1")
    flush(session)
    barrier(session)
    _, writer = live(store)
    writer.flush()
    assert folder_of(store) == {}
    writer.close()
    assert folder_of(store) == {}
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
    make.append(session, make.turn_end())
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


def test_one_writer_at_a_time(store: Any, kind: Kind) -> None:
    session, writer = live(store, on_flush, *TALK)
    flush(session)
    other = kind.open(store.root)
    twin = Session.create("s1", seed=make.log(*TALK))
    before = folder_of(store)
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
    assert folder_of(store) == before
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
        append = store.append

        def failing(id: str, events: Any) -> None:
            if self.times:
                self.times -= 1
                raise OSError(28, f"disk full {self.times}")
            append(id, events)

        monkeypatch.setattr(store, "append", failing)


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


def test_a_close_that_fails_lets_another_writer_in(store: Any, kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    session, writer = live(store, on_flush, *TALK)
    writer.flush()
    make.append(session, make.user("lost"))
    failing = Failing(monkeypatch, store)
    failing.times = 1
    with pytest.raises(OSError, match="disk full"):
        writer.close()
    other = kind.open(store.root)
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


def test_a_log_that_names_another_session_is_refused(tmp_path: Path) -> None:
    store = JsonlStore(tmp_path)
    store.create(SessionHeader("one"))
    store.append("one", [SessionEvent.from_json({"type": "turn/start", "seq": 0, "time": 0, "data": {"turn": 1}})])
    store.path("two").write_bytes(store.path("one").read_bytes())
    for ask in (store.inspect, store.load):
        with pytest.raises(LogCorruptError, match="another session"):
            ask("two")
