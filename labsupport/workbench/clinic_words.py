"""The words of the clinic: complaints, places, clues and causes, and the tables of lab B11."""
from collections.abc import Iterable, Sequence

import pandas as pd

from labsupport.workbench.clinic import FAULTS, PLACES, ROWS, Case, Clue, Diagnosis, Place, evidence
from labsupport.workbench.clinic.ward import Patient
from labsupport.workbench.tables import TextTable
from labsupport.workbench.text import say

COMPLAINTS = {1: "b11_row_1", 2: "b11_row_2", 3: "b11_row_3", 4: "b11_row_4", 5: "b11_row_5", 6: "b11_row_6", 7: "b11_row_7",
              8: "b11_row_8", 9: "b11_row_9"}
PLACE_WORDS: dict[Place, str] = {
    "events": "b11_place_events", "surface": "b11_place_surface", "prompt": "b11_place_prompt",
    "watermark": "b11_place_watermark", "client": "b11_place_client", "outside": "b11_place_outside"}
MEANINGS = {
    "context-not-logged": "b11_means_context_not_logged", "rule-lost": "b11_means_rule_lost",
    "scope-changed": "b11_means_scope_changed", "client-folds": "b11_means_client_folds",
    "client-behind": "b11_means_client_behind", "client-schema": "b11_means_client_schema",
    "result-filtered": "b11_means_result_filtered", "order-broken": "b11_means_order_broken",
    "tail-not-repaired": "b11_means_tail_not_repaired", "no-flush": "b11_means_no_flush",
    "flush-failed": "b11_means_flush_failed", "cache-missing": "b11_means_cache_missing",
    "cache-version": "b11_means_cache_version", "cache-beyond": "b11_means_cache_beyond",
    "operation-lost": "b11_means_operation_lost", "range-split": "b11_means_range_split",
    "history-only": "b11_means_history_only", "scope-kept": "b11_means_scope_kept",
    "deleted-only": "b11_means_deleted_only", "other-compensated": "b11_means_other_compensated",
    "no-upgrade": "b11_means_no_upgrade", "newer-format": "b11_means_newer_format", "unknown-event": "b11_means_unknown_event"}
"""The name of a cause, and the key of what it means."""


def complaint(row: int | None) -> str:
    """What somebody complains of whose case belongs to *row* of the matrix."""
    return say("b11_menu_healthy" if row is None else COMPLAINTS[row])


def causes_of(row: int | None) -> list[str]:
    """The names of the causes of *row*."""
    return [name for name, fault in FAULTS.items() if fault.row == row]


def clue_words(clue: Clue) -> str:
    """A clue as a sentence."""
    return say(clue.key, **clue.values)


def seqs_words(clue: Clue) -> str:
    """The seqs of a clue."""
    return say("b11_list").join(map(str, clue.seqs))


def matrix_table(*, places: bool = False) -> TextTable:
    """The nine rows of the chapter's matrix with the causes of this clinic, and with *places* where the evidence of each is."""
    rows = [(row if name == names[0] else "", complaint(row) if name == names[0] else "", name, say(MEANINGS[name]),
             say(PLACE_WORDS[FAULTS[name].place])) for row in ROWS for names in [causes_of(row)] for name in names]
    columns = ("b11_col_row", "b11_col_complaint", "b11_col_cause", "b11_col_means", "b11_col_first")[:5 if places else 4]
    return _table(columns, [row[:len(columns)] for row in rows])


def evidence_table(case: Case, *places: Place) -> TextTable:
    """What stands in *places* of *case*, by default in all of them; it does not say what to make of it."""
    rows = [(say(PLACE_WORDS[clue.place]), clue_words(clue)) for place in places or PLACES for clue in evidence(case, place)]
    return _table(("b11_col_place", "b11_col_evidence"), rows)


def diagnosis_table(found: Diagnosis) -> TextTable:
    """The causes that were found, each with its evidence."""
    rows = [(clue.cause, say(PLACE_WORDS[clue.place]), clue_words(clue), seqs_words(clue)) for clue in found.findings]
    columns = ("b11_col_cause", "b11_col_place", "b11_col_evidence")
    return _table(columns, rows or [(say("b11_nothing"), "", "", "")], "seq")


def ward_table(patients: Iterable[Patient]) -> TextTable:
    """Who waits, with what complaint, and which causes that may have."""
    rows = [(patient.number, complaint(patient.row), say("b11_list").join(causes_of(patient.row))) for patient in patients]
    return _table(("b11_col_patient", "b11_col_complaint", "b11_col_names"), rows)


def _table(columns: Sequence[str], rows: Sequence[tuple[object, ...]], *more: str) -> TextTable:
    pd.set_option("display.max_colwidth", None)  # a clue that is cut is none
    return TextTable(rows, columns=[*map(say, columns), *more], index=[""] * len(rows))
