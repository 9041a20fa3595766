"""The scrubber's fourth panel: two projections as of the watermark, turn status and tool pairing."""
from typing import Any

from labsupport.workbench.log_views import CallSlot, LogViews, Span
from labsupport.workbench.pictures.base import Column, esc, excerpt, number, table, td, th, tr
from labsupport.workbench.pictures.scrubber_cells import later_row, panel_head, window
from labsupport.workbench.pictures.trimmed import shortened
from labsupport.workbench.text import say

TURN_ROWS, CALL_ROWS = 2, 3
SPACE = '<div style="height:4px"></div>'
STATUS_WORDS = {
    "running": "scrub_running", "completed": "scrub_completed", "aborted": "scrub_aborted", "blocked": "scrub_blocked",
    "error": "scrub_error", "max-tokens": "scrub_max_tokens", "interrupted": "scrub_interrupted",
    "requested": "scrub_requested", "started": "scrub_started", "succeeded": "scrub_succeeded", "failed": "scrub_failed",
    "unknown": "scrub_unknown",
}


def status_words(status: Any) -> str:
    """A status in the notebook's language; one that a plug-in brought stays as it is."""
    return say(STATUS_WORDS[status]) if isinstance(status, str) and status in STATUS_WORDS else shortened(str(status), 14)


def status_panel(views: LogViews, seq: int) -> str:
    """The newest turns and calls, and the places of the next ones."""
    begun = sum(turn.began <= seq for turn in views.turns)
    asked = sum(slot.history[0][0] <= seq for slot in views.call_slots)
    turns = window(len(views.turns), begun - 1, TURN_ROWS, 0)
    calls = window(len(views.call_slots), asked - 1, CALL_ROWS, 1)
    turn_rows = [_turn(views, views.turns[at], seq) if at < begun else later_row(views.turns[at].began, 4) for at in turns]
    call_rows = [_call(views.call_slots[at], seq) if at < asked else _later_call() for at in calls]
    turn_columns = [Column(say("scrub_col_turn"), 40, "xp-n"), Column("seq", 84), Column(say("scrub_col_state"), 120),
                    Column(say("scrub_col_steps"), 164)]
    call_columns = [Column(say("scrub_col_call"), 68), Column(say("scrub_col_tool"), 106),
                    Column(say("scrub_col_asked"), 50, "xp-n"), Column(say("scrub_col_started"), 58, "xp-n"),
                    Column(say("scrub_col_answered"), 50, "xp-n"), Column(say("scrub_col_state"), 76)]
    note = say("scrub_begun", turns=begun, calls=asked)
    return panel_head(say("scrub_status"), seq, note) + table(turn_columns, turn_rows) + SPACE + table(call_columns, call_rows)


def _turn(views: LogViews, turn: Span, seq: int) -> str:
    state = views.turn_states[min(seq, turn.last)]
    ended = turn.ended is not None and turn.ended <= seq
    seqs = f"{number(turn.began)}–{number(turn.ended or 0) if ended else ''}"
    done = state["steps"] - (state["step"] is not None)
    steps = say("scrub_steps", n=done)
    if state["step"] is not None:
        steps += say("scrub_step_open_too", step=shortened(str(state["step"]), 4))
    return tr(th(esc(shortened(str(state["turn"]), 4)), "xp-n xp-m"), td(esc(seqs), "xp-m"),
              td(esc(status_words(state["status"]))), td(esc(steps)))


def _call(slot: CallSlot, seq: int) -> str:
    seqs = [td("–" if at is None else number(at), "xp-n xp-m") for at in slot.seqs(seq)]
    name = shortened(slot.name if isinstance(slot.name, str) else "", 14)
    return tr(th(excerpt(shortened(slot.call_id, 9), 9, "xp-m")), td(excerpt(name, 14, "xp-m")), *seqs,
              td(esc(status_words(slot.as_of(seq)))))


def _later_call() -> str:
    mark = f'<span aria-hidden="true">○</span> <span class="xp-vh">{esc(say("scrub_later"))}</span>'
    return tr(th(mark), *[td()] * 5, classes="is-later")
