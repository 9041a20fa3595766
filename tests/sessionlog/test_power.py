"""A power cut behind every call of the system: what append returned for is there, and what is there is a prefix.

Each law is also seen to fail, on a store in which a sync is left out or an order is changed.
"""

import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Literal

import pytest

from labsupport import system
from labsupport.errors import LogCorruptError
from labsupport.sessionlog import Session
from labsupport.sessionlog.storage import JsonlStore, files, jsonl
from labsupport.sessionlog.storage.frames import ENCODINGS
from labsupport.sessionlog.storage.scan import Scan
from tests.sessionlog import builders as make
from tests.sessionlog import kills, power
from tests.sessionlog.kills import Plan, Witness
from tests.sessionlog.power import Call, Contents, Recorder

pytestmark = pytest.mark.skipif(not make.POSIX, reason="links and syncs of folders as on POSIX")
Compression = Literal["zstd"] | None
Deaf = Callable[[Call], bool]
packed = pytest.mark.parametrize("compression", [None, "zstd"], ids=["plain", "zstd"])
TALK = [make.turn_start(), make.user(), make.turn_end()]
OPEN = [make.turn_start(), make.step_start(), make.user("预算 🙂" * 300), make.asks("a", "b"), make.call("a")]


class Folders:
    """Folders that were not there before, one a call."""

    def __init__(self, root: Path) -> None:
        self._root, self._made = root, 0

    def __call__(self, holds: Contents) -> Path:
        self._made += 1
        return power.lay_out(holds, self._root / str(self._made))


@pytest.fixture
def after(tmp_path: Path) -> Folders:
    return Folders(tmp_path / "cuts")


def hears(call: Call) -> bool:
    return False


# Writing


def seed_of(compression: Compression, nth: int = 0) -> int:
    """The *nth* seed whose run is stored in this way."""
    return [seed for seed in range(100) if kills.setting(seed)[1] == compression][nth]


def recorded(folder: Path, seed: int, deaf: Deaf = hears) -> Recorder:
    """The calls of a session that is recorded into *folder*, with what was durable when."""
    folder.mkdir()
    with Recorder(folder, deaf) as recorder:
        kills.record(folder, seed, lambda words: recorder.mark(Witness.heard(f"{words}\n").durable))
    return recorder


def check_cut(folder: Path, seed: int, durable: int) -> int:
    """What must hold of the log in *folder*, of which *durable* events were reported as durable; how many are left."""
    store = kills.open_again(folder, seed)
    assert store.list().problems == [], "a log that was being made is there in part"
    if not store.path("s1").exists():
        assert durable == 0, f"{durable} events were durable and the log is gone"
        make.stored(store, make.turn_start())
        return 0
    seen = store.inspect("s1").events
    loaded = store.load("s1")
    assert make.plain(loaded.events) == make.plain(seen)
    kills.check(Plan(seed, 0, 0, None), Witness(durable), loaded.events)
    resumed = Session.create("s1", seed=loaded.events, header=loaded.header)
    store.attach(resumed).close()
    again = store.load("s1")
    assert again.repair is None
    assert make.plain(again.events) == make.plain(resumed.events)
    return len(seen)


def check_cuts(recorder: Recorder, seed: int, after: Folders) -> list[int]:
    """Cut behind every call; how much was left each time."""
    return [
        check_cut(after(holds), seed, recorder.last_word(at, 0))
        for at in range(len(recorder.calls) + 1)
        for holds in recorder.cuts(at, seed)
    ]


@packed
@pytest.mark.parametrize("nth", [0, 1, pytest.param(2, marks=pytest.mark.slow)])
def test_what_append_returned_for_survives_a_cut_behind_any_call(
    tmp_path: Path, after: Folders, compression: Compression, nth: int
) -> None:
    seed = seed_of(compression, nth)
    left = check_cuts(recorded(tmp_path / "logs", seed), seed, after)
    assert min(left) == 0
    assert max(left) == len(kills.script(seed))


@packed
def test_the_folder_that_the_store_made_survives_too(tmp_path: Path, after: Folders, compression: Compression) -> None:
    made = tmp_path / "made"
    made.mkdir()
    with Recorder(made) as recorder:
        make.stored(JsonlStore(made / "deep" / "logs", compression), *TALK)
    for holds in recorder.cuts(len(recorder.calls)):
        assert len(JsonlStore(after(holds) / "deep" / "logs", compression).load("s1").events) == 3


def without_locks(holds: Contents) -> Contents:
    return {name: held for name, held in holds.items() if not name.endswith(".lock")}


@packed
def test_a_write_whose_sectors_are_scattered_is_never_read_as_something_else(
    tmp_path: Path, after: Folders, compression: Compression
) -> None:
    """A disk may keep the end of a write and lose its beginning. Where the end of a plain log then shows a turn/end it cannot
    be told from damage, and is refused, which loses nothing; the checksum of a frame tells the two apart."""
    folder, refused, left = tmp_path / "logs", 0, set()
    folder.mkdir()
    records = [make.turn_start(), make.user("x" * 3000), make.turn_end()]
    with Recorder(folder) as recorder:
        store = make.stored(JsonlStore(folder, compression), *TALK)
        recorder.mark(3)
        store.append("s1", make.log(*records, first=3))
        recorder.mark(6)
    for at in range(len(recorder.calls) + 1):
        for seed in range(5):
            for holds in recorder.cuts(at, seed, scattered=True):
                if recorder.last_word(at, 0) == 0:
                    continue
                cut = after(holds)
                store = JsonlStore(cut, compression)
                try:
                    events = store.read_from("s1", 0)
                    store.load("s1")
                except LogCorruptError:
                    assert without_locks(power.contents(cut)) == without_locks(holds)
                    refused += 1
                else:
                    assert len(events) >= recorder.last_word(at)
                    assert make.plain(events) == make.plain(make.log(*TALK, *records))[: len(events)]
                    left.add(len(events))
    assert left >= {3, 6}
    assert (refused > 0) == (compression is None)


# Repairing


def frames(*batches: bytes) -> bytes:
    return b"".join(map(ENCODINGS["zstd"].encode, batches))


def lines(*records: make.Record, first: int) -> bytes:
    return b"".join(map(make.line, make.numbered(*records, first=first)))


HALF_A_FRAME = frames(lines(make.user("lost " * 50), first=5))[:-9]
HALF_A_LINE = lines(make.user("lost"), first=5)[:-20]
BEHIND_A_GAP = lines(make.user("lost"), make.user("too"), first=7)
TORN: dict[str, tuple[Compression, bytes, bytes]] = {
    "a turn that is open": (None, make.log_bytes(*OPEN), b""),
    "half a line": (None, make.log_bytes(*OPEN) + HALF_A_LINE, HALF_A_LINE),
    "records behind a gap": (None, make.log_bytes(*OPEN, make.turn_end()) + BEHIND_A_GAP, BEHIND_A_GAP),
    "an open turn in frames": ("zstd", frames(make.log_bytes(*OPEN)), b""),
    "half a frame": ("zstd", frames(make.log_bytes(*OPEN)) + HALF_A_FRAME, HALF_A_FRAME),
    "a batch that is written again": (
        "zstd",
        frames(make.log_bytes(*OPEN), lines(make.user("good"), first=5) + b"bad\n"),
        frames(lines(make.user("good"), first=5) + b"bad\n"),
    ),
    "the only batch is written again": (
        "zstd",
        frames(make.log_bytes(*OPEN) + b"bad\n"),
        frames(make.log_bytes(*OPEN) + b"bad\n"),
    ),
}
torn_logs = pytest.mark.parametrize(("compression", "data", "torn"), TORN.values(), ids=TORN)


def torn_folder(compression: Compression, data: bytes) -> Contents:
    return {JsonlStore("x", compression).path("s1").name: data}


def repaired(folder: Path, compression: Compression, deaf: Deaf = hears) -> Recorder:
    with Recorder(folder, deaf) as recorder:
        JsonlStore(folder, compression).load("s1")
    return recorder


def check_repair(holds: Contents, after: Folders, compression: Compression, torn: bytes, expected: list[make.Record]) -> None:
    """What must hold when the power failed while a log was repaired."""
    folder = after(holds)
    store = JsonlStore(folder, compression)
    for _ in range(2):
        assert any(data is not None and data.endswith(torn) for data in without_locks(power.contents(folder)).values()), (
            "what was cut off is nowhere"
        )
        assert make.plain(store.load("s1").events) == expected, "the repair of a repair gives something else"
    assert store.load("s1").repair is None


def check_repairs(first: Contents, after: Folders, compression: Compression, torn: bytes, deaf: Deaf = hears) -> None:
    expected = make.plain(JsonlStore(after(first), compression).inspect("s1").events)
    recorder = repaired(after(first), compression, deaf)
    for at in range(len(recorder.calls) + 1):
        for holds in recorder.cuts(at):
            check_repair(holds, after, compression, torn, expected)


@torn_logs
def test_a_repair_that_is_cut_short_loses_nothing(after: Folders, compression: Compression, data: bytes, torn: bytes) -> None:
    check_repairs(torn_folder(compression, data), after, compression, torn)


@pytest.mark.slow
@torn_logs
def test_nor_does_a_repair_of_that_repair(after: Folders, compression: Compression, data: bytes, torn: bytes) -> None:
    first, random = torn_folder(compression, data), Random(7)
    recorder = repaired(after(first), compression)
    halfway = [holds for at in range(len(recorder.calls) + 1) for holds in recorder.cuts(at)]
    for holds in random.sample(halfway, 4):
        check_repairs(holds, after, compression, torn)


# The laws notice what they are for


def deaf_to_files(call: Call) -> bool:
    return call.folder is None


def deaf_to_folders(call: Call) -> bool:
    return call.folder is not None


def made_in_place(path: Path, data: bytes) -> None:
    """As make_whole, without a draft."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    os.write(fd, data)
    os.fsync(fd)
    os.close(fd)
    system.fsync_folder(path.parent)


def synced_behind_the_link(path: Path, data: bytes) -> None:
    """As make_whole, in another order."""
    draft = path.with_name("x.draft")
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    os.write(fd, data)
    os.link(draft, path)
    system.fsync_folder(path.parent)
    os.fsync(fd)
    os.close(fd)
    draft.unlink()


@packed
@pytest.mark.parametrize(("deaf", "found"), [(deaf_to_files, "in part|are left"), (deaf_to_folders, "the log is gone")])
def test_a_sync_that_is_left_out_of_an_append_is_noticed(
    tmp_path: Path, after: Folders, compression: Compression, deaf: Deaf, found: str
) -> None:
    seed = seed_of(compression)
    with pytest.raises(AssertionError, match=found):
        check_cuts(recorded(tmp_path / "logs", seed, deaf), seed, after)


@packed
@pytest.mark.parametrize("wrong", [made_in_place, synced_behind_the_link])
def test_a_log_that_is_made_in_another_order_is_noticed(
    tmp_path: Path,
    after: Folders,
    compression: Compression,
    wrong: Callable[[Path, bytes], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seed = seed_of(compression)
    monkeypatch.setattr(jsonl, "make_whole", wrong)
    recorder = recorded(tmp_path / "logs", seed)
    monkeypatch.undo()
    with pytest.raises(AssertionError, match="in part"):
        check_cuts(recorder, seed, after)


def cut_before_it_is_kept(store: JsonlStore, path: Path, scan: Scan) -> Path:
    raw = path.read_bytes()
    files.cut(path, scan.committed_bytes)
    system.make_whole(path.with_name(f"{path.name}.torn-{scan.committed_bytes}"), raw[scan.committed_bytes :])
    return path


def test_a_repair_that_cuts_before_it_keeps_is_noticed(after: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(JsonlStore, "_cut_tail", cut_before_it_is_kept)
    with pytest.raises(AssertionError, match="is nowhere"):
        check_repairs(torn_folder(None, TORN["half a line"][1]), after, None, HALF_A_LINE)


@pytest.mark.parametrize("deaf", [deaf_to_folders, lambda call: call.file == 3], ids=["its name", "its content"])
def test_a_kept_tail_that_is_not_synced_is_noticed(after: Folders, deaf: Deaf) -> None:
    """The log is file 1 of that folder, its lock file 2, and what is cut off goes to file 3."""
    with pytest.raises(AssertionError, match="is nowhere"):
        check_repairs(torn_folder(None, TORN["half a line"][1]), after, None, HALF_A_LINE, deaf)


# The layer itself


def test_a_recorder_notices_what_it_cannot_follow(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="not watched"), Recorder(tmp_path):
        (tmp_path / "x").write_bytes(b"by another way")


def test_what_a_disk_may_keep(tmp_path: Path) -> None:
    """Two writes of which one is synced, and a name that is not: with the file goes what was synced in it."""
    with Recorder(tmp_path) as recorder:
        fd = os.open(tmp_path / "x", os.O_WRONLY | os.O_CREAT)
        os.write(fd, b"ab")
        os.fsync(fd)
        os.write(fd, b"cd")
        os.close(fd)
    assert [call.what for call in recorder.calls] == ["names", "write", "sync", "write"]
    found = [holds for seed in range(20) for holds in recorder.cuts(4, seed)]
    assert {holds.get("x") for holds in found} == {None, b"ab", b"abc", b"abcd"}
    assert {holds.get("x") for holds in recorder.cuts(2)} >= {None, b"", b"ab"}


def test_a_synced_folder_keeps_its_names(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(b"old")
    with Recorder(tmp_path) as recorder:
        os.mkdir(tmp_path / "in")
        os.close(os.open(tmp_path / "in" / "x", os.O_WRONLY | os.O_CREAT))
        system.fsync_folder(tmp_path / "in")
        os.rename(tmp_path / "old", tmp_path / "new")
        (tmp_path / "in" / "x").unlink()
        system.fsync_folder(tmp_path)
    before = [holds for seed in range(9) for holds in recorder.cuts(5, seed)]
    assert {"in/x" in holds for holds in before if "in" in holds} == {True, False}
    assert {"in" in holds for holds in before} == {True, False}, "its own name was not synced yet"
    assert all(("old" in holds) != ("new" in holds) for holds in before)
    assert all(holds["new"] == b"old" and holds["in"] is None for holds in recorder.cuts(6))
