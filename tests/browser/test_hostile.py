"""A log full of hostile text in a real browser: drawn as saved pictures, as live ones and in tables, it does nothing."""
from collections.abc import Callable

import nbformat
import pytest
from playwright.sync_api import Dialog, expect

import lab as launcher
from labsupport.workbench.pictures.base import css
from tests.browser.conftest import Lab, Server

pytestmark = [pytest.mark.browser, pytest.mark.slow]
KINDS = ("a script", "an image", "a link", "a stylesheet", "closing tags", "two quotes", "mathematics")
SAVED = ("scrubber", "watermarks", "truncation", "compaction", "whole_request", "flush", "fork", "business", "privacy",
         "clinic")
LIVE = 6
BEGIN = f"""import sys
sys.path[:0] = [{str(launcher.ROOT)!r}, {str(launcher.ROOT / "notebooks")!r}]
from IPython.display import HTML, display
from labsupport.workbench.explorers.b1 import scrubber
from labsupport.workbench.explorers.b3 import watermark_explorer
from labsupport.workbench.explorers.b4 import truncation_explorer
from labsupport.workbench.explorers.b5 import compaction_explorer
from labsupport.workbench.explorers.b6 import request_explorer
from labsupport.workbench.explorers.b8 import fork_explorer
from labsupport.workbench.show import Still
from tests import test_hostile_text as hostile
def draw(kind):
    text = hostile.MARK + hostile.HOSTILE[kind]
    for name in {SAVED}:
        display(Still(hostile.DRAWN[name + "_picture"](text, True)[-1]))
    log, session = hostile.events(text), hostile.session(text)
    data = hostile.make.HEADER_LINE + b"".join(map(hostile.make.line, hostile.records(text)))
    display(scrubber(log, show_text=True), watermark_explorer(log, show_text=True), truncation_explorer(data, show_text=True))
    display(compaction_explorer(session, show_text=True), fork_explorer(session, show_text=True))
    display(request_explorer(hostile.asked(text).events, show_text=True))
    for tables in hostile.TABLES.values():
        display(*tables(text))
"""
CONTROL = r"""display(HTML('<img src=x onerror="window.__pwned = 1">'), HTML("<style>.no-one { }</style><b onclick=''>"))
display(HTML("<a href='javascript:1'>x $x$</a>"), HTML("<script>alert(1)</script>"))"""
END = """display(HTML("<p>$z$</p>"))
print("all is drawn")"""
HARM = """css => {
    const all = [...document.querySelectorAll('.jp-OutputArea-output *')];
    const styles = all.filter(one => one.tagName == 'STYLE').map(one => one.textContent);
    return [
        ...(window.__pwned === undefined ? [] : ['code ran']),
        ...all.filter(one => [...one.attributes].some(it => /^on/i.test(it.name))).map(() => 'an on… attribute'),
        ...all.filter(one => ['SCRIPT', 'IMG', 'IFRAME', 'OBJECT', 'LINK'].includes(one.tagName)).map(one => one.tagName),
        ...all.filter(one => /^\\s*javascript:/i.test(one.getAttribute('href') ?? '')).map(() => 'a link that is code'),
        ...all.filter(one => one.matches(':is(.xp, table, a) mjx-container')).map(() => 'mathematics'),
        ...styles.filter(text => !text.includes(css) && !text.includes('.dataframe tbody tr th')).map(() => 'a foreign style'),
    ];
}"""


def harm(lab: Callable[..., Lab], server: Server, cells: list[str]) -> tuple[Lab, set[str]]:
    """Run *cells* in a notebook, and say what their outputs do to the page."""
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}}
    sources = [nbformat.v4.new_code_cell(cell) for cell in (BEGIN, *cells, END)]
    notebook = nbformat.v4.new_notebook(cells=sources, metadata=kernel)
    nbformat.write(notebook, server.root / "hostile.ipynb")
    it = lab("hostile.ipynb")
    dialogs: list[str] = []

    def dismiss(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    it.page.on("dialog", dismiss)
    it.run_all()
    it.page.locator("p mjx-container").first.wait_for(timeout=60_000)  # that of the last cell: mathematics is set by now
    return it, {*it.page.evaluate(HARM, css()), *(["a dialog"] if dialogs else [])}


def test_hostile_text_does_nothing(lab: Callable[..., Lab], lab_server: Server) -> None:
    it, found = harm(lab, lab_server, [f"draw({kind!r})" for kind in KINDS])
    assert found == set()
    expect(it.page.locator(".jp-OutputArea-output .xp")).to_have_count(len(KINDS) * (len(SAVED) + LIVE))
    expect(it.page.locator(".jupyter-widgets .xp")).to_have_count(len(KINDS) * LIVE)
    expect(it.page.locator("table.dataframe").first).to_be_visible()
    for text in ("☃<script>", "☃<img", "☃<style>", "☃$x$"):
        assert it.page.locator(".jupyter-widgets .xp", has_text=text).count()
        assert it.page.locator("table.dataframe", has_text=text).count()
    assert not [url for url in it.page.evaluate("performance.getEntriesByType('resource').map(it => it.name)")
                if url.endswith("/x")]


def test_what_would_be_harm_is_seen(lab: Callable[..., Lab], lab_server: Server) -> None:
    """The same from a page that lets such text through."""
    it, found = harm(lab, lab_server, [CONTROL])
    it.errors.clear()  # the picture that there is not
    assert found >= {"code ran", "an on… attribute", "IMG", "a link that is code", "mathematics", "a foreign style", "a dialog"}
