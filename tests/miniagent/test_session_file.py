"""The file: where lines end, what every cut of it gives, and what append does to what it finds."""
import errno
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from labsupport.errors import LosslessError, SessionFileError, SessionJsonError, SessionRecordError, SessionTornTailError
from labsupport.miniagent import AssistantMessage, Message, append_session, load_session, message_json
from labsupport.miniagent import session as session_module
from tests.builders import call, gives, result, says, session_file, session_text, user

SESSION: list[Message] = [
    user("预算 🙂"), AssistantMessage("a\nb\\", (call("c1", "read", {"n": [1.5, None]}), call("c2", "\ud83d", "é"))),
    result("c1", "\u2028"),
    result("c2", "", True), says("done")]
BYTES = session_text(*SESSION).encode()
A, B = b'{"role":"user","content":"a"}', b'{"role":"user","content":"b"}'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s.jsonl"


def whole_lines(data: bytes) -> tuple[int, int]:
    """How many lines of *data* have their line break, and where the rest begins."""
    return data.count(b"\n"), data.rfind(b"\n") + 1


@pytest.mark.parametrize("cut", range(len(BYTES) + 1))
def test_every_cut_keeps_a_prefix_or_is_a_torn_tail(cut: int, path: Path) -> None:
    path.write_bytes(BYTES[:cut])
    lines, rest = whole_lines(BYTES[:cut])
    if cut == rest or BYTES[cut:cut + 1] == b"\n":  # nothing is lost but a line break
        kept = SESSION[:lines + (cut > rest)]
        assert load_session(path) == kept
        append_session(path, user("on"))
        assert path.read_bytes() == session_text(*kept, user("on")).encode()
        return
    with pytest.raises(SessionTornTailError) as caught:
        load_session(path)
    assert (caught.value.line, caught.value.offset) == (lines + 1, rest)
    with pytest.raises(SessionTornTailError) as refused:
        append_session(path, user("on"))
    assert (refused.value.line, refused.value.offset) == (lines + 1, rest)
    assert path.read_bytes() == BYTES[:cut]
    path.write_bytes(BYTES[:rest])  # what the error advises
    assert load_session(path) == SESSION[:lines]


def test_a_nul_anywhere_is_an_error_at_its_line(path: Path) -> None:
    for at in range(len(BYTES)):
        path.write_bytes(BYTES[:at] + b"\x00" + BYTES[at + 1:])
        with pytest.raises(SessionJsonError) as caught:
            load_session(path)
        assert caught.value.line == BYTES[:at].count(b"\n") + 1
        last = at == len(BYTES) - 1  # in the place of the last line break
        assert isinstance(caught.value, SessionTornTailError) == last


def test_a_line_break_too_many_is_never_a_message_more(path: Path) -> None:
    for at in range(len(BYTES) + 1):
        path.write_bytes(BYTES[:at] + b"\n" + BYTES[at:])
        inside = BYTES[:at].rfind(b"\n") + 1 != at and BYTES[at:at + 1] != b"\n"
        if not inside:
            assert load_session(path) == SESSION
            continue
        with pytest.raises(SessionJsonError) as caught:
            load_session(path)
        assert caught.value.line == BYTES[:at].count(b"\n") + 1


FILES: list[tuple[str, bytes, Any]] = [
    ("an empty file", b"", []), ("only line breaks", b"\n\n\n", []),
    ("empty lines between", b"\n" + A + b"\n\n\n" + B + b"\n", "ab"),
    ("no line break at the end", A + b"\n" + B, "ab"), ("CRLF", A + b"\r\n" + B + b"\r\n", "ab"),
    ("CRLF and no line feed", A + b"\r", "a"),
    ("blanks around a record", b" \t" + A + b" \n", "a"), ("an empty line counts", A + b"\n\nno\n", (SessionJsonError, 3)),
    ("a line of blanks is no JSON", A + b"\n  \n" + B, (SessionJsonError, 2)),
    ("a line of only a return", A + b"\n\r\n" + B, (SessionJsonError, 2)),
    ("a tail of blanks", A + b"\n  ", (SessionTornTailError, 2)),
    ("a lone return ends no line", A + b"\r" + B + b"\n", (SessionJsonError, 1)),
    ("a form feed ends no line", A + b"\x0c" + B + b"\n", (SessionJsonError, 1)),
    ("two records on a line", A + B + b"\n", (SessionJsonError, 1)),
    ("two records on the last line", A + B, (SessionTornTailError, 1)),
    ("a mark in front", b"\xef\xbb\xbf" + A + b"\n", (SessionJsonError, 1)),
    ("UTF-16", (A + b"\n").decode().encode("utf-16"), (SessionJsonError, 1)),
    ("bad UTF-8", A + b"\n" + A[:-3] + b'\xff"}\n', (SessionJsonError, 2)),
    ("bad UTF-8 in a key that would be dropped", A[:-1] + b',"\xff":1}\n', (SessionJsonError, 1)),
    ("a raw NUL", A[:-2] + b'\x00"}\n', (SessionJsonError, 1)),
    ("a tail of NULs", A + b"\n" + b"\x00" * 99, (SessionTornTailError, 2)),
    ("a raw control character", A[:-2] + b'\x1b"}\n', (SessionJsonError, 1)),
    ("a raw tab", A[:-2] + b'\t"}\n', (SessionJsonError, 1)),
    ("NaN in a key that would be dropped", A[:-1] + b',"more":NaN}\n', (SessionJsonError, 1)),
    ("an overflow in a key that would be dropped", A[:-1] + b',"more":[1e999]}\n', (SessionJsonError, 1)),
    ("null", b"null\n", (SessionRecordError, 1)), ("a number", A + b"\n42\n", (SessionRecordError, 2)),
    ("a list", b"[]\n", (SessionRecordError, 1)),
    ("a string", b'"user"\n', (SessionRecordError, 1)), ("an empty object", b"{}", (SessionRecordError, 1)),
    ("a record that is another program's", b'{"type":"session"}\n' + A, (SessionRecordError, 1)),
    ("the first bad line counts", A + b"\n{}\nno\n", (SessionRecordError, 2)),
    ("half a record inside", A[:9] + b"\n" + B, (SessionJsonError, 1)),
    ("the last of two equal keys", b'{"role":"user","content":"x","content":"a"}\n', "a"),
    ("roles that contradict", b'{"role":"tool","content":"a","role":"user"}\n', "a"),
    ("an escaped key", A.replace(b"role", b"r\\u006fle"), "a"),
    ("U+2028, U+2029 and U+0085 end no line", '{"role":"user","content":"\u2028\u2029\x85"}\n'.encode(), ["\u2028\u2029\x85"]),
    ("escaped halves", b'{"role":"user","content":"\\ude42 \\ud83d"}\n', ["\ude42 \ud83d"]),
    ("an escaped pair", b'{"role":"user","content":"\\ud83d\\ude42"}\n', ["🙂"]),
    ("an escaped NUL", b'{"role":"user","content":"\\u0000"}', ["\0"]),
]


@pytest.mark.parametrize(("data", "expected"), [case[1:] for case in FILES], ids=[case[0] for case in FILES])
def test_load(data: bytes, expected: Any, path: Path) -> None:
    path.write_bytes(data)
    if isinstance(expected, tuple):
        with pytest.raises(SessionFileError) as caught:
            load_session(path)
        assert (type(caught.value), caught.value.line) == expected
    else:
        assert load_session(path) == [user(content) for content in expected]
    assert path.read_bytes() == data


def test_numbers_come_back_with_their_digits(path: Path) -> None:
    digits = "9" * 5000
    path.write_bytes((message_json(gives(None)).replace("null",
                                                        f"[{digits},1e5,0.1,18446744073709551616]") + "\n").encode())
    loaded = load_session(path)[0].tool_calls[0].input  # type: ignore[union-attr]
    assert loaded[0] == 10**5000 - 1
    assert [repr(number) for number in loaded[1:]] == ["100000.0", "0.1", "18446744073709551616"]
    with pytest.raises(LosslessError, match="write it as a string"):
        append_session(path, gives(loaded[0]))


# What is there instead of a file

def test_an_absent_file_is_a_first_start(path: Path) -> None:
    assert load_session(path) == []
    assert load_session(path.parent / "no folder" / "s.jsonl") == []
    assert list(path.parent.iterdir()) == []  # reading makes nothing
    path.symlink_to("nowhere")
    assert load_session(path) == []


def test_a_folder_is_not_a_first_start(path: Path) -> None:
    path.mkdir()
    for use in (lambda: load_session(path), lambda: append_session(path, user())):
        with pytest.raises(OSError, match=r"s\.jsonl") as caught:
            use()
        assert caught.value.errno in (errno.EISDIR, errno.EACCES)  # Windows says the second
    assert list(path.iterdir()) == []


def test_a_path_through_a_file_is_not_a_first_start(path: Path) -> None:
    path.write_bytes(A)
    with pytest.raises(NotADirectoryError):
        load_session(path / "s.jsonl")


def test_append_makes_a_file_but_no_folder(path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        append_session(path.parent / "no folder" / "s.jsonl", user())
    assert list(path.parent.iterdir()) == []
    append_session(str(path), user())
    assert load_session(str(path)) == [user()]


# Append

@pytest.mark.parametrize("durability", ["buffered", "fsync"])
@pytest.mark.parametrize("lock", [True, False])
def test_append_adds_one_line(lock: bool, durability: Any, path: Path) -> None:
    for message in SESSION:
        append_session(path, message, lock=lock, durability=durability)
    assert path.read_bytes() == BYTES


def test_append_says_what_durability_is(path: Path) -> None:
    with pytest.raises(ValueError, match='"buffered" or "fsync"'):
        append_session(path, user(), durability="sync")  # type: ignore[arg-type]
    assert not path.exists()


@pytest.mark.parametrize("tail", [b"{", b"\x00\x00", A + B, A[:-1], b" ", b"\xe4\xbd"], ids=ascii)
def test_append_leaves_a_torn_tail_alone(tail: bytes, path: Path) -> None:
    session_file(path, user(), tail=tail)
    before = path.read_bytes()
    for durability in ("buffered", "fsync"):
        with pytest.raises(SessionTornTailError) as caught:
            append_session(path, user(), durability=durability)  # type: ignore[arg-type]
        assert (caught.value.path, caught.value.line, caught.value.offset) == (path, 2, len(before) - len(tail))
    assert path.read_bytes() == before


def test_append_does_not_build_on_a_last_line_that_is_no_message(path: Path) -> None:
    session_file(path, user(), tail=b'{"type":"note"}')
    before = path.read_bytes()
    with pytest.raises(SessionRecordError, match=r"^invalid session record at line 2"):
        append_session(path, user())
    assert path.read_bytes() == before


def test_append_gives_a_whole_last_line_its_line_break(path: Path) -> None:
    path.write_bytes(A + b"\n\n" + B + b" \r")
    append_session(path, user("c"))
    assert load_session(path) == [user("a"), user("b"), user("c")]
    assert path.read_bytes() == A + b"\n\n" + B + b" \r\n" + message_json(user("c")).encode() + b"\n"


def test_the_plain_append_glues_on_to_a_torn_tail(path: Path) -> None:
    session_file(path, user(), tail=A[:9])
    append_session(path, user("b"), lock=False)
    with pytest.raises(SessionJsonError) as caught:
        load_session(path)
    assert (type(caught.value), caught.value.line) == (SessionJsonError,
                                                       2)  # two records are lost now, and it is no tail any more


REFUSED: list[tuple[str, Message]] = [
    ("an integer that JavaScript rounds", gives({"n": [2**53]})), ("one below zero", gives(-(2**53))),
    ("NaN", gives(float("nan"))),
    ("infinity", gives([float("inf")])), ("a pair in two halves", user("\ud83d\ude42")),
    ("the same in a key", gives({"\ud83d\ude42": 1})),
    ("a tuple, which would come back as a list", gives([(1,)])), ("bytes", gives(b"x")),
    ("a call that is none", AssistantMessage("", ({"id": "a", "name": "b", "input": 1},))),  # type: ignore[arg-type]
    ("an id that is no string", AssistantMessage("", (call(1),))), ("no message", {"role": "user", "content": "x"}),
    # type: ignore[arg-type, list-item]
    ("None", None),  # type: ignore[list-item]
]


@pytest.mark.parametrize("message", [case[1] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_append_refuses_what_would_not_come_back(message: Message, path: Path) -> None:
    with pytest.raises(LosslessError):
        append_session(path, message)
    with pytest.raises(LosslessError):
        append_session(path, message, lock=False)
    assert not path.exists()


def test_a_list_of_calls_comes_back_equal(path: Path) -> None:
    message = AssistantMessage("", [call("a")])  # type: ignore[arg-type]
    append_session(path, message)
    assert load_session(path) == [message]


# A write that fails

def test_a_write_that_fails_half_way_is_cut_back(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session_file(path, user("first"), says("second"))
    before = path.read_bytes()
    write, room = os.write, [10]

    def full_disk(fd: int, data: bytes) -> int:
        if not room:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(fd, data[:room.pop()])

    monkeypatch.setattr(session_module.os, "write", full_disk)
    with pytest.raises(OSError, match="No space left") as caught:
        append_session(path, user("A"))
    assert caught.value.errno == errno.ENOSPC
    assert path.read_bytes() == before
    monkeypatch.undo()
    append_session(path, user("B"))
    assert load_session(path) == [user("first"), says("second"), user("B")]


def test_a_write_that_the_system_takes_in_parts_is_finished(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(session_module.os, "write", lambda fd, data: write(fd, data[:7]))
    append_session(path, SESSION[1])
    assert load_session(path) == [SESSION[1]]


@pytest.mark.parametrize("error", [OSError(errno.EIO, "I/O error"), KeyboardInterrupt()], ids=["EIO", "the user interrupts"])
def test_a_line_that_was_not_made_durable_is_taken_back(error: BaseException, path: Path,
                                                        monkeypatch: pytest.MonkeyPatch) -> None:
    session_file(path, user())
    before = path.read_bytes()

    def fails(fd: int) -> None:
        raise error

    monkeypatch.setattr(session_module.os, "fsync", fails)
    with pytest.raises(type(error)):
        append_session(path, says(), durability="fsync")
    assert path.read_bytes() == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_device_that_is_full_says_so() -> None:
    with pytest.raises(OSError, match="No space left") as caught:
        append_session("/dev/full", user())
    assert caught.value.errno == errno.ENOSPC


def test_threads_share_a_file(path: Path) -> None:
    def write(name: str) -> None:
        for number in range(100):
            append_session(path, user(f"{name} {number}"))

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    contents = [message.content for message in load_session(path)]
    for name in "abcd":
        assert [content for content in contents if content[0] == name] == [f"{name} {number}" for number in range(100)]
