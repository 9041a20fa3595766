"""Lab B9 in a real browser: the keyboard moves the death, and the lab runs to its end with real processes killed in it."""
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import Lab
from tests.browser.test_a2 import overflowing

pytestmark = [pytest.mark.browser, pytest.mark.slow]
WORDS = {
    "en": {"two": "2 invoices", "one": "1 invoice", "unknown": "outcome unknown", "answered": "answered",
           "no_log": "there is no log to resume", "lost": "lost"},
    "zh": {"two": "共 2 张账单", "one": "共 1 张账单", "unknown": "结局未知", "answered": "有结果",
           "no_log": "还没有日志，无从续写", "lost": "丢了"}}


def open_lab(lab: Callable[..., Lab], lang: str, theme: str) -> tuple[Lab, Locator]:
    """The lab after Run All on a laptop's screen, and the output of its explorer, which the cell after it has moved."""
    it = lab(f"notebooks/{lang}/b9_business_state.ipynb", theme=theme, lang=lang, size=(1280, 800))
    it.run_all()
    output = it.cell_with("explorer = business_explorer").locator(".jp-OutputArea-output").first
    output.scroll_into_view_if_needed()
    return it, output


@pytest.mark.parametrize(("lang", "theme"), [("zh", "JupyterLab Dark")])
def test_the_keyboard_moves_the_death(lab: Callable[..., Lab], lang: str, theme: str) -> None:
    it, output = open_lab(lab, lang, theme)
    words, answers, press = WORDS[lang], output.locator("table").nth(3), it.page.keyboard.press
    expect(answers).to_contain_text(words["two"])
    expect(answers).to_contain_text(words["answered"])
    height = output.evaluate("node => node.getBoundingClientRect().height")
    assert height < 660  # what a laptop leaves of its screen to a notebook
    assert overflowing(output) == []

    output.locator("button").first.focus()  # the menu of keys, one entry back
    press("Space")
    expect(answers).to_contain_text(words["one"])
    output.locator(".noUi-handle").focus()
    for _ in range(14):
        press("ArrowLeft")
    expect(answers).to_contain_text(words["unknown"])
    assert overflowing(output) == []
    press("Home")
    expect(answers).to_contain_text(words["no_log"])
    expect(output.locator("table").first).to_contain_text(words["lost"])
    assert output.evaluate("node => node.getBoundingClientRect().height") == height


def test_the_lab_runs_to_its_end_and_two_invoices_become_one(lab: Callable[..., Lab]) -> None:
    it, _ = open_lab(lab, "en", "JupyterLab Light")
    expect(it.cell_with("compare(guess, len(")).to_contain_text("it is 2")
    expect(it.cell_with("approve(changed, yes")).to_contain_text("QueryStateError")
    expect(it.cell_with("tries(with_key=with_key)")).to_contain_text("True 80 True {0} 0")
    expect(it.cell_with("verdict = check_send")).to_contain_text("Not started")
