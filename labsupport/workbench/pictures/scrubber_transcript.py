"""The scrubber's third panel: what a person saw as of the watermark."""
from labsupport.sessionlog.transcript import TranscriptRow
from labsupport.workbench.log_views import LogViews
from labsupport.workbench.pictures.base import Column, Role, esc, excerpt, number, role, table, td, th, tr
from labsupport.workbench.pictures.scrubber_cells import later_row, panel_head, part_note, window, words_cell
from labsupport.workbench.pictures.trimmed import shortened
from labsupport.workbench.text import say

ROWS = 5
ROOM = 25
MARKS = {"injected": "scrub_mark_injected", "recovery": "scrub_mark_recovery", "error": "scrub_mark_error",
         "partial": "scrub_mark_partial"}


def transcript_panel(views: LogViews, seq: int, show_text: bool) -> str:
    """The newest rows, and the places of the next ones."""
    told, count = views.transcript(seq), max(1, len(views.told))
    every = max(len(told), count)  # a stream may show more while it runs than its message does
    drawn = window(every, len(told) - 1, min(ROWS, count), 1)
    rows = [_row(told[at], show_text) if at < len(told) else later_row(views.told[at].seq if at < len(views.told) else None, 4)
            for at in drawn]
    columns = [Column("seq", 40, "xp-n"), Column(say("scrub_col_role"), 84), Column(say("scrub_col_seen"), 194),
               Column(say("scrub_col_mark"), 90)]
    note = part_note(say("scrub_entries", n=len(told)), drawn, every)
    return panel_head(say("scrub_transcript"), seq, note) + table(columns, rows)


def _row(row: TranscriptRow, show_text: bool) -> str:
    kinds: dict[str, Role] = {"call": "call", "result": "result"}
    name: Role = kinds.get(row.kind, "assistant" if row.role == "assistant" else "user")
    marks = [say("scrub_mark_reasoning")] if row.kind == "reasoning" else []
    marks += [say(MARKS[mark]) for mark in row.marks]
    call_id = "" if row.call is None else excerpt(shortened(row.call, 8), 8, "xp-q xp-m") + " "
    words = words_cell(row.text, ROOM - (9 if call_id else 0), show_text)
    return tr(th(number(row.seq), "xp-n xp-m"), td(role(name)), td(call_id + words), td(esc(", ".join(marks)), "xp-q"))
