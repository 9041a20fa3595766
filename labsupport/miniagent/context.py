"""What the model is sent: the newest messages that a budget holds, and no result without its request (chapter 34)."""
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from labsupport.errors import ContextBudgetError, ContextSerializationError, LosslessError
from labsupport.lossless import utf16_length, utf16_length_of_utf8
from labsupport.miniagent.messages import Message, UserMessage, message_json, quick_json
from labsupport.miniagent.units import Rule, known_rule, unit_spans

Cost = Callable[[Message], int]


def message_chars(message: Message) -> int:
    """The length of *message*'s line in a session file, with its line break, in UTF-16 code units.

    >>> from labsupport.miniagent import UserMessage
    >>> message_chars(UserMessage("hi")), message_chars(UserMessage("🙂"))
    (31, 31)

    Characters, not tokens. LosslessError where the message has no JSON text.
    """
    data = quick_json(message)
    if data is None:
        return utf16_length(message_json(message)) + 1
    return (len(data) if data.isascii() else utf16_length_of_utf8(data)) + 1


def estimate_context_chars(messages: Sequence[Message]) -> int:
    """What *messages* cost together: the length, as JavaScript counts, of the lines that `append_session` writes for them.

    >>> from labsupport.miniagent import UserMessage
    >>> estimate_context_chars([UserMessage("hi"), UserMessage("预算")])
    62

    It is a budget of characters. How many tokens a model makes of them differs by language and by model.
    ContextSerializationError names the first message that cannot be written as JSON. Chapter 34.
    """
    return sum(ContextBudget(messages).costs)


@dataclass(frozen=True)
class Fit:
    """What a budget keeps: the messages from *start* on, and before them the message *pinned* where there is one."""

    max_chars: int
    start: int
    pinned: int | None
    kept_units: int
    cost: int
    """Characters of all kept messages."""
    next_cost: int | None
    """What all kept messages would cost with one unit more; None when every unit is kept."""
    _budget: "ContextBudget" = field(repr=False)

    @property
    def messages(self) -> list[Message]:
        """The kept messages, in order, the same objects."""
        kept = list(self._budget.messages[self.start:])
        return kept if self.pinned is None else [self._budget.messages[self.pinned], *kept]

    @property
    def dropped_units(self) -> int:
        """How many units are not kept; a pinned message does not keep its unit."""
        return len(self._budget.units) - self.kept_units


class ContextBudget:
    """The units of *messages* and what they cost, for trying many budgets: a cost is computed once, when it is first needed.

    >>> from labsupport.miniagent import UserMessage
    >>> budget = ContextBudget([UserMessage("old"), UserMessage("new")])
    >>> [budget.fit(chars).kept_units for chars in (32, 63, 64)]
    [1, 1, 2]

    With *pin_first_user* the first user message is kept as well, and counted. *cost* gives a message's characters.
    """

    def __init__(self, messages: Iterable[Message], rule: Rule = "closed", pin_first_user: bool = False,
                 cost: Cost = message_chars) -> None:
        self.messages = tuple(messages)
        self._rule: Rule = known_rule(rule)
        self._cost = cost
        self._costs = [-1] * len(self.messages)  # -1: not taken yet
        first = next((index for index, message in enumerate(self.messages) if isinstance(message, UserMessage)), -1)
        self._pin = first if pin_first_user else -1
        self._older = unit_spans(self.messages, self._rule)  # the units that have not been counted, newest first
        self._waiting: tuple[int, int] | None = None  # the next of them, already drawn
        self._starts: list[int] = []  # of the counted units, newest first
        self._sums: list[int] = []  # what they cost from the newest up to each
        self._totals: list[int] = []  # the same with the pinned message

    @cached_property
    def units(self) -> list[tuple[int, int]]:
        """Every unit as (start, stop), oldest first."""
        return list(unit_spans(self.messages, self._rule))[::-1]

    @cached_property
    def costs(self) -> list[int]:
        """The cost of every message, in order."""
        self._take(0, len(self.messages))
        return list(self._costs)

    @property
    def smallest(self) -> int:
        """The smallest budget that `fit` takes: the cost of the newest unit, with the pinned message; 0 without messages."""
        self._count(0)
        return self._totals[0] if self._totals else 0

    def _take(self, start: int, stop: int) -> int:
        """What the messages from *start* to before *stop* cost together; each cost is taken once."""
        costs, cost, messages = self._costs, self._cost, self.messages
        total, index, reason = 0, start, ""
        try:
            for index in range(start, stop):
                value = costs[index]
                if value < 0:
                    value = cost(messages[index])
                    if type(value) is not int or value < 0:
                        reason = "the encoder had nothing to say"
                        break
                    costs[index] = value
                total += value
        except LosslessError as error:
            reason = str(error)
        except Exception as error:  # noqa: BLE001 - the encoder may be anybody's
            reason = f"the encoder raised {type(error).__name__}"
        if reason:  # raised out here, for what an encoder says may quote the message
            raise ContextSerializationError(index, reason)
        return total

    def _count(self, max_chars: int) -> None:
        """Count units from the newest back until one does not fit *max_chars*."""
        starts, sums, totals, pin = self._starts, self._sums, self._totals, self._pin
        while not totals or totals[-1] <= max_chars:
            self._waiting = self._waiting or next(self._older, None)
            if self._waiting is None:
                return
            start, stop = self._waiting
            total = self._take(start, stop) + (sums[-1] if sums else 0)
            pinned = self._take(pin, pin + 1) if 0 <= pin < start else 0
            starts.append(start)
            sums.append(total)
            totals.append(total + pinned)
            self._waiting = None

    def fit(self, max_chars: int) -> Fit:
        """Keep the newest units while all kept messages cost at most *max_chars*; stop at the first that does not fit.

        ContextBudgetError when not even the newest unit fits, or when there are no messages; ValueError when *max_chars* is
        not a positive int.
        """
        known_chars(max_chars)
        if not self.messages:
            raise ContextBudgetError("context budget cannot be empty: there is no message to send", max_chars, 0)
        self._count(max_chars)
        kept = bisect_right(self._totals, max_chars)
        if kept == 0:
            whom = " with the pinned message" if 0 <= self._pin < self._starts[0] else ""
            raise ContextBudgetError(
                "context budget cannot contain the smallest consistent message unit: "
                f"the newest unit{whom} needs {self._totals[0]} characters, the budget is {max_chars}. "
                f"Nothing is sent; the budget must be at least {self._totals[0]}.", max_chars, self._totals[0])
        start = self._starts[kept - 1]
        pinned = self._pin if 0 <= self._pin < start else None
        return Fit(max_chars, start, pinned, kept, self._totals[kept - 1], self._totals[kept] if start else None, self)


def known_chars(max_chars: int) -> int:
    """*max_chars*; ValueError when it is not a positive int."""
    if type(max_chars) is not int or max_chars <= 0:
        raise ValueError(f"max_chars is a positive int, a number of characters, not {max_chars!r}")
    return max_chars


def trim_context(messages: Sequence[Message], max_chars: int, rule: Rule = "closed",
                 pin_first_user: bool = False) -> list[Message]:
    """The newest units of *messages* that *max_chars* characters hold, in order, the same objects.

    It stops at the first unit that does not fit, and never passes one over to reach an older, smaller one:

    >>> from labsupport.miniagent import UserMessage
    >>> trim_context([UserMessage("short"), UserMessage("long " * 20), UserMessage("new")], max_chars=100)
    [UserMessage(content='new')]

    Each message is written as JSON at most once, and none that is older than the first unit that did not fit.
    *pin_first_user* keeps the first user message as well and counts it. Raises as `ContextBudget.fit` does,
    and ContextSerializationError for a message it has to count and cannot. Chapter 34.
    """
    return ContextBudget(messages, rule, pin_first_user).fit(max_chars).messages
