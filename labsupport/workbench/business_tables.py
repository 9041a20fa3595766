"""Lab B9's tables: the four state domains, deaths and retries, the query state, and the evidence of an incident."""
from collections.abc import Iterable
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from labsupport.errors import DetachedSessionError, StoreBusyError
from labsupport.outside import Metrics
from labsupport.sessionlog import replay, resume
from labsupport.sessionlog.query_state import FIELDS
from labsupport.sessionlog.storage import JsonlStore
from labsupport.workbench.incident import Evidence
from labsupport.workbench.invoice_kills import Death
from labsupport.workbench.invoice_task import ID, LEDGER, METRICS, invoices, rows
from labsupport.workbench.pictures.business import (
    FIELD_WORDS,
    SAID,
    STATUSES,
    answer_words,
    point_words,
    value_words,
)
from labsupport.workbench.tables import TextTable
from labsupport.workbench.text import say


def domains(folder: str | Path) -> pd.DataFrame:
    """The four state domains with their authorities, as they are in *folder*, after the session is deleted, after replays.

    Everything is tried, on a copy.
    """
    with TemporaryDirectory() as outer:
        place = copytree(folder, Path(outer) / "copy")
        store, lock = JsonlStore(place), _lock(JsonlStore(copytree(folder, Path(outer) / "locked")))
        before = _facts(store)
        for _ in range(5):
            copy = replay(store.inspect(ID).events)
        replayed, refused = (_facts(store), _sent(place), _metric()), _attach(store, copy)
        sent, metric = _sent(place), _metric()
        store.delete(ID)
        after = _facts(store), _sent(place), _metric()
    lines = [(say("b9_domain_facts"), f"{ID}.jsonl", before, after[0], replayed[0]),
             (say("b9_domain_control"), say("b9_this_process"), lock, "–", refused),
             (say("b9_domain_outside"), LEDGER, sent, after[1], replayed[1]),
             (say("b9_domain_shared"), METRICS.name, metric, after[2], replayed[2])]
    return _table([say("b9_col_domain"), say("b9_col_authority"), say("b9_col_here"), say("b9_col_deleted"),
                   say("b9_col_replayed")], lines)


def _facts(store: JsonlStore) -> str:
    return say("b9_events", n=len(store.inspect(ID).events)) if store.path(ID).exists() else say("b9_gone")


def _sent(folder: Path) -> str:
    return say("b9_invoices", n=len(invoices(folder)))


def _metric() -> str:
    metric = Metrics(METRICS).active("tests")
    return f"{metric.id} v{metric.version}, {metric.status}"


def _lock(store: JsonlStore) -> str:
    """What a second writer is told while a first one is at work."""
    writer = store.attach(resume(store, ID))
    try:
        resume(store, ID)
    except StoreBusyError as error:
        return type(error).__name__
    finally:
        writer.close()
    return "–"


def _attach(store: JsonlStore, copy: Any) -> str:
    try:
        store.attach(copy).close()
    except DetachedSessionError as error:
        return type(error).__name__
    return "–"


def death_table(deaths: Iterable[Death]) -> pd.DataFrame:
    """One row a death: when, what the log says, how many invoices are out, what the ledger answers, how many after a retry."""
    lines = [(point_words(death.point), say(SAID[death.found.said]), len(death.found.invoices),
              answer_words(death.found.findings), death.after) for death in deaths]
    return _table([say("b9_col_when"), say("b9_col_log_says"), say("b9_col_sent"), say("b9_col_ledger_says"),
                   say("b9_col_after")], lines)


def state_table(state: Any) -> pd.DataFrame:
    """The query state: one row a field, with its source."""
    lines = []
    for name in FIELDS:
        held = state[name]
        lines.append((say(FIELD_WORDS[name]), *(("–",) * 5 if held is None else (
            value_words(name, held["value"]), held["source"]["seq"], held["source"]["turn"] or "–", held["version"],
            say(STATUSES[held["status"]])))))
    return _table([say("b9_col_field"), say("b9_col_value"), "seq", say("scrub_col_turn"), say("b9_col_version"),
                   say("b9_col_status")], lines)


def metric_table(id: str) -> pd.DataFrame:
    """All versions of the metric *id*, and what each gives over the same rows."""
    lines = [(f"{metric.id} v{metric.version}", metric.status, metric.words, f"{metric.value(rows()):,}")
             for metric in Metrics(METRICS).versions(id)]
    return _table([say("b9_metric"), say("b9_col_status"), say("b9_col_words"), say("b9_col_figure")], lines)


def evidence_table(found: Evidence) -> pd.DataFrame:
    """The five places to look at, and what stands there."""
    keys = say("b9_list").join(key or say("b9_no_key") for key in found.keys)
    lines = [
        (say("b9_ev_range"), say("b9_ev_hidden" if found.hidden else "b9_ev_visible", n=len(found.shadowed), seq=found.result)),
        (say("b9_ev_summary"), say("b9_ev_kept" if found.kept else "b9_ev_lost", seq=found.summary)),
        (say("b9_ev_results"), say("b9_ev_result", seq=found.result)),
        (say("b9_ev_outside"), say("b9_ev_operations", n=len(found.keys), keys=keys)),
        (say("b9_ev_recovery"), say("b9_ev_closers", n=len(found.interrupted)) if found.interrupted else say("b9_ev_no_crash"))]
    return _table([say("b9_col_place"), say("b9_col_found")], lines)


def _table(columns: list[str], lines: list[Any]) -> pd.DataFrame:
    return TextTable(lines, columns=columns, index=range(1, len(lines) + 1))
