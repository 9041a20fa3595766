"""Cutting the middle out of long tool results, without a model; the log keeps them whole (chapter 4, §4.10.2)."""
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from labsupport.errors import EventError
from labsupport.lossless import joined
from labsupport.sessionlog.events import Replace
from labsupport.sessionlog.json_text import field
from labsupport.sessionlog.session import Session
from labsupport.sessionlog.surface import derive_event_message
from labsupport.sessionlog.tokens import estimate_message

MARKER = "\n\n[... tool result middle pruned ...]\n\n"
"""What stands in the place of the middle."""


@dataclass(frozen=True)
class PruneConfig:
    """A result with more than *threshold_chars* code points of text keeps its first *head_chars* and its last *tail_chars*.

    EventError unless head, marker and tail together fit the threshold: what was pruned is never pruned again.
    """

    threshold_chars: int = 8192
    head_chars: int = 4096
    tail_chars: int = 1024

    def __post_init__(self) -> None:
        for name, least in (("threshold_chars", 1), ("head_chars", 0), ("tail_chars", 0)):
            if type(getattr(self, name)) is not int or getattr(self, name) < least:
                raise EventError(name, f"a whole number from {least} on belongs here")
        kept = self.head_chars + len(MARKER) + self.tail_chars
        if kept > self.threshold_chars:
            raise EventError("threshold_chars", f"head, marker and tail are {kept} characters together, more than "
                                                f"{self.threshold_chars}")


def prune_content(blocks: Sequence[Any], config: PruneConfig) -> list[Any] | None:
    """The content *blocks* of a result with the middle of their text cut out; None when they are short enough.

    >>> prune_content([{"type": "text", "text": "a" * 50 + "b" * 50}], PruneConfig(60, 5, 3))
    [{'type': 'text', 'text': 'aaaaa\\n\\n[... tool result middle pruned ...]\\n\\nbbb'}]

    The text of all blocks counts as one, in code points, so that no character is cut in two. Blocks that are no text stay, and
    so does whatever else a text block has; text blocks of which nothing is left go.
    """
    texts = [joined(block["text"]) if _is_text(block) else None for block in blocks]
    whole = sum(len(text) for text in texts if text is not None)
    if whole <= config.threshold_chars:
        return None
    tail_from = whole - config.tail_chars
    pruned: list[Any] = []
    begin, marked = 0, False
    for block, text in zip(blocks, texts, strict=True):
        if text is None:
            pruned.append(block)
            continue
        end = begin + len(text)
        kept = text[:max(0, config.head_chars - begin)]
        if not marked and end > config.head_chars:
            kept, marked = kept + MARKER, True
        kept += text[max(0, tail_from - begin):] if end > tail_from else ""
        if kept:
            pruned.append({**block, "text": kept})
        begin = end
    return pruned


def _is_text(block: Any) -> bool:
    return field(block, "type") == "text" and type(field(block, "text")) is str


def prune_session(session: Session, config: PruneConfig | None = None, spare: Sequence[int] = ()) -> list[int]:
    """Prune every result on the surface of *session* but those in *spare*; the seqs of the results that were rewritten.

    Each costs two events: `compaction/prune`, which says what is shadowed and how many tokens that was, and the result again,
    with less content and all else as it was. A second call changes nothing more. The loop does it inside a turn, where a
    result belongs; outside of one `check_invariants` says so.
    """
    config = PruneConfig() if config is None else config
    pruned = []
    for seq in list(session.surface.nodes):
        event = session.events[seq]
        if event.type != "tool/result" or seq in spare:
            continue
        data = event.read()
        block = data["message"]["content"][0]
        content = prune_content(block["content"], config) if isinstance(block.get("content"), list) else None
        if content is None:
            continue
        session.append("compaction/prune", {"shadowedRange": {"start": seq, "end": seq}, "shadowedSeqs": [seq],
                                            "shadowedTokenCount": estimate_message(derive_event_message(event))})
        block["content"] = content
        session.append("tool/result", data, Replace(seq, seq), [seq])
        pruned.append(seq)
    return pruned
