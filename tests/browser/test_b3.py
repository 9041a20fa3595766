"""Lab B3 in a real browser: the keyboard moves the watermark, all views follow it, and nothing jumps."""
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Lab
from tests.browser.test_a2 import overflowing

pytestmark = [pytest.mark.browser, pytest.mark.slow]
WORDS = {"en": {"changed": "◆ changed", "same": "= same object", "passed": "not read", "as_of": "as of",
                "verdict": "Not started"},
         "zh": {"changed": "◆ 变了", "same": "= 同一对象", "passed": "不读", "as_of": "截至", "verdict": "还没有开始"}}


@pytest.mark.parametrize(("lang", "theme"), [("zh", "JupyterLab Dark")])
def test_the_keyboard_moves_the_watermark(lab: Callable[..., Lab], lang: str, theme: str) -> None:
    it, words = lab(f"notebooks/{lang}/b3_pure_projections.ipynb", theme=theme, lang=lang, size=(1280, 800)), WORDS[lang]
    it.run_all()
    output = it.cell_with("explorer = watermark_explorer").locator(".jp-OutputArea-output").first
    output.scroll_into_view_if_needed()
    heads, marks = output.locator("tr.is-first"), output.locator(".xp-mk")
    expect(marks.first).to_have_text(f"{words['as_of']} 34")  # where the cell after it has moved it
    for row, key, was in ((0, "turn_status", "passed"), (1, "tool_pairing", "same"), (2, "session_stats", "same"),
                          (3, "surface_tokens", "changed")):
        expect(heads.nth(row)).to_contain_text(key)
        expect(heads.nth(row)).to_contain_text(words[was])
    height = output.evaluate("node => node.getBoundingClientRect().height")
    assert height < 678  # what a laptop leaves of its screen to a notebook
    assert [text for text in overflowing(output) if "…" not in text] == []

    handle = output.locator(".noUi-handle").first
    handle.focus()
    it.page.keyboard.press("ArrowLeft")  # compaction/prune, which no view reads
    expect(marks.first).to_have_text(f"{words['as_of']} 33")
    expect(output.locator("tr.is-now")).to_contain_text("compaction/prune")
    for row in range(4):
        expect(heads.nth(row)).to_contain_text(words["passed"])
    it.page.keyboard.press("Home")
    expect(marks.first).to_have_text(f"{words['as_of']} 0")
    expect(heads.nth(0)).to_contain_text(words["changed"])
    it.page.keyboard.press("End")
    expect(marks.first).to_have_text(f"{words['as_of']} 86")
    assert output.evaluate("node => node.getBoundingClientRect().height") == height
    expect(it.cell_with("verdict = check_pairing")).to_contain_text(words["verdict"])
