"""From what a user said in a session to facts that may be remembered: by rule, not by guess (chapter 4, §4.11)."""
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

LONGEST = 500
"""The longest sentence that is looked at, in characters; what is longer is a text and no preference."""

HIGHEST_SEQ = 2**53 - 1


@dataclass(frozen=True)
class Evidence:
    """Where a fact was said: the seqs of events in one *session*; a pointer, not a copy of what was said.

    >>> Evidence("monday", (7, 3, 7))
    Evidence(session='monday', seqs=(3, 7))

    ValueError without a seq: what nobody said is no fact.
    """

    session: str
    seqs: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.seqs or not all(type(seq) is int and 0 <= seq <= HIGHEST_SEQ for seq in self.seqs):
            raise ValueError("evidence names one seq or more, and a seq is a whole number from 0 on")
        object.__setattr__(self, "seqs", tuple(sorted(set(self.seqs))))


@dataclass(frozen=True)
class Fact:
    """That *key* is *value*, as *evidence* says."""

    key: str
    value: str
    evidence: Evidence


@dataclass(frozen=True)
class Rule:
    """A sentence that *pattern* matches as a whole gives a value to a key, or, without a group "value", takes it back.

    The key is *key*, or the group "key"; *values* says how a spelling of the value is stored.
    """

    pattern: re.Pattern[str]
    key: str | None = None
    values: Mapping[str, str] = field(default_factory=dict)


_NO_OTHER_SPELLINGS: Mapping[str, str] = MappingProxyType({})
_LANGUAGES = MappingProxyType({"english": "en", "chinese": "zh", "英文": "en", "英语": "en", "中文": "zh", "汉语": "zh"})
_UNITS = MappingProxyType({"metric": "metric", "imperial": "imperial", "公制": "metric", "英制": "imperial"})


def _rule(pattern: str, key: str | None = None, values: Mapping[str, str] = _NO_OTHER_SPELLINGS) -> Rule:
    return Rule(re.compile(pattern, re.IGNORECASE), key, values)


RULES: tuple[Rule, ...] = (
    _rule(r"(?:please )?remember ?(?:that |[:：,，] ?(?:that )?)(?:my |the )?(?P<key>.+?) (?:is|are) (?P<value>.+)"),
    _rule(r"请?(?:你)?记住 ?[:：,，]? ?(?:我的)?(?P<key>[^是]+?)(?<!不) ?是 ?(?!不是)(?P<value>.+)"),
    _rule(r"(?:please )?(?:always )?(?:answer|reply|respond|write) (?:to )?(?:me )?in (?P<value>english|chinese)(?:,? please)?",
          "language", _LANGUAGES),
    _rule(r"(?:以后)?请?(?:都|一直)?(?:用|使用) ?(?P<value>英文|英语|中文|汉语) ?(?:来)?(?:回答|回复|答复)(?:我)?",
          "language", _LANGUAGES),
    _rule(r"(?:please )?(?:always )?use (?P<value>metric|imperial) units(?:,? please)?", "units", _UNITS),
    _rule(r"(?:以后)?请?(?:都|一直)?(?:用|使用) ?(?P<value>公制|英制)(?: ?单位)?", "units", _UNITS),
    _rule(r"(?:please )?forget(?: about)? ?:? ?(?:my |the )?(?P<key>.+)"),
    _rule(r"请?(?:你)?(?:忘记|忘掉) ?[:：,，]? ?(?:我的)?(?P<key>.+)"),
)
"""What is understood: "remember: X is Y", "请记住：X 是 Y", the language of answers, the system of units; and "forget X"."""

_END_OF_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；;])|\n")


def extract(session: str, messages: Iterable[tuple[int, str]], rules: Sequence[Rule] = RULES) -> list[Fact]:
    """The facts that a user stated in *session*; *messages* are the seq and text of what the user, and nobody else, said.

    >>> said = [(3, "Please answer in English."), (8, "记住：我的城市是柏林。今天天气怎么样？")]
    >>> [(fact.key, fact.value) for fact in extract("monday", said)]
    [('language', 'en'), ('城市', '柏林')]

    Of two statements the later holds; both are its evidence, so whoever doubts it finds the change of mind:

    >>> extract("monday", [(3, "answer in English"), (9, "请用中文回答")])
    [Fact(key='language', value='zh', evidence=Evidence(session='monday', seqs=(3, 9)))]

    A rule fits a whole sentence or not at all: a negation, a question, a quotation and a wish for once are no facts.

    >>> extract("monday", [(3, "Don't answer in English. Remember that my city is what? She said: remember: x is y")])
    []

    "Forget my city" takes back what was said before it here; what is remembered already is for `Memory.forget`.
    """
    found: dict[str, tuple[str, tuple[int, ...]]] = {}
    for seq, text in sorted(messages, key=lambda message: message[0]):
        for sentence in _END_OF_SENTENCE.split(text):
            for key, value in _stated(" ".join(sentence.split()), rules):
                _, seqs = found.pop(key, ("", ()))
                if value is not None:
                    found[key] = value, (*seqs, seq)
    return [Fact(key, value, Evidence(session, seqs)) for key, (value, seqs) in found.items()]


def _stated(sentence: str, rules: Sequence[Rule]) -> list[tuple[str, str | None]]:
    """The key and value that the first fitting rule finds, in a list; None as the value where it is taken back."""
    if len(sentence) > LONGEST or sentence.endswith(("?", "？")):
        return []
    for rule in rules:
        hit = rule.pattern.fullmatch(sentence.rstrip(".!。！；; "))
        if hit:
            key = rule.key if rule.key is not None else unicodedata.normalize("NFKC", hit["key"]).strip().casefold()
            value = hit["value"].strip() if "value" in hit.groupdict() else None
            return [(key, value if value is None else rule.values.get(value.casefold(), value))]
    return []
