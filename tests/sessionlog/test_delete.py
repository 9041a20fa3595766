"""Deleting a session: nothing of it is left in the store's files, nothing else is touched, what it cannot reach is named."""

import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from labsupport.errors import StoreBusyError, StoredLogError
from labsupport.sessionlog import Session, SessionHeader
from labsupport.sessionlog.storage import JsonlStore
from tests.sessionlog import builders as make
from tests.sessionlog import power
from tests.sessionlog.stores import Kind

Held = Callable[[], Any]
posix = pytest.mark.skipif(not make.POSIX, reason="forks, links and syncs of folders as on POSIX")
TALK = [make.turn_start(), make.user(), make.turn_end()]
CANARY = "CANARY-" + Random(1).randbytes(2000).hex()
"""Long enough for pages of its own in a database."""


def secret(*more: make.Record) -> list[make.Record]:
    return [make.turn_start(), make.user(CANARY), make.says(CANARY), *more]


def bytes_of(folder: Path) -> bytes:
    """The bytes of every file in *folder*, side files and locks too."""
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())


def shows(folder: Path) -> bool:
    """Whether anything of the canary can be found in the files of *folder*."""
    found = bytes_of(folder)
    return any(CANARY[at : at + 40].encode() in found for at in range(0, len(CANARY) - 40, 40))


def unreached(deletion: Any) -> set[str]:
    return {left.kind for left in deletion.unreached}


def test_a_deleted_session_is_gone_and_its_id_is_free(store: Any, kind: Kind, folder: Path) -> None:
    make.stored(store, *TALK, id="other")
    before = kind.held(folder)
    make.stored(store, *TALK)
    deletion = store.delete("s1")
    assert deletion.removed
    assert unreached(deletion) >= {"backup", "memory", "outside"}, "what no deletion here can reach is said each time"
    assert kind.held(folder) == before
    for reader in (store, kind.open(folder)):
        assert [header.id for header in reader.list()] == ["other"]
        for ask in (
            reader.load,
            reader.inspect,
            reader.revision,
            reader.delete,
            lambda id, reader=reader: reader.read_from(id, 0),
            lambda id, reader=reader: reader.append(id, make.log(make.user(), first=3)),
        ):
            with pytest.raises(FileNotFoundError):
                ask("s1")
    make.stored(kind.open(folder), make.turn_start())
    assert len(store.read_from("s1", 0)) == 1, "and a new session of this id is a new one"
    with pytest.raises(FileNotFoundError):
        store.delete("nobody")


def test_a_session_that_was_only_announced(store: Any, held: Held) -> None:
    store.create(SessionHeader("s1"))
    store.delete("s1")
    store.create(SessionHeader("s1"))
    assert held() == make_empty(held)


def make_empty(held: Held) -> Any:
    """What a store holds in which nothing was ever written."""
    return type(held())()


def test_nothing_of_it_can_be_found_in_any_file(store: Any, kind: Kind, folder: Path) -> None:
    """The log in several batches, what a repair kept of it, its checkpoint: searched in the bytes of all files."""
    make.stored(store, *TALK, id="other")
    make.stored(store, *secret())
    for seq in range(3, 9):
        store.append("s1", make.log(make.says(f"{seq} {CANARY}"), first=seq))
    kind.tear(folder, "s1", CANARY)
    loaded = store.load("s1")
    session = loaded.session()
    store.attach(session).close()
    store.save_checkpoint(session, {"unit": {"ver": 1, "seq": 3, "val": {"said": CANARY}}})
    if kind.name != "zstd":
        assert shows(folder)
    store.delete("s1")
    assert not shows(folder)
    assert [name for name in os.listdir(folder) if name.startswith("s1")] == []
    assert len(store.load("other").events) == 3


def test_a_deletion_keeps_its_hands_off_similar_names(store: Any, kind: Kind, folder: Path) -> None:
    similar = [
        "s1.jsonl",
        "s1.jsonl.torn-5",
        "s1.jsonl.lock",
        "s",
        "s11",
        "S1",
        "s1.",
        "s1.jsonl.zstd",
        "s1.jsonl.views",
        "s1%",
        "s_",
    ]
    for id in similar:
        make.stored(store, *TALK, id=id)
    before = kind.held(folder)
    make.stored(store, *TALK)
    store.delete("s1")
    assert kind.held(folder) == before
    assert sorted(header.id for header in store.list()) == sorted(similar)


def test_a_live_session_is_not_deleted(store: Any, kind: Kind, folder: Path, held: Held) -> None:
    session = Session.create("s1")
    writer = store.attach(session)
    make.append(session, make.turn_start())
    writer.flush()
    before = held()
    for reader in (store, kind.open(folder)):
        with pytest.raises(StoreBusyError) as caught:
            reader.delete("s1")
        assert caught.value.pid == os.getpid()
    assert held() == before
    make.append(session, make.turn_end())
    writer.close()
    assert len(store.read_from("s1", 0)) == 2
    store.delete("s1")


@posix
def test_a_session_that_is_live_in_another_process_is_not_deleted(store: Any, kind: Kind, folder: Path) -> None:
    session = Session.create("s1")
    writer = store.attach(session)
    make.append(session, make.turn_start())
    writer.flush()
    answer = make.in_child(lambda: kind.open(folder).delete("s1"))
    assert isinstance(answer, StoreBusyError)
    assert isinstance(make.in_child(lambda: store.delete("s1")), StoreBusyError), "nor by a child of the writer"
    writer.close()
    assert len(store.read_from("s1", 0)) == 1


def test_a_writer_does_not_bring_a_deleted_session_back(store: Any, kind: Kind, folder: Path) -> None:
    """What another store remembers of the log's end is of no use to it."""
    make.stored(store, *TALK)
    other = kind.open(folder)
    other.delete("s1")
    with pytest.raises(FileNotFoundError):
        store.append("s1", make.log(make.user(), first=3))
    make.stored(other, make.turn_start())
    with pytest.raises(StoredLogError):
        store.append("s1", make.log(make.user(), first=3))
    assert len(store.read_from("s1", 0)) == 1


def test_a_torn_log_and_a_damaged_one_can_be_deleted(store: Any, kind: Kind, folder: Path) -> None:
    make.stored(store, make.turn_start())
    kind.tear(folder, "s1", "torn")
    store.delete("s1")
    assert list(store.list()) == []


def test_forks_are_named(store: Any) -> None:
    def stored(id: str, parent: str | None = None, seed_length: int | None = None) -> None:
        store.create(SessionHeader(id, parent_session=parent, seed_length=seed_length))
        store.append(id, make.log(*TALK))

    stored("root")
    stored("child", "root", 2)
    stored("grandchild", "child", 2)
    stored("delegate", "root")  # began with nothing of it
    stored("stranger", "elsewhere", 2)
    deletion = store.delete("root")
    assert {left.which for left in deletion.unreached if left.kind == "fork"} == {"child", "grandchild"}
    assert len(store.load("child").events) == 3
    assert {left.which for left in store.delete("grandchild").unreached if left.kind == "fork"} == set()


# Files


@posix
@pytest.mark.parametrize("compression", [None, "zstd"])
def test_a_log_that_is_a_link_leads_no_deletion_out(tmp_path: Path, compression: Any) -> None:
    """The link may go; what it leads to stays, whatever it is."""
    other = make.stored(JsonlStore(tmp_path / "other"), *TALK)
    store = make.stored(JsonlStore(tmp_path / "logs", compression), *TALK, id="good")
    before = make.files_of(tmp_path / "other")
    store.path("s1").symlink_to(other.path("s1"))
    try:
        store.delete("s1")
    except StoredLogError:
        assert store.path("s1").is_symlink()
    else:
        assert not store.path("s1").is_symlink()
    assert make.files_of(tmp_path / "other") == before
    assert [header.id for header in store.list()] == ["good"]


def test_drafts_of_writers_that_were_killed_go_too(tmp_path: Path) -> None:
    store = make.stored(JsonlStore(tmp_path), *TALK)
    for name in ("s1.jsonl.77.draft", "s1.jsonl.torn-60.77.draft", "s1.jsonl.torn-60.2", "s1.jsonl.views.77.draft"):
        (tmp_path / name).write_text(CANARY)
    store.delete("s1")
    assert os.listdir(tmp_path) == []


@posix
@pytest.mark.parametrize("compression", [None, "zstd"], ids=["plain", "zstd"])
def test_a_deletion_that_is_cut_short_can_be_ended(tmp_path: Path, compression: Any) -> None:
    """Either it is as if nobody had asked, or the session is still there to be deleted, or nothing of it is left."""
    first = tmp_path / "first"
    store = JsonlStore(first, compression)
    make.stored(store, *TALK, id="other")
    make.stored(store, *secret(make.turn_end()))
    with store.path("s1").open("ab") as file:
        file.write(f"torn {CANARY}".encode())
    session = store.load("s1").session()
    store.attach(session).close()
    store.save_checkpoint(session, {"unit": {"ver": 1, "seq": 3, "val": CANARY}})
    names = set(os.listdir(first))
    with power.Recorder(first) as recorder:
        store.delete("s1")
        recorder.mark("deleted")
    made = 0
    for at in range(len(recorder.calls) + 1):
        for holds in recorder.cuts(at):
            made += 1
            folder = power.lay_out(holds, tmp_path / f"cut{made}")
            again = JsonlStore(folder, compression)
            there = [header.id for header in again.list()]
            assert again.list().problems == []
            assert len(again.load("other").events) == 3
            assert "s1" not in there or recorder.last_word(at) != "deleted", "what was deleted is back"
            if "s1" in there:
                assert len(again.read_from("s1", 0)) == len(session.events)
                again.delete("s1")
            left = {name for name in os.listdir(folder) if name.startswith("s1") and not name.endswith(".lock")}
            assert left == set(), "something of it is left, and no deletion reaches it any more"
    assert made > len(names)
