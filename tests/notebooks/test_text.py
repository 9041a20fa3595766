"""The words: both languages complete, nothing missing, nothing unused."""
import ast
import re
import string
from pathlib import Path

import pytest

import labsupport.workbench
from labsupport.workbench import text
from labsupport.workbench.text import language, say, speaking, system_language, vocabulary

WORKBENCH = Path(labsupport.workbench.__file__).parent
SPEAKERS = {"say", "wrong", "Stage", "Fact"}  # functions whose first argument is a key


def placeholders(form):
    return {name for _, name, _, _ in string.Formatter().parse(form) if name}


def code_files():
    return [path for part in ("workbench", "classroom") for path in WORKBENCH.parent.joinpath(part).rglob("*.py")
            if path.parent.name != "text"] + sorted((WORKBENCH.parents[1] / "notebooks").glob("**/*.py"))


def literals(path):
    return {node.value for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def spoken(path):
    return {node.args[0].value for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SPEAKERS
            and node.args and isinstance(node.args[0], ast.Constant)}


@pytest.mark.parametrize("key", sorted(vocabulary()))
def test_a_word_is_complete(key):
    forms = vocabulary()[key]
    assert {"zh", "en"} <= set(forms) <= {"zh", "en", "one"}
    assert placeholders(forms["zh"]) == placeholders(forms["en"])
    if "one" in forms:
        assert placeholders(forms["one"]) <= placeholders(forms["en"])
        assert "n" in placeholders(forms["en"])


def test_no_word_is_unused():
    used = set().union(*(literals(path) for path in code_files()))
    assert sorted(vocabulary().keys() - used) == []


def test_no_word_is_missing():
    asked = {key: path.name for path in code_files() for key in spoken(path)}
    assert {key: file for key, file in asked.items() if key not in vocabulary()} == {}
    assert len(asked) > 20  # the search finds something


def test_chinese_words_are_chinese():
    """A form without a Chinese character holds figures, marks and names only."""
    terms = {"token", "JSON", "Python", "id", "parse_session_message", "load_session"}
    plain = {key: re.sub(r"\{[^}]*\}", "", forms["zh"]) for key, forms in vocabulary().items()}
    bare = [key for key, form in plain.items()
            if not re.search("[\u4e00-\u9fff]", form) and set(re.findall("[A-Za-z_]+", form)) - terms]
    assert bare == ["twin"]  # it leads to the English notebook


def test_english_has_a_form_for_one(monkeypatch):
    monkeypatch.setitem(vocabulary(), "units", {"zh": "{n:,} 个单元", "en": "{n:,} units", "one": "{n:,} unit"})
    with speaking("en"):
        assert [say("units", n=n) for n in (0, 1, 1200)] == ["0 units", "1 unit", "1,200 units"]
    with speaking("zh"):
        assert say("units", n=1) == "1 个单元"


def test_a_key_belongs_to_one_module(monkeypatch):
    from labsupport.workbench.text import common, start

    monkeypatch.setattr(start, "WORDS", start.WORDS | {"error": common.WORDS["error"]})
    text.vocabulary.cache_clear()
    with pytest.raises(ValueError, match="'error' is taken"):
        vocabulary()
    monkeypatch.undo()
    text.vocabulary.cache_clear()
    assert say("error")


def test_speaking_ends_with_its_block_even_after_an_error():
    with speaking("zh"):
        with pytest.raises(KeyError), speaking("en"):
            say("no such word")
        assert say("role_user") == "用户"


@pytest.mark.parametrize(("content", "expected"), [
    pytest.param("zh\n", "zh", id="zh"),
    pytest.param("en\n", "en", id="en"),
    pytest.param("fr\n", "en", id="an unknown language is the system's"),
    pytest.param(None, "en", id="no file is the system's"),
])
def test_the_language_is_in_the_file_above(tmp_path, monkeypatch, content, expected):
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "en_US.UTF-8")
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    if content:
        (tmp_path / ".lang").write_text(content, "utf-8")
    assert language(below) == expected


@pytest.mark.parametrize(("name", "expected"), [
    ("zh_CN.UTF-8", "zh"), ("Chinese (Simplified)_China.936", "zh"), ("en_US.UTF-8", "en"), ("C", "en"), ("de_DE", "en")])
def test_the_language_of_the_system(monkeypatch, name, expected):
    monkeypatch.setenv("LC_ALL", name)
    assert system_language() == expected
