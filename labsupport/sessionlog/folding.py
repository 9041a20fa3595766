"""One view that is computed from the events alone: state_n = apply(state_n-1, event_n) (chapter 4, §4.7)."""
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import Any

import msgspec

from labsupport.errors import LosslessError, ProjectionError
from labsupport.sessionlog.events import SessionEvent, is_known_type, known_types
from labsupport.sessionlog.invariants import Problem
from labsupport.sessionlog.json_text import frozen_data, read_data, write_data

State = Any
"""Plain JSON. `apply` never changes the state it is given; it returns the same object when nothing changes."""


@dataclass(frozen=True)
class Unit:
    """A projection: *apply* is synchronous and pure, and is called for events of *event_types* only.

    *state_version* is part of every cache's key: raise it when *apply* changes what it computes. *schema* is the type of the
    view, as msgspec reads types (a TypedDict, `dict[str, int]` …); a view that does not fit it is not handed out.
    """

    key: str
    event_types: frozenset[str]
    init: Callable[[], State]
    apply: Callable[[State, SessionEvent], State]
    view: Callable[[State], Any] = lambda state: state
    state_version: int = 0
    schema: Any = Any

    def check(self) -> None:
        """ProjectionError for a unit that no registry takes: without a name or a version, or with a function that may wait.

        >>> async def later(state, event): ...
        >>> Unit("n", frozenset({"turn/start"}), dict, later).check()
        Traceback (most recent call last):
        labsupport.errors.ProjectionError: n: apply is asynchronous. While it waits, other units go on, and the views are no ...
        """
        if type(self.key) is not str or not self.key:
            raise ProjectionError(f"a unit has a key, a word, not {type(self.key).__name__}")
        if type(self.state_version) is not int or self.state_version < 0:
            raise ProjectionError(f"{self.key}: state_version is a whole number from 0 on")
        if not isinstance(self.event_types, (set, frozenset)) or any(type(name) is not str for name in self.event_types):
            raise ProjectionError(f"{self.key}: event_types is a set of the types that apply reads")
        for name in self.event_types:
            near = [] if is_known_type(name) else get_close_matches(name, known_types(), 1, 0.85)
            if near:
                raise ProjectionError(f"{self.key}: nobody logs events of type {name!r}; did you mean {near[0]!r}? "
                                      "(register_event_type makes a type of your own known.)")
        for name, function in (("init", self.init), ("apply", self.apply), ("view", self.view)):
            if not callable(function):
                raise ProjectionError(f"{self.key}: {name} is a function, not {type(function).__name__}")
            if _waits(function):
                raise ProjectionError(
                    f"{self.key}: {name} is asynchronous. While it waits, other units go on, and the views are no longer of "
                    "one watermark. Fetch what you need outside, log it as an event, and read it from there.")

    def see(self, state: State) -> Any:
        """The view of *state*, checked and frozen; ProjectionError where it does not fit the schema or is no JSON."""
        view = self.view(state)
        try:
            if self.schema is not Any:
                msgspec.convert(view, self.schema, strict=True)
            return frozen_data(write_data(view, stored=True))
        except msgspec.ValidationError as error:
            raise ProjectionError(f"{self.key}: the view does not fit its schema ({_place(str(error))})") from None
        except LosslessError as error:
            raise ProjectionError(f"{self.key}: the view is no JSON ({error.where}: {error.what})") from None


def _waits(function: Callable[..., Any]) -> bool:
    """Whether calling *function* gives something to wait for or to step through, and no state."""
    while isinstance(function, partial):
        function = function.func
    call = function if inspect.isroutine(function) else type(function).__call__
    return any(test(call) for test in (inspect.iscoroutinefunction, inspect.isasyncgenfunction, inspect.isgeneratorfunction))


def _place(words: str) -> str:
    """What msgspec says, which names types and places, and never a value."""
    return words.split("\n")[0]


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


def check_pure(unit: Unit, events: Iterable[SessionEvent]) -> list[Problem]:
    """Where *unit* shows on *events* that it is not pure: [] says that nothing was found, which is no proof.

    >>> seen = []
    >>> counts = Unit("counts", frozenset({"turn/start"}), lambda: 0, lambda state, event: seen.append(event) or len(seen))
    >>> check_pure(counts, [SessionEvent.from_json({"type": "turn/start", "seq": 0, "time": 0, "data": {"turn": 1}})])
    [Problem(seq=0, message='applied twice to the same state, it gives two answers')]

    Each event is applied twice, to two copies of the same state: both answers have to be the same JSON, and the copies have to
    be as they were.
    """
    problems: list[Problem] = []
    try:
        text = write_data(unit.init(), stored=True)
    except LosslessError as error:
        return [Problem(-1, f"its first state is no JSON ({error.where}: {error.what})")]
    for event in events:
        if event.type not in unit.event_types:
            continue
        first, second = read_data(text), read_data(text)
        try:
            answers = [write_data(unit.apply(state, event), stored=True) for state in (first, second)]
            left_alone = write_data(first, stored=True) == text
        except LosslessError as error:
            problems.append(Problem(event.seq, f"its state is no JSON ({error.where}: {error.what})"))
            return problems
        if not left_alone:
            problems.append(Problem(event.seq, "it changes the state that it was given"))
        if answers[0] != answers[1]:
            problems.append(Problem(event.seq, "applied twice to the same state, it gives two answers"))
        text = answers[0]
    return problems
