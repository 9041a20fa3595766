"""Checkpoints beside a log, in every kind of store: used where the log proves them, and kept but not used where it does not."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labsupport.errors import StoredLogError
from labsupport.sessionlog import Session, SessionHeader
from labsupport.sessionlog.projections import ProjectionRegistry
from labsupport.sessionlog.storage import JsonlStore, on_flush
from labsupport.sessionlog.units import session_stats, surface_tokens, todo, tool_pairing, turn_status
from tests.sessionlog import builders as make
from tests.sessionlog import power
from tests.sessionlog.stores import KINDS, Kind, named, with_rows
from tests.sessionlog.strategies import logs, stored_values

TALK = [make.turn_start(), make.user(), make.turn_end()]
UNITS = [turn_status, tool_pairing, session_stats, todo, surface_tokens]
Rows = dict[str, Any]


def row(seq: int, val: Any = None, ver: int = 1) -> Rows:
    return {"unit": {"ver": ver, "seq": seq, "val": val}}


def opened(store: Any, *records: make.Record, id: str = "s1") -> Session:
    """The session of a stored log of *records*, which is as long as that."""
    make.stored(store, *records, id=id)
    return Session.seeded(SessionHeader(id, created_at=1000), make.log(*records))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(logs(), st.data())
def test_views_from_a_checkpoint_are_the_views_from_the_log(
    kind: Kind, tmp_path_factory: pytest.TempPathFactory, records: list[make.Record], data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("law")
    store, events = kind.open(folder), make.log(*records)
    store.create(SessionHeader("s1"))
    size = data.draw(st.integers(1, len(events)))
    store.append("s1", events[:size])
    store.save_checkpoint(Session.seeded(SessionHeader("s1"), events[:size]), registry_after(events[:size]))
    if size < len(events):
        store.append("s1", events[size:])
    registry = ProjectionRegistry(UNITS)
    found = kind.open(folder).read_checkpoint("s1", registry.versions)
    assert found.refused == ()
    assert {kept["seq"] for kept in found.rows.values()} == {size - 1}
    floor = registry.restore_floor(found.rows)
    restored = registry.restore(found.rows, store.read_from("s1", floor), floor)
    assert set(restored.reused) == {unit.key for unit in UNITS}
    fresh = ProjectionRegistry(UNITS).restore({}, events)
    assert (restored.as_of_seq, restored.values) == (fresh.as_of_seq, fresh.values)


def registry_after(events: list[Any]) -> Rows:
    """The checkpoint of all units after *events*."""
    return ProjectionRegistry(UNITS).checkpoint(Session.seeded(SessionHeader("s1"), events))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(stored_values)
def test_a_state_comes_back_as_it_went(kind: Kind, tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    folder = tmp_path_factory.mktemp("value")
    store = kind.open(folder)
    session = opened(store, *TALK)
    store.save_checkpoint(session, row(2, value))
    [kept] = kind.open(folder).read_checkpoint("s1").rows.values()
    assert kept == row(2, value)["unit"]
    assert repr(kept["val"]) == repr(value), "1, 1.0 and true are three things"


def test_strange_keys_and_states(store: Any, kind: Kind, folder: Path) -> None:
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    rows = {
        key: {"ver": ver, "seq": 2, "val": value}
        for key, ver, value in [("", 0, None), ("'; --", 2**53 - 1, "\ud83d"), ("\ud83d", 1, int("9" * 310)), ("预算", 1, deep)]
    }
    store.save_checkpoint(opened(store, *TALK), rows)
    found = kind.open(folder).read_checkpoint("s1").rows
    assert found.keys() == rows.keys()
    deepest = found.pop("预算")["val"]
    rows.pop("预算")
    assert found == rows
    depth = 0
    while deepest:
        depth, deepest = depth + 1, deepest[0]
    assert depth == 5000


def test_the_latest_row_of_a_version_is_the_one_that_counts(store: Any, kind: Kind, folder: Path) -> None:
    session = opened(store, *TALK)
    for seq, val, ver in ((0, "a", 1), (1, "b", 1), (2, "old", 0), (-1, "empty", 2)):
        store.save_checkpoint(session, row(seq, val, ver))
    again = kind.open(folder)
    assert again.read_checkpoint("s1", {"unit": 1}).rows == row(1, "b", 1)
    assert again.read_checkpoint("s1", {"unit": 0}).rows == row(2, "old", 0)
    assert again.read_checkpoint("s1", {"unit": 2}).rows == row(-1, "empty", 2)
    assert again.read_checkpoint("s1").rows == row(-1, "empty", 2), "without a version, the newest"
    wanted = again.read_checkpoint("s1", {"unit": 5})
    assert wanted.rows == {}
    assert {(one.ver, one.seq) for one in wanted.refused} == {(1, 1), (0, 2), (2, -1)}, "and none of them is thrown away"
    assert all("version" in one.why for one in wanted.refused)


def test_a_row_ahead_of_what_is_durable_is_refused(store: Any, held: Callable[[], Any]) -> None:
    session = Session.create("s1")
    writer = store.attach(session, on_flush)
    make.append(session, make.turn_start())
    with pytest.raises(FileNotFoundError):
        store.save_checkpoint(session, row(0))
    writer.flush()
    make.append(session, make.turn_end())
    before = held()
    with pytest.raises(StoredLogError, match="flush"):
        store.save_checkpoint(session, row(1))
    assert held() == before
    writer.flush()
    store.save_checkpoint(session, row(1))
    writer.close()
    assert store.read_checkpoint("s1").rows == row(1)


def replaced(kind: Kind, folder: Path, *records: make.Record) -> Any:
    """Another log in the place of the one of s1; its checkpoints stay, as when a log is restored from a backup."""
    place = folder.parent / f"spare{len(list(folder.parent.iterdir()))}"
    spare = make.stored(kind.open(place), *records)
    if kind.name == "sqlite":
        events = with_rows(place, "SELECT * FROM events")
        with_rows(folder, "DELETE FROM events WHERE session_id = 's1'")
        for event in events:
            with_rows(folder, f"INSERT INTO events VALUES ({', '.join('?' * len(event))})", *event)
    else:
        name = spare.path("s1").name
        os.replace(place / name, folder / name)
    return kind.open(folder)


@pytest.mark.parametrize(
    ("records", "why"),
    [
        (TALK[:1], "ends before"),
        ([make.turn_start(), make.user(), make.turn_end(kind="blocked")], "another one"),
        ([make.turn_start(), make.turn_end(), make.user("more")], "another one"),
    ],
    ids=["shorter", "another end", "another order"],
)
def test_a_row_of_another_log_is_not_used_and_not_thrown_away(
    store: Any, kind: Kind, folder: Path, records: list[make.Record], why: str
) -> None:
    session = opened(store, *TALK)
    store.save_checkpoint(session, row(2, "of the old log"))
    again = replaced(kind, folder, *records)
    found = again.read_checkpoint("s1")
    assert found.rows == {}
    [refused] = found.refused
    assert (refused.key, refused.seq) == ("unit", 2)
    assert why in refused.why
    assert "of the old log" in str(kind.held(folder)), "the last copy of what is lost may be in a cache"
    back = replaced(kind, folder, *TALK)
    assert back.read_checkpoint("s1").rows == row(2, "of the old log")


def test_a_row_stays_proven_when_the_log_goes_on(store: Any, kind: Kind, folder: Path) -> None:
    session = opened(store, *TALK)
    store.save_checkpoint(session, row(2, "kept"))
    store.append("s1", make.log(make.turn_start(2), first=3))
    assert kind.open(folder).read_checkpoint("s1").rows == row(2, "kept")
    kind.tear(folder, "s1", "torn")
    assert kind.open(folder).load("s1").repair is not None
    assert kind.open(folder).read_checkpoint("s1").rows == row(2, "kept")


def test_sessions_have_checkpoints_of_their_own(store: Any) -> None:
    sessions = {id: opened(store, *TALK, id=id) for id in ("a", "A", "\ud83d")}
    for id, session in sessions.items():
        store.save_checkpoint(session, row(2, ascii(id)))
    assert {id: store.read_checkpoint(id).rows for id in sessions} == {id: row(2, ascii(id)) for id in sessions}
    store.delete("A")
    with pytest.raises(FileNotFoundError):
        store.read_checkpoint("A")
    opened(store, *TALK, id="A")
    assert store.read_checkpoint("A").rows == {}, "nor does a new session of this id get them"


# Damage: a cache is as good as none


def spoiled(text: str) -> list[str]:
    return [
        "",
        "{",
        "null",
        "[]",
        "3",
        '{"rows":3}',
        '{"rows":[3]}',
        '{"rows":[{}]}',
        text[: len(text) // 2],
        text + "x",
        "\x00" * 9,
    ]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.name != "sqlite"], ids=lambda kind: kind.name)
def test_a_damaged_cache_in_a_file_is_as_good_as_none(kind: Kind, folder: Path) -> None:
    store = kind.open(folder)
    session = opened(store, *TALK)
    store.save_checkpoint(session, row(2, "x"))
    [cache] = [path for path in folder.iterdir() if path.name.endswith(".views")]
    good = json.loads(cache.read_text())
    fields = [
        json.dumps({"rows": [{**good["rows"][0], key: value}]})
        for key in good["rows"][0]
        for value in ("word", None, [], {}, 1.5, True, -7)
        if key not in ("key", "val")
    ]
    for text in [*spoiled(cache.read_text()), *fields]:
        cache.write_text(text)
        found = kind.open(folder).read_checkpoint("s1", {"unit": 1})
        assert found.rows in ({}, row(2, "x")), "a row that is not the one that was kept"
        assert len(store.load("s1").events) == 3
        store.save_checkpoint(session, row(2, "x"))
        assert kind.open(folder).read_checkpoint("s1", {"unit": 1}).rows == row(2, "x")
    cache.write_bytes(b"\xff\xfe\x00")
    assert kind.open(folder).read_checkpoint("s1").rows == {}


@pytest.mark.parametrize("column", ["key", "ver", "seq", "val", "proof", "revision"])
@pytest.mark.parametrize("value", ["word", "", b"\xff\xfe", 1.5, -7], ids=repr)
def test_a_damaged_cache_in_a_table_is_as_good_as_none(tmp_path: Path, column: str, value: Any) -> None:
    """Words that are words are believed: whose state it is, and what it was, no log can say."""
    kind = named("sqlite")
    store = kind.open(tmp_path)
    session = opened(store, *TALK)
    store.save_checkpoint(session, row(2, "x"))
    with_rows(tmp_path, f"UPDATE checkpoints SET {column} = ?", value)
    found = kind.open(tmp_path).read_checkpoint("s1", {"unit": 1}).rows
    if column == "key":
        assert found == {} or found == {str(value): row(2, "x")["unit"]}
    else:
        assert found in ({}, row(2, "x"), row(2, value) if column == "val" else {})
    assert len(store.load("s1").events) == 3
    store.save_checkpoint(session, row(2, "x"))
    assert kind.open(tmp_path).read_checkpoint("s1", {"unit": 1}).rows["unit"] == row(2, "x")["unit"]


@pytest.mark.skipif(not make.POSIX, reason="links as on POSIX")
def test_a_cache_that_is_a_link_leads_nobody_out(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    store = JsonlStore(tmp_path / "logs")
    session = opened(store, *TALK)
    (tmp_path / "logs" / "s1.jsonl.views").symlink_to(victim)
    for ask in (lambda: store.read_checkpoint("s1"), lambda: store.save_checkpoint(session, row(2))):
        try:
            ask()
        except StoredLogError as error:
            refused = str(error)
            assert "link" in refused
    assert victim.read_text() == "mine"
    store.delete("s1")
    assert victim.read_text() == "mine"


@pytest.mark.skipif(not make.POSIX, reason="syncs of folders as on POSIX")
def test_a_cut_while_a_checkpoint_is_kept_leaves_the_old_one_or_the_new_one(tmp_path: Path) -> None:
    first = tmp_path / "first"
    store = JsonlStore(first)
    session = opened(store, *TALK)
    store.save_checkpoint(session, row(1, "old"))
    with power.Recorder(first) as recorder:
        store.save_checkpoint(session, row(2, "new " * 300))
        recorder.mark("kept")
    found = []
    for at in range(len(recorder.calls) + 1):
        for number, holds in enumerate(recorder.cuts(at)):
            again = JsonlStore(power.lay_out(holds, tmp_path / f"{at}.{number}"))
            assert len(again.load("s1").events) == 3
            rows = again.read_checkpoint("s1").rows
            assert rows in (row(1, "old"), row(2, "new " * 300))
            assert recorder.last_word(at) != "kept" or rows == row(2, "new " * 300)
            found.append(rows["unit"]["seq"])
    assert set(found) == {1, 2}
