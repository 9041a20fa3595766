"""Views that are computed from the events alone: state_n = apply(state_n-1, event_n) (chapter 4, §4.7)."""
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from labsupport.sessionlog.events import SessionEvent

State = Any
"""Plain JSON. `apply` never changes the state it is given; it returns the same object when nothing changes."""


@dataclass(frozen=True)
class Unit:
    """A projection: *apply* is synchronous and pure, and is called for events of *event_types* only.

    *state_version* is part of every cache's key: raise it when *apply* changes what it computes.
    """

    key: str
    event_types: frozenset[str]
    init: Callable[[], State]
    apply: Callable[[State, SessionEvent], State]
    view: Callable[[State], Any] = lambda state: state
    state_version: int = 0


def fold(unit: Unit, events: Iterable[SessionEvent], state: State = None) -> Any:
    """The view of *unit* after *events*, from scratch or from *state*. Events of other types are passed over unread.

    >>> starts = Unit("starts", frozenset({"turn/start"}), lambda: 0, lambda state, event: state + 1)
    >>> fold(starts, [SessionEvent.from_json({"type": "turn/start", "seq": 0, "time": 0, "data": {"turn": 1}})])
    1
    """
    return unit.view(fold_state(unit, events, state))


def fold_state(unit: Unit, events: Iterable[SessionEvent], state: State = None) -> State:
    """As `fold`, the state itself."""
    state = unit.init() if state is None else state
    apply, types = unit.apply, unit.event_types
    for event in events:
        if event.type in types:
            state = apply(state, event)
    return state
