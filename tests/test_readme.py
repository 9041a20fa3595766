"""The front pages list what is there."""
import re

import pytest

from lab import ROOT
from labsupport.workbench.labs import LABS
from labsupport.workbench.text import speaking

PAGES = {"en": "README.md", "zh": "README.zh-CN.md"}


@pytest.mark.parametrize("lang", PAGES)
def test_the_front_page_lists_every_lab_with_its_title_and_module(lang: str) -> None:
    page = (ROOT / PAGES[lang]).read_text("utf-8")
    with speaking(lang):
        expected = [(f"{lab.id} {lab.title}", f"notebooks/{lang}/{lab.name}.ipynb", lab.module) for lab in LABS]
    rows = re.findall(r"^\| [\d,、 ]+ \| \[(.+?)\]\((.+?)\) \| (?:\[`(.+?)`\]\(.+?\)|–) \|$", page, re.MULTILINE)
    assert rows == [(title, path, "" if module == "–" else module) for title, path, module in expected]


@pytest.mark.parametrize("page", PAGES.values())
def test_links_of_the_front_page_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    links = list(re.findall(r"\]\((?!https?:)([^)#]+)\)", text))
    assert len(links) > len(LABS)
    assert [link for link in links if not (ROOT / link).exists()] == []
