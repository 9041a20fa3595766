import pytest

@pytest.mark.parametrize(("lang","theme"),[("en","JupyterLab Light"),("zh","JupyterLab Dark"),("zh","JupyterLab Light"),("en","JupyterLab Dark")])
def test_shot(lab, lang, theme):
    it = lab(f"notebooks/{lang}/a2_trim_to_a_budget.ipynb", theme=theme, lang=lang, size=(1280,1000))
    it.run_all()
    out = it.cell_with("explorer = budget_explorer").locator(".jp-OutputArea-output").first
    out.scroll_into_view_if_needed()
    t=f"/tmp/a2/live-{lang}-{'dark' if 'Dark' in theme else 'light'}"
    out.locator("select").nth(0).select_option("tools"); it.wait_until_idle()
    out.evaluate("n=>n.scrollIntoView({block:'start'})"); it.page.wait_for_timeout(300)
    it.page.screenshot(path=t+"-tools.png")
    print(out.evaluate("n=>[n.clientWidth,n.scrollWidth,n.querySelector('.xp').clientWidth,n.querySelector('table').clientWidth]"))
    out.locator("select").nth(0).select_option("long"); it.wait_until_idle(); it.page.wait_for_timeout(300)
    it.page.screenshot(path=t+"-long.png")
    # drag latency
    h=out.locator(".widget-slider .noUi-handle").first; h.focus()
    it.page.evaluate("window.t0=performance.now()")
    h.press("ArrowRight"); 
    it.page.set_viewport_size({"width":1280,"height":3600})
    it.wait_until_idle()
    it.cell_with("two_rules" if 0 else "rules_picture").scroll_into_view_if_needed(); it.page.wait_for_timeout(500)
    it.page.screenshot(path=t+"-page.png")
