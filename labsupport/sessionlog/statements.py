"""Sentences, what marks them (a prohibition, a next step, a failure), and the words that two of them share.

Marks are lists of English and Chinese words. They do not know irony, quotation or a negation at a distance.
"""
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from labsupport.sessionlog.facts import facts, has, known

Mark = Literal["prohibition", "correction", "limit", "rule", "next step", "failed", "unknown"]
DEMANDS: tuple[Mark, ...] = ("prohibition", "correction", "limit", "rule")
"""What a user may demand; a sentence with several marks counts as the first of them."""

_SAID: dict[Mark, str] = {
    "prohibition": r"\b(?:never|(?:must|do|may|should|shall|can) ?not|cannot|(?:mustn|don|shouldn|can)['’]t|avoid|forbidden|"
                   r"prohibited|not allowed)\b|不要|不得|禁止|不能|不许|不准|切勿|不可|(?<![类特区级性分个])别(?![的人名])",
    "correction": r"\b(?:instead|correction|corrected|actually|rather than|i meant|no longer)\b|\bnot\b.{1,40}\bbut\b|"
                  r"改为|改成|更正|纠正|而不是|说错|不再",
    "limit": r"\b(?:only|at (?:most|least)|(?:no|not) (?:more|less) than|maximum|minimum|exactly|limit(?:ed|s)?)\b|"
             r"只|仅|最多|最少|至少|不超过|以内|上限",
    "rule": r"\b(?:must|always|remember|make sure|rules?|required|prefers?|from now on)\b|规矩|"
            r"必须|务必|一定要|始终|总是|记住|规则|以后都",
    "next step": r"\bnext(?: steps?\b|[,:]| (?:i|we|you|is|comes|up)\b)|\bremaining (?:tasks?|steps?|work)\b|"
                 r"\b(?:to-?do|still (?:to|needs?|open)|not yet|pending|in progress)\b|"
                 r"下一步|待办|还需|还要|尚未|还没|接下来|进行中",
    "failed": r"\b(?:fail(?:ed|s|ure)?|errors?|could not|couldn['’]t|refused|rejected|denied|timed out)\b|"
              r"失败|错误|出错|报错|没有成功|未成功|被拒|超时",
    "unknown": r"\b(?:unknown|unclear|uncertain|unconfirmed|not (?:known|confirmed)|may (?:or may not )?have)\b|"
               r"未知|不明|不确定|不清楚|未确认|无法确认",
}
_ALSO: dict[Mark, str] = {  # enough in a summary, too little in what was said
    "prohibition": r"\b(?:no|not|nobody|nothing|without|refuses?)\b|n['’]t\b|勿|不",
    "correction": r"\b(?:changed|correct(?:s|ion)?s?|but|revised)\b|不是|改",
    "limit": r"\b(?:just|up to|within|alone|nothing but)\b|不超|为限",
    "next step": r"\b(?:next|remaining|open|unfinished|outstanding|remains?|left|will|needs?|waiting)\b|"
                 r"未完成|仍需|需要|待|未|将",
}
_DEMANDED = {mark: re.compile(pattern, re.ASCII) for mark, pattern in _SAID.items()}
_TOLD = {mark: re.compile("|".join(filter(None, (_SAID[mark], _ALSO.get(mark)))), re.ASCII) for mark in _SAID}

_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_BULLET = re.compile(r"\s*(?:[-*•·]\s|[0-9]{1,3}(?:[.)]\s|、))")
_WORD = re.compile(r"[\u3400-\u9fff]+|[^\W\d_\u3400-\u9fff]+")
_CUES_ZH = re.compile("|".join(re.findall(r"[\u3400-\u9fff]+", "|".join(_SAID.values()))))
_STOP = frozenset({
    "a", "about", "all", "also", "always", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can",
    "cannot", "correction", "did", "do", "does", "done", "for", "from", "had", "has", "have", "he", "her", "his", "how", "i",
    "if", "in", "instead", "into", "is", "it", "its", "just", "least", "let", "limit", "may", "me", "more", "most", "must",
    "my", "need", "needs", "never", "next", "no", "not", "of", "on", "only", "or", "our", "please", "pending", "progress",
    "remaining", "remember", "rule", "rules", "same", "she", "should", "so", "still", "step", "steps", "than", "that", "the",
    "their", "them", "then", "there", "these", "they", "this", "those", "to", "todo", "until", "up", "us", "use", "was", "we",
    "were", "what", "when", "where", "which", "who", "will", "with", "would", "yet", "you", "your", "user", "assistant"})
_SHARE = 0.6


@dataclass(frozen=True)
class Sentence:
    """A sentence, its *number* in its text from 1 on, and the line with a colon at its end that its list stands under."""

    text: str
    number: int
    heading: "Sentence | None" = None

    @cached_property
    def said(self) -> frozenset[Mark]:
        """The marks that it has, or its heading: what somebody may have meant by it."""
        return self._marks(_DEMANDED).union(self.heading.said if self.heading else ())

    @property
    def asks(self) -> bool:
        """Whether it is a question."""
        return self.text.endswith(("?", "？"))

    @cached_property
    def told(self) -> frozenset[Mark]:
        """The same in a summary, where less is enough."""
        return self._marks(_TOLD).union(self.heading.told if self.heading else ())

    def _marks(self, patterns: Mapping[Mark, re.Pattern[str]]) -> frozenset[Mark]:
        small = self.text.casefold()
        return frozenset(mark for mark, pattern in patterns.items() if pattern.search(small))


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of *text*; a line break ends one too.

    >>> [(one.text, sorted(one.said)) for one in sentences("Rules:\\n- Never mail. Ask me!\\nHello.")]
    [('Rules:', ['rule']), ('Never mail.', ['prohibition', 'rule']), ('Ask me!', ['rule']), ('Hello.', [])]
    """
    number, heading = 0, None
    for line in text.split("\n"):
        bullet = _BULLET.match(line)
        if bullet is None:
            heading = None
        last = None
        for sentence in filter(str.strip, _END.split(line[bullet.end():] if bullet else line)):
            number += 1
            last = Sentence(sentence.strip(), number, heading)
            yield last
        if bullet is None and last is not None and last.text.endswith((":", "：")):
            heading = last


def words(sentence: str) -> set[str]:
    """What *sentence* is about: its words without their endings and without the small ones; of Chinese, pairs of characters."""
    found: set[str] = set()
    for hit in _WORD.finditer(sentence.casefold()):
        word = hit[0]
        if "\u3400" <= word[0] <= "\u9fff":
            for run in _CUES_ZH.split(word):
                found.update(run[at:at + 2] for at in range(max(1, len(run) - 1)) if run)
        elif word not in _STOP and len(word) > 1:
            found.add(re.sub(r"(?<=...)(?:ing|ed|es|s|e)$", "", word))
    return found


@dataclass
class Told:
    """What the text of a summary has: keys of facts; these and the words; the same of the sentences under each mark."""

    text: str
    keys: set[str]
    words: set[str]
    marked: dict[Mark, set[str]]

    def lacks(self, sentence: str, mark: Mark) -> list[str] | None:
        """The facts of *sentence* that are not told; [] when it is not told under *mark*; None when nothing lacks.

        It is told when most of it is there: its words, and its facts, which count twice.
        """
        figures = [fact for fact in facts(sentence) if fact.kind != "name"]
        lost = [fact.text for fact in figures if not has(self.keys, fact)]
        if lost:
            return list(dict.fromkeys(lost))
        wanted = words(sentence)
        there = self.words if mark == "rule" else self.marked[mark]
        found = len(wanted & there) + 2 * sum(has(there, fact) for fact in figures)
        return None if found >= math.ceil(_SHARE * (len(wanted) + 2 * len(figures))) else []


def tell(text: str) -> Told:
    """*text* of a summary, read once."""
    keys = known(text)
    told = Told(text, keys, set(keys), {mark: set() for mark in _TOLD})
    for sentence in sentences(text):
        about = words(sentence.text)
        told.words |= about
        if sentence.told:
            about |= known(sentence.text)
            for mark in sentence.told:
                told.marked[mark] |= about
    return told
