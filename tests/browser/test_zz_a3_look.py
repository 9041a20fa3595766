import re
import pytest
from playwright.sync_api import expect

@pytest.mark.parametrize(("lang", "theme"), [("zh", "JupyterLab Dark"), ("en", None)])
def test_look(lab, lang, theme):
    it = lab(f"notebooks/{lang}/a3_two_states.ipynb", theme=theme, lang=lang, size=(1280, 1000))
    it.run_all()
    cell = it.cell_with("requests_explorer(watched")
    cell.scroll_into_view_if_needed()
    handle = it.page.locator(".widget-slider .noUi-handle").first
    handle.focus()
    it.page.keyboard.press("ArrowLeft"); it.page.keyboard.press("ArrowLeft")
    it.page.wait_for_timeout(1500)
    it.page.screenshot(path=f"/tmp/a3x/shots/live-{lang}.png")
    print(it.page.evaluate("""[...document.querySelectorAll('.xp td, .xp th, .xp-say')].filter(e=>e.scrollWidth>e.clientWidth+1 && !e.classList.contains('xp-kc')).map(e=>e.textContent).slice(0,12)"""))
