"""The rows of the fork explorer: the parent's log, what of it the child begins with, and where a fork may begin."""
from collections.abc import Collection

from labsupport.sessionlog.json_text import field
from labsupport.workbench.log_views import LogRow, LogViews, span_at
from labsupport.workbench.pictures.base import Column, esc, excerpt, table, td, tr
from labsupport.workbench.pictures.scrubber_cells import inked, window
from labsupport.workbench.pictures.scrubber_log import detail, seqs, span_cells
from labsupport.workbench.pictures.trimmed import shortened
from labsupport.workbench.text import say

ID_ROOM = 8
ROWS = 19
"""Rows of a log that is too long to be drawn whole; above and below it one row each says how many events are left out."""


def rows_table(views: LogViews, legal: Collection[int], seq: int, show_text: bool) -> str:
    """The parent's rows; those after *seq* are not in the child. *legal* has the boundaries."""
    rows, at = views.rows, views.row_at(seq)
    drawn = range(len(rows)) if len(rows) <= ROWS + 2 else window(len(rows), at, ROWS, ROWS // 2)
    last_legal = max((other for other in legal if other <= seq), default=None)
    top = rows[drawn.start].first
    body = [_row(views, row, legal, seq, last_legal, top, show_text) for row in rows[drawn.start:drawn.stop]]
    if len(drawn) < len(rows):
        later = len(views.events) - rows[drawn.stop - 1].last - 1
        body = [_rest("scrub_earlier", top), *body, _rest("scrub_events_later", later)]
    widest = max(36, 7 * max(len(seqs(row)) for row in rows) + 21)  # of the whole log, so that no column moves
    columns = [Column("seq", widest, "xp-n"), Column("", 12), Column(say("scrub_col_turn"), 34),
               Column(say("scrub_col_type"), 154), Column(say("scrub_col_detail"), 148 - widest),
               Column(say("b8_col_fork"), 92)]
    return table(columns, body)


def _row(views: LogViews, row: LogRow, legal: Collection[int], seq: int, last_legal: int | None, top: int,
         show_text: bool) -> str:
    """One row; *top* is the first seq that is drawn, *last_legal* the boundary to go back to."""
    event, off, now = views.events[row.first], row.first > seq, row.first <= seq <= row.last
    end = len(views.events) - 1
    turn = span_cells(span_at(views.turns, row.first), row.place.turn, row, end, top, False)
    kind = inked(event, excerpt(row.type, 34, "xp-x" if off else ""), "xp-m")
    refused = now and seq not in legal
    head = f'<span class="xp-x">{esc(seqs(row))}</span>' if off else esc(seqs(row))
    classes = "is-off" if off else "is-cutbad" if refused else ""
    return tr(td(head, "xp-n xp-m xp-hc"), turn, td(kind), td(_detail(views, row, show_text)),
              td(_mark(row, legal, seq, last_legal)), classes=classes, now=now and not refused)


def _detail(views: LogViews, row: LogRow, show_text: bool) -> str:
    """What the event is about; of the id of a compaction its end, which tells it from others: there is no room for more."""
    named = field(views.events[row.first].read(), "compactionId") if row.type.startswith("compaction/") else None
    if not isinstance(named, str):
        return detail(views, row, len(views.events) - 1, show_text)
    short = named if len(named) <= ID_ROOM else "…-" + named.rpartition("-")[2]
    return excerpt(shortened(short, ID_ROOM), ID_ROOM)


def _mark(row: LogRow, legal: Collection[int], seq: int, last_legal: int | None) -> str:
    """Whether a fork may begin behind this row, in words."""
    if row.last not in legal:
        return f'<span class="xp-q">{esc(say("b8_inside", turn=shortened(str(row.place.turn), 4)))}</span>'
    if row.last == last_legal and seq not in legal:
        return f'<span class="xp-strong">✓ {esc(say("b8_last_legal"))}</span>'
    return f"✓ {esc(say('b8_legal'))}"


def _rest(words: str, count: int) -> str:
    return tr(td(esc(say(words, n=count)), "xp-q", colspan=6))
