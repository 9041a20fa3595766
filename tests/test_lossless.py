"""JavaScript's JSON text and its length: a table of known values, laws, and JavaScript itself."""
import random
import struct
from collections import OrderedDict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labsupport.errors import LosslessError
from labsupport.frozen import freeze
from labsupport.lossless import MAX_SAFE_INTEGER, joined, js_json, js_length, js_number, utf16_length, utf16_length_of_utf8
from labsupport.strict_json import read_json
from tests.miniagent.strategies import any_text, values
from tests.node import DECODE, ask, needs_node, neutral

NUMBERS = [  # each right side was written by JSON.stringify
    (0.0, "0"), (-0.0, "0"), (1.0, "1"), (-1.0, "-1"), (0.1, "0.1"), (-0.5, "-0.5"), (100.0, "100"),
    (1e20, "100000000000000000000"),
    (1.5e20, "150000000000000000000"), (1.2345678901234568e20, "123456789012345680000"), (1e21, "1e+21"), (1.5e21, "1.5e+21"),
    (1.2345678901234568e21, "1.2345678901234568e+21"), (-1e21, "-1e+21"), (1e22, "1e+22"), (1e100, "1e+100"),
    (12e100, "1.2e+101"),
    (1e-6, "0.000001"), (1.5e-6, "0.0000015"), (1e-7, "1e-7"), (1.5e-7, "1.5e-7"), (-1e-7, "-1e-7"), (123e-20, "1.23e-18"),
    (0.000123, "0.000123"), (5e-324, "5e-324"), (2.2250738585072014e-308, "2.2250738585072014e-308"),
    (1.7976931348623157e308, "1.7976931348623157e+308"), (9007199254740991.0, "9007199254740991"),
    (0.1 + 0.2, "0.30000000000000004"),
    (1 / 3, "0.3333333333333333"), (4.35, "4.35"), (3.141592653589793, "3.141592653589793"), (1e23, "1e+23"),
]
TEXTS = [
    ("", '""', 2), ('"\\/', '"\\"\\\\/"', 7), ("\b\t\n\f\r", '"\\b\\t\\n\\f\\r"', 12), ("\x00\x1f", '"\\u0000\\u001f"', 14),
    ("\x7f\x80\x85", '"\x7f\x80\x85"', 5), ("\u2028\u2029\ufeff", '"\u2028\u2029\ufeff"', 5), ("预算", '"预算"', 4),
    ("🙂", '"🙂"', 4),
    ("\ud83d", '"\\ud83d"', 8), ("\ude42\ud83d", '"\\ude42\\ud83d"', 14), ("\ud83d\ude42", '"🙂"', 4),
    ("\udfff", '"\\udfff"', 8),
]


@pytest.mark.parametrize(("value", "text"), NUMBERS, ids=[text for _, text in NUMBERS])
def test_a_number_is_spelled_as_in_javascript(value: float, text: str) -> None:
    assert js_number(value) == js_json(value) == text


@pytest.mark.parametrize(("value", "text", "length"), TEXTS, ids=[ascii(value) for value, _, _ in TEXTS])
def test_a_string_is_escaped_as_in_javascript(value: str, text: str, length: int) -> None:
    assert js_json(value) == text
    assert js_length(value) == length == utf16_length(text)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_what_json_has_no_number_for_is_refused(value: float) -> None:
    for refuse in (js_number, js_json, js_length):
        with pytest.raises(LosslessError, match="no spelling in JSON"):
            refuse(value)


def _cycle() -> list[Any]:
    value: list[Any] = [1]
    value.append({"again": value})
    return value


REFUSED = [
    ((1, 2), "$", "a tuple is a list after the way through JSON"), ({"a": [0, {1}]}, "$[key 1][1]", "a set"),
    (b"x", "$", "bytes"), ({1: 2}, "$[key 1]", "a key that is a number"), ({None: 1}, "$[key 1]", "a key that is null"),
    ([[float("nan")]], "$[0][0]", "not a number"), (_cycle(), "$[1][key 1]", "a cycle"),
    (OrderedDict(a=1), "$", "a dict of another kind"),
    ([object()], "$[0]", "an object"), ({"a": 1, "b": {"c": 1j}}, "$[key 2][key 1]", "the path counts keys from 1"),
]


@pytest.mark.parametrize(("value", "where", "reason"), REFUSED, ids=[reason for *_, reason in REFUSED])
def test_what_json_cannot_carry_is_refused_with_its_place(value: object, where: str, reason: str) -> None:
    with pytest.raises(LosslessError) as caught:
        js_json(value)
    assert caught.value.where == where
    assert str(caught.value) == f"{where}: {caught.value.what}"


@pytest.mark.parametrize(("value", "reason"), [
    (MAX_SAFE_INTEGER + 1, "the first integer that is not alone"), (-MAX_SAFE_INTEGER - 1, "and below zero"),
    (10**5000, "5,001 digits"),
    (1.2345678901234568e20, "its digits are those of another integer"), ("\ud83d\ude42", "a pair in two halves"),
    ({"\ud83d\ude42": 1}, "the same in a key"),
], ids=lambda value: value if isinstance(value, str) and value.isascii() else "value")
def test_exact_refuses_what_another_reader_would_change(value: object, reason: str) -> None:
    assert js_json(value), reason
    with pytest.raises(LosslessError):
        js_json(value, exact=True)


@pytest.mark.parametrize("value",
                         [MAX_SAFE_INTEGER, -MAX_SAFE_INTEGER, 1e21, -0.0, "\ud83d", "🙂", {"\ude42\ud83d": None}])
def test_exact_takes_what_comes_back_equal(value: object) -> None:
    assert read_json(js_json(value, exact=True).encode()) == value


def test_an_integer_keeps_its_digits_however_many() -> None:
    assert js_json(-(10**5000)) == "-1" + "0" * 5000
    assert js_json([12345678901234567890]) == "[12345678901234567890]"


def test_depth_is_bounded_by_memory_only() -> None:
    value: Any = "x"
    for _ in range(20_000):
        value = {"k": [value]}
    assert js_json(value) == '{"k":[' * 20_000 + '"x"' + "]}" * 20_000
    assert js_length(freeze(value)) == 20_000 * 8 + 3


def test_what_is_shared_without_a_cycle_is_written_twice() -> None:
    shared = [1]
    assert js_json([shared, {"k": shared}]) == '[[1],{"k":[1]}]'


@given(values)
def test_what_is_written_is_read_back(value: object) -> None:
    text = js_json(value, exact=True)
    assert read_json(text.encode()) == value
    assert js_json(read_json(text.encode())) == text == js_json(freeze(value))


@given(values)
def test_the_length_is_that_of_the_text(value: object) -> None:
    assert js_length(value) == len(js_json(value).encode("utf-16-le")) // 2


@given(any_text)
def test_lengths_are_counted_in_utf16_units(text: str) -> None:
    units = len(text.encode("utf-16-le", "surrogatepass")) // 2
    assert utf16_length(text) == units == utf16_length(joined(text))
    assert joined(joined(text)) == joined(text)
    clean = text.encode("utf-8", "ignore")
    assert utf16_length_of_utf8(clean) == utf16_length(clean.decode())


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_reads_back_as_the_same_double(value: float) -> None:
    assert struct.pack("<d", float(js_number(value))) == struct.pack("<d", value + 0.0)  # -0 is written as 0


class Loud(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "another text"


def test_joining_gives_a_plain_string() -> None:
    assert (type(joined(Loud("x"))), joined(Loud("x"))) == (str, "x")


# JavaScript itself

def _random_value(rnd: random.Random, depth: int = 0) -> Any:
    kind = rnd.randrange(6 if depth < 3 else 4)
    if kind == 0:
        return rnd.choice([None, True, False, rnd.randrange(-MAX_SAFE_INTEGER, MAX_SAFE_INTEGER)])
    if kind == 1:  # any bits that are a finite double
        value = struct.unpack(">d", rnd.randbytes(8))[0]
        return value if abs(value) < float("inf") else 0.0
    if kind == 2:  # near the borders where the spelling changes
        return rnd.choice([1, -1]) * rnd.randrange(1, 10**rnd.randrange(1, 18)) * 10.0**rnd.randrange(-12, 24)
    if kind == 3:
        return "".join(chr(rnd.choice([rnd.randrange(0x80), rnd.randrange(0x3000), rnd.randrange(0xD780, 0xE000),
                                       rnd.randrange(0x110000)]))
                       for _ in range(rnd.randrange(6)))
    items = [_random_value(rnd, depth + 1) for _ in range(rnd.randrange(4))]
    # A key that is a number would move to the front in JavaScript: keys here begin with a letter.
    return items if kind == 4 else {f"k{_random_text(rnd)}{index}": item for index, item in enumerate(items)}


def _random_text(rnd: random.Random) -> str:
    return "".join(chr(rnd.choice([34, 92, 10, 0x2028, 0xD83D, 0xDE42, 0x1F642, 0x9884])) for _ in range(rnd.randrange(3)))


@needs_node
def test_javascript_writes_the_same_text_and_counts_the_same_length() -> None:
    rnd = random.Random(34)
    cases = [_random_value(rnd) for _ in range(4000)] + [value for value, _ in NUMBERS] + [text for text, *_ in TEXTS]
    answers = ask(f"it => {{ {DECODE} const text = JSON.stringify(decode(it)); return [text, text.length]; }}",
                  [neutral(case) for case in cases])
    wrong = [(case, text, js_json(case)) for case, (text, length) in zip(cases, answers, strict=True)
             if (text, length) != (js_json(case), js_length(case))]
    assert wrong == []


@pytest.mark.parametrize("value", [1e20, 2.5e17, -2.0**53 - 2])
def test_exact_refuses_a_float_that_would_come_back_as_an_unsafe_integer(value: float) -> None:
    """It comes back equal, but as an int that cannot be written again."""
    assert js_json(value).lstrip("-").isdigit()
    with pytest.raises(LosslessError, match="read back as an integer"):
        js_json(value, exact=True)


def test_a_very_long_integer_is_written_with_all_its_digits() -> None:
    text = "-9" + "70" * 60_000 + "1"
    assert js_json(read_json(text.encode())) == text
