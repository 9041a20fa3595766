"""The requests of a log as their parts, each with the text that it stands for: what lab B6 tabulates and draws."""
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from labsupport.errors import LabError
from labsupport.lossless import js_json
from labsupport.sessionlog import SessionEvent
from labsupport.sessionlog.json_text import field
from labsupport.sessionlog.request import Part, RebuiltRequest, explain_request, rebuild_request, request_seqs
from labsupport.sessionlog.tokens import count_tokens
from labsupport.workbench.compactions import spoken

FIXED = frozenset({"config", "section", "tool"})
"""The parts that stand in the header of a request; all others are messages, or pieces of one."""


@dataclass(frozen=True)
class Piece:
    """A *part* of a request with its *text*, and whether the request before it had the same."""

    part: Part
    text: str
    is_new: bool

    @property
    def tokens(self) -> int:
        """What a real tokenizer makes of the text."""
        return _tokens(self.text)


_tokens = lru_cache(10_000)(count_tokens)


class WholeRequests:
    """The requests of a log, numbered from 1 as they were asked; each is taken apart when it is first looked at.

    >>> from labsupport.workbench import log_samples
    >>> requests = WholeRequests(log_samples.load("two_step").events)
    >>> len(requests), [piece.part.kind for piece in requests.pieces(1)]
    (2, ['config', 'section', 'tool', 'tool', 'user'])
    >>> [piece.part.kind for piece in requests.pieces(2) if piece.is_new]
    ['answer', 'result']

    LabError for a number that is none.
    """

    def __init__(self, events: Sequence[SessionEvent]) -> None:
        self.events = tuple(events)
        self.seqs = request_seqs(self.events)
        self._taken: dict[int, list[tuple[Part, str]]] = {}
        self._rebuilt: dict[int, RebuiltRequest] = {}

    def __len__(self) -> int:
        return len(self.seqs)

    def rebuilt(self, number: int) -> RebuiltRequest:
        """Request *number*, rebuilt."""
        if not 1 <= number <= len(self):
            raise LabError(f"there is no request {number}; this log has {len(self)}")
        if number not in self._rebuilt:
            self._rebuilt[number] = rebuild_request(self.events, self.seqs[number - 1])
        return self._rebuilt[number]

    def pieces(self, number: int) -> list[Piece]:
        """The parts of request *number*, in the order in which a model reads them."""
        before = self._keys(number - 1)
        return [Piece(part, text, _key(part, text) not in before) for part, text in self._apart(number)]

    def gone(self, number: int) -> int:
        """How many parts of the request before it request *number* no longer has."""
        return len(self._keys(number - 1) - self._keys(number))

    def _apart(self, number: int) -> list[tuple[Part, str]]:
        """The parts of request *number*, each with its text."""
        rebuilt = self.rebuilt(number)
        if number not in self._taken:
            parts = explain_request(self.events, self.seqs[number - 1])
            self._taken[number] = [(part, text_of(rebuilt, part)) for part in parts]
        return self._taken[number]

    def _keys(self, number: int) -> frozenset[Any]:
        return frozenset(_key(part, text) for part, text in self._apart(number)) if number else frozenset()

    @cached_property
    def most(self) -> int:
        """The parts of the request that has the most of them."""
        return max((len(self._apart(number)) for number in range(1, len(self) + 1)), default=0)

    @cached_property
    def longest(self) -> int:
        """The tokens of the request that has the most of them."""
        return max((sum(_tokens(text) for _, text in self._apart(number)) for number in range(1, len(self) + 1)), default=0)


def _key(part: Part, text: str) -> Any:
    """What makes a part the same in two requests: a message is one event's, a part of the header what it says."""
    return part.kind, part.name, text, part.version if part.kind in FIXED else part.seqs[0]


def text_of(rebuilt: RebuiltRequest, part: Part) -> str:
    """The characters that *part* of the *rebuilt* request stands for: a piece of a text, a tool's JSON, a message's words."""
    if part.kind == "config":
        return js_json(rebuilt.header["config"])
    if part.kind == "section":
        return _cut(rebuilt.header.get("system", ""), part)
    if part.kind == "tool":
        tools = [tool for tool in rebuilt.header.get("tools", ()) if field(tool, "name") == part.name]
        return js_json(tools[0]) if tools else ""
    message = rebuilt.messages[rebuilt.message_seqs.index(part.seqs[0])]
    said = "\n".join(spoken(message))
    return _cut(said, part) if part.kind == "context" else said


def _cut(text: str, part: Part) -> str:
    return text if part.span is None else text[slice(*part.span)]
