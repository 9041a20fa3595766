"""A store of files on a disk that is full, read-only, full of links, or shared with other things."""

import errno
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from labsupport import system
from labsupport.errors import EventError, LogCorruptError, LogFormatError, StoredLogError, UnknownEventError
from labsupport.sessionlog import Session, SessionHeader
from labsupport.sessionlog.storage import JsonlStore, encode_segment, files, flush, on_flush
from tests.sessionlog import builders as make
from tests.sessionlog.builders import HEADER_LINE, files_of, in_child, stored

posix = pytest.mark.skipif(not make.POSIX, reason="forks, links and permissions as on POSIX")
TALK = [make.turn_start(), make.user(), make.turn_end()]
MORE = make.log(make.user("more " * 2000), first=3)
COMPRESSIONS = [None, "zstd"]
SYNC_DATA = "fdatasync" if hasattr(os, "fdatasync") else "fsync"


@pytest.fixture(params=COMPRESSIONS, ids=["plain", "zstd"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> JsonlStore:
    return JsonlStore(tmp_path / "logs", request.param)


# A full disk


def with_room(size: int, work: Callable[[], Any]) -> Any:
    """What *work* gives in a process whose files may not grow beyond *size* bytes."""
    import resource
    import signal

    def limited() -> Any:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        return work()

    return in_child(limited)


@posix
def test_disk_full_during_append_leaves_the_log_and_keeps_the_events(store: JsonlStore) -> None:
    import resource

    session = Session.create("s1", header=SessionHeader("s1", created_at=1000))
    for one in TALK:
        make.append(session, one)
    store.attach(session, on_flush).close()
    before = files_of(store.root)
    size = store.path("s1").stat().st_size

    def work() -> Any:
        fresh = JsonlStore(store.root, "zstd" if store.path("s1").suffix == ".zstd" else None)
        writer = fresh.attach(session, on_flush)
        make.append(session, make.user(os.urandom(3000).hex()))
        seen = []
        for _ in range(2):
            try:
                flush(session)
            except OSError as error:
                seen.append((error.errno, writer.waiting, files_of(store.root) == before, fresh.path("s1").stat().st_size))
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        flush(session)
        seen.append((writer.waiting, len(fresh.inspect("s1").events)))
        return seen

    assert with_room(size + 100, work) == [(errno.EFBIG, 1, True, size)] * 2 + [(0, 4)]


@posix
@pytest.mark.parametrize("room", [0, 10, 150])
def test_disk_full_during_create_leaves_nothing(store: JsonlStore, room: int) -> None:
    import resource

    def work() -> Any:
        store.create(SessionHeader("s1", created_at=1000))
        events = make.log(make.user(os.urandom(3000).hex()))
        try:
            store.append("s1", events)
        except OSError as error:
            seen = error.errno, files_of(store.root), list(store.list())
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        store.append("s1", events)
        return seen, len(store.inspect("s1").events)

    assert with_room(room, work) == ((errno.EFBIG, {}, []), 1)


@posix
def test_disk_full_while_a_repair_is_committed_loses_nothing(tmp_path: Path) -> None:
    data = make.log_bytes(*make.two_steps()[:9]) + b'{"torn'
    store = make.jsonl_file(tmp_path, data)

    def work() -> Any:
        with pytest.raises(OSError, match="large"):
            store.load("s1")
        return store.path("s1").read_bytes()

    assert data.startswith(with_room(len(data), work)), "cut back, and no half a closer behind it"
    loaded = store.load("s1")
    assert make.plain(loaded.events[:9]) == make.plain(make.log(*make.two_steps()[:9]))
    assert [path.read_bytes() for path in tmp_path.glob("*.torn-*")] == [b'{"torn']


class Disk:
    """The system's calls, counted; the one that is named fails once, or writes a part first."""

    def __init__(self, fails: str = "", at: int = 0, part: int = 0) -> None:
        self.fails, self.at, self.part = fails, at, part
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in ("write", "fsync", "fdatasync", "ftruncate", "link", "open", "rename", "replace"):
            return real

        def call(*args: Any, **more: Any) -> Any:
            self.calls.append(name)
            if name == self.fails and self.calls.count(name) == self.at:
                if name == "write":
                    real(args[0], args[1][: self.part])
                raise OSError(errno.EIO, "the disk failed")
            return real(*args, **more)

        return call


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Disk]]:
    def replaced(name: str = "", at: int = 0, part: int = 0) -> Disk:
        made = Disk(name, at, part)
        for module in (files, system):  # the store's files, and the calls that both chapters share
            monkeypatch.setattr(module, "os", made)
        return made

    yield replaced
    for module in (files, system):
        monkeypatch.setattr(module, "os", os)


@posix
@pytest.mark.parametrize(
    ("name", "part"), [("write", 0), ("write", 17), ("fsync", 0), (SYNC_DATA, 0), ("link", 0), ("open", 0)]
)
@pytest.mark.parametrize("at", [1, 2, 3])
def test_a_call_that_fails_while_a_log_is_made_or_continued(
    store: JsonlStore, disk: Callable[..., Disk], name: str, part: int, at: int
) -> None:
    """Whatever fails, and when: the log is as it was, and the same events go in at the next try."""
    session = Session.create("s1", header=SessionHeader("s1", created_at=1000))
    writer = store.attach(session, on_flush)
    for round_records in (TALK, [make.user("after")]):
        for one in round_records:
            make.append(session, one)
        before = files_of(store.root)
        tried = disk(name, at, part)
        try:
            flush(session)
        except OSError:
            assert files_of(store.root) == before
            assert writer.waiting == len(round_records)
        else:
            assert tried.calls.count(name) < at, "else the failure was swallowed"
        disk()
        flush(session)
        assert writer.waiting == 0
    writer.close()
    assert make.plain(store.load("s1").events) == make.plain(session.events)


@posix
def test_what_is_reported_as_durable_was_synced(store: JsonlStore, disk: Callable[..., Disk]) -> None:
    session = Session.create("s1")
    writer = store.attach(session, on_flush)
    make.append(session, make.turn_start())
    made = disk()
    writer.flush()
    assert [name for name in made.calls if name != "open"] == ["write", "fsync", "link", "fsync"], "the folder's names as well"
    make.append(session, make.turn_end())
    continued = disk()
    writer.flush()
    assert [name for name in continued.calls if name != "open"] == ["write", SYNC_DATA], "one write, then one sync"
    writer.close()


@posix
def test_a_cut_back_is_synced_too(store: JsonlStore, disk: Callable[..., Disk]) -> None:
    stored(store, *TALK)
    failing = disk("write", 1, 5)
    with pytest.raises(OSError, match="failed"):
        files.append_durably(store.path("s1"), b"x" * 50, store.path("s1").stat().st_size)
    assert [name for name in failing.calls if name != "open"] == ["write", "ftruncate", "fsync"]


# A folder that may not be written


def as_stranger(folder: Path, work: Callable[[], Any]) -> Any:
    """What *work* gives to a user who may read *folder* and not write it."""
    if os.geteuid():
        os.chmod(folder, 0o555)
        try:
            return in_child(work)
        finally:
            os.chmod(folder, 0o755)

    def strange() -> Any:
        os.setegid(65534)
        os.seteuid(65534)
        return work()

    return in_child(strange)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can reach, which the ones of pytest are not."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield Path(name) / "logs"


@posix
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_a_read_only_folder_is_read_and_not_written(open_folder: Path, compression: Any) -> None:
    stored(JsonlStore(open_folder, compression), make.turn_start())
    for path in open_folder.iterdir():
        path.chmod(0o644)
    before = files_of(open_folder)

    def work() -> Any:
        store = JsonlStore(open_folder, compression)
        seen: list[Any] = [
            len(store.inspect("s1").events),
            [header.id for header in store.list()],
            len(store.read_from("s1", 0)),
            bool(store.revision("s1")),
        ]
        store.create(SessionHeader("s2"))
        for refused in (
            lambda: store.load("s1"),
            lambda: store.append("s1", make.log(make.turn_end(), first=1)),
            lambda: store.append("s2", make.log(make.turn_start())),
            lambda: store.attach(Session.create("s3")),
        ):
            with pytest.raises(PermissionError) as caught:
                refused()
            seen.append(str(open_folder) in str(caught.value))
        return seen

    assert as_stranger(open_folder, work) == [2, ["s1"], 1, True, True, True, True, True]
    assert files_of(open_folder) == before


@posix
def test_a_log_that_may_not_be_read_does_not_hide_the_others(open_folder: Path) -> None:
    store = stored(stored(JsonlStore(open_folder), *TALK, id="open"), *TALK, id="shut")
    store.path("open").chmod(0o644)
    store.path("shut").chmod(0)

    def work() -> Any:
        listing = JsonlStore(open_folder).list()
        with pytest.raises(PermissionError):
            JsonlStore(open_folder).inspect("shut")
        return [header.id for header in listing], [str(problem) for problem in listing.problems]

    ids, problems = as_stranger(open_folder, work)
    assert ids == ["open"]
    assert len(problems) == 1
    assert "shut.jsonl" in problems[0]
    assert "damage" not in problems[0]
    assert "corrupt" not in problems[0]


# Links, folders and other things where a log belongs


@posix
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_a_session_folder_that_is_a_link_is_refused(tmp_path: Path, compression: Any) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "logs").symlink_to(elsewhere, target_is_directory=True)
    with pytest.raises(StoredLogError, match="link"):
        JsonlStore(tmp_path / "logs", compression)
    assert list(elsewhere.iterdir()) == []


@posix
@pytest.mark.parametrize("target", ["a log of another folder", "nothing"])
def test_a_log_that_is_a_link_is_refused_everywhere(store: JsonlStore, tmp_path: Path, target: str) -> None:
    stored(store, *TALK, id="good")
    other = stored(JsonlStore(tmp_path / "other"), make.turn_start())
    foreign = other.path("s1") if target.startswith("a log") else tmp_path / "gone"
    store.path("s1").symlink_to(foreign)
    before = files_of(tmp_path)
    session = Session.create("s1", seed=make.log(make.turn_start()))
    for refused in (
        lambda: store.inspect("s1"),
        lambda: store.load("s1"),
        lambda: store.read_from("s1", 0),
        lambda: store.revision("s1"),
        lambda: store.create(SessionHeader("s1")),
        lambda: store.append("s1", make.log(make.turn_end(), first=1)),
        lambda: store.attach(session, on_flush).close(),
    ):
        with pytest.raises(StoredLogError):
            refused()
    assert files_of(tmp_path) == before
    listing = store.list()
    assert [header.id for header in listing] == ["good"]
    assert [problem.path for problem in listing.problems] == [store.path("s1")]
    assert store.path("s1").is_symlink()


@posix
def test_a_lock_or_a_draft_that_is_a_link_is_not_written_through(store: JsonlStore, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    store.root.mkdir()
    lock = store.path("s1").with_name(store.path("s1").name + ".lock")
    lock.symlink_to(victim)
    with pytest.raises(StoredLogError, match="link"):
        store.attach(Session.create("s1"))
    lock.unlink()
    store.path("s1").with_name(f"{store.path('s1').name}.{os.getpid()}.draft").symlink_to(victim)
    stored(store, *TALK)
    assert victim.read_text() == "mine"
    assert len(store.inspect("s1").events) == 3


@posix
def test_a_kept_tail_that_is_a_link_is_not_written_through(tmp_path: Path) -> None:
    data = make.log_bytes(*TALK)
    store = make.jsonl_file(tmp_path / "logs", data + b"torn")
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / "logs" / f"s1.jsonl.torn-{len(data)}").symlink_to(victim)
    try:
        repair = store.load("s1").repair
    except StoredLogError:
        assert store.path("s1").read_bytes() == data + b"torn"
    else:
        assert repair is not None
        assert repair.kept_in is not None
        assert repair.kept_in.read_bytes() == b"torn"
    assert victim.read_text() == "mine"


def test_a_folder_at_the_place_of_a_log(store: JsonlStore) -> None:
    stored(store, *TALK, id="good")
    store.path("s1").mkdir()
    for refused in (
        lambda: store.inspect("s1"),
        lambda: store.load("s1"),
        lambda: store.append("s1", make.log(make.user())),
        lambda: store.revision("s1"),
    ):
        with pytest.raises((OSError, StoredLogError)):
            refused()
    with pytest.raises(StoredLogError):
        store.create(SessionHeader("s1"))
    assert [header.id for header in store.list()] == ["good"]
    assert [problem.path for problem in store.list().problems] == [store.path("s1")]
    assert list(store.path("s1").iterdir()) == []


def test_other_files_in_the_folder_are_let_alone(store: JsonlStore) -> None:
    stored(store, *TALK)
    for name in ("notes.txt", "s1.jsonl.bak", "s1.json", ".hidden", "s2.jsonl.part", "s1.jsonl.zst"):
        (store.root / name).write_bytes(b"not a log")
    assert [header.id for header in store.list()] == ["s1"]
    assert store.list().problems == []
    store.load("s1")
    store.append("s1", make.log(make.user(), first=3))
    assert (store.root / "notes.txt").read_bytes() == b"not a log"


def test_plain_and_compressed_logs_share_a_folder(tmp_path: Path) -> None:
    plain, packed = JsonlStore(tmp_path), JsonlStore(tmp_path, "zstd")
    stored(plain, *TALK, id="a")
    stored(packed, *TALK, id="b")
    assert [header.id for header in plain.list()] == ["a"]
    assert [header.id for header in packed.list()] == ["b"]


def test_a_damaged_header_is_a_problem_and_hides_nobody(tmp_path: Path) -> None:
    store = stored(JsonlStore(tmp_path), *TALK, id="good")
    for id, data in {
        "empty": b"",
        "half": HEADER_LINE[:30],
        "nul": b"\x00" * 64,
        "list": b"[]\n",
        "newer": HEADER_LINE.replace(b'n":0', b'n":9', 1),
    }.items():
        store.path(id).write_bytes(data)
    before = files_of(tmp_path)
    listing = store.list()
    assert [header.id for header in listing] == ["good"]
    assert {problem.path.name: type(problem) for problem in listing.problems if problem.path} == {
        "empty.jsonl": LogCorruptError,
        "half.jsonl": LogCorruptError,
        "list.jsonl": LogCorruptError,
        "newer.jsonl": LogFormatError,
        "nul.jsonl": LogCorruptError,
    }
    for id in ("empty", "half", "nul", "list", "newer"):
        for ask in (store.load, store.inspect):
            with pytest.raises((LogCorruptError, LogFormatError)):
                ask(id)
    assert files_of(tmp_path) == before, "not one byte is touched"


KINDS_OF_REFUSAL: dict[str, tuple[bytes, type[Exception], str]] = {
    "damage": (make.log_bytes(*TALK).replace(b'"seq":1', b'"seq":5'), LogCorruptError, "damage"),
    "newer format": (make.log_bytes(*TALK).replace(b'"version":0', b'"version":2'), LogFormatError, "newer"),
    "older format": (make.log_bytes(*TALK).replace(b'"version":0', b'"version":-1'), LogFormatError, "older"),
    "unknown required type": (make.log_bytes(make.record("nobody/knows")), UnknownEventError, "register"),
    "a header that no session can have": (
        make.log_bytes(*TALK).replace(b'"createdAt"', b'"cwd":"here","createdAt"'),
        LogCorruptError,
        "cwd",
    ),
}


@pytest.mark.parametrize(("data", "error", "word"), KINDS_OF_REFUSAL.values(), ids=KINDS_OF_REFUSAL)
def test_refusals_are_told_apart_and_nothing_is_touched(tmp_path: Path, data: bytes, error: type[Exception], word: str) -> None:
    store = make.jsonl_file(tmp_path, data)
    for ask in (store.load, store.inspect):
        with pytest.raises(StoredLogError) as caught:
            ask("s1")
        assert type(caught.value) is error
        assert word in str(caught.value)
        assert str(caught.value).startswith(str(store.path("s1")))
    assert files_of(tmp_path) == {"s1.jsonl": data}


def test_an_unknown_event_is_named_apart_from_its_body(tmp_path: Path) -> None:
    store = make.jsonl_file(tmp_path, make.log_bytes(*TALK, make.record("nobody/knows", "CANARY")))
    with pytest.raises(UnknownEventError) as caught:
        store.load("s1")
    assert (caught.value.type, caught.value.seq) == ("nobody/knows", 3)
    assert "CANARY" not in str(caught.value)


# Frames


def three_frames(folder: Path) -> tuple[JsonlStore, list[int]]:
    """A compressed log of three turns, one a frame, and the sizes of the file after each."""
    store = JsonlStore(folder, "zstd")
    store.create(SessionHeader("s1"))
    sizes = []
    for turn in (1, 2, 3):
        store.append("s1", make.log(make.turn_start(turn), make.user(f"turn {turn}"), make.turn_end(turn), first=3 * turn - 3))
        sizes.append(store.path("s1").stat().st_size)
    return store, sizes


def test_a_frame_cut_at_any_byte_is_a_torn_tail(tmp_path: Path) -> None:
    store, sizes = three_frames(tmp_path)
    raw = store.path("s1").read_bytes()
    for size in range(sizes[0], sizes[2]):
        store.path("s1").write_bytes(raw[:size])
        found = store.inspect("s1")
        assert len(found.events) == (6 if size >= sizes[1] else 3)
        assert (found.repair is None) == (size in sizes)


def test_no_flipped_byte_of_a_frame_is_read_as_another_event(tmp_path: Path) -> None:
    store, sizes = three_frames(tmp_path)
    raw, events = store.path("s1").read_bytes(), make.plain(store.inspect("s1").events)
    for at in range(sizes[1], sizes[2]):
        for bit in (1, 16, 128):
            store.path("s1").write_bytes(raw[:at] + bytes([raw[at] ^ bit]) + raw[at + 1 :])
            found = make.plain(store.inspect("s1").events)
            assert found in (events, events[:6]), f"byte {at}"


def test_a_damaged_frame_with_turns_behind_it_is_damage(tmp_path: Path) -> None:
    store, sizes = three_frames(tmp_path)
    raw = store.path("s1").read_bytes()
    middle = (sizes[0] + sizes[1]) // 2
    store.path("s1").write_bytes(raw[:middle] + bytes([raw[middle] ^ 0x55]) + raw[middle + 1 :])
    before = files_of(tmp_path)
    for ask in (store.inspect, store.load):
        with pytest.raises(LogCorruptError):
            ask("s1")
    assert files_of(tmp_path) == before


# Ids

HOSTILE = [
    "../evil",
    "..",
    ".",
    "/etc/passwd",
    "a/b",
    "a\\b",
    "a~002fb",
    "a\x00b",
    "nul\x00",
    "con",
    "CON",
    "Con",
    "aux.jsonl",
    "demo",
    "Demo",
    "DEMO",
    "a" * 300,
    "a" * 301,
    "A" * 300,
    "é",
    "e\u0301",
    "\u202egpj",
    "line\nbreak",
    " ",
    " a",
    "a ",
    "a.",
    "-rf",
    "~",
    "~~",
    "~empty",
    "~002e",
    "\ud83d",
    "\ude42",
    "🙂",
    "预算" * 100,
    "s1.jsonl",
    "s1.lock",
    "s1.jsonl.lock",
    "*",
    "?",
    "a:b",
    '"',
    "%2e%2e",
    "..%2f",
    "a" * 200,
    "a" * 199 + "/",
    "ok-1_2",
]


def test_hostile_ids_stay_in_the_folder_and_never_meet(store: JsonlStore) -> None:
    outside = {path for path in store.root.parent.rglob("*") if not path.is_relative_to(store.root)}
    for number, id in enumerate(HOSTILE):
        stored(store, make.record("session/title", number), id=id)
    assert {path for path in store.root.parent.rglob("*") if not path.is_relative_to(store.root)} == outside
    assert all(path.parent == store.root for path in store.root.rglob("*")), "no folder is made"
    for number, id in enumerate(HOSTILE):
        loaded = store.load(id)
        assert (loaded.header.id, loaded.events[0].read()) == (id, number)
        assert store.path(id).parent == store.root
    assert sorted(header.id for header in store.list()) == sorted(HOSTILE)
    folded = [store.path(id).name.lower() for id in HOSTILE]
    assert len(set(folded)) == len(folded), "not on a disk that folds case either"
    assert max(len(path.name.encode()) for path in store.root.iterdir()) <= 255


@pytest.mark.parametrize("id", ["", None, 5, b"x", Path("x")], ids=repr)
def test_no_id(store: JsonlStore, id: Any) -> None:
    for ask in (store.path, store.inspect, store.load):
        with pytest.raises(EventError):
            ask(id)


def test_a_segment_is_safe_and_its_own() -> None:
    segments = [encode_segment(id) for id in HOSTILE]
    assert len(set(segments)) == len(segments)
    allowed = set("abcdefghijklmnopqrstuvwxyz0123456789._-~")
    for segment in segments:
        assert set(segment) <= allowed
        assert segment not in ("", ".", "..")
        assert len(segment) <= 200
    assert encode_segment("ok-1_2.x") == "ok-1_2.x"


def test_the_side_files_of_the_longest_id_fit(store: JsonlStore) -> None:
    long = "预" * 300
    stored(store, *TALK, id=long)
    with store.path(long).open("ab") as file:
        file.write(b"torn")
    repair = store.load(long).repair
    assert repair is not None
    assert repair.kept_in is not None
    assert len(repair.kept_in.name) < 255 - len(".4194304.draft")


@posix
def test_descriptors_are_given_back(store: JsonlStore) -> None:
    if not Path("/proc/self/fd").exists():
        pytest.skip("counts descriptors as Linux shows them")
    (store.root / "x").mkdir(parents=True)
    store.path("folder").mkdir()

    def once() -> None:
        id = f"s{len(list(store.root.iterdir()))}"
        stored(store, *TALK, id=id)
        for ask in (store.load, store.inspect, store.revision):
            ask(id)
        store.list()
        for busy in (lambda: store.inspect("folder"), lambda: store.load("nobody"), lambda: store.attach(Session.create(id))):
            with pytest.raises((OSError, StoredLogError)):
                busy()

    once()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        once()
    assert len(os.listdir("/proc/self/fd")) == before


def test_the_folder_may_be_named_in_any_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    stored(JsonlStore("deep/er"), *TALK)
    assert len(JsonlStore(str(tmp_path / "deep" / "er")).load("s1").events) == 3
