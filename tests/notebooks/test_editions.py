"""The solved edition, the same bytes again, and what nbval itself must notice: these start kernels."""
import os
import shutil
import subprocess
import sys

import build
import nbformat
import pytest

from labsupport.workbench.checks.base import correct
from labsupport.workbench.text import speaking
from tests.notebooks.books import NAMES, code

ROOT = build.HERE.parent
LAB = "00_start_here"
pytestmark = pytest.mark.slow


def run(*arguments, cwd=ROOT, **environment):
    return subprocess.run([sys.executable, *map(str, arguments)], check=False, cwd=cwd, env=os.environ | environment,
                          capture_output=True, text=True, encoding="utf-8", timeout=600)


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    out = tmp_path_factory.mktemp("solved")
    result = run(build.HERE / "build.py", "--solved", out)
    assert result.returncode == 0, result.stdout + result.stderr
    return out


@pytest.mark.parametrize("lang", build.LANGUAGES)
@pytest.mark.parametrize("name", NAMES)
def test_the_solved_edition_passes_its_hidden_tests(solved, lang, name):
    """A hidden test that fails stops the build of the notebook; every check must have said "correct"."""
    with speaking(lang):
        word = str(correct())
    checks = [cell for cell in code(nbformat.read(solved / lang / f"{name}.ipynb", as_version=4))
              if cell.metadata.get("nbgrader", {}).get("grade")]
    assert all("BEGIN HIDDEN TESTS" in cell.source for cell in checks)
    assert [cell.outputs[0].text.strip() for cell in checks] == [word] * len(checks)


def test_a_rebuild_gives_the_same_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "HERE", tmp_path)
    assert build.main([LAB]) == 0
    for lang in build.LANGUAGES:
        assert (tmp_path / lang / f"{LAB}.ipynb").read_bytes() == (ROOT / "notebooks" / lang / f"{LAB}.ipynb").read_bytes()


@pytest.mark.parametrize(("file", "old", "new", "cells"), [
    pytest.param("labsupport/workbench/labs.py", "", "", set(), id="nothing"),
    pytest.param("labsupport/workbench/labs.py", '"34", "miniagent/agent.py", 30', '"34", "miniagent/agent.py", 15',
                 {"map-picture"}, id="a figure in the picture"),
    pytest.param("labsupport/workbench/pictures/explorers.css", "#0b5a9e", "#0b5a9f",
                 {"slider-explorer", "slider-moved", "map-picture"}, id="a colour"),
    pytest.param("labsupport/workbench/show.py", 'control.observe(self._show, names="value")', "pass",
                 {"slider-moved"}, id="a slider nobody observes"),
    pytest.param("labsupport/workbench/text/common.py", "还没有开始", "未开始", {"verdicts"}, id="a word in zh"),
    pytest.param("notebooks/zh/.lang", "zh", "en",
                 {"self-test", "slider-explorer", "slider-moved", "map-picture", "kept", "verdicts"}, id="the language"),
])
def test_nbval_notices(tmp_path, file, old, new, cells):
    shutil.copytree(ROOT / "labsupport", tmp_path / "labsupport", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("constraints.txt", "requirements.txt"):
        shutil.copy(ROOT / name, tmp_path / name)
    book = tmp_path / "notebooks" / "zh" / f"{LAB}.ipynb"
    book.parent.mkdir(parents=True)
    shutil.copy(ROOT / "notebooks" / "zh" / f"{LAB}.ipynb", book)
    (book.parent / ".lang").write_text("zh\n", "utf-8")
    text = (tmp_path / file).read_text("utf-8")
    assert old in text
    (tmp_path / file).write_text(text.replace(old, new), "utf-8")
    result = run("-m", "pytest", "-q", "--nbval", "--nbval-current-env", "-p", "no:cacheprovider", "-c", os.devnull,
                 "--rootdir", tmp_path, book, cwd=tmp_path, PYTHONPATH=str(tmp_path))
    keys = [cell.id for cell in code(nbformat.read(book, as_version=4))]
    failed = {keys[int(line.split("Cell ")[1].split()[0])] for line in result.stdout.splitlines() if line.startswith("FAILED")}
    assert failed == cells, result.stdout[-3000:]
    assert result.returncode == bool(cells)
