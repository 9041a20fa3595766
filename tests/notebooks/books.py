"""What the tests of the notebooks share: where the notebooks are, and how they are read."""
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import build
import nbformat

from labsupport.workbench.labs import LABS

SOURCES = sorted(build.SOURCES.glob("*.py"))
NAMES = [source.stem for source in SOURCES]
PATHS = sorted(path for lang in build.LANGUAGES for path in (build.HERE / lang).glob("*.ipynb"))
VOID = {"col", "br"}
NO_EXERCISE = {"00_start_here": "the start page shows how a lab works; it teaches nothing that could be checked"}
LABS_WITH_EXERCISES = [lab.name for lab in LABS if lab.name not in NO_EXERCISE]


def name_of(path: Path) -> str:
    return "/".join(path.with_suffix("").parts[-2:])


@cache
def _text(lang: str, name: str) -> str:
    return (build.HERE / lang / f"{name}.ipynb").read_text("utf-8")


def read(lang: str, name: str) -> nbformat.NotebookNode:
    """The built notebook; a fresh copy each time, so that a test may spoil it."""
    return nbformat.reads(_text(lang, name), as_version=4)


def code(nb: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [cell for cell in nb.cells if cell.cell_type == "code"]


def prose(nb: nbformat.NotebookNode) -> str:
    return "\n\n".join(cell.source for cell in nb.cells if cell.cell_type == "markdown")


def halves(source: Path) -> dict[str, dict[str, str]]:
    """Key of a prose cell → language → text, for the cells that have both."""
    found: dict[str, dict[str, str]] = {}
    for cell in build.load(source):
        if "lang" in cell.metadata:
            found.setdefault(cell.metadata["title"], {})[cell.metadata["lang"]] = cell.source
    return found


def picture_links(nb: nbformat.NotebookNode) -> list[str]:
    """The targets of all links in prose and in pictures, without those to the net and within the page."""
    links = re.findall(r"\]\(([^)\s]+)\)", prose(nb))
    for cell in code(nb):
        for output in cell.outputs:
            links += re.findall(r'href="([^"]+)"', output.get("data", {}).get("text/html", ""))
    return [link for link in links if not link.startswith(("http:", "https:", "#"))]


class Reader(HTMLParser):
    """Collects the tags of a picture, checks that they nest, and keeps what a page without styles would show."""

    def __init__(self, picture):
        super().__init__()
        self.tags, self.open, self.text, self.attributes = [], [], [], []
        self.feed(picture)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attributes]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text.append(data)
