"""Lab B5 in a real browser: the keyboard moves range and tail, a range that parts a pair says so, and nothing else moves."""
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import Lab
from tests.browser.test_a2 import overflowing

pytestmark = [pytest.mark.browser, pytest.mark.slow]
WORDS = {
    "en": {"pair": "Error: range 2..52 would cut a pair: c4 is called at 50, and its result at 54 stays outside. Legal ends "
                   "nearby: 42 or 54.",
           "cut": "pair cut", "done": "Range 2..54 (12 nodes) becomes one summary, seq 77.",
           "summary": "summary 77 replaces 2..54",
           "tail": "reaches into the tail: 20 tokens asked for",
           "big": "would be forgotten: it is refused. The surface is as it was",
           "none": "No summary was asked for.", "as before": "after: as before"},
    "zh": {"pair": "错误：范围 2..52 会拆开一对：c4 由 seq 50 调用，它的结果 54 留在了外面。附近合法的终点：42 或 54。",
           "cut": "被拆开", "done": "范围 2..54（12 个节点）换成一个摘要，seq 77。", "summary": "摘要 77 替换 2..54",
           "tail": "伸进了要保留的尾部", "big": "等于忘掉这一段：拒绝。表面没变", "none": "没有去写摘要。",
           "as before": "之后：没有变化"}}


def open_lab(lab: Callable[..., Lab], lang: str, theme: str) -> tuple[Lab, Locator]:
    """The lab after Run All on a laptop's screen, and the output of its explorer, which the cell after it has moved."""
    it = lab(f"notebooks/{lang}/b5_compaction_diff.ipynb", theme=theme, lang=lang, size=(1280, 800))
    it.run_all()
    output = it.cell_with("explorer = compaction_explorer").locator(".jp-OutputArea-output").first
    output.scroll_into_view_if_needed()
    return it, output


@pytest.mark.parametrize(("lang", "theme"), [("zh", "JupyterLab Dark")])
def test_the_keyboard_moves_the_range(lab: Callable[..., Lab], lang: str, theme: str) -> None:
    it, output = open_lab(lab, lang, theme)
    words, sentence, press = WORDS[lang], output.locator(".xp-say"), it.page.keyboard.press
    start, end, retain = (output.locator(".noUi-handle").nth(place) for place in range(3))
    expect(output.locator("[role=alert]")).to_contain_text(words["pair"])
    expect(output.locator("tr", has_text=words["cut"])).to_have_count(2)
    expect(output.locator("tr.is-cutbad")).to_contain_text("52")
    expect(output.locator("th", has_text=words["as before"])).to_have_count(1)
    expect(output.get_by_role("region")).to_have_text(words["none"])
    height = output.evaluate("node => node.getBoundingClientRect().height")
    assert height < 660  # what a laptop leaves of its screen to a notebook

    end.focus()
    press("ArrowRight")
    expect(sentence).to_contain_text(words["done"])
    expect(output.locator("[role=alert]")).to_have_count(0)
    expect(output.locator("tr.is-off")).to_have_count(12)
    expect(output.locator("td.xp-sum")).to_contain_text(words["summary"])
    expect(output.get_by_role("region")).to_contain_text("op-0001")
    assert [text for text in overflowing(output) if "…" not in text] == []
    assert output.evaluate("node => node.getBoundingClientRect().height") == height
    press("End")
    expect(output.locator("[role=alert]")).to_contain_text(words["tail"])
    retain.focus()
    press("Home")
    start.focus()
    press("End")
    expect(output.locator("[role=alert]")).to_contain_text(words["big"])
    expect(output.locator("tr.is-off")).to_have_count(0)
    press("Home")
    expect(output.locator("tr.is-off")).to_have_count(15)
    expect(output.locator(".widget-readout").nth(1)).to_have_text("71")
    assert output.evaluate("node => node.getBoundingClientRect().height") == height


def test_the_lab_runs_to_its_end_and_pays_twice(lab: Callable[..., Lab]) -> None:
    it, _ = open_lab(lab, "en", "JupyterLab Light")
    expect(it.cell_with("tiny = refused.surface.nodes")).to_contain_text("CompactionError")
    expect(it.cell_with("guess_payments, len(payments")).to_contain_text("['op-0001', 'op-0002']")
    expect(it.cell_with("verdict = check_repair")).to_contain_text("Not started")
