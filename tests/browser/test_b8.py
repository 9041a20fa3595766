"""Lab B8 in a real browser: the keyboard moves the boundary, an illegal one says why, and nothing else moves."""
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import Lab
from tests.browser.test_a2 import overflowing

pytestmark = [pytest.mark.browser, pytest.mark.slow]
WORDS = {
    "en": {
        "inside": "Error: seq 33 (tool/call) lies inside turn 2; there is no fork here: the result of c2 would stand in the "
                  "parent alone. The last legal boundary is seq 23.",
        "first": "There is no legal boundary before it", "none": "there is no child", "stale": "stale"},
    "zh": {
        "inside": "错误：seq 33（tool/call）在第 2 轮的中间，这里不能分叉：c2 的结果只会出现在父会话里。"
                  "最近的合法边界是 seq 23。",
        "first": "前面没有合法的边界", "none": "没有子会话", "stale": "作废"}}


def open_lab(lab: Callable[..., Lab], lang: str, theme: str) -> tuple[Lab, Locator]:
    """The lab after Run All on a laptop's screen, and the output of its explorer, which the cell after it has moved."""
    it = lab(f"notebooks/{lang}/b8_fork_resume_replay.ipynb", theme=theme, lang=lang, size=(1280, 800))
    it.run_all()
    output = it.cell_with("explorer = fork_explorer").locator(".jp-OutputArea-output").first
    output.scroll_into_view_if_needed()
    return it, output


@pytest.mark.parametrize(("lang", "theme"), [("en", "JupyterLab Light")])
def test_the_keyboard_moves_the_boundary(lab: Callable[..., Lab], lang: str, theme: str) -> None:
    it, output = open_lab(lab, lang, theme)
    words, sentence, headers = WORDS[lang], output.locator(".xp-say"), output.locator("table").nth(1)
    handle, press = output.locator(".noUi-handle"), it.page.keyboard.press
    expect(output.locator("[role=alert]")).to_have_text(words["inside"])
    expect(output.locator("tr.is-cutbad")).to_contain_text("tool/call")
    expect(output.locator("h4", has_text=words["none"])).to_have_count(3)
    height = output.evaluate("node => node.getBoundingClientRect().height")
    assert height < 660  # what a laptop leaves of its screen to a notebook

    handle.focus()
    for _ in range(14):
        press("ArrowRight")
    expect(output.locator("tr.is-now")).to_contain_text("compaction/start")
    expect(output.locator("[role=alert]")).to_have_count(0)
    expect(sentence).to_contain_text(words["stale"])
    expect(headers).to_contain_text("reminder-fork-48")
    cut = ("Please", "2025")  # what messages say may be cut, no label
    assert [text for text in overflowing(output) if "…" not in text and not text.startswith(cut)] == []
    press("End")
    expect(headers).to_contain_text("reminder-fork-63")
    expect(output.locator("tr.is-off")).to_have_count(0)
    press("Home")
    expect(sentence).to_contain_text(words["first"])
    expect(output.locator("tr.is-off").first).to_contain_text("step/start")
    assert output.evaluate("node => node.getBoundingClientRect().height") == height


def test_the_lab_runs_to_its_end_and_no_mail_goes_out_by_replay(lab: Callable[..., Lab]) -> None:
    it, _ = open_lab(lab, "en", "JupyterLab Light")
    expect(it.cell_with("again = [replay(live.events)")).to_contain_text("0 1")
    expect(it.cell_with("fork(parent, call)")).to_contain_text("ForkError")
    expect(it.cell_with("verdict = check_boundaries")).to_contain_text("Not started")
