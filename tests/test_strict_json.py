"""The strict reader: what is JSON, what is not, and that both of its ways read alike."""
import json
import random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from labsupport.lossless import js_json
from labsupport.strict_json import _read_deep, read_json
from tests.miniagent.strategies import splinters, values
from tests.node import ask, needs_node

HOLDS_THE_TEXT = (json.JSONDecodeError, UnicodeDecodeError)  # the standard library's errors carry what they could not read
REFUSED = [
    (b"", "expecting value, column 1", "nothing"), (b" ", "expecting value, column 2", "a blank"),
    (b"\r", "expecting value", "a return"),
    (b"\xef\xbb\xbf1", "byte order mark", "a mark in front"), (b"[NaN]", "NaN is no JSON value", "NaN"),
    (b"-Infinity", "-Infinity is no", "infinity"),
    (b"1e999", "too large for a double", "a number that overflows"), (b"-1e999", "too large", "and below zero"),
    (b'"\xff"', "byte 1 is not UTF-8", "a byte that is not UTF-8"),
    (b'"\xed\xa0\x80"', "byte 1 is not UTF-8", "half a pair in UTF-8"),
    (b'"\xc0\xaf"', "byte 1 is not UTF-8", "an overlong form"),
    (b'"\xe4\xbd"', "byte 1 is not UTF-8", "a character cut in two"),
    (b'"a\x0bb"', "invalid control character", "a raw control character"), (b'"\x00"', "invalid control", "a raw NUL"),
    (b"\x00", "expecting value", "NUL"), (b"1\x00", "extra data, column 2", "NUL behind a value"),
    (b"{} {}", "extra data, column 4", "two"),
    (b"01", "extra data", "a leading zero"), (b"+1", "expecting value", "a plus"),
    (b".5", "expecting value", "no digit before the point"),
    (b"1.", "extra data", "no digit behind it"), (b"[1,]", "expecting value", "a comma too many"),
    (b"{'a':1}", "property name", "quotes"),
    (b'{"a":1,}', "property name", "a comma too many in an object"),
    (b"\xc2\xa01", "expecting value", "a blank that JSON does not know"),
    (b'"\\x"', "escape", "an escape that JSON does not know"), (b'"\\u12"', "escape", "half an escape"),
    (b"// no\n1", "expecting", "a comment"),
]


@pytest.mark.parametrize(("data", "words", "reason"), REFUSED, ids=[reason for *_, reason in REFUSED])
def test_what_is_no_json_is_refused_with_its_place(data: bytes, words: str, reason: str) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        read_json(data)
    assert not isinstance(caught.value, HOLDS_THE_TEXT)


def test_every_digit_is_kept() -> None:
    digits = "7" * 5000
    assert read_json(f"[-{digits}]".encode())[0] == -int("7" * 2500) * 10**2500 - int("7" * 2500)
    assert read_json(b"12345678901234567890") == 12345678901234567890


def test_what_only_looks_strange_is_read() -> None:
    assert read_json(b'\t{"\\u0061" :[ -0, 1E400e, "\\ud83d"]}'.replace(b"1E400e", b"1E-400")) == {"a": [0, 0.0, "\ud83d"]}
    assert read_json('"\u2028\u0085\u007f"'.encode()) == "\u2028\u0085\u007f"


@pytest.mark.parametrize("depth", [500, 1500, 20_000, 100_000])
def test_depth_is_bounded_by_memory_only(depth: int) -> None:
    value = read_json(b'[{"k":' * depth + b"null" + b"}]" * depth)
    for _ in range(depth):
        assert list(value[0]) == ["k"]
        value = value[0]["k"]
    assert value is None


@pytest.mark.parametrize(("data", "words"), [
    (b"[" * 20_000, "expecting value, column 20001"), (b"[" * 20_000 + b"]" * 19_999, "delimiter"),
    (b"[" * 20_000 + b"]" * 20_001, "extra data"), (b'{"k":' * 20_000 + b"NaN" + b"}" * 20_000, "NaN is no|expecting value"),
    (b"[" * 20_000 + b"1e999" + b"]" * 20_000, "too large for a double"), (b'[{"k"' * 9_000, "':' delimiter"),
    (b"[" * 20_000 + b'"\\x"', "escape"), (b"[" * 20_000 + b"{}," + b"]" * 20_000, "expecting value"),
    (b"[" * 20_000 + b"1;2" + b"]" * 20_000, "',' delimiter"),
    (b'{"k":' * 20_000 + b'{"a":1;"b":2}' + b"}" * 20_000, "',' delimiter"),
], ids=["never closed", "closed once too few", "closed once too often", "NaN", "overflow", "no colon", "an escape",
        "a comma too many", "another mark in a list", "and in an object"])
def test_deep_text_is_read_as_strictly(data: bytes, words: str) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        read_json(data)
    assert not isinstance(caught.value, HOLDS_THE_TEXT)


@st.composite
def almost_json(draw: st.DrawFn) -> bytes:
    data = js_json(draw(values)).encode()
    at = draw(st.integers(0, len(data)))
    return data[:at] + draw(st.just(b"") | splinters) + data[at + draw(st.integers(0, 2)):]


def outcome(read: Any, given: Any) -> tuple[Any, str]:
    """What *read* gives; the second half tells 1, 1.0 and True apart."""
    try:
        value = read(given)
    except ValueError:
        return ValueError, ""
    return value, repr(value)


@given(almost_json())
@example(b'{"a":1,"a":{"a":2},"b":-0.0}')
@example(b" [ ] ")
@example(b"truex")
@example(b"{ }\r\n")
def test_both_ways_of_reading_read_alike(data: bytes) -> None:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        assert outcome(read_json, data)[0] is ValueError
    else:
        assert outcome(read_json, data) == outcome(_read_deep, text)


@needs_node
def test_javascript_takes_and_refuses_the_same_texts() -> None:
    rnd = random.Random(34)
    seeds = [b'{"a":[1,-2.5e3,true,null],"b":{"c":"\\u00e9\\n"}}', '["预算","🙂\\ud83d",0.1]'.encode(), b'"\\"\\\\"', b"-0",
             b"[[],{}]"]
    pieces = [b"", b" ", b"\t", b"\x00", b"\xff", b"\xef\xbb\xbf", b",", b":", b'"', b"\\", b"0", b"1", b"e", b".", b"-", b"[",
              b"]", b"}",
              b"\xc2\xa0", b"\xe2\x80\xa8", b"NaN", b"\x0b", b"\x1f", b"/**/"]
    cases = []
    for _ in range(4000):
        data = rnd.choice(seeds)
        for _ in range(rnd.randrange(1, 3)):
            at = rnd.randrange(len(data) + 1)
            data = data[:at] + rnd.choice(pieces) + data[at + rnd.randrange(3):]
        cases.append(data)
    answers = ask("""hex => {
        try {
            const utf8 = new TextDecoder("utf-8", {fatal: true, ignoreBOM: true});
            return JSON.stringify(JSON.parse(utf8.decode(Buffer.from(hex, "hex"))));
        } catch { return null; }
    }""", [case.hex() for case in cases])
    wrong = []
    for case, answer in zip(cases, answers, strict=True):
        try:
            text = js_json(read_json(case))
        except ValueError as error:
            text = answer if "too large" in str(error) else None  # JavaScript reads 1e999 as infinity
        if text != answer:
            wrong.append((case, answer, text))
    assert wrong == []
    assert sum(answer is not None for answer in answers) > 300
