"""What a budget does to each message of a history, and the cells that say so; the budget and the rules picture share them."""
import unicodedata
from dataclasses import dataclass

from labsupport.errors import ContextBudgetError
from labsupport.miniagent import AssistantMessage, ContextBudget, Fit, Message, ToolMessage, UserMessage, find_orphans
from labsupport.workbench.histories import lost_results
from labsupport.workbench.pictures.base import Role, bracket, call, esc, excerpt, number, role, td, th
from labsupport.workbench.text import say


@dataclass(frozen=True)
class Trimmed:
    """A history under a budget of *max_chars*. Without a *fit* not even the newest unit fits, and *needed* is what it takes."""

    budget: ContextBudget
    max_chars: int
    fit: Fit | None
    needed: int
    unit_of: tuple[int, ...]
    """For each message the number of its unit, from 0."""
    orphans: frozenset[int]
    """The kept results whose call was never there."""
    lost: frozenset[int]
    """The kept results whose call was cut off."""

    @property
    def start(self) -> int:
        """The index of the first message that is kept; the number of messages when none is."""
        return self.fit.start if self.fit else len(self.budget.messages)

    @property
    def stopped_at(self) -> int | None:
        """The number of the unit at which the walk stopped, from 0; None when everything is kept."""
        return self.unit_of[self.start - 1] if self.start else None

    @property
    def excess(self) -> int:
        """How many characters too many that unit would be."""
        return (self.needed if self.fit is None else self.fit.next_cost or 0) - self.max_chars

    def keeps(self, index: int) -> bool:
        """Whether the message *index* is sent."""
        return index >= self.start or (self.fit is not None and index == self.fit.pinned)

    def begins_unit(self, index: int) -> bool:
        """Whether message *index* is the first of its unit."""
        return index == self.budget.units[self.unit_of[index]][0]

    def state(self, index: int, first: bool) -> str:
        """The cell with the state of message *index*; what is said of a whole unit stands in its *first* row."""
        if index in self.lost:
            return td(f'<span class="xp-err">{esc(say("a2_state_lost"))}</span>')
        if self.fit is not None and index == self.fit.pinned:
            return td(f'<span class="xp-tag xp-strong">{esc(say("a2_state_pinned"))}</span>')
        if index in self.orphans:
            return td(f'<span class="xp-tag">{esc(say("a2_state_orphan"))}</span>')
        if not first:
            return td()
        if self.unit_of[index] == self.stopped_at:
            return td(f'<span class="xp-tag xp-strong">{esc(say("a2_state_over", more=self.excess))}</span>')
        return td(f'<span class="xp-tag">{esc(say("a2_state_kept" if self.keeps(index) else "a2_state_dropped"))}</span>')

    def row_classes(self, index: int) -> str:
        """The classes of the row of message *index*: the first of its unit, not sent, or a result that lost its call."""
        states = {"is-first": self.begins_unit(index), "is-off": not self.keeps(index), "is-bad": index in self.lost}
        return " ".join(name for name, holds in states.items() if holds)

    def is_edge(self, index: int) -> bool:
        """Whether the walk stopped under this row: the last message of the unit that does not fit."""
        return index == self.start - 1


def trimmed(budget: ContextBudget, max_chars: int) -> Trimmed:
    """Try *max_chars* on *budget* and say what becomes of every message; a refusal is an answer too."""
    fit, needed = None, 0
    try:
        fit = budget.fit(max_chars)
    except ContextBudgetError as error:
        needed = error.needed
    start = fit.start if fit else len(budget.messages)
    unit_of = tuple(unit for unit, (first, stop) in enumerate(budget.units) for _ in range(first, stop))
    orphans = frozenset(index for index in find_orphans(budget.messages) if index >= start)
    return Trimmed(budget, max_chars, fit, needed, unit_of, orphans, frozenset(lost_results(budget.messages, start)))


# Cells

def unit_cells(view: Trimmed, index: int, first_drawn: int) -> tuple[str, str]:
    """The bracket of the unit of message *index*, and its number: seen once, in the first of its rows that is drawn."""
    first, stop = view.budget.units[view.unit_of[index]]
    words = number(view.unit_of[index] + 1)
    seen = words if index == max(first, first_drawn) else f'<span class="xp-vh">{words}</span>'
    return bracket(index == first, index == stop - 1), th(seen, "xp-n xp-q")


def role_cell(message: Message) -> str:
    """Who speaks; a result with the id of its call."""
    if isinstance(message, ToolMessage):
        return td(role("result", shortened(message.tool_call_id, 6)))
    return td(role(role_of(message)))


def role_of(message: Message) -> Role:
    """The role whose glyph and colour *message* gets."""
    return "user" if isinstance(message, UserMessage) else "assistant" if isinstance(message, AssistantMessage) else "result"


def message_cell(message: Message, room: int, show_text: bool) -> str:
    """The calls and the first words of *message*, as much as *room* columns of letters hold; without *show_text* its length."""
    parts: list[str] = []
    calls = message.tool_calls if isinstance(message, AssistantMessage) else ()
    room += 1  # the space after the last part is not drawn
    for done, asked in enumerate(calls):
        name, call_id = shortened(asked.name, 16), shortened(asked.id, 6)
        room -= len(name) + len(call_id) + 4
        if parts and room < (3 if done + 1 < len(calls) else 0):
            parts.append(f'<span class="xp-x xp-q">+{len(calls) - done}</span>')
            room = 0
            break
        parts.append(call(name, call_id))
    length = say("a2_characters", n=len(message.content))
    if not show_text and message.content and room > len(length):
        parts.append(f'<span class="xp-q">{esc(length)}</span>')
    elif show_text and message.content and room > 8:
        narrow, mono = (room + room // 18, "") if not isinstance(message, ToolMessage) else (room - 1, " xp-m")
        parts.append(excerpt(shortened(message.content, narrow), narrow, f"xp-x{mono}"))
    return td(" ".join(parts))


def quoted(text: str, room: int) -> str:
    """*text* from a log as a sentence has it: shortened, and its stars make nothing bold.

    >>> quoted("**a** longer name", 8)
    '∗∗a∗∗ l…'
    """
    return shortened(text, room).replace("*", "∗")


def shortened(text: str, room: int) -> str:
    """The beginning of *text* that *room* columns hold, a Chinese character being two of them wide; … stands for the rest.

    >>> shortened("预算 budget", 8), shortened("budget", 6)
    ('预算 bu…', 'budget')
    """
    used = short = 0
    for end, character in enumerate(text, start=1):
        used += 2 if unicodedata.east_asian_width(character) in "WF" else 1
        if used > room:
            return text[:short] + "…"
        if used < room:
            short = end
    return text
