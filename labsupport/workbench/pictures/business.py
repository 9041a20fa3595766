"""What log, query state and ledger each know after a death: the picture of lab B9's explorer."""
from collections.abc import Sequence
from typing import Any

from labsupport.sessionlog.query_state import FIELDS
from labsupport.sessionlog.recovery import NOT_STARTED, OUTCOME_UNKNOWN
from labsupport.workbench.invoice_moments import Known
from labsupport.workbench.log_views import LogRow, LogViews
from labsupport.workbench.mail_task import Point
from labsupport.workbench.pictures.base import (
    Column,
    esc,
    excerpt,
    heading,
    key,
    number,
    page,
    panels,
    swatch,
    table,
    td,
    th,
    tr,
)
from labsupport.workbench.pictures.scrubber_cells import inked, window
from labsupport.workbench.pictures.scrubber_log import seqs
from labsupport.workbench.pictures.trimmed import quoted, shortened
from labsupport.workbench.reconcile import Finding
from labsupport.workbench.text import say

ROWS, OPERATIONS = 16, 2
ROOM = 26
POINTS = {"event": "b9_at_event", "write": "b9_at_write", "half": "b9_at_half", "written": "b9_at_written",
          "tool": "b9_at_tool", "inserted": "b9_at_inserted", "done": "b9_at_done"}
SAID = {"": "b9_said_nothing", "open": "b9_said_open", "answered": "b9_said_answered", NOT_STARTED: "b9_said_not_started",
        OUTCOME_UNKNOWN: "b9_said_unknown"}
ANSWERS = {"done": "b9_done", "not done": "b9_not_done", "ask a person": "b9_ask"}
WHYS = {"key": "b9_why_key", "business id": "b9_why_id", "no trace": "b9_why_none", "compensated": "b9_why_compensated",
        "other request": "b9_why_other", "several": "b9_why_several", "no business id": "b9_why_no_id",
        "unreachable": "b9_why_unreachable"}
FIELD_WORDS = {"goal": "b9_goal", "metric": "b9_metric", "filters": "b9_filters", "time": "b9_time",
               "ambiguities": "b9_ambiguities", "planHash": "b9_plan", "approval": "b9_approval"}
STATUSES = {"committed": "b9_committed", "void": "b9_void"}


def business_picture(views: LogViews, known: Known, with_key: bool, show_text: bool = False) -> str:
    """The log at a death on the left; on the right the query state, the ledger, and what each says of the invoice.

    *views* are of the whole session. The same rows at every moment. The goal's words are drawn with *show_text* only.
    """
    left = _log(views, known)
    right = '<div style="display:grid;gap:10px">' + "".join(
        f"<div>{panel}</div>" for panel in (_state(known.found.state, show_text), _ledger(known), _answers(known))) + "</div>"
    legend = key(swatch("", say("b9_key_kept")), swatch("is-off", say("b9_key_lost")),
                 f'<span aria-hidden="true">○</span> {esc(say("b9_key_later"))}', swatch("is-line", say("b9_key_cut")))
    return page(say("b9_label"), sentence(known, with_key), panels(left, right, widths=(320, 480)), legend)


# In words

def point_words(point: Point) -> str:
    """When that is."""
    name = quoted(point.name, 40)
    return say(POINTS[point.kind], seq=point.number, type=name, tool=name)


def answer_words(findings: Sequence[Finding]) -> str:
    """What the ledger answered of the call; that there is nothing to ask where the log has no question."""
    if not findings:
        return say("b9_no_question")
    finding = findings[-1]
    said = say(ANSWERS[finding.answer]) if finding.operation is None else say(
        "b9_answer_as", answer=say(ANSWERS[finding.answer]), id=finding.operation.id)
    return say("b9_answer", answer=said, why=say(WHYS[finding.why]))


def again_words(known: Known) -> str:
    """What came of making the call again."""
    if known.sent is None:
        return say("b9_again_no_log")
    return say("b9_again_refused", n=known.sent) if known.refused else say("b9_again", n=known.sent)


def sentence(known: Known, with_key: bool) -> str:
    """All that the picture says at this moment."""
    found, appended = known.found, known.moment.appended
    answer = [say("b9_say_answer", answer=answer_words(found.findings))] if found.findings else []
    return say("b9_gap").join([
        say("b9_say_killed", when=point_words(known.moment.point), kept=_kept(known), n=appended),
        say("b9_say_log", said=say(SAID[found.said])), say("b9_say_ledger", n=len(found.invoices)), *answer,
        say("b9_say_with" if with_key else "b9_say_without", again=again_words(known))])


def _kept(known: Known) -> int:
    return len(known.found.events) - known.found.added


# The log

def _log(views: LogViews, known: Known) -> str:
    rows, kept = views.rows, _kept(known)
    at = views.row_at(kept - 1) if kept else 0
    drawn = window(len(rows), at, ROWS, ROWS // 2)
    body = [_row(views, row, kept, known.moment.appended) for row in rows[drawn.start:drawn.stop]]
    later = len(views.events) - rows[drawn.stop - 1].last - 1
    body = [_rest("scrub_earlier", rows[drawn.start].first), *body, _rest("scrub_events_later", later)]
    columns = [Column("seq", 58, "xp-n"), Column(say("scrub_col_type"), 178), Column(say("b9_col_where"), 84)]
    return heading(say("b9_log"), say("b9_log_note", n=kept)) + table(columns, body)


def _row(views: LogViews, row: LogRow, kept: int, appended: int) -> str:
    event = views.events[row.first]
    if row.first >= appended:
        words = f'<span class="xp-g" aria-hidden="true">○</span> {excerpt(row.type, 34, "")}'
        return tr(th(esc(seqs(row)), "xp-n xp-m xp-q"), td(words, "xp-m"), td(esc(say("b9_later")), "xp-q"), classes="is-later")
    if row.last < kept:
        return tr(th(esc(seqs(row)), "xp-n xp-m"), td(inked(event, excerpt(row.type, 34, ""), "xp-m")),
                  td(esc(say("b9_on_disk"))), now=row.last == kept - 1)
    part = row.first < kept
    where = say("b9_in_part", n=kept - row.first, of=row.count) if part else say("b9_lost")
    return tr(th(f'<span class="xp-x">{esc(seqs(row))}</span>', "xp-n xp-m xp-hc"),
              td(inked(event, excerpt(row.type, 34, "xp-x"), "xp-m")), td(esc(where)), classes="is-off", now=part)


def _rest(words: str, count: int) -> str:
    return tr(td(esc(say(words, n=count)), "xp-q", colspan=3))


# The query state

def _state(state: Any, show_text: bool) -> str:
    columns = [Column(say("b9_col_field"), 84), Column(say("b9_col_value"), 168), Column("seq", 40, "xp-n"),
               Column(say("scrub_col_turn"), 44, "xp-n"), Column(say("b9_col_version"), 60, "xp-n"),
               Column(say("b9_col_status"), 84)]
    rows = [_field(name, state[name], show_text) for name in FIELDS]
    return heading(say("b9_state"), say("b9_state_note")) + table(columns, rows)


def _field(name: str, held: Any, show_text: bool) -> str:
    head = th(esc(say(FIELD_WORDS[name])))
    if held is None:
        return tr(head, td("–", "xp-q"), td(), td(), td(), td())
    void = held["status"] == "void"
    value = excerpt(shortened(value_words(name, held["value"], show_text), ROOM), ROOM, "xp-x")
    turn = "–" if held["source"]["turn"] is None else number(held["source"]["turn"])
    return tr(head, td(value), td(number(held["source"]["seq"]), "xp-n xp-m"), td(turn, "xp-n xp-m"),
              td(number(held["version"]), "xp-n xp-m"),
              td(esc(say(STATUSES[held["status"]])), "xp-strong" if void else ""), classes="is-off" if void else "")


def value_words(name: str, value: Any, show_text: bool = True) -> str:
    """The value of a field of the query state, in a few words."""
    if name == "goal":
        return str(value) if show_text else say("scrub_characters", n=len(value))
    if name == "metric":
        return f"{value['id']} v{value['version']}, {value['status']}"
    if name == "filters":
        return ", ".join(f"{column} = {text}" for column, text in value.items())
    if name == "time":
        return f"{value['start']} – {value['end']}, {value['calendar']}, {value['mode']}"
    if name == "ambiguities":
        return say("b9_open", n=len(value)) if value else say("b9_none_open")
    return str(value["by"] if name == "approval" else value)


# The ledger, and the answers

def _ledger(known: Known) -> str:
    sent = known.found.invoices
    rows = [tr(th(esc(one.id), "xp-m"), td("–" if one.key is None else excerpt(shortened(one.key, 22), 22, "xp-m")),
               td(esc(shortened(str(one.payload.get("invoice")), 14)), "xp-m")) for one in sent[:OPERATIONS]]
    rows += [tr(td("", colspan=3))] * (OPERATIONS - len(rows))
    columns = [Column(say("b9_col_operation"), 100), Column(say("b9_col_key"), 200), Column(say("b9_col_invoice"), 180)]
    return heading(say("b9_ledger"), say("b9_invoices", n=len(sent))) + table(columns, rows)


def _answers(known: Known) -> str:
    closers = [event.type for event in known.found.events[_kept(known):]]
    rows = [(say("b9_row_log"), say(SAID[known.found.said])),
            (say("b9_row_added"), say("b9_list").join(closers) or "–"),
            (say("b9_row_answer"), answer_words(known.found.findings)), (say("b9_row_again"), again_words(known))]
    body = [tr(th(esc(head)), td(f'<span class="xp-strong">{esc(words)}</span>' if at == len(rows) - 1 else esc(words)))
            for at, (head, words) in enumerate(rows)]
    return heading(say("b9_answers")) + table([Column(say("b9_col_who"), 140), Column(say("b9_col_answer"), 340)], body)
