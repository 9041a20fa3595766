"""Who writes the summary that takes the place of a range: one small protocol, three writers without a network (§4.10)."""
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from labsupport.sessionlog.json_text import field as value_of
from labsupport.sessionlog.ranges import PLUGIN
from labsupport.sessionlog.recovery import blocks
from labsupport.sessionlog.stream import Block


@dataclass(frozen=True)
class Summary:
    """The *blocks* of a summary, who wrote them, and what else the log keeps of how they came about."""

    blocks: Sequence[Block]
    provider: str
    model: str
    details: Mapping[str, Any] = field(default_factory=dict)
    """Any of maxTokens, usage and rawOutput."""


class Summarizer(Protocol):
    """Anything that makes a summary of messages: a rule, a script, a model behind a network."""

    def summarize(self, messages: Sequence[Any]) -> Summary:
        """The summary of *messages*, which are frozen; what it raises ends the compaction and changes nothing."""


class ExtractiveSummarizer:
    """Keeps sentences as they were said: what users demanded, figures, ids, results. No model, and the same every time.

    >>> said = {"source": {"kind": "user"}, "content": [{"type": "text", "text": "Hello. Never mail a customer."}]}
    >>> ExtractiveSummarizer().summarize([said]).blocks
    [{'type': 'text', 'text': 'user: Never mail a customer.'}]

    The *limit* is in characters. Sentences of users come first, then results, then answers; of each the latest first.
    """

    def __init__(self, limit: int = 2000) -> None:
        self.limit = limit

    def summarize(self, messages: Sequence[Any]) -> Summary:
        """The sentences that count, as many as fit, in the order in which they were said."""
        found = [(rank, at, f"{who}: {sentence}" if who else sentence) for at, message in enumerate(messages)
                 for rank, who, sentence in _sentences(message)]
        kept, room = [], self.limit
        for rank, at, line in sorted(found, key=lambda item: (item[0], -item[1])):
            if len(line) < room:
                kept.append((at, rank, line))
                room -= len(line) + 1
        lines = list(dict.fromkeys(line for _, _, line in sorted(kept, key=lambda item: item[0])))
        return Summary([{"type": "text", "text": "\n".join(lines)}], "workbook", "extractive-1")


def _sentences(message: Any) -> Iterable[tuple[int, str, str]]:
    """Rank, speaker and text of each sentence of *message* that is kept: a demand, or something that carries a fact."""
    source = value_of(message, "source")
    kind = value_of(source, "kind")
    is_summary = value_of(source, "plugin") == PLUGIN
    for block in blocks(message)[1:-1] if is_summary else blocks(message):
        if block.get("type") == "tool-call":
            yield 1, "call", f"{block.get('name')} {block.get('arguments')}"
            continue
        texts = block.get("content") if block.get("type") == "tool-result" else [block]
        failed = "failed result" if block.get("isError") else "result"
        for part in texts if isinstance(texts, list) else ():
            text = value_of(part, "text")
            if value_of(part, "type") != "text" or type(text) is not str:
                continue
            for sentence in filter(None, map(str.strip, _END.split(text))):
                if block.get("type") == "tool-result":
                    if _FACT.search(sentence):
                        yield 1, failed, sentence
                elif kind == "model":
                    if _FACT.search(sentence):
                        yield 2, "assistant", sentence
                elif is_summary:
                    yield 0, "", sentence
                elif _DEMAND.search(sentence) or _FACT.search(sentence):
                    yield 0, "user", sentence


_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_DEMAND = re.compile(r"\b(?:must|never|always|only|don't|do not|no longer|instead|remember|please|rule)\b|"
                     r"必须|务必|不要|不得|别|只|请|记住|改为|更正|规则", re.IGNORECASE)
_FACT = re.compile(r"\d|[/\\]\w|\b[a-z]+[-_][a-z0-9_-]+\b", re.IGNORECASE)


class ScriptedSummarizer:
    """Gives the *texts* that it was made with, one a call, and remembers in `seen` what it was asked to summarise."""

    def __init__(self, texts: Iterable[str], provider: str = "workbook", model: str = "scripted-1",
                 details: Mapping[str, Any] | None = None) -> None:
        self._texts = iter(texts)
        self._by, self._details = (provider, model), details or {}
        self.seen: list[tuple[Any, ...]] = []

    def summarize(self, messages: Sequence[Any]) -> Summary:
        """The next text; StopIteration ends the compaction like any other failure."""
        self.seen.append(tuple(messages))
        return Summary([{"type": "text", "text": next(self._texts)}], *self._by, self._details)


class FailingSummarizer:
    """Raises *error* when it is asked, as a provider does that is overloaded."""

    def __init__(self, error: Exception | None = None) -> None:
        self._error = error or TimeoutError("the summarizer did not answer")

    def summarize(self, messages: Sequence[Any]) -> Summary:
        """Nothing: it raises."""
        raise self._error
