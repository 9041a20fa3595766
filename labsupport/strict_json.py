"""Reading JSON text strictly and whole: every digit, every depth, and no value that JSON does not have."""
import json
import math
import re
from json.decoder import JSONDecodeError, scanstring  # type: ignore[attr-defined]
from typing import Any


class NumberTooLargeError(ValueError):
    """The text is JSON, but a number in it is beyond a double, so no reader has its value."""


def read_json(data: bytes) -> Any:
    """The one JSON value in *data*, strictly: UTF-8 without a mark in front, no NaN, no number that overflows.

    >>> read_json(b'{"n": 12345678901234567890}')
    {'n': 12345678901234567890}
    >>> read_json(b"[1e999]")
    Traceback (most recent call last):
    labsupport.strict_json.NumberTooLargeError: a number is too large for a double

    Escaped lone surrogates are kept; integers keep their digits; nesting is bounded by memory. ValueError says what is
    wrong and where, and never quotes the text.
    """
    try:
        text = data.decode("utf-8")
        if text.startswith("\ufeff"):
            raise ValueError("a byte order mark stands in front of it")
        try:
            return json.loads(text, parse_constant=_no_constant, parse_float=_float, parse_int=_int)
        except RecursionError:
            return _read_deep(text)
    except UnicodeDecodeError as error:
        reason = f"byte {error.start} is not UTF-8"
    except JSONDecodeError as error:  # it holds the whole text, so it is not passed on
        reason = f"{error.msg[0].lower()}{error.msg[1:]}, column {error.pos + 1}".replace(" at, column", " at column")
    raise ValueError(reason)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON value")


def _float(text: str) -> float:
    value = float(text) + 0.0  # -0.0 counts as 0
    if math.isinf(value):
        raise NumberTooLargeError("a number is too large for a double")
    return value


def _int(text: str) -> int:
    """The integer of *text*. Python reads 4300 digits at a time; halving keeps a line of a million from taking minutes."""
    if len(text) <= 4300:
        return int(text)
    half = len(text) // 2
    tail = _int(text[-half:])
    value: int = _int(text[:-half]) * 10**half
    return value - tail if text.startswith("-") else value + tail


_SPACE = re.compile(r"[ \t\n\r]*")
_NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_WORDS = {"null": None, "true": True, "false": False}


def _read_deep(text: str) -> Any:
    """As json.loads, for text that is nested deeper than the call stack goes."""

    def skip(at: int) -> int:
        return _SPACE.match(text, at).end()  # type: ignore[union-attr]

    def scalar(at: int) -> tuple[Any, int]:
        if text.startswith('"', at):
            return scanstring(text, at + 1, True)  # type: ignore[no-any-return]
        for word, value in _WORDS.items():
            if text.startswith(word, at):
                return value, at + len(word)
        number = _NUMBER.match(text, at)
        if number is None:
            raise JSONDecodeError("Expecting value", text, at)
        return (_float if number[2] or number[3] else _int)(number[0]), number.end()

    def key(at: int) -> int:
        """Read a key and its colon at *at*; where its value begins."""
        if not text.startswith('"', at):
            raise JSONDecodeError("Expecting property name enclosed in double quotes", text, at)
        keys[-1], at = scanstring(text, at + 1, True)
        at = skip(at)
        if not text.startswith(":", at):
            raise JSONDecodeError("Expecting ':' delimiter", text, at)
        return skip(at + 1)

    keys: list[Any] = [None]
    stack: list[Any] = [[]]  # the containers that are open; the outermost list holds the answer
    at = skip(0)
    while True:
        if text.startswith(("{", "["), at):
            opened: Any = {} if text[at] == "{" else []
            stack.append(opened)
            keys.append(None)
            at = skip(at + 1)
            if not text.startswith("}" if isinstance(opened, dict) else "]", at):
                at = key(at) if isinstance(opened, dict) else at
                continue
        else:
            value, at = scalar(at)
            _put(stack[-1], keys[-1], value)
            at = skip(at)
        while True:  # close what ends here, then go on behind a comma
            if len(stack) == 1:
                if at != len(text):
                    raise JSONDecodeError("Extra data", text, at)
                return stack[0][0]
            keyed = isinstance(stack[-1], dict)
            if text.startswith("}" if keyed else "]", at):
                done = stack.pop()
                keys.pop()
                _put(stack[-1], keys[-1], done)
                at = skip(at + 1)
                continue
            if not text.startswith(",", at):
                raise JSONDecodeError("Expecting ',' delimiter", text, at)
            at = skip(at + 1)
            at = key(at) if keyed else at
            break


def _put(container: Any, key: Any, value: Any) -> None:
    if isinstance(container, dict):
        container[key] = value
    else:
        container.append(value)
