"""A tool that returns far too many rows, and where they lie: in the log, or in an attachment store beside it (lab B5)."""
import pandas as pd

from labsupport.outside import Attachments
from labsupport.sessionlog import ScriptedModel, Session, estimate_message, run_turn
from labsupport.sessionlog.json_text import write_data
from labsupport.sessionlog.spill import Spill
from labsupport.workbench.payment_task import CONFIG, bookings, calls, says
from labsupport.workbench.tables import TextTable
from labsupport.workbench.text import say

PAGE = 20
"""Lines of an attachment that a person is shown at once."""


def list_all(rows: int, spill: Spill | None = None) -> Session:
    """A session in memory in which a tool gives so many *rows*; with *spill* they are kept outside of the log."""
    session = Session.create("list")
    model = ScriptedModel([calls(("c1", "list_bookings", {"month": "2026-06"})), says("That is all of them.")])
    run_turn(session, "List all bookings.", model, {"list_bookings": lambda given: bookings(rows)}, config=CONFIG, spill=spill)
    return session


def places_table(plain: Session, spilled: Session, attachments: Attachments) -> pd.DataFrame:
    """What each of four places holds of a long result: as it is logged by default, and with a spill into *attachments*."""
    ref, = attachments.refs()
    rows = [
        (say("b5_place_log"), *(say("b5_bytes", n=_log_bytes(it)) for it in (plain, spilled))),
        (say("b5_place_surface"), *(say("b5_tokens", n=sum(map(estimate_message, it.derive_messages())))
                                    for it in (plain, spilled))),
        (say("b5_place_store"), "–", say("b5_bytes", n=attachments.size(ref))),
        (say("b5_place_ui"), say("b5_page_all"), say("b5_page_some", n=len(attachments.lines(ref, 1, PAGE).lines),
                                                     of=attachments.lines(ref, 1, 1).total)),
    ]
    columns = [say("b5_col_place"), say("b5_col_unspilled"), say("b5_col_spilled")]
    return TextTable(rows, columns=columns, index=range(1, len(rows) + 1))


def _log_bytes(session: Session) -> int:
    return sum(len(write_data(event.to_json(), stored=True)) + 1 for event in session.events)
