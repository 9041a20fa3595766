"""One line of a session file, broken on purpose: what becomes of the file, and what parse and load say to it."""
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from labsupport.errors import SessionFileError, SessionTornTailError
from labsupport.lossless import js_json
from labsupport.miniagent import (
    Message,
    RecordProblem,
    load_session,
    message_json,
    parse_session_message,
    session_message_problem,
)
from labsupport.strict_json import read_json
from labsupport.workbench.text import say

RULES = {"object": "a1_rule_object", "role": "a1_rule_role", "string": "a1_rule_string", "boolean": "a1_rule_boolean",
         "list": "a1_rule_list", "present": "a1_rule_present"}
AT = r",? column (?P<at>\d+)"
REASONS = {
    "expecting value" + AT: "a1_json_value",
    "expecting property name enclosed in double quotes" + AT: "a1_json_name",
    "expecting ':' delimiter" + AT: "a1_json_colon",
    "expecting ',' delimiter" + AT: "a1_json_comma",
    "extra data" + AT: "a1_json_extra",
    "unterminated string starting at" + AT: "a1_json_string",
    "invalid control character at" + AT: "a1_json_control",
    r"invalid \\escape" + AT: "a1_json_escape",
    r"invalid \\uXXXX escape" + AT: "a1_json_unicode",
    r"byte (?P<at>\d+) is not UTF-8": "a1_json_utf8",
    r"(?P<at>NaN|-?Infinity) is no JSON value": "a1_json_constant",
    "a number is too large for a double": "a1_json_large",
    "a byte order mark stands in front of it": "a1_json_mark",
}
"""What a reason of `read_json` looks like → the key of its words."""


def problem_words(problem: RecordProblem) -> str:
    """Which field breaks which rule, in the notebook's language.

    >>> from labsupport.workbench.text import speaking
    >>> with speaking("zh"):
    ...     problem_words(RecordProblem("isError", "boolean"))
    'isError 必须是 true 或 false'
    """
    return say(RULES[problem.rule], where=problem.where) if problem.where else say("a1_rule_record")


def json_words(reason: str) -> str:
    """Why a line is no JSON, in the notebook's language; *reason* is what `read_json` says.

    >>> from labsupport.workbench.text import speaking
    >>> with speaking("zh"):
    ...     json_words("unterminated string starting at column 31"), json_words("byte 7 is not UTF-8")
    ('从第 31 个字符开始的字符串没有结束', '第 7 个字节不是 UTF-8（从 0 数起）')

    The reasons are a closed set; one that is not in it, from another version of Python, stays in English:

    >>> json_words("illegal trailing comma, column 3")
    'illegal trailing comma, column 3'
    """
    for known, key in REASONS.items():
        found = re.fullmatch(known, reason)
        if found:
            return say(key, **found.groupdict())
    return reason


# Breakages. Each takes the bytes of a line, its line break too, and gives what stands there afterwards.

class Breakage(NamedTuple):
    """A way to break a line: the key of its *words*, and the *change*."""

    words: str
    change: Callable[[bytes], bytes]


def _record(change: Callable[[dict[str, Any]], object]) -> Callable[[bytes], bytes]:
    """Write the record again after *change*; an empty line, or a record that lacks what would be changed, stays as it is."""
    def broken(line: bytes) -> bytes:
        if line == b"\n":
            return line
        record = read_json(line)
        try:
            change(record)
        except LookupError:
            return line
        return js_json(record).encode() + b"\n"
    return broken


def _cut(line: bytes) -> bytes:
    return line[:len(line) // 2]


def _before_break(extra: bytes) -> Callable[[bytes], bytes]:
    return lambda line: line.removesuffix(b"\n") + extra + b"\n"


def _no_input(record: dict[str, Any]) -> None:
    del record["toolCalls"][0]["input"]


def _null_input(record: dict[str, Any]) -> None:
    record["toolCalls"][0]["input"] = None


def _error_one(record: dict[str, Any]) -> None:
    del record["isError"]
    record["isError"] = 1


BREAKAGES = {
    "none": Breakage("a1_none", lambda line: line),
    "half": Breakage("a1_half", lambda line: _cut(line) + b"\n"),
    "torn": Breakage("a1_torn", _cut),  # and the file ends there
    "joined": Breakage("a1_joined", lambda line: line.removesuffix(b"\n")),
    "twice": Breakage("a1_twice", lambda line: line.removesuffix(b"\n") + line),
    "role": Breakage("a1_role", _record(lambda record: record.update(role="robot"))),
    "content": Breakage("a1_content", _record(lambda record: record.update(content=7))),
    "no_input": Breakage("a1_no_input", _record(_no_input)),
    "null_input": Breakage("a1_null_input", _record(_null_input)),
    "one": Breakage("a1_one", _record(_error_one)),
    "extra": Breakage("a1_extra", _record(lambda record: record.update(mood="good"))),
    "nan": Breakage("a1_nan", lambda line: line.replace(b"{", b'{"mood":NaN,', 1)),
    "nul": Breakage("a1_nul", _before_break(b"\0\0\0")),
    "cr": Breakage("a1_cr", _before_break(b"\r")),
    "bom": Breakage("a1_bom", lambda line: b"\xef\xbb\xbf" + line),
    "utf8": Breakage("a1_utf8", lambda line: line.replace(b'"content":"', b'"content":"\xff', 1)),
    "blank": Breakage("a1_blank", lambda line: b"   \n"),
    "erased": Breakage("a1_erased", lambda line: b"\n"),
}


@dataclass(frozen=True)
class Reading:
    """What one line is by itself: a "message", a "record" (JSON, no message), "text" (no JSON) or "empty"; *why* it is less."""

    kind: Literal["message", "record", "text", "empty"]
    message: Message | None = None
    dropped: tuple[str, ...] = ()
    """The keys that the message has not kept."""
    why: str = ""


def read_line(line: bytes) -> Reading:
    """What *line* is, whatever stands in it.

    >>> read_line(b'{"role":"user","content":"hi"}\\r\\n').kind, read_line(b"[NaN]").kind
    ('message', 'text')
    """
    if line in (b"", b"\n"):
        return Reading("empty")
    try:
        value = read_json(line)
    except ValueError as error:
        return Reading("text", why=json_words(str(error)))
    message, problem = parse_session_message(value), session_message_problem(value)
    if message is None:
        return Reading("record", why=problem_words(problem) if problem else "")
    return Reading("message", message, tuple(sorted(value.keys() - read_json(message_json(message).encode()).keys())))


def split_lines(data: bytes) -> list[bytes]:
    """The lines of *data*, each with its line break; the last one may lack it."""
    return [line + b"\n" for line in data.split(b"\n")[:-1]] + [rest for rest in data.split(b"\n")[-1:] if rest]


def load_bytes(data: bytes) -> list[Message] | SessionFileError:
    """What `load_session` gives for a file with *data* in it, or what it raises about a line."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "session.jsonl"
        path.write_bytes(data)
        try:
            return load_session(path)
        except SessionFileError as error:
            return error


@dataclass(frozen=True)
class Trial:
    """A file *before* and *after* its line *at* (from 1) was broken, and the *result*: messages, or the error about a line."""

    before: tuple[bytes, ...]
    at: int
    breakage: str
    after: tuple[bytes, ...]
    result: list[Message] | SessionFileError
    same: bool
    """Whether the messages are those of the file before."""
    whole: int
    """How many messages load when a torn tail is cut off; else 0."""

    @property
    def broken(self) -> bytes:
        """What stands where the line stood."""
        return BREAKAGES[self.breakage].change(self.before[self.at - 1])

    @property
    def now(self) -> bytes:
        """The line of the file that has the line's number now; empty when the file ends before it."""
        return self.after[self.at - 1] if self.at <= len(self.after) else b""

    @property
    def unbroken(self) -> bool:
        """Whether the line has nothing that this breakage could break."""
        return self.breakage != "none" and self.broken == self.before[self.at - 1]


def break_line(lines: Sequence[bytes], at: int, breakage: str) -> Trial:
    """Break line *at* (from 1) of *lines* and load the file that this gives.

    >>> lines = [b'{"role":"user","content":"hi"}\\n', b'{"role":"user","content":"bye"}\\n']
    >>> break_line(lines, 1, "erased").result
    [UserMessage(content='bye')]
    >>> break_line(lines, 2, "torn").result.line
    2
    """
    pieces = [*lines[:at - 1], BREAKAGES[breakage].change(lines[at - 1]), *([] if breakage == "torn" else lines[at:])]
    data = b"".join(pieces)
    result, whole = load_bytes(data), 0
    if isinstance(result, SessionTornTailError):
        rest = load_bytes(data[:result.offset])
        whole = len(rest) if isinstance(rest, list) else 0
    same = _texts(result) == _texts(load_bytes(b"".join(lines)))
    return Trial(tuple(lines), at, breakage, tuple(split_lines(data)), result, same, whole)


def _texts(result: list[Message] | SessionFileError) -> list[str]:
    """The messages as texts: they compare at any depth, where values nested a thousand deep do not."""
    return [message_json(message) for message in result] if isinstance(result, list) else [str(result)]
