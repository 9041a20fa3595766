"""One page about a class: what was handed in, where it is stuck and on which wrong idea. It holds no word of a student."""
import re
from collections import Counter
from collections.abc import Sequence
from statistics import median

import pandas as pd

from labsupport.classroom.course import Course
from labsupport.classroom.findings import LAB_STATES, Exercise, Finding, LabState
from labsupport.classroom.handed import Handed
from labsupport.workbench.labs import LABS
from labsupport.workbench.pictures.base import esc
from labsupport.workbench.text import say, speaking, spoken, vocabulary

STATES = {"right": "class_right", "wrong": "class_wrong", "not_run": "class_not_run", "not_started": "class_not_started"}
MARKS: dict[LabState, str] = {"done": "●", "started": "◐", "untouched": "○", "unreadable": "✕"}
IDEAS = 3
"""As many wrong ideas of an exercise are told, the most frequent first."""
BY_NAME = {lab.name: lab for lab in LABS}
BAR, ROW, LEFT, GAP = 420, 26, 300, 60
STYLE = """
:root{color-scheme:light dark;--ink:#1b1b1b;--quiet:#5d5d5d;--paper:#fff;--line:#ddd;--right:#2e8b6b;--wrong:#c2543c;
--not_run:#7d5ba6;--not_started:#c9c9c9}
@media (prefers-color-scheme:dark){:root{--ink:#e6e6e6;--quiet:#a8a8a8;--paper:#161616;--line:#3a3a3a;--right:#4fbf97;
--wrong:#e07a63;--not_run:#a98bd0;--not_started:#555}}
body{margin:32px auto;padding:0 24px;max-width:1040px;background:var(--paper);color:var(--ink);
font:15px/1.5 system-ui,sans-serif}
h1{font-size:24px}h2{margin-top:32px;font-size:17px}p{max-width:70ch}.quiet{color:var(--quiet)}
.wide{overflow-x:auto}table{border-collapse:collapse;border:0;font-variant-numeric:tabular-nums}
th,td{padding:5px 14px 5px 0;border:0;border-bottom:1px solid var(--line);text-align:left;vertical-align:top;
white-space:pre-line}th,td:first-child{white-space:nowrap}
th{font-weight:600;color:var(--quiet);font-size:13px}svg{max-width:100%;height:auto}
svg text{fill:var(--ink);font:13px system-ui,sans-serif}
@media print{body{margin:0}}
"""


def lab_table(found: Sequence[Finding], students: int) -> pd.DataFrame:
    """A row for each lab: handed in, done, started, minutes. *students* take part; 0 where nobody knows how many."""
    rows = []
    for lab in _labs(found):
        ones = [one for one in found if one.lab == lab]
        states: Counter[str] = Counter(one.state for one in ones)
        times = [one.minutes for one in ones if one.minutes is not None]
        rows.append((_title(lab), f"{len(ones)} / {students}" if students else len(ones), *(states[state] for state in MARKS),
                     round(median(times)) if times else "–", BY_NAME[lab].minutes))
    return pd.DataFrame(rows, columns=[say("class_lab"), say("class_handed"), *(say(key) for key in LAB_STATES.values()),
                                       say("class_minutes"), say("class_stated")])


def exercise_table(found: Sequence[Finding]) -> pd.DataFrame:
    """A row for each exercise: right, wrong, not run, not started, and the wrong ideas in our own words."""
    rows = []
    for lab, name in _exercises(found):
        ones = _of(found, lab, name)
        states: Counter[str] = Counter(one.state for one in ones)
        ideas = Counter(one.idea for one in ones if one.idea)
        most = sorted(ideas.items(), key=lambda it: (-it[1], it[0]))[:IDEAS]
        told = "\n".join(f"{count} × {sentence(key)}" for key, count in most)
        rows.append((f"{BY_NAME[lab].id} {name}", *(states[state] for state in STATES), told))
    return pd.DataFrame(rows, columns=[say("class_exercise"), *(say(key) for key in STATES.values()), say("class_ideas")])


def student_table(found: Sequence[Finding], ids: Sequence[str]) -> pd.DataFrame:
    """A row for each student, a column for each lab: its state, and points of the most points."""
    labs = _labs(found)
    by = {(one.id, one.lab): one for one in found}
    rows = [[_cell(by.get((id, lab))) for lab in labs] for id in ids]
    return pd.DataFrame(rows, index=list(ids), columns=[BY_NAME[lab].id for lab in labs])


def report_table(handed: Sequence[Handed]) -> pd.DataFrame:
    """A row for each lab with reports: how many, events of the middle one, requests that rebuild, checks passed, faults."""
    rows = []
    for lab in [lab.name for lab in LABS if any(one.lab == lab.name for one in handed)]:
        ones = [one for one in handed if one.lab == lab]
        rows.append((_title(lab), len(ones), round(median(one.events for one in ones)),
                     f"{sum(one.rebuilt for one in ones)} / {sum(one.requests for one in ones)}",
                     f"{sum(one.passed for one in ones)} / {sum(one.checks for one in ones)}", sum(one.faults for one in ones)))
    columns = ("class_lab", "class_reports", "class_events", "class_rebuilt", "class_passed", "class_faults")
    return pd.DataFrame(rows, columns=[say(key) for key in columns])


def sentence(key: str) -> str:
    """The sentence *key* with its gaps left open: what stands in them is the student's.

    >>> with speaking("en"):
    ...     sentence("guess_other")
    'You predicted …; it is ….'
    """
    return re.sub(r"\{[^}]*\}", "…", vocabulary()[key][spoken()]).replace("**", "")


def plot(found: Sequence[Finding]) -> str:
    """Each exercise as a bar of states, the worst first, as SVG; its figures are those of `exercise_table`."""
    def share(at: tuple[str, str]) -> float:
        ones = _of(found, *at)
        return sum(one.state == "right" for one in ones) / len(ones)

    rows, y = "", 0
    bars = sorted(_exercises(found), key=share)
    for lab, name in bars:
        states: Counter[str] = Counter(one.state for one in _of(found, lab, name))
        x = float(LEFT)
        rows += f'<text x="{LEFT - 12}" y="{y + 17}" text-anchor="end">{esc(f"{BY_NAME[lab].id} {name}")}</text>'
        for state in STATES:
            wide = BAR * states[state] / sum(states.values())
            rows += f'<rect x="{x:.1f}" y="{y + 3}" width="{wide:.1f}" height="{ROW - 6}" fill="var(--{state})"></rect>'
            x += wide
        rows += f'<text x="{LEFT + BAR + 10}" y="{y + 17}">{states["right"]} / {sum(states.values())}</text>'
        y += ROW
    legend = "".join(f'<rect x="{LEFT + 110 * at}" y="{y + 12}" width="12" height="12" fill="var(--{state})"></rect>'
                  f'<text x="{LEFT + 110 * at + 18}" y="{y + 23}">{esc(say(key))}</text>'
                  for at, (state, key) in enumerate(STATES.items()))
    return (f'<svg viewBox="0 0 {LEFT + BAR + GAP} {y + 32}" width="{LEFT + BAR + GAP}" role="img" '
            f'aria-label="{esc(say("class_plot"))}">{rows}{legend}</svg>')


def class_page(found: Sequence[Finding], ids: Sequence[str], handed: Sequence[Handed] = ()) -> str:
    """The page, for the students *ids*: its tables and its plot, in one file that asks nobody for anything."""
    stuck = sum(one.state != "right" for finding in found for one in finding.exercises)
    said = say("class_said", labs=len(_labs(found)), n=len({one.id for one in found}), all=len(ids), stuck=stuck)
    legend = " · ".join(f"{mark} {say(LAB_STATES[state])}" for state, mark in MARKS.items())
    parts = [f"<h1>{esc(say('class_title'))}</h1>",
             f"<p>{esc(said)}</p>",
             f"<h2>{esc(say('class_h_labs'))}</h2>", _html(lab_table(found, len(ids)), index=False),
             f'<p class="quiet">{esc(say("class_minutes_note"))}</p>',
             f"<h2>{esc(say('class_h_exercises'))}</h2>", plot(found), _html(exercise_table(found), index=False),
             f"<h2>{esc(say('class_h_students'))}</h2>", _html(student_table(found, ids), index=True),
             f'<p class="quiet">{esc(legend)}</p>']
    if handed:
        parts += [f"<h2>{esc(say('class_h_reports'))}</h2>", _html(report_table(handed), index=False)]
    body = "\n".join(parts)
    return (f'<!doctype html>\n<html lang="{spoken()}"><head><meta charset="utf-8"><meta name="viewport" '
            f'content="width=device-width"><title>{esc(say("class_title"))}</title><style>{STYLE}</style></head>\n'
            f"<body>\n{body}\n</body></html>\n")


def write_page(course: Course, found: Sequence[Finding], handed: Sequence[Handed] = ()) -> None:
    """Save class.html, and class.csv with a row for each exercise of each student, in the language of *course*.

    With a roster, nobody else is in them.
    """
    ids = list(course.roster()) or sorted({one.id for one in found})
    found, handed = [one for one in found if one.id in ids], [one for one in handed if one.id in ids]
    with speaking(course.lang):
        (course.folder / "class.html").write_text(class_page(found, ids, handed), "utf-8", newline="\n")
    rows = [(one.id, one.lab, one.state, one.minutes, each.name, each.state, each.idea, each.points, each.most)
            for one in found for each in one.exercises or (Exercise("", 0, 0, "not_started", ""),)]
    columns = ["student", "lab", "state", "minutes", "exercise", "result", "idea", "points", "most"]
    pd.DataFrame(rows, columns=columns).astype({"minutes": "Int64"}).to_csv(course.folder / "class.csv", index=False)


def _labs(found: Sequence[Finding]) -> list[str]:
    return [lab.name for lab in LABS if any(one.lab == lab.name for one in found)]


def _exercises(found: Sequence[Finding]) -> list[tuple[str, str]]:
    return list(dict.fromkeys((one.lab, each.name) for one in found for each in one.exercises))


def _of(found: Sequence[Finding], lab: str, name: str) -> list[Exercise]:
    return [each for one in found if one.lab == lab for each in one.exercises if each.name == name]


def _title(lab: str) -> str:
    return f"{BY_NAME[lab].id} {BY_NAME[lab].title}"


def _cell(one: Finding | None) -> str:
    if one is None:
        return "–"
    most = sum(each.most for each in one.exercises)
    return MARKS[one.state] + (f" {sum(each.points for each in one.exercises):g}/{most:g}" if most else "")


def _html(table: pd.DataFrame, index: bool) -> str:
    with pd.option_context("display.max_colwidth", None):
        told = table.to_html(index=index, border=0, escape=True).replace(r"\n", "\n")  # which pandas writes out
        return f'<div class="wide">{told}</div>'
