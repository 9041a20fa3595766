"""JupyterLab opens a notebook in the learner's language, runs it, and keeps pictures when it saves."""
import urllib.error
import urllib.request
from collections.abc import Callable

import nbformat
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Lab, Server

pytestmark = [pytest.mark.browser, pytest.mark.slow]
WIDGET = '''
import ipywidgets
class Both:
    def _repr_mimebundle_(self, include=None, exclude=None):
        return ipywidgets.IntSlider()._repr_mimebundle_() | {"text/html": "<p>a picture</p>"}
Both()
'''


@pytest.fixture
def tiny(lab_server: Server) -> str:
    """A notebook whose one output is a widget and a picture."""
    cells = [nbformat.v4.new_code_cell("print(6 * 7)"), nbformat.v4.new_code_cell(WIDGET)]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), lab_server.root / "tiny.ipynb")
    return "tiny.ipynb"


def test_a_save_keeps_the_picture_and_drops_the_dead_widget(lab: Callable[..., Lab], lab_server: Server, tiny: str) -> None:
    it = lab(tiny)
    it.run_all()
    expect(it.cell_with("6 * 7")).to_contain_text("42")
    expect(it.page.locator(".widget-slider")).to_be_visible()
    it.save()
    saved = nbformat.read(lab_server.root / tiny, as_version=4)
    assert set(saved.cells[1].outputs[0].data) == {"text/html", "text/plain"}


def test_the_interface_speaks_the_language_of_the_server_and_shows_no_news(lab: Callable[..., Lab], tiny: str) -> None:
    it = lab(tiny)
    expect(it.page.locator("#jp-MainMenu")).to_contain_text("Run")
    it.wait_until_idle()
    expect(it.page.locator(".Toastify__toast")).to_have_count(0)


def test_what_instructors_install_is_not_in_the_learners_way(lab: Callable[..., Lab], lab_server: Server, tiny: str) -> None:
    it = lab(tiny)
    it.wait_until_idle()
    titles = it.page.locator("#jp-MainMenu .lm-MenuBar-itemLabel").all_inner_texts()
    assert titles == ["File", "Edit", "View", "Run", "Kernel", "Tabs", "Settings", "Help"]
    expect(it.page.locator(".jp-NotebookPanel-toolbar [data-jp-item-name=cellType]")).to_be_visible()
    buttons = it.page.locator(".jp-NotebookPanel-toolbar").inner_html().casefold()
    assert [word for word in ("voila", "voilà", "nbgrader", "validate") if word in buttons] == []
    asked = urllib.request.Request(f"{lab_server.address}/formgrader", headers={"Authorization": f"token {lab_server.token}"})
    with (pytest.raises(urllib.error.HTTPError, match="404"),
          urllib.request.build_opener(urllib.request.ProxyHandler({})).open(asked, timeout=10)):
        pass


@pytest.mark.parametrize("lab_server", ["zh"], indirect=True)
def test_the_chinese_interface(lab: Callable[..., Lab], tiny: str) -> None:
    it = lab(tiny)
    expect(it.page.locator("#jp-MainMenu")).to_contain_text("运行")
    it.run_all()
    expect(it.cell_with("6 * 7")).to_contain_text("42")


@pytest.mark.parametrize(("theme", "light"), [("JupyterLab Light", "true"), ("JupyterLab Dark", "false")])
def test_the_theme_can_be_chosen(lab: Callable[..., Lab], tiny: str, theme: str, light: str) -> None:
    expect(lab(tiny, theme=theme).page.locator("body")).to_have_attribute("data-jp-theme-light", light)


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_start_page_opens_trusted(lab: Callable[..., Lab], lab_server: Server, lang: str) -> None:
    path = f"notebooks/{lang}/00_start_here.ipynb"
    it = lab(path, lang=lang)
    expect(it.cells.first).to_be_visible()
    expect(it.page.locator(".jp-Notebook .jp-mod-untrusted")).to_have_count(0)
