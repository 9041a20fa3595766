"""Lab B10 in a real browser: the menus choose what is deleted, by whom, under a hold; the picture follows, nothing jumps."""
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import Lab
from tests.browser.test_a2 import overflowing

pytestmark = [pytest.mark.browser, pytest.mark.slow]
WORDS = {
    "en": {"all": "all keys and attachments", "gone": "lacks", "held": "The hold on visit wins", "log": "log deleted",
           "not": "This role may not delete"},
    "zh": {"all": "全部密钥和附件", "gone": "缺", "held": "visit 的法律保留优先", "log": "日志已删", "not": "这个角色不能删除"}}


def open_lab(lab: Callable[..., Lab], lang: str, theme: str) -> tuple[Lab, Locator]:
    """The lab after Run All on a laptop's screen, and the output of its explorer, which the cell after it has moved."""
    it = lab(f"notebooks/{lang}/b10_privacy.ipynb", theme=theme, lang=lang, size=(1280, 800))
    it.run_all()
    output = it.cell_with("explorer = privacy_explorer").locator(".jp-OutputArea-output").first
    output.scroll_into_view_if_needed()
    return it, output


@pytest.mark.parametrize(("lang", "theme"), [("en", "JupyterLab Light")])
def test_the_menus_delete_and_nothing_jumps(lab: Callable[..., Lab], lang: str, theme: str) -> None:
    it, output = open_lab(lab, lang, theme)
    words, sentence, requests = WORDS[lang], output.locator(".xp-say"), output.locator("table").first
    target, role, hold = (output.locator("select").nth(place) for place in range(3))
    expect(sentence).to_contain_text(words["all"])  # where the cell after the explorer has moved it
    expect(requests.locator("tr.is-off")).to_have_count(9)
    expect(requests.locator("tr.is-off").first).to_contain_text(words["gone"])
    height = output.evaluate("node => node.getBoundingClientRect().height")
    assert height < 660  # what a laptop leaves of its screen to a notebook

    hold.select_option(index=1)
    expect(output.locator("[role=alert]")).to_contain_text(words["held"])
    expect(output.locator("tr.is-off")).to_have_count(0)
    role.select_option(index=2)
    expect(output.locator("[role=alert]")).to_contain_text(words["not"])
    role.select_option(index=0)
    hold.select_option(index=0)
    target.select_option(index=5)
    expect(requests).to_contain_text(words["log"])
    assert [text for text in overflowing(output) if "…" not in text] == []
    for name in "›‹":  # without a mouse: the buttons beside the menu
        output.get_by_role("button", name=name).first.focus()
        it.page.keyboard.press("Space")
        expect(target).to_have_js_property("selectedIndex", {"›": 6, "‹": 5}[name])
    assert output.evaluate("node => node.getBoundingClientRect().height") == height


def test_the_lab_runs_to_its_end_and_shows_the_name_to_nobody_who_may_not_read_it(lab: Callable[..., Lab]) -> None:
    it, output = open_lab(lab, "en", "JupyterLab Light")
    expect(it.cell_with("vault.open(name, int(version)")).to_contain_text("KeyMissingError")
    expect(it.cell_with("verdict = check_leaks")).to_contain_text("Not started")
    expect(output).not_to_contain_text("林安")
    output.locator("select").nth(1).select_option(index=1)  # the auditor
    output.locator("select").first.select_option(index=0)
    expect(output).to_contain_text("林安")
