"""Views of one log as of each of its events, and at which events they change, as a registry tells it (chapter 4, §4.7)."""
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from labsupport.sessionlog import ProjectionRegistry, Session, SessionEvent, Snapshot, Unit, fold

At = Literal["changed", "same", "passed"]
"""What an event was to a view: it changed it; it was read and changed nothing; it is of a type that is not read."""


def play(events: Iterable[SessionEvent], session: Session) -> None:
    """Append the *events* to a live *session*, one by one, as they were appended the first time.

    >>> from labsupport.workbench.log_samples import load
    >>> session = Session.create("again")
    >>> play(load("two_step").events, session)
    >>> len(session.events)
    36
    """
    for event in events:
        session.append(event.type, event.read(), event.surface_op, event.source_event_seqs, event.ignorable is True)


def live_equals_scratch(units: Sequence[Unit], events: Sequence[SessionEvent]) -> list[bool]:
    """For each event and each of *units*: is the view of a session that is followed live the fold over the log so far?

    >>> from labsupport.sessionlog import turn_status
    >>> from labsupport.workbench.log_samples import load
    >>> live_equals_scratch([turn_status], load("two_step").events[:3])
    [True, True, True]
    """
    registry, session, found = ProjectionRegistry(units), Session.create("live"), list[bool]()
    for event in events:
        play([event], session)
        seen = registry.snapshot(session)
        found += [seen.as_of_seq == event.seq and seen.values[unit.key] == fold(unit, session.events) for unit in units]
    return found


class UnitViews:
    """The views of *units* over *events*, kept as of every event.

    >>> from labsupport.sessionlog import tool_pairing, turn_status
    >>> from labsupport.workbench.log_samples import load
    >>> views = UnitViews([turn_status, tool_pairing], load("replaced").events)
    >>> views.changes["turn_status"][:3], views.at("tool_pairing", 34)
    ([0, 1, 16], 'same')

    ProjectionError for a unit that no registry takes. A view of a unit that failed is the failure's error, a word.
    """

    def __init__(self, units: Iterable[Unit], events: Sequence[SessionEvent]) -> None:
        self.units = tuple(units)
        self.events = tuple(events)
        self.changes: dict[str, list[int]] = {unit.key: [] for unit in self.units}
        """By key, the seq of every event that changed the view."""
        times = iter([event.time for event in self.events])
        registry, session = ProjectionRegistry(self.units), Session.create("views", clock=lambda: next(times))
        registry.on_changed(lambda change: self.changes[change.key].append(change.seq))
        self._snapshots: list[Snapshot] = [registry.snapshot(session)]
        for event in self.events:
            play([event], session)
            self._snapshots.append(registry.snapshot(session))
        self._changed = {key: frozenset(seqs) for key, seqs in self.changes.items()}

    def at(self, key: str, seq: int) -> At:
        """What event *seq* was to the view *key*."""
        if seq in self._changed[key]:
            return "changed"
        unit = next(unit for unit in self.units if unit.key == key)
        return "same" if self.events[seq].type in unit.event_types else "passed"

    def failed(self, key: str, seq: int) -> str:
        """The error that stopped the unit *key* by event *seq*; empty while it works."""
        return next((failure.error for failure in self._snapshots[seq + 1].failures if failure.key == key), "")

    def fields(self, key: str, seq: int) -> dict[str, Any]:
        """The view *key* as of *seq* (-1: before the first event) by the names in it; one that is no object has the name ""."""
        view = self._snapshots[seq + 1].values.get(key)
        return dict(view) if isinstance(view, dict) else {"": view}

    def names(self, key: str) -> list[str]:
        """Every name that is ever in the view *key*, in the order in which they come."""
        return list(dict.fromkeys(name for seq in range(-1, len(self.events)) for name in self.fields(key, seq)))
