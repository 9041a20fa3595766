"""Frozen values: nothing changes them, and everything else takes them for the plain ones."""
import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given

from labsupport.frozen import FrozenDict, FrozenList, freeze, thaw
from tests.miniagent.strategies import values

CHANGES_OF_A_DICT: dict[str, Callable[[Any], object]] = {
    "set": lambda it: it.__setitem__("a", 2), "delete": lambda it: it.__delitem__("a"), "or": lambda it: it.__ior__({"b": 1}),
    "clear": lambda it: it.clear(), "pop": lambda it: it.pop("a"), "popitem": lambda it: it.popitem(),
    "setdefault": lambda it: it.setdefault("b", 1), "update": lambda it: it.update(b=1),
    "attribute": lambda it: setattr(it, "b", 1),
}
CHANGES_OF_A_LIST: dict[str, Callable[[Any], object]] = {
    "set": lambda it: it.__setitem__(0, 2), "slice": lambda it: it.__setitem__(slice(0, 1), []),
    "delete": lambda it: it.__delitem__(0),
    "add": lambda it: it.__iadd__([1]), "multiply": lambda it: it.__imul__(2), "append": lambda it: it.append(1),
    "clear": lambda it: it.clear(), "extend": lambda it: it.extend([1]), "insert": lambda it: it.insert(0, 1),
    "pop": lambda it: it.pop(),
    "remove": lambda it: it.remove(1), "reverse": lambda it: it.reverse(), "sort": lambda it: it.sort(),
}


@pytest.mark.parametrize("name", CHANGES_OF_A_DICT)
def test_no_method_changes_a_frozen_dict(name: str) -> None:
    kept = freeze({"a": 1})
    with pytest.raises((TypeError, AttributeError)):
        CHANGES_OF_A_DICT[name](kept)
    assert kept == {"a": 1}


@pytest.mark.parametrize("name", CHANGES_OF_A_LIST)
def test_no_method_changes_a_frozen_list(name: str) -> None:
    kept = freeze([1, 0])
    with pytest.raises(TypeError, match="thaw"):
        CHANGES_OF_A_LIST[name](kept)
    assert kept == [1, 0]


@pytest.mark.parametrize("plain", [{"a": 1}, [1, 0]], ids=["dict", "list"])
def test_every_way_to_change_the_plain_one_is_closed(plain: Any) -> None:
    kind = type(freeze(plain))
    reading = set(dir(tuple)) | set(dir(type({}.keys()))) | {"copy", "fromkeys", "get", "items", "keys", "values", "__or__",
                                                             "__ror__",
                                                            "__reversed__", "__class_getitem__", "__getitem__"}
    changing = [name for name in dir(type(plain)) if name not in reading]
    assert changing
    assert [name for name in changing if getattr(kind, name) is getattr(type(plain), name)] == []


def test_making_it_a_second_time_changes_nothing() -> None:
    kept_dict, kept_list = freeze({"a": 1}), freeze([1])
    kept_dict.__init__({"b": 2})  # type: ignore[misc]
    kept_list.__init__([2])  # type: ignore[misc]
    assert (kept_dict, kept_list) == ({"a": 1}, [1])


@given(values)
def test_frozen_is_equal_to_plain_and_thaw_gives_the_plain_one_back(value: object) -> None:
    frozen = freeze(value)
    assert frozen == value
    assert json.dumps(frozen) == json.dumps(value)
    assert repr(thaw(frozen)) == repr(value)
    assert [type(item) for item in _walk(thaw(frozen)) if type(item) in (FrozenDict, FrozenList)] == []
    assert [type(item) for item in _walk(frozen) if type(item) in (dict, list)] == []


def _walk(value: Any) -> list[Any]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [value, *(found for item in inner for found in _walk(item))]


def test_neither_way_keeps_a_hold_on_what_it_was_given() -> None:
    rows = [[1]]
    frozen = freeze({"rows": rows})
    rows[0].append(2)
    assert frozen == {"rows": [[1]]}
    thawed = thaw(frozen)
    thawed["rows"][0].append(3)
    assert frozen == {"rows": [[1]]}


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))],
                         ids=["copy", "deepcopy", "pickle"])
def test_copies_are_frozen_too(again: Callable[[Any], Any]) -> None:
    frozen = freeze({"rows": [{"a": 1}]})
    other = again(frozen)
    assert other == frozen
    assert {type(item) for item in _walk(other)} == {FrozenDict, FrozenList, int}


def test_depth_is_bounded_by_memory_only() -> None:
    value: Any = 1
    for _ in range(20_000):
        value = [{"k": value}]
    again = thaw(freeze(value))
    for _ in range(20_000):
        again = again[0]["k"]
    assert again == 1


def test_a_cycle_and_a_set_pass_through() -> None:
    loop: list[Any] = [{1}]
    loop.append(loop)
    frozen: Any = freeze(loop)
    assert frozen[1] is frozen
    assert frozen[0] == {1}
