"""Views that one process keeps and another goes on from: the shipped units, and what public bugs taught about caches (§4.7)."""

from pathlib import Path
from typing import Any

import pytest

from labsupport.errors import StoredLogError
from labsupport.sessionlog import ProjectionRegistry, Session, session_stats, surface_tokens, todo, tool_pairing, turn_status
from labsupport.workbench import log_samples
from tests.sessionlog import builders as make
from tests.sessionlog.stores import KINDS, Kind

SHIPPED = [turn_status, tool_pairing, session_stats, todo, surface_tokens]
each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)


def row(seq: int, val: Any = 1, ver: int = 1) -> dict[str, Any]:
    return {"n": {"ver": ver, "seq": seq, "val": val}}


def stored(kind: Kind, folder: Path, *records: make.Record) -> Any:
    """A store of this kind with session s1 in it."""
    folder.mkdir(parents=True, exist_ok=True)
    return make.stored(kind.open(folder), *records)


def session_of(store: Any) -> Session:
    return Session.seeded(store.inspect("s1").header, store.inspect("s1").events)


def reasons(checkpoint: Any) -> list[tuple[int, int, str]]:
    return [(one.ver, one.seq, one.why) for one in checkpoint.refused]


@each_kind
@pytest.mark.parametrize("name", ["two_step", "replaced", "packed", "resumed"])
def test_what_another_process_restores_is_what_was_kept(kind: Kind, name: str, tmp_path: Path) -> None:
    registry, events = ProjectionRegistry(SHIPPED), log_samples.load(name).events
    store, session, cut = kind.open(tmp_path), Session.create("s1"), len(events) // 2
    writer = store.attach(session)
    for event in events[:cut]:
        session.append(event.type, event.read(), event.surface_op, event.source_event_seqs)
    writer.flush()
    rows = registry.checkpoint(session)
    store.save_checkpoint(session, rows)
    for event in events[cut:]:
        session.append(event.type, event.read(), event.surface_op, event.source_event_seqs)
    writer.close()
    later = kind.open(tmp_path)
    found = later.read_checkpoint("s1", registry.versions)
    assert (found.rows, found.refused) == (rows, ())
    floor = registry.restore_floor(found.rows)
    restored = registry.restore(found.rows, later.read_from("s1", floor), floor)
    assert restored.values == registry.restore({}, session.events).values
    assert set(restored.reused) == {unit.key for unit in SHIPPED}


@each_kind
def test_b70_a_row_above_the_log_is_named_and_kept_and_is_good_again_when_the_log_is(kind: Kind, tmp_path: Path) -> None:
    records = make.two_steps()
    store = stored(kind, tmp_path / "whole", *records)
    store.save_checkpoint(session_of(store), row(9))
    short = stored(kind, tmp_path / "short", *records[:4])
    short._keep_rows("s1", store._rows("s1"))
    found = short.read_checkpoint("s1")
    assert (found.rows, reasons(found)) == ({}, [(1, 9, "it is for event 9, and the log ends before 4")])
    short.save_checkpoint(session_of(short), row(3, "earlier"))
    assert short.read_checkpoint("s1").rows == row(3, "earlier")
    short.append("s1", make.log(*records)[4:])
    assert short.read_checkpoint("s1").rows == row(9), "it was not deleted: the log has caught up"


@each_kind
def test_b70_a_newer_version_is_neither_used_nor_deleted(kind: Kind, tmp_path: Path) -> None:
    store = stored(kind, tmp_path, *make.two_steps())
    session = session_of(store)
    store.save_checkpoint(session, row(5, "newer", ver=99))
    found = store.read_checkpoint("s1", {"n": 1})
    assert (found.rows, reasons(found)) == ({}, [(99, 5, "it was made by state_version 99, and 1 is wanted")])
    store.save_checkpoint(session, row(7, "ours"))
    assert store.read_checkpoint("s1", {"n": 1}).rows == row(7, "ours")
    assert kind.open(tmp_path).read_checkpoint("s1", {"n": 99}).rows == row(5, "newer", ver=99)


@each_kind
def test_b71_a_log_in_the_place_of_another_proves_nothing_however_long_it_is(kind: Kind, tmp_path: Path) -> None:
    one, other = stored(kind, tmp_path / "1", make.user("alpha")), stored(kind, tmp_path / "2", make.user("gamma"))
    one.save_checkpoint(session_of(one), row(0))
    other._keep_rows("s1", one._rows("s1"))  # as after a backup was put back
    found = other.read_checkpoint("s1")
    assert (found.rows, reasons(found)) == ({}, [(1, 0, "event 0 is another one than it was made from")])
    one.delete("s1")
    make.stored(one, make.user("gamma"))
    assert one.read_checkpoint("s1").rows == {}


@each_kind
def test_a_session_that_is_not_the_stored_one_keeps_nothing(kind: Kind, tmp_path: Path) -> None:
    """Its events agree in number only; and as the log did not change, nobody would look at the proof."""
    store = stored(kind, tmp_path, make.user("alpha"))
    other = Session.seeded(store.inspect("s1").header, make.log(make.user("gamma")))
    with pytest.raises(StoredLogError):
        store.save_checkpoint(other, row(0))
    assert store.read_checkpoint("s1").rows == {}


@each_kind
def test_a_log_that_did_not_change_is_not_read(kind: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = stored(kind, tmp_path, *make.two_steps())
    store.save_checkpoint(session_of(store), row(5))
    reads: list[str] = []
    read = store._read
    monkeypatch.setattr(store, "_read", lambda id, *more: reads.append(id) or read(id, *more))
    assert (store.read_checkpoint("s1").rows, reads) == (row(5), [])
    store.append("s1", make.log(make.turn_start(2), first=len(make.two_steps())))
    reads.clear()
    assert store.read_checkpoint("s1").rows == row(5), "a log that went on still proves it"
    assert "s1" in reads
