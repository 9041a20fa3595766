"""The shapes of messages and request headers: what a stored log must have so that it can be derived from (chapter 4, §4.2)."""
from collections.abc import Callable
from typing import Annotated, Any, Literal

import msgspec

from labsupport.errors import EventError
from labsupport.sessionlog.json_text import field, read_data

SHAPED_TYPES = frozenset({"user/message", "assistant/message", "tool/result", "request/header"})
"""The types whose data has a shape that is checked; the data of all others is free."""

Text = Annotated[str, msgspec.Meta(min_length=1)]


class _Source(msgspec.Struct, gc=False):
    kind: Text


class _ModelSource(msgspec.Struct, gc=False):
    kind: Literal["model"]
    provider: Text
    model: Text


class _ToolSource(msgspec.Struct, gc=False, rename="camel"):
    kind: Literal["tool"]
    call_id: Text


class _UserMessage(msgspec.Struct, gc=False):
    id: Text
    role: Literal["user"]
    source: _Source
    content: list[msgspec.Raw]


class _ModelMessage(msgspec.Struct, gc=False):
    id: Text
    role: Literal["assistant"]
    source: _ModelSource
    content: list[msgspec.Raw]


class _AssistantData(msgspec.Struct, gc=False):
    message: _ModelMessage


class _ResultBlock(msgspec.Struct, gc=False, rename="camel"):
    type: Literal["tool-result"]
    tool_call_id: str
    content: list[msgspec.Raw]


class _ResultMessage(msgspec.Struct, gc=False):
    id: Text
    role: Literal["user"]
    source: _ToolSource
    content: Annotated[list[_ResultBlock], msgspec.Meta(min_length=1, max_length=1)]


class _ResultData(msgspec.Struct, gc=False):
    message: _ResultMessage


_quick: dict[str, Callable[[bytes], Any]] = {
    "user/message": msgspec.json.Decoder(_UserMessage).decode,
    "assistant/message": msgspec.json.Decoder(_AssistantData).decode,
    "tool/result": msgspec.json.Decoder(_ResultData).decode,
}


def check_stored_shape(kind: str, text: bytes) -> None:
    """As `check_shape`, from JSON text; a typed decoder answers for the good ones."""
    decode = _quick.get(kind)
    if decode is not None:
        try:
            found = decode(text)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            pass  # it is stricter than the rules here and there, so the slow way decides
        else:
            if kind != "tool/result" or found.message.source.call_id == found.message.content[0].tool_call_id:
                return
    check_shape(kind, read_data(text))


def check_shape(kind: str, data: object) -> None:
    """Check *data* of an event of type *kind*; EventError says which field is wrong. Other types are free."""
    if kind == "user/message":
        _check_message(data, "data", "user")
    elif kind == "assistant/message":
        message = _check_message(field(data, "message"), "data.message", "assistant")
        source = message["source"]
        if source["kind"] != "model" or not _is_text(source.get("provider")) or not _is_text(source.get("model")):
            raise EventError("data.message.source", "an assistant's message names the provider and the model it came from")
    elif kind == "tool/result":
        message = _check_message(field(data, "message"), "data.message", "user")
        source = message["source"]
        if source["kind"] != "tool" or not _is_text(source.get("callId")):
            raise EventError("data.message.source", "a result names the call that it answers")
        block = message["content"][0] if len(message["content"]) == 1 else None
        if not isinstance(block, dict) or block.get("type") != "tool-result" or not isinstance(block.get("content"), list):
            raise EventError("data.message.content", "a result holds exactly one tool-result block")
        if block.get("toolCallId") != source["callId"]:
            raise EventError("data.message.content[0].toolCallId", "block and source name two different calls")
    elif kind == "request/header":
        if field(data, "reason") == "fallback":
            raise EventError("data.reason", "this reason was retired")
        canonical_header(field(data, "header"))


def _check_message(message: Any, where: str, role: str) -> dict[str, Any]:
    if not isinstance(message, dict) or not _is_text(message.get("id")):
        raise EventError(f"{where}.id", "a message has an id")
    if message.get("role") != role:
        raise EventError(f"{where}.role", f"this message has the role {role}")
    source = message.get("source")
    if not isinstance(source, dict) or not _is_text(source.get("kind")):
        raise EventError(f"{where}.source", "a message says where it came from (source.kind)")
    if not isinstance(message.get("content"), list):
        raise EventError(f"{where}.content", "a message has a list of blocks")
    return message


def canonical_header(header: object) -> dict[str, Any]:
    """The request header in its one form: config, and adapterDefaults, system and tools only where they say something.

    >>> canonical_header({"config": {"provider": "p", "model": "m"}, "system": "", "tools": [], "mood": "good"})
    {'config': {'provider': 'p', 'model': 'm'}}

    EventError where it is no request header.
    """
    config = field(header, "config")
    if not isinstance(config, dict) or not _is_text(config.get("provider")) or not _is_text(config.get("model")):
        raise EventError("data.header.config", "a request header names provider and model")
    if "reasoningEffort" in config and not _is_text(config["reasoningEffort"]):
        raise EventError("data.header.config.reasoningEffort", "it is a word or absent")
    kept: dict[str, Any] = {"config": config}
    fields: dict[str, Any] = header  # type: ignore[assignment]
    defaults = fields.get("adapterDefaults", {})
    if not isinstance(defaults, dict) or not defaults.keys() <= {"reasoningEffort", "maxTokens"} or any(
            mark is not True or name not in config for name, mark in defaults.items()):
        raise EventError("data.header.adapterDefaults", "it marks with true which values of config an adapter filled in")
    if defaults:
        kept["adapterDefaults"] = defaults
    for name in ("system", "tools"):
        if fields.get(name):
            kept[name] = fields[name]
    return kept



def _is_text(value: object) -> bool:
    return type(value) is str and value != ""
