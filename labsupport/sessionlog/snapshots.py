"""The views of a session's units at one watermark, and what a checkpoint of them is worth (chapter 4, §4.7)."""
import inspect
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from weakref import ReferenceType

from msgspec import UNSET

from labsupport.errors import LabError, ProjectionError
from labsupport.sessionlog.events import SessionEvent
from labsupport.sessionlog.folding import State, Unit
from labsupport.sessionlog.session import Session

_log = logging.getLogger(__name__)

Rows = Mapping[str, Any]
"""A checkpoint: key → {"ver": state_version, "seq": the last event in it, "val": the state}."""


@dataclass(frozen=True)
class Failure:
    """Unit *key* could not take event *seq*, or show its view there; *error* names what it raised. It stands still since."""

    key: str
    seq: int
    error: str
    why: str = field(default="", compare=False)
    """What this library says of it; empty for an error of the unit's own, whose words may be anybody's."""


@dataclass(frozen=True)
class Snapshot:
    """The views of all units after event *as_of_seq*, -1 before the first; units that failed are in *failures* instead."""

    as_of_seq: int
    values: Mapping[str, Any]
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True)
class Restored(Snapshot):
    """A snapshot from a checkpoint: the keys whose row was *reused*, and why the others were *refolded* from the start."""

    reused: tuple[str, ...] = ()
    refolded: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Change:
    """Event *seq* of *session* changed the view of unit *key* to *value*."""

    session: Session
    key: str
    seq: int
    value: Any


Listener = Callable[[Change], None]


@dataclass
class States:
    """The states of the units after event *as_of*, and what was last seen of each: the state, and its view or failure."""

    as_of: int = -1
    session: "ReferenceType[Session] | None" = None  # weak: an observer does not keep what it observes
    states: dict[str, State] = field(default_factory=dict)
    failures: dict[str, Failure] = field(default_factory=dict)
    seen: dict[str, tuple[State, Any]] = field(default_factory=dict)

    def take(self, units: Iterable[Unit], event: SessionEvent) -> list[Unit]:
        """Let *units* take *event*, and come to its watermark, all at once; those whose state changed.

        What a unit raises stops this unit alone. What interrupts (a key) leaves everything as it was before the event.
        """
        fresh, changed, failed = dict(self.states), list[Unit](), dict[str, Exception]()
        for unit in units:
            if unit.key in self.failures:
                continue
            before = fresh[unit.key]
            try:
                after = unit.apply(before, event)
                if inspect.isawaitable(after):
                    getattr(after, "close", lambda: None)()
                    raise ProjectionError(f"{unit.key}: apply gave something to wait for, and no state")
            except Exception as error:  # noqa: BLE001 - a unit may be anybody's, and the others go on
                failed[unit.key] = error
                continue
            fresh[unit.key] = after
            if after is not before and not (type(after) in _SCALARS and type(after) is type(before) and after == before):
                changed.append(unit)
        self.states, self.as_of = fresh, event.seq
        for key, why in failed.items():
            self.fail(key, event.seq, why)
        return changed

    def fail(self, key: str, seq: int, error: Exception) -> Failure:
        failure = self.failures[key] = _failure(key, seq, error)
        _log.error("projection %r stopped at event %d (%s)", key, seq, failure.error)
        return failure

    def drop(self, key: str) -> None:
        for kept in (self.states, self.failures, self.seen):
            kept.pop(key, None)

    def see(self, unit: Unit) -> Any:
        """The view of *unit*, or a Failure; made once for each state."""
        if unit.key in self.failures:
            return self.failures[unit.key]
        state = self.states[unit.key]
        if unit.key not in self.seen or self.seen[unit.key][0] is not state:
            try:
                view = unit.see(state)
            except Exception as error:  # noqa: BLE001 - as for apply; the next state may be seen again
                view = _failure(unit.key, self.as_of, error)
            self.seen[unit.key] = (state, view)
        return self.seen[unit.key][1]


def _failure(key: str, seq: int, error: Exception) -> Failure:
    return Failure(key, seq, type(error).__name__, str(error) if isinstance(error, LabError) else "")


_SCALARS = frozenset({str, int, float, bool, type(None)})


def fold_into(kept: States, unit: Unit, events: Iterable[SessionEvent], state: State = UNSET) -> None:
    """Bring *unit* to the watermark of *kept* with *events*, from *state* or from the start."""
    kept.drop(unit.key)
    try:
        kept.states[unit.key] = unit.init() if state is UNSET else state
    except Exception as error:  # noqa: BLE001 - as for apply
        kept.fail(unit.key, -1, error)
        return
    as_of, types = kept.as_of, unit.event_types
    for event in events:
        if event.type in types:
            kept.take((unit,), event)
    kept.as_of = as_of


def unusable(unit: Unit, row: Any) -> str:
    """Why *row* cannot stand for the state of *unit*; empty when it can."""
    if row is None:
        return "there is no row"
    if not isinstance(row, Mapping) or row.keys() != {"ver", "seq", "val"} or type(row["seq"]) is not int or row["seq"] < -1:
        return "the row is malformed"
    if type(row["ver"]) is not int or row["ver"] != unit.state_version:
        kind = "a newer" if type(row["ver"]) is int and row["ver"] > unit.state_version else "another"
        return f"the row was made by {kind} state_version"
    try:
        unit.see(row["val"])
    except Exception:  # noqa: BLE001 - whatever a view makes of a foreign state
        return "the row's state has no view"
    return ""


def outside(seq: int, base_seq: int, end: int) -> str:
    if seq > end:
        return f"the row is for event {seq}, and the events end at {end}"
    return f"the row ends at event {seq}, and the events begin at {base_seq}" if seq < base_seq - 1 else ""
