"""The exercises, answered: the answer is correct, the stub is not started, recorded wrong answers get a sentence of their own.

A file tests/answers/LAB.py holds WRONG: key of the exercise cell → [(source of the whole cell, key of the sentence), …].
A check is self-contained: it needs the imports of the lab and the exercise cell, nothing else.
"""
import ast
import importlib.util
import linecache
from functools import cache
from pathlib import Path

import build
import pytest

from labsupport.workbench.text import speaking, vocabulary
from tests.notebooks.books import LABS_WITH_EXERCISES

ANSWERS = Path(__file__).resolve().parents[1] / "answers"


def wrong_answers(name):
    spec = importlib.util.spec_from_file_location(f"answers_{name}", ANSWERS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.WRONG


def cells_of(name, edition):
    return _cells(build.SOURCES / f"{name}.py", edition)


@cache  # reading a source takes longer than most checks
def _cells(source, edition):
    return {cell.id: cell for cell in build.notebook(source, "en", edition).cells if cell.cell_type == "code"}


def exercises_of(name):
    return [key for key, cell in cells_of(name, "solved").items() if cell.metadata.get("nbgrader", {}).get("solution")]


def imports(cells):
    """Only the import lines of the lab, wherever they stand."""
    tree = ast.Module([], [])
    for cell in cells.values():
        tree.body += [node for node in ast.parse(cell.source).body if isinstance(node, ast.Import | ast.ImportFrom)]
    return compile(tree, "imports", "exec")


def verdict(name, key, source):
    """What the lab's own check cell says to *source* as the exercise cell *key*."""
    cells, namespace = cells_of(name, "learner"), {}
    exec(imports(cells), namespace)
    linecache.cache[f"{name}/{key}"] = (len(source), None, source.splitlines(True), f"{name}/{key}")  # as a notebook keeps it
    exec(compile(source, f"{name}/{key}", "exec"), namespace)
    exec(compile(cells[f"{key}-check"].source, f"{name}/{key}-check", "exec"), namespace)
    return namespace["verdict"]


@pytest.mark.parametrize("lang", build.LANGUAGES)
@pytest.mark.parametrize("name", LABS_WITH_EXERCISES)
def test_the_answer_is_correct_and_the_stub_is_not_started(name, lang):
    with speaking(lang):
        for key in exercises_of(name):
            right = verdict(name, key, cells_of(name, "solved")[key].source)
            assert (right.correct, right.key) == (True, "check_correct"), f"{key}: {right}"
            stub = verdict(name, key, cells_of(name, "learner")[key].source)
            assert (stub.correct, stub.key) == (False, "check_not_started"), f"{key}: {stub}"


@pytest.mark.parametrize("name", LABS_WITH_EXERCISES)
def test_every_exercise_has_three_recorded_wrong_answers(name):
    recorded = wrong_answers(name)
    assert set(recorded) == set(exercises_of(name))
    for key, answers in recorded.items():
        assert len(answers) >= 3, key
        assert len({source for source, _ in answers}) == len({sentence for _, sentence in answers}) == len(answers), key


@pytest.mark.parametrize("lang", build.LANGUAGES)
@pytest.mark.parametrize("name", LABS_WITH_EXERCISES)
def test_each_wrong_answer_is_rejected_with_its_own_sentence(name, lang):
    with speaking(lang):
        for key, answers in wrong_answers(name).items():
            said = [verdict(name, key, source) for source, _ in answers]
            assert [(found.correct, found.key) for found in said] == [(False, sentence) for _, sentence in answers], (key, said)
            assert len({str(found) for found in said}) == len(said), key
            assert all(found.key in vocabulary() for found in said)


TOY = '''# %% imports
from labsupport.workbench.checks.base import attempt, correct, not_started, wrong

# %% double
def double(x):
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

# %% double-check points=1
tried = attempt(double, 3)
if tried.error:
    verdict = tried.verdict("3")
else:
    verdict = {None: not_started(), 6: correct()}.get(tried.value, wrong("guess_other", guess=tried.value, found=6))
'''
RAISES, OTHER = ("def double(x):\n    return x.y\n", "check_raised"), ("def double(x):\n    return x\n", "guess_other")


@pytest.mark.parametrize(("change", "answers", "failing"), [
    pytest.param(("", ""), [RAISES, OTHER], "three", id="only two wrong answers"),
    pytest.param(("6: correct()", "6: correct(), 3: correct()"), [RAISES, OTHER], "sentence", id="a check that lets one pass"),
    pytest.param(("None: not_started()", "None: correct()"), [RAISES, OTHER], "stub", id="a check that lets the stub pass"),
    pytest.param(("return 2 * x", "return 3 * x"), [RAISES, OTHER], "stub", id="a wrong answer key"),
    pytest.param(("", ""), [RAISES, RAISES, OTHER], "three", id="the same answer twice"),
    pytest.param(("", ""), [RAISES, OTHER], "", id="nothing"),
])
def test_a_planted_fault_is_found(tmp_path, monkeypatch, change, answers, failing):
    name = "a1_parse_and_load"
    (tmp_path / f"{name}.py").write_text(TOY.replace(*change) if change[0] else TOY, "utf-8")
    (tmp_path / "answers").mkdir()
    (tmp_path / "answers" / f"{name}.py").write_text(f"WRONG = {{'double': {answers!r}}}\n", "utf-8")
    monkeypatch.setattr(build, "SOURCES", tmp_path)
    monkeypatch.setitem(globals(), "ANSWERS", tmp_path / "answers")
    tests = {"stub": lambda: test_the_answer_is_correct_and_the_stub_is_not_started(name, "en"),
             "three": lambda: test_every_exercise_has_three_recorded_wrong_answers(name),
             "sentence": lambda: test_each_wrong_answer_is_rejected_with_its_own_sentence(name, "en")}
    if failing:
        with pytest.raises(AssertionError):
            tests[failing]()
    else:
        tests["stub"]()
        tests["sentence"]()
