"""Tokens: the fixed estimate against an oracle of its own, and what counts when a provider has reported."""

import json
import math
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labsupport.lossless import joined
from labsupport.sessionlog import (
    Session,
    estimate_content,
    estimate_header,
    estimate_message,
    fold,
    replay,
    surface_tokens,
    tokens,
)
from labsupport.sessionlog.storage import JsonlStore
from labsupport.sessionlog.tokens import ContextTokens, context_tokens, count_tokens, estimate_text
from tests.node import DECODE, ask, needs_node, neutral
from tests.sessionlog import builders as make
from tests.sessionlog.compacting import LONG, session_of
from tests.sessionlog.strategies import NASTY, stored_values, texts

# The oracle: the rules of the estimate once more, over plain JSON


def units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def spelled(number: float) -> str:
    """JavaScript's spelling of a double."""
    if number == 0:
        return "0"
    sign, digits, exponent = re.fullmatch(r"(-?)(\d(?:\.\d+)?)e([+-]\d+)", shortest(number)).groups()
    digits, point = digits.replace(".", ""), int(exponent) + 1
    if 0 < point <= 21:
        text = digits.ljust(point, "0")
        text = text[:point] + ("." + text[point:] if text[point:] else "")
    elif -6 < point <= 0:
        text = "0." + "0" * -point + digits
    else:
        text = digits[0] + ("." + digits[1:] if digits[1:] else "") + f"e{point - 1:+d}"
    return sign + text


def shortest(number: float) -> str:
    """*number* in exponent form, with the fewest digits that read back as the same double."""
    return next(text for precision in range(17) if float(text := f"{number:.{precision}e}") == number)


def script_json(value: Any) -> str:
    """The text of JSON.stringify."""
    if isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False)
        return "".join(f"\\u{ord(sign):04x}" if 0xD800 <= ord(sign) < 0xE000 else sign for sign in text)
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, int | float):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        return "null" if math.isinf(number) else spelled(number)
    if isinstance(value, list):
        return "[" + ",".join(map(script_json, value)) + "]"
    indexes = [key for key in value if key.isascii() and key.isdigit() and str(int(key)) == key and int(key) < 2**32 - 1]
    keys = [*sorted(indexes, key=int), *(key for key in value if key not in indexes)]
    return "{" + ",".join(f"{script_json(key)}:{script_json(value[key])}" for key in keys) + "}"


def quarter(length: int) -> int:
    return math.ceil(length / 4)


def cost(block: Any) -> int:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind in ("text", "reasoning") and isinstance(block.get("text"), str):
        return quarter(units(block["text"])) + 4
    if kind == "tool-call" and isinstance(block.get("name"), str) and isinstance(block.get("arguments"), str):
        return quarter(units(block["name"])) + quarter(units(block["arguments"])) + 4
    if kind == "tool-result" and isinstance(block.get("content"), list):
        return sum(map(cost, block["content"])) + 4
    return quarter(units(script_json(block))) + 4


kinds = st.sampled_from(["text", "reasoning", "tool-call", "tool-result", "image", "attachment", "", None, 3])
whole_texts = texts | st.sampled_from(["x" * length for length in (1, 3, 4, 5, 400)] + ["预算" * 3, "🙂" * 5])
blocks = st.recursive(
    st.fixed_dictionaries(
        {"type": kinds},
        optional={"text": whole_texts | stored_values, "name": whole_texts | st.none(), "arguments": whole_texts | st.none(),
                  "more": stored_values, "7": stored_values, "10": whole_texts},
    )
    | stored_values,
    lambda inner: st.fixed_dictionaries({"type": st.just("tool-result"), "content": st.lists(inner, max_size=3)}),
    max_leaves=5,
)


@given(st.lists(blocks, max_size=3))
def test_the_estimate_is_the_rule(content):
    assert estimate_content(content) == sum(map(cost, content))
    assert estimate_message({"content": content}) == sum(map(cost, content)) + 4


@given(st.none() | whole_texts, st.none() | st.lists(stored_values, max_size=3))
def test_the_header_costs_its_system_prompt_and_its_tools(system, given_tools):
    header = {"config": {"provider": "p" * 500, "model": "m"}}
    header |= {} if system is None else {"system": system}
    header |= {} if given_tools is None else {"tools": given_tools}
    expected = 0 if system is None else quarter(units(system)) + 4
    expected += quarter(units(script_json(given_tools))) + 4 if given_tools else 0
    assert estimate_header(header) == expected


@pytest.mark.parametrize(("content", "expected", "reason"), [
    ([], 0, "nothing"),
    ([make.text_block("")], 4, "a block costs 4 on its own"),
    ([make.text_block("abcd")], 5, "four units are one token"),
    ([make.text_block("abcde")], 6, "and a fifth is another"),
    ([make.text_block("🙂🙂")], 5, "an emoji is two units"),
    ([make.text_block("\ud83d")], 5, "half an emoji is one unit in a text"),
    ([{"type": "x", "t": "\ud83d"}], 11, "and six in JSON: 25 units"),
    ([make.call_block("c" * 400)], 4 + 1 + 1, "the id of a call costs nothing"),
    ([make.result_data("c1", "abcd")["message"]["content"][0]], 9, "a result costs its content and 4"),
    ([{"type": "tool-result", "content": []}], 4, "a result of nothing"),
    ([{"type": "tool-result"}], 10, "a result without content is read as JSON: 22 units"),
    ([{"type": "text"}], 8, "so is a text without text: 15"),
    ([{"type": "text", "text": 5}], 10, "and one that is no text: 24"),
    ([{"type": "x", "n": 1e21}], 10, "1e+21, in JavaScript's spelling: 22"),
    ([{"type": "x", "n": 10**21}], 10, "and a long integer as well"),
    ([{"b": 1, "2": 1, "1": 1}], 9, "19 units in any order"),
    ([None, "x", [], 7], 4 * 4 + 1 + 1 + 1 + 1, "what is no block at all"),
])
def test_known_estimates(content, expected, reason):
    assert estimate_content(content) == sum(map(cost, content)) == expected, reason


@needs_node
def test_the_oracle_and_the_estimate_agree_with_javascript():
    values: list[Any] = [{"type": "x", "v": one} for one in [
        *NASTY, 0.1, 1e21, 1e-7, 1.5e300, 5e-324, 123456789012345680.0, 1e16, 2**53, -7,
        {"10": 1, "9": 2, "b": 3, "a": "\udc00"}, [], {}, [[None, True]], "预算🙂"]]
    lengths = ask(f"(it) => {{ {DECODE} return JSON.stringify(decode(it)).length; }}", [neutral(one) for one in values])
    assert [units(script_json(one)) for one in values] == lengths
    assert [estimate_content([one]) for one in values] == [quarter(length) + 4 for length in lengths]


def test_deep_and_odd_blocks_have_an_estimate():
    deep: Any = {"type": "text", "text": "abcd"}
    other: Any = []
    for _ in range(20_000):
        deep, other = {"type": "tool-result", "content": [deep]}, [other]
    assert estimate_content([deep]) == 20_000 * 4 + 5
    assert estimate_content([{"type": "x", "v": other}]) == quarter(40_002 + 17) + 4


def test_b73_the_spec_wins_a_token_is_four_units_and_the_docs_say_that_chinese_costs_more():
    said = "你好世界" * 25
    assert estimate_text(said) == 25
    assert count_tokens(said) > 25
    assert "Chinese texts cost more than it says" in estimate_text.__doc__
    assert "UTF-16 units" in estimate_text.__doc__
    assert "exact for that family and an estimate for the rest" in " ".join(count_tokens.__doc__.split())
    family = "👨\u200d👩\u200d👧" * 5
    assert (estimate_text(family), len(family)) == (10, 25)


# What a provider reported


def answered(usage: object, text: str = "ok", id: str = "a") -> make.Record:
    said = make.says_data(make.text_block(text), id=id)
    return make.record("assistant/message", {**said, "usage": usage}, surfaceOp="append")


def estimated(session: Session) -> int:
    return fold(surface_tokens, session.events)["tokens"] + estimate_header(session.request_header())


@given(st.lists(st.sampled_from(["user", "usage", "answer", "replace", "prune", "title"]), max_size=14), st.data())
def test_what_was_reported_counts_until_something_of_it_is_replaced(kinds, data):
    session = Session.create("s1")
    header = {"config": {"provider": "p", "model": "m"}, "system": "Be brief.", "tools": [{"name": "read"}]}
    session.append("request/header", {"header": header, "reason": "initial"})
    reported: dict[int, int] = {}
    replaced = -1
    for at, kind in enumerate(kinds, 1):
        nodes = list(session.surface.nodes)
        if kind == "usage":
            counts = data.draw(st.lists(st.integers(0, 500), min_size=4, max_size=4))
            usage = dict(zip(("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"), counts, strict=True))
            reported[make.append(session, answered({**usage, "reasoningTokens": 77})).seq] = sum(counts)
        elif kind == "replace" and nodes:
            first = data.draw(st.integers(0, len(nodes) - 1))
            last = data.draw(st.integers(first, len(nodes) - 1))
            make.append(session, make.user("s", f"s{at}", make.replacing(nodes[first], nodes[last]),
                                           sourceEventSeqs=nodes[first:last + 1]))
            replaced = at
        else:
            make.append(session, {"user": make.user(LONG), "answer": make.says("x"),
                                  "title": make.record("session/title", {})}.get(kind, make.user("y")))
    nodes = list(session.surface.nodes)
    latest = max((seq for seq in reported if seq in nodes and seq > replaced), default=None)
    found = context_tokens(session)
    if latest is None:
        assert found == ContextTokens(estimated(session), 0, None)
    else:
        behind = sum(estimate_message(session.message(seq)) for seq in nodes if seq > latest)
        assert found == ContextTokens(reported[latest] + behind, reported[latest], latest)
    assert context_tokens(replay(session.events)) == found


def test_a_resumed_session_believes_the_same_report(tmp_path):
    store = JsonlStore(tmp_path)
    make.stored(store, make.turn_start(), make.step_start(), make.user(LONG), make.request_header(),
                answered({"inputTokens": 900, "outputTokens": 10}), make.step_end(), make.turn_end())
    assert context_tokens(store.load("s1").session()) == ContextTokens(910, 910, 4)


@pytest.mark.parametrize("usage", [{}, {"outputTokens": 5}, {"inputTokens": -5, "outputTokens": 1}, {"inputTokens": True}, "x",
                                   [], {"inputTokens": "900"}, {"inputTokens": None}, {"inputTokens": 0.5}], ids=str)
def test_a_usage_that_does_not_say_what_went_in_reports_nothing(usage):
    session = session_of(make.request_header(), make.user(LONG), answered(usage))
    assert context_tokens(session) == ContextTokens(estimated(session), 0, None)


def test_a_usage_that_says_nothing_does_not_hide_one_that_does():
    session = session_of(make.user(LONG), answered({"inputTokens": 40, "outputTokens": 2}), make.user("hi"), answered({}))
    behind = sum(estimate_message(session.message(seq)) for seq in (2, 3))
    assert context_tokens(session) == ContextTokens(42 + behind, 42, 1)


def test_a_count_may_be_spelled_with_a_fraction():
    session = session_of(make.user(LONG), answered({"inputTokens": 900.0, "outputTokens": 1}))
    assert context_tokens(session) == ContextTokens(901, 901, 1)


def test_a_system_prompt_that_grew_behind_the_report_counts():
    session = session_of(make.request_header(), make.user("x"), answered({"inputTokens": 10, "outputTokens": 1}))
    header = {"config": {"provider": "p", "model": "m"}, "system": "x" * 40_000}
    session.append("request/header", {"header": header, "reason": "change"})
    assert context_tokens(session).tokens >= estimate_header(header)


def test_the_estimate_needs_no_tokenizer(monkeypatch):
    monkeypatch.setattr(tokens, "_tokenizer", lambda: pytest.fail("it was asked"))
    assert estimate_text(joined("\ud83d\ude42" * 8)) == 4
