"""How the events of a good log relate: turns, steps and tools, and the brackets of compactions (chapter 4, §4.2 and §4.10)."""
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from labsupport.lossless import MAX_SAFE_INTEGER
from labsupport.sessionlog.events import Replace, SessionEvent
from labsupport.sessionlog.json_text import field, same_json
from labsupport.sessionlog.recovery import NOT_STARTED, answered_call, blocks


@dataclass(frozen=True)
class Problem:
    """Event *seq* breaks a relation."""

    seq: int
    message: str


def check_invariants(events: Iterable[SessionEvent]) -> list[Problem]:
    """Every event of *events* that breaks a relation of turns, steps and tool calls; [] is good.

    >>> end = SessionEvent.from_json({"type": "turn/end", "seq": 0, "time": 0, "data": {"turn": 1}})
    >>> check_invariants([end])
    [Problem(seq=0, message='it ends turn 1, but no turn is open')]

    Behind the first problem the rest may follow from it.
    """
    guard = TurnGuard()
    return [Problem(event.seq, message) for event in events if (message := guard.see(event))]


class TurnGuard:
    """Turns, steps and tool calls so far; `see` says what is wrong with the next event, and goes on as if it were right."""

    def __init__(self) -> None:
        self.seq = -1
        self.turn: Any = None
        self.step: Any = None
        self.turns = 0
        self.steps = 0
        self.calls: set[str] = set()

    def see(self, event: SessionEvent) -> str:
        """Take *event*; what is wrong with it, or an empty string."""
        if event.seq <= self.seq:
            return f"its seq does not grow; the event before it is {self.seq}"
        self.seq = event.seq
        look = _LOOKS.get(event.type)
        return "" if look is None else look(self, event)

    def _turn_start(self, event: SessionEvent) -> str:
        turn, expected, was_open = field(event.read(), "turn"), self.turns + 1, self.turn
        self.turn, self.step, self.steps = turn, None, 0
        self.turns = turn if type(turn) is int else expected
        if was_open is not None:
            return f"it starts turn {_name(turn)} while turn {_name(was_open)} is open"
        return "" if same_json(turn, expected) else f"it starts turn {_name(turn)}; the next one is {expected}"

    def _turn_end(self, event: SessionEvent) -> str:
        turn, was_open, step = field(event.read(), "turn"), self.turn, self.step
        self.turn = self.step = None
        if was_open is None or not same_json(turn, was_open):
            return f"it ends turn {_name(turn)}, but {_named('turn', was_open)} is open"
        return f"it ends turn {_name(turn)} while step {_name(step)} is open" if step is not None else ""

    def _step_start(self, event: SessionEvent) -> str:
        data = event.read()
        turn, step, was_open, expected = field(data, "turn"), field(data, "step"), self.step, self.steps + 1
        self.step, self.steps = step, step if type(step) is int else expected
        if self.turn is None or not same_json(turn, self.turn):
            return f"it starts a step of turn {_name(turn)}, but {_named('turn', self.turn)} is open"
        if was_open is not None:
            return f"it starts step {_name(step)} while step {_name(was_open)} is open"
        return "" if same_json(step, expected) else f"it starts step {_name(step)}; the next one is {expected}"

    def _step_end(self, event: SessionEvent) -> str:
        wrong = self._inside(event)
        self.step = None
        self.calls.clear()
        return wrong

    def _inside(self, event: SessionEvent) -> str:
        """The event names the turn and the step that are open."""
        data = event.read()
        turn, step = field(data, "turn"), field(data, "step")
        if self.turn is not None and self.step is not None and same_json(turn, self.turn) and same_json(step, self.step):
            return ""
        return (f"it names turn {_name(turn)}, step {_name(step)}, but "
                f"{_named('turn', self.turn)} and {_named('step', self.step)} is open")

    def _tool_call(self, event: SessionEvent) -> str:
        wrong, call_id = self._inside(event), field(event.read(), "callId")
        if type(call_id) is str:
            self.calls.add(call_id)
        return wrong

    def _tool_result(self, event: SessionEvent) -> str:
        if isinstance(event.surface_op, Replace):
            return self._turn_open(event)
        wrong = self._inside(event)
        if wrong:
            return wrong
        data = event.read()
        call_id = answered_call(data)
        if call_id in self.calls:
            self.calls.discard(call_id)
            return ""
        never_ran = field(field(data, "error"), "code") == NOT_STARTED and any(
            block.get("isError") is True for block in blocks(field(data, "message"))[:1])
        return "" if never_ran else "it answers a call that this step did not record, or that was answered"

    def _turn_open(self, event: SessionEvent) -> str:
        return "" if self.turn is not None else "it stands outside every turn"


_LOOKS = {
    "turn/start": TurnGuard._turn_start, "turn/end": TurnGuard._turn_end,
    "step/start": TurnGuard._step_start, "step/end": TurnGuard._step_end,
    "assistant/chunk": TurnGuard._inside, "assistant/message": TurnGuard._inside,
    "tool/call": TurnGuard._tool_call, "tool/result": TurnGuard._tool_result,
    "todo/write": TurnGuard._turn_open, "request/header": TurnGuard._turn_open, "request/context": TurnGuard._turn_open,
}



def _name(value: Any) -> str:
    return str(value) if type(value) in (int, float) else "of no number"


def _named(what: str, value: Any) -> str:
    return f"no {what}" if value is None else f"{what} {_name(value)}"


@dataclass
class _Bracket:
    """A compaction that has started and not ended."""

    id: Any
    turn: Any
    command: Any
    stale: bool
    summarised: bool = False


def check_compaction(events: Iterable[SessionEvent]) -> list[Problem]:
    """Every event of *events* that breaks a relation of compaction brackets; [] is good.

    A bracket that is open at a `session/end-seed` belongs to a process that is gone: it is stale, and turns may cross it.
    """
    kept = list(events)
    guard = CompactionGuard(_stale_starts(kept))
    return [Problem(event.seq, message) for event in kept if (message := guard.see(event))]


def _stale_starts(events: list[SessionEvent]) -> set[int]:
    """The seqs of the compaction/start events whose bracket is still open at a later end-seed."""
    stale: set[int] = set()
    open_starts: set[int] = set()
    for event in events:
        if event.type == "compaction/start":
            open_starts.add(event.seq)
        elif event.type == "compaction/end":
            open_starts.clear()
        elif event.type == "session/end-seed":
            stale |= open_starts
            open_starts.clear()
    return stale


class CompactionGuard:
    """The compaction bracket that is open; `see` says what is wrong with the next event."""

    def __init__(self, stale: set[int] | None = None) -> None:
        self.turn: Any = None
        self.bracket: _Bracket | None = None
        self._stale = stale or set()

    def see(self, event: SessionEvent) -> str:
        """Take *event*; what is wrong with it, or an empty string."""
        kind = event.type
        if kind in ("turn/start", "turn/end"):
            self.turn = field(event.read(), "turn") if kind == "turn/start" else None
            return "it crosses a compaction that is open" if self.bracket is not None and not self.bracket.stale else ""
        if kind == "session/end-seed":
            self.bracket = None
            return ""
        if kind == "compaction/start":
            return self._start(event)
        if kind == "compaction/summary":
            return self._summary(event)
        if kind == "compaction/end":
            return self._end(event)
        if kind == "user/message" and isinstance(event.surface_op, Replace):
            source = field(event.read(), "source")
            if field(source, "kind") == "plugin" and field(source, "plugin") == "compact":
                return self._matches(source, "checkpoint")
        return ""

    def _start(self, event: SessionEvent) -> str:
        data, was_open = event.read(), self.bracket
        stale = event.seq in self._stale
        bracket = _Bracket(field(data, "compactionId"), field(data, "turn"), field(data, "sourceCommandId"), stale)
        if not _is_id(bracket.id):
            return "a compaction has an id"
        if was_open is not None:
            return "it starts a compaction while another is open"
        self.bracket = bracket
        if not same_json(bracket.turn, self.turn):
            return f"its owner is {_named('turn', bracket.turn)}, but {_named('turn', self.turn)} is open"
        return ""

    def _matches(self, data: Any, what: str) -> str:
        if self.bracket is None:
            return f"a {what} without a compaction that is open"
        if not _is_id(field(data, "compactionId")) or field(data, "compactionId") != self.bracket.id:
            return f"this {what} names another compaction than the open one"
        return ""

    def _summary(self, event: SessionEvent) -> str:
        data = event.read()
        wrong = self._matches(data, "summary")
        bracket = self.bracket
        if wrong or bracket is None:
            return wrong
        if bracket.summarised:
            return "a second summary in one compaction"
        bracket.summarised = True
        shadowed, ends = field(data, "shadowedSeqs"), field(data, "shadowedRange")
        if not isinstance(shadowed, list) or not shadowed or not same_json([field(ends, "start"), field(ends, "end")],
                                                                          [shadowed[0], shadowed[-1]]):
            return "its shadowedRange is not the first and the last of its shadowedSeqs"
        tokens = field(data, "shadowedTokenCount")
        whole = type(tokens) is int or (type(tokens) is float and tokens.is_integer())
        if not whole or not 0 <= tokens <= MAX_SAFE_INTEGER:
            return "its shadowedTokenCount is not a number of tokens"
        return self._same_command(data)

    def _same_command(self, data: Any) -> str:
        bracket = self.bracket
        if bracket is not None and not same_json(field(data, "sourceCommandId"), bracket.command):
            return "its sourceCommandId is not that of the start"
        return ""

    def _end(self, event: SessionEvent) -> str:
        data = event.read()
        wrong, bracket = self._matches(data, "compaction/end"), self.bracket
        if wrong or bracket is None:
            return wrong
        if not same_json(field(data, "turn"), bracket.turn):
            return f"its owner is {_named('turn', field(data, 'turn'))}, that of the start {_named('turn', bracket.turn)}"
        wrong = self._same_command(data)
        if wrong:
            return wrong
        self.bracket = None
        if not bracket.summarised and (not isinstance(data, dict) or "error" not in data):
            return "a compaction that did not fail has a summary"
        return ""


def _is_id(value: Any) -> bool:
    return type(value) is str and value != ""
