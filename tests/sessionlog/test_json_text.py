"""What data an event may hold: JSON that comes back as it went in, and nothing else."""

import datetime
import decimal
import enum
import math
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labsupport.errors import LosslessError
from labsupport.frozen import FrozenDict, FrozenList, freeze
from labsupport.lossless import MAX_SAFE_INTEGER
from labsupport.sessionlog import Session, is_lossless_json
from labsupport.sessionlog.json_text import frozen_data, read_data, same_json, write_data
from labsupport.strict_json import read_json
from tests.sessionlog.strategies import stored_values, unfit_values, values


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def depth_of(value: Any) -> int:
    depth = 0
    while value:
        value, depth = value[0], depth + 1
    return depth


def plain_json(value: object) -> bool:
    """The rule once more, by types: what JavaScript and Python read alike."""
    if value is None or value is True or value is False or type(value) is str:
        return True
    if type(value) is int:
        return abs(value) <= MAX_SAFE_INTEGER
    if type(value) is float:
        return math.isfinite(value) and not (value == 0 and math.copysign(1, value) < 0)
    if type(value) is list:
        return all(map(plain_json, value))
    return type(value) is dict and all(type(key) is str and plain_json(item) for key, item in value.items())


@given(values | unfit_values)
def test_append_takes_exactly_what_every_reader_gives_back(value: Any) -> None:
    assert is_lossless_json(value) == plain_json(value)


@given(values)
def test_the_text_reads_back_as_the_value(value: Any) -> None:
    text = write_data(value)
    assert same_json(read_data(text), value)
    assert same_json(read_json(text), value), "any strict reader has the same value"
    assert write_data(read_data(text)) == text, "and the same text again"
    assert same_json(frozen_data(text), value)


@given(stored_values)
def test_a_stored_value_keeps_its_digits(value: Any) -> None:
    assert same_json(read_data(write_data(value, stored=True)), value)


class Level(enum.IntEnum):
    HIGH = 1


class Word(enum.StrEnum):
    YES = "yes"


@dataclass
class Row:
    n: int


UNFIT = {
    "a tuple": (1, 2),
    "a set": {1},
    "bytes": b"x",
    "a date": datetime.date(2024, 1, 1),
    "a decimal": decimal.Decimal(1),
    "an int enum": Level.HIGH,
    "a str enum": Word.YES,
    "a dataclass": Row(1),
    "nan": math.nan,
    "inf": math.inf,
    "-inf": -math.inf,
    "-0.0": -0.0,
    "2**53": 2**53,
    "-2**53": -(2**53),
    "an int key": {1: 2},
    "a bool key": {True: 2},
    "a None key": {None: 2},
    "a str key of a subclass": {Word.YES: 1},
    "a complex number": 1j,
    "a function": len,
    "a class": int,
    "an object": object(),
    "a dict view": {}.keys(),
    "a generator": (x for x in "a"),
    "a range": range(2),
    "a bytearray": bytearray(b"x"),
}


@pytest.mark.parametrize("value", UNFIT.values(), ids=UNFIT)
@pytest.mark.parametrize(
    "wrap",
    [lambda v: v, lambda v: [1, v], lambda v: {"a": {"b": [v]}}, lambda v: [*nested(60), v]],
    ids=["alone", "in a list", "in a dict", "beside depth"],
)
def test_what_json_does_not_carry_is_refused_and_changes_nothing(value: Any, wrap: Any) -> None:
    session = Session.create("s1")
    with pytest.raises(LosslessError):
        session.append("plugin/x", wrap(value))
    assert not session.events


def test_pandas_and_numpy_values_are_refused() -> None:
    numpy = pytest.importorskip("numpy")
    pandas = pytest.importorskip("pandas")
    for value in (
        numpy.float64(1.5),
        numpy.int64(1),
        numpy.str_("x"),
        numpy.bool_(True),
        numpy.array([1]),
        pandas.NaT,
        pandas.Timestamp(0),
        pandas.NA,
        pandas.Series([1]),
    ):
        assert not is_lossless_json([value]), type(value)


def test_a_value_that_contains_itself_is_refused() -> None:
    ring: list[Any] = [1]
    ring.append({"again": ring})
    with pytest.raises(LosslessError, match="contains itself"):
        Session.create("s1").append("plugin/x", ring)


def test_a_value_that_is_shared_is_no_cycle() -> None:
    shared = {"a": [1]}
    assert Session.create("s1").append("plugin/x", [shared, shared]).read() == [{"a": [1]}, {"a": [1]}]


@pytest.mark.parametrize(
    "value",
    [
        1e308,
        5e-324,
        -1e-7,
        1e22,
        0.1 + 0.2,
        MAX_SAFE_INTEGER,
        -MAX_SAFE_INTEGER,
        0,
        0.0,
        "",
        "\ud83d",
        "\ude42\ud83d",
        "\x00\x1f\x7f",
        "\u2028\u2029\x85",
        "🙂",
        {"": ""},
        {"\ud83d": [None, True, False]},
        [],
        {},
        [[], {}],
        "\ufeff",
        "NaN",
        {"__proto__": 1},
    ],
    ids=repr,
)
def test_edges_that_are_kept(value: Any) -> None:
    event = Session.create("s1").append("plugin/x", value)
    assert same_json(event.read(), value)
    assert same_json(event.data, value)


@pytest.mark.parametrize("depth", [51, 1_000, 20_000])
def test_depth_is_bounded_by_memory_alone(depth: int) -> None:
    event = Session.create("s1").append("plugin/x", nested(depth))
    assert depth_of(event.read()) == depth_of(event.data) == depth_of(event.to_json()["data"]) == depth


def test_a_frozen_value_can_be_logged_again() -> None:
    value = Session.create("s1").append("plugin/x", {"a": [1, {"b": None}]}).data
    assert Session.create("s2").append("plugin/x", [value, value["a"]]).read() == [{"a": [1, {"b": None}]}, [1, {"b": None}]]


def test_what_is_logged_does_not_follow_the_callers_object() -> None:
    rows = {"a": [1]}
    event = Session.create("s1").append("plugin/x", rows)
    rows["a"].append(2)
    rows["b"] = []
    assert event.read() == {"a": [1]}


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.__setitem__("a", 1),
        lambda data: data.pop("a"),
        lambda data: data["a"].append(1),
        lambda data: data.update(a=1),
        lambda data: data["a"].reverse(),
        lambda data: data["a"][1].clear(),
        lambda data: data.__ior__({"x": 1}),
        lambda data: data.__init__({"x": 1}),
        lambda data: data["a"].__init__([5]),
        lambda data: dict.__setitem__(data, "a", 1),
        lambda data: list.append(data["a"], 1),
        lambda data: dict.clear(data),
    ],
    ids=[
        "item",
        "pop",
        "append",
        "update",
        "reverse",
        "clear inside",
        "merge",
        "init again",
        "init list",
        "dict.__setitem__",
        "list.append",
        "dict.clear",
    ],
)
def test_nothing_that_was_handed_out_can_change_the_log(change: Any) -> None:
    session = Session.create("s1")
    event = session.append("plugin/x", {"a": [1, {"b": 2}]})
    for handed_out in (event.data, event.read(), event.to_json()["data"]):
        try:
            change(handed_out)
        except TypeError:
            assert isinstance(handed_out, FrozenDict), "only what is frozen refuses"
        assert event.read() == session.events[0].read() == event.data == {"a": [1, {"b": 2}]}


def test_the_text_itself_is_read_only() -> None:
    text = Session.create("s1").append("plugin/x", {"a": 1}).json_text
    assert memoryview(text).readonly
    assert isinstance(freeze([1]), FrozenList)


SAME = [
    (1, 1.0),
    (0, -0.0),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ([1, [2]], [1.0, [2.0]]),
    (freeze([{"a": 1}]), [{"a": 1}]),
    ("a", "a"),
    (None, None),
    (2**53, float(2**53)),
]
DIFFERENT = [
    (True, 1),
    (False, 0),
    (1, "1"),
    ([1, 2], [2, 1]),
    ([1], [1, 1]),
    ({"a": 1}, {"a": 1, "b": None}),
    (None, False),
    ({}, []),
    (2**53 + 1, float(2**53)),
    ([], ""),
    ({"a": True}, {"a": 1}),
    ([[0]], [[False]]),
]


@pytest.mark.parametrize(
    ("left", "right", "same"), [(*pair, True) for pair in SAME] + [(*pair, False) for pair in DIFFERENT], ids=repr
)
def test_same_json(left: Any, right: Any, same: bool) -> None:
    assert same_json(left, right) is same
    assert same_json(right, left) is same
    assert same_json({"x": [left]}, {"x": [right]}) is same


def test_same_json_at_any_depth() -> None:
    assert same_json(nested(20_000), nested(20_000))
    assert not same_json(nested(20_000), nested(20_001))


@given(values, st.data())
def test_same_json_is_equality_of_texts_up_to_spelling(value: Any, data: st.DataObject) -> None:
    other = data.draw(values)
    assert same_json(value, value)
    assert same_json(value, other) == same_json(read_json(write_data(value)), read_json(write_data(other)))


SURELY_SAME_TEXT = [b"-0.0", b"-0", b"0e5"]


@pytest.mark.parametrize("text", SURELY_SAME_TEXT)
def test_a_stored_minus_zero_counts_as_zero(text: bytes) -> None:
    assert same_json(read_data(text), 0)
    assert is_lossless_json(read_data(text)), "what was read can be logged again"
