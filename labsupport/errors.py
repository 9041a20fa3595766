"""Everything that this library raises on purpose.

    LabError
    ├── SessionLogError                  chapter 4
    │   ├── LosslessError (ValueError)   a value that JSON text cannot carry and give back .where .what
    │   ├── EventError                   an event or header whose fields or shape are wrong: .where
    │   ├── SurfaceError                 an event that the surface cannot take: .seq
    │   ├── PairingError                 a result on the surface without an open call: .seq
    │   ├── ReentrantAppendError         an observer appends while it is told of an append
    │   ├── ProjectionError              a projection unit that cannot be registered or applied
    │   ├── QueryStateError              a state that cannot be committed to, or a plan that may not be approved: .code
    │   ├── PromptError                  parts that make no prompt together: .name
    │   ├── ToolUnknownError             a tool that nobody provides: .name .near
    │   ├── ToolHiddenError              a tool that is provided, and not offered here and now: .name
    │   ├── UnloggedInputError           a request that is not the one that the log gives: .parts
    │   ├── CompactionError              a compaction that did not take place, or not wholly: .code .call .result
    │   ├── ForkError                    a fork that would begin where it may not: .boundary .last_legal
    │   ├── DetachedSessionError         a replay is asked to write to a store or to run a turn
    │   ├── RoleError                    a role asks for what it may not see or do: .role .wish
    │   ├── HoldError                    a legal hold keeps what was to be deleted: .holds .held
    │   └── StoredLogError               a log as it lies on a disk: .path .line
    │       ├── LogCorruptError          damage: something that was committed cannot be read
    │       ├── LogFormatError           not damage: written in another version of the format: .version
    │       ├── TornLogError             not damage: the last write did not finish, and nobody has repaired it yet
    │       ├── UnknownEventError        not damage: an event type that may change how the rest is read: .type .seq
    │       ├── StoreBusyError           another writer holds the log: .pid
    │       └── StaleCursorError         the stored log went on without this writer: .expected .stored
    ├── OutsideError                     chapter 4: what a log only observes
    │   ├── MemoryConflictError          a remembered value and an offered one differ: .key .stored .offered .version
    │   ├── MemoryAccessError            not there, or not for this reader; which of them is not said: .key .reader
    │   ├── LedgerConflictError          what is asked for contradicts an operation that was done: .key .id
    │   ├── LedgerMissingError           no operation has this id: .id
    │   ├── MetricMissingError           no such definition, or not in this version: .id .version .known
    │   ├── KeyMissingError              a key that was deleted, or never made: .name .version
    │   ├── SealError                    something that its key does not open: altered, moved, or under another root: .name
    │   ├── AttachmentError              a reference that leads to nothing that can be given: .ref
    │   │   ├── AttachmentReferenceError no reference at all, as it is written
    │   │   ├── AttachmentMissingError   never put here, or deleted
    │   │   └── AttachmentCorruptError   damage, or another key: what lies there is not what the reference names
    │   └── OutsideFileError             a file or database that cannot be used: .path
    │       ├── OutsideFormatError       not damage: another program's, or a newer version of this one's: .version
    │       ├── OutsideCorruptError      damage: something that was committed cannot be read
    │       └── OutsideBusyError         another process has been writing for too long
    ├── CourseError                      a course, its roster or a submission that cannot be used
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


class CourseError(LabError):
    """A course, its roster or a submission that cannot be used."""


class SessionLogError(LabError):
    """The base of the refusals of chapter 4's session log."""


class LosslessError(SessionLogError, ValueError):
    """A value at *where* (a path such as ``$.toolCalls[0].input``) that would not come back from JSON as it went in."""

    def __init__(self, where: str, what: str) -> None:
        super().__init__(f"{where}: {what}")
        self.where, self.what = where, what


class EventError(SessionLogError):
    """A field of an event, a header or a message, at *where*, is not what the format allows."""

    def __init__(self, where: str, what: str) -> None:
        super().__init__(f"{where}: {what}")
        self.where, self.what = where, what


class SurfaceError(SessionLogError):
    """The event that would be *seq* cannot go on the surface as it asks to. Nothing was changed."""

    def __init__(self, seq: int, what: str) -> None:
        super().__init__(f"event {seq}: {what}. Nothing was changed.")
        self.seq, self.what = seq, what


class PairingError(SessionLogError):
    """The result at *seq* has no open call before it on the surface."""

    def __init__(self, seq: int) -> None:
        super().__init__(f"event {seq}: a tool result stands on the surface where no call is open")
        self.seq = seq


class ReentrantAppendError(SessionLogError):
    """An observer may look at a session, not write to it."""


class ProjectionError(SessionLogError):
    """A projection unit cannot do what it was asked for."""


class QueryStateError(SessionLogError):
    """What is asked of the query state does not hold; *code* is shape, incomplete, open, definition or stale."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(f"{sentence} Nothing was changed.")
        self.code = code


class PromptError(SessionLogError):
    """The parts of a prompt do not fit together; *name* is the one in the way."""

    def __init__(self, sentence: str, name: str) -> None:
        super().__init__(sentence)
        self.name = name


class ToolUnknownError(SessionLogError):
    """Nobody provides a tool *name*; *near* is a name that looks like it, or None."""

    def __init__(self, name: str, near: str | None = None) -> None:
        super().__init__(f"there is no tool {name!r}{f'; did you mean {near!r}?' if near else ''}")
        self.name, self.near = name, near


class ToolHiddenError(SessionLogError):
    """The tool *name* is known and not offered here and now: it is no mistake in the name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the tool {name!r} is known, and it is not offered here; the model was told of others")
        self.name = name


class UnloggedInputError(SessionLogError):
    """A request differs from the one that the log gives, in its *parts*, so it was not sent: what a model sees is logged."""

    def __init__(self, parts: tuple[str, ...]) -> None:
        super().__init__(f"the request that was about to be sent differs from the log in {', '.join(parts)}. Nothing was sent; "
                         "log what the model is to see (a section, a context part, a message), and send that.")
        self.parts = parts


class CompactionError(SessionLogError):
    """Where a compaction stopped, by *code*: busy, range, summary, changed, commit or persistence.

    For a range that would part a pair, *call* is the message that asks and *result* the one that answers, None while there is
    none.
    """

    def __init__(self, code: str, sentence: str, call: int | None = None, result: int | None = None) -> None:
        super().__init__(sentence)
        self.code, self.call, self.result = code, call, result


class ForkError(SessionLogError):
    """A session cannot be forked at *boundary*; *last_legal* is the last seq at which it can, None where there is none."""

    def __init__(self, sentence: str, boundary: object = None, last_legal: int | None = None) -> None:
        super().__init__(sentence)
        self.boundary, self.last_legal = boundary, last_legal


class DetachedSessionError(SessionLogError):
    """A replay looks at history: it writes to no store and runs no tool."""


class RoleError(SessionLogError):
    """The role *role* may not do what it *wish*es."""

    def __init__(self, role: str, wish: str) -> None:
        super().__init__(f"the role {role!r} may not have this: {wish}. Nothing was read or changed; ask somebody who may.")
        self.role, self.wish = role, wish


class HoldError(SessionLogError):
    """The legal *holds* (their ids) keep *held*, the names of what was to be deleted."""

    def __init__(self, holds: tuple[str, ...], held: tuple[str, ...]) -> None:
        super().__init__(f"a legal hold ({', '.join(holds)}) keeps {len(held)} of the things that were to be deleted (see "
                         ".held). Nothing was deleted; when the hold is lifted, ask again, or leave these out.")
        self.holds, self.held = holds, held


class StoredLogError(SessionLogError):
    """A stored log cannot be taken as it is; *line* counts from 1, the header's line included."""

    def __init__(self, sentence: str, path: Path | None = None, line: int | None = None) -> None:
        where = f"line {line}" if path is None and line is not None else ":".join(
            str(part) for part in (path, line) if part is not None)
        super().__init__(f"{where}: {sentence}" if where else sentence)
        self.path, self.line = path, line


class LogCorruptError(StoredLogError):
    """Something that was committed cannot be read. It is damage, not a torn last write, so nothing is cut."""


class TornLogError(StoredLogError):
    """The log ends in a write that did not finish; `load` repairs it, and until then nothing is added."""


class LogFormatError(StoredLogError):
    """The log is whole, but written in version *version* of the format."""

    def __init__(self, sentence: str, version: object, path: Path | None = None) -> None:
        super().__init__(sentence, path, 1)
        self.version = version


class UnknownEventError(StoredLogError):
    """Event *seq* has a type that nobody registered, and it may change how the rest is read."""

    def __init__(self, sentence: str, kind: str, seq: int, path: Path | None = None) -> None:
        super().__init__(sentence, path)
        self.type, self.seq = kind, seq


class StoreBusyError(StoredLogError):
    """Another writer holds the log."""

    def __init__(self, sentence: str, path: Path | None = None, pid: int | None = None) -> None:
        super().__init__(sentence, path)
        self.pid = pid


class StaleCursorError(StoredLogError):
    """The append begins at *expected*, the stored log ends before *stored*."""

    def __init__(self, expected: int, stored: int, path: Path | None = None) -> None:
        super().__init__(
            f"this append begins at seq {expected}, but the stored log goes on at seq {stored}: it went on without you. "
            "Nothing was written; load the session again.", path)
        self.expected, self.stored = expected, stored


class OutsideError(LabError):
    """The base of the refusals of what lies outside a log and has its own store."""


class MemoryConflictError(OutsideError):
    """For *key* the value *stored*, in version *version*, is remembered, and *offered* is another one."""

    def __init__(self, key: str, stored: str, offered: str, version: int) -> None:
        super().__init__(
            f"another value is remembered here, in version {version} (see .stored and .offered). Nothing was changed; "
            f"to let the offered one hold, decide that, then update(fact, owner, expected_version={version}).")
        self.key, self.stored, self.offered, self.version = key, stored, offered, version


class MemoryAccessError(OutsideError):
    """There is no entry for *key* that *reader* may see."""

    def __init__(self, key: str, reader: str) -> None:
        super().__init__(
            "there is no such entry that this reader may see: it was never remembered, or it was forgotten, or it belongs to "
            "someone who has not permitted this reader. Which of them is not said; search(reader) lists what may be seen.")
        self.key, self.reader = key, reader


class LedgerConflictError(OutsideError):
    """What is asked for under *key* contradicts the operation *id*, which was done."""

    def __init__(self, sentence: str, key: str | None, id: str) -> None:
        super().__init__(f"{sentence} Nothing was done.")
        self.key, self.id = key, id


class LedgerMissingError(OutsideError):
    """No operation has the *id*."""

    def __init__(self, id: str) -> None:
        super().__init__(f"no operation has the id {id[:40]!r}; operations() lists those that there are.")
        self.id = id


class MetricMissingError(OutsideError):
    """There is no definition of the metric *id* in *version* (None: none that is active); *known* has what there is."""

    def __init__(self, sentence: str, id: str, version: int | None, known: tuple[Any, ...]) -> None:
        super().__init__(sentence)
        self.id, self.version, self.known = id, version, known


class KeyMissingError(OutsideError):
    """The key *name* is not there in *version* (None: in any): it was deleted, or it was never made here."""

    def __init__(self, name: str, version: int | None, deleted: bool) -> None:
        which = f"the key {name!r}" + ("" if version is None else f" in version {version}")
        super().__init__(f"{which} was deleted, so what it sealed cannot be read except with a copy of it." if deleted else
                         f"{which} was never made here; was this sealed with the keys of another database?")
        self.name, self.version, self.deleted = name, version, deleted


class SealError(OutsideError):
    """The key *name* does not open it."""

    def __init__(self, name: str, what: str) -> None:
        super().__init__(f"{what}. Nothing was read.")
        self.name = name


class AttachmentError(OutsideError):
    """The reference *ref* leads to nothing that can be given."""

    def __init__(self, sentence: str, ref: object) -> None:
        super().__init__(sentence)
        self.ref = ref


class AttachmentReferenceError(AttachmentError):
    """No attachment has ever had a reference like *ref*."""


class AttachmentMissingError(AttachmentError):
    """No attachment of this reference is there: it was deleted, or it was put elsewhere."""


class AttachmentCorruptError(AttachmentError):
    """What lies there is not what the reference names."""


class OutsideFileError(OutsideError):
    """The file or database at *path* cannot be used as it is."""

    def __init__(self, sentence: str, path: Path) -> None:
        super().__init__(f"{path}: {sentence}")
        self.path = path


class OutsideFormatError(OutsideFileError):
    """The file is another program's, or written by a newer *version* of this one (None: it tells no version)."""

    def __init__(self, sentence: str, path: Path, version: int | None = None) -> None:
        super().__init__(sentence, path)
        self.version = version


class OutsideCorruptError(OutsideFileError):
    """Something that was committed cannot be read."""


class OutsideBusyError(OutsideFileError):
    """Another process has been writing for too long."""


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
