"""What the system committed to: goal, metric, filters, time, plan, approval, each with where it is from (chapter 4, §4.12).

What a user said stands in the messages. What was made of it stands here, in events of the type `workbook/query-state`: the
whole value each time, log-only, and ignorable for a reader that does not know it.

The plan's hash covers the fields that it was made from, value and version. So whether a plan still holds, and an approval
with it, is computed whenever a state is read: nobody can carry an old approval over to another metric, not by mistake either.
"""
import hashlib
import json
from typing import Annotated, Any, Literal, NamedTuple

import msgspec

from labsupport.errors import ProjectionError, QueryStateError
from labsupport.frozen import FrozenDict, freeze_tree
from labsupport.sessionlog.events import SessionEvent, to_json
from labsupport.sessionlog.folding import State, Unit, fold
from labsupport.sessionlog.json_text import same_json, write_data
from labsupport.sessionlog.session import Session

QUERY_STATE = "workbook/query-state"
PLANNED = ("goal", "metric", "filters", "time", "ambiguities")
"""The fields that a plan is made from: another value in one of them is another plan."""
NEEDED = ("goal", "metric", "time")
"""The fields without which there is no plan."""

Status = Literal["committed", "void"]
_Text = Annotated[str, msgspec.Meta(min_length=1)]
_Seq = Annotated[int, msgspec.Meta(ge=0)]
_Count = Annotated[int, msgspec.Meta(ge=1)]


class Source(NamedTuple):
    """Where a field is from: the event *seq*, in this *turn*; None between turns."""

    seq: int
    turn: int | None


class _Source(msgspec.Struct, forbid_unknown_fields=True):
    seq: _Seq
    turn: _Count | None


class _Metric(msgspec.Struct, forbid_unknown_fields=True):
    id: _Text
    version: _Count
    status: Literal["draft", "active", "retired"]


class _Time(msgspec.Struct, forbid_unknown_fields=True):
    calendar: _Text
    mode: _Text
    start: _Text
    end: _Text


class _Approval(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    plan_hash: _Text
    by: _Text


_VALUES: dict[str, Any] = {
    "goal": _Text, "metric": _Metric, "filters": dict[str, str], "time": _Time, "ambiguities": list[_Text],
    "planHash": _Text, "approval": _Approval}
FIELDS = tuple(_VALUES)


class _Field(msgspec.Struct, forbid_unknown_fields=True):
    value: Any
    source: _Source
    version: _Count
    status: Status


EMPTY: State = FrozenDict(dict.fromkeys(FIELDS))
"""The state before anything was committed to: every field None."""


# Transitions: pure, a new state out of an old one

def commit(state: State, source: Source, **values: Any) -> State:
    """*state* with the fields *values* (goal, metric, filters, time, ambiguities) as the event *source* gives them.

    >>> said = commit(EMPTY, Source(2, 1), goal="bill Harbour", filters={"clinic": "harbour"})
    >>> said["filters"]["version"], commit(said, Source(9, 2), filters={"clinic": "hillside"})["filters"]["version"]
    (1, 2)

    The same value once more changes nothing, and gives the same object:

    >>> commit(said, Source(9, 2), goal="bill Harbour") is said
    True

    A plan and its approval are void as soon as a field in PLANNED has another value. QueryStateError (code "shape") for a
    field that is not there, or a value that is not what the field holds. Chapter 4, §4.12.
    """
    for name in values:
        if name not in FIELDS or name in ("planHash", "approval"):
            raise QueryStateError("shape", f"there is no field {name} to commit to; plan() and approve() make the other two.")
    return _with(state, source, values)


def plan(state: State, source: Source) -> State:
    """*state* with the hash of the plan that it gives; *source* is the event that shows the plan to a person.

    QueryStateError: "incomplete" as long as a field in NEEDED is missing, "open" while an ambiguity is not settled,
    "definition" for a metric whose definition is not active.
    """
    missing = [name for name in NEEDED if state[name] is None]
    if missing:
        raise QueryStateError("incomplete", f"there is no plan yet: {', '.join(missing)} is missing.")
    if state["ambiguities"] and state["ambiguities"]["value"]:
        raise QueryStateError("open", f"{len(state['ambiguities']['value'])} question(s) to the user are open; commit the "
                                      "answers, and ambiguities=[].")
    if state["metric"]["value"]["status"] != "active":
        raise QueryStateError("definition", "the definition of this metric is not active; look up the one that is.")
    return _with(state, source, {"planHash": plan_hash(state)})


def approve(state: State, source: Source, approved: str, by: str) -> State:
    """*state* with the approval of the plan whose hash is *approved*, given *by* somebody in the event *source*.

    QueryStateError, code "stale", when this is not the plan as it is now: whoever approved it has seen another one. So it is
    for an event that came before the plan was shown.
    """
    current = state["planHash"]
    if current is None:
        raise QueryStateError("stale", "there is no plan that could be approved.")
    if source.seq <= current["source"]["seq"]:
        raise QueryStateError("stale", f"event {source.seq} came before the plan, which was shown in event "
                                       f"{current['source']['seq']}.")
    if current["status"] == "void" or current["value"] != approved:
        changed = ", ".join(stale_fields(state, approved)) or "the plan"
        raise QueryStateError("stale", f"plan {approved[:16]} is not the plan any more: {changed} changed since. Make a plan, "
                                       "show it, and ask again.")
    return _with(state, source, {"approval": {"planHash": approved, "by": by}})


def plan_hash(state: State) -> str:
    """The hash of what a plan is made from, with versions: after a change to and fro it is another one."""
    covered = {name: None if state[name] is None else [to_json(state[name]["value"]), state[name]["version"]]
               for name in PLANNED}
    return hashlib.sha256(json.dumps(covered, sort_keys=True).encode()).hexdigest()[:16]


def may_act(state: State) -> bool:
    """Whether there is an approval, and it is of the plan as it is now."""
    approval = state["approval"]
    return approval is not None and bool(approval["status"] == "committed")


def stale_fields(state: State, approved: str) -> list[str]:
    """The fields in PLANNED that changed after the plan whose hash is *approved*; [] where the state does not tell."""
    made = state["planHash"]
    if made is None or made["value"] != approved:
        return []
    return [name for name in PLANNED if state[name] is not None and state[name]["source"]["seq"] > made["source"]["seq"]]


def _with(state: State, source: Source, values: dict[str, Any]) -> State:
    fresh = dict(state)
    for name, value in values.items():
        _check(name, value)
        old = state[name]
        if old is not None and same_json(old["value"], value) and old["status"] == "committed":
            continue
        fresh[name] = {"value": to_json(value), "source": {"seq": source.seq, "turn": source.turn},
                       "version": 1 if old is None else old["version"] + 1, "status": "committed"}
    return state if all(fresh[name] is state[name] for name in FIELDS) else freeze_tree(_settled(fresh))


def _check(name: str, value: Any) -> None:
    try:
        msgspec.convert(to_json(value), _VALUES[name], strict=True)
    except msgspec.ValidationError as error:
        raise QueryStateError("shape", f"{name} does not hold this{_place(error)}.") from None


def _place(error: msgspec.ValidationError) -> str:
    """Where in a value something is wrong, as msgspec says it; what it says besides may quote the value."""
    place = str(error).partition(" - at ")[2]
    return f", at {place}" if place else ""


def _settled(state: dict[str, Any]) -> dict[str, Any]:
    """*state*, in which a plan that is not made from the fields as they are is void, and so is an approval of another plan."""
    made, approval = state["planHash"], state["approval"]
    if made is not None and made["value"] != plan_hash(state):
        made = {**made, "status": "void"}
    if approval is not None and (made is None or made["status"] == "void" or approval["value"]["planHash"] != made["value"]):
        approval = {**approval, "status": "void"}
    return {**state, "planHash": made, "approval": approval}


# The log, and the projection

def log_state(session: Session, state: State) -> SessionEvent | None:
    """Log *state* whole, unless the log says so already."""
    if same_json(to_json(current(session)), to_json(state)):
        return None
    return session.append(QUERY_STATE, to_json(state), ignorable=True)


def current(session: Session) -> State:
    """The query state of *session*, as the projection gives it."""
    return fold(query_state, session.events)


def source_at(session: Session, seq: int) -> Source:
    """The event *seq* of *session* as a source: with the turn that it stands in."""
    turn = None
    for event in session.events[:seq + 1]:
        if event.type == "turn/start":
            turn = event.data.get("turn")
        elif event.type == "turn/end" and event.seq < seq:
            turn = None
    return Source(seq, turn)


def _apply(state: State, event: SessionEvent) -> State:
    data = event.read()
    try:
        if not isinstance(data, dict) or set(data) != set(FIELDS):
            raise msgspec.ValidationError("Expected the seven fields")
        for name, held in data.items():
            if held is not None:
                known = msgspec.convert(held, _Field, strict=True)
                msgspec.convert(known.value, _VALUES[name], strict=True)
                if known.source.seq >= event.seq:
                    raise msgspec.ValidationError(f"{name} comes from an event that is not before it")
    except msgspec.ValidationError as error:
        raise ProjectionError(f"event {event.seq} holds no query state{_place(error)}; {QUERY_STATE} has seven fields, each "
                              "null or a value with its source, version and status") from None
    fresh = _settled(data)
    return state if write_data(fresh, stored=True) == write_data(state, stored=True) else freeze_tree(fresh)


query_state = Unit("query_state", frozenset({QUERY_STATE}), lambda: EMPTY, _apply, schema=dict[str, Any])
"""The latest state that was logged, whole; a plan or an approval that does not fit its fields is void in it."""
