"""Lab B7 in a real browser: the keyboard moves the kill, the menu chooses, and Measure brings milliseconds of this disk."""
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import Lab
from tests.browser.test_a2 import overflowing

pytestmark = [pytest.mark.browser, pytest.mark.slow]
WORDS = {"en": {"killed": "Killed after {}", "none": "Killed before the first", "durable": "its tool/call (14) is durable",
                "barriers": "before requests and tools", "clock": "every 0.2 s", "not": "not measured",
                "ms": r"JSONL [\d.,]+ ms", "sqlite": r"SQLite [\d.,]+ ms", "measure": "Measure"},
         "zh": {"killed": "追加 {} 个事件", "none": "一个事件也没追加", "durable": "它的 tool/call（14）已落盘",
                "barriers": "每次请求和工具之前", "clock": "每 0.2 秒", "not": "未测量", "ms": r"JSONL 用时 [\d.,]+ 毫秒",
                "sqlite": r"SQLite 用时 [\d.,]+ 毫秒", "measure": "测量"}}


def open_lab(lab: Callable[..., Lab], lang: str, theme: str) -> tuple[Lab, Locator]:
    """The lab after Run All on a laptop's screen, and the output of its explorer, which the cell after it has moved."""
    it = lab(f"notebooks/{lang}/b7_durability.ipynb", theme=theme, lang=lang, size=(1280, 800))
    it.run_all()
    output = it.cell_with("explorer = flush_explorer").locator(".jp-OutputArea-output").first
    output.scroll_into_view_if_needed()
    return it, output


@pytest.mark.parametrize(("lang", "theme"), [("zh", "JupyterLab Dark")])
def test_kill_choose_and_measure(lab: Callable[..., Lab], lang: str, theme: str) -> None:
    it, output = open_lab(lab, lang, theme)
    words, sentence, kill = WORDS[lang], output.locator(".xp-say"), output.locator(".noUi-handle")
    chosen, lost = output.locator("th.xp-strong"), output.locator("i.is-off")
    expect(chosen).to_have_text(words["clock"])
    expect(sentence).to_contain_text(words["killed"].format(16))
    expect(output.get_by_text(words["not"], exact=True)).to_have_count(6)
    height = output.evaluate("node => node.getBoundingClientRect().height")
    assert height < 680
    assert overflowing(output) == []

    output.get_by_role("button", name="‹").first.focus()  # the menu's own keys belong to the notebook
    for _ in range(3):
        it.page.keyboard.press("Space")
    expect(chosen).to_have_text(words["barriers"])
    kill.focus()
    it.page.keyboard.press("ArrowLeft")  # from behind the result to where the tool runs
    expect(sentence).to_contain_text(words["durable"])
    it.page.keyboard.press("Home")
    expect(sentence).to_contain_text(words["none"])
    expect(lost).to_have_count(0)
    it.page.keyboard.press("ArrowRight")
    expect(lost).to_have_count(6)  # no flush has returned yet
    it.page.keyboard.press("End")
    expect(lost).to_have_count(6)  # nor has the last one, or the closing

    output.get_by_role("button", name=words["measure"]).press("Enter")
    expect(sentence).to_contain_text(re.compile(words["ms"]), timeout=60_000)
    expect(output.get_by_text(words["not"], exact=True)).to_have_count(0)
    expect(output.get_by_role("button", name=words["measure"])).to_be_enabled()
    output.get_by_role("button", name="›").last.press("Space")  # the menu of stores
    expect(output.get_by_text(words["not"], exact=True)).to_have_count(6)
    output.get_by_role("button", name=words["measure"]).click()
    expect(sentence).to_contain_text(re.compile(words["sqlite"]), timeout=60_000)
    assert output.evaluate("node => node.getBoundingClientRect().height") == height
    assert overflowing(output) == []


def test_what_was_measured_is_not_saved(lab: Callable[..., Lab], lab_server) -> None:
    it, output = open_lab(lab, "en", "JupyterLab Light")
    output.get_by_role("button", name="Measure").click()
    expect(output.locator(".xp-say")).to_contain_text(re.compile(WORDS["en"]["ms"]), timeout=60_000)
    it.save()
    saved = (lab_server.root / "notebooks" / "en" / "b7_durability.ipynb").read_text("utf-8")
    assert "not measured" in saved
    assert not re.search(WORDS["en"]["ms"], saved)
    expect(it.cell_with("verdict = check_place_flushes")).to_contain_text("Not started")
