"""The event: an envelope that is checked, and data that is kept as JSON text (chapter 4, §4.2)."""
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Raw, UnsetType

from labsupport.errors import EventError
from labsupport.frozen import thaw
from labsupport.lossless import MAX_SAFE_INTEGER
from labsupport.sessionlog.json_text import frozen_data, read_data, write_data
from labsupport.sessionlog.shapes import check_shape
from labsupport.sessionlog.views import View

SURFACE_TYPES = frozenset({"user/message", "assistant/message", "tool/result"})
"""The types that stand on the surface: they must say how (`surface_op`), and no other may."""

RETIRED_TYPES = frozenset({"request/header-delta"})
_known_types = {
    *SURFACE_TYPES,
    "turn/start", "turn/end", "step/start", "step/end", "assistant/chunk", "tool/call", "todo/write", "request/header",
    "request/context", "session/end-seed", "agent-preset/selected", "agent/inbox/spliced", "approval/asked",
    "approval/decided", "approval/policy", "command/done", "command/run", "compaction/start", "compaction/summary",
    "compaction/end", "compaction/prune", "feedback/record", "goal/change", "hook/invoked", "hook/result", "llm/retry",
    "llm/retry-started", "permission/preset", "plan/mode", "sandbox/mode", "schedule/change", "session/title",
    "session/title-llm-request", "subagent/descriptor", "tool-workflow/agent-start", "tool-workflow/agent-end",
    "tool-workflow/run-start", "tool-workflow/run-end", "tool/code-dispatch", "tool/code-dispatch-start",
    "web/deepseek-search-llm-request",
}


def register_event_type(name: str) -> None:
    """Make the type *name* of a plug-in known, so that a store opens logs that hold it."""
    if not name:
        raise EventError("type", "a type that is registered has a name")
    _known_types.add(name)


def is_known_type(name: str) -> bool:
    """Whether the type *name* is one of the format's own or was registered.

    >>> is_known_type("turn/start"), is_known_type("plugin/x")
    (True, False)
    """
    return name in _known_types


def known_types() -> list[str]:
    """All types that are known, in order."""
    return sorted(_known_types)


Natural = Annotated[int, msgspec.Meta(ge=0, le=MAX_SAFE_INTEGER)]
Safe = Annotated[int, msgspec.Meta(ge=-MAX_SAFE_INTEGER, le=MAX_SAFE_INTEGER)]


class Replace(msgspec.Struct, frozen=True, gc=False, tag_field="op", tag="replace", forbid_unknown_fields=True):
    """Put this event in the place of the nodes from seq *start* to seq *end*, by their position on the surface."""

    start: Natural
    end: Natural


SurfaceOp = Literal["append"] | Replace


class SessionEvent(msgspec.Struct, frozen=True, gc=False, forbid_unknown_fields=True, rename={
        "json_text": "data", "surface_op": "surfaceOp", "source_event_seqs": "sourceEventSeqs"}):
    """One fact of a session: *seq* is its place in the log, *time* epoch milliseconds, by which nothing is ordered.

    >>> event = SessionEvent.from_json({"type": "turn/start", "seq": 0, "time": 5, "data": {"turn": 1}})
    >>> event.data["turn"], event.to_json()
    (1, {'type': 'turn/start', 'seq': 0, 'time': 5, 'data': {'turn': 1}})

    The data stays JSON text until somebody asks for it, so nothing that is handed out can change the log. *surface_op*,
    *source_event_seqs* and *ignorable* are UNSET where the event does not have them. Chapter 4, §4.2.
    """

    type: str
    seq: Natural
    time: Safe
    json_text: Raw
    surface_op: SurfaceOp | UnsetType = UNSET
    source_event_seqs: tuple[Natural, ...] | UnsetType = UNSET
    ignorable: bool | UnsetType = UNSET

    @property
    def data(self) -> Any:
        """The data as frozen JSON; each call reads the text again."""
        return frozen_data(self.json_text)

    def read(self) -> Any:
        """The data as plain JSON, a copy of its own."""
        return read_data(self.json_text)

    @classmethod
    def from_json(cls, value: object) -> "SessionEvent":
        """The event that *value* (a decoded record) is; EventError or LosslessError where it is none.

        It checks the envelope and the shapes of messages and request headers, not how the event fits into a log.
        """
        if not isinstance(value, dict):
            raise EventError("event", f"an object belongs here, not a {type(value).__name__}")
        for key in ("type", "seq", "time", "data"):
            if key not in value:
                raise EventError(key, "an event has this field")
        extra = value.keys() - {"type", "seq", "time", "data", "surfaceOp", "sourceEventSeqs", "ignorable"}
        if extra:
            raise EventError("event", f"{len(extra)} fields that no event has")
        kind = value["type"]
        if type(kind) is not str:
            raise EventError("type", f"a string belongs here, not a {type(kind).__name__}")
        event = cls(
            kind, natural(value["seq"], "seq"), integer(value["time"], "time"), Raw(write_data(value["data"], stored=True)),
            surface_op_from_json(value["surfaceOp"]) if "surfaceOp" in value else UNSET,
            sources_from_json(value["sourceEventSeqs"]) if "sourceEventSeqs" in value else UNSET,
            value.get("ignorable", UNSET))
        check_envelope(event)
        check_shape(kind, event.read())
        return event

    def to_json(self) -> dict[str, Any]:
        """The event as a plain JSON object, equal to the one it was made of."""
        value: dict[str, Any] = {"type": self.type, "seq": self.seq, "time": self.time, "data": self.read()}
        if self.surface_op is not UNSET:
            value["surfaceOp"] = surface_op_to_json(self.surface_op)
        if self.source_event_seqs is not UNSET:
            value["sourceEventSeqs"] = list(self.source_event_seqs)
        if self.ignorable is not UNSET:
            value["ignorable"] = self.ignorable
        return value

    def __repr__(self) -> str:
        return f"SessionEvent({self.seq} {self.type!r}, {len(bytes(self.json_text))} bytes of data)"


def check_envelope(event: SessionEvent) -> None:
    """The rules of the envelope that hold for one event alone; EventError where one does not."""
    if event.ignorable is not UNSET and event.ignorable is not True:
        raise EventError("ignorable", "it is true or absent")
    if event.type in RETIRED_TYPES:
        raise EventError("type", "this type was retired; no version of the format that can be read here has it")
    if event.type in SURFACE_TYPES:
        if event.surface_op is UNSET:
            raise EventError("surfaceOp", "a message must say how it goes on the surface")
    elif event.surface_op is not UNSET or event.source_event_seqs is not UNSET:
        raise EventError("surfaceOp", "only messages stand on the surface and cite sources")


def integer(value: object, where: str) -> int:
    """*value* as a safe integer, also where it is spelled 1.0; EventError where it is none (true is none)."""
    if type(value) is float and value.is_integer():
        value = int(value)
    if type(value) is not int or abs(value) > MAX_SAFE_INTEGER:
        raise EventError(where, "an integer within ±(2^53-1) belongs here")
    return value


def natural(value: object, where: str) -> int:
    """*value* as a safe integer that is not negative."""
    number = integer(value, where)
    if number < 0:
        raise EventError(where, "a number from 0 on belongs here")
    return number


def surface_op_from_json(value: object) -> SurfaceOp:
    """"append", or a Replace from {"op": "replace", "start": S, "end": E}; EventError for anything else."""
    if isinstance(value, Replace):
        return Replace(natural(value.start, "surfaceOp.start"), natural(value.end, "surfaceOp.end"))
    if value == "append" and type(value) is str:
        return "append"
    if isinstance(value, dict) and value.keys() == {"op", "start", "end"} and value["op"] == "replace":
        return Replace(natural(value["start"], "surfaceOp.start"), natural(value["end"], "surfaceOp.end"))
    raise EventError("surfaceOp", 'it is "append" or {"op": "replace", "start": S, "end": E}')


def surface_op_to_json(op: SurfaceOp) -> Any:
    """The JSON of *op*."""
    return {"op": "replace", "start": op.start, "end": op.end} if isinstance(op, Replace) else op


def sources_from_json(value: object) -> tuple[int, ...]:
    """A list of seqs; EventError where it is none."""
    if not isinstance(value, (list, tuple)):
        raise EventError("sourceEventSeqs", "a list of seqs belongs here")
    if all(type(seq) is int and 0 <= seq <= MAX_SAFE_INTEGER for seq in value):
        return tuple(value)
    return tuple(natural(seq, "sourceEventSeqs") for seq in value)


def to_json(value: object) -> Any:
    """*value* (frozen JSON, an event, a header) as plain dicts and lists.

    >>> type(to_json(SessionEvent.from_json({"type": "plugin/x", "seq": 0, "time": 0, "data": []}).data))
    <class 'list'>
    """
    make = getattr(value, "to_json", None)
    if make is not None:
        return make()
    if isinstance(value, (tuple, View)):
        return [to_json(item) for item in value]
    return thaw(value)
