"""What a text says that can be looked up, and which values in it are not for everybody (chapter 4, §4.10.3).

Rules of spelling, and no understanding: "a dozen", "三千" and a telephone number in words are no facts here.
"""
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

Kind = Literal["number", "id", "path", "name", "value"]
ValueClass = Literal["email", "api-key", "id-number", "card", "phone", "patient-number"]
VALUE_CLASSES: tuple[ValueClass, ...] = get_args(ValueClass)


@dataclass(frozen=True)
class Fact:
    """A number, an id, a path or a name as it is written in *text*, or a value whose text is its class and nothing more.

    Two spellings of one fact have the same *key*; a text that has all *parts*, where there are some, has the fact too.
    """

    kind: Kind
    text: str
    key: str
    parts: tuple[str, ...] = ()


_DIGITS = str.maketrans({**{chr(0xFF10 + n): str(n) for n in range(10)}, "−": "-", "．": "."})
_TOKEN = re.compile(r"(?<![A-Za-z0-9_.,-])-?[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])(?:\.[0-9]++)?|"
                    r"(?:https?://)?[A-Za-z0-9_./\\~@-]++")
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_WITH_UNIT = re.compile(r"(-?[0-9]+(?:\.[0-9]+)?)(?:st|nd|rd|th|am|pm|ms|s|h|kg|g|mg|ml|l|mm|cm|km|m|kb|mb|gb|k|x)",
                        re.IGNORECASE)
_HYPHENS = re.compile(r"[0-9]+(?:-[0-9]+)+")
_PATH = re.compile(r"https?://.+|(?:~|\.{0,2})[/\\]\w.*|.*\w\.(?:csv|tsv|jsonl?|md|txt|py|ipynb|log|xlsx?|docx?|pdf|html?|xml|"
                   r"ya?ml|toml|ini|cfg|db|sqlite|sql|png|jpe?g|gz|zip|zstd|sh|js|ts|parquet)", re.IGNORECASE)
_NAME = re.compile(r"(?<=[a-z0-9,;)] )[A-Z][^\W\d_]++(?![\w-])")
_NO_NAMES = frozenset({"api", "assistant", "constraints", "csv", "id", "json", "model", "ok", "pdf", "session", "steps",
                       "summary", "system", "task", "tasks", "todo", "tool", "tools", "turn", "user", "url"})
_SURNAMES = frozenset("王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林郑谢罗梁宋唐许韩冯邓曹彭曾肖田董袁潘于蒋"
                       "蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严武戴莫孔向汤")
_TITLED = re.compile(r"([\u4e00-\u9fff]{1,3})(?:先生|女士|小姐|医生|大夫|护士|主任|经理|老师|教授|院长)")
_AFTER_SURNAME = re.compile(f"(?=([{''.join(sorted(_SURNAMES))}][\\u4e00-\\u9fff]{{0,2}}))")
_WORD = re.compile(r"[^\W\d_]+")
_RUN = re.compile(r"[0-9]++(?:\.[0-9]++)?")

_SPELLINGS: dict[ValueClass, str] = {
    "email": r"(?<![\w.+-])[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,4}",
    "api-key": r"(?<![\w-])(?:(?:sk|pk|rk)[-_]|gh[pousr]_|xox[abprs]-|AKIA|AIza)[\w-]{12,200}",
    "id-number": r"(?<!\w)[1-9][0-9]{5}(?:19|20)[0-9]{2}[01][0-9][0-3][0-9][0-9]{3}[0-9Xx](?!\w)",
    "card": r"(?<![\w.-])[3-6][0-9]{3}(?:[ -]?[0-9]{4}){2}[ -]?[0-9]{3,7}(?![\w-])",
    "phone": r"(?<![\w.-])(?:(?:\+?86[ -]?)?1[3-9][0-9][ -]?[0-9]{4}[ -]?[0-9]{4}|\+[0-9]{1,3}(?:[ -]?[0-9]{2,4}){3,4}|"
             r"\(?[0-9]{3}\)?[ .-][0-9]{3}[.-][0-9]{4}|0[0-9]{2,3}-[0-9]{7,8})(?![\w-])",
    "patient-number": r"(?i:\bMRN|\bpatient(?: (?:no\.?|number|id))|病历号|患者编号|病人编号|住院号|就诊号)"
                      r"[\s:：#=是为\"']{0,4}([A-Za-z]{0,4}-?[0-9]{4,12})(?!\w)",
}
_VALUES = {name: re.compile(pattern, re.ASCII) for name, pattern in _SPELLINGS.items()}


def values(text: str) -> Iterator[tuple[ValueClass, str, tuple[int, int]]]:
    """Class, key and place of each value in *text* that is not for everybody; of two that overlap the one that begins first.

    >>> [(found, key) for found, key, _ in values("Call 138 0013 8000 or wang@clinic.example.")]
    [('phone', '13800138000'), ('email', 'wang@clinic.example')]

    A number is a card only when its check digit is right, and a patient's number only behind such a word.
    """
    text = text.translate(_DIGITS)
    found = sorted((hit.start(hit.lastindex or 0), rank, hit.end(hit.lastindex or 0)) for rank, name in enumerate(VALUE_CLASSES)
                   for hit in _VALUES[name].finditer(text))
    behind = 0
    for start, rank, end in found:
        name = VALUE_CLASSES[rank]
        if start >= behind and (name != "card" or _luhn(text[start:end])):
            yield name, _value_key(text[start:end]), (start, end)
            behind = end


def _luhn(text: str) -> bool:
    digits = [int(char) for char in reversed(text) if "0" <= char <= "9"]
    return sum(digits[::2] + [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]) % 10 == 0


def _value_key(text: str) -> str:
    key = re.sub(r"[\s()+-]", "", text.strip("./\\~@-_")).casefold()
    return key[2:] if len(key) == 13 and key.startswith("861") else key


def named(text: str) -> str:
    """*text*, or the class of the value in it: what a finding may say.

    >>> named("INV-2061"), named("13800138000")
    ('INV-2061', 'phone')
    """
    return next((name for name, _, _ in values(text)), text)


def facts(text: str) -> Iterator[Fact]:
    """The facts that *text* states, in order of kind and place.

    >>> [fact.text for fact in facts("We told Anna: 1,480.00 for INV-2061, see data/books.csv.")]
    ['1,480.00', 'INV-2061', 'data/books.csv', 'Anna']

    Numbers that count the lines of a list are none. It does not see a name that opens a sentence, a Chinese name without a
    title behind it, a path whose end is no known one, and a file's name in Chinese characters.
    """
    text = text.translate(_DIGITS)
    taken = _list_numbers(text)
    for name, key, (start, end) in values(text):
        taken.append((start, end))
        yield Fact("value", name, key, tuple(part.key for hit in _TOKEN.finditer(text[start:end]) for part in _read(hit[0])))
    text = _without(text, taken)
    for hit in _TOKEN.finditer(text):
        yield from _read(hit[0])
    yield from (Fact("name", hit[0], _folded(hit[0])) for hit in _NAME.finditer(text) if hit[0].casefold() not in _NO_NAMES)
    for hit in _TITLED.finditer(text):
        name_zh = next((hit[1][at:] for at in reversed(range(len(hit[1]))) if hit[1][at] in _SURNAMES), None)
        if name_zh is not None:
            yield Fact("name", name_zh, name_zh)


def _without(text: str, places: list[tuple[int, int]]) -> str:
    """*text* with blanks at *places*, so that no part of a value is taken for a fact of its own."""
    pieces, at = [], 0
    for start, end in sorted(places):
        pieces += [text[at:start], " " * (end - max(at, start))]
        at = max(at, end)
    return "".join([*pieces, text[at:]])


def _list_numbers(text: str) -> list[tuple[int, int]]:
    """Where the lines of a list are counted: 1. 2. 3."""
    places, expected = [], 1
    for hit in re.finditer(r"(?m)^[ \t]{0,20}([0-9]{1,3})(?:[.)](?=\s)|、)", text):
        if hit[1] == "1" or hit[1] == str(expected):
            expected = int(hit[1]) + 1
            places.append(hit.span(1))
    return places


def _read(token: str) -> Iterator[Fact]:
    """The facts in one run of letters, digits and the signs that join them."""
    if "," in token:
        yield Fact("number", token, _number(token.replace(",", "")), tuple(map(_number, re.split("[,.]", token))))
        return
    token = token.rstrip("./\\-_@~")
    if _PATH.fullmatch(token):
        yield Fact("path", token, token)
        return
    for part in re.split(r"[/\\@~]+", token):
        if not part.startswith("-") or not _NUMBER.fullmatch(part):
            part = part.strip("-._")
        unit = _WITH_UNIT.fullmatch(part)
        has_digit, has_letter = bool(re.search("[0-9]", part)), bool(re.search("[A-Za-z]", part))
        if _NUMBER.fullmatch(part) or unit:
            number = unit[1] if unit else part
            yield Fact("number", number, _number(number))
        elif _HYPHENS.fullmatch(part):
            ends = part.split("-")
            span = len(ends) == 2 and max(map(len, ends)) <= 4  # 2024-2025
            yield Fact("number", part, part, tuple(map(_number, ends)) if span else ())
        elif has_digit:
            yield Fact("id" if has_letter else "number", part, part)
        elif "_" in part:
            yield Fact("name", part, part)


def _folded(word: str) -> str:
    return unicodedata.normalize("NFKC", word).casefold()


def _number(text: str) -> str:
    """One spelling for 05, 5, 5.0 and 5.00; 007 is another number."""
    sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
    if "." in digits:
        digits = digits.rstrip("0").rstrip(".")
    return sign + (digits.lstrip("0") or "0" if len(digits) <= 2 else digits)


def known(text: str) -> set[str]:
    """The keys of all that *text* has in any reading: of facts and of their parts, and every word.

    >>> {"1480", "INV-2061", "2061", "anna"} <= known("Anna: 1,480.00 for INV-2061")
    True
    """
    text = text.translate(_DIGITS)
    found = {fact.key for fact in facts(text)}.union(operation_ids(text))
    found.update(hit[1][:length] for hit in _AFTER_SURNAME.finditer(text) for length in (1, 2, 3))
    found.update(_folded(hit[0]) for hit in _WORD.finditer(text))
    found.update(_number(hit[0]) for hit in _RUN.finditer(text))
    for hit in _TOKEN.finditer(text):
        found.add(_value_key(hit[0]))
        for fact in _read(hit[0]):
            found.add(fact.key)
            if fact.kind == "number":
                found.add(fact.key.lstrip("-"))
            elif fact.kind == "path":
                found.update(part for part in re.split(r"[/\\]+", fact.key) if part)
                found.update(inner.key for part in re.split(r"[/\\]+", fact.key) for inner in _read(part))
    return found


def has(keys: set[str], fact: Fact) -> bool:
    """Whether a text with these `known` *keys* has *fact*."""
    return fact.key in keys or (bool(fact.parts) and keys.issuperset(fact.parts))


_OPERATION = re.compile(r"(?<![\w-])(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|"
                        r"(?i:op|inv|txn?|pay|payment|ord|order|ref|refund|tkt|ticket|job|idem|key|rcpt|receipt|batch)[-_]"
                        r"(?=[\w-]{0,60}[0-9])[\w-]{2,64})(?![\w-])", re.ASCII)
_NUMBERED = re.compile(r"(?:(?i:operation|invoice|payment|order|transaction|ticket|receipt|confirmation|idempotency)[ _-]?"
                       r"(?i:id|no|number|key)\.?|单号|流水号|操作号|凭证号|发票号)[\"']?\s{0,4}[:=#：为是]?\s{0,4}[\"']?"
                       r"((?=[\w-]{0,60}[0-9])\w[\w-]{2,63})(?![\w-])", re.ASCII)


def operation_ids(text: str) -> Iterator[str]:
    """The ids in *text* by which an outside system knows an operation.

    >>> list(operation_ids('paid, op_81f3; {"invoiceId": "A-77", "rows": 12}'))
    ['op_81f3', 'A-77']
    """
    text = text.translate(_DIGITS)
    found = [hit[0] for hit in _OPERATION.finditer(text)] + [hit[1] for hit in _NUMBERED.finditer(text)]
    return iter(dict.fromkeys(found))
