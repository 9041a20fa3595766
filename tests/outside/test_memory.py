"""A memory across sessions: what it takes in, shows, refuses, and forgets down to the bytes."""
import os
import pickle
import signal
import sqlite3
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labsupport import database
from labsupport.database import Database
from labsupport.errors import LabError
from labsupport.outside import (
    Entry,
    Evidence,
    Fact,
    Memory,
    MemoryAccessError,
    MemoryConflictError,
    OutsideBusyError,
    OutsideCorruptError,
    OutsideFileError,
    OutsideFormatError,
)
from labsupport.outside.entries import Rows
from tests.sessionlog.builders import POSIX, in_child

posix = pytest.mark.skipif(not POSIX, reason="forks a process")


def says(value: str = "en", session: str = "monday", *seqs: int, key: str = "language") -> Fact:
    return Fact(key, value, Evidence(session, seqs or (3,)))


def opened(path: Path, time: int = 1000) -> Memory:
    return Memory(path, clock=lambda: time)


def everything(path: Path) -> list[str]:
    """All rows of the database, as SQL."""
    plain = sqlite3.connect(path)
    try:
        return list(plain.iterdump())
    finally:
        plain.close()


def on_disk(path: Path) -> bytes:
    """Every byte of the database and of the files beside it."""
    return b"".join(one.read_bytes() for one in sorted(path.parent.glob(path.name + "*")))


def in_haste(kept: Memory) -> None:
    """Let the one connection that *kept* has not wait for the disk."""
    with kept._database._connection(False) as connection:
        connection.execute("PRAGMA synchronous = OFF")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def kept(path: Path) -> Iterator[Memory]:
    with opened(path) as one:
        yield one


# Versions, evidence, conflict


def test_an_entry_has_what_the_fact_had_and_where_it_came_from(kept: Memory) -> None:
    entry = kept.remember(says("en", "monday", 3, 9), "ana", ["cem", "ben", "ben"])
    assert entry == Entry("language", "en", 1, "ana", ("ben", "cem"), (Evidence("monday", (3, 9)),), 1000)
    assert kept.read("language", "ana") == entry


def test_the_same_value_again_is_more_evidence_and_no_new_version(path: Path) -> None:
    with opened(path, 1000) as kept:
        kept.remember(says(), "ana", ["ben"])
    with opened(path, 2000) as kept:
        kept.remember(says("en", "friday", 8, 2), "ana", ["cem"])
        entry = kept.remember(says("en", "monday", 3, 5), "ana")
        assert entry == Entry(
            "language", "en", 1, "ana", ("ben",), (Evidence("friday", (2, 8)), Evidence("monday", (3, 5))), 1000)


def test_another_value_is_a_conflict_that_carries_both_and_changes_nothing(path: Path, kept: Memory) -> None:
    kept.remember(says("secret-1"), "ana")
    before = everything(path)
    with pytest.raises(MemoryConflictError) as caught:
        kept.remember(says("secret-2", "friday"), "ana", ["ben"])
    error = caught.value
    assert (error.key, error.stored, error.offered, error.version) == ("language", "secret-1", "secret-2", 1)
    assert everything(path) == before
    decided = kept.update(says("secret-2", "friday"), "ana", expected_version=error.version)
    assert decided is not None
    assert (decided.value, decided.version, decided.evidence) == ("secret-2", 2, (Evidence("friday", (3,)),))
    assert [(one.version, one.value, one.evidence) for one in kept.history("language", "ana")] == [
        (1, "secret-1", (Evidence("monday", (3,)),)), (2, "secret-2", (Evidence("friday", (3,)),))]


@pytest.mark.parametrize("value", ["en", "zh"], ids=["the value that is there", "another value"])
@pytest.mark.parametrize("expected", [0, 1, 3])
def test_an_update_that_looked_at_another_version_is_a_conflict(path: Path, kept: Memory, expected: int, value: str) -> None:
    kept.remember(says("zh"), "ana")
    kept.update(says("en", "friday"), "ana", 1)
    before = everything(path)
    with pytest.raises(MemoryConflictError) as caught:
        kept.update(says(value, "sunday"), "ana", expected)
    assert caught.value.version == 2
    assert everything(path) == before


def test_an_update_with_the_value_that_is_there_adds_evidence(kept: Memory) -> None:
    kept.remember(says(), "ana")
    entry = kept.update(says("en", "friday"), "ana", 1)
    assert entry is not None
    assert (entry.version, len(entry.evidence)) == (1, 2)


def test_reading_an_old_session_again_does_not_reopen_a_decision(kept: Memory) -> None:
    kept.remember(says("zh", "monday", 3, 5), "ana")
    kept.update(says("en", "friday"), "ana", 1)
    for seqs in ((3, 5), (3,)):
        again = kept.remember(says("zh", "monday", *seqs), "ana")
        assert again is not None
        assert (again.value, again.version) == ("en", 2)
    for new in (says("zh", "monday", 3, 6), says("zh", "sunday", 3), says("fr", "monday", 3)):
        with pytest.raises(MemoryConflictError):
            kept.remember(new, "ana")


def test_what_there_is_not_cannot_be_updated_permitted_told_or_forgotten(path: Path, kept: Memory) -> None:
    kept.remember(says(), "ana", ["ben"])
    before = everything(path)
    for refused in (
        lambda: kept.update(says("zh"), "ben", 1),
        lambda: kept.permit("language", "ben", ["ben"]),
        lambda: kept.history("language", "ben"),
        lambda: kept.forget("language", "ben"),
        lambda: kept.forget("units", "ana"),
    ):
        with pytest.raises(MemoryAccessError):
            refused()
    assert everything(path) == before


# Permission


def test_not_there_and_not_for_you_are_told_in_the_same_words(kept: Memory) -> None:
    kept.remember(says(), "ana", ["cem"])
    told = []
    for owner, key in (("ana", "language"), ("ana", "units"), ("nobody", "language")):
        with pytest.raises(MemoryAccessError) as caught:
            kept.read(key, "ben", owner)
        told.append(str(caught.value))
    assert len(set(told)) == 1
    assert kept.read("language", "cem", "ana").value == "en"


def test_a_list_shows_a_reader_only_what_is_theirs(kept: Memory) -> None:
    kept.remember(says("en"), "ana", ["ben"])
    kept.remember(says("metric", key="units"), "ana")
    kept.remember(says("zh"), "ben")
    kept.remember(says("fr"), "cem", ["ana"])

    def seen(reader: str, words: str = "") -> list[tuple[str, str]]:
        return [(entry.owner, entry.key) for entry in kept.search(reader, words)]

    assert seen("ana") == [("ana", "language"), ("ana", "units"), ("cem", "language")]
    assert seen("ben") == [("ana", "language"), ("ben", "language")]
    assert seen("ana", "METR") == [("ana", "units")]
    assert seen("ana", "lang") == [("ana", "language"), ("cem", "language")]
    assert seen("nobody") == seen("an") == seen("%") == []


def test_owners_do_not_share_keys_so_that_no_conflict_tells_anothers_value(kept: Memory) -> None:
    kept.remember(says("en"), "ana")
    kept.remember(says("zh"), "ben")
    assert kept.read("language", "ana").value == "en"
    assert kept.read("language", "ben").value == "zh"


def test_a_permission_can_be_taken_back_and_is_no_new_version(kept: Memory) -> None:
    kept.remember(says(), "ana", ["ben"])
    assert kept.permit("language", "ana", ["cem"]).readers == ("cem",)
    with pytest.raises(MemoryAccessError):
        kept.read("language", "ben", "ana")
    assert kept.read("language", "cem", "ana").version == 1


def test_a_name_is_not_a_list_of_letters(path: Path, kept: Memory) -> None:
    before = everything(path)
    with pytest.raises(TypeError, match="collection of names"):
        kept.remember(says(), "ana", "ben")
    assert everything(path) == before


# Forgetting


def test_what_was_forgotten_does_not_come_back_from_old_evidence_but_from_new(kept: Memory) -> None:
    kept.remember(says("zh", "monday", 3, 7), "ana")
    kept.update(says("en", "friday", 4), "ana", 1)
    done = kept.forget("language", "ana")
    assert (done.versions, done.seqs, done.erased) == (2, 3, True)
    old = [says("zh", "monday", 3, 7), says("en", "friday", 4), says("fr", "monday", 5), says("fr", "monday", 1)]
    assert [kept.remember(fact, "ana") for fact in old] == [None] * 4
    assert kept.search("ana") == []
    entry = kept.remember(says("fr", "monday", 7, 8), "ana")
    assert entry is not None
    assert (entry.version, entry.evidence) == (1, (Evidence("monday", (8,)),))
    assert kept.update(says("zh", "friday", 4), "ana", 1) is None
    assert kept.read("language", "ana").value == "fr"


def test_a_tombstone_is_for_one_key_of_one_owner(kept: Memory) -> None:
    kept.remember(says(), "ana")
    kept.forget("language", "ana")
    assert kept.remember(says(), "ben") is not None
    assert kept.remember(says(key="units"), "ana") is not None
    assert kept.remember(says("en", "tuesday"), "ana") is not None
    assert kept.remember(says(key="alanguage"), "an") is not None, "where a name ends is part of it"


def test_where_the_user_asked_to_forget_is_the_end_of_the_old_evidence(kept: Memory) -> None:
    kept.remember(says("en", "monday", 3), "ana")
    kept.forget("language", "ana", asked=Evidence("friday", (20,)))
    assert kept.remember(says("en", "friday", 9), "ana") is None
    assert kept.remember(says("en", "friday", 21), "ana") is not None


def test_a_second_forgetting_never_shortens_what_the_first_buried(kept: Memory) -> None:
    kept.remember(says("en", "monday", 9), "ana")
    kept.forget("language", "ana")
    kept.remember(says("en", "friday", 1), "ana")
    kept.forget("language", "ana", asked=Evidence("monday", (2,)))
    assert kept.remember(says("en", "monday", 9), "ana") is None


SECRETS = ["name-ana", "key-diagnosis", "value-sick", "session-monday", "session-friday", "value-ill"]


def forgettable(kept: Memory) -> None:
    _, key, first, monday, friday, second = SECRETS
    kept.remember(Fact(key, first * 300, Evidence(monday, tuple(range(50)))), SECRETS[0], ["reader-ben"])
    kept.update(Fact(key, second * 2000, Evidence(friday, (3,))), SECRETS[0], 1)


@pytest.mark.parametrize("still_open", [True, False])
def test_forgetting_takes_the_bytes_from_the_database_and_its_log(path: Path, still_open: bool) -> None:
    with opened(path) as kept:
        forgettable(kept)
        assert all(word.encode() in on_disk(path) for word in [*SECRETS, "reader-ben"])
        assert kept.forget(SECRETS[1], SECRETS[0]).erased
        if still_open:
            assert [word for word in [*SECRETS, "reader-ben"] if word.encode() in on_disk(path)] == []
    assert [word for word in [*SECRETS, "reader-ben"] if word.encode() in on_disk(path)] == []


def test_forgetting_takes_the_copies_that_moving_rows_left_behind(path: Path) -> None:
    """Rows of many sizes, so that pages are split and filled again."""
    random, live, left = Random(5), [], []
    with opened(path) as kept:
        in_haste(kept)
        for number in range(240):
            if random.random() < 0.6 or not live:
                key = f"<{number}k" + "x" * random.choice([3, 30, 300, 900]) + f"k{number}>"
                value = f"<{number}v" + "y" * random.choice([3, 50, 400, 900, 1500]) + f"v{number}>"
                kept.remember(Fact(key, value, Evidence(f"<{number}s>", (1,))), "ana")
                live.append((number, key))
            else:
                number, key = live.pop(random.randrange(len(live)))
                kept.forget(key, "ana")
                data = on_disk(path)
                ends = [f"<{number}k", f"k{number}>", f"<{number}v", f"v{number}>", f"<{number}s>"]
                left += [word for word in ends if word.encode() in data]
        assert left == []
        assert len(kept.search("ana")) == len(live) > 20


def test_the_search_for_bytes_finds_what_was_only_deleted(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(path) as kept:
        forgettable(kept)
        monkeypatch.setattr(Database, "erase", lambda _: True)
        kept.forget(SECRETS[1], SECRETS[0])
        assert SECRETS[2].encode() in on_disk(path)
    with opened(path) as kept:  # as after a crash between the two: the opening finishes it
        assert [word for word in SECRETS if word.encode() in on_disk(path)] == []


def test_a_reader_in_the_way_of_erasing_is_told_and_the_next_one_finishes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "WAIT", 0.05)
    with opened(path) as kept:
        forgettable(kept)
        slow = sqlite3.connect(path, isolation_level=None)
        slow.execute("BEGIN")
        slow.execute("SELECT count(*) FROM entry").fetchone()
        assert not kept.forget(SECRETS[1], SECRETS[0]).erased
        assert kept.search(SECRETS[0]) == [], "forgotten it is all the same"
        assert SECRETS[2].encode() in on_disk(path)
        slow.close()
        opened(path).close()
        assert [word for word in SECRETS if word.encode() in on_disk(path)] == []


def test_a_tombstone_has_no_content_and_is_salted(tmp_path: Path) -> None:
    stones = []
    for name in ("a.db", "b.db"):
        with opened(tmp_path / name) as kept:
            kept.remember(says(), "ana")
            kept.forget("language", "ana")
        stones += [line for line in everything(tmp_path / name) if "INTO \"tombstone\"" in line or "INTO tombstone" in line]
    assert len(set(stones)) == 2
    assert not any(word in stone for stone in stones for word in ("language", "ana", "monday", "6D6F6E646179"))


def test_forgetting_a_session_says_what_went_and_what_others_support(path: Path, kept: Memory) -> None:
    kept.remember(says("only"), "ana")  # its only evidence
    kept.remember(says("both", key="units"), "ana")
    kept.remember(says("both", "friday", key="units"), "ana")
    kept.remember(says("old", "friday", key="city"), "ana")  # overruled by the session that goes
    kept.update(says("new", "monday", key="city"), "ana", 1)
    kept.remember(says("wrong", "monday", key="name"), "ben")  # overruled by another
    kept.update(says("right", "friday", key="name"), "ben", 1)
    kept.remember(says("elsewhere", "friday", key="food"), "ben")
    done = kept.forget_session("monday")
    assert done.forgotten == (("ana", "city"), ("ana", "language"))
    assert done.kept == (("ana", "units"), ("ben", "name"))
    assert done.erased
    assert kept.read("units", "ana").evidence == (Evidence("friday", (3,)),)
    assert [(one.version, one.value) for one in kept.history("name", "ben")] == [(2, "right")]
    assert b"monday" not in on_disk(path)
    assert kept.remember(says("any", "monday", 999, key="anything"), "whoever") is None
    assert kept.remember(says("old", "friday", key="city"), "ana") is None, "an overruled value is not revived"
    assert kept.remember(says("old", "friday", 4, key="city"), "ana") is not None
    assert kept.forget_session("never heard of").forgotten == ()


# Law: a memory is a dict with rules


class Model:
    """What the memory should be, in plain dictionaries."""

    def __init__(self) -> None:
        self.entries: dict[tuple[str, str], list[tuple[str, dict[str, set[int]]]]] = {}
        self.through: dict[tuple[str, ...], float] = {}

    def fresh(self, owner: str, fact: Fact) -> set[int]:
        session = fact.evidence.session
        through = max(self.through.get((owner, fact.key, session), -1), self.through.get((session,), -1))
        return {seq for seq in fact.evidence.seqs if seq > through}

    def take(self, owner: str, fact: Fact, expected: int | None) -> str:
        versions, fresh, session = self.entries.get((owner, fact.key)), self.fresh(owner, fact), fact.evidence.session
        if expected is not None and versions is None:
            return "MemoryAccessError"
        if expected is not None and expected != len(versions or ()):
            return "MemoryConflictError"
        if not fresh:
            return "None"
        if versions is None:
            self.entries[owner, fact.key] = [(fact.value, {session: fresh})]
        elif versions[-1][0] == fact.value:
            versions[-1][1].setdefault(session, set()).update(fresh)
        elif expected is not None:
            versions.append((fact.value, {session: fresh}))
        else:
            known = set().union(*(by.get(session, set()) for value, by in versions if value == fact.value))
            if not fresh <= known:
                return "MemoryConflictError"
        return "Entry"

    def forget(self, owner: str, key: str) -> str:
        versions = self.entries.pop((owner, key), None)
        for _, by_session in versions or ():
            for session, seqs in by_session.items():
                place = owner, key, session
                self.through[place] = max(self.through.get(place, -1), *seqs)
        return "MemoryAccessError" if versions is None else "Forgotten"


OWNERS, KEYS = st.sampled_from(["ana", "ben"]), st.sampled_from(["k", "K", ""])
FACTS = st.builds(Fact, KEYS, st.sampled_from(["x", "y", "x\0"]), st.builds(
    Evidence, st.sampled_from(["s", "t"]), st.lists(st.integers(0, 6), min_size=1, max_size=3).map(tuple)))
STEPS = st.one_of(
    st.tuples(st.just("take"), OWNERS, FACTS, st.none() | st.integers(1, 3)), st.tuples(st.just("forget"), OWNERS, KEYS))


@settings(max_examples=60, deadline=None)
@given(steps=st.lists(STEPS, max_size=14))
def test_law_a_memory_does_what_its_model_does(fresh_memory: Callable[[], Path], steps: list[Any]) -> None:
    model = Model()
    with opened(fresh_memory()) as kept:
        in_haste(kept)
        for kind, owner, what, *more in steps:
            try:
                if kind == "forget":
                    said: Any = kept.forget(what, owner)
                else:
                    said = kept.remember(what, owner) if more == [None] else kept.update(what, owner, *more)
                name = type(said).__name__.replace("NoneType", "None")
            except LabError as error:
                name = type(error).__name__
            assert name == (model.forget(owner, what) if kind == "forget" else model.take(owner, what, *more))
            for reader in ("ana", "ben"):
                assert {entry.key: [(one.value, {e.session: set(e.seqs) for e in one.evidence})
                                    for one in kept.history(entry.key, reader)]
                        for entry in kept.search(reader)} == {
                    key: versions for (whose, key), versions in model.entries.items() if whose == reader}


@pytest.fixture(scope="module")
def fresh_memory(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    folder = tmp_path_factory.mktemp("examples")

    def fresh() -> Path:
        for one in folder.iterdir():
            one.unlink()
        return folder / "memory.db"

    return fresh


# Hostile text, and what errors say


HOSTILE = ["", "\0", "a\0b", "\ud83d", "\ude00\ud83d", "\ud83d\ude00", "😀", "'; DROP TABLE entry; --", '"', "%", "_", "?1",
           "x" * 2**20, "é", "e\u0301", "\u202e", "\x1b[31m", "\r\n", "None"]


def test_hostile_text_comes_back_as_it_went_in(path: Path) -> None:
    with opened(path) as kept:
        for text in HOSTILE:
            entry = kept.remember(Fact(text, text, Evidence(text, (0, 2**53 - 1))), text, [text + "r"])
            assert entry == Entry(text, text, 1, text, (text + "r",), (Evidence(text, (0, 2**53 - 1)),), 1000)
    with opened(path) as kept:
        for text in HOSTILE:
            assert kept.read(text, text) == kept.read(text, text + "r", text)
            assert [entry.key for entry in kept.search(text)] == [text]
        for text in HOSTILE:
            kept.forget(text, text)
            assert kept.remember(Fact(text, text, Evidence(text, (2**53 - 1,))), text) is None


def test_no_error_quotes_what_was_said(path: Path, kept: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    kept.remember(says("SECRET-1", key="SECRET-2"), "SECRET-3")
    monkeypatch.setattr(database, "WAIT", 0.05)
    with opened(path) as second, kept._transaction(write=True):
        told = [
            failure(lambda: second.remember(says("SECRET-4", key="SECRET-2"), "SECRET-3")),
            failure(lambda: second.read("SECRET-2", "SECRET-5", "SECRET-3")),
            failure(lambda: second.read("SECRET-6", "SECRET-3")),
        ]
    told.append(failure(lambda: kept.remember(says("SECRET-4", key="SECRET-2"), "SECRET-3")))
    with kept._transaction(write=True) as connection:
        connection.execute("UPDATE version SET value = ?", (b"\xffSECRET-7",))
    told.append(failure(lambda: kept.read("SECRET-2", "SECRET-3")))
    foreign(path, "DROP TABLE version")
    told.append(failure(lambda: kept.read("SECRET-2", "SECRET-3")))
    assert [kind for kind, _ in told] == [
        OutsideBusyError, MemoryAccessError, MemoryAccessError, MemoryConflictError, OutsideCorruptError, OutsideFileError]
    assert not [text for _, text in told if "SECRET" in text]


def failure(work: Callable[[], Any]) -> tuple[type, str]:
    """The kind of error, and all that a traceback would print of it apart from lines of code."""
    try:
        work()
    except Exception as error:  # noqa: BLE001 - it is what the test looks at
        return type(error), "".join(traceback.format_exception_only(error)) + repr(error) + repr(error.__cause__)
    return type(None), ""


def test_an_error_is_the_same_in_another_process() -> None:
    for error in (MemoryConflictError("k", "a", "b", 2), MemoryAccessError("k", "ben"), OutsideFormatError("x", Path("y"), 3)):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), again.__dict__) == (type(error), str(error), error.__dict__)


@pytest.mark.parametrize("seqs", [(), (-1,), (2**53,), (1.0,), (True,), ("1",)], ids=repr)
def test_evidence_without_a_place_is_refused(seqs: Any) -> None:
    with pytest.raises(ValueError, match="one seq or more"):
        Evidence("monday", seqs)


@pytest.mark.parametrize("time", [-1, 1.5, None, True, 2**53], ids=repr)
def test_a_clock_that_is_none_is_refused_before_anything_is_written(path: Path, time: Any) -> None:
    with opened(path, time) as kept:
        with pytest.raises(ValueError, match="clock"):
            kept.remember(says(), "ana")
        assert kept.search("ana") == []


# Two processes, and a process that is killed


UPDATER = """
import sys
from labsupport.outside import Evidence, Fact, Memory, MemoryConflictError
path, name, times = sys.argv[1], sys.argv[2], int(sys.argv[3])
with Memory(path, clock=lambda: 1) as memory:
    memory_done, at = 0, 0
    while memory_done < times:
        at += 1
        try:
            seen = memory.read("count", "ana")
            memory.update(Fact("count", str(int(seen.value) + 1), Evidence(name, (at,))), "ana", seen.version)
            memory_done += 1
        except MemoryConflictError:
            continue
"""


def test_processes_that_update_one_entry_lose_no_update(path: Path) -> None:
    with opened(path) as kept:
        kept.remember(says("0", key="count"), "ana")
        names = ["a", "b", "c"]
        children = [subprocess.Popen([sys.executable, "-c", UPDATER, str(path), name, "12"]) for name in names]
        assert [child.wait(120) for child in children] == [0, 0, 0]
        entry = kept.read("count", "ana")
        assert (entry.value, entry.version) == ("36", 37)


@posix
def test_processes_that_make_one_memory_make_it_once(path: Path) -> None:
    ready, go = os.pipe()

    def child(name: str) -> str:
        os.read(ready, 1)
        with opened(path) as kept:
            entry = kept.remember(says(name), name)
            return entry.owner if entry else "none"

    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(6) as pool:
        answers = [pool.submit(in_child, lambda name=name: child(name)) for name in "abcdef"]
        os.write(go, b"x" * 6)
        assert [answer.result() for answer in answers] == list("abcdef")
    os.close(ready)
    os.close(go)
    with opened(path) as kept:
        assert all(kept.read("language", name).value == name for name in "abcdef")


def test_one_that_comes_second_at_making_a_memory_takes_the_first_ones(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = Database._is_ours

    def overtaken(mine: Database, connection: sqlite3.Connection) -> bool:
        seen = looks(mine, connection)
        monkeypatch.undo()
        with opened(path) as first:
            first.remember(says(), "ana")
        return seen

    monkeypatch.setattr(Database, "_is_ours", overtaken)
    with opened(path) as kept:
        assert kept.read("language", "ana").value == "en"


def test_a_writer_that_waits_too_long_is_told(path: Path, kept: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    kept.remember(says(), "ana")
    monkeypatch.setattr(database, "WAIT", 0.05)
    with opened(path) as second, kept._transaction(write=True):
        with pytest.raises(OutsideBusyError) as caught:
            second.remember(says("zh"), "ben")
        assert second.read("language", "ana").value == "en", "reading goes on"
    assert caught.value.path == path
    assert kept.search("ben") == []


CHANGES: dict[str, Callable[[Memory], Any]] = {
    "remember": lambda kept: kept.remember(says("x", key="new"), "ana", ["ben", "cem"]),
    "update": lambda kept: kept.update(says("y", "sunday", 1, 2, key=SECRETS[1]), SECRETS[0], 2),
    "permit": lambda kept: kept.permit(SECRETS[1], SECRETS[0], ["dan", "eve"]),
    "forget": lambda kept: kept.forget(SECRETS[1], SECRETS[0]),
    "forget_session": lambda kept: kept.forget_session(SECRETS[4]),
}


@posix
@pytest.mark.parametrize("change", CHANGES)
def test_a_process_killed_at_any_statement_leaves_the_old_or_the_new(tmp_path: Path, change: str) -> None:
    template = tmp_path / "template.db"
    with opened(template) as kept:
        forgettable(kept)
        kept.remember(says("z"), "ana")
    start, before = template.read_bytes(), told_rows(template)
    (tmp_path / "whole.db").write_bytes(start)
    with opened(tmp_path / "whole.db") as kept:
        CHANGES[change](kept)
    after = told_rows(tmp_path / "whole.db")
    assert before != after
    seen, at, killed = set(), 0, True
    while killed:
        at += 1
        folder = tmp_path / str(at)
        folder.mkdir()
        path = folder / "memory.db"
        path.write_bytes(start)
        killed = killed_at(path, at, CHANGES[change])
        with opened(path):
            data = on_disk(path)
        rows = told_rows(path)
        assert rows in (before, after), at
        if change == "forget" and rows == after:
            assert [word for word in SECRETS if word.encode() in data] == [], at
        seen.add(rows == after)
    assert at > 5
    assert seen == {True, False}


def killed_at(path: Path, at: int, change: Callable[[Memory], Any]) -> bool:
    """Let a child make *change* and be killed before its statement number *at*; whether it was."""
    child = os.fork()
    if child == 0:
        try:
            kept, count = opened(path), 0

            def trace(_: str) -> None:
                nonlocal count
                count += 1
                if count == at:
                    os.kill(os.getpid(), signal.SIGKILL)

            with kept._database._connection(False) as connection:  # the one that every transaction then has
                connection.set_trace_callback(trace)
            change(kept)
        finally:
            os._exit(0)
    return os.waitpid(child, 0)[1] == signal.SIGKILL


def told_rows(path: Path) -> list[str]:
    """What is remembered, without what differs by the salt or says how far an erasure is."""
    return [line for line in everything(path) if "tombstone" not in line and "erasure" not in line]


def test_what_raises_in_the_middle_leaves_nothing(path: Path, kept: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    before = everything(path)
    monkeypatch.setattr(Rows, "add_evidence", interrupted)
    with pytest.raises(KeyboardInterrupt):
        kept.remember(says(), "ana")
    assert everything(path) == before
    monkeypatch.undo()
    assert kept.remember(says(), "ana") is not None


# Files that are damaged, somebody else's, newer, or cannot be written


def foreign(path: Path, *settings: str) -> None:
    other = sqlite3.connect(path)
    for setting in settings:
        other.execute(setting)
    other.commit()
    other.close()


@pytest.mark.parametrize("settings", [
    ("CREATE TABLE entry (id)",), ("PRAGMA application_id = 7",), ("PRAGMA user_version = 1",),
    ("PRAGMA journal_mode = WAL", "CREATE TABLE mine (id)"),
    ("CREATE TABLE entry (id)", "PRAGMA application_id = 7", "PRAGMA user_version = 1"),
], ids=["a table of the same name", "an application", "a version", "in WAL mode", "all of it"])
def test_the_database_of_another_program_is_left_alone(path: Path, settings: tuple[str, ...]) -> None:
    foreign(path, *settings)
    before = path.read_bytes()
    with pytest.raises(OutsideFormatError, match="something else") as caught:
        opened(path)
    assert (caught.value.path, caught.value.version) == (path, None)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("version", [0, 2, 99])
def test_another_version_is_refused_and_left_alone(path: Path, version: int) -> None:
    with opened(path) as kept:
        kept.remember(says(), "ana")
    foreign(path, f"PRAGMA user_version = {version}")
    before = path.read_bytes()
    with pytest.raises(OutsideFormatError, match=f"version {version}") as caught:
        opened(path)
    assert caught.value.version == version
    assert path.read_bytes() == before


@pytest.mark.parametrize("data", [
    b"hello", b"x" * 5000, b"SQLite format 3\0", b"\0" * 100, b"SQLite format 3\0" + b"\xff" * 4096,
], ids=["short", "long", "a beginning", "zeros", "a wrong header"])
def test_what_is_no_database_is_refused_and_left_alone(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    with pytest.raises(OutsideFormatError, match="no SQLite database"):
        opened(path)
    assert path.read_bytes() == data


def test_a_memory_of_which_only_the_first_page_is_left_is_damaged(path: Path) -> None:
    with opened(path) as kept:
        kept.remember(says(), "ana")
    path.write_bytes(path.read_bytes()[:4096])
    with pytest.raises(OutsideCorruptError, match="backup"):
        opened(path)


def test_an_empty_file_becomes_a_memory(path: Path) -> None:
    path.touch()
    with opened(path) as kept:
        assert kept.search("ana") == []


def test_damage_is_told_or_does_no_harm(tmp_path: Path) -> None:
    """One byte changed, or the end cut off: refused with an error of this library, or every call still answers."""
    whole, path = tmp_path / "whole.db", tmp_path / "memory.db"
    with opened(whole) as kept:
        forgettable(kept)
        for number in range(30):
            kept.remember(says(f"v{number}", "monday", number, key=f"k{number}"), "ana", ["ben"])
    start, random, refused = whole.read_bytes(), Random(7), set()
    cuts = [start[:length] for length in (50, 100, 600, 4096, 5000, len(start) - 4096, len(start) - 1)]
    for trial in range(150):
        at = random.randrange(len(start))
        cuts.append(start[:at] + bytes([start[at] ^ 1 << trial % 8]) + start[at + 1:])
    for data in cuts:
        for one in tmp_path.glob("memory.db*"):
            one.unlink()
        path.write_bytes(data)
        try:
            with opened(path) as kept:
                for entry in [*kept.search("ana"), *kept.search("ben")]:
                    kept.history(entry.key, entry.owner)
                kept.remember(says("new", key="new"), "ana")
        except OutsideFileError as error:
            refused.add(type(error))
    assert OutsideCorruptError in refused


@pytest.mark.parametrize("where", [".", "no/such/folder/memory.db"], ids=["a folder", "in no folder"])
def test_a_path_that_cannot_be_a_file_is_told(tmp_path: Path, where: str) -> None:
    with pytest.raises(OutsideFileError) as caught:
        opened(tmp_path / where)
    assert str(tmp_path) in str(caught.value)


@posix
@pytest.mark.parametrize("there", [True, False], ids=["read-only", "cannot be made"])
def test_where_nothing_may_be_written_nothing_is_opened(tmp_path_factory: pytest.TempPathFactory, there: bool) -> None:
    folder = tmp_path_factory.mktemp("locked")
    path = folder / "memory.db"
    if there:
        with opened(path) as kept:
            kept.remember(says(), "ana")
        path.chmod(0o444)
    folder.chmod(0o555)

    def stranger() -> str:
        if os.geteuid() == 0:  # root may write everywhere
            os.chdir(folder)
            os.setegid(65534)
            os.seteuid(65534)
        with pytest.raises(OutsideFileError) as caught:
            opened(Path(path.name) if os.geteuid() == 65534 else path)
        return str(caught.value)

    try:
        assert ("unable to open" if there else "cannot be opened") in in_child(stranger)
    finally:
        folder.chmod(0o755)


def test_after_closing_nothing_is_answered(path: Path) -> None:
    with opened(path) as kept:
        kept.remember(says(), "ana")
    with pytest.raises(ValueError, match="closed"):
        kept.read("language", "ana")
    assert list(path.parent.iterdir()) == [path], "no file is left beside it"
