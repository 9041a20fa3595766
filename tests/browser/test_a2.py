"""Lab A2 in a real browser: the keyboard moves the budget, ink and sentence follow, and nothing else moves."""
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import Lab

pytestmark = [pytest.mark.browser, pytest.mark.slow]
WORDS = {"en": {"kept": "kept", "error": "Error: the budget cannot hold", "lost": "1 result has lost its call."},
         "zh": {"kept": "保留", "error": "错误：预算连最新的单元都装不下", "lost": "1 个结果失去了调用。"}}


def open_lab(lab: Callable[..., Lab], lang: str, theme: str | None = None) -> tuple[Lab, Locator]:
    """The lab after Run All, and the output of its explorer, which the cell after it has left on `interleaved`."""
    it = lab(f"notebooks/{lang}/a2_trim_to_a_budget.ipynb", theme=theme, lang=lang)
    it.run_all()
    output = it.cell_with("explorer = budget_explorer").locator(".jp-OutputArea-output").first
    output.scroll_into_view_if_needed()
    return it, output


def overflowing(output: Locator) -> list[str]:
    """The cells and labels whose words are wider than their place, without the excerpts, which end in an ellipsis."""
    return output.evaluate("""node => [...node.querySelectorAll('td, th, .widget-label')]
        .filter(cell => !cell.querySelector('.xp-x') && getComputedStyle(cell).overflow !== 'visible')
        .filter(cell => cell.scrollWidth > cell.clientWidth + 1)
        .map(cell => cell.textContent)""")


@pytest.mark.parametrize(("lang", "theme"), [("zh", "JupyterLab Dark")])
def test_the_keyboard_moves_the_budget(lab: Callable[..., Lab], lang: str, theme: str) -> None:
    it, output = open_lab(lab, lang, theme)
    sentence, rows = output.locator(".xp-say"), output.locator("tbody tr:not(.is-off)")
    expect(sentence).to_contain_text(WORDS[lang]["lost"])  # where the cell after the explorer has moved it
    expect(output.locator("tr.is-bad")).to_have_count(1)
    height = output.evaluate("node => node.getBoundingClientRect().height")

    handle = output.locator(".widget-slider .noUi-handle, .widget-slider .ui-slider-handle").first
    handle.focus()
    it.page.keyboard.press("End")
    expect(output.locator("tr.is-off")).to_have_count(0)
    expect(rows.first).to_contain_text(WORDS[lang]["kept"])
    it.page.keyboard.press("Home")
    expect(output.locator("[role=alert]")).to_contain_text(WORDS[lang]["error"])
    expect(rows).to_have_count(0)
    for _ in range(9):
        it.page.keyboard.press("ArrowRight")
    expect(sentence.locator("strong").first).to_have_text("100")
    expect(rows).to_have_count(1)
    assert output.evaluate("node => node.getBoundingClientRect().height") == height
    assert overflowing(output) == []


def test_session_rule_and_pin_are_reached_without_a_mouse(lab: Callable[..., Lab]) -> None:
    it, output = open_lab(lab, "en")
    history, rule = (output.locator("select").nth(place) for place in (0, 1))
    rule.select_option("closed")
    expect(output.locator("tr.is-bad")).to_have_count(0)
    history.select_option("long")
    expect(output.locator("tbody tr")).to_have_count(36)
    expect(output.locator(".widget-readout").first).to_have_text("32,000")  # half of what the longer session takes
    expect(output.locator(".xp-say strong").first).to_have_text("32,000")
    expect(output.locator("tbody tr").first).to_contain_text(re.compile(r"\d+ earlier messages"))
    output.locator("input[type=checkbox]").focus()
    it.page.keyboard.press("Space")
    expect(output.locator(".xp-say")).to_contain_text("The first user message is pinned as well, and counted.")
    history.select_option("empty")
    expect(output.locator("[role=alert]")).to_contain_text("there are no messages")


def test_end_and_home_reach_the_ends_of_every_session(lab: Callable[..., Lab]) -> None:
    """Of longer and of shorter sessions than the one that the slider was made with."""
    it, output = open_lab(lab, "en")
    history, readout = output.locator("select").first, output.locator(".widget-readout").first
    handle, said = output.locator(".widget-slider .noUi-handle"), output.locator(".xp-say strong").first
    for name, first, second, middle, last in (
            ("long", "500", "1,000", "32,000", "64,000"), ("loop", "50", "100", "3,400", "6,800"),
            ("interleaved", "10", "20", "400", "800"), ("long", "500", "1,000", "32,000", "64,000")):
        history.select_option(name)
        expect(said).to_have_text(middle)
        expect(readout).to_have_text(middle)
        handle.focus()
        it.page.keyboard.press("End")
        expect(readout).to_have_text(last)
        expect(output.locator(".xp-say")).to_contain_text("Everything fits")
        it.page.keyboard.press("Home")
        expect(readout).to_have_text(first)
        it.page.keyboard.press("ArrowRight")
        expect(readout).to_have_text(second)
        expect(output.locator(".xp-say")).to_contain_text(second)


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_the_words_stand_out_from_the_ground(lab: Callable[..., Lab], theme: str) -> None:
    _, output = open_lab(lab, "en", theme)
    colours = output.locator(".xp").evaluate("node => [getComputedStyle(node).color, getComputedStyle(node).backgroundColor]")
    light = [sum(map(float, re.findall(r"[\d.]+", colour)[:3])) for colour in colours]
    assert (light[0] < 300 < 600 < light[1]) if theme.endswith("Light") else (light[1] < 300 < 600 < light[0])
