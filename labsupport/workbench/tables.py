"""Tables that a notebook shows: pandas DataFrames with plain columns."""
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from labsupport.errors import SessionFileError
from labsupport.lossless import js_json
from labsupport.miniagent import parse_session_message, session_message_problem
from labsupport.sessionlog import SessionEvent
from labsupport.sessionlog.events import Replace
from labsupport.sessionlog.json_text import field
from labsupport.sessionlog.recovery import answered_call, blocks
from labsupport.workbench.breakage import load_bytes, problem_words, read_line, split_lines
from labsupport.workbench.log_views import LogViews
from labsupport.workbench.pictures.base import shown
from labsupport.workbench.text import say

WHY_NOT = {
    "turn": "b2_why_boundary", "step": "b2_why_boundary", "assistant/chunk": "b2_why_chunk", "tool/call": "b2_why_call",
    "request": "b2_why_request", "compaction": "b2_why_compaction",
}
"""Why events of a type, or of a family of types, give the model nothing."""


ODD = {
    "half UTF-8": "a1_odd_half", "control": "a1_odd_control", "CR": "a1_odd_cr", "blanks": "a1_odd_blanks",
    "array": "a1_odd_array", "empty line": "a1_odd_empty", "CRLF": "a1_odd_crlf", "U+2028": "a1_odd_separator",
    "half emoji": "a1_odd_emoji", "no line break": "a1_odd_end",
}
"""Names of odd files that have words in both languages."""


CELL = 1000
"""Characters of a cell that are shown; of a longer one the beginning."""


class TextTable(pd.DataFrame):
    """A DataFrame of words: a page shows it with its columns to the left, where words begin, and with every word whole.

    What it shows may be anybody's text, so it is shown as in a picture: no tag, no mathematics, no control comes of it.
    """

    @property
    def _constructor(self) -> type["TextTable"]:
        return TextTable

    def _repr_html_(self) -> str:
        left = ' style="text-align: left"'
        with pd.option_context("display.max_colwidth", None, "display.html.use_mathjax", False):
            page: str = self._as_shown()._repr_html_()  # type: ignore[operator]
        page = page.replace('<tr style="text-align: right;">', "<tr>")
        return page.replace("<th>", f"<th{left}>").replace("<td>", f"<td{left}>")

    def __repr__(self) -> str:
        return repr(self._as_shown())

    def _as_shown(self) -> pd.DataFrame:
        """A copy in which every text is as it may stand on a page."""
        columns = [_cell(name) for name in self.columns]
        rows = [tuple(map(_cell, row)) for row in self.itertuples(index=False, name=None)]
        return pd.DataFrame(rows, columns=columns, index=[_cell(name) for name in self.index])


def _cell(value: object) -> object:
    if not isinstance(value, str):
        return value
    return shown(value if len(value) <= CELL else value[:CELL - 1] + "…")


def verdict_table(values: Iterable[object]) -> pd.DataFrame:
    """Decoded JSON *values*, what the parser answers for each, and why it is no message where it is none."""
    rows: list[tuple[object, ...]] = []
    for value in values:
        message, problem = parse_session_message(value), session_message_problem(value)
        verdict = type(message).__name__ if message is not None else "None"
        rows.append((js_json(value), verdict, problem_words(problem) if problem else ""))
    return _table([say("a1_table_value"), say("a1_table_verdict"), say("a1_table_why")], rows)


def load_table(files: Mapping[str, bytes]) -> pd.DataFrame:
    """What load makes of *files* (a name and the bytes for each): so many messages, or the error about a line, and why.

    A name in ODD is told in the notebook's language, any other as it is.
    """
    rows: list[tuple[object, ...]] = []
    for name, data in files.items():
        result, shown = load_bytes(data), say(ODD[name]) if name in ODD else name
        if isinstance(result, SessionFileError):
            why = read_line(split_lines(data)[result.line - 1]).why
            rows.append((shown, type(result).__name__, result.line, why))
        else:
            rows.append((shown, say("messages", n=len(result)), "", ""))
    return _table([say("a1_table_file"), "load_session", say("a1_col_line"), say("a1_table_why")], rows)


def event_table(events: Sequence[SessionEvent]) -> pd.DataFrame:
    """The events of a whole log, a run of chunks as one row: where each stands, whether the model sees it at the end, and why.

    The columns have the same names in every language: seq, type, turn, step, call, on_surface, why.
    """
    views = LogViews(events)
    nodes = set(views.nodes(len(events) - 1)) if events else set()
    rows: list[tuple[object, ...]] = []
    for row in views.rows:
        event = events[row.first]
        seqs = str(row.first) if row.first == row.last else f"{row.first}–{row.last}"
        rows.append((seqs, row.type, _number(row.place.turn), _number(row.place.step), _calls(event), row.first in nodes,
                     _why(views, event)))
    pd.set_option("display.max_colwidth", None)
    columns = ["seq", "type", "turn", "step", "call", "on_surface", "why"]
    return TextTable(rows, columns=columns, index=[""] * len(rows))  # a second number beside seq would only mislead


def _number(value: object) -> object:
    return "" if value is None else value


def _calls(event: SessionEvent) -> str:
    """The ids of the calls that *event* asks for, starts or answers."""
    data = event.read()
    if event.type == "assistant/message":
        return ", ".join(str(block.get("id")) for block in blocks(field(data, "message")) if block.get("type") == "tool-call")
    if event.type == "tool/call":
        return str(field(data, "callId"))
    return answered_call(data) if event.type == "tool/result" else ""


def _why(views: LogViews, event: SessionEvent) -> str:
    """Why the model sees *event*, or does not."""
    if event.seq not in views.messages:
        family = event.type.split("/")[0]
        return say(WHY_NOT.get(event.type) or WHY_NOT.get(family, "b2_why_other"))
    if event.seq in views.shadowed_by:
        return say("b2_why_shadowed", by=views.shadowed_by[event.seq])
    if views.messages[event.seq] is None:
        return say("b2_why_empty")
    if isinstance(event.surface_op, Replace):
        return say("b2_why_replacement", start=event.surface_op.start, end=event.surface_op.end)
    if event.type == "user/message":
        return say("b2_why_user" if views.messages[event.seq]["source"]["kind"] == "user" else "b2_why_injected")
    return say("b2_why_assistant" if event.type == "assistant/message" else "b2_why_result")


def _table(columns: list[str], rows: list[tuple[object, ...]]) -> pd.DataFrame:
    pd.set_option("display.max_colwidth", None)  # pandas would cut a value after 50 characters, and hide what decides
    return TextTable(rows, columns=columns, index=range(1, len(rows) + 1))
