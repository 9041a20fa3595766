"""Lab A1 in a real browser: without a mouse the menu of breakages moves, and nothing but the picture does."""
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import Lab
from tests.browser.test_a2 import overflowing

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def open_lab(lab: Callable[..., Lab], lang: str, theme: str) -> tuple[Lab, Locator]:
    """The lab after Run All on a laptop's screen, and the output of its explorer, where the cell after it has moved it."""
    it = lab(f"notebooks/{lang}/a1_parse_and_load.ipynb", theme=theme, lang=lang, size=(1280, 800))
    it.run_all()
    output = it.cell_with("explorer = line_explorer").locator(".jp-OutputArea-output").first
    output.scroll_into_view_if_needed()
    return it, output


@pytest.mark.parametrize(("lang", "theme"), [("en", "JupyterLab Light")])
def test_the_menu_is_reached_and_moved_without_a_mouse(lab: Callable[..., Lab], lang: str, theme: str) -> None:
    it, output = open_lab(lab, lang, theme)
    cells, menu, sentence = it.cells.count(), output.locator("select"), output.locator(".xp-say")
    expect(menu).to_have_js_property("selectedIndex", 17)  # "an empty line", the last
    height = output.evaluate("node => node.getBoundingClientRect().height")
    seen = {sentence.inner_text()}

    output.locator(".noUi-handle").focus()
    it.page.keyboard.press("Tab")  # the slider's figure
    for place in ("‹", "›"):
        it.page.keyboard.press("Tab")
        expect(output.locator("button:focus")).to_have_text(place)
    it.page.keyboard.press("Shift+Tab")
    for index in (16, 15, 14):
        it.page.keyboard.press("Space")
        expect(menu).to_have_js_property("selectedIndex", index)
        expect(output.locator("button:focus")).to_have_text("‹")
        seen.add(sentence.inner_text())
    it.page.keyboard.press("Tab")
    it.page.keyboard.press("Space")
    expect(menu).to_have_js_property("selectedIndex", 15)
    assert len(seen) == 4
    assert it.cells.count() == cells
    assert output.evaluate("node => node.getBoundingClientRect().height") == height
    assert [text for text in overflowing(output) if not text.endswith("…")] == []  # the beginnings of long lines may be


def test_the_words_of_a_table_begin_at_the_left(lab: Callable[..., Lab]) -> None:
    it, _ = open_lab(lab, "en", "JupyterLab Light")
    table = it.cell_with("load_table({").locator("table.dataframe")
    aligned = table.locator("th, td").evaluate_all("cells => [...new Set(cells.map(cell => getComputedStyle(cell).textAlign))]")
    assert aligned == ["left"]
