"""What must stay together: the units that a budget keeps or drops whole, and the pairs they are made of (chapter 34)."""
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Literal

from labsupport.miniagent.messages import AssistantMessage, Message, ToolCall, ToolMessage

Rule = Literal["closed", "chapter"]


def context_units(messages: Iterable[Message], rule: Rule = "closed") -> list[list[Message]]:
    """Group *messages* into the units that a budget keeps or drops whole, oldest first.

    A tool round trip is one unit, however many calls it has:

    >>> from labsupport.miniagent import AssistantMessage, ToolCall, ToolMessage, UserMessage
    >>> asks = AssistantMessage("", (ToolCall("a", "read", None), ToolCall("b", "read", None)))
    >>> a, b = ToolMessage("a", "1", False), ToolMessage("b", "2", False)
    >>> [len(unit) for unit in context_units([UserMessage("hi"), asks, a, b])]
    [1, 3]

    The rules differ when calls are interleaved. The chapter's takes a result with the nearest message that asks for it,
    so the first request can be cut from its result; closed units cannot:

    >>> x, y = (AssistantMessage("", (ToolCall(name, "read", None),)) for name in "ab")
    >>> [len(unit) for unit in context_units([x, y, a, b], rule="chapter")], [len(unit) for unit in context_units([x, y, a, b])]
    ([1, 3], [4])

    A result whose request is nowhere before it stays alone; no request is made up for it:

    >>> [len(unit) for unit in context_units([a, UserMessage("hi")])]
    [1, 1]

    Chapter 34, and for the closed rule this workbook.
    """
    messages = list(messages)
    return [messages[start:stop] for start, stop in unit_spans(messages, known_rule(rule))][::-1]


def known_rule(rule: Rule) -> Rule:
    if rule in ("closed", "chapter"):
        return rule
    near = get_close_matches(str(rule), ("closed", "chapter"), 1)
    raise ValueError(f'rule is "closed" or "chapter", not {rule!r}' + (f"; did you mean {near[0]!r}?" if near else ""))


def unit_spans(messages: Sequence[Message], rule: Rule) -> Iterator[tuple[int, int]]:
    """The units as (start, stop), newest first; nothing older than the unit that is asked for is looked at without need."""
    request_of = _requests(messages)
    chapter = rule == "chapter"
    stop = len(messages)
    while stop:
        start = index = stop - 1
        while index >= start:
            message = messages[index]
            if type(message) is ToolMessage:
                request = request_of(index, message.tool_call_id)
                if 0 <= request < start:
                    start = request
            index = start - 1 if chapter else index - 1  # the chapter looks at a unit's last message only
        yield start, stop
        stop = start


def _requests(messages: Sequence[Message]) -> Callable[[int, str], int]:
    """A function (index, id) → the nearest message before *index* that asks for *id*, or -1. Ask for falling indexes only."""
    declared: dict[str, int] = {}  # id → the newest message seen that asks for it
    older: dict[str, deque[int]] = {}  # the ones before it, where an id comes again
    seen = len(messages)  # no message before this one was looked at

    def request_of(index: int, call_id: str) -> int:
        nonlocal seen
        while (place := declared.get(call_id, -1)) >= index:  # too new, for this and for every later question
            if older.get(call_id):
                declared[call_id] = older[call_id].popleft()
            else:
                del declared[call_id]
        if place >= 0:
            return place
        seen = min(seen, index)
        while seen:
            seen -= 1
            message = messages[seen]
            if type(message) is AssistantMessage:
                for call in message.tool_calls:
                    if call.id in declared:
                        older.setdefault(call.id, deque()).append(seen)
                    else:
                        declared[call.id] = seen
                if call_id in declared:
                    return seen
        return -1

    return request_of


def find_orphans(messages: Sequence[Message]) -> list[int]:
    """The indexes of the results whose request is nowhere before them.

    >>> from labsupport.miniagent import ToolMessage
    >>> find_orphans([ToolMessage("lost", "1", False)])
    [0]
    """
    asked: set[str] = set()
    orphans = []
    for index, message in enumerate(messages):
        if type(message) is AssistantMessage:
            asked.update(call.id for call in message.tool_calls)
        elif type(message) is ToolMessage and message.tool_call_id not in asked:
            orphans.append(index)
    return orphans


def open_calls(messages: Iterable[Message]) -> list[ToolCall]:
    """The calls without a result, in the order in which they were asked for.

    A result answers the latest call of its id that is still open, so an id that comes again is a call of its own:

    >>> from labsupport.miniagent import AssistantMessage, ToolCall, ToolMessage
    >>> asks = AssistantMessage("", (ToolCall("f", "run", None),))
    >>> len(open_calls([asks, ToolMessage("f", "1", False), asks]))
    1
    """
    waiting: dict[str, list[int]] = {}
    calls: dict[int, ToolCall] = {}
    number = 0
    for message in messages:
        if type(message) is AssistantMessage:
            for call in message.tool_calls:
                waiting.setdefault(call.id, []).append(number)
                calls[number] = call
                number += 1
        elif type(message) is ToolMessage and waiting.get(message.tool_call_id):
            del calls[waiting[message.tool_call_id].pop()]
    return list(calls.values())
