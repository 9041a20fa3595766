"""Lab B4 in a real browser: the keyboard moves the cut, the picture follows, and nothing else moves."""
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import Lab
from tests.browser.test_a2 import overflowing

pytestmark = [pytest.mark.browser, pytest.mark.slow]
WORDS = {"en": {"not_started": "c1 not started", "unknown": "c1 outcome unknown", "torn": "torn", "whole": "All 27 lines",
                "header": "Error: the file ends inside its header"},
         "zh": {"not_started": "c1 未开始", "unknown": "c1 结局未知", "torn": "残尾", "whole": "27 行都在",
                "header": "错误：文件在会话头里就断了"}}


def open_lab(lab: Callable[..., Lab], lang: str, theme: str) -> tuple[Lab, Locator]:
    """The lab after Run All on a laptop's screen, and the output of its explorer, where the cell after it has moved the cut."""
    it = lab(f"notebooks/{lang}/b4_truncate_and_recover.ipynb", theme=theme, lang=lang, size=(1280, 800))
    it.run_all()
    output = it.cell_with("explorer = truncation_explorer").locator(".jp-OutputArea-output").first
    output.scroll_into_view_if_needed()
    return it, output


@pytest.mark.parametrize(("lang", "theme"), [("en", "JupyterLab Light")])
def test_the_keyboard_moves_the_cut(lab: Callable[..., Lab], lang: str, theme: str) -> None:
    it, output = open_lab(lab, lang, theme)
    words, sentence, closers = WORDS[lang], output.locator(".xp-say"), output.locator("td[style*=dashed]")
    lines, part = (output.locator(".noUi-handle").nth(place) for place in (0, 1))
    expect(sentence).to_contain_text(words["not_started"])  # all but the line break of the tool/call
    expect(output.locator("tr.is-now")).to_contain_text("assistant/message")
    expect(closers).to_have_count(4)
    height = output.evaluate("node => node.getBoundingClientRect().height")
    assert height < 640  # what a laptop leaves of its screen to a notebook
    assert [text for text in overflowing(output) if "…" not in text and text not in ("c2 sum_column", "The reminder…")] == []

    lines.focus()
    it.page.keyboard.press("ArrowRight")  # the whole line
    expect(sentence).to_contain_text(words["unknown"])
    expect(output.locator("tr.is-now")).to_contain_text("tool/call")
    expect(output.locator(".is-claim")).to_contain_text("TOOL_OUTCOME_UNKNOWN")
    part.focus()
    it.page.keyboard.press("PageUp")
    expect(output.locator("tr.is-off").first).to_contain_text(words["torn"])
    expect(output.locator(".widget-readout").first).to_have_text("15")

    lines.focus()
    it.page.keyboard.press("Home")
    expect(output.locator("[role=alert]")).to_contain_text(words["header"])
    expect(closers).to_have_count(0)
    it.page.keyboard.press("End")
    expect(sentence).to_contain_text(words["whole"])
    expect(output.locator("tr.is-off")).to_have_count(0)
    assert output.evaluate("node => node.getBoundingClientRect().height") == height


def test_the_lab_runs_to_its_end_and_shows_the_second_mail(lab: Callable[..., Lab]) -> None:
    it, _ = open_lab(lab, "en", "JupyterLab Light")
    expect(it.cell_with("print(retry_not_started(")).to_contain_text("['c1', 'c2'] 2")
    expect(it.cell_with("verdict = check_decide")).to_contain_text("Not started")
