"""A student's whole way through a lab, typed and clicked: from the map to a correct answer, saved."""
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple

import nbformat
import pytest
from playwright.sync_api import Locator, expect

from labsupport.classroom.findings import minutes_of
from labsupport.workbench.labs import LABS
from labsupport.workbench.text import Language, speaking
from tests.browser.conftest import Lab, Server
from tests.notebooks.test_answers import cells_of, verdict, wrong_answers

pytestmark = [pytest.mark.browser, pytest.mark.slow]
START, MAP, VIEW = "00_start_here", "map-picture", "application/vnd.jupyter.widget-view+json"
HINT, ANSWER = {"zh": "提示", "en": "Hint"}, {"zh": "答案", "en": "Answer"}
PANEL = ".jp-NotebookPanel:not(.lm-mod-hidden)"
CORRECT = {"zh": "✓ 正确。", "en": "✓ Correct."}


class Move(NamedTuple):
    """A *key* for the first slider, pressed *times* times; the words that the sentence then has, and the rows struck out."""

    key: str
    times: int
    words: dict[str, str]
    off: int


class Way(NamedTuple):
    """What a student does in a lab: a *guess*, for which the cell *compared* has *words*; *moves* of the slider; an *exercise*,
    answered *wrong* first.
    """

    guess: str
    compared: str
    words: dict[str, str]
    moves: tuple[Move, ...]
    exercise: str
    wrong: str


WAYS = {
    "A2": Way("4", "kept", {"zh": "你预测的是 4，结果是 3。", "en": "You predicted 4; it is 3."}, (
        Move("End", 1, {"zh": "预算 2,200 个字符，保留 11 个单元中的 11 个",
                        "en": "A budget of 2,200 characters keeps 11 of 11 units"}, 0),
        Move("ArrowLeft", 12, {"zh": "预算 2,080 个字符，保留 11 个单元中的 10 个",
                               "en": "A budget of 2,080 characters keeps 10 of 11 units"}, 1),
        Move("Home", 1, {"zh": "错误：预算连最新的单元都装不下", "en": "Error: the budget cannot hold even the newest"}, 16),
    ), "law-orphans", "a2_law_later"),
    "B4": Way("4", "cut-inspect", {"zh": "你预测对了：4。", "en": "As you predicted: 4."}, (
        Move("End", 1, {"zh": "27 行都在", "en": "All 27 lines are there"}, 0),
        Move("ArrowLeft", 2, {"zh": "文件停在第 25 行末尾", "en": "The file ends after line 25"}, 2),
        Move("Home", 1, {"zh": "错误：文件在会话头里就断了", "en": "Error: the file ends inside its header"}, 18),
        Move("ArrowRight", 15, {"zh": "c1 结局未知", "en": "c1 outcome unknown"}, 9),
    ), "decide", "b4_wrong_twice"),
}


@dataclass
class Student:
    """Somebody at the lab that *it* shows, whose cells have these *ids*."""

    it: Lab
    ids: list[str]

    def cell(self, id: str) -> Locator:
        return self.it.cells.nth(self.ids.index(id))

    def press(self, *keys: str) -> None:
        for key in keys:
            self.it.page.keyboard.press(key)

    def run_until(self, id: str) -> None:
        """Press Shift+Enter until the cell *id* is the next to run, and wait for what was run."""
        cells, active = self.it.cells, "cells => cells.findIndex(cell => cell.classList.contains('jp-mod-active'))"
        while (at := cells.evaluate_all(active)) < self.ids.index(id):
            self.press("Shift+Enter")
            expect(cells.nth(at + 1)).to_have_class(re.compile(r"\bjp-mod-active\b"))
            if cells.nth(at).locator(".jp-InputPrompt").inner_text() == "[ ]:":  # the kernel was still connecting
                self.press("ArrowUp")
        expect(cells.locator(".jp-InputPrompt", has_text="[*]")).to_have_count(0, timeout=120_000)

    def select(self, id: str) -> None:
        """Click beside the cell, so that it is the next to run."""
        self.cell(id).locator(".jp-InputPrompt").click()
        expect(self.cell(id)).to_have_class(re.compile(r"\bjp-mod-active\b"))

    def write(self, id: str, code: str) -> None:
        """Click into the cell, and put *code* in place of all that it holds."""
        editor = self.cell(id).locator(".cm-content")
        editor.click()
        expect(editor).to_be_focused()
        self.press("ControlOrMeta+a")
        self.it.page.keyboard.insert_text(code)
        expect(editor.locator(".cm-line")).to_have_text(code.splitlines())

    def unfold(self, summary: str) -> Locator:
        """Open what is folded under *summary*, by a click."""
        folded = self.it.cells.locator("details").filter(has=self.it.page.get_by_text(summary, exact=True))
        expect(folded.locator("p").first).to_be_hidden()
        folded.locator("summary").click()
        expect(folded.locator("p").first).to_be_visible()
        return folded


@pytest.fixture(autouse=True)
def patience() -> Iterator[None]:
    """What is expected here comes from a kernel, by way of a server, and a busy machine takes its time."""
    expect.set_options(timeout=30_000)
    yield
    expect.set_options(timeout=None)


def copied(server: Server) -> Path:
    """A student's own folder with the notebooks, below the *server*'s: what is saved there is in nobody else's way."""
    home = Path(mkdtemp(prefix="student ", dir=server.root))
    shutil.copytree(server.root / "notebooks", home / "notebooks")
    return home


@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("lab_id", WAYS)
def test_from_the_map_to_the_saved_answer(lab: Callable[..., Lab], lab_server: Server, lab_id: str, lang: Language) -> None:
    way, name = WAYS[lab_id], next(one.name for one in LABS if one.id == lab_id)
    folder = copied(lab_server) / "notebooks" / lang
    ids = {path: [cell.id for cell in nbformat.read(folder / f"{path}.ipynb", 4).cells] for path in (START, name)}
    wrong = next(source.strip() for source, sentence in wrong_answers(name)[way.exercise] if sentence == way.wrong)
    right = re.sub("(?m)^ *### .*\n?", "", cells_of(name, "solved")[way.exercise].source).strip()

    it = lab((folder / f"{START}.ipynb").relative_to(lab_server.root).as_posix(), lang=lang)
    it.cells.nth(ids[START].index(MAP)).get_by_role("link", name=lab_id, exact=True).last.click()
    expect(it.page.locator(".lm-TabBar-tab.jp-mod-current", has_text=f"{name}.ipynb")).to_be_visible(timeout=60_000)
    expect(it.cells).to_have_count(len(ids[name]), timeout=60_000)
    student = Student(it, ids[name])
    it.page.locator(f"{PANEL} .jp-Notebook-ExecutionIndicator[data-status=idle]").wait_for(state="attached", timeout=120_000)
    it.cells.locator("h1").click()

    student.run_until("guess")
    student.press("Enter", "ControlOrMeta+End", *["Backspace"] * len("None"))
    it.page.keyboard.type(way.guess)
    student.run_until(ids[name][ids[name].index(way.compared) + 1])
    expect(student.cell(way.compared)).to_contain_text(way.words[lang])

    after = ids[name][ids[name].index("explorer") + 1]
    student.run_until(after)
    explorer = student.cell("explorer").locator(".jupyter-widgets").first
    handle = explorer.locator(".noUi-handle").first
    handle.click()
    expect(handle).to_be_focused()
    for move in way.moves:
        student.press(*[move.key] * move.times)
        expect(explorer.locator(".xp-say")).to_contain_text(move.words[lang])
        expect(explorer.locator("tr.is-off")).to_have_count(move.off)
    student.select(after)

    check, key = f"{way.exercise}-check", ids[name].index(way.exercise)
    student.run_until(way.exercise)
    student.write(way.exercise, wrong)
    student.run_until(ids[name][key + 2])
    with speaking(lang):
        expect(student.cell(check)).to_contain_text(str(verdict(name, way.exercise, wrong)))
    student.unfold(HINT[lang])
    student.write(way.exercise, right)
    student.run_until(ids[name][key + 2])
    said = student.cell(check).locator(".jp-OutputArea-output")
    expect(said).to_have_text(CORRECT[lang])
    expect(student.unfold(ANSWER[lang]).locator("pre")).to_have_text(right)

    student.press("ControlOrMeta+s")
    expect(it.page.locator(".lm-TabBar-tab.jp-mod-current.jp-mod-dirty")).to_have_count(0, timeout=30_000)
    saved = {cell.id: cell for cell in nbformat.read(folder / f"{name}.ipynb", 4).cells}
    assert saved["guess"].source == f"guess = {way.guess}"
    assert saved[way.exercise].source == right
    assert [output.text for output in saved[check].outputs] == [f"{CORRECT[lang]}\n"]
    assert minutes_of(saved.values()) is not None  # JupyterLab noted when each cell ran
    assert VIEW not in (folder / f"{name}.ipynb").read_text("utf-8")
