"""Every lab in a real browser, one after the other in one page: all of it runs and is drawn, and nothing asks the net."""
import contextlib
import re
from collections.abc import Iterator
from typing import Any

import nbformat
import pytest
from playwright.sync_api import Browser, expect
from playwright.sync_api import TimeoutError as WaitedTooLong

from labsupport.workbench.labs import LABS
from tests.browser.conftest import Lab, Server

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PLACES = [f"notebooks/{('zh', 'en')[at % 2]}/{lab.name}.ipynb" for at, lab in enumerate(LABS)]
"""Every lab in one of its languages, by turns: the code is the same in both."""

SAYS_ONLY = frozenset({"slider-explorer", "slider-moved"})
"""Cells whose picture is a sentence and nothing else: on the start page, to see that browser and kernel talk to each other."""

SEEN = """cells => cells.map(cell => ({
    prompt: cell.querySelector('.jp-InputPrompt')?.textContent ?? '',
    errors: cell.querySelectorAll('[data-mime-type="application/vnd.jupyter.stderr"]').length,
    words: [...cell.querySelectorAll('.jp-OutputArea-output')].map(output => output.innerText).join('\\n'),
    controls: cell.querySelectorAll('.jupyter-widgets :is(.noUi-handle, select, button, input[type=checkbox])').length,
    pictures: [...cell.querySelectorAll('.xp')].map(picture => ({
        live: picture.closest('.jupyter-widgets') !== null,
        sentence: picture.querySelector('.xp-say')?.innerText.trim() ?? '',
        drawn: [...picture.querySelectorAll('td, th, svg')].filter(part => {
            const {width, height} = part.getBoundingClientRect();
            return width > 1 && height > 1 && (part.textContent.trim() || part.querySelector('[style], circle'));
        }).length,
    })),
}))"""
LIVE = """count => document.querySelectorAll(
    '.jp-NotebookPanel:not(.lm-mod-hidden) .jupyter-widgets .xp').length >= count"""


@pytest.fixture(scope="module")
def walk(browser: Browser, lab_server: Server) -> Iterator[Lab]:
    """A page of JupyterLab in which one notebook after the other is opened, with nothing open yet."""
    lab_server.setting("theme", None)
    lab_server.setting("locale", None)
    it = Lab(browser.new_page(viewport={"width": 1280, "height": 900}), lab_server.address)
    it.page.goto(f"{lab_server.address}/lab/workspaces/all-labs?token={lab_server.token}")
    it.page.locator("#jp-MainMenu .lm-MenuBar-item").first.wait_for(timeout=60_000)
    yield it
    it.page.close()


def open_notebook(it: Lab, path: str) -> None:
    """Open the notebook at *path* in a tab of its own, as a learner does who types it."""
    it.menu("File|文件", "filebrowser:open-path")
    it.page.locator(".jp-Dialog input").fill(path)
    it.page.locator(".jp-Dialog input").press("Enter")
    it.page.locator(".lm-TabBar-tab.jp-mod-current", has_text=path.rpartition("/")[2]).wait_for(timeout=60_000)
    it.cells.first.wait_for(timeout=60_000)


def close_notebook(it: Lab) -> None:
    """Close the notebook without saving it, and end its kernel."""
    it.menu("File|文件", "filemenu:close-and-cleanup")
    it.page.locator(".jp-Dialog .jp-mod-accept").click()
    it.page.locator(".jp-NotebookPanel").wait_for(state="detached", timeout=60_000)


def run_and_look(it: Lab, notebook: nbformat.NotebookNode) -> list[str]:
    """Run all of *notebook*, which *it* has open, and say what is wrong with it: a line for each fault."""
    it.outside.clear()
    it.errors.clear()
    it.start_all()
    found = []
    try:
        prompts = it.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-CodeCell .jp-InputPrompt")
        expect(prompts.last).to_have_text(re.compile(r"\[\d+\]"), timeout=120_000)
        it.wait_until_idle()
    except AssertionError:
        found.append("the last cell was not run")
    with contextlib.suppress(WaitedTooLong):  # then it is one of the faults
        it.page.wait_for_function(LIVE, arg=sum(map(is_explorer, notebook.cells)), timeout=20_000)
    seen = it.cells.evaluate_all(SEEN)
    found += [] if len(seen) == len(notebook.cells) else [f"{len(seen)} cells are shown of {len(notebook.cells)}"]
    for cell, shown in zip(notebook.cells, seen, strict=False):
        found += [f"{cell.id}: {fault}" for fault in faults(cell, shown)]
    moved = [shown["pictures"][0]["sentence"] for cell, shown in zip(notebook.cells, seen, strict=False)
             if cell.source.endswith("\nexplorer.still") and shown["pictures"]]
    live = [picture["sentence"] for shown in seen for picture in shown["pictures"] if picture["live"]]
    found += [] if moved == live else ["the live picture is not the one that the kernel has"]
    return [*found, *(f"a request to {url}" for url in it.outside), *(f"console: {error}" for error in it.errors)]


def is_explorer(cell: nbformat.NotebookNode) -> bool:
    """Whether *cell* shows an explorer: they all have that name, and stand last."""
    return cell.cell_type == "code" and cell.source.splitlines()[-1:] == ["explorer"]


def faults(cell: nbformat.NotebookNode, shown: dict[str, Any]) -> Iterator[str]:
    """What is wrong with a *cell* that is *shown* like that."""
    meant = "raises-exception" in cell.metadata.get("tags", [])
    if cell.cell_type == "code" and not re.search(r"\d", shown["prompt"]):
        yield "was not run"
    if bool(shown["errors"]) != meant:
        yield "an error that is meant did not come" if meant else f"an error: {shown['words'].splitlines()[-1:]}"
    for words in ("Error displaying widget", "Loading widget"):
        if words in shown["words"]:
            yield words
    for picture in shown["pictures"]:
        if not picture["sentence"]:
            yield "a picture without a sentence"
        if not picture["drawn"] and cell.id not in SAYS_ONLY:
            yield "a picture in which nothing is drawn"
    live = sum(picture["live"] for picture in shown["pictures"])
    if live != is_explorer(cell):
        yield f"{live} live pictures"
    if live and not shown["controls"]:
        yield "a live picture that nothing can move"


@pytest.mark.parametrize("path", PLACES, ids=lambda path: path[10:-6])
def test_the_lab_runs_and_everything_in_it_is_drawn(walk: Lab, lab_server: Server, path: str) -> None:
    notebook = nbformat.read(lab_server.root / path, as_version=4)
    assert any(map(is_explorer, notebook.cells))
    open_notebook(walk, path)
    try:
        assert run_and_look(walk, notebook) == []
    finally:
        close_notebook(walk)


PLANTED = {
    "empty-picture": 'from IPython.display import HTML\nHTML(page("a picture", "that is empty"))',
    "silent-picture": 'HTML(page("a picture", "", table([Column("", 9)], [tr(td("1"))])))',
    "error-that-is-meant": "1 + 1",
    "console": 'from IPython.display import Javascript\nJavascript("console.error(\'planted\')")',
    "net": "HTML('<img src=\"http://192.0.2.1/planted.png\">')",  # an address of nobody, for examples
    "dead-widget": 'VIEW = "application/vnd.jupyter.widget-view+json"\n'
                   'display({VIEW: {"model_id": "nobody", "version_major": 2, "version_minor": 0}}, raw=True)',
    "explorer": "explorer = Explorer(draw, n=widgets.IntSlider(1))\nexplorer",
    "another": "widgets.VBox([widgets.HTML(draw(1))])",
    "error": "1 / 0",
}
BEGIN = """import ipywidgets as widgets
from labsupport.workbench.pictures.base import Column, page, table, td, tr
from labsupport.workbench.show import Explorer
def draw(n):
    return page("a", f"it is {n}", table([Column("", 9)], [tr(td(str(n)))]))
"""


def test_what_is_planted_is_found(walk: Lab, lab_server: Server) -> None:
    """Each check fails where it has to, and says where."""
    cells = [nbformat.v4.new_code_cell(source, id=key) for key, source in {"begin": BEGIN, **PLANTED}.items()]
    cells[3].metadata["tags"] = ["raises-exception"]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}}
    notebook = nbformat.v4.new_notebook(cells=cells, metadata=kernel)
    nbformat.write(notebook, lab_server.root / "planted.ipynb")
    open_notebook(walk, "planted.ipynb")
    try:
        found = run_and_look(walk, notebook)
    finally:
        close_notebook(walk)
    url = "http://192.0.2.1/planted.png"
    refused = [fault for fault in found if fault.startswith("console: Failed to load") and url in fault]
    assert refused
    assert {*found} - {*refused} == {
        "empty-picture: a picture in which nothing is drawn", "silent-picture: a picture without a sentence",
        "error-that-is-meant: an error that is meant did not come", "console: planted ()",
        f"a request to {url}",
        "dead-widget: Loading widget", "another: 1 live pictures", "another: a live picture that nothing can move",
        "the live picture is not the one that the kernel has",  # no cell shows it as it is
        "error: an error: ['ZeroDivisionError: division by zero']"}
