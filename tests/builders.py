"""Messages on a line: a case should show what it is about and nothing else."""
from pathlib import Path
from typing import Any

from labsupport.miniagent import AssistantMessage, Message, ToolCall, ToolMessage, UserMessage, message_json


def user(content: str = "hi") -> UserMessage:
    return UserMessage(content)


def says(content: str = "ok") -> AssistantMessage:
    """An answer that asks for nothing."""
    return AssistantMessage(content, ())


def call(call_id: str, name: str = "read", given: Any = None) -> ToolCall:
    return ToolCall(call_id, name, given)


def calls(*ids: str, content: str = "") -> AssistantMessage:
    """One request for as many tool calls as there are *ids*."""
    return AssistantMessage(content, tuple(call(call_id) for call_id in ids))


def gives(value: Any) -> AssistantMessage:
    """A request whose only call has *value* as its input."""
    return AssistantMessage("", (call("c", "run", value),))


def result(call_id: str, content: str = "done", is_error: bool = False) -> ToolMessage:
    return ToolMessage(call_id, content, is_error)


def session_text(*messages: Message) -> str:
    """The text of a session file with these *messages*."""
    return "".join(message_json(message) + "\n" for message in messages)


def session_file(path: Path, *messages: Message, tail: bytes = b"") -> Path:
    """A session file at *path* with these *messages*, and *tail* behind them."""
    path.write_bytes(session_text(*messages).encode() + tail)
    return path
