"""`lab.py show` in a real browser: every lab's picture is drawn and moves, no code is in sight, nobody else is asked."""
import re
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

import lab
from deploy import open_lab, show_lab, show_notebooks

pytestmark = [pytest.mark.browser, pytest.mark.slow]
NAMES = [one.name for one in show_notebooks.SHOWN]
WORDS = {"zh": {"title": "智能体怎样记住", "index": "全部实验", "dark": "深色", "failed": "这个实验无法展示"},
         "en": {"title": "How agents remember", "index": "All labs", "dark": "dark", "failed": "This lab cannot be shown"}}


@dataclass
class Shown:
    """What a class sees in *lang*. *outside* are requests that left this machine, *errors* those of pages and consoles."""

    lang: str
    folder: Path
    address: str
    token: str
    context: BrowserContext
    outside: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def open(self, path: str) -> Page:
        """A new page at *path*."""
        page = self.context.new_page()
        inside = (self.address, self.address.replace("http", "ws"), "data:", "blob:")
        page.on("request", lambda request: None if request.url.startswith(inside) else self.outside.append(request.url))
        page.on("websocket", lambda socket: None if socket.url.startswith(inside) else self.outside.append(socket.url))
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)
        page.goto(self.address + path)
        return page


@pytest.fixture(scope="module")
def servers(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Shown]]:
    """The server of a language, started when it is first asked for, and a browser that has shown its token."""
    state, started, open_ones = tmp_path_factory.mktemp("show 演示"), {}, []

    def server(lang: str) -> Shown:
        if lang not in started:
            token = secrets.token_hex(16)
            for _ in range(3):  # another process may take the free port before Voilà does
                port = open_lab.free_port(0)
                assert port
                running = show_lab.running(state, port, token, lang)
                try:
                    _, address = running.__enter__()
                    break
                except ChildProcessError:
                    continue
            else:
                pytest.fail("Voilà does not start")
            open_ones.append(running)
            context = browser.new_context(viewport={"width": 1920, "height": 1080})
            started[lang] = Shown(lang, state / lang, address, token, context)
            context.new_page().goto(f"{address}/?token={token}")
        return started[lang]

    yield server
    for it in started.values():
        it.context.close()
    for running in open_ones:
        running.__exit__(None, None, None)


@pytest.fixture
def shown(request: pytest.FixtureRequest, servers: Callable[[str], Shown]) -> Iterator[Shown]:
    """The server in the language of its parameter; the test fails when a page asked outside or had an error."""
    it = servers(request.param)
    it.outside.clear()
    it.errors.clear()
    yield it
    for page in it.context.pages[1:]:
        page.close()
    assert (it.outside, it.errors) == ([], [])


def changed(page: Page, picture: Locator, act: Callable[[], Any]) -> None:
    """*act* on a control, and wait until the *picture* is another."""
    before = picture.inner_html()
    act()
    page.wait_for_function("([node, before]) => node.innerHTML !== before", arg=[picture.element_handle(), before])


def move(page: Page) -> None:
    """Move the first control of the page with the keyboard."""
    picture, handle = page.locator(".widget-html-content").first, page.locator(".noUi-handle").first
    if handle.count():
        lowest = handle.get_attribute("aria-valuenow") == handle.get_attribute("aria-valuemin")
        handle.focus()
        changed(page, picture, lambda: page.keyboard.press("End" if lowest else "Home"))
    else:
        button = page.get_by_role("button", name="›").first
        button.focus()
        changed(page, picture, lambda: page.keyboard.press("Space"))


def saved_picture(lang: str, name: str) -> str:
    """The picture that the lab itself has saved under its explorer."""
    nb = nbformat.read(lab.ROOT / "notebooks" / lang / f"{name}.ipynb", 4)
    cell = next(cell for cell in nb.cells if show_notebooks.explorer_of(cell))
    return next(output.data["text/html"] for output in cell.outputs if "data" in output)


@pytest.mark.parametrize("shown", ["zh", "en"], indirect=True)
def test_the_list_leads_to_every_lab_and_to_the_dark(shown: Shown) -> None:
    page, words = shown.open("/"), WORDS[shown.lang]
    expect(page.locator("h1")).to_have_text(words["title"])
    expect(page.locator("html")).to_have_attribute("lang", shown.lang)
    links = page.locator("ol a")
    assert [re.sub(r".*/|\.ipynb.*", "", link.get_attribute("href") or "") for link in links.all()] == NAMES
    assert page.evaluate("[document.documentElement.scrollHeight, document.documentElement.scrollWidth]") == [1080, 1920]
    page.get_by_text(words["dark"], exact=True).click()
    expect(page.locator("body")).to_have_attribute("data-jp-theme-light", "false")
    ground = page.locator("html").evaluate("node => getComputedStyle(node).backgroundColor")
    assert sum(map(int, re.findall(r"\d+", ground)[:3])) < 150
    links.last.click()
    expect(page.locator("body")).to_have_attribute("data-jp-theme-light", "false")
    page.get_by_text(words["index"]).click()
    expect(page.locator("h1")).to_have_text(words["title"])
    expect(page.locator("body")).to_have_attribute("data-jp-theme-light", "false")


@pytest.mark.parametrize(("shown", "name"), [pytest.param(("zh", "en")[place % 2], name, id=name)
                                             for place, name in enumerate(NAMES)], indirect=["shown"])
def test_a_lab_is_drawn_and_moves_without_its_code(shown: Shown, name: str) -> None:
    page = shown.open(f"/voila/render/{name}.ipynb" + ("?theme=dark" if shown.lang == "zh" else ""))
    picture = page.locator(".widget-html-content").first
    picture.locator(".xp").wait_for(timeout=120_000)
    expect(page.locator("h1")).to_be_visible()
    expect(picture.locator(".xp-say")).to_be_visible()
    as_text = "html => { const box = document.createElement('div'); box.innerHTML = html; return box.textContent.trim(); }"
    assert page.evaluate(as_text, picture.inner_html()) == page.evaluate(as_text, saved_picture(shown.lang, name))

    expect(page.locator(".jp-CodeCell .jp-InputArea, .cm-editor, .CodeMirror, pre")).to_have_count(0)
    expect(page.locator("a[href*=ipynb]")).to_have_count(0)
    code = [cell.source for cell in nbformat.read(shown.folder / f"{name}.ipynb", 4).cells if cell.cell_type == "code"]
    lines = {line.strip() for source in code for line in source.splitlines() if len(line.strip()) > 15}
    assert lines
    assert [line for line in lines if line in page.content()] == []
    assert "**" not in page.locator("main").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") == 1920
    page.set_viewport_size({"width": 1280, "height": 720})
    assert page.evaluate("document.documentElement.scrollWidth") == 1280
    end = picture.evaluate("node => node.getBoundingClientRect().bottom + scrollY")
    assert page.evaluate("document.documentElement.scrollHeight") >= end  # it can be scrolled to its end

    move(page)
    if shown.lang == "zh":
        light = picture.locator(".xp").evaluate("node => getComputedStyle(node).color")
        assert sum(map(float, re.findall(r"[\d.]+", light)[:3])) > 600


@pytest.mark.parametrize("shown", ["en"], indirect=True)
def test_the_mouse_moves_a_slider_to_where_it_points(shown: Shown) -> None:
    """The page is enlarged, and the slider has to reckon with that."""
    page = shown.open("/voila/render/a2_trim_to_a_budget.ipynb")
    handle, track = page.locator(".noUi-handle").first, page.locator(".noUi-base").first
    handle.wait_for(timeout=120_000)
    here, box = handle.bounding_box(), track.bounding_box()
    assert here
    assert box
    page.mouse.move(here["x"] + here["width"] / 2, here["y"] + here["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 4, here["y"] + here["height"] / 2, steps=5)
    page.mouse.up()
    least, now, most = (float(handle.get_attribute(f"aria-value{name}") or "nan") for name in ("min", "now", "max"))
    assert abs((now - least) / (most - least) - 0.25) < 0.03
    expect(page.locator(".xp-say strong").first).to_have_text(page.locator(".widget-readout").first.inner_text())


@pytest.mark.parametrize("shown", ["zh"], indirect=True)
def test_a_cell_that_fails_says_what_failed(shown: Shown) -> None:
    nb = nbformat.read(shown.folder / "a1_parse_and_load.ipynb", 4)
    fault = nbformat.v4.new_code_cell("kept_back = 1\nkept_back / 0", metadata={"tags": [show_notebooks.HIDDEN]})
    nb.cells.insert(1, fault)
    nbformat.write(nb, shown.folder / "broken.ipynb")
    page = shown.open("/voila/render/broken.ipynb")
    said = page.locator("[role=alert]")
    words = re.compile(rf"{WORDS[shown.lang]['failed']}.*ZeroDivisionError: division by zero")
    expect(said).to_have_text(words, timeout=60_000)
    assert [word for word in ("Traceback", "kept_back", "show_tracebacks") if word in page.content()] == []
    expect(page.locator(".xp")).to_have_count(0)


@pytest.mark.parametrize("shown", ["en"], indirect=True)
def test_without_the_token_it_is_refused(shown: Shown, browser: Browser) -> None:
    stranger = browser.new_context()
    page = stranger.new_page()
    page.on("request", lambda request: None if request.url.startswith(shown.address) else shown.outside.append(request.url))
    for path in ("/", "/voila/render/a2_trim_to_a_budget.ipynb", "/voila/render/a2_trim_to_a_budget.ipynb?token=x"):
        page.goto(shown.address + path)
        expect(page.locator("#password_input")).to_be_visible()
        assert "budget" not in page.locator("body").inner_text()
    assert stranger.request.get(f"{shown.address}/voila/api/contents").status == 403
    assert stranger.request.get(f"{shown.address}/voila/files/a2_trim_to_a_budget.ipynb").status == 403
    stranger.close()
