"""The front pages and the pages for instructors list what is there."""
import re

import pytest

from lab import ROOT
from labsupport.workbench.labs import LABS
from labsupport.workbench.text import speaking, vocabulary

PAGES = {"en": "README.md", "zh": "README.zh-CN.md"}
INSTRUCTORS = {"en": "docs/instructors.md", "zh": "docs/instructors.zh.md"}


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


@pytest.mark.parametrize("lang", INSTRUCTORS)
def test_instructors_have_a_row_for_each_lab_with_a_section_and_sentences_that_are_there(lang: str) -> None:
    page = (ROOT / INSTRUCTORS[lang]).read_text("utf-8")
    rows = re.findall(r"^\| ([AB]\d+) \|.*?\| (?:\*(.+?)\*: “|《(.+?)》：“)(.+)$", page, re.MULTILINE)
    assert [id for id, *_ in rows] == [lab.id for lab in LABS[1:]]
    for lab, (id, en, zh, rest) in zip(LABS[1:], rows, strict=True):
        source = (ROOT / f"notebooks/sources/{lab.name}.py").read_text("utf-8")
        assert re.search(rf"^# ## {re.escape(en or zh)}(?!\w)", source, re.MULTILINE), (id, en or zh)
        keys = re.findall(rf"`({id.lower()}_\w+)`", rest)
        assert keys, id
        assert [key for key in keys if key not in vocabulary()] == []


@pytest.mark.parametrize("page", INSTRUCTORS.values())
def test_links_of_the_pages_for_instructors_lead_somewhere(page: str) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", (ROOT / page).read_text("utf-8"))
    assert links
    assert [link for link in links if not (ROOT / "docs" / link).exists()] == []
