"""The check of lab B11: cases that nobody has seen, one of each row of the matrix, and one in which nothing is to be found."""
from collections.abc import Callable
from difflib import get_close_matches
from functools import cache
from typing import Any

from labsupport.workbench.checks.base import Verdict, attempt, correct, not_started, shown, wrong
from labsupport.workbench.clinic import FAULTS, Clue, Place, diagnose
from labsupport.workbench.clinic.ward import Patient, waiting_room
from labsupport.workbench.clinic_words import PLACE_WORDS, clue_words, seqs_words
from labsupport.workbench.text import say

SEED = 0
OVERLOOKED: dict[Place, str] = {
    "events": "b11_wrong_events", "surface": "b11_wrong_surface", "prompt": "b11_wrong_prompt",
    "watermark": "b11_wrong_watermark", "client": "b11_wrong_client", "outside": "b11_wrong_outside"}


@cache
def unseen() -> tuple[Patient, ...]:
    """The cases of the exercise."""
    return tuple(waiting_room(SEED))


def check_causes(causes: Callable[[], Any]) -> Verdict:
    """Hold what *causes* returns, the number of a case → the name of a cause or None, against the evidence."""
    tried = attempt(causes)
    if tried.error:
        return tried.verdict(say("b11_check_case"))
    if tried.value is None:
        return not_started()
    if not isinstance(tried.value, dict):
        return wrong("b11_wrong_shape", shown=shown(tried.value))
    numbers = [patient.number for patient in unseen()]
    for key in tried.value:
        if isinstance(key, bool) or key not in numbers:
            return wrong("b11_wrong_number", number=shown(key), first=numbers[0], last=numbers[-1])
    for patient in unseen():
        verdict = _judge(patient, tried.value[patient.number]) if patient.number in tried.value else None
        if verdict is not None:
            return verdict
    missing = [number for number in numbers if number not in tried.value]
    return wrong("b11_wrong_missing", numbers=say("b11_list").join(map(str, missing))) if missing else correct()


def _judge(patient: Patient, named: object) -> Verdict | None:
    """What is wrong with the name; None where it is the cause of this complaint."""
    causes = {clue.cause: clue for clue in diagnose(patient.case).findings}
    proven = next((clue for name, clue in causes.items() if FAULTS[name].row == patient.row), None)
    if named is None:
        return None if proven is None else _told(patient, "b11_wrong_none", proven)
    if proven is not None and named == proven.cause:
        return None
    if not isinstance(named, str) or named not in FAULTS:
        near = get_close_matches(str(named), FAULTS, 1)
        return wrong("b11_wrong_name", number=patient.number, name=shown(named).strip("'"),
                     near=say("b11_wrong_near", near=near[0]) if near else "")
    if FAULTS[named].row != patient.row:
        return wrong("b11_wrong_bystander" if named in causes else "b11_wrong_row", number=patient.number, name=named,
                     row=patient.row, other=FAULTS[named].row)
    if proven is None:
        return wrong("b11_wrong_unproven", number=patient.number, name=named)
    return _told(patient, OVERLOOKED[proven.place], proven, named)


def _told(patient: Patient, key: str, clue: Clue, named: str = "") -> Verdict:
    """The evidence that was overlooked, in its own words; what it proves is for the learner to say."""
    return wrong(key, number=patient.number, name=named, place=say(PLACE_WORDS[clue.place]), clue=clue_words(clue),
                 seqs=say("b11_wrong_seqs", seqs=seqs_words(clue)) if clue.seqs else "")
