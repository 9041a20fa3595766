"""Which field of a log says what kind of thing: content by its class, and the structure around it (chapter 4, §4.13).

A field is structure only where a table here says so. Whatever no table knows, a key as well as a value, is content.
"""
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from labsupport.sessionlog.json_text import field

CLASSES = ("prompt", "instruction", "answer", "tool", "chunk", "summary", "error", "title", "other")
"""What people asked; what the program told the model; what the model said; arguments and results; raw pieces of streams;
summaries, which retell all of these; words of errors; titles; and what no table knows."""


class Act(Protocol):
    """What is done with the fields of a log."""

    def content(self, kind: str, value: Any, where: str) -> Any:
        """What stands in the place of *value*, content of the class *kind*, at the path *where*."""

    def rest(self, kind: str, fields: dict[str, Any], where: str) -> dict[str, Any]:
        """What stands in the place of *fields* whose keys no table knows."""

    def name(self, kind: str, value: str) -> str:
        """What stands in the place of a name of the *kind* session, message, call, tool, model …"""

    def word(self, value: str, known: frozenset[str], where: str) -> str:
        """What stands in the place of a word of the format, of which these are *known*."""


@dataclass(frozen=True)
class _Name:
    kind: str


@dataclass(frozen=True)
class _Word:
    known: frozenset[str]


@dataclass(frozen=True)
class _Number:
    """A number, a truth value or null."""


@dataclass(frozen=True)
class _Object:
    fields: dict[str, Any]
    rest: str


@dataclass(frozen=True)
class _List:
    each: Any


@dataclass(frozen=True)
class _ByType:
    """An object whose "type" says which fields it has."""

    types: dict[str, _Object]
    rest: str


def _words(*known: str) -> _Word:
    return _Word(frozenset(known))


_N = _Number()
_KIND = _words("user", "model", "tool", "plugin", "parent", "hook", "disposed", "completed", "aborted", "blocked", "error",
               "max-tokens", "interrupted", "stop", "tool-calls")
_CODE = _words(
    "TOOL_OUTCOME_UNKNOWN", "ToolOutcomeUnknownError", "TOOL_NOT_STARTED", "ToolNotStartedError", "TOOL_HIDDEN",
    "ToolHiddenError", "UNKNOWN_TOOL", "UnknownToolError", "TOOL_FAILED", "BAD_ARGUMENTS", "ArgumentsError", "AbortError",
    "ABORTED", "ABORTED_BEFORE_DISPATCH", "MAX_STEPS", "CONTEXT_OVERFLOW", "MODEL_FAILED", "STREAM_INCOMPLETE",
    "UNLOGGED_INPUT", "busy", "range", "summary", "changed", "commit", "persistence")
_TYPE = _words("text", "reasoning", "tool-call", "tool-result", "attachment", "block-start", "text-delta", "reasoning-delta",
               "tool-call-delta", "block-end", "usage", "finish")
_USAGE = _Object(dict.fromkeys(("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "reasoningTokens"), _N),
                 "other")
_ERROR = _Object({"name": _CODE, "code": _CODE, "message": "error"}, "error")
_HERE = {"turn": _N, "step": _N}
_MADE_BY = {"provider": _Name("provider"), "model": _Name("model")}


def _blocks(kind: str, nested: bool = True) -> _List:
    """Blocks whose text is content of the class *kind*."""
    asked = "chunk" if kind == "chunk" else "tool"
    types = {
        "text": _Object({"type": _TYPE, "text": kind}, kind), "reasoning": _Object({"type": _TYPE, "text": kind}, kind),
        "tool-call": _Object({"type": _TYPE, "id": _Name("call"), "name": _Name("tool"),
                              "arguments": asked}, asked),
        "attachment": _Object({"type": _TYPE, "ref": _Name("attachment"), "chars": _N, "bytes": _N, "lines": _N}, kind)}
    if nested:  # as deep as a message of the format goes; what is deeper is content
        types["tool-result"] = _Object({"type": _TYPE, "toolCallId": _Name("call"), "isError": _N,
                                        "content": _blocks("tool", nested=False)}, "tool")
    return _List(_ByType(types, kind))


def _message(kind: str) -> _Object:
    section = _Object({"name": _Name("part"), "text": kind}, kind)
    source = _Object({"kind": _KIND, **_MADE_BY, "callId": _Name("call"), "plugin": _Name("plugin"), "name": _Name("part"),
                      "form": _words("snapshot"), "compactionId": _Name("compaction"), "sections": _List(section)}, kind)
    return _Object({"id": _Name("message"), "role": _words("user", "assistant"), "source": source, "content": _blocks(kind)},
                   kind)


_PART = {name: _Name("part") for name in ("name", "scope", "version", "provider")}
_PARTS = _List(_Object({**_PART, "order": _N, "span": _List(_N)}, "instruction"))
_COMPACTION = _Object({
    "compactionId": _Name("compaction"), "sourceCommandId": _Name("command"), "turn": _N, "trigger": _words(
        "pressure", "context-overflow", "manual"), "error": _ERROR, "summary": _blocks("summary"), "rawOutput": "summary",
    "shadowedRange": _Object({"start": _N, "end": _N}, "other"), "shadowedSeqs": _List(_N), "shadowedTokenCount": _N,
    **_MADE_BY, "maxTokens": _N, "usage": _USAGE}, "summary")
_REASON = _Object({"kind": _KIND, "reason": _Object({"kind": _KIND}, "error"), "error": _ERROR, "failure": _ERROR}, "error")
_CHUNK = _Object({
    "type": _TYPE, "index": _N, "blockType": _TYPE, "id": _Name("call"), "name": _Name("tool"), "text": "chunk",
    "argumentsDelta": "chunk", "block": _blocks("chunk").each, "usage": _USAGE, "reason": _REASON}, "chunk")
_HEADER = _Object({
    "config": _Object({**_MADE_BY, "maxTokens": _N, "reasoningEffort": _words("low", "medium", "high")}, "instruction"),
    "adapterDefaults": _Object({"reasoningEffort": _N, "maxTokens": _N}, "instruction"), "system": "instruction",
    "tools": _List(_Object({"name": _Name("tool")}, "instruction"))}, "instruction")

_TABLES = {
    "turn/start": _Object(_HERE, "other"), "step/start": _Object(_HERE, "other"), "step/end": _Object(_HERE, "other"),
    "turn/end": _Object({"turn": _N, "reason": _REASON}, "error"),
    "assistant/message": _Object({**_HERE, "message": _message("answer"), "usage": _USAGE}, "answer"),
    "assistant/chunk": _Object({**_HERE, "chunk": _CHUNK}, "chunk"),
    "tool/call": _Object({**_HERE, "callId": _Name("call"), "name": _Name("tool"), "arguments": "tool"}, "tool"),
    "tool/result": _Object({**_HERE, "message": _message("tool"), "error": _ERROR, "meta": "tool"}, "tool"),
    "request/header": _Object({"header": _HEADER, "reason": _words("initial", "resume", "change")}, "instruction"),
    "request/context": _Object({**_MADE_BY, "contextWindow": _N}, "other"),
    "workbook/request-sources": _Object({"scope": _Name("part"), **dict.fromkeys(
        ("sections", "tools", "context", "openers"), _PARTS)}, "instruction"),
    "todo/write": _Object({"todos": _List(_Object({"content": "tool", "status": _words(
        "pending", "in_progress", "completed")}, "tool"))}, "tool"),
    "session/title": _Object({"title": "title"}, "title"), "session/end-seed": _Object({}, "other"),
    **{f"compaction/{name}": _COMPACTION for name in ("start", "summary", "end", "prune")},
}
OURS = frozenset({"workbook/request-sources", "workbook/query-state"})
"""Types that this library writes beside those of the format."""

_MESSAGES = {kind: _message(kind) for kind in ("prompt", "instruction", "summary")}


def message_class(data: Any) -> str:
    """The class of what a user/message says: a person's prompt, a summary, or an instruction of the program.

    >>> message_class({"source": {"kind": "user"}}), message_class({"source": {"kind": "plugin", "plugin": "compact"}})
    ('prompt', 'summary')
    """
    source = field(data, "source")
    if field(source, "kind") == "user":
        return "prompt"
    return "summary" if field(source, "plugin") == "compact" else "instruction"


def rewrite(type: str, data: Any, act: Act) -> Any:
    """The *data* of an event of *type*, with every field given to *act*, and what it gives in its place."""
    table = _MESSAGES[message_class(data)] if type == "user/message" else _TABLES.get(type, "other")
    return _rewrite(data, table, act, type)


def _rewrite(value: Any, table: Any, act: Act, where: str) -> Any:
    look = _LOOKS.get(table.__class__)
    fits = look is not None and isinstance(value, _FITS[table.__class__])
    if look is None or not fits:  # content, or something else than the table says
        return act.content(table if isinstance(table, str) else getattr(table, "rest", "other"), value, where)
    return look(value, table, act, where)


def _object(value: Any, table: Any, act: Act, where: str) -> Any:
    if table.__class__ is _ByType:
        kind = value.get("type")
        known = table.types.get(kind) if isinstance(kind, str) else None
        table = known or _Object({}, table.rest)
    kept = {key: _rewrite(item, table.fields[key], act, f"{where}.{key}") for key, item in value.items() if key in table.fields}
    unknown = {key: item for key, item in value.items() if key not in table.fields}
    return {**kept, **act.rest(table.rest, unknown, f"{where}.*")} if unknown else kept


_LOOKS: dict[Any, Callable[[Any, Any, Act, str], Any]] = {
    _Object: _object, _ByType: _object,
    _List: lambda value, table, act, where: [_rewrite(item, table.each, act, f"{where}[]") for item in value],
    _Number: lambda value, table, act, where: value,
    _Name: lambda value, table, act, where: act.name(table.kind, value),
    _Word: lambda value, table, act, where: act.word(value, table.known, where)}
_FITS: dict[Any, Any] = {_Object: dict, _ByType: dict, _List: list, _Number: (int, float, type(None)), _Name: str, _Word: str}
