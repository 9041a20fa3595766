"""A log that goes from one kind of store to another and back is the same log; sessions in one store do not see each other."""

from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings

from labsupport.errors import EventError, SessionLogError, UnknownEventError
from labsupport.sessionlog import Session, SessionEvent, SessionHeader
from labsupport.sessionlog.storage import flush, on_flush
from tests.sessionlog import builders as make
from tests.sessionlog.stores import KINDS, Kind
from tests.sessionlog.strategies import logs, stored_values

TALK = [make.turn_start(), make.user(), make.turn_end()]
DEEP = 20_000
HUGE = "9" * 310


def kept(event: SessionEvent) -> tuple[Any, ...]:
    """All that an event says, its data to the byte."""
    return (
        event.type,
        event.seq,
        event.time,
        bytes(event.json_text),
        event.surface_op,
        event.source_event_seqs,
        event.ignorable,
    )


def copied(source: Any, target: Any, id: str = "s1") -> Any:
    """*target* with the log of *id* as it is in *source*."""
    found = source.inspect(id)
    target.create(found.header)
    target.append(id, found.events)
    return target


def strange_lines() -> bytes:
    """A log whose every event is odd in another way."""
    texts = [
        '{"type":"nobody/knows","seq":1,"time":-5,"data":{"a":[1,{"b":null}]},"ignorable":true}',
        '{"type":"nobody/\\ud83d","seq":2,"time":0,"data":"\\ud83d","ignorable":true}',
        f'{{"type":"plugin/x","seq":3,"time":9007199254740991,"data":{"[" * DEEP}{"]" * DEEP},"ignorable":true}}',
        f'{{"type":"plugin/x","seq":4,"time":1,"data":[{HUGE},-{HUGE},9007199254740993],"ignorable":true}}',
        '{"type":"plugin/x","seq":5,"time":1,"data":[-0.0,-0,1.0,1e5,1E-7,0.1e1],"ignorable":true}',
        '{"type":"plugin/x","seq":6,"time":1,"data":{"\\u0000":"\\u0000\\u2028\\ufeff","":"'
        + "预算 🙂"
        + '"},"ignorable":true}',
        '{"type":"plugin/x","seq":7,"time":1,"data": { "spaces" : [ 1 ,\\t2 ] } ,"ignorable":true}'.replace("\\t", "\t"),
    ]
    return make.log_bytes(make.turn_start()) + "".join(f"{text}\n" for text in texts).encode()


PAIRS = list(permutations(KINDS, 2))
pairs = pytest.mark.parametrize(("one", "other"), PAIRS, ids=[f"{one.name}-{other.name}" for one, other in PAIRS])


def test_strange_events_go_round_all_stores_to_the_byte(tmp_path: Path) -> None:
    origin = make.jsonl_file(tmp_path / "origin", strange_lines())
    expected = [kept(event) for event in origin.read_from("s1", 0)]
    assert len(expected) == 8
    before = origin
    for number, kind in enumerate([*KINDS, KINDS[0]]):
        before = copied(before, kind.open(tmp_path / str(number)))
        assert [kept(event) for event in before.read_from("s1", 0)][:8] == expected
    assert KINDS[0].held(tmp_path / "3") == KINDS[0].held(tmp_path / "0")
    assert before.load("s1").repair is None, "a copy has what closed the open turn"


@pairs
def test_a_header_goes_there_and_back(tmp_path: Path, one: Kind, other: Kind) -> None:
    header = SessionHeader(
        "s\ud83d/预算",
        created_at=2**53 - 1,
        cwd="/home/demo/\ud83d 预算\n",
        parent_session="../\x00",
        seed_length=3,
        origin="subagent",
        delegation_depth=7,
        agent_preset='"x"',
    )
    first = one.open(tmp_path / "1")
    first.create(header)
    first.append(header.id, make.log(*TALK))
    back = copied(copied(first, other.open(tmp_path / "2"), header.id), one.open(tmp_path / "3"), header.id)
    assert back.inspect(header.id).header == header
    assert list(back.list()) == list(first.list()) == [header]
    assert one.held(tmp_path / "3") == one.held(tmp_path / "1")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(logs(cut=False), stored_values)
@example(make.two_steps(), None)
def test_any_log_is_the_same_in_every_store(
    tmp_path_factory: pytest.TempPathFactory, records: list[make.Record], value: Any
) -> None:
    events = make.log(*records, make.record("plugin/any", value, ignorable=True))
    folder = tmp_path_factory.mktemp("same")
    for kind in KINDS:
        store = kind.open(folder / kind.name)
        store.create(SessionHeader("s1"))
        store.append("s1", events)
        assert [kept(event) for event in store.read_from("s1", 0)] == [kept(event) for event in events]
        assert [kept(event) for event in store.load("s1").events] == [kept(event) for event in events]


@pairs
def test_an_unknown_event_that_may_matter_is_refused_at_every_door(tmp_path: Path, one: Kind, other: Kind) -> None:
    unknown = make.log(make.record("nobody/knows"), first=3)
    first = make.stored(one.open(tmp_path / "1"), *TALK)
    with pytest.raises(UnknownEventError):
        first.append("s1", unknown)
    second = copied(first, other.open(tmp_path / "2"))
    with pytest.raises(UnknownEventError):
        second.append("s1", unknown)
    assert len(second.load("s1").events) == 3


def test_one_session_is_written_to_every_kind_of_store_at_once(tmp_path: Path) -> None:
    session = Session.create("s1")
    stores = [kind.open(tmp_path / kind.name) for kind in KINDS]
    writers = [store.attach(session, on_flush) for store in stores]
    for one in make.two_steps():
        make.append(session, one)
    flush(session)
    assert [writer.waiting for writer in writers] == [0] * len(KINDS)
    for store, writer in zip(stores, writers, strict=True):
        writer.close()
        assert [kept(event) for event in store.load("s1").events] == [kept(event) for event in session.events]


# Many sessions in one store

IDS = [
    "s1", "S1", "s1 ", " s1", "S1.", "..", ".", "../s1", "a/b", "a\\b", "C:", "con", "nul.txt", "*", "%", "_", '"',
    "x'; DROP TABLE events; --", "\x00", "s1\x00", "s1\x00x", "\n", "\ud83d", "\ude42", "\ude42\ud83d", "é", "e\u0301", "ß",
    "SS", "ı", "I", "İ", "预算", "0", "00", "0.0", "1e0", "null", "None", "-1", "x" * 300, "x" * 299 + "y", "~0041", "A",
    "sqlite_sequence", "\ufeffs1", "\u202es1",
]  # fmt: skip


def said_by(id: str) -> str:
    return f"this is {id!a}"


def test_sessions_with_hostile_ids_do_not_see_each_other(store: Any, kind: Kind, folder: Path) -> None:
    for id in IDS:
        make.stored(store, make.turn_start(), make.user(said_by(id)), id=id)
    for id in reversed(IDS):
        store.append(id, make.log(make.turn_end(), first=2))
    again = kind.open(folder)
    assert sorted(header.id for header in again.list()) == sorted(IDS)
    assert again.list().problems == []
    assert len({again.revision(id) for id in IDS}) == len(IDS)
    for id in IDS:
        loaded = again.load(id)
        assert loaded.header.id == id
        assert [event.type for event in loaded.events] == ["turn/start", "user/message", "turn/end"]
        assert loaded.events[1].read()["content"][0]["text"] == said_by(id)
    for path in folder.rglob("*"):
        assert folder.resolve() in path.resolve().parents
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


def test_deleting_every_second_one_leaves_the_others(store: Any, kind: Kind, folder: Path) -> None:
    for id in IDS:
        make.stored(store, *TALK, make.user(said_by(id)), id=id)
    for id in IDS[::2]:
        store.delete(id)
    again = kind.open(folder)
    assert sorted(header.id for header in again.list()) == sorted(IDS[1::2])
    for id in IDS[1::2]:
        assert again.load(id).events[3].read()["content"][0]["text"] == said_by(id)
    for id in IDS[::2]:
        with pytest.raises(FileNotFoundError):
            again.load(id)


def test_what_happens_to_one_session_shows_in_no_other(store: Any, kind: Kind, folder: Path) -> None:
    for id in ("a", "b", "torn"):
        make.stored(store, *TALK, id=id)
    before = {id: store.revision(id) for id in ("a", "b")}
    kind.tear(folder, "torn", "half")
    session = Session.create("live")
    writer = store.attach(session)
    make.append(session, make.turn_start())
    writer.flush()
    other = kind.open(folder)
    assert other.load("torn").repair is not None
    other.append("b", make.log(make.user(), first=3))
    assert other.revision("a") == before["a"]
    assert other.revision("b") != before["b"]
    other.delete("torn")
    assert other.revision("a") == before["a"]
    make.append(session, make.turn_end())
    writer.close()
    assert [len(other.read_from(id, 0)) for id in ("a", "b", "live")] == [3, 4, 2]


def test_an_id_of_two_halves_is_the_pair_that_they_make_or_is_refused(store: Any) -> None:
    """JSON text cannot tell the two apart, so a store may not either."""
    try:
        make.stored(store, *TALK, id="\ud83d\ude42")
    except SessionLogError:
        assert list(store.list()) == []
    else:
        assert len(store.load("\ud83d\ude42").events) == 3
        assert [header.id for header in store.list()] == ["🙂"]


@pytest.mark.parametrize("id", ["", None, 5, b"x", Path("x")], ids=repr)
def test_no_id(store: Any, id: Any) -> None:
    for ask in (store.inspect, store.load, store.revision, store.delete, lambda id: store.read_from(id, 0)):
        with pytest.raises(EventError):
            ask(id)


def test_seqs_at_the_edge_of_what_is_exact(store: Any) -> None:
    """A stored log begins at 0, so no seq gets there; a batch that says so is refused before it is written."""
    make.stored(store, *TALK)
    for seq in (2**53 - 1, -1, 2**63):
        event = SessionEvent("turn/start", seq, 0, make.log(make.turn_start())[0].json_text)
        with pytest.raises(SessionLogError):
            store.append("s1", [event])
    assert len(store.load("s1").events) == 3
