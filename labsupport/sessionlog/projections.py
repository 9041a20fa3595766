"""Many units over the sessions that are looked at: snapshots, a feed of changes, checkpoints (chapter 4, §4.7)."""
import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from weakref import WeakKeyDictionary, ref

from labsupport.errors import LosslessError, ProjectionError
from labsupport.frozen import FrozenDict
from labsupport.sessionlog.events import SessionEvent
from labsupport.sessionlog.folding import Unit as Unit
from labsupport.sessionlog.json_text import read_data, write_data
from labsupport.sessionlog.session import Session
from labsupport.sessionlog.snapshots import (
    Change as Change,
)
from labsupport.sessionlog.snapshots import (
    Failure,
    Listener,
    Restored,
    Rows,
    Snapshot,
    States,
    fold_into,
    outside,
    unusable,
)

_log = logging.getLogger(__name__)


class ProjectionRegistry:
    """Units that are folded together over the sessions that are looked at.

    >>> registry = ProjectionRegistry()
    >>> _ = registry.register(Unit("starts", frozenset({"turn/start"}), lambda: 0, lambda state, event: state + 1))
    >>> session = Session.create("s1")
    >>> registry.snapshot(session)
    Snapshot(as_of_seq=-1, values={'starts': 0}, failures=())
    >>> _ = session.append("turn/start", {"turn": 1})
    >>> registry.snapshot(session).values["starts"]
    1

    A session has one subscription, which drives every unit, so that all views are of one watermark.
    """

    def __init__(self, units: Iterable[Unit] = ()) -> None:
        self._units: dict[str, Unit] = {}
        self._shares: dict[str, int] = {}
        self._readers: dict[str, list[Unit]] = {}  # event type → who reads it
        self._followed: WeakKeyDictionary[Session, States] = WeakKeyDictionary()
        self._listeners: list[Listener] = []
        for unit in units:
            self.register(unit)

    @property
    def versions(self) -> dict[str, int]:
        """The state_version of each unit, by key."""
        return {key: unit.state_version for key, unit in self._units.items()}

    def register(self, unit: Unit) -> Callable[[], None]:
        """Fold *unit* from now on, over the log so far as well; the function that is returned ends that.

        A key that is there already is shared when its state_version is the same: the unit that came first stays until all
        who registered it are gone. ProjectionError for another version, and for a unit that cannot be folded.
        """
        unit.check()
        known = self._units.get(unit.key)
        if known is not None and known.state_version != unit.state_version:
            raise ProjectionError(f"{unit.key}: it is registered with state_version {known.state_version}, not "
                                  f"{unit.state_version}; two versions of one view cannot go by one key")
        if known is None:
            self._units[unit.key] = unit
            for name in unit.event_types:
                self._readers.setdefault(name, []).append(unit)
            for session, kept in self._followed.items():
                fold_into(kept, unit, session.events[:kept.as_of + 1])
        self._shares[unit.key] = self._shares.get(unit.key, 0) + 1
        released = False

        def release() -> None:
            nonlocal released
            if not released:
                released = True
                self._release(unit.key)

        return release

    def _release(self, key: str) -> None:
        self._shares[key] -= 1
        if not self._shares[key]:
            unit = self._units.pop(key)
            for name in unit.event_types:
                self._readers[name].remove(unit)
            for kept in self._followed.values():
                kept.drop(key)

    def on_changed(self, listener: Listener) -> Callable[[], None]:
        """Tell *listener* of every change in a session that is followed; the function that is returned ends that.

        A state that is the same object, or an equal number or string, is no change. A listener that raises stops nobody.
        """
        def tell(change: Change) -> None:
            listener(change)

        def stop() -> None:
            if tell in self._listeners:
                self._listeners.remove(tell)

        self._listeners.append(tell)
        return stop

    def follow(self, session: Session, rows: Rows | None = None) -> Restored:
        """Fold *session* from now on, from the checkpoint *rows* where they can be used (`restore`)."""
        if rows is None and session in self._followed:
            self._catch_up(session)
            return self._restored(self._followed[session], (), {})
        kept, reused, refolded = self._restore(rows or {}, session.events, 0)
        if session not in self._followed:
            kept.session = ref(session)
            session.observe(self._see(kept))
            self._followed[session] = kept
        else:
            known = self._followed[session]
            known.as_of, known.states, known.failures, known.seen = kept.as_of, kept.states, kept.failures, kept.seen
        return self._restored(self._followed[session], reused, refolded)

    def _see(self, kept: States) -> Callable[[SessionEvent], None]:
        def see(event: SessionEvent) -> None:
            session = None if kept.session is None else kept.session()
            if session is not None:
                self._catch_up(session)

        return see

    def _take(self, kept: States, event: SessionEvent) -> None:
        """Let all units take *event*, and then, at the new watermark, tell of the changes."""
        changed = kept.take(self._readers.get(event.type, ()), event)
        session = kept.session() if kept.session is not None and self._listeners else None
        for unit in changed if session is not None else ():
            if self._units.get(unit.key) is not unit:
                continue  # a listener released it
            value = kept.see(unit)
            if session is not None and not isinstance(value, Failure):
                self._tell(Change(session, unit.key, event.seq, value))

    def _tell(self, change: Change) -> None:
        for listener in tuple(self._listeners):
            try:
                listener(change)
            except Exception as error:  # noqa: BLE001 - a listener may be anybody's
                _log.error("a listener of projection %r failed at event %d (%s)", change.key, change.seq, type(error).__name__)

    def _catch_up(self, session: Session) -> None:
        """Take every event that was not taken: of observers, another one may be told earlier, and be interrupted."""
        kept = self._followed[session]
        while kept.as_of + 1 < len(session.events):  # a listener that asks for a snapshot comes here as well
            self._take(kept, session.events[kept.as_of + 1])

    def snapshot(self, session: Session) -> Snapshot:
        """The views of all units at one watermark, frozen. It costs the units, not the log, once the session is followed."""
        if session not in self._followed:
            self.follow(session)
        self._catch_up(session)
        return self._snapshot(self._followed[session])

    def _snapshot(self, kept: States) -> Snapshot:
        views = {key: kept.see(unit) for key, unit in self._units.items()}
        return Snapshot(kept.as_of, FrozenDict({key: view for key, view in views.items() if not isinstance(view, Failure)}),
                        tuple(view for view in views.values() if isinstance(view, Failure)))

    def _restored(self, kept: States, reused: Iterable[str], refolded: Mapping[str, str]) -> Restored:
        now = self._snapshot(kept)
        return Restored(now.as_of_seq, now.values, now.failures, tuple(reused), FrozenDict(refolded))

    def checkpoint(self, session: Session) -> dict[str, Any]:
        """The states of all units that did not fail, at one watermark, as copies: key → {"ver", "seq", "val"}.

        ProjectionError names a unit whose state is no JSON.
        """
        self.snapshot(session)
        kept = self._followed[session]
        rows = {}
        for key, unit in self._units.items():
            if key not in kept.failures:
                try:
                    state = read_data(write_data(kept.states[key], stored=True))
                except LosslessError as error:
                    raise ProjectionError(f"{key}: its state is no JSON ({error.where}: {error.what})") from None
                rows[key] = {"ver": unit.state_version, "seq": kept.as_of, "val": state}
        return rows

    def restore_floor(self, rows: Rows) -> int:
        """The seq to read the log from so that `restore` can go on with *rows*: the lowest watermark of a usable row, or 0.

        It is one below the first event that is new, so that a log which has become shorter is noticed.
        """
        floors = [rows[key]["seq"] if not unusable(unit, rows.get(key)) else 0 for key, unit in self._units.items()]
        return max(0, min(floors, default=0))

    def restore(self, rows: Rows, events: Iterable[SessionEvent], base_seq: int = 0) -> Restored:
        """The views after *events*, the log from *base_seq* on, going on from *rows* where that can be proven right.

        A row is reused when its version is the unit's and its watermark lies within the events, or just before them. Every
        other unit is folded from event 0, and `refolded` says why; ProjectionError when those events are not here.
        """
        kept, reused, refolded = self._restore(rows, events, base_seq)
        return self._restored(kept, reused, refolded)

    def _restore(self, rows: Rows, events: Iterable[SessionEvent], base_seq: int) -> tuple[States, list[str], dict[str, str]]:
        tail = list(events)
        end = base_seq + len(tail) - 1
        for at, event in enumerate(tail):
            if event.seq != base_seq + at:
                raise ProjectionError(f"event {event.seq} stands where {base_seq + at} belongs; give the log from base_seq on")
        kept, reused, refolded = States(end), list[str](), dict[str, str]()
        for key, unit in self._units.items():
            why = unusable(unit, rows.get(key)) or outside(rows[key]["seq"], base_seq, end)
            if why and base_seq > 0:
                raise ProjectionError(f"{key}: {why}. It has to be folded from event 0 on, and the events begin at {base_seq}; "
                                      "read the whole log.")
            if why:
                fold_into(kept, unit, tail)
                if key in rows:
                    refolded[key] = why
            else:
                reused.append(key)
                state = read_data(write_data(rows[key]["val"], stored=True))
                fold_into(kept, unit, tail[rows[key]["seq"] + 1 - base_seq:], state)
        return kept, reused, refolded

    def view_checkpoint(self, rows: Rows) -> Snapshot:
        """The views in *rows*, without the log. *as_of_seq* is the lowest watermark among them, -1 where no row can be used."""
        usable = [unit for key, unit in self._units.items() if key in rows and not unusable(unit, rows[key])]
        return Snapshot(min((rows[unit.key]["seq"] for unit in usable), default=-1),
                        FrozenDict({unit.key: unit.see(rows[unit.key]["val"]) for unit in usable}))
