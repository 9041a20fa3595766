"""Everything that this library raises on purpose.

    LabError
    ├── LosslessError (ValueError)       a value that JSON text cannot carry and give back: .where .what
    └── MiniagentError                   chapter 34
        ├── SessionFileError             a line of a session file: .path .line
        │   ├── SessionJsonError         the line is not JSON
        │   │   └── SessionTornTailError the last line, cut short by a writer that was stopped: .offset
        │   └── SessionRecordError       the line is JSON, but no message
        ├── ContextError
        │   ├── ContextBudgetError       nothing that makes sense fits: .budget .needed
        │   └── ContextSerializationError a message that has no JSON text: .index
        └── ScriptExhaustedError         a scripted model was asked once more than it has turns

A message says where, what, what it means and what to do next. It never quotes what a message says.
Errors of the operating system (no permission, a directory, a full disk) are passed on as they are.
"""
from pathlib import Path
from typing import Any


class LabError(Exception):
    """The base of every refusal of this library."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), self.args, self.__dict__)


def _again(kind: type[LabError], args: tuple[Any, ...], attributes: dict[str, Any]) -> LabError:
    """The same error in another process, whatever its class asks for when it is made."""
    error = kind.__new__(kind)
    error.args, error.__dict__ = args, attributes
    return error


class LosslessError(LabError, ValueError):
    """A value at *where* (a path such as ``$.toolCalls[0].input``) that would not come back from JSON as it went in."""

    def __init__(self, where: str, what: str) -> None:
        super().__init__(f"{where}: {what}")
        self.where, self.what = where, what


class MiniagentError(LabError):
    """The base of the refusals of chapter 34's session."""


class SessionFileError(MiniagentError):
    """Line *line* (as an editor counts, from 1) of the session file *path* cannot be taken."""

    sentence = "invalid session line at line {line}"

    def __init__(self, path: Path, line: int, detail: str) -> None:
        super().__init__(f"{self.sentence.format(line=line)} of {path}: {detail}")
        self.path, self.line, self.detail = path, line, detail


class SessionJsonError(SessionFileError):
    """The line is not JSON."""

    sentence = "invalid session JSON at line {line}"


class SessionTornTailError(SessionJsonError):
    """The last line has no line break and is not JSON: a writer was stopped in the middle.

    Everything before byte *offset* is whole.
    """

    def __init__(self, path: Path, line: int, offset: int, detail: str) -> None:
        super().__init__(
            path, line,
            f"the file ends in the middle of this record ({detail}), as a writer leaves it that was stopped while it wrote. "
            f"The lines before it are whole: keep a copy, then cut the file to {offset} bytes. Nothing was changed.")
        self.offset = offset


class SessionRecordError(SessionFileError):
    """The line is JSON, but no message of a session."""

    sentence = "invalid session record at line {line}"


class ContextError(MiniagentError):
    """The base of what stops a context from being made."""


class ContextBudgetError(ContextError):
    """The *budget* cannot hold what must go together; it would take *needed* characters (0: there is nothing to send)."""

    def __init__(self, sentence: str, budget: int, needed: int) -> None:
        super().__init__(sentence)
        self.budget, self.needed = budget, needed


class ContextSerializationError(ContextError):
    """Message *index* (from 0, in the list that was given) has no JSON text, so it has no length."""

    def __init__(self, index: int, detail: str) -> None:
        super().__init__(f"message {index} cannot be written as JSON: {detail}")
        self.index, self.detail = index, detail


class ScriptExhaustedError(MiniagentError):
    """A scripted model has no turn left."""
