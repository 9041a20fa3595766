"""The loop of the mini-agent: one full record, and for each request what the budget leaves of it (chapter 34)."""
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from labsupport.errors import ScriptExhaustedError
from labsupport.frozen import thaw
from labsupport.lossless import joined
from labsupport.miniagent.context import known_chars, trim_context
from labsupport.miniagent.messages import AssistantMessage, Message, ToolCall, ToolMessage, UserMessage
from labsupport.miniagent.session import Durability, append_session, load_session
from labsupport.miniagent.units import Rule, known_rule, open_calls

Tool = Callable[[Any], str]
"""A tool takes the input of a call (any JSON value, a copy of its own) and gives text."""

UNKNOWN_OUTCOME = ("outcome unknown: the run ended before this call's result was recorded. The tool may have run or not; "
                   "check outside before you call it again.")


class Model(Protocol):
    """Anything that answers a list of messages with pieces of text and calls."""

    def stream(self, messages: Sequence[Message], tools: Mapping[str, Tool]) -> Iterable[str | ToolCall]: ...


class ScriptedModel:
    """A model that replays *turns*, each a list of text pieces and calls, and keeps every request that it saw.

    >>> model = ScriptedModel([["Hel", "lo"]])
    >>> list(model.stream([UserMessage("hi")], {})), model.requests
    (['Hel', 'lo'], [(UserMessage(content='hi'),)])

    One request more than it has turns: ScriptExhaustedError.
    """

    def __init__(self, turns: Iterable[Iterable[str | ToolCall]]) -> None:
        self._turns = [tuple(turn) for turn in turns]
        self.requests: list[tuple[Message, ...]] = []

    def stream(self, messages: Sequence[Message], tools: Mapping[str, Tool]) -> Iterable[str | ToolCall]:
        number = len(self.requests)
        self.requests.append(tuple(messages))
        if number == len(self._turns):
            raise ScriptExhaustedError(f"request {number + 1}, but the script has {number} turns; add one or allow fewer steps")
        return self._turns[number]


@dataclass(frozen=True)
class AgentRun:
    """The whole history after a run, and why the run *stopped*."""

    messages: list[Message]
    stopped: Literal["answered", "max_steps"]


def run_agent(
    prompt: str, model: Model, tools: Mapping[str, Tool], *, session_path: str | os.PathLike[str] | None = None,
    context_max_chars: int | None = None, max_steps: int = 20, rule: Rule = "closed", pin_first_user: bool = False,
    durability: Durability = "buffered",
) -> AgentRun:
    """Answer *prompt*: ask *model*, run the tools that it calls, and ask again, for at most *max_steps* requests.

    >>> model = ScriptedModel([[ToolCall("c1", "add", [1, 2])], ["It is 3."]])
    >>> run = run_agent("1 + 2?", model, {"add": lambda numbers: str(sum(numbers))})
    >>> [message.role for message in run.messages], run.stopped
    (['user', 'assistant', 'tool', 'assistant'], 'answered')

    With *session_path* it loads that session first and appends every message to it; without, it starts empty and writes
    nothing. With *context_max_chars* each request holds what `trim_context` leaves; without, the whole history. The record and
    the request are two states: trimming changes neither the file nor the history.

    ValueError, before anything is recorded, for a budget, rule or number of steps that is none.

    An unknown tool, or one that raises, gives an error result and the loop goes on. What `load_session`, `append_session`
    and `trim_context` raise comes through; what was recorded by then stays. A loaded history that ends with open calls first
    gets an error result for each, which says that the outcome is unknown. Chapter 34.
    """
    known_rule(rule)
    if context_max_chars is not None:
        known_chars(context_max_chars)
    if type(max_steps) is not int or max_steps < 1:
        raise ValueError(f"max_steps is a positive int, a number of requests, not {max_steps!r}")
    history: list[Message] = [] if session_path is None else load_session(session_path)

    def record(message: Message) -> None:
        """The only place where the two are written, the disk first: when that fails, the history does not have it either."""
        if session_path is not None:
            append_session(session_path, message, durability=durability)
        history.append(message)

    for call in open_calls(history[_last_exchange(history):]):
        record(ToolMessage(call.id, UNKNOWN_OUTCOME, True))
    record(UserMessage(joined(prompt)))
    for _ in range(max_steps):
        request = history if context_max_chars is None else trim_context(history, context_max_chars, rule, pin_first_user)
        answer = _assemble(model.stream(tuple(request), tools))
        record(answer)
        for call in answer.tool_calls:
            record(_run_tool(call, tools))
        if not answer.tool_calls:
            return AgentRun(history, "answered")
    return AgentRun(history, "max_steps")


def _last_exchange(history: Sequence[Message]) -> int:
    """Where the calls and results begin that *history* ends with: only there a missing result still has its place."""
    start = len(history)
    for message in reversed(history):
        if isinstance(message, UserMessage) or (isinstance(message, AssistantMessage) and not message.tool_calls):
            break
        start -= 1
    return start


def _assemble(pieces: Iterable[str | ToolCall]) -> AssistantMessage:
    """One message from what a model streamed; text and calls each keep their order."""
    text: list[str] = []
    calls: list[ToolCall] = []
    for piece in pieces:
        if isinstance(piece, ToolCall):
            calls.append(ToolCall(joined(piece.id), joined(piece.name), piece.input))
        else:
            text.append(piece)
    return AssistantMessage(joined("".join(text)), tuple(calls))


def _run_tool(call: ToolCall, tools: Mapping[str, Tool]) -> ToolMessage:
    """The result of *call*; whatever goes wrong in a tool is a result too."""
    if call.name not in tools:
        return ToolMessage(call.id, f"unknown tool: {call.name}", True)
    try:
        content = tools[call.name](thaw(call.input))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a tool may raise anything, and the loop goes on
        return ToolMessage(call.id, joined(f"tool {call.name} failed: {type(error).__name__}: " + _words(error)), True)
    if not isinstance(content, str):
        return ToolMessage(call.id, f"tool {call.name} gave no text but a {type(content).__name__}", True)
    return ToolMessage(call.id, joined(content), False)


def _words(error: BaseException) -> str:
    try:
        return joined(str(error))
    except (Exception, SystemExit):  # noqa: BLE001 - an error may fail even at this
        return "it has no words"
