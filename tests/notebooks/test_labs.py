"""What a lab must have before it is done, as far as a machine can tell. The functions say what is missing."""
import re

import build
import pytest

from labsupport.workbench.labs import LABS
from tests.notebooks.books import LABS_WITH_EXERCISES, NAMES, NO_EXERCISE, code, prose, read

MINUTES = {lab.name: lab.minutes for lab in LABS}
WORDS = {"zh": {"minutes": "{} 分钟", "can": "你能", "hint": "提示", "answer": "答案"},
         "en": {"minutes": "{} minutes", "can": "you can", "hint": "Hint", "answer": "Answer"}}
LONGEST, SHORT, WIDEST = 15, 4, 92  # lines of a cell, lines of a short one, characters that a page of 1280 pixels shows


def opening(nb, lang, minutes):
    """The first prose cell: one title, the minutes of the list of labs, three things that the learner can do afterwards."""
    text, words = nb.cells[1].source, WORDS[lang]
    bullets = len(re.findall(r"(?m)^[-*] ", text))
    return ([] if re.match(r"# \S", text) else ["it does not begin with its title"]) + (
        [] if words["minutes"].format(minutes) in text else [f"its opening does not say {minutes} minutes"]) + (
        [] if words["can"] in text.lower() and bullets == 3 else [f"its opening has {bullets} objectives, not three"])


def moves(nb):
    """Prediction, failure, explorer with the cell that moves it, and cells that a beginner reads in one look."""
    cells, found = code(nb), []
    if not any(re.search(r"(?m)^guess\w* = None$", cell.source) for cell in cells):
        found.append("it asks for no prediction (guess = None)")
    if not any("raises-exception" in cell.metadata.get("tags", ()) for cell in cells):
        found.append("it breaks nothing (a cell tagged raises-exception)")
    lines = [len(cell.source.splitlines()) for cell in cells]
    found += [f"{cell.id} has more than {LONGEST} lines" for cell, count in zip(cells, lines, strict=True) if count > LONGEST]
    found += [f"{cell.id} has a line of more than {WIDEST} characters" for cell in cells
              if any(len(line) > WIDEST for line in cell.source.splitlines())]
    if 2 * sum(count <= SHORT for count in lines) <= len(lines):
        found.append(f"most of its cells have more than {SHORT} lines")
    found += [f"{cell.id} defines a class" for cell in cells if re.search(r"(?m)^class ", cell.source)]
    return found


def unmoved(nb):
    """Explorers that no later cell moves by code and shows again, read back from the widget."""
    cells, found = code(nb), []
    for place, cell in enumerate(cells):
        shown = cell.source.strip().splitlines()[-1]
        if re.fullmatch(r"\w*explorer", shown):
            rest = [later.source.strip() for later in cells[place + 1:]]
            if not any(re.search(rf"(?m)^{shown}\.\w+\.value = ", text) and text.endswith(f"{shown}.still") for text in rest):
                found.append(f"{cell.id} shows {shown}, and no later cell moves it and ends with {shown}.still")
    return found


def exercises(nb, lang):
    """Exercises: a stub, a check cell of the same key, a folded hint and a folded answer for each."""
    cells = {cell.id: cell for cell in code(nb)}
    stubs = [key for key, cell in cells.items() if cell.metadata.get("nbgrader", {}).get("solution")]
    found = [] if stubs else ["it has no exercise"]
    for key in stubs:
        check = cells.get(f"{key}-check")
        if check is None or not check.metadata.get("nbgrader", {}).get("points") or "verdict = " not in check.source:
            found.append(f"{key} has no cell {key}-check with points and a verdict")
    folded = re.findall(r"<details>\s*<summary>(.*?)</summary>", prose(nb))
    for word in ("hint", "answer"):
        count = sum(WORDS[lang][word].lower() in title.lower() for title in folded)
        if count < len(stubs):
            found.append(f"it folds {count} {word}s for {len(stubs)} exercises")
    return found


BOTH = pytest.mark.parametrize(("lang", "name"), [(lang, name) for lang in build.LANGUAGES for name in NAMES])


@BOTH
def test_it_opens_with_question_minutes_and_objectives(lang, name):
    assert opening(read(lang, name), lang, MINUTES[name]) == []


@BOTH
def test_it_predicts_breaks_and_stays_short(lang, name):
    assert moves(read(lang, name)) == []


@BOTH
def test_every_explorer_is_moved_and_shown_again(lang, name):
    assert unmoved(read(lang, name)) == []


@pytest.mark.parametrize("lang", build.LANGUAGES)
@pytest.mark.parametrize("name", LABS_WITH_EXERCISES)
def test_it_has_exercises_with_checks_hints_and_answers(lang, name):
    assert exercises(read(lang, name), lang) == []


def test_the_exempt_labs_exist():
    assert set(NO_EXERCISE) <= set(NAMES)


def spoilt(change):
    nb = read("en", "00_start_here")
    change({cell.id: cell for cell in nb.cells})
    return nb


@pytest.mark.parametrize(("change", "check", "sentence"), [
    (lambda c: c["question"].update(source="# Start\n\nten minutes\n- one"), lambda nb: opening(nb, "en", 10), "not say 10"),
    (lambda c: c["question"].update(source="# S\n10 minutes, you can\n- a"), lambda nb: opening(nb, "en", 10), "1 objectives"),
    (lambda c: c["guess"].update(source="guess = 2"), moves, "no prediction"),
    (lambda c: c["break-it"].metadata.update(tags=[]), moves, "breaks nothing"),
    (lambda c: c["tiny"].update(source="x = 1\n" * 16), moves, "more than 15 lines"),
    (lambda c: c["tiny"].update(source="x = 1  #" + "-" * 92), moves, "tiny has a line of more than 92 characters"),
    (lambda c: c["tiny"].update(source="class A:\n    x = 1"), moves, "defines a class"),
    (lambda c: c["slider-moved"].update(source="explorer.n.value = 7"), unmoved, "no later cell moves it"),
    (lambda c: c["slider-moved"].update(source="explorer.still"), unmoved, "no later cell moves it"),
    (lambda c: None, lambda nb: exercises(nb, "en"), "no exercise"),
    (lambda c: c["tiny"].metadata.update(nbgrader={"solution": True}), lambda nb: exercises(nb, "en"), "no cell tiny-check"),
    (lambda c: (c["tiny"].metadata.update(nbgrader={"solution": True}), c["repair"].update(source="")),
     lambda nb: exercises(nb, "en"), "folds 0 hints"),
], ids=lambda value: value if isinstance(value, str) else "")
def test_what_is_missing_is_found(change, check, sentence):
    assert any(sentence in found for found in check(spoilt(change)))
