"""The JSON text that an event's data is kept as: written once, never changed, read again whenever somebody asks."""
import math
from typing import Any

import msgspec

from labsupport.errors import LosslessError
from labsupport.frozen import FrozenDict, FrozenList, freeze_tree
from labsupport.lossless import MAX_SAFE_INTEGER, js_json
from labsupport.strict_json import read_json

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode
_ATOMS = frozenset({str, bool, type(None)})
_DICTS, _LISTS = frozenset({dict, FrozenDict}), frozenset({list, FrozenList})


def is_lossless_json(value: object) -> bool:
    """Whether `append` takes *value* as data: JSON that every reader gives back as it is.

    >>> is_lossless_json({"n": [1, 2.5, None]}), is_lossless_json((1, 2)), is_lossless_json(-0.0), is_lossless_json(2**53)
    (True, False, False, False)

    Chapter 4, §4.2.
    """
    try:
        write_data(value)
    except LosslessError:
        return False
    return True


def write_data(value: object, *, stored: bool = False) -> bytes:
    """*value* as JSON text in UTF-8; LosslessError names the path to what JSON does not carry.

    With *stored* the value came from a log: integers of any size are kept and -0.0 counts as 0.
    """
    if _plain(value):
        try:
            return _encode(value)
        except UnicodeEncodeError:  # a surrogate
            pass
    return js_json(value, spell=_stored_float if stored else _float, largest=None if stored else MAX_SAFE_INTEGER).encode()


def _plain(value: Any, depth: int = 0) -> bool:
    """Whether the fast encoder is sure to write *value* right: exact JSON types, not deep, no number at the edge."""
    kind = type(value)
    if kind in _ATOMS:
        return True
    if kind is int:
        return bool(-MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER)
    if kind is float:
        return math.isfinite(value) and value != 0
    if depth == 50:
        return False
    if kind in _DICTS:
        for key, item in value.items():
            if type(key) is not str or (type(item) is not str and not _plain(item, depth + 1)):
                return False
        return True
    if kind in _LISTS:
        return all(_plain(item, depth + 1) for item in value)
    return False


def _float(value: float) -> str:
    if value == 0 and math.copysign(1, value) < 0:
        raise ValueError("-0.0 comes back as 0")
    return _stored_float(value)


def _stored_float(value: float) -> str:
    if not math.isfinite(value):
        raise ValueError(f"{value} has no spelling in JSON")
    return repr(value + 0.0)  # -0.0 + 0.0 is 0.0


def read_data(text: bytes) -> Any:
    """The value of JSON *text* that was checked before: a copy of its own, which the caller may change."""
    try:
        return _decode(text) if b"-0" not in bytes(text) else read_json(bytes(text))  # only the latter makes 0 of -0.0
    except (msgspec.MsgspecError, UnicodeError, RecursionError):  # lone surrogates and depth, which it does not take
        return read_json(bytes(text))


def frozen_data(text: bytes) -> Any:
    """The value of JSON *text*, deeply frozen."""
    return freeze_tree(read_data(text))


def field(value: Any, key: str) -> Any:
    """The value under *key* where *value* is an object that has it; else None. Data of most events is free to be anything."""
    return value.get(key) if isinstance(value, dict) else None


def same_json(left: object, right: object) -> bool:
    """Whether two JSON values are the same value: 1 equals 1.0, true is not 1, and order counts in lists only.

    >>> same_json({"a": 1, "b": [1.0]}, {"b": [1], "a": 1}), same_json(True, 1)
    (True, False)
    """
    waiting = [(left, right)]
    while waiting:
        one, other = waiting.pop()
        if isinstance(one, dict) and isinstance(other, dict):
            if one.keys() != other.keys():
                return False
            waiting.extend((item, other[key]) for key, item in one.items())
        elif isinstance(one, list) and isinstance(other, list):
            if len(one) != len(other):
                return False
            waiting.extend(zip(one, other, strict=True))
        elif isinstance(one, bool) or isinstance(other, bool):
            if one is not other:
                return False
        elif one != other:
            return False
    return True
