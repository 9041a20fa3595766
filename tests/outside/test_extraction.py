"""From what a user said to facts: what the rules understand, and what they leave alone."""
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labsupport.outside import RULES, Evidence, Fact, Memory, Rule, extract


def found(*said: str) -> dict[str, str]:
    """The facts in these messages, which have the seqs 0, 1, 2 …"""
    return {fact.key: fact.value for fact in extract("monday", enumerate(said))}


UNDERSTOOD = {
    "remember with a colon": ("remember: X is Y", {"x": "Y"}),
    "remember that": ("Please remember that the budget is 400 characters.", {"budget": "400 characters"}),
    "several": ("Remember: my colours are red and blue!", {"colours": "red and blue"}),
    "the first is": ("remember: what it is is what it is", {"what it": "is what it is"}),
    "a dot inside": ("remember: site is example.com", {"site": "example.com"}),
    "a question behind it": ("Remember: my city is Berlin. How cold is it?", {"city": "Berlin"}),
    "several lines": ("hello\nremember: a is 1\r\nremember: b is 2", {"a": "1", "b": "2"}),
    "spaces": ("  remember :\t my   city  is   New   York  ", {"city": "New York"}),
    "full width": ("remember：ＣＩＴＹ is Rome", {"city": "Rome"}),
    "Chinese": ("请记住：X 是 Y", {"x": "Y"}),
    "Chinese without spaces": ("你好。请记住，我的城市是柏林。今天冷吗？", {"城市": "柏林"}),
    "Chinese without a colon": ("记住口径是净收入", {"口径": "净收入"}),
    "a negated value": ("remember: the deadline is not Friday", {"deadline": "not Friday"}),
    "a language": ("Please answer in Chinese, please.", {"language": "zh"}),
    "a language in Chinese": ("以后都用英文回答我", {"language": "en"}),
    "two spellings of one language": ("请用汉语回复", {"language": "zh"}),
    "units": ("use metric units please", {"units": "metric"}),
    "units in Chinese": ("请使用英制单位。", {"units": "imperial"}),
}
LEFT_ALONE = {
    "nothing": "", "talk": "My city is Berlin.", "a negation": "Don't remember: a is b", "another": "Do not answer in English.",
    "in Chinese": "不要用中文回答", "and": "别记住：X是Y", "what it is not": "记住：X不是Y", "whether": "记住：X是不是Y",
    "a question": "Remember: my city is what?", "in Chinese, a question": "请记住：X是什么？",
    "a quotation": "She said: remember: a is b", "more in one sentence": "answer in English when Ben asks",
    "another language": "answer in Klingon", "no value": "remember: my city is", "no key": "remember: is Berlin",
    "a tool": "rm -rf is",
}


@pytest.mark.parametrize(("said", "facts"), UNDERSTOOD.values(), ids=UNDERSTOOD)
def test_what_is_understood(said: str, facts: dict[str, str]) -> None:
    assert found(said) == facts


@pytest.mark.parametrize("said", LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_what_is_left_alone(said: str) -> None:
    assert found(said) == {}


def test_a_later_statement_holds_and_both_are_evidence() -> None:
    said = [(9, "remember: CITY is Rome"), (2, "remember: my city is Berlin"), (5, "answer in English")]
    expected = [Fact("language", "en", Evidence("s", (5,))), Fact("city", "Rome", Evidence("s", (2, 9)))]
    assert extract("s", said) == extract("s", sorted(said)) == expected


@pytest.mark.parametrize("taken_back", ["Forget my city.", "please forget about the city", "forget: CITY", "FORGET city!"])
def test_what_is_taken_back_is_no_fact_unless_it_is_said_again(taken_back: str) -> None:
    said = ["remember: my city is Berlin", "remember: a is b", taken_back]
    assert found(*said) == {"a": "b"}
    again = extract("s", enumerate([*said, "remember: city is Rome"]))
    assert again[-1] == Fact("city", "Rome", Evidence("s", (3,)))


def test_what_is_taken_back_in_chinese() -> None:
    assert found("记住：我的城市是柏林", "请忘记我的城市。") == {}


def test_rules_of_ones_own() -> None:
    rule = Rule(re.compile(r"ship to (?P<value>\w+)"), "address", {"home": "the home address"})
    assert extract("s", [(1, "ship to home"), (2, "answer in English")], [rule]) == [
        Fact("address", "the home address", Evidence("s", (1,)))]
    assert [fact.key for fact in extract("s", [(1, "ship to home"), (2, "answer in English")], [*RULES, rule])] == [
        "address", "language"]


SENTENCES = st.sampled_from([
    "remember: a is 1", "remember: a is 2", "记住：b是3", "forget a", "忘记b", "answer in English", "请用中文回答", "hello",
    "?"])


@given(said=st.lists(st.tuples(st.integers(0, 50), SENTENCES), unique_by=lambda one: one[0]), random=st.randoms())
def test_law_the_order_of_handing_in_does_not_matter_and_each_fact_has_its_places(said: Any, random: Any) -> None:
    facts = extract("s", said)
    shuffled = list(said)
    random.shuffle(shuffled)
    assert extract("s", shuffled) == facts
    texts = dict(said)
    for fact in facts:
        last = extract("s", [(seq, texts[seq]) for seq in fact.evidence.seqs])
        assert last == [fact], "its evidence alone says the same"
    assert len({fact.key for fact in facts}) == len(facts)


@given(st.lists(st.tuples(st.integers(0, 9), st.text(st.characters()))))
def test_law_no_text_is_too_odd(said: Any) -> None:
    assert extract("s", said) == extract("s", said)


@pytest.mark.parametrize("text", [
    " " * 2**20, "remember: " + " is" * 2**18, "请记住：" + " " * 2**20, "记住" + "不是" * 2**18, "forget " + "x" * 2**20,
    ". " * 2**18, "remember:" * 2**16, "\ud800\0 is \udfff",
], ids=lambda text: ascii(text[:12]))
def test_a_megabyte_of_anything_is_no_fact(text: str) -> None:
    assert extract("s", [(1, text)]) == []


def test_facts_of_two_sessions_meet_in_a_memory(tmp_path: Any) -> None:
    with Memory(tmp_path / "memory.db", clock=lambda: 1000) as memory:
        for session, said in {"monday": "请用中文回答", "friday": "answer in Chinese"}.items():
            for fact in extract(session, [(3, said)]):
                memory.remember(fact, owner="ana")
        entry = memory.read("language", reader="ana")
    assert (entry.value, entry.version, [one.session for one in entry.evidence]) == ("zh", 1, ["friday", "monday"])
