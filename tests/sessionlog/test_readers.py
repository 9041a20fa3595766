"""Eight readers, processes and threads, while one writes: what they read is a prefix, and a revision stands for one log."""

import io
import os
import pickle
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from labsupport.sessionlog import SessionHeader
from tests.sessionlog import builders as make
from tests.sessionlog.stores import KINDS, Kind

pytestmark = pytest.mark.skipif(not make.POSIX, reason="forks processes")
TURNS = 15
PROCESSES = THREADS = 4
Seen = list[tuple[str, int]]
"""A revision, and how many events there were under it."""


def turn(number: int) -> list[make.Record]:
    """A few batches of different sizes; some are longer than what a reader takes at once."""
    said = "预算 🙂 " * (number * 37 % 900)
    return [make.turn_start(number), make.user(said, f"u{number}"), *[make.chunk("piece", 1, number)] * (number % 5)]


BATCHES = [part for number in range(1, TURNS + 1) for part in (turn(number), [make.turn_end(number)])]
SCRIPT = make.log(*[one for batch in BATCHES for one in batch])
TEXTS = [repr(event.to_json()) for event in SCRIPT]


def read_on(store: Any, ended: Callable[[], bool]) -> Seen:
    """Read again and again until the writer has *ended*, and once more."""
    seen: Seen = []
    last = False
    while not last:
        last = ended()
        before = store.revision("s1")
        events = store.read_from("s1", 0)
        found = store.inspect("s1")
        rest = store.read_from("s1", len(events) // 2)
        assert [repr(event.to_json()) for event in events] == TEXTS[: len(events)], "what is read is no prefix"
        committed = found.events[: len(found.events) - len(found.repair.added if found.repair else ())]
        assert [repr(event.to_json()) for event in committed] == TEXTS[: len(committed)]
        assert len(events) <= len(committed) <= len(events) // 2 + len(rest), "a later reading saw less"
        assert [header.id for header in store.list()] == ["s1"]
        if store.revision("s1") == before:
            seen.append((before, len(events)))
    return seen


def reading_child(kind: Kind, folder: Path, ended: Callable[[], bool]) -> tuple[int, int]:
    """A forked process that reads on; its id, and where it tells what it saw."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(ours)
            try:
                told: Any = read_on(kind.open(folder), ended)
            except BaseException as error:  # noqa: BLE001 - the test raises it
                told = f"{type(error).__name__}: {error}"
            with os.fdopen(theirs, "wb") as out:
                out.write(pickle.dumps(told))
        finally:
            os._exit(0)
    os.close(theirs)
    return child, ours


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_read_beside_a_writer_is_a_prefix(kind: Kind, tmp_path: Path) -> None:
    folder, end, done = tmp_path / "logs", tmp_path / "end", threading.Event()
    writer = kind.open(folder)
    writer.create(SessionHeader("s1", created_at=1000))
    writer.append("s1", SCRIPT[:1])
    children = [reading_child(kind, folder, end.exists) for _ in range(PROCESSES)]
    told: list[Any] = []
    with ThreadPoolExecutor(THREADS) as pool:
        readers = [writer if number % 2 else kind.open(folder) for number in range(THREADS)]
        threads = [pool.submit(read_on, reader, done.is_set) for reader in readers]
        try:
            at = 1
            for batch in BATCHES:
                stop = at + len(batch) - (at == 1)
                writer.append("s1", SCRIPT[at:stop])
                at = stop
        finally:
            done.set()
            end.touch()
            for child, ours in children:
                with os.fdopen(ours, "rb") as back:
                    told.append(pickle.loads(back.read()))
                os.waitpid(child, 0)
        told += [thread.result() for thread in threads]
    assert [words for words in told if isinstance(words, str)] == [], "a reader failed"
    sizes: dict[str, set[int]] = {}
    for revision, size in {pair for seen in told for pair in seen}:
        sizes.setdefault(revision, set()).add(size)
    assert all(len(found) == 1 for found in sizes.values()), "one revision, two logs"
    assert len(SCRIPT) in {size for found in sizes.values() for size in found}
    assert len(sizes) > 5, "else the readers saw nothing of the writing"
    quiet = {kind.open(folder).revision("s1") for _ in range(5)} | {writer.revision("s1") for _ in range(5)}
    assert len(quiet) == 1
    assert writer.load("s1").repair is None


@pytest.mark.parametrize("kind", KINDS[:2], ids=lambda kind: kind.name)
def test_a_file_that_grows_while_it_is_read_is_not_damaged(kind: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader meets half a write, and the rest of it, which ends a turn, comes before the reader is done."""
    store = kind.open(tmp_path / "logs")
    make.stored(store, *turn(1))
    path, begun = store.path("s1"), store.path("s1").read_bytes()
    store.append("s1", make.log(make.user("under way"), make.turn_end(1), first=len(turn(1))))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(begun) + 20])

    class Growing(io.BufferedReader):
        def readlines(self, hint: int = -1, /) -> list[bytes]:
            found = super().readlines(hint)
            path.write_bytes(whole)
            return found

        def read(self, size: int | None = -1, /) -> bytes:
            found = super().read(size)
            path.write_bytes(whole)
            return found

    monkeypatch.setattr("os.fdopen", lambda fd, mode: Growing(io.FileIO(fd)))
    assert make.plain(store.read_from("s1", 0)) == make.plain(make.log(*turn(1)))
    assert path.read_bytes() == whole
