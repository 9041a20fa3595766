"""Results that are too large for a log: kept outside, with head, tail, size and a reference inside (chapter 4, §4.10.2)."""
from collections.abc import Callable
from dataclasses import dataclass

from labsupport.errors import EventError
from labsupport.sessionlog.stream import Block


@dataclass(frozen=True)
class Spill:
    """What to do with a long result: *keep* stores its bytes and gives a reference; head and tail stay, in code points.

    >>> spill = Spill(lambda data: "attachment:1f", limit_chars=30, head_chars=4, tail_chars=3)
    >>> spill.blocks("one,two,three,four,five,six,seven")[1]
    {'type': 'attachment', 'ref': 'attachment:1f', 'chars': 33, 'bytes': 33, 'lines': 1}
    >>> spill.blocks("short") is None
    True

    The reference stands in a block of its own, so that pruning, which cuts text, keeps it.
    """

    keep: Callable[[bytes], str]
    limit_chars: int = 8192
    head_chars: int = 4096
    tail_chars: int = 1024

    def __post_init__(self) -> None:
        if self.head_chars < 0 or self.tail_chars < 0 or self.head_chars + self.tail_chars > self.limit_chars:
            raise EventError("limit_chars", "head and tail fit in it together")

    def blocks(self, text: str) -> list[Block] | None:
        """The content of the result *text*; None when it is short enough to stay as it is."""
        if len(text) <= self.limit_chars:
            return None
        data = text.encode("utf-8", "surrogatepass")
        ref = self.keep(data)
        if type(ref) is not str or not ref:
            raise TypeError(f"keep gives a reference, a text, not a {type(ref).__name__}")
        lines = text.count("\n") + (not text.endswith("\n"))
        tail = text[-self.tail_chars:] if self.tail_chars else ""
        left = len(text) - self.head_chars - self.tail_chars
        shown = f"{text[:self.head_chars]}\n\n[... {left} of {len(text)} characters are kept in {ref} ...]\n\n{tail}"
        return [{"type": "text", "text": shown},
                {"type": "attachment", "ref": ref, "chars": len(text), "bytes": len(data), "lines": lines}]
