"""The same answers by other ways: slow, short, and written from the chapter's words instead of from the library."""
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from labsupport.miniagent import AssistantMessage, Message, ToolMessage, UserMessage, message_json


def is_message(value: Any) -> bool:
    """The chapter's table, read line by line; for plain JSON values."""
    if type(value) is not dict or type(value.get("role")) is not str or type(value.get("content")) is not str:
        return False
    if value["role"] == "assistant":
        calls = value.get("toolCalls")
        return type(calls) is list and all(
            type(item) is dict and type(item.get("id")) is str and type(item.get("name")) is str and "input" in item
            for item in calls)
    if value["role"] == "tool":
        return type(value.get("toolCallId")) is str and type(value.get("isError")) is bool
    return bool(value["role"] == "user")


def request_of(messages: Sequence[Message], index: int) -> int | None:
    """The nearest earlier assistant message that declares the id of the result at *index*; None for anything else."""
    message = messages[index]
    if isinstance(message, ToolMessage):
        for place in range(index - 1, -1, -1):
            before = messages[place]
            if isinstance(before, AssistantMessage) and message.tool_call_id in [call.id for call in before.tool_calls]:
                return place
    return None


def parted(messages: Sequence[Message], cut: int) -> bool:
    """Whether keeping messages[cut:] keeps a result whose request stands before the cut."""
    requests = [request_of(messages, index) for index in range(cut, len(messages))]
    return any(request is not None and request < cut for request in requests)


def closed_units(messages: Sequence[Message]) -> list[list[Message]]:
    """The smallest runs whose borders part no result from its request."""
    pairs = [(request, index) for index in range(len(messages)) if (request := request_of(messages, index)) is not None]
    cuts = [cut for cut in range(len(messages)) if not any(request < cut <= index for request, index in pairs)]
    return [list(messages[start:stop]) for start, stop in pairwise([*cuts, len(messages)])]


def chapter_units(messages: Sequence[Message]) -> list[list[Message]]:
    """The chapter's scan from the end."""
    if not messages:
        return []
    request = request_of(messages, len(messages) - 1)
    start = len(messages) - 1 if request is None else request
    return [*chapter_units(messages[:start]), list(messages[start:])]


def units_of(messages: Sequence[Message], rule: str) -> list[list[Message]]:
    return closed_units(messages) if rule == "closed" else chapter_units(messages)


def chars(message: Message) -> int:
    """The length of the message's line as JavaScript counts it."""
    return len((message_json(message) + "\n").encode("utf-16-le")) // 2


def kept(messages: Sequence[Message], max_chars: int, rule: str, pin: bool) -> list[Message] | None:
    """What a budget keeps, found by trying one unit more as long as it fits; None when not even the newest does."""
    costs = list(map(chars, messages))
    first = next((index for index, message in enumerate(messages) if isinstance(message, UserMessage)), None)
    start, best = len(messages), None
    for unit in reversed(units_of(messages, rule)):
        start -= len(unit)
        indexes = [first] if pin and first is not None and first < start else []
        indexes += range(start, len(messages))
        if sum(costs[index] for index in indexes) > max_chars:
            break
        best = [messages[index] for index in indexes]
    return best
