"""The chapter's questions: the start page says which lab asks each, and that lab does, with an answer to unfold."""
import re

import build
import pytest

from labsupport.workbench.labs import LABS
from tests.notebooks.books import prose, read

LABELS = {"zh": {"基础题": "basic", "故障题": "fault", "系统设计题": "design"},
          "en": {"basic": "basic", "fault": "fault", "system design": "design"}}
LISTED = {"zh": r"思考题 (\d+)|面试·(\w+)", "en": r"Question (\d+)|Interview, (.+)"}
ASKED = {
    "zh": {r"\*\*(?:教材的)?思考题 (\d+)(?:（★+）：|。)": None, r"\*\*面试·基础题：": "basic",
           r"\*\*面试(?:·故障题：|题（故障题）：)": "fault", r"\*\*系统设计题：": "design"},
    "en": {r"\*\*Question (\d+)(?: of the chapter \(★+\):|\.)": None, r"\*\*Interview, the basics:": "basic",
           r"\*\*Interview(?:, a fault to find:| question \(fault\):)": "fault", r"\*\*System design:": "design"}}
ANSWER = {"zh": "参考答案", "en": "An answer"}
ALL = {*map(str, range(1, 11)), "basic", "fault", "design"}


def listed(nb, lang):
    """Question → the ids of the labs that the table of the start page names, with the names that their links lead to."""
    found = {}
    for row in re.findall(r"(?m)^\| (.+?) \| .+? \| (.+) \|$", prose(nb)):
        if label := re.fullmatch(LISTED[lang], row[0]):
            question = label[1] or LABELS[lang][label[2]]
            assert question not in found
            found[question] = dict(re.findall(r"\[(\w+)\]\((\w+)\.ipynb\)", row[1]))
    return found


def asked(nb, lang):
    """Question → whether an answer is folded under it, before anything else is asked or a new part begins."""
    text, found = prose(nb), {}
    for pattern, name in ASKED[lang].items():
        for match in re.finditer(pattern, text):
            question = name or match[1]
            assert question not in found
            rest = text[match.end():]
            end = re.search(r"(?m)^## |" + "|".join(ASKED[lang]), rest)
            found[question] = f"<summary>{ANSWER[lang]}</summary>" in rest[:end.start() if end else None]
    return found


@pytest.mark.parametrize("lang", build.LANGUAGES)
def test_every_question_is_asked_in_exactly_the_labs_that_the_start_page_names(lang):
    table = listed(read(lang, "00_start_here"), lang)
    assert set(table) == ALL
    names = {lab.id: lab.name for lab in LABS}
    assert all(names[id] == name for labs in table.values() for id, name in labs.items())
    found = {lab.id: asked(read(lang, lab.name), lang) for lab in LABS}
    assert {question: {id for id in found if question in found[id]} for question in ALL} == {
        question: set(labs) for question, labs in table.items()}
    assert [(id, question) for id, questions in found.items() for question, folded in questions.items() if not folded] == []


def test_both_languages_name_the_same_labs():
    zh, en = (listed(read(lang, "00_start_here"), lang) for lang in build.LANGUAGES)
    assert zh == en
