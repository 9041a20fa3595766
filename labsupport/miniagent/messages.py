"""The three messages of a session, and the text that one has on disk (chapter 34)."""
from typing import Any, ClassVar

import msgspec

from labsupport.errors import LosslessError
from labsupport.frozen import FrozenDict, FrozenList, freeze
from labsupport.lossless import MAX_SAFE_INTEGER, js_json


class UserMessage(msgspec.Struct, frozen=True, gc=False, tag_field="role", tag="user", forbid_unknown_fields=True):
    """What the user said."""

    role: ClassVar[str] = "user"
    content: str


class ToolCall(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """A request to run the tool *name* with *input*, any JSON value, whose dicts and lists are kept as frozen copies.

    >>> call = ToolCall("c1", "read", {"path": "a.csv"})
    >>> call.input["path"] = "b.csv"
    Traceback (most recent call last):
    TypeError: this value belongs to a record and cannot be changed; labsupport.frozen.thaw(value) gives a copy that can
    """

    id: str
    name: str
    input: Any

    def __post_init__(self) -> None:
        if type(self.input) in (dict, list):
            msgspec.structs.force_setattr(self, "input", freeze(self.input))


class AssistantMessage(msgspec.Struct, frozen=True, gc=False, tag_field="role", tag="assistant", rename="camel",
                       forbid_unknown_fields=True):
    """What the model said, and the calls that it asked for, in order."""

    role: ClassVar[str] = "assistant"
    content: str
    tool_calls: tuple[ToolCall, ...] = ()

    def __post_init__(self) -> None:
        if type(self.tool_calls) is not tuple:
            msgspec.structs.force_setattr(self, "tool_calls", tuple(self.tool_calls))


class ToolMessage(msgspec.Struct, frozen=True, gc=False, tag_field="role", tag="tool", rename="camel",
                  forbid_unknown_fields=True):
    """The result of the call *tool_call_id*."""

    role: ClassVar[str] = "tool"
    tool_call_id: str
    content: str
    is_error: bool


Message = UserMessage | AssistantMessage | ToolMessage


_FIELDS = frozenset({"content", "toolCalls", "id", "name", "input", "toolCallId", "isError"})
_SURE = frozenset({str, bool, type(None)})
_encode = msgspec.json.Encoder().encode


def message_json(message: Message) -> str:
    """The text of *message*, as `append_session` writes it, without the line break.

    >>> message_json(ToolMessage("c1", "1.5", False))
    '{"role":"tool","toolCallId":"c1","content":"1.5","isError":false}'

    LosslessError where it has none.
    """
    quick = quick_json(message)
    return exact_json(message) if quick is None else quick.decode()


def exact_json(message: Message, *, exact: bool = False) -> str:
    """As `message_json`, by the slow way that knows every case; *exact* as in `js_json`."""
    return js_json(_plain_message(message), exact=exact, fields=_FIELDS)


def quick_json(message: Any) -> bytes | None:
    """The text of *message* in UTF-8, where a fast encoder is sure to write what JavaScript writes; else None."""
    kind = type(message)
    if kind is ToolMessage:
        sure = type(message.content) is str and type(message.tool_call_id) is str and type(message.is_error) is bool
    elif kind is AssistantMessage:
        sure = type(message.content) is str
        for call in message.tool_calls:
            sure = sure and type(call) is ToolCall and type(call.id) is str and type(call.name) is str and _sure(call.input)
    else:
        sure = kind is UserMessage and type(message.content) is str
    try:
        return _encode(message) if sure else None
    except UnicodeEncodeError:  # a surrogate
        return None


def _sure(value: Any, depth: int = 0) -> bool:
    """Whether *value* is not deep and holds only what both spell alike: no whole float, and none that is large or small."""
    kind = type(value)
    if kind in _SURE:
        return True
    if kind is int:
        return bool(-MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER)
    if kind is float:
        return bool(1e-4 <= abs(value) < 1e16 and not value.is_integer())
    if depth == 50:
        return False
    if kind is FrozenDict:
        for key, item in value.items():
            if type(key) is not str or (type(item) is not str and not _sure(item, depth + 1)):  # most values are strings
                return False
        return True
    if kind is FrozenList:
        for item in value:  # noqa: SIM110 - all() takes twice as long
            if type(item) is not str and not _sure(item, depth + 1):
                return False
        return True
    return False


def _plain_message(message: Message) -> dict[str, Any]:
    """*message* as a JSON object, its keys in the order of the file. LosslessError when it could not be loaded again."""
    if type(message) not in (UserMessage, AssistantMessage, ToolMessage):
        raise LosslessError("$", f"a {type(message).__name__} is no message of a session")
    value: dict[str, Any] = {"role": message.role}
    match message:
        case UserMessage():
            value |= _typed("$", str, content=message.content)
        case AssistantMessage():
            value |= _typed("$", str, content=message.content)
            value["toolCalls"] = [_plain_call(f"$.toolCalls[{index}]", call) for index, call in enumerate(message.tool_calls)]
        case ToolMessage():
            value |= _typed("$", str, toolCallId=message.tool_call_id, content=message.content)
            value |= _typed("$", bool, isError=message.is_error)
    return value


def _plain_call(where: str, call: ToolCall) -> dict[str, object]:
    if type(call) is not ToolCall:
        raise LosslessError(where, f"a ToolCall belongs here, not a {type(call).__name__}")
    return _typed(where, str, id=call.id, name=call.name) | {"input": call.input}


def _typed(where: str, kind: type, **fields: object) -> dict[str, object]:
    for name, value in fields.items():
        if type(value) is not kind:
            raise LosslessError(f"{where}.{name}", f"a {kind.__name__} belongs here, not a {type(value).__name__}")
    return fields
