"""The check of lab B11: nine cases that nobody has seen, one of each row of the matrix."""
from collections.abc import Callable
from difflib import get_close_matches
from functools import cache
from typing import Any

from labsupport.workbench.checks.base import Verdict, attempt, correct, not_started, wrong
from labsupport.workbench.clinic import FAULTS, Clue, Place, diagnose
from labsupport.workbench.clinic.ward import Patient, waiting_room
from labsupport.workbench.clinic_words import seqs_words
from labsupport.workbench.text import say

SEED = 0
OVERLOOKED: dict[Place, str] = {
    "events": "b11_wrong_events", "surface": "b11_wrong_surface", "prompt": "b11_wrong_prompt",
    "watermark": "b11_wrong_watermark", "client": "b11_wrong_client", "outside": "b11_wrong_outside"}


@cache
def unseen() -> tuple[Patient, ...]:
    """The nine of the exercise."""
    return tuple(waiting_room(SEED))


def check_causes(causes: Callable[[], Any]) -> Verdict:
    """Hold what *causes* returns, the number of a case → the name of a cause, against the evidence."""
    tried = attempt(causes)
    if tried.error:
        return tried.verdict(say("b11_check_case"))
    if tried.value is None:
        return not_started()
    if not isinstance(tried.value, dict):
        return wrong("b11_wrong_shape")
    for patient in unseen():
        named = tried.value.get(patient.number)
        verdict = None if named is None else _judge(patient, named)
        if verdict is not None:
            return verdict
    missing = [patient.number for patient in unseen() if tried.value.get(patient.number) is None]
    return wrong("b11_wrong_missing", numbers=say("b11_list").join(map(str, missing))) if missing else correct()


def _judge(patient: Patient, named: object) -> Verdict | None:
    """What is wrong with the name; None where it is the cause."""
    if not isinstance(named, str) or named not in FAULTS:
        near = get_close_matches(str(named), FAULTS, 1)
        return wrong("b11_wrong_name", number=patient.number, name=str(named)[:40],
                     near=say("b11_wrong_near", near=near[0]) if near else "")
    if FAULTS[named].row != patient.row:
        return wrong("b11_wrong_row", number=patient.number, name=named, row=patient.row, other=FAULTS[named].row)
    found = diagnose(patient.case).findings
    if named in {clue.cause for clue in found}:
        return None
    return _overlooked(patient, named, found[0])


def _overlooked(patient: Patient, named: str, clue: Clue) -> Verdict:
    seqs = say("b11_wrong_seqs", seqs=seqs_words(clue)) if clue.seqs else ""
    return wrong(OVERLOOKED[clue.place], number=patient.number, name=named, seqs=seqs)
