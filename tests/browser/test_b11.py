"""Lab B11 in a real browser: the keyboard picks a case and asks place by place, and nothing jumps."""
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Lab
from tests.browser.test_a2 import overflowing

pytestmark = [pytest.mark.browser, pytest.mark.slow]
WORDS = {
    "en": {"case": "Case 24", "proven": "Proven: operation-lost", "possible": "Still possible: operation-lost, range-split",
           "healthy": "no complaint", "open": "not asked yet", "verdict": "Not started", "report": "digest of the order"},
    "zh": {"case": "病例 24", "proven": "有证据：operation-lost", "possible": "还可能：operation-lost、range-split",
           "healthy": "没有症状", "open": "还没有问", "verdict": "还没有开始", "report": "顺序摘要"}}


@pytest.mark.parametrize(("lang", "theme"), [("zh", "JupyterLab Dark")])
def test_the_keyboard_asks_place_by_place(lab: Callable[..., Lab], lang: str, theme: str) -> None:
    it, words = lab(f"notebooks/{lang}/b11_clinic.ipynb", theme=theme, lang=lang, size=(1280, 800)), WORDS[lang]
    it.run_all()
    output = it.cell_with("explorer = clinic_explorer").locator(".jp-OutputArea-output").first
    output.scroll_into_view_if_needed()
    sentence, causes, press = output.locator(".xp-say"), output.locator("table").nth(1), it.page.keyboard.press
    expect(sentence).to_contain_text(words["case"])  # where the cell after it has moved it
    expect(sentence).to_contain_text(words["proven"])
    expect(causes).to_contain_text("client-behind")
    height = output.evaluate("node => node.getBoundingClientRect().height")
    assert height < 660  # what a laptop leaves of its screen to a notebook
    assert overflowing(output) == []

    output.locator(".noUi-handle").focus()
    press("Home")
    expect(sentence).to_contain_text(words["possible"])
    expect(causes).not_to_contain_text("client-behind")  # nobody complained of it, and it was not looked for
    expect(output.locator("td", has_text=words["open"])).to_have_count(6)
    press("ArrowRight")
    press("ArrowRight")
    expect(sentence).to_contain_text(words["proven"])
    output.locator("button").nth(1).focus()  # the menu, one entry on
    press("Space")
    expect(sentence).to_contain_text(words["healthy"])
    assert overflowing(output) == []
    assert output.evaluate("node => node.getBoundingClientRect().height") == height
    expect(it.cell_with("report = lab_report")).to_contain_text(words["report"])
    expect(it.cell_with("scan_log(old.archive)")).to_contain_text("LogFormatError")
    expect(it.cell_with("verdict = check_causes")).to_contain_text(words["verdict"])
