"""Attachments: whole or not there, named by a digest that takes a key, and gone when they are deleted."""
import hashlib
import hmac
import os
import pickle
import signal
import threading
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labsupport.outside import (
    AttachmentCorruptError,
    AttachmentError,
    AttachmentMissingError,
    AttachmentReferenceError,
    Attachments,
    OutsideError,
    OutsideFileError,
    Page,
    attachments,
)
from tests.sessionlog import power
from tests.sessionlog.builders import POSIX, in_child

posix = pytest.mark.skipif(not POSIX, reason="forks, links and limits as on POSIX")
KEY = bytes(range(32))
ROWS = b"".join(f"{number},row {number}\n".encode() for number in range(1000))
NOWHERE = f"attachment:{'0' * 64}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "attachments"


@pytest.fixture
def kept(folder: Path) -> Attachments:
    return Attachments(folder, KEY)


def file_of(folder: Path, ref: str) -> Path:
    return folder / ref.removeprefix("attachment:")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# What goes in comes out


@settings(max_examples=60, deadline=None)
@given(data=st.binary(max_size=300) | st.lists(st.sampled_from([b"\n", b"\r\n", b"a", "预算".encode(), b"\xff", b"\0"]),
                                                  max_size=30).map(b"".join),
       first=st.integers(1, 12), count=st.integers(0, 12))
def test_law_bytes_come_back_and_lines_are_what_stands_between_line_breaks(
        shared: Attachments, data: bytes, first: int, count: int) -> None:
    ref = shared.put(data)
    assert shared.get(ref) == data
    assert shared.size(ref) == len(data)
    assert ref in shared.refs()
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    shown = [line.removesuffix(b"\r").decode("utf-8", "backslashreplace") for line in lines]
    assert shared.lines(ref, first, count) == Page(first, tuple(shown[first - 1:first - 1 + count]), len(lines))


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Attachments:
    return Attachments(tmp_path_factory.mktemp("examples"), KEY)


def test_the_same_bytes_are_one_file_whoever_puts_them(kept: Attachments, folder: Path) -> None:
    refs = {kept.put(ROWS), Attachments(str(folder), KEY).put(ROWS), kept.put(bytes(bytearray(ROWS)))}
    assert len(refs) == 1
    assert kept.refs() == list(refs)
    assert names(folder) == [file_of(folder, refs.pop()).name], "nothing else is left"


def test_references_are_in_order_and_files_of_other_names_are_not_ours(kept: Attachments, folder: Path) -> None:
    assert kept.refs() == []
    refs = [kept.put(bytes([number])) for number in range(5)]
    for name in ("notes.txt", "A" * 64, "0" * 63, "0" * 64 + ".1.2.draft", "0" * 64 + "\n"):
        (folder / name).write_bytes(b"x")
    assert kept.refs() == sorted(refs)


@pytest.mark.parametrize("data", ["text", bytearray(b"x"), None, 7], ids=repr)
def test_an_attachment_is_bytes(kept: Attachments, folder: Path, data: Any) -> None:
    with pytest.raises(TypeError, match="encode"):
        kept.put(data)
    assert not folder.exists()


# Pages for people


def test_a_page_says_where_it_is_in_the_whole(kept: Attachments) -> None:
    ref = kept.put(ROWS)
    assert kept.lines(ref) == Page(1, tuple(f"{number},row {number}" for number in range(20)), 1000)
    assert kept.lines(ref, 999, 20) == Page(999, ("998,row 998", "999,row 999"), 1000)
    assert kept.lines(ref, 1001) == Page(1001, (), 1000)
    for first, count in ((0, 1), (-1, 1), (1, -1)):
        with pytest.raises(ValueError, match="count from 1"):
            kept.lines(ref, first, count)


@pytest.mark.parametrize("letter", ["x", "é", "预", "🙂"])
@pytest.mark.parametrize("length", [attachments.WIDEST - 1, attachments.WIDEST, attachments.WIDEST + 1, 200_000])
def test_a_line_that_is_too_wide_is_cut_between_letters(kept: Attachments, letter: str, length: int) -> None:
    line, page = letter * length, kept.lines(kept.put(f"a\n{letter * length}\nb".encode()))
    assert page.total == 3
    assert page.lines == ("a", line if length <= attachments.WIDEST else letter * attachments.WIDEST + "…", "b")


def test_a_page_does_not_take_the_whole_into_memory(kept: Attachments) -> None:
    rows, one_line = kept.put(b"0123456789abcdef\n" * 2**17), kept.put(b"x" * 2**21)
    for ref, first in ((rows, 900), (one_line, 1)):
        tracemalloc.start()
        try:
            kept.lines(ref, first, 20)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 2**19, "of two million"


# The digest takes the key


GUESSES = [b"yes", b"no", b"+86 138 0000 0000", b"HIV positive", b""]


def test_without_the_key_the_digest_of_a_guessed_value_does_not_match(kept: Attachments, folder: Path) -> None:
    """Whoever sees the names can guess values and hash them. It tells them nothing; with the key, or a plain hash, it would."""
    for data in GUESSES:
        kept.put(data)
    seen = names(folder)
    for data in GUESSES:
        plain = [hashlib.new(name, data).hexdigest() for name in ("sha256", "sha3_256", "blake2s")]
        keyed = [hmac.new(key, data, "sha256").hexdigest() for key in (b"", bytes(32), KEY[:31], KEY + b"x")]
        assert not {*plain, *keyed} & set(seen)
        assert hmac.new(KEY, data, "sha256").hexdigest() in seen, "so this is how it would be found"


def test_with_another_key_nothing_is_found_and_nothing_is_believed(kept: Attachments, folder: Path) -> None:
    ref, other = kept.put(ROWS), Attachments(folder, bytes(32))
    for ask in (other.get, other.lines):
        with pytest.raises(AttachmentCorruptError, match="key was another one"):
            ask(ref)
    assert other.put(ROWS) != ref
    assert kept.get(ref) == ROWS


@pytest.mark.parametrize("key", [b"", b"x" * 15, "x" * 32, bytearray(32), None], ids=["", "short", "text", "bytearray", "None"])
def test_a_key_that_is_no_secret_is_refused(folder: Path, key: Any) -> None:
    with pytest.raises(ValueError, match="16 bytes or more") as caught:
        Attachments(folder, key)
    assert "xxx" not in str(caught.value)


# References that are none, and what is in the way


WRONG: dict[str, Any] = {
    "nothing": "", "no digits": "attachment:", "another word": "file:" + "0" * 64, "no word": "0" * 64,
    "upper case": "attachment:" + "A" * 64, "upper case word": "Attachment:" + "0" * 64, "too short": "attachment:" + "0" * 63,
    "too long": "attachment:" + "0" * 65, "a space": " attachment:" + "0" * 64, "a line break": NOWHERE + "\n",
    "a path up": "attachment:../secret", "a path up of the right length": "attachment:" + "../" * 19 + "secret1",
    "a path": "attachment:/etc/passwd", "a NUL": "attachment:" + "0" * 63 + "\0", "other digits": "attachment:" + "٠" * 64,
    "wide digits": "attachment:" + "０" * 64, "bytes": NOWHERE.encode(), "number": 7, "None": None, "object": Path("x"),
}


@pytest.mark.parametrize("ref", WRONG.values(), ids=WRONG)
def test_what_is_no_reference_is_refused_and_nothing_is_read(kept: Attachments, folder: Path, ref: Any) -> None:
    kept.put(ROWS)
    (folder.parent / "secret").write_bytes(b"x")
    (folder.parent / "secret1").write_bytes(b"x")
    before = names(folder)
    for ask in (kept.get, kept.lines, kept.size, kept.delete):
        with pytest.raises(AttachmentReferenceError, match="64 digits") as caught:
            ask(ref)
        assert caught.value.ref == ref
    assert names(folder) == before
    assert (folder.parent / "secret").exists()


def test_what_is_not_there_is_missing(kept: Attachments, folder: Path) -> None:
    for _ in ("before there is a folder", "in a folder"):
        for ask in (kept.get, kept.lines, kept.size, kept.delete):
            with pytest.raises(AttachmentMissingError) as caught:
                ask(NOWHERE)
            assert caught.value.ref == NOWHERE
        kept.put(ROWS)


@posix
@pytest.mark.parametrize("target", ["a file", "the same bytes", "nothing", "a folder"])
def test_a_link_in_the_place_of_an_attachment_is_not_followed(kept: Attachments, folder: Path, target: str) -> None:
    path = file_of(folder, kept.put(ROWS))
    victim = folder.parent / "victim"
    path.unlink()
    if target == "a folder":
        victim.mkdir()
    elif target != "nothing":
        victim.write_bytes(ROWS if "same" in target else b"secret")
    path.symlink_to(victim)
    before = victim.read_bytes() if victim.is_file() else None
    ref = f"attachment:{path.name}"
    for ask in (kept.get, kept.lines, kept.size, kept.delete, lambda _: kept.put(ROWS)):
        with pytest.raises(OutsideFileError, match="this is a link") as caught:
            ask(ref)
        assert caught.value.path == path
    assert path.is_symlink()
    assert (victim.read_bytes() if victim.is_file() else None) == before


def test_a_folder_in_the_place_of_an_attachment_is_told(kept: Attachments, folder: Path) -> None:
    path = file_of(folder, kept.put(ROWS))
    path.unlink()
    path.mkdir()
    for ask in (kept.get, kept.lines, kept.size, kept.delete, lambda _: kept.put(ROWS)):
        with pytest.raises(OutsideFileError, match="this is a folder"):
            ask(f"attachment:{path.name}")


@posix
def test_a_pipe_in_the_place_of_an_attachment_is_not_waited_for(kept: Attachments, folder: Path) -> None:
    path = file_of(folder, kept.put(ROWS))
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(OutsideFileError, match="this is a device"):
        kept.get(f"attachment:{path.name}")


@posix
def test_the_folder_is_neither_a_link_nor_a_file(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real", target_is_directory=True)
    (tmp_path / "file").write_bytes(b"")
    for name in ("link", "file"):
        with pytest.raises(OutsideFileError, match="folder of their own"):
            Attachments(tmp_path / name, KEY)


def test_errors_are_of_one_tree_and_the_same_in_another_process() -> None:
    for kind in (AttachmentReferenceError, AttachmentMissingError, AttachmentCorruptError):
        assert issubclass(kind, AttachmentError)
        assert issubclass(kind, OutsideError)
        again = pickle.loads(pickle.dumps(kind("no.", NOWHERE)))
        assert (type(again), str(again), again.ref) == (kind, "no.", NOWHERE)


# Damage


def damaged(data: bytes, random: Random) -> bytes:
    at = random.randrange(len(data))
    changed = bytes([data[at] ^ 1 << random.randrange(8)])
    return random.choice([data[:at], data[:at] + changed + data[at + 1:], data + b"\n", data[at + 1:], b""])


def test_damage_is_always_told_and_mended_by_who_has_the_data(kept: Attachments, folder: Path) -> None:
    ref, random = kept.put(ROWS), Random(2)
    path = file_of(folder, ref)
    for _ in range(60):
        spoilt = damaged(ROWS, random)
        path.write_bytes(spoilt)
        for ask in (kept.get, kept.lines, lambda ref: kept.lines(ref, 1, 0)):
            with pytest.raises(AttachmentCorruptError, match="put\\(data\\) mends it") as caught:
                ask(ref)
            assert caught.value.ref == ref
            assert "row" not in str(caught.value)
        assert path.read_bytes() == spoilt, "nothing was changed"
        assert kept.put(ROWS) == ref
        assert kept.get(ref) == ROWS
        assert names(folder) == [path.name]


# Deleting


def test_a_deleted_attachment_is_gone_and_the_rest_is_not(kept: Attachments, folder: Path) -> None:
    ref, other = kept.put(ROWS), kept.put(b"other")
    name = file_of(folder, ref).name
    (folder / f"{name}.77.88.draft").write_bytes(ROWS[:500])  # of a writer that was killed
    for not_ours in (f"{name}.txt", f"{name}.77.draft", "notes"):
        (folder / not_ours).write_bytes(b"mine")
    removed = kept.delete(ref)
    assert (removed.ref, removed.size) == (ref, len(ROWS))
    assert set(removed.unreached) == {"log", "backup", "disk"}, "what no deletion here can reach is said each time"
    assert names(folder) == sorted([file_of(folder, other).name, f"{name}.txt", f"{name}.77.draft", "notes"])
    assert not any(b"row" in path.read_bytes() for path in folder.iterdir())
    with pytest.raises(AttachmentMissingError):
        kept.get(ref)
    with pytest.raises(AttachmentMissingError):
        kept.delete(ref)
    assert kept.refs() == [other]
    assert kept.put(ROWS) == ref


def test_what_a_crash_left_half_written_goes_with_the_next_first_put(kept: Attachments, folder: Path) -> None:
    """Nobody was told its reference, so nobody could delete it."""
    kept.put(b"first")
    half = folder / f"{'1' * 64}.77.88.draft"
    half.write_bytes(b"half")
    assert len(Attachments(folder, KEY).refs()) == 1
    assert half.exists(), "who only reads writes nothing"
    Attachments(folder, KEY).put(b"second")
    assert not half.exists()


# Kills, power cuts, full disks


CALLS = ("open", "write", "fsync", "link", "unlink", "replace", "close", "mkdir")


def killed_at(at: int, work: Callable[[], Any]) -> bool:
    """Let a child do *work* and be killed before its call number *at* of the system; whether it was."""
    child = os.fork()
    if child == 0:
        left = at

        def counted(real: Callable[..., Any]) -> Callable[..., Any]:
            def call(*args: Any, **more: Any) -> Any:
                nonlocal left
                left -= 1
                if not left:
                    if real is write:
                        write(args[0], args[1][:len(args[1]) // 2])
                    os.kill(os.getpid(), signal.SIGKILL)
                return real(*args, **more)
            return call

        write = os.write
        try:
            for name in CALLS:
                setattr(os, name, counted(getattr(os, name)))
            work()
        finally:
            os._exit(0)
    return os.waitpid(child, 0)[1] == signal.SIGKILL


@posix
@pytest.mark.parametrize("before", ["nothing", "damage", "another one"])
def test_a_process_killed_at_any_call_leaves_it_whole_or_not_at_all(tmp_path: Path, before: str) -> None:
    seen, at, killed = set(), 0, True
    refusal = AttachmentCorruptError if before == "damage" else AttachmentMissingError
    while killed:
        at += 1
        folder = tmp_path / str(at)
        kept = Attachments(folder, KEY)
        if before == "damage":
            file_of(folder, kept.put(ROWS)).write_bytes(ROWS[:-1])
        elif before == "another one":
            kept.put(b"other")
        killed = killed_at(at, lambda folder=folder: Attachments(folder, KEY).put(ROWS))
        after = Attachments(folder, KEY)
        ref = f"attachment:{hmac.new(KEY, ROWS, 'sha256').hexdigest()}"
        try:
            seen.add("whole" if after.get(ref) == ROWS else "half")
        except refusal:
            seen.add("as before")
        assert after.put(ROWS) == ref
        assert after.get(ref) == ROWS
        after.delete(ref)
        assert names(folder) == ([file_of(folder, kept.put(b"other")).name] if before == "another one" else [])
    assert at > 6
    assert seen == {"whole", "as before"}


@posix
def test_a_deletion_that_is_killed_leaves_it_whole_or_gone(tmp_path: Path) -> None:
    seen, at, killed = set(), 0, True
    while killed:
        at += 1
        kept = Attachments(tmp_path / str(at), KEY)
        ref = kept.put(ROWS)
        killed = killed_at(at, lambda kept=kept, ref=ref: kept.delete(ref))
        seen.add(tuple(kept.refs()))
        if kept.refs():
            assert kept.get(ref) == ROWS
    assert seen == {(ref,), ()}


def cut_short(tmp_path: Path, deaf: Callable[[power.Call], bool] = lambda call: False) -> int:
    """Put two attachments, delete one, and cut the power behind every call of the system: how many folders were looked at."""
    folder, looked = tmp_path / "live", 0
    folder.mkdir()
    with power.Recorder(folder, deaf) as recorder:
        kept = Attachments(folder / "made" / "here", KEY)
        refs = [kept.put(ROWS)]
        recorder.mark(refs[:])
        refs.append(kept.put(b"small"))
        recorder.mark(refs)
        kept.delete(refs[0])
        recorder.mark(refs[1:])
    for at in range(len(recorder.calls) + 1):
        promised = recorder.last_word(at, [])
        for holds in recorder.cuts(at, seed=at):
            looked += 1
            found = Attachments(power.lay_out(holds, tmp_path / f"cut{looked}") / "made" / "here", KEY)
            there = found.refs()
            going = refs[:1] if len(promised) == 2 else []  # its deletion may be under way
            assert set(promised) - set(going) <= set(there), "what put returned for is gone"
            assert all(found.get(ref) in (ROWS, b"small") for ref in there), "half of one"
            if at == len(recorder.calls):
                assert there == refs[1:], "what delete returned for is there"
    return looked


@posix
def test_a_power_cut_takes_nothing_that_put_returned_for_and_brings_nothing_back(tmp_path: Path) -> None:
    assert cut_short(tmp_path) > 30


@posix
def test_put_answers_for_what_another_process_has_not_made_durable_yet(tmp_path: Path) -> None:
    """The other one has linked the file, and has yet to sync the folder."""
    folder = tmp_path / "live"
    kept = Attachments(folder, KEY)
    kept.put(b"small")
    with power.Recorder(folder) as recorder:
        fd = os.open(folder / "0.draft", os.O_WRONLY | os.O_CREAT)
        os.write(fd, ROWS)
        os.fsync(fd)
        os.close(fd)
        os.link(folder / "0.draft", folder / hmac.new(KEY, ROWS, "sha256").hexdigest())
        ref = kept.put(ROWS)
    for number, holds in enumerate(recorder.cuts(len(recorder.calls))):
        assert Attachments(power.lay_out(holds, tmp_path / f"cut{number}"), KEY).get(ref) == ROWS


@posix
@pytest.mark.parametrize(("deaf", "found"), [
    (lambda call: call.folder is None, "not what was put|gone"),
    (lambda call: call.folder is not None, "gone|is there")], ids=["of the file", "of the folders"])
def test_a_sync_that_is_left_out_is_noticed(tmp_path: Path, deaf: Callable[[power.Call], bool], found: str) -> None:
    with pytest.raises((AssertionError, AttachmentCorruptError), match=found):
        cut_short(tmp_path, deaf)


@posix
@pytest.mark.parametrize("there", [True, False], ids=["damaged before", "not there"])
def test_a_full_disk_is_told_and_leaves_nothing_half(kept: Attachments, folder: Path, there: bool) -> None:
    small = kept.put(b"small")
    ref = f"attachment:{hmac.new(KEY, ROWS, 'sha256').hexdigest()}"
    if there:
        file_of(folder, ref).write_bytes(b"damaged")
    before = {name: (folder / name).read_bytes() for name in names(folder)}

    def work() -> str:
        import resource

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (5000, resource.RLIM_INFINITY))
        try:
            kept.put(ROWS)
        except OSError as error:
            return type(error).__name__
        return "put"

    assert in_child(work) == "OSError"
    assert {name: (folder / name).read_bytes() for name in names(folder)} == before
    assert kept.get(small) == b"small"
    assert kept.put(ROWS) == ref


# Threads and processes at once


def test_threads_that_put_and_delete_the_same_are_never_given_half(kept: Attachments, folder: Path) -> None:
    data, stop = ROWS * 40, threading.Event()
    ref = kept.put(data)

    def puts() -> int:
        mine = Attachments(folder, KEY)
        return sum(mine.put(data) == ref for _ in range(25))

    def deletes() -> set[str]:
        seen = set()
        while not stop.is_set():
            for ask in (kept.delete, kept.get):
                try:
                    told = ask(ref)
                    seen.add("whole" if told == data else "removed" if isinstance(told, attachments.Removed) else "half")
                except AttachmentMissingError:
                    seen.add("missing")
        return seen

    with ThreadPoolExecutor(4) as pool:
        deleter = pool.submit(deletes)
        try:
            assert [put.result() for put in [pool.submit(puts) for _ in range(3)]] == [25] * 3
        finally:
            stop.set()
        assert deleter.result() <= {"whole", "missing", "removed"}
    kept.put(data)
    assert kept.get(ref) == data
    assert names(folder) == [file_of(folder, ref).name]


@posix
def test_processes_that_put_while_others_sweep_put_all_the_same(folder: Path) -> None:
    """Each new `Attachments` takes away the drafts that it finds, those of the living too: their put begins again."""

    def child() -> list[str]:
        return [Attachments(folder, KEY).put(ROWS + bytes([at])) for at in range(25)]

    with ThreadPoolExecutor(3) as pool:
        answers = [answer.result() for answer in [pool.submit(in_child, child) for _ in range(3)]]
    assert answers[0] == answers[1] == answers[2]
    kept = Attachments(folder, KEY)
    assert kept.refs() == sorted(answers[0])
    assert all(kept.get(ref) == ROWS + bytes([at]) for at, ref in enumerate(answers[0]))


def test_two_threads_never_write_into_one_draft(kept: Attachments, monkeypatch: pytest.MonkeyPatch) -> None:
    """One could link what the other has half written."""
    kept.put(b"first")
    real, both, drafts = os.link, threading.Barrier(2, timeout=60), set()

    def link(draft: Path, path: Path) -> None:
        drafts.add(draft)
        both.wait()
        real(draft, path)

    monkeypatch.setattr(os, "link", link)
    with ThreadPoolExecutor(2) as pool:
        assert len(set(pool.map(lambda _: kept.put(ROWS), range(2)))) == 1
    assert len(drafts) == 2


def test_a_put_whose_draft_is_taken_away_begins_again(
        kept: Attachments, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, times = os.link, []

    def swept(draft: Path, path: Path) -> None:
        times.append(draft)
        if len(times) < 3:
            Path(draft).unlink()
        real(draft, path)

    monkeypatch.setattr(os, "link", swept)
    assert kept.get(kept.put(ROWS)) == ROWS
    assert len(times) == 3
