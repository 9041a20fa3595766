"""What can go wrong, by name: each fault is one of the causes of a row of the chapter's matrix (§4.14).

The chapter lists nine symptoms with their candidate causes and the evidence to look at first. A fault is a change of a good
case, in its log or around it.
"""
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from labsupport.sessionlog import SessionHeader
from labsupport.workbench.clinic import faults_around as around
from labsupport.workbench.clinic import faults_in_log as in_log
from labsupport.workbench.clinic.cases import VERSION, Case, cache_of, client_of
from labsupport.workbench.clinic.clues import Place
from labsupport.workbench.clinic.draft import Draft
from labsupport.workbench.clinic.good import record


@dataclass(frozen=True)
class Fault:
    """One cause of the symptom in *row* of the matrix; its proof stands in *place*.

    Two faults of one *spot* cannot be in one case. *in_log* changes the log, *around* the rest.
    """

    name: str
    row: int
    place: Place
    spot: str
    in_log: Callable[[Draft], None] = lambda draft: None
    around: Callable[[Case], Case] = lambda case: case


def make_case(seed: int, faults: Iterable[str] = ()) -> Case:
    """The good case of *seed* with *faults* in it, by name.

    >>> make_case(1).log == make_case(1).log, len(make_case(1, ["no-flush"]).log) < len(make_case(1).log)
    (True, True)

    ValueError for two faults of one spot, KeyError for a name that is none.
    """
    names = set(faults)
    chosen = [FAULTS[name] for name in FAULTS if name in names] if names <= FAULTS.keys() else [FAULTS[name] for name in names]
    if len({fault.spot for fault in chosen}) < len(chosen):
        raise ValueError("two of these faults are at one spot, so they cannot be in one case")
    draft = Draft.of(record(seed))
    for fault in chosen:
        fault.in_log(draft)
    good, (log, flushes, length) = draft.good, draft.take()
    header = SessionHeader.from_json({**good.header.to_json(), "seedLength": length})
    last = len(log) - 1
    case = Case(header, log, flushes, good.provider, client_of(log, last, last + draft.lost), cache_of(log), good.ledger,
                good.receipts, good.archive)
    for fault in chosen:
        case = fault.around(case)
    return case


FAULTS: dict[str, Fault] = {fault.name: fault for fault in (
    Fault("context-not-logged", 1, "surface", "context", in_log.drop_context),
    Fault("rule-lost", 1, "surface", "rule", in_log.lose_rule),
    Fault("scope-changed", 1, "prompt", "resumed header", in_log.other_scope),
    Fault("client-folds", 2, "client", "client fold", around=around.fold_oneself),
    Fault("client-behind", 2, "watermark", "client watermark", around=around.fall_behind),
    Fault("client-schema", 2, "watermark", "client version", around=around.keep_schema),
    Fault("result-filtered", 3, "events", "first call", in_log.filter_result),
    Fault("order-broken", 3, "events", "first call", in_log.swap),
    Fault("tail-not-repaired", 3, "events", "tail", in_log.leave_tail),
    Fault("no-flush", 4, "events", "last turn", in_log.never_flush),
    Fault("flush-failed", 4, "events", "last turn", in_log.fail_flush, around.note_failed_flush),
    Fault("cache-missing", 5, "watermark", "first row", around=lambda case: around.row(case, 0, lambda row: None)),
    Fault("cache-version", 5, "watermark", "second row",
          around=lambda case: around.row(case, 1, lambda row: {**row, "ver": VERSION - 1})),
    Fault("cache-beyond", 5, "watermark", "third row",
          around=lambda case: around.row(case, 2, lambda row: {**row, "seq": case.last + 9})),
    Fault("operation-lost", 6, "surface", "operation", in_log.lose_operation, around.send_again),
    Fault("range-split", 6, "surface", "range", in_log.split_range, around.send_again),
    Fault("history-only", 7, "prompt", "first header", in_log.copy_only),
    Fault("scope-kept", 7, "prompt", "first header", in_log.keep_scope),
    Fault("deleted-only", 8, "outside", "compensation", around=around.delete_only),
    Fault("other-compensated", 8, "outside", "compensation", around=around.compensate_other),
    Fault("no-upgrade", 9, "events", "archive", around=around.of_version(-1)),
    Fault("newer-format", 9, "events", "archive", around=around.of_version(1)),
    Fault("unknown-event", 9, "events", "archive", around=around.with_plugin),
)}
"""Every fault by its name, in the order of the matrix."""

ROWS = tuple(sorted({fault.row for fault in FAULTS.values()}))
