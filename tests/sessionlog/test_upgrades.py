"""Logs of older versions: a chain of pure steps, a new file beside the old one, and what is refused instead (§4.8.3)."""

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labsupport.errors import LogCorruptError, LogFormatError, SessionLogError, StoredLogError
from labsupport.sessionlog.storage import JsonlStore, UpgradeChain, UpgradeStep, scan_log
from tests.sessionlog import builders as make
from tests.sessionlog import power
from tests.sessionlog.strategies import logs

TALK = [make.turn_start(), make.user(), make.turn_end()]

# Two made-up older versions. Version -2 counted "n" from 1; version -1 counts "seq" from 0, and had no time zone in "at".


def second_oldest(record: make.Record) -> make.Record:
    """From version -2 to -1."""
    return {**{key: value for key, value in record.items() if key != "n"}, "seq": record["n"] - 1}


def oldest_read(record: make.Record) -> make.Record:
    """From version -1 to 0."""
    return {**{key: value for key, value in record.items() if key != "at"}, "time": round(record["at"] * 1000)}


def with_depth(header: make.Record) -> make.Record:
    return {**header, "delegationDepth": 0}


def same(header: make.Record) -> make.Record:
    return header


TO_MINUS_1 = UpgradeStep(-2, same, second_oldest)
TO_0 = UpgradeStep(-1, with_depth, oldest_read)
CHAIN = UpgradeChain([TO_MINUS_1, TO_0])


def old_log(version: int, *records: make.Record) -> bytes:
    """The log of *records* as a library of that *version* wrote it."""
    header = {"type": "session", "version": version, "id": "s1", "createdAt": 1000}
    lines = [header]
    for one in make.numbered(*records):
        old = {key: value for key, value in one.items() if key != "time"} | {"at": one["time"] / 1000}
        if version == -2:
            old = {key: value for key, value in old.items() if key != "seq"} | {"n": one["seq"] + 1}
        lines.append(old)
    return b"".join(map(make.line, lines))


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "old.jsonl"
    path.write_bytes(old_log(-2, *TALK))
    return path


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(logs(), st.sampled_from([-2, -1]))
def test_an_upgraded_log_is_the_log_that_this_version_would_have_written(
    tmp_path_factory: pytest.TempPathFactory, records: list[make.Record], version: int
) -> None:
    folder = tmp_path_factory.mktemp("law")
    source, target = folder / "old.jsonl", folder / "s1.jsonl"
    source.write_bytes(old_log(version, *records))
    before = source.read_bytes()
    scan = CHAIN.upgrade(source, target)
    assert make.plain(scan.events) == make.plain(make.log(*records))
    assert scan_log(target.read_bytes()).events == scan.events
    assert source.read_bytes() == before
    store = JsonlStore(folder)
    assert make.plain(store.load("s1").events[: len(records)]) == make.plain(make.log(*records))
    with pytest.raises(StoredLogError, match="file of this name"):
        CHAIN.upgrade(source, target)


@pytest.mark.parametrize("version", [-2, -1])
def test_a_store_does_not_upgrade_by_itself(tmp_path: Path, version: int) -> None:
    data = old_log(version, *TALK)
    store = make.jsonl_file(tmp_path, data)
    for ask in (store.load, store.inspect, lambda id: store.append(id, make.log(make.user(), first=3))):
        with pytest.raises(LogFormatError, match="older") as caught:
            ask("s1")
        assert caught.value.version == version
    assert store.path("s1").read_bytes() == data


MISSING: dict[str, tuple[list[UpgradeStep], int]] = {
    "no step at all": ([], -2),
    "the last step": ([TO_MINUS_1], -2),
    "the first step": ([TO_0], -2),
    "a version nobody ever heard of": ([TO_MINUS_1, TO_0], -3),
}


@pytest.mark.parametrize(("steps", "version"), MISSING.values(), ids=MISSING)
def test_a_missing_step_is_named_and_nothing_is_written(tmp_path: Path, steps: list[UpgradeStep], version: int) -> None:
    source = tmp_path / "old.jsonl"
    source.write_bytes(old_log(-2, *TALK).replace(b'"version":-2', b'"version":%d' % version))
    before = make.files_of(tmp_path)
    with pytest.raises(LogFormatError, match="no step leads from") as caught:
        UpgradeChain(steps).upgrade(source, tmp_path / "new.jsonl")
    assert caught.value.version == version
    assert str(caught.value).startswith(str(source))
    assert make.files_of(tmp_path) == before


def test_newer_and_older_are_two_refusals(tmp_path: Path) -> None:
    source = tmp_path / "newer.jsonl"
    source.write_bytes(make.log_bytes(*TALK).replace(b'"version":0', b'"version":3'))
    with pytest.raises(LogFormatError, match="newer") as caught:
        CHAIN.upgrade(source, tmp_path / "new.jsonl")
    assert "no step" not in str(caught.value)
    assert os.listdir(tmp_path) == ["newer.jsonl"]


def test_a_log_of_this_version_needs_no_step(tmp_path: Path) -> None:
    source = tmp_path / "now.jsonl"
    source.write_bytes(make.log_bytes(*TALK))
    assert make.plain(UpgradeChain().upgrade(source, tmp_path / "copy.jsonl").events) == make.plain(make.log(*TALK))


@pytest.mark.parametrize("version", [0, 1, 7])
def test_a_step_leads_from_an_older_version(version: int) -> None:
    with pytest.raises(ValueError, match="no room"):
        UpgradeChain([UpgradeStep(version, same, same)])


def test_a_version_has_one_step() -> None:
    with pytest.raises(ValueError, match="no room"):
        UpgradeChain([TO_0, TO_0])


SPOILED: dict[str, Callable[[bytes], bytes]] = {
    "half a last line": lambda data: data[:-20],
    "a line that is no JSON": lambda data: data.replace(b'"n":2', b'"n":'),
    "a blank line": lambda data: data + b"\n",
    "a list": lambda data: data + b"[]\n",
    "no header": lambda data: data.split(b"\n", 1)[1],
    "nothing": lambda data: b"",
    "a version that is a word": lambda data: data.replace(b'"version":-2', b'"version":"-2"'),
    "a version between two": lambda data: data.replace(b'"version":-2', b'"version":-1.5'),
    "a version that is true": lambda data: data.replace(b'"version":-2', b'"version":true'),
    "bytes that are no text": lambda data: data.replace(b'"n":2', b'"n":2,"\xff":1'),
}


@pytest.mark.parametrize("spoil", SPOILED.values(), ids=SPOILED)
def test_a_log_that_is_not_whole_is_not_upgraded(old: Path, spoil: Callable[[bytes], bytes]) -> None:
    old.write_bytes(spoil(old.read_bytes()))
    before = make.files_of(old.parent)
    with pytest.raises(SessionLogError) as caught:
        CHAIN.upgrade(old, old.parent / "new.jsonl")
    assert type(caught.value) in (LogCorruptError, LogFormatError)
    assert str(caught.value).startswith(str(old))
    assert make.files_of(old.parent) == before


WRONG: dict[str, tuple[Callable[[make.Record], Any], Callable[[make.Record], Any]]] = {
    "keeps the old field": (with_depth, lambda record: {**oldest_read(record), "at": 1}),
    "forgets a field": (with_depth, lambda record: {key: value for key, value in oldest_read(record).items() if key != "data"}),
    "leaves a gap": (with_depth, lambda record: {**oldest_read(record), "seq": record["seq"] * 2}),
    "makes a number that no JSON has": (with_depth, lambda record: {**oldest_read(record), "data": float("nan")}),
    "makes no record": (with_depth, lambda record: None),
    "spoils the header": (lambda header: {"type": "session"}, oldest_read),
    "loses the header": (lambda header: None, oldest_read),
}


@pytest.mark.parametrize(("header", "record"), WRONG.values(), ids=WRONG)
def test_a_step_that_makes_no_log_of_it_is_refused(
    tmp_path: Path, header: Callable[[make.Record], Any], record: Callable[[make.Record], Any]
) -> None:
    source = tmp_path / "old.jsonl"
    source.write_bytes(old_log(-1, make.turn_start(), make.user(), make.user("an open turn, whose end could be torn off")))
    before = make.files_of(tmp_path)
    with pytest.raises((SessionLogError, TypeError)):
        UpgradeChain([UpgradeStep(-1, header, record)]).upgrade(source, tmp_path / "new.jsonl")
    assert make.files_of(tmp_path) == before


def test_what_a_step_raises_comes_through_and_nothing_is_written(old: Path) -> None:
    def stumbles(record: make.Record) -> make.Record:
        if record["n"] == 3:
            raise KeyError("a field that this record does not have")
        return second_oldest(record)

    before = make.files_of(old.parent)
    with pytest.raises(KeyError):
        UpgradeChain([UpgradeStep(-2, same, stumbles), TO_0]).upgrade(old, old.parent / "new.jsonl")
    assert make.files_of(old.parent) == before


def test_what_means_nothing_any_more_is_marked_and_keeps_its_place(tmp_path: Path) -> None:
    """One record becomes one record: what later events cite stays where it is."""
    records = [make.turn_start(), make.record("old/mark", {"x": 1}), make.user(), make.turn_end()]
    source = tmp_path / "old.jsonl"
    source.write_bytes(old_log(-1, *records))
    marks = UpgradeStep(
        -1, TO_0.header, lambda record: oldest_read(record) | ({"ignorable": True} if record["type"] == "old/mark" else {})
    )
    UpgradeChain([marks]).upgrade(source, tmp_path / "s1.jsonl")
    assert [event.type for event in JsonlStore(tmp_path).load("s1").events] == [one["type"] for one in records]


@pytest.mark.skipif(not make.POSIX, reason="links as on POSIX")
@pytest.mark.parametrize("name", ["source", "target", "a target that leads nowhere", "a folder"])
def test_links_and_folders_are_not_followed(old: Path, name: str) -> None:
    folder = old.parent
    (folder / "link.jsonl").symlink_to(folder / "gone" if "nowhere" in name else old)
    (folder / "folder").mkdir()
    before = make.files_of(folder)
    source, target = (folder / "link.jsonl", folder / "new.jsonl") if name == "source" else (old, folder / "link.jsonl")
    with pytest.raises(StoredLogError):
        CHAIN.upgrade(folder / "folder" if name == "a folder" else source, target)
    assert make.files_of(folder) == before


@pytest.mark.skipif(not make.POSIX, reason="syncs of folders as on POSIX")
def test_a_cut_during_an_upgrade_leaves_the_old_log_and_a_whole_new_one_or_none(tmp_path: Path) -> None:
    folder = tmp_path / "first"
    folder.mkdir()
    (folder / "old.jsonl").write_bytes(old_log(-2, *TALK))
    with power.Recorder(folder) as recorder:
        CHAIN.upgrade(folder / "old.jsonl", folder / "s1.jsonl")
        recorder.mark("upgraded")
    there = set()
    for at in range(len(recorder.calls) + 1):
        for holds in recorder.cuts(at):
            assert holds["old.jsonl"] == old_log(-2, *TALK)
            data = holds.get("s1.jsonl")
            there.add(data is not None)
            assert data is not None or recorder.last_word(at) != "upgraded"
            assert data is None or make.plain(scan_log(data).events) == make.plain(make.log(*TALK))
    assert there == {True, False}


def test_a_full_disk_leaves_the_old_log_alone(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = make.files_of(old.parent)

    write = os.write

    def full(fd: int, data: bytes) -> int:
        write(fd, data[:10])
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="no space"):
        CHAIN.upgrade(old, old.parent / "new.jsonl")
    monkeypatch.undo()
    assert make.files_of(old.parent) == before
