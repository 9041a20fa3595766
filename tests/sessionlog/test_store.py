"""What every store promises: one suite over all of them. What a writer promises is in test_writers.py."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labsupport.errors import (
    EventError,
    LogCorruptError,
    LosslessError,
    StaleCursorError,
    StoredLogError,
    TornLogError,
    UnknownEventError,
)
from labsupport.sessionlog import Session, SessionEvent, SessionHeader, check_invariants, register_event_type
from labsupport.sessionlog.json_text import same_json
from labsupport.sessionlog.storage import JsonlStore
from tests.sessionlog import builders as make
from tests.sessionlog import oracle
from tests.sessionlog.builders import Record, stored
from tests.sessionlog.stores import KINDS, Kind
from tests.sessionlog.strategies import logs, values

Held = Callable[[], Any]
in_files = pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.name != "sqlite"], ids=lambda kind: kind.name)
TALK = [make.turn_start(), make.user(), make.turn_end()]


# Create and append


def test_nothing_is_written_before_the_first_append(store: Any, held: Held) -> None:
    store.create(SessionHeader("s1"))
    assert held() == {}
    assert list(store.list()) == []
    with pytest.raises(FileNotFoundError):
        store.load("s1")


def test_what_was_appended_is_loaded(store: Any, kind: Kind, folder: Path) -> None:
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
    for reader in (store, kind.open(folder)):
        for loaded in (reader.inspect("s1"), reader.load("s1")):
            assert loaded.header == header
            assert make.plain(loaded.events) == make.plain(events)
            assert loaded.repair is None


def test_an_empty_append_writes_nothing(store: Any, held: Held) -> None:
    store.create(SessionHeader("s1"))
    store.append("s1", [])
    assert held() == {}


def test_a_session_is_created_once(store: Any, kind: Kind, held: Held, folder: Path) -> None:
    store.create(SessionHeader("s1"))
    with pytest.raises(StoredLogError):
        store.create(SessionHeader("s1"))
    store.append("s1", make.log(*TALK))
    before = held()
    for again in (store, kind.open(folder)):
        with pytest.raises(StoredLogError):
            again.create(SessionHeader("s1"))
    assert held() == before


def test_two_stores_announce_one_session_and_the_first_append_wins(store: Any, kind: Kind, folder: Path) -> None:
    other = kind.open(folder)
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
def test_an_id_that_is_not_there(store: Any, id: str, held: Held) -> None:
    for ask in (
        store.load,
        store.inspect,
        store.revision,
        lambda id: store.read_from(id, 0),
        lambda id: store.append(id, make.log(*TALK)),
    ):
        with pytest.raises(FileNotFoundError):
            ask(id)
    assert held() == {}


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
def test_a_refused_append_writes_nothing(store: Any, batch: Callable[[], Any], error: type[Exception], held: Held) -> None:
    stored(store, *TALK)
    before = held(), store.revision("s1")
    with pytest.raises(error):
        store.append("s1", batch())
    assert (held(), store.revision("s1")) == before
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


def test_an_append_behind_the_stored_end_is_refused(store: Any, kind: Kind, folder: Path) -> None:
    stored(store, *TALK)
    other = kind.open(folder)
    other.append("s1", make.log(make.user("theirs"), first=3))
    with pytest.raises(StaleCursorError) as caught:
        store.append("s1", make.log(make.user("mine"), first=3))
    assert (caught.value.expected, caught.value.stored) == (3, 4)
    assert len(store.inspect("s1").events) == 4
    store.append("s1", make.log(make.user("mine"), first=4))
    assert [event.seq for event in store.load("s1").events] == [0, 1, 2, 3, 4]


def session_of(*seed: SessionEvent) -> Session:
    """A session with the header that `stored` gives its log."""
    return Session.create("s1", seed=list(seed), header=SessionHeader("s1", created_at=1000))


def test_a_session_that_fell_behind_cannot_be_attached(store: Any) -> None:
    stored(store, *TALK)
    old = session_of(*store.load("s1").events[:2])
    with pytest.raises(StaleCursorError):
        store.attach(old)
    other_history = session_of(*make.log(make.turn_start(), make.user("another"), make.turn_end(kind="blocked")))
    with pytest.raises(StaleCursorError):
        store.attach(other_history)
    with pytest.raises(StaleCursorError):
        store.attach(session_of())
    assert make.plain(store.load("s1").events) == make.plain(make.log(*TALK)), "and no lock is left behind"


# Inspect and load

OPEN = [make.turn_start(), make.step_start(), make.user(), make.asks("a", "b"), make.call("a")]


def test_inspect_repairs_in_memory_and_touches_nothing(store: Any, kind: Kind, held: Held, folder: Path) -> None:
    stored(store, *OPEN)
    kind.tear(folder, "s1", "torn")
    names = sorted(path.name for path in store.root.iterdir())
    before = held(), store.revision("s1"), os.stat(store.path("s1"))
    found = kind.open(folder).inspect("s1")
    assert [oracle.told(one) for one in make.plain(found.events[5:])] == oracle.closers(make.plain(make.log(*OPEN)))
    assert found.repair is not None
    assert found.repair.torn is not None
    assert found.repair.kept_in is None
    after = os.stat(store.path("s1"))
    assert (held(), store.revision("s1"), after.st_mtime_ns) == (before[0], before[1], before[2].st_mtime_ns)
    assert sorted(path.name for path in store.root.iterdir()) == names


@in_files
def test_load_commits_what_inspect_shows(store: Any, kind: Kind, folder: Path) -> None:
    stored(store, *OPEN)
    kind.tear(folder, "s1", "torn")
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
    again = kind.open(folder).load("s1")
    assert again.repair is None
    assert make.plain(again.events) == make.plain(loaded.events)
    assert check_invariants(again.events) == []


@in_files
def test_what_is_cut_off_is_kept_each_time(store: Any) -> None:
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


def test_a_torn_log_takes_no_append_until_it_is_loaded(store: Any, kind: Kind, held: Held, folder: Path) -> None:
    stored(store, *TALK)
    kind.tear(folder, "s1", "torn")
    before = held()
    for late in (store, kind.open(folder)):
        with pytest.raises(TornLogError, match="load"):
            late.append("s1", make.log(make.user(), first=3))
    with pytest.raises(TornLogError):
        store.attach(session_of(*make.log(*TALK)))
    assert held() == before
    store.load("s1")
    store.append("s1", make.log(make.user(), first=3))
    assert len(store.load("s1").events) == 4


def test_a_history_that_cannot_be_derived_is_refused_whole(store: Any, held: Held) -> None:
    good = make.log(make.user(), make.user("sum", op=make.replacing(0, 0), sourceEventSeqs=[0]))
    bad = SessionEvent.from_json({**make.plain(good)[1], "surfaceOp": make.replacing(5, 5)})
    store.create(SessionHeader("s1"))
    store.append("s1", [good[0], bad])  # a store checks events; the surface is checked where the log is opened
    before = held()
    for ask in (store.inspect, store.load):
        with pytest.raises(LogCorruptError, match="event 1"):
            ask("s1")
    assert held() == before


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


def test_revision_changes_with_the_log_and_only_then(store: Any, kind: Kind, folder: Path) -> None:
    stored(store, *TALK)
    first = store.revision("s1")
    assert isinstance(first, str)
    store.inspect("s1")
    store.read_from("s1", 0)
    store.load("s1")
    assert store.revision("s1") == kind.open(folder).revision("s1") == first
    store.append("s1", make.log(make.user(), first=3))
    second = store.revision("s1")
    assert second != first
    kind.tear(folder, "s1", "torn")
    assert store.revision("s1") not in (first, second)


def test_a_log_that_names_another_session_is_refused(tmp_path: Path) -> None:
    store = JsonlStore(tmp_path)
    store.create(SessionHeader("one"))
    store.append("one", [SessionEvent.from_json({"type": "turn/start", "seq": 0, "time": 0, "data": {"turn": 1}})])
    store.path("two").write_bytes(store.path("one").read_bytes())
    for ask in (store.inspect, store.load):
        with pytest.raises(LogCorruptError, match="another session"):
            ask("two")
