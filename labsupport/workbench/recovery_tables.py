"""Lab B4's tables: what was found after a death, what a store says to a log, and two rules for the same three files."""
from collections.abc import Iterable

import pandas as pd

from labsupport.errors import LabError, LogCorruptError, LogFormatError, UnknownEventError
from labsupport.sessionlog.recovery import NOT_STARTED, OUTCOME_UNKNOWN
from labsupport.sessionlog.storage import LoadedLog
from labsupport.workbench import log_samples, samples
from labsupport.workbench.crash import Death
from labsupport.workbench.mail_task import Point
from labsupport.workbench.tables import TextTable
from labsupport.workbench.text import say

MOMENTS = {"event": "b4_at_event", "write": "b4_at_write", "half": "b4_at_half", "written": "b4_at_written",
           "tool": "b4_at_tool", "done": "b4_at_done"}
SAID = {"answered": "b4_said_answered", NOT_STARTED: "b4_not_started", OUTCOME_UNKNOWN: "b4_unknown_short"}
REFUSALS: dict[type[LabError], str] = {LogCorruptError: "b4_means_damage", LogFormatError: "b4_means_newer",
                                       UnknownEventError: "b4_means_event"}
PAIRS = {"b4_pair_good": ("short", "two_step"), "b4_pair_torn": ("torn_tail", "torn"),
         "b4_pair_damaged": ("second_line", "damaged")}
"""For each file in words: a session of chapter 34 and a log of chapter 4 to which that happened."""


def death_table(deaths: Iterable[Death]) -> pd.DataFrame:
    """One row a death: when, how many events were durable, read back and lost, which tools were started, what the log says."""
    rows: list[tuple[object, ...]] = [
        (moment(death.point), death.durable, death.kept, death.lost, ", ".join(death.started), said(death), death.mails)
        for death in deaths]
    return _table([say("b4_col_when"), say("b4_col_durable"), say("b4_col_back"), say("b4_col_lost"), say("b4_col_started"),
                   say("b4_col_said"), say("b4_col_mails")], rows)


def moment(point: Point) -> str:
    """When that is, in words."""
    return say(MOMENTS[point.kind], name=point.name, number=point.number)


def said(death: Death) -> str:
    """What the recovered log says of the calls that it knows."""
    return say("b4_list").join(f"{call_id} {say(SAID[code])}" for call_id, code in death.said.items())


def verdict_of(name: str) -> LoadedLog | LabError:
    """The sample log *name*, or the error that the store refuses it with."""
    try:
        return log_samples.load(name)
    except LabError as error:
        return error


def log_verdicts(names: Iterable[str]) -> pd.DataFrame:
    """What the store says to the sample logs *names*, and what it means."""
    rows: list[tuple[object, ...]] = []
    for name in names:
        verdict = verdict_of(name)
        if isinstance(verdict, LabError):
            rows.append((name, type(verdict).__name__, say(REFUSALS[type(verdict)])))
        else:
            rows.append((name, say("b4_events", n=len(verdict.events)), _repaired(verdict)))
    return _table([say("b4_col_log"), "inspect", say("b4_col_means")], rows)


def _repaired(log: LoadedLog) -> str:
    if log.repair is None:
        return say("b4_means_whole")
    return say("b4_means_torn" if log.repair.torn else "b4_means_open", n=len(log.repair.added))


def two_rules() -> pd.DataFrame:
    """A good file, a torn one and a damaged one, read by chapter 34's rule and by chapter 4's."""
    rows: list[tuple[object, ...]] = []
    for words, (session, log) in PAIRS.items():
        verdict = verdict_of(log)
        rows.append((say(words), _plain(session),
                     type(verdict).__name__ if isinstance(verdict, LabError) else _repaired(verdict)))
    return _table([say("b4_col_file"), say("b4_col_34"), say("b4_col_4")], rows)


def _plain(name: str) -> str:
    try:
        return say("messages", n=len(samples.load(name)))
    except LabError as error:
        return type(error).__name__


def _table(columns: list[str], rows: list[tuple[object, ...]]) -> pd.DataFrame:
    pd.set_option("display.max_colwidth", None)
    return TextTable(rows, columns=columns, index=range(1, len(rows) + 1))
