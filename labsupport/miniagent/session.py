"""The session file of the mini-agent: one message, one JSON object, one line (chapter 34)."""
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec
import portalocker

from labsupport.errors import SessionJsonError, SessionRecordError, SessionTornTailError
from labsupport.miniagent.messages import (
    AssistantMessage,
    Message,
    ToolCall,
    ToolMessage,
    UserMessage,
    exact_json,
    quick_json,
)
from labsupport.strict_json import read_json
from labsupport.system import fsync_folder, no_garbage_collection, write_all

Durability = Literal["buffered", "fsync"]

_APPEND = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
_EXCLUSIVE = portalocker.LockFlags.EXCLUSIVE


@dataclass(frozen=True)
class RecordProblem:
    """Why a value is no message: the field *where* (empty: the value itself) breaks *rule*."""

    where: str
    rule: Literal["object", "role", "string", "boolean", "list", "present"]

    def __str__(self) -> str:
        must = {"object": "must be an object", "role": "must be user, assistant or tool", "string": "must be a string",
                "boolean": "must be true or false", "list": "must be a list", "present": "must be there (null is allowed)"}
        return f"{self.where or 'the record'} {must[self.rule]}"


def session_message_problem(value: object) -> RecordProblem | None:
    """The first rule that *value* breaks as a message; None when it is one.

    >>> print(session_message_problem({"role": "tool", "toolCallId": "c1", "content": "", "isError": 1}))
    isError must be true or false
    """
    if type(value) is not dict:
        return RecordProblem("", "object")
    role = value.get("role")
    for field in ("role", "content"):  # the shared precondition
        if type(value.get(field)) is not str:
            return RecordProblem(field, "string")
    if role == "user":
        return None
    if role == "tool":
        if type(value.get("toolCallId")) is not str:
            return RecordProblem("toolCallId", "string")
        return None if type(value.get("isError")) is bool else RecordProblem("isError", "boolean")
    if role != "assistant":
        return RecordProblem("role", "role")
    calls = value.get("toolCalls")
    if type(calls) is not list:
        return RecordProblem("toolCalls", "list")
    for index, call in enumerate(calls):
        where = f"toolCalls[{index}]"
        if type(call) is not dict:
            return RecordProblem(where, "object")
        for field in ("id", "name"):
            if type(call.get(field)) is not str:
                return RecordProblem(f"{where}.{field}", "string")
        if "input" not in call:
            return RecordProblem(f"{where}.input", "present")
    return None


def parse_session_message(value: object) -> Message | None:
    """The message that *value* (decoded JSON) is, or None. It never raises, whatever it is given.

    >>> parse_session_message({"role": "user", "content": "hi", "mood": "good"})
    UserMessage(content='hi')

    One bad call spoils the message; a call's input may be anything, null too:

    >>> parse_session_message({"role": "assistant", "content": "", "toolCalls": [{"id": "c1", "name": "ls", "input": None}]})
    AssistantMessage(content='', tool_calls=(ToolCall(id='c1', name='ls', input=None),))
    >>> parse_session_message({"role": "assistant", "content": "", "toolCalls": [{"id": "c1", "name": "ls"}]}) is None
    True

    It checks whether a message can be restored, not whether it can be run. Chapter 34.
    """
    if session_message_problem(value) is not None:
        return None
    found: dict[str, Any] = value  # type: ignore[assignment]
    if found["role"] == "user":
        return UserMessage(found["content"])
    if found["role"] == "tool":
        return ToolMessage(found["toolCallId"], found["content"], found["isError"])
    calls = tuple(ToolCall(call["id"], call["name"], call["input"]) for call in found["toolCalls"])
    return AssistantMessage(found["content"], calls)


_decode = msgspec.json.Decoder(Message).decode


def load_session(path: str | os.PathLike[str]) -> list[Message]:
    """The messages in the session file *path*, in order. A file that is absent is a first start: no messages.

    Lines end at a line feed and nowhere else; empty lines are passed over. The first line that cannot be taken stops the
    load: SessionJsonError (SessionTornTailError for a last record that was cut short) or SessionRecordError, with the
    number of the line as an editor shows it. Every other error of the operating system comes through as it is.

    Memory follows the messages kept, however large the file. Chapter 34.
    """
    try:
        return _load(path, lock=False)
    except SessionTornTailError:
        return _load(path, lock=True)  # a writer may have been at work on it: look again while none is


def _load(path: str | os.PathLike[str], lock: bool) -> list[Message]:
    try:
        file = open(path, "rb")  # noqa: SIM115
    except FileNotFoundError:
        return []
    messages: list[Message] = []
    keep, offset = messages.append, 0
    with file, no_garbage_collection():
        if lock:
            portalocker.lock(file, _EXCLUSIVE)
        for number, line in enumerate(file, 1):
            message = _quick_line(line)
            if message is not None:
                keep(message)
            elif line != b"\n":
                keep(_read_line(line, Path(path), number, offset))
            offset += len(line)
    return messages


def _quick_line(line: bytes) -> Message | None:
    """The message on *line*, where a fast decoder that is stricter than the rules takes it; else None."""
    try:
        message = _decode(line)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):  # also at extra keys, lone surrogates, depth
        return None
    if type(message) is AssistantMessage and not message.tool_calls and b'"toolCalls":' not in line:
        return None  # here the decoder is laxer: it fills in the default
    return message


def _read_line(line: bytes, path: Path, number: int, offset: int) -> Message:
    """The message on *line*, by the slow and exact way; *offset* is where the line begins in the file."""
    try:
        value = read_json(line)
    except ValueError as error:
        detail = str(error)
    else:
        message = parse_session_message(value)
        if message is not None:
            return message
        raise SessionRecordError(path, number, f"{session_message_problem(value)}. Nothing was loaded; repair this line first.")
    if line.endswith(b"\n"):
        raise SessionJsonError(path, number, f"{detail}. Nothing was loaded; repair this line first.")
    raise SessionTornTailError(path, number, offset, detail)


def append_session(path: str | os.PathLike[str], message: Message, *, lock: bool = True,
                   durability: Durability = "buffered") -> None:
    """Add *message* as one line, in one write, to the session file *path*. An absent file is made, an absent folder is not.

    The message is checked first: what is written, `load_session` gives back equal; else LosslessError and no write.
    Several processes may append: each holds the file's lock while it writes. A last line that is torn is never glued on to:
    SessionTornTailError, and nothing is written; a whole one that lacks its line break gets it first. When the write
    fails half way (a full disk) the file is cut back to what it was and the error of the system comes through.
    With ``durability="fsync"`` the line is on the disk on return, and the name of a file that this append makes as well.

    ``lock=False`` is the chapter's plain append: no lock, no look at the last line, no way back. Chapter 34.
    """
    if durability not in ("buffered", "fsync"):
        raise ValueError(f'durability is "buffered" or "fsync", not {durability!r}')
    data = quick_json(message)
    line = (exact_json(message, exact=True).encode() if data is None else data) + b"\n"
    fd = os.open(path, _APPEND, 0o666)
    try:
        if not lock:
            write_all(fd, line)
        else:
            portalocker.lock(fd, _EXCLUSIVE)
            size = os.lseek(fd, 0, os.SEEK_END)
            if size and not _ends_whole(fd, size):
                _check_tail(Path(path))
                line = b"\n" + line
            try:
                write_all(fd, line)
                if durability == "fsync":
                    os.fsync(fd)
            except BaseException:
                with suppress(OSError):  # a device has no length; the first error says what is wrong
                    os.ftruncate(fd, size)
                raise
            if size:
                return
        if durability == "fsync":
            os.fsync(fd)
            fsync_folder(Path(path).parent)
    finally:
        os.close(fd)  # and with it the lock


def _ends_whole(fd: int, size: int) -> bool:
    if hasattr(os, "pread"):
        return os.pread(fd, 1, size - 1) == b"\n"
    os.lseek(fd, size - 1, os.SEEK_SET)  # Windows
    return os.read(fd, 1) == b"\n"


def _check_tail(path: Path) -> None:
    """Raise what is wrong with the last line of *path*, which has no line break."""
    with open(path, "rb") as file:
        number, offset, line = 0, 0, b""
        for number, line in enumerate(file, 1):  # noqa: B007
            offset += len(line)
    _read_line(line, path, number, offset - len(line))
