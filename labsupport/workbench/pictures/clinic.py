"""The evidence of a case, place by place, and the causes that it leaves: the picture of lab B11's explorer."""
from labsupport.workbench.clinic import FAULTS, PLACES, Clue, Diagnosis, Place
from labsupport.workbench.clinic.ward import Patient
from labsupport.workbench.clinic_words import PLACE_WORDS, causes_of, clue_words, complaint, seqs_words
from labsupport.workbench.pictures.base import Column, esc, excerpt, heading, key, page, panels, table, td, th, tr
from labsupport.workbench.text import say

ROOM: dict[Place, int] = {"events": 4, "surface": 4, "prompt": 3, "watermark": 5, "client": 1, "outside": 3}
"""Rows of each place, so that the picture keeps its height; what does not fit is counted in the last of them."""
CAUSES = 5
SIGNS = {"proven": "◆", "out": "×", "open": "?"}
STATES = {"proven": "b11_proven", "out": "b11_ruled_out", "open": "b11_open"}
KEY = {"proven": "b11_key_proven", "out": "b11_key_out", "open": "b11_key_open"}
SAID = {"proven": "b11_say_proven", "open": "b11_say_open", "out": "b11_say_out"}


def clinic_picture(patient: Patient, found: Diagnosis, asked: int) -> str:
    """The first *asked* places of a *patient* on the left; on the right the causes, and what became of each so far."""
    states = causes_so_far(patient, found, asked)
    legend = [f'<span aria-hidden="true">{SIGNS[state]}</span> {esc(say(words))}' for state, words in KEY.items()]
    return page(say("b11_label"), sentence(patient, found, asked),
                panels(_evidence(found, asked), _causes(states), widths=(630, 226)), key(*legend))


def causes_so_far(patient: Patient, found: Diagnosis, asked: int) -> dict[str, str]:
    """For each cause of the patient's row, and each that was found besides: "proven", "out" or "open"."""
    known = PLACES[:asked]
    names = causes_of(patient.row)
    names += [name for name in found.causes if name not in names and FAULTS[name].place in known]
    return {name: "open" if FAULTS[name].place not in known else "proven" if name in found.causes else "out" for name in names}


def sentence(patient: Patient, found: Diagnosis, asked: int) -> str:
    """What was asked, and what it leaves, in words."""
    states = causes_so_far(patient, found, asked)
    by_cause = {clue.cause: clue for clue in found.findings}
    said = say("b11_say_complaint", number=patient.number, complaint=complaint(patient.row))
    said += say("b11_say_asked", n=asked, of=len(PLACES))
    for state, words in SAID.items():
        names = [_with_seqs(name, by_cause[name]) if state == "proven" else name for name in states if states[name] == state]
        said += say(words, names=say("b11_list").join(names)) if names else ""
    return said


def _with_seqs(name: str, clue: Clue) -> str:
    return say("b11_with_seqs", name=name, seqs=seqs_words(clue)) if clue.seqs else name


def _evidence(found: Diagnosis, asked: int) -> str:
    rows = []
    for at, place in enumerate(PLACES):
        clues = [clue for clue in found.clues if clue.place == place] if at < asked else []
        for line in range(ROOM[place]):
            head = th(esc(say(PLACE_WORDS[place])) if line == 0 else "", "" if at < asked else "xp-q")
            rows.append(tr(head, *_line(clues, line, ROOM[place]) if at < asked else (
                td(esc(say("b11_not_asked")) if line == 0 else "", "xp-q"), td()),
                classes="is-first" if line == 0 else "", now=at == asked - 1 and line == ROOM[place] - 1))
    columns = [Column(say("b11_col_place"), 106), Column(say("b11_col_evidence"), 440), Column("seq", 84, "xp-n")]
    return heading(say("b11_evidence"), say("b11_evidence_note")) + table(columns, rows)


def _line(clues: list[Clue], line: int, room: int) -> tuple[str, str]:
    """Line *line* of a place: a clue with its seqs."""
    if line >= len(clues):
        return td(), td()
    if line == room - 1 and len(clues) > room:
        return td(esc(say("b11_more", n=len(clues) - line)), "xp-q"), td()
    clue = clues[line]
    sign = f'<span class="xp-g" aria-hidden="true">{SIGNS["proven"]}</span> ' if clue.cause else ""
    return td(sign + excerpt(clue_words(clue), 90, "")), td(esc(" ".join(map(str, clue.seqs))), "xp-n xp-m xp-q")


def _causes(states: dict[str, str]) -> str:
    rows = [tr(th(excerpt(name, 24, "xp-m xp-strong" if state == "proven" else "xp-m xp-x")),
               td(f'<span class="xp-g" aria-hidden="true">{SIGNS[state]}</span> {esc(say(STATES[state]))}',
                  "xp-strong" if state == "proven" else "xp-q"), classes="is-off" if state == "out" else "")
            for name, state in list(states.items())[:CAUSES]]
    rows += [tr(th(), td()) for _ in range(CAUSES - len(rows))]
    columns = [Column(say("b11_col_cause"), 144), Column(say("b11_col_state"), 82)]
    return heading(say("b11_causes"), say("b11_causes_note")) + table(columns, rows)
