"""What a check says: not started, what differs on the smallest case, or correct."""
from collections.abc import Callable
from dataclasses import dataclass
from dis import get_instructions
from traceback import format_exception_only, walk_tb
from typing import Any

from labsupport.workbench.text import say

LONGEST = 160
"""As much of an error's own words is repeated."""


@dataclass(frozen=True, repr=False)
class Verdict:
    """What a check found: *correct* or not, the *key* of its sentence in `text/`, and the sentence."""

    correct: bool
    key: str
    words: str

    def __repr__(self) -> str:
        return self.words


def correct() -> Verdict:
    """Every case passed."""
    return Verdict(True, "check_correct", say("check_correct"))


def not_started() -> Verdict:
    """The stub is still as it was."""
    return Verdict(False, "check_not_started", say("check_not_started"))


def wrong(key: str, **values: object) -> Verdict:
    """The sentence *key* says what differs, on which case; *values* go into it."""
    return Verdict(False, key, say(key, **values))


def shown(value: object) -> str:
    """*value* as Python writes it, its beginning where that is long; only its type where it cannot be written."""
    try:
        words = repr(value)
    except Exception:  # noqa: BLE001  a learner's own class may fail there
        words = type(value).__name__
    return words if len(words) <= LONGEST else words[:LONGEST - 1] + "…"


def untouched(function: Callable[..., object], stub: Callable[..., object]) -> bool:
    """Whether *function* is still the *stub*: it uses the same names and values, in the same order.

    >>> def stub(value):
    ...     pass
    >>> def printing(value):
    ...     print(value)
    >>> untouched(stub, lambda value: None), untouched(printing, stub)
    (True, False)
    """
    return _uses(function) == _uses(stub)


def _uses(function: Callable[..., object]) -> list[object]:
    """What *function* loads, stores and returns. The other steps depend on how its module imports what it uses."""
    code = getattr(function, "__code__", None)  # a class, say, has none, and is nobody's stub
    steps = get_instructions(code) if code else ()
    return [step.argval for step in steps if step.opname.startswith(("LOAD", "STORE", "RETURN"))]


@dataclass(frozen=True)
class Attempt:
    """What a learner's function gave: its *value*, or the *error* that came out of it, at a *line* of the learner's cell."""

    value: Any = None
    error: Exception | SystemExit | None = None
    line: int | None = None

    @property
    def said(self) -> str:
        """The error in words: its class, the beginning of what it says, and the line where that is known.

        >>> attempt(len, 3).said
        "TypeError: object of type 'int' has no len()"
        """
        if self.error is None:
            return ""
        words = format_exception_only(self.error)[0].split("\n")[0].partition(": ")[2][:LONGEST]  # safe: its str may raise
        place = say("check_line", line=self.line) if self.line else ""
        return type(self.error).__name__ + (f": {words}" if words else "") + place

    def verdict(self, case: str) -> Verdict:
        """The sentence for an error, on the *case* in words."""
        return wrong("check_raised", case=case, error=self.said)


def attempt(function: Callable[..., Any], *arguments: Any) -> Attempt:
    """Call a learner's *function* and keep what happens; a check goes on with a sentence where a traceback would end it.

    >>> attempt(len, "abc").value, type(attempt(len, 3).error).__name__
    (3, 'TypeError')
    """
    try:
        return Attempt(value=function(*arguments))
    except (Exception, SystemExit) as error:  # noqa: BLE001  whatever it is, it is an answer to be told, not our failure
        return Attempt(error=error, line=_line(error))


def _line(error: BaseException) -> int | None:
    """The last line that *error* passed in the learner's cell: a file of its own to Python, but not one of a module."""
    places = [(frame.f_code.co_filename, number) for frame, number in walk_tb(error.__traceback__)
              if "__file__" not in frame.f_globals]
    return [number for cell, number in places if cell == places[0][0]][-1] if places else None


def refusal(function: Callable[..., Any], *arguments: Any) -> str:
    """The name of the error with which *function* refuses *arguments*; empty when it does not.

    >>> refusal(len, 3), refusal(len, "abc")
    ('TypeError', '')
    """
    error = attempt(function, *arguments).error
    return "" if error is None else type(error).__name__


def compare(guess: object, found: object) -> str:
    """A prediction beside what was *found*; None is a prediction left open.

    >>> from labsupport.workbench.text import speaking
    >>> with speaking("en"):
    ...     print(compare(None, 3), compare(2, 3))
    No prediction; it is 3. You predicted 2; it is 3.
    """
    if guess is None:
        return say("guess_open", found=found)
    return say("guess_right" if guess == found else "guess_other", guess=guess, found=found)
