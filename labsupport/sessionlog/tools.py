"""Running one tool call: whatever happens, there is a result that says so (chapter 4, §4.2)."""
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from labsupport.lossless import joined
from labsupport.sessionlog.recovery import NOT_STARTED
from labsupport.sessionlog.stream import Block
from labsupport.strict_json import read_json

Tool = Callable[[Any], str]
"""A tool takes the input of a call (any JSON value) and gives text; what it raises becomes an error result."""


@dataclass(frozen=True)
class ToolOutcome:
    """The *text* of a result, and the *error* (name, code) that it is, None when the tool did its work."""

    text: str
    error: Mapping[str, str] | None = None


def _failed(text: str, name: str, code: str) -> ToolOutcome:
    return ToolOutcome(f"Error: {text}", {"name": name, "code": code})


CUT_SHORT = _failed("the answer was cut at its token limit, so this call was not started", "ToolNotStartedError", NOT_STARTED)
CANCELLED = _failed("the turn was cancelled before this call was started", "AbortError", "ABORTED_BEFORE_DISPATCH")


def run_tool(tools: Mapping[str, Tool], call: Block, before: Callable[[], None] = lambda: None) -> ToolOutcome:
    """Run the tool of *tools* that *call* asks for; *before* is called when it is about to start.

    >>> run_tool({"len": lambda words: str(len(words))}, {"name": "len", "arguments": '["a", "b"]'})
    ToolOutcome(text='2', error=None)

    Nothing starts for an unknown name or for arguments that are no JSON, and a tool that raises has a result as well:

    >>> run_tool({}, {"name": "len", "arguments": "[]"}).error
    {'name': 'UnknownToolError', 'code': 'UNKNOWN_TOOL'}

    What *before* raises comes through, and so does KeyboardInterrupt.
    """
    tool = tools.get(call["name"])
    if tool is None:
        return _failed(f"there is no tool {call['name']}", "UnknownToolError", "UNKNOWN_TOOL")
    try:
        given = read_json(joined(call["arguments"]).encode("utf-8", "surrogatepass"))
    except ValueError as error:
        return _failed(f"the arguments are no JSON: {error}", "ArgumentsError", "BAD_ARGUMENTS")
    before()
    try:
        text = tool(given)
        if not isinstance(text, str):
            raise TypeError(f"the tool gave no text but a {type(text).__name__}")
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a tool may raise anything, and the turn goes on
        return _failed(words(error), type(error).__name__, "TOOL_FAILED")
    return ToolOutcome(joined(text))


def words(error: BaseException) -> str:
    """The class of *error*, and what it says of itself if it can."""
    try:
        return joined(f"{type(error).__name__}: {error}")
    except Exception:  # noqa: BLE001 - an error may fail even at this
        return type(error).__name__
