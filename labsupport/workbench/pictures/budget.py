"""The budget picture: every message in its unit, what a budget keeps of them, and what that costs (chapter 34, lab A2)."""
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from math import ceil

from labsupport.errors import ContextSerializationError
from labsupport.miniagent import ContextBudget, Message, UserMessage, message_json
from labsupport.miniagent.units import Rule
from labsupport.sessionlog.tokens import count_tokens
from labsupport.workbench.pictures.base import (
    Column,
    axis,
    bar,
    esc,
    key,
    number,
    page,
    round_ticks,
    swatch,
    table,
    td,
    tr,
)
from labsupport.workbench.pictures.trimmed import Trimmed, message_cell, role_cell, role_of, trimmed, unit_cells
from labsupport.workbench.text import say

WINDOW = 34
"""Rows around the edge, where a history is too long to be drawn whole."""


class Measured:
    """*messages* with what the picture needs of each, computed once: its characters, and when asked for, its tokens."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.messages = tuple(messages)
        self._tokens: dict[int, int] = {}
        self._budgets: dict[tuple[Rule, bool], ContextBudget] = {}

    def budget(self, rule: Rule, pin_first_user: bool) -> ContextBudget:
        """The budget of these messages under *rule*; asked again, the same one."""
        if (rule, pin_first_user) not in self._budgets:
            self._budgets[rule, pin_first_user] = ContextBudget(self.messages, rule, pin_first_user)
        return self._budgets[rule, pin_first_user]

    @cached_property
    def costs(self) -> list[int]:
        """The characters of every message's line. ContextSerializationError names the first that has none."""
        return self.budget("closed", False).costs

    def tokens(self, index: int) -> int:
        """The real tokens of the line of message *index*: a slow count, so only what is drawn or kept is counted."""
        if index not in self._tokens:
            self._tokens[index] = count_tokens(message_json(self.messages[index]) + "\n")
        return self._tokens[index]

    def sums(self, pin_first_user: bool) -> list[int]:
        """For every message what is kept when it is the oldest: all newer ones, itself, and the pinned one, counted first."""
        pin = next((index for index, message in enumerate(self.messages) if isinstance(message, UserMessage)), None)
        if not pin_first_user or pin is None:
            return list(accumulate(reversed(self.costs)))[::-1]
        others = [0 if index == pin else cost for index, cost in enumerate(self.costs)]
        sums = list(accumulate(reversed(others), initial=self.costs[pin]))[:0:-1]
        return [*sums[:pin], self.costs[pin], *sums[pin + 1:]]


def slider_end(total: int) -> int:
    """The right end of a scale that *total* characters need, a round number.

    >>> slider_end(2341), slider_end(815), slider_end(0)
    (2400, 900, 100)
    """
    step = max(10, (round_ticks(total)[1:] or [100])[0] // 5)
    return max(100, ceil(total / step) * step)


def slider_step(end: int) -> int:
    """The step of a slider up to *end*: a round number of characters, the *end* a few hundred of them away at most.

    >>> slider_step(800), slider_step(6800), slider_step(64000)
    (10, 50, 500)
    """
    return max(10, round_ticks(end, most=250)[1])


def row_window(count: int, edge: int) -> range:
    """Which of *count* rows are drawn: all when they are few, else as many as always, with the *edge* in their middle.

    >>> row_window(16, 9), row_window(400, 390), row_window(400, 200)
    (range(0, 16), range(366, 400), range(183, 217))
    """
    if count <= WINDOW + 2:
        return range(count)
    first = min(max(0, edge - WINDOW // 2), count - WINDOW)
    return range(first, first + WINDOW)


def budget_picture(history: Measured, budget: int, rule: Rule = "closed", pin_first_user: bool = False,
                   show_text: bool = False) -> str:
    """What is kept of *history*, and why the walk from the newest message stopped where it did.

    A budget that holds nothing, or a history without messages, is told in the sentence; the rows stay where they are.
    So is a message that has no length, in place of the rows. With *show_text* the first words of each message are drawn,
    otherwise only its length.
    """
    try:
        costs = history.costs
    except ContextSerializationError as error:
        return page(say("a2_label"), say("a2_no_length", index=error.index), alert=True)
    view, sums = trimmed(history.budget(rule, pin_first_user), budget), history.sums(pin_first_user)
    drawn = row_window(len(costs), view.start)
    left = 0 if len(drawn) == len(costs) else min(sums[index] - costs[index] for index in drawn)
    right = slider_end(max(sums, default=0)) if len(drawn) == len(costs) else max(sums[index] for index in drawn)
    step = (round_ticks(right - left, most=5)[1:] or [1])[0]
    ticks = range(ceil(left / step) * step, left + (right - left) * 9 // 10, step)  # one at the end would touch the next column
    scale = axis(right - left, ticks, (budget, say("a2_budget_at", budget=budget)), origin=left)
    columns = [Column("", 14), Column(say("a2_col_unit"), 36, "xp-n"), Column(say("a2_col_role"), 104),
               Column(say("a2_col_message"), 262), Column(say("a2_col_chars"), 58, "xp-n"),
               Column(say("a2_col_sum"), 62, "xp-n"), Column(say("a2_col_tokens"), 56, "xp-n"),
               Column("", 198, "xp-b", above=scale), Column(say("a2_col_state"), 110)]
    line = bar("structure", 0, 0, right - left, mark=budget - left)
    rows = [_row(view, history, sums, index, drawn.start, (left, right), show_text) for index in drawn]
    if len(drawn) < len(costs):
        rows = [_rest(view, history, sums, range(drawn.start), "a2_earlier", line), *rows,
                _rest(view, history, sums, range(drawn.stop, len(costs)), "a2_later", line)]
    if not costs:
        rows = [tr(td(esc(say("messages", n=0)), "xp-q", colspan=len(columns)))]
    legend = key(swatch("", say("a2_key_kept")), swatch("is-off", say("a2_key_off")), swatch("is-line", say("a2_key_line")),
                 esc(say("a2_key_unit")), esc(say("a2_key_tokens")))
    return page(say("a2_label"), sentence(view, history), table(columns, rows), legend, alert=view.fit is None)


def _row(view: Trimmed, history: Measured, sums: list[int], index: int, first_drawn: int, scale: tuple[int, int],
         show_text: bool) -> str:
    message, cost, (left, right) = history.messages[index], history.costs[index], scale
    begin, end = (max(0, at - left) for at in (sums[index] - cost, sums[index]))
    ink = bar(role_of(message), begin, end - begin, right - left, off=not view.keeps(index), mark=view.max_chars - left)
    first = view.begins_unit(index) or index == first_drawn
    return tr(*unit_cells(view, index, first_drawn), role_cell(message), message_cell(message, 35, show_text),
              td(number(cost), "xp-n"), td(number(sums[index]), "xp-n"), td(number(history.tokens(index)), "xp-n xp-q"),
              td(ink, "xp-b"), view.state(index, first), classes=view.row_classes(index), now=view.is_edge(index))


def _rest(view: Trimmed, history: Measured, sums: list[int], indexes: range, words: str, line: str) -> str:
    """The row that stands for the messages above or below the drawn ones, and is there even when there are none."""
    kept = sum(map(view.keeps, indexes))
    state = ("a2_state_none" if not indexes else "a2_state_kept" if kept == len(indexes)
             else "a2_state_pinned_only" if kept else "a2_state_dropped")
    tokens = number(sum(map(history.tokens, indexes))) if kept == len(indexes) else ""
    cells = [td(), td(), td(esc(say(words, n=len(indexes))), "xp-q", colspan=2),
             td(number(sum(history.costs[indexes.start:indexes.stop])), "xp-n xp-q"),
             td(number(max((sums[index] for index in indexes), default=0)), "xp-n xp-q"), td(tokens, "xp-n xp-q"),
             td(line, "xp-b"), td(f'<span class="xp-tag">{esc(say(state))}</span>')]
    return tr(*cells, classes="is-first" if kept else "is-first is-off")


def sentence(view: Trimmed, history: Measured) -> str:
    """All figures of this position in words: what is kept and why no more, or why nothing is."""
    units = len(view.budget.units)
    if view.fit is None:
        if not history.messages:
            return say("a2_no_messages")
        values = {"needed": view.needed, "budget": view.max_chars, "unit": units}
        with_pin = view.needed > sum(history.costs[slice(*view.budget.units[-1])])
        return say("a2_below_newest_and_pin", **values) if with_pin else say("a2_below_newest", **values)
    fit = view.fit
    kept = [index for index in range(len(history.messages)) if view.keeps(index)]
    left = fit.max_chars - fit.cost
    parts = [say("a2_keeps", budget=fit.max_chars, kept=fit.kept_units, units=units, messages=len(kept),
                 every=len(history.messages), cost=fit.cost, tokens=sum(map(history.tokens, kept)))]
    if view.stopped_at is None:
        parts.append(say("a2_all", left=left))
    else:
        parts.append(say("a2_stops", left=left, unit=view.stopped_at + 1, more=view.excess))
    if fit.pinned is not None:
        parts.append(say("a2_pinned"))
    if view.lost:
        parts.append(say("a2_lost", n=len(view.lost)))
    return say("a2_join").join(parts)

