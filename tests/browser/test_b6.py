"""Lab B6 in a real browser: the keyboard steps through the requests, the parts follow, and nothing jumps."""
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Lab
from tests.browser.test_a2 import overflowing

pytestmark = [pytest.mark.browser, pytest.mark.slow]
WORDS = {"en": {"four": "Request 4 of 8", "five": "2 are new: answer, result c2", "six": "9 parts of the request before it",
                "first": "It is the first", "opener": "opener", "verdict": "Not started"},
         "zh": {"four": "第 4 次请求，共 8 次", "five": "2 个是新的：回答、结果 c2", "six": "上一次有的 9 个不在了",
                "first": "前面没有请求", "opener": "开场消息", "verdict": "还没有开始"}}


@pytest.mark.parametrize(("lang", "theme"), [("en", "JupyterLab Light")])
def test_the_keyboard_steps_through_the_requests(lab: Callable[..., Lab], lang: str, theme: str) -> None:
    it, words = lab(f"notebooks/{lang}/b6_a_whole_request.ipynb", theme=theme, lang=lang, size=(1280, 800)), WORDS[lang]
    it.run_all()
    output = it.cell_with("explorer = request_explorer").locator(".jp-OutputArea-output").first
    output.scroll_into_view_if_needed()
    sentence, rows, solid = output.locator(".xp-say"), output.locator("tbody tr"), output.locator(".xp-bar i:not(.is-off)")
    expect(sentence).to_contain_text(words["four"])  # where the cell after it has moved it
    expect(rows).to_have_count(19)
    expect(solid).to_have_count(5)
    height = output.evaluate("node => node.getBoundingClientRect().height")
    assert height < 678  # what a laptop leaves of its screen to a notebook
    assert [text for text in overflowing(output) if "…" not in text] == []

    handle = output.locator(".noUi-handle").first
    handle.focus()
    it.page.keyboard.press("ArrowRight")
    expect(sentence).to_contain_text(words["five"])
    expect(solid).to_have_count(2)
    it.page.keyboard.press("ArrowRight")  # the request behind the first compaction
    expect(sentence).to_contain_text(words["six"])
    expect(rows.filter(has_text="house-rules")).to_contain_text(words["opener"])
    expect(rows.filter(has_text="house-rules")).to_contain_text("+")
    expect(rows).to_have_count(19)
    it.page.keyboard.press("Home")
    expect(sentence).to_contain_text(words["first"])
    it.page.keyboard.press("End")
    expect(output.locator("tr", has_text="waiting-room")).to_contain_text("91 93")
    assert output.evaluate("node => node.getBoundingClientRect().height") == height
    expect(it.cell_with("verdict = check_sourced")).to_contain_text(words["verdict"])
