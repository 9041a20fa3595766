"""What only a database has: foreign files, damaged pages, a cut WAL, rows that somebody changed, locks, threads and forks."""

import os
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from labsupport import database
from labsupport.errors import SessionLogError, StaleCursorError, StoreBusyError, StoredLogError
from labsupport.sessionlog import Session, SessionHeader
from labsupport.sessionlog.storage import SqliteStore, on_flush
from tests.sessionlog import builders as make
from tests.sessionlog import kills
from tests.sessionlog.builders import in_child
from tests.sessionlog.soak import soak
from tests.sessionlog.stores import with_rows

posix = pytest.mark.skipif(not make.POSIX, reason="forks, links and locks as on POSIX")
TALK = [make.turn_start(), make.user(), make.turn_end()]
BATCH = 25


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions.db"


@pytest.fixture
def store(path: Path) -> SqliteStore:
    return SqliteStore(path)


def outside(work: str, path: Path) -> str:
    """What *work*, an expression over a store of the database, gives in a process of its own, which then closes the store."""
    code = (
        "import sys; from labsupport.sessionlog.storage import SqliteStore; store = SqliteStore(sys.argv[1]);"
        f"print({work}); store.close()"
    )
    return subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True).stdout.strip()


def bytes_of(folder: Path, copy: Path) -> dict[str, bytes]:
    """The files of *folder*, by a *copy* that another process makes: to close a file here would drop SQLite's locks on it."""
    code = "import shutil, sys; shutil.copytree(sys.argv[1], sys.argv[2])"
    subprocess.run([sys.executable, "-c", code, str(folder), str(copy)], check=True)
    return make.files_of(copy)


SIZE = "len(store.read_from('s1', 0))"

# Kills


@posix
@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 100, BATCH))
def test_a_hundred_kills_in_the_middle_of_statements(first: int) -> None:
    seen = soak(BATCH, first, sqlite=True)
    assert seen["recovered"] >= BATCH // 3, "else the kills come too late or too early to show anything"


@posix
@pytest.mark.slow
def test_a_kill_at_every_step_of_the_first_commits(tmp_path: Path) -> None:
    kept = []
    for at in range(1, 90, 4):
        plan = kills.Plan(3, at, 0, None)
        witness, events = kills.kill_once(tmp_path / str(at), plan, sqlite=True)
        kills.check(plan, witness, events)
        kept.append(len(events))
    assert min(kept) == 0
    assert max(kept) > 5


@posix
@pytest.mark.parametrize("seed", range(4))
def test_after_a_tool_ran_its_call_is_there(tmp_path: Path, seed: int) -> None:
    plan = kills.Plan(seed, 0, 0, None)
    witness, events = kills.kill_once(tmp_path, plan, kills.on_barriers, last_word="ran", sqlite=True)
    kills.check(plan, witness, events, waits=True)


# What a commit is


def test_commits_are_synced_and_what_is_deleted_is_overwritten(store: SqliteStore) -> None:
    make.stored(store, *TALK)
    with store._database.transaction() as connection:  # the settings of a connection are nobody else's to see
        settings = [
            connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("synchronous", "secure_delete", "journal_mode")
        ]
    assert settings in ([2, 1, b"wal"], [2, 1, "wal"])


def test_a_log_is_made_with_its_first_events_or_not_at_all(store: SqliteStore, path: Path) -> None:
    store.create(SessionHeader("s1"))
    with pytest.raises(SessionLogError):
        store.append("s1", make.log(make.user(), make.record("nobody/knows")))
    assert not path.exists()
    make.stored(store, *TALK, id="other")
    with_rows(
        path.parent, "CREATE TRIGGER stop BEFORE INSERT ON events WHEN new.seq = 1 BEGIN SELECT raise(ABORT, 'stop'); END"
    )
    with pytest.raises(StoredLogError):
        store.append("s1", make.log(*TALK))
    with_rows(path.parent, "DROP TRIGGER stop")
    assert [header.id for header in store.list()] == ["other"]
    store.append("s1", make.log(*TALK))
    assert len(store.load("s1").events) == 3


@posix
@pytest.mark.parametrize("room", [0, 20_000, 60_000])
def test_a_full_disk_is_said_and_nothing_is_half_there(path: Path, room: int) -> None:
    import resource

    make.stored(SqliteStore(path), *TALK)
    big = [make.user("x" * 30_000)] * 4

    def work() -> Any:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
        mine = SqliteStore(path)
        seen = []
        for _ in range(2):
            try:
                mine.append("s1", make.log(*big, first=3))
            except (StoredLogError, OSError) as error:
                seen.append(type(error).__name__)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        assert len(mine.read_from("s1", 0)) == 3
        mine.append("s1", make.log(*big, first=3))
        return len(seen)

    assert in_child(work) == 2
    assert len(SqliteStore(path).load("s1").events) == 7


# The WAL, cut


@posix
@pytest.mark.slow
def test_a_wal_cut_at_any_byte_gives_whole_transactions(tmp_path: Path) -> None:
    """As a power cut leaves it: the file was synced up to the last commit that returned, and perhaps further."""
    folder, sizes = tmp_path / "live", []
    folder.mkdir()
    store = SqliteStore(folder / "sessions.db")
    make.stored(store, make.turn_start())
    wal = folder / "sessions.db-wal"
    for seq in range(1, 6):
        store.append("s1", make.log(make.user("x" * 700), make.user("y"), first=2 * seq - 1))
        sizes.append((wal.stat().st_size, 2 * seq + 1))
    files = bytes_of(folder, tmp_path / "copy")
    whole, first = files["sessions.db-wal"], sizes[0][0]
    random = Random(1)
    found = set()
    for size in [*range(first, len(whole), 311), *(end + by for end, _ in sizes for by in (-1, 0, 1))]:
        for rest in (b"", random.randbytes(4200), bytes(4200)):
            cut = tmp_path / f"cut{size}.{len(found)}.{rest[:2].hex()}"
            cut.mkdir()
            (cut / "sessions.db").write_bytes(files["sessions.db"])
            (cut / "sessions.db-wal").write_bytes(whole[:size] + rest)
            again = SqliteStore(cut / "sessions.db")
            events = again.read_from("s1", 0)
            again.close()
            assert len(events) >= max((count for end, count in sizes if end <= size), default=0), (
                "what append returned for is gone"
            )
            assert len(events) % 2 == 1, "half a transaction"
            assert (
                make.plain(events[1:])
                == make.plain(make.log(*[make.user("x" * 700), make.user("y")] * 5, first=1))[: len(events) - 1]
            )
            found.add(len(events))
    assert found == {1, 3, 5, 7, 9, 11}


# Locks, threads, forks


def visited(path: Path) -> str:
    """Another process opens the database, reads, and closes it: if it takes itself for the last one, it takes the WAL away."""
    return outside(SIZE, path)


@posix
@pytest.mark.parametrize("by", ["a store of its own", "a thread", "a store that is closed again"])
def test_a_second_connection_here_does_not_give_up_the_locks_of_the_first(store: SqliteStore, path: Path, by: str) -> None:
    """The system drops all locks of a process on a file as soon as the process closes the file once."""
    make.stored(store, make.turn_start())
    kept = []
    if by == "a thread":
        with ThreadPoolExecutor(1) as pool:
            pool.submit(store.list).result()
    else:
        kept.append(SqliteStore(path))
        kept[0].list()
        if by.endswith("again"):
            kept.pop().close()
    assert visited(path) == "1"
    store.append("s1", make.log(make.user(), first=1))
    assert visited(path) == "2", "append returned, and the event is in a file without a name"


@posix
@pytest.mark.parametrize("inherited", [True, False], ids=["the parent's store", "a store of its own"])
def test_what_a_forked_child_appends_stays_when_the_parent_closes(store: SqliteStore, path: Path, inherited: bool) -> None:
    make.stored(store, make.turn_start())
    asks, answers = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            mine = store if inherited else SqliteStore(path)
            for seq in (1, 2):
                mine.append("s1", make.log(make.user(), first=seq))
                os.write(answers[1], b"x")
                os.read(asks[0], 1)
            code = 0
        finally:
            os._exit(code)
    try:
        assert os.read(answers[0], 1) == b"x"
        store.close()
        os.write(asks[1], b"x")
        assert os.read(answers[0], 1) == b"x"
        assert visited(path) == "3"
    finally:
        os.write(asks[1], b"x")
        assert os.waitpid(child, 0)[1] == 0
        for end in (*asks, *answers):
            os.close(end)
    store.append("s1", make.log(make.turn_end(), first=3))
    assert visited(path) == "4"


@posix
def test_a_forked_child_has_no_part_in_the_writer(store: SqliteStore, path: Path) -> None:
    session = Session.create("s1")
    writer = store.attach(session, on_flush)
    make.append(session, make.turn_start())
    writer.flush()
    make.append(session, make.turn_end())
    assert isinstance(in_child(lambda: store.append("s1", make.log(make.turn_end(), first=1))), StoreBusyError)
    assert in_child(lambda: len(store.read_from("s1", 0))) == 1, "it may read"
    writer.close()
    assert visited(path) == "2"


def test_threads_write_sessions_of_their_own(store: SqliteStore, path: Path) -> None:
    def work(number: int) -> int:
        make.stored(store, make.turn_start(), id=f"s{number}")
        for seq in range(1, 12):
            store.append(f"s{number}", make.log(make.user(f"{number}.{seq}"), first=seq))
        return len(store.read_from(f"s{number}", 0))

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(work, range(6))) == [12] * 6
    for number in range(6):
        said = [event.read()["content"][0]["text"] for event in SqliteStore(path).read_from(f"s{number}", 1)]
        assert said == [f"{number}.{seq}" for seq in range(1, 12)]


def test_threads_that_append_to_one_session_are_told_who_came_first(store: SqliteStore) -> None:
    make.stored(store, make.turn_start())

    def work(number: int) -> int:
        done = 0
        while done < 5:
            try:
                store.append("s1", make.log(make.user(f"{number}.{done}"), first=len(store.read_from("s1", 0))))
                done += 1
            except (StoreBusyError, StaleCursorError):
                continue
        return done

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(4))) == [5] * 4
    events = store.load("s1").events
    said = [event.read()["content"][0]["text"] for event in events if event.type == "user/message"]
    assert sorted(said) == [f"{number}.{done}" for number in range(4) for done in range(5)]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts descriptors as Linux shows them")
def test_threads_that_ended_and_stores_that_are_closed_give_their_files_back(store: SqliteStore, path: Path) -> None:
    make.stored(store, *TALK)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(40):
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(lambda: len(store.read_from("s1", 0))).result() == 3
    assert len(os.listdir("/proc/self/fd")) < before + 20, "a connection of each thread that ever was"
    for _ in range(40):
        other = SqliteStore(path)
        other.load("s1")
        other.close()
    store.close()
    store.close()
    assert len(os.listdir("/proc/self/fd")) <= before
    assert len(store.load("s1").events) == 3, "a closed store opens again"


@posix
def test_a_transaction_that_another_process_holds_open_is_waited_for_and_then_named(
    store: SqliteStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "WAIT", 0.1)
    make.stored(store, *TALK)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for refused in (
            lambda: store.append("s1", make.log(make.user(), first=3)),
            lambda: store.delete("s1"),
            lambda: make.stored(store, *TALK, id="s2"),
        ):
            with pytest.raises(StoreBusyError, match="again"):
                refused()
        assert len(store.inspect("s1").events) == 3, "who reads does not wait"
        other.execute("ROLLBACK")
    store.append("s1", make.log(make.user(), first=3))
    make.stored(store, *TALK, id="s3")
    assert len(store.load("s1").events) == 4


def test_a_reader_that_is_in_the_middle_keeps_a_deletion_from_the_wal_and_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "WAIT", 0.1)
    path = tmp_path / "logs" / "sessions.db"
    store = make.stored(SqliteStore(path), *TALK, id="other")
    canary = "CANARY-" + Random(2).randbytes(3000).hex()
    make.stored(store, make.turn_start(), make.user(canary))
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM events").fetchall()
        left = {one.kind for one in store.delete("s1").unreached}
        assert "wal" in left
        reader.execute("COMMIT")
    make.stored(store, *TALK, id="third")
    assert "wal" not in {one.kind for one in store.delete("third").unreached}, "the next deletion reaches it"
    assert canary[50:90].encode() not in b"".join(bytes_of(path.parent, tmp_path / "copy").values())


@posix
@pytest.mark.slow
def test_readers_beside_a_session_that_comes_and_goes(store: SqliteStore, path: Path) -> None:
    """They read all of it, or it is not there; nothing else."""
    make.stored(store, *TALK, id="other")

    def reads() -> set[str]:
        mine, seen = SqliteStore(path), set()
        for _ in range(250):
            for ask in (
                lambda: str(len(mine.read_from("s1", 0))),
                lambda: str(len(mine.inspect("s1").events)),
                lambda: "revision" if mine.revision("s1") else "",
            ):
                try:
                    seen.add(ask())
                except FileNotFoundError:
                    seen.add("gone")
            assert "other" in [header.id for header in mine.list()]
        return seen

    def comes_and_goes() -> None:
        mine = SqliteStore(path)
        while True:
            make.stored(mine, *TALK)
            mine.delete("s1")

    writer = os.fork()
    if writer == 0:
        try:
            comes_and_goes()
        finally:
            os._exit(1)
    try:
        seen = reads()
    finally:
        os.kill(writer, signal.SIGKILL)
        os.waitpid(writer, 0)
    assert seen == {"3", "revision", "gone"}


@posix
def test_a_child_that_was_forked_in_the_middle_of_a_transaction_is_refused(store: SqliteStore, path: Path) -> None:
    """It would believe that it holds the locks of its parent; a store of its own would, too."""
    make.stored(store, *TALK)
    with store._database.transaction(write=True):
        for reader in (store, SqliteStore(path)):
            answer = in_child(lambda reader=reader: reader.read_from("s1", 0))
            assert isinstance(answer, StoreBusyError)
        assert isinstance(in_child(lambda: SqliteStore(path).read_from("s1", 0)), StoreBusyError)
    assert in_child(lambda: len(SqliteStore(path).read_from("s1", 0))) == 3
    store.append("s1", make.log(make.user(), first=3))
    assert visited(path) == "4"


def test_a_file_that_was_put_in_the_place_of_the_database_is_seen(store: SqliteStore, path: Path, tmp_path: Path) -> None:
    make.stored(store, *TALK)
    store.close()
    copy = tmp_path / "copy.db"
    with closing(sqlite3.connect(path)) as one, closing(sqlite3.connect(copy)) as other:
        one.backup(other)
    store.append("s1", make.log(make.user(), first=3))
    store.close()
    other_store = SqliteStore(path)
    assert len(other_store.read_from("s1", 0)) == 4
    other_store.close()
    os.replace(copy, path)
    assert len(other_store.read_from("s1", 0)) == 3
    other_store.append("s1", make.log(make.user("again"), first=3))
    assert len(store.load("s1").events) == 4
