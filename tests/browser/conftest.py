"""A real JupyterLab in a real browser, started the way `lab.py` starts it, on copies of the notebooks."""
import json
import os
import re
import secrets
import shutil
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, Playwright, expect, sync_playwright

import lab as launcher
from deploy import open_lab
from tests import chromium

LOCALES = {"zh": "zh_CN", "en": "en"}
PLUGINS = {"theme": "@jupyterlab/apputils-extension:themes", "locale": "@jupyterlab/translation-extension:plugin"}


@dataclass
class Server:
    """A running JupyterLab on *root*, a copy of the notebooks that tests may change."""

    address: str
    token: str
    root: Path

    def setting(self, name: str, value: str | None) -> None:
        """Set a learner's setting, for pages opened from now on; None goes back to what the workbook sets."""
        body = json.dumps({"raw": json.dumps({name: value} if value else {})}).encode()
        request = urllib.request.Request(f"{self.address}/lab/api/settings/{PLUGINS[name]}", body, method="PUT",
                                         headers={"Authorization": f"token {self.token}"})
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=10):
            pass


HARMLESS: dict[str, str] = {}
"""What a page may write to its console as an error: a part of the words, and why it is no fault of a lab. So far nothing."""


@dataclass
class Lab:
    """A notebook in a page of JupyterLab at *address*. *outside* are requests to another place, *errors* the page's own."""

    page: Page
    address: str
    outside: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        inside = (self.address, self.address.replace("http", "ws"), "data:", "blob:")
        self.page.on("request", lambda request: None if request.url.startswith(inside) else self.outside.append(request.url))
        self.page.on("websocket", lambda socket: None if socket.url.startswith(inside) else self.outside.append(socket.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda said: self.errors.append(f"{said.text} ({said.location.get('url')})")
                     if said.type == "error" and not any(words in said.text for words in HARMLESS) else None)

    @property
    def cells(self) -> Locator:
        """All cells of the notebook, prose too."""
        return self.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Cell")

    def cell_with(self, text: str) -> Locator:
        """The first code cell whose source or output holds *text*."""
        return self.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-CodeCell").filter(has_text=text).first

    def wait_until_idle(self) -> None:
        """Wait until the kernel has nothing left to do."""
        self.page.locator("#jp-main-statusbar", has_text=re.compile(r"\| (Idle|空闲)")).wait_for(timeout=120_000)

    def menu(self, name: str, command: str) -> None:
        """Choose *command* in the menu whose title matches *name*."""
        self.page.locator("#jp-MainMenu .lm-MenuBar-item", has_text=re.compile(f"^({name})$")).click()
        self.page.locator(f'.lm-Menu-item[data-command="{command}"]').click()

    def start_all(self) -> None:
        """Begin to run all cells."""
        prompts = self.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-CodeCell .jp-InputPrompt")
        before = prompts.last.inner_text()
        self.wait_until_idle()
        for _ in range(6):  # while the kernel still connects, which "Idle" does not tell, the command is dropped
            self.menu("Run|运行", "runmenu:run-all")
            try:
                expect(prompts.last).not_to_have_text(before, timeout=4000)
                break
            except AssertionError:
                continue

    def run_all(self) -> None:
        """Run all cells to the end."""
        self.start_all()
        prompts = self.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-CodeCell .jp-InputPrompt")
        expect(prompts.last).to_have_text(re.compile(r"\[\d+\]"), timeout=180_000)
        self.wait_until_idle()

    def save(self) -> None:
        """Save the notebook, as a learner does."""
        self.menu("File|文件", "docmanager:save")
        self.page.locator(".lm-TabBar-tab.jp-mod-current.jp-mod-dirty").wait_for(state="detached", timeout=30_000)


@pytest.fixture(scope="package")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="package")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """Chromium. Without one the browser tests are skipped, and under CI they fail."""
    path = chromium.find(playwright)
    if path is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(chromium.ADVICE)
    started = playwright.chromium.launch(executable_path=path, headless=True, args=list(chromium.FLAGS))
    yield started
    started.close()


@pytest.fixture(scope="package", params=["en"])
def lab_server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The server, with the interface in the language of its parameter, on a folder with a space and Chinese in its name."""
    root = tmp_path_factory.mktemp("server") / "work 记忆"
    root.mkdir()
    for name in ("notebooks", "data"):
        if (launcher.ROOT / name).is_dir():
            shutil.copytree(launcher.ROOT / name, root / name, ignore=shutil.ignore_patterns("sources", ".ipynb_checkpoints"))
    token, port = secrets.token_hex(16), open_lab.free_port(0)
    assert port
    state, settings = root.parent / "state", open_lab.DEPLOY / "jupyterlab" / request.param
    with open_lab.running(root, state, port, token, settings) as (_, address):
        yield Server(address, token, root)


@pytest.fixture
def lab(browser: Browser, lab_server: Server) -> Iterator[Callable[..., Lab]]:
    """Open a notebook: `lab("notebooks/en/a2.ipynb", theme="JupyterLab Dark", lang="zh")`.

    However the test ends, it fails when a page asked another machine for something or had an error of its own, in its console
    too.
    """
    opened: list[Lab] = []

    def open_notebook(path: str, theme: str | None = None, lang: str | None = None, size: tuple[int, int] = (1280, 900)) -> Lab:
        lab_server.setting("theme", theme)
        lab_server.setting("locale", LOCALES[lang] if lang else None)
        opened.append(it := Lab(browser.new_page(viewport={"width": size[0], "height": size[1]}), lab_server.address))
        workspace = f"auto-{secrets.token_hex(3)}"  # of its own, so that no other test's tabs come back
        it.page.goto(f"{lab_server.address}/lab/workspaces/{workspace}/tree/{path}?token={lab_server.token}")
        it.cells.first.wait_for(timeout=60_000)
        return it

    yield open_notebook
    for it in opened:
        it.page.close()
    assert [url for it in opened for url in it.outside] == []
    assert [error for it in opened for error in it.errors] == []
