"""What "lossless" means here: JSON text that JavaScript and Python read alike, and its length as JavaScript counts it.

The text is the one of JavaScript's `JSON.stringify`: compact, non-ASCII as itself, numbers in JavaScript's spelling,
a lone surrogate as an escape. The length is counted in UTF-16 code units, as a JavaScript string counts.
"""
import math
import re
from collections.abc import Callable, Iterator
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal, localcontext
from json.encoder import encode_basestring
from typing import Any

from labsupport.errors import LosslessError
from labsupport.frozen import FrozenDict, FrozenList

MAX_SAFE_INTEGER = 2**53 - 1
"""The largest integer up to which every integer is a JavaScript number of its own."""

Spell = Callable[[float], str]

_SURROGATE = re.compile("[\ud800-\udfff]")
_SPLIT_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")


def utf16_length(text: str) -> int:
    """The number of UTF-16 code units of *text*.

    >>> utf16_length("预算"), utf16_length("🙂")
    (2, 2)
    """
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def utf16_length_of_utf8(data: bytes) -> int:
    """The number of UTF-16 code units of the text that *data* is in UTF-8.

    >>> utf16_length_of_utf8("预算🙂".encode())
    4
    """
    text = data.decode()
    pairs = 0xF0 in data or 0xF1 in data or 0xF2 in data or 0xF3 in data or 0xF4 in data
    return utf16_length(text) if pairs else len(text)  # only a character of four bytes takes two units


def joined(text: str) -> str:
    """*text* with every surrogate pair that stands in two halves joined; a half on its own stays.

    A stream may cut an emoji in two, and the pieces do not grow together by themselves:

    >>> joined("\\ud83d" + "\\ude42")
    '🙂'
    """
    text = str.__str__(text)  # of a subclass, the plain string
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass") if _SURROGATE.search(text) else text


def js_number(value: float) -> str:
    """JavaScript's spelling of *value*: the shortest digits that read back as the same double.

    >>> [js_number(x) for x in (1.0, 0.1, 1e20, 1e21, 1e-6, 1e-7, -0.0)]
    ['1', '0.1', '100000000000000000000', '1e+21', '0.000001', '1e-7', '0']

    NaN and the infinities have no spelling in JSON: LosslessError.
    """
    if not math.isfinite(value):
        raise LosslessError("$", f"{value} has no spelling in JSON")
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))  # the value is 0.DIGITS × 10^point
    digits = digits.rstrip("0")
    if not digits:
        return "0"
    if len(digits) <= point <= 21:
        text = digits + "0" * (point - len(digits))
    elif 0 < point <= 21:
        text = f"{digits[:point]}.{digits[point:]}"
    elif -6 < point <= 0:
        text = f"0.{'0' * -point}{digits}"
    else:
        text = f"{digits[0]}{'.' * (len(digits) > 1)}{digits[1:]}e{point - 1:+d}"
    return f"-{text}" if value < 0 else text


def js_json(value: object, *, exact: bool = False, fields: frozenset[str] = frozenset(), spell: Spell | None = None,
            largest: int | None = None, doubles: bool = False) -> str:
    """The text of JavaScript's `JSON.stringify(value)` for null, booleans, numbers, strings, lists and string-keyed dicts.

    >>> js_json({"预算": [1.0, None, "a\\n"]})
    '{"预算":[1,null,"a\\\\n"]}'

    An integer keeps its digits, however many. With *exact*, what another reader would give back changed is refused as
    well: an integer outside ±(2^53-1), and a surrogate pair that stands in two halves.

    >>> js_json(2**53), js_json(2**53, exact=True)
    Traceback (most recent call last):
    labsupport.errors.LosslessError: $: outside ±(2^53-1) JavaScript does not keep integers apart; write it as a string

    Anything else (a tuple, a set, NaN, a key that is no string, a cycle, a subclass that is not frozen) raises
    LosslessError with the path to it. The path counts keys and names only those in *fields*, for a key may be private:

    >>> js_json({"rows": [1, (2, 3)]})
    Traceback (most recent call last):
    labsupport.errors.LosslessError: $[key 1][1]: a tuple is no JSON value

    Depth is bounded by memory, not by the call stack. *spell* writes a float another way than JavaScript does, or raises
    ValueError with the reason; *largest* bounds integers as *exact* does. With *doubles* an integer beyond ±(2^53-1) is
    written as JavaScript has it once it was read, rounded, and null beyond the largest double.
    """
    largest = MAX_SAFE_INTEGER if exact else largest
    out: list[str] = []
    path: list[_Open] = []

    def where() -> str:
        return "$" + "".join(step.place(fields) for step in path)

    def scalar(item: object) -> str | None:
        if item is None:
            return "null"
        if item is True or item is False:
            return "true" if item else "false"
        kind = type(item)
        if kind is str:
            return _string(item, exact)  # type: ignore[arg-type]
        if kind is int:
            if largest is not None and abs(item) > largest:  # type: ignore[arg-type]
                raise ValueError("outside ±(2^53-1) JavaScript does not keep integers apart; write it as a string")
            if doubles and abs(item) > MAX_SAFE_INTEGER:  # type: ignore[arg-type]
                return _as_double(item)  # type: ignore[arg-type]
            return _digits(item)  # type: ignore[arg-type]
        if kind is float:
            text = (spell or _finite)(item)  # type: ignore[arg-type]
            if exact and abs(item) > MAX_SAFE_INTEGER and text.lstrip("-").isdigit():  # type: ignore[arg-type]
                raise ValueError("this float would be read back as an integer outside ±(2^53-1); write it as a string")
            return text
        return None

    def visit(item: object) -> None:
        text = scalar(item)
        if text is not None:
            out.append(text)
            return
        kind = type(item)
        if kind is not dict and kind is not list and kind is not FrozenDict and kind is not FrozenList:
            raise ValueError(f"a {kind.__name__} is no JSON value")
        if id(item) in on_path:
            raise ValueError("the value contains itself, so its text would never end")
        on_path.add(id(item))
        path.append(_Open(item))
        out.append("{" if isinstance(item, dict) else "[")

    on_path: set[int] = set()
    try:
        visit(value)
        while path:
            step = path[-1]
            try:
                key, item = next(step.items)
            except StopIteration:
                path.pop()
                on_path.discard(id(step.value))
                out.append("}" if step.keyed else "]")
                continue
            if step.started:
                out.append(",")
            step.started, step.key, step.number = True, key, step.number + 1
            if step.keyed:
                if type(key) is not str:
                    raise ValueError("a key is not a string")
                out.append(_string(key, exact))
                out.append(":")
            visit(item)
    except ValueError as error:
        reason = str(error)
    else:
        return "".join(out)
    raise LosslessError(where(), reason)


class _Open:
    """A container that is being written."""

    __slots__ = ("items", "key", "keyed", "number", "started", "value")

    def __init__(self, value: Any) -> None:
        self.value, self.keyed, self.started, self.number = value, isinstance(value, dict), False, 0
        self.key: Any = None
        self.items: Iterator[tuple[Any, Any]] = iter(value.items() if self.keyed else enumerate(value))

    def place(self, fields: frozenset[str]) -> str:
        if not self.started:
            return ""
        if not self.keyed:
            return f"[{self.key}]"
        return f".{self.key}" if type(self.key) is str and self.key in fields else f"[key {self.number}]"


def _string(text: str, exact: bool) -> str:
    if text.isascii() or not _SURROGATE.search(text):
        return encode_basestring(text)
    if exact and _SPLIT_PAIR.search(text):
        raise ValueError("a surrogate pair stands in two halves; labsupport.lossless.joined(text) joins it")
    return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", encode_basestring(joined(text)))


def _finite(value: float) -> str:
    if not math.isfinite(value):
        raise ValueError(f"{value} has no spelling in JSON")
    return js_number(value)


def _as_double(value: int) -> str:
    try:
        return js_number(float(value))
    except OverflowError:
        return "null"


def _digits(value: int) -> str:
    """The digits of *value*. Python writes 4300 at a time, and Decimal multiplies long numbers far faster than int divides."""
    bits = value.bit_length()
    if bits < 14_000:
        return str(value)
    with localcontext(Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)):

        def decimal(part: int, bits: int) -> Decimal:
            if bits <= 2000:
                return Decimal(part)
            half = bits // 2
            return decimal(part >> half, bits - half) * Decimal(2) ** half + decimal(part & ((1 << half) - 1), half)

        return ("-" if value < 0 else "") + format(decimal(abs(value), bits), "f")


def js_length(value: object, *, doubles: bool = False) -> int:
    """The number of UTF-16 code units of `js_json(value, doubles=doubles)`.

    >>> js_length("🙂"), js_length([1.0]), js_length(10**21), js_length(10**21, doubles=True)
    (4, 3, 22, 5)
    """
    return utf16_length(js_json(value, doubles=doubles))
