"""The scrubber's first panel: the event log around the watermark, with turns and steps as brackets."""
from typing import Any

from labsupport.sessionlog import SessionEvent
from labsupport.sessionlog.recovery import answered_call
from labsupport.workbench.log_views import LogRow, LogViews, Span, span_at
from labsupport.workbench.pictures.base import Column, bracket, esc, excerpt, number, table, td, th, tr
from labsupport.workbench.pictures.scrubber_cells import (
    inked,
    is_replacement,
    message_parts,
    message_text,
    panel_head,
    window,
    words_cell,
)
from labsupport.workbench.pictures.trimmed import shortened
from labsupport.workbench.text import say

ROWS = 21
"""Rows of a log that is too long to be drawn whole; above and below it one row each says how many are left out."""

ROOM = 13
CHUNK_KINDS = {"text-delta": "scrub_chunks_text", "reasoning-delta": "scrub_chunks_reasoning",
               "tool-call-delta": "scrub_chunks_call"}


def log_panel(views: LogViews, seq: int, show_text: bool) -> str:
    """The rows of the log; those after *seq* are grey."""
    rows, at = views.rows, views.row_at(seq)
    drawn = range(len(rows)) if len(rows) <= ROWS + 2 else window(len(rows), at, ROWS, ROWS // 2)
    body = [_row(views, row, seq, rows[drawn.start].first, show_text) for row in rows[drawn.start:drawn.stop]]
    if len(drawn) < len(rows):
        stop = rows[drawn.stop - 1].last + 1
        body = [_rest("scrub_earlier", rows[drawn.start].first), *body, _rest("scrub_events_later", len(views.events) - stop)]
    return panel_head(say("scrub_log"), seq, say("scrub_events", n=seq + 1)) + table(_columns(views), body)


def _columns(views: LogViews) -> list[Column]:
    longest = max(len(seqs(row)) for row in views.rows)  # of the whole log, so that no column moves
    width = max(36, 7 * longest + 15)
    return [Column("seq", width, "xp-n"), Column("", 12), Column(say("scrub_col_turn"), 34), Column("", 12),
            Column(say("scrub_col_step"), 36), Column(say("scrub_col_type"), 154), Column(say("scrub_col_detail"), 148 - width)]


def seqs(row: LogRow) -> str:
    """The seq of a row, or the first and the last of its run."""
    return str(row.first) if row.count == 1 else f"{row.first}–{row.last}"


def _row(views: LogViews, row: LogRow, seq: int, top: int, show_text: bool) -> str:
    """One row; *top* is the first seq that is drawn."""
    event, later = views.events[row.first], row.first > seq
    now = row.first <= seq <= row.last
    head = th(esc(seqs(row)), "xp-n xp-m xp-q" if later else "xp-n xp-m")
    spans = [span_cells(span_at(spans, row.first), number_of, row, seq, top, now)
             for spans, number_of in ((views.turns, row.place.turn), (views.steps, row.place.step))]
    if later:
        mark = (f'<span class="xp-m"><span class="xp-g" aria-hidden="true">○</span> {excerpt(row.type, 34, "")}</span> '
                f'<span class="xp-vh">{esc(say("scrub_later"))}</span>')
        return tr(head, *spans, td(mark), td(), classes="is-later")
    kind = inked(event, excerpt(row.type, 34, ""), "xp-m")
    return tr(head, *spans, td(kind), td(detail(views, row, seq, show_text)), now=now)


def span_cells(span: Span | None, name: Any, row: LogRow, seq: int, top: int, now: bool) -> str:
    """The piece of a turn's or step's bracket, and its number: to be seen where it begins, to be read in every row."""
    if span is None or row.first > seq:
        return td(classes="xp-kc") + td()
    ended = span.ended is not None and span.ended <= seq
    piece = bracket(row.first == span.began, ended and row.last == span.last,
                    still_open=not ended and (now or row.last == span.last))
    words = esc(shortened(str(name), 4))
    return piece + td(words if row.first == span.began or row.first == top else f'<span class="xp-vh">{words}</span>', "xp-q")


def _rest(words: str, count: int) -> str:
    """The row for the events that are not drawn on this side; it is there when there are none, too."""
    return tr(td(esc(say(words, n=count)), "xp-q", colspan=7))


def detail(views: LogViews, row: LogRow, seq: int, show_text: bool) -> str:
    """What an event is about, in a few words."""
    event = views.events[row.first]
    if event.type == "assistant/chunk":
        return _chunks(views, row, seq)
    if event.seq in views.messages:
        return _message(views, event, show_text)
    data = event.read()
    if not isinstance(data, dict):
        return ""
    if event.type == "tool/call":
        return excerpt(shortened(str(data.get("callId")), ROOM), ROOM, "xp-m")
    reason = data.get("reason")
    named = {"turn/end": reason.get("kind") if isinstance(reason, dict) else None, "request/header": reason,
             "request/context": data.get("model"), "session/title": None}.get(event.type, data.get("compactionId"))
    return excerpt(shortened(named, ROOM), ROOM) if isinstance(named, str) else ""


def _chunks(views: LogViews, row: LogRow, seq: int) -> str:
    """How many chunks of the run there are by now, and of what."""
    seen = range(row.first, min(seq, row.last) + 1)
    kinds = dict.fromkeys(_chunk_kind(views.events[at]) for at in seen)
    words = ", ".join(say(CHUNK_KINDS[kind]) for kind in kinds if kind in CHUNK_KINDS)
    count = f"×{number(row.count)}" if len(seen) == row.count else say("scrub_chunks_part", seen=len(seen), count=row.count)
    return f'{esc(count)} <span class="xp-q">{esc(words)}</span>'


def _chunk_kind(event: SessionEvent) -> Any:
    data = event.read()
    chunk = data.get("chunk") if isinstance(data, dict) else None
    kind = chunk.get("type") if isinstance(chunk, dict) else None
    return kind if isinstance(kind, str) else None


def _message(views: LogViews, event: SessionEvent, show_text: bool) -> str:
    message = views.messages[event.seq]
    if is_replacement(event):
        return esc(say("scrub_replaces", start=event.surface_op.start, end=event.surface_op.end))  # type: ignore[union-attr]
    if message is None:
        return f'<span class="xp-q">{esc(say("scrub_empty"))}</span>'
    if event.type == "tool/result":
        answers = shortened(answered_call(event.read()), 8)
        return " ".join(filter(None, [excerpt(answers, 8, "xp-m"),
                                      words_cell(message_text(message), ROOM - len(answers) - 1, show_text)]))
    return message_parts(message, ROOM, show_text, names=False)
