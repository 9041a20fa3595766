"""Tables of lab B3."""
from collections.abc import Sequence

from labsupport.sessionlog import SessionEvent
from labsupport.workbench.tables import TextTable
from labsupport.workbench.text import say
from labsupport.workbench.waiting_views import read_at_once, read_while_waiting


def waiting_table(events: Sequence[SessionEvent], types: Sequence[str]) -> TextTable:
    """What a reader sees behind each event of *types* while the view of the calls waits for somebody; was it ever so?"""
    true = {(read.step, read.calls) for read in read_at_once(events)}
    rows = []
    for read in read_while_waiting(events):
        if read.type in types:
            ever = say("b3_was" if (read.step, read.calls) in true else "b3_never")
            calls = ", ".join(read.calls) or "–"
            step = "–" if read.step is None else read.step
            rows.append((f"{read.seq} {read.type}", step, read.seq, calls, read.calls_seq, ever))
    columns = [say(key) for key in ("b3_col_event", "b3_col_step", "b3_col_step_at", "b3_col_calls", "b3_col_calls_at",
                                    "b3_col_ever")]
    return TextTable(rows, columns=columns, index=[""] * len(rows))
