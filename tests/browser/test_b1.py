"""Labs B1 and B2 in a real browser: the keyboard moves the watermark, all four views follow, and nothing else moves."""
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import Lab

pytestmark = [pytest.mark.browser, pytest.mark.slow]
TITLES = {"en": ["Event log", "Model surface", "Transcript", "Projections"], "zh": ["事件日志", "模型表面", "对话记录", "投影"]}
AS_OF = {"en": "as of {}", "zh": "截至 {}"}
B1, B2 = "b1_two_step_tool_task", "b2_derive_messages"
PARTIAL = {"en": "partial", "zh": "未完成"}


def open_lab(lab: Callable[..., Lab], lang: str, theme: str, name: str = B1) -> tuple[Lab, Locator]:
    """The lab after Run All on a small laptop, and the output of its explorer, which the cell after it has moved."""
    it = lab(f"notebooks/{lang}/{name}.ipynb", theme=theme, lang=lang, size=(1280, 800))
    it.run_all()
    output = it.cell_with("explorer = scrubber").locator(".jp-OutputArea-output").first
    output.evaluate("node => node.scrollIntoView({block: 'start'})")
    return it, output


def views(output: Locator) -> list[str]:
    """What each of the four panels shows."""
    return output.evaluate("""node => [...node.querySelectorAll('.xp-h')].map(title => {
        const tables = []
        for (let next = title.nextElementSibling; next; next = next.nextElementSibling) tables.push(next.outerHTML)
        return tables.join('')})""")


def overflowing(output: Locator) -> list[str]:
    """The headings and labels whose words are wider than their place; excerpts alone may be."""
    return output.evaluate("""node => [...node.querySelectorAll('th, .widget-label, .xp-tag')]
        .filter(cell => getComputedStyle(cell).overflow !== 'visible' && cell.scrollWidth > cell.clientWidth + 1)
        .map(cell => cell.textContent)""")


@pytest.mark.parametrize(("lang", "theme"), [("en", "JupyterLab Light")])
def test_the_keyboard_moves_all_four_views(lab: Callable[..., Lab], lang: str, theme: str) -> None:
    it, output = open_lab(lab, lang, theme)
    titles = output.locator(".xp-h")
    expect(titles).to_have_count(4)
    for title, words in zip(titles.all(), TITLES[lang], strict=True):
        expect(title).to_contain_text(f"{words} {AS_OF[lang].format(34)}")
    expect(output.locator("table", has_text=PARTIAL[lang])).to_have_count(1)
    height, before = output.evaluate("node => node.getBoundingClientRect().height"), views(output)

    output.locator(".widget-slider .noUi-handle, .widget-slider .ui-slider-handle").first.focus()
    it.page.keyboard.press("Home")
    expect(output.locator(".xp-mk")).to_have_text([AS_OF[lang].format(0)] * 4)
    expect(output.locator("tr.is-now")).to_contain_text("turn/start")
    assert all(now != then for now, then in zip(views(output), before, strict=True))
    for _ in range(24):
        it.page.keyboard.press("ArrowRight")
    expect(output.locator(".xp-mk")).to_have_text([AS_OF[lang].format(24)] * 4)
    expect(output.locator("tr.is-now")).to_contain_text("tool/call")
    expect(output.locator(".xp-say")).to_contain_text(re.compile("call_1.*call_2"))
    assert output.evaluate("node => node.getBoundingClientRect().height") == height
    assert overflowing(output) == []


@pytest.mark.parametrize(("lang", "name"), [("en", B1), ("zh", B2)])
def test_slider_and_picture_fit_a_laptop(lab: Callable[..., Lab], lang: str, name: str) -> None:
    it, output = open_lab(lab, lang, "JupyterLab Light", name)
    box, notebook = output.bounding_box(), it.page.locator(".jp-WindowedPanel-outer").first.bounding_box()
    assert box is not None
    assert notebook is not None
    assert box["height"] <= notebook["height"]
    assert output.evaluate("node => node.scrollWidth <= node.clientWidth + 1")
    assert overflowing(output) == []
