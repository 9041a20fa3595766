"""A model's answer as it streams: the chunks that it comes in, and the blocks that they make (chapter 4, §4.2)."""
from typing import Any

from labsupport.lossless import joined

Chunk = dict[str, Any]
Block = dict[str, Any]

_TEXT_OF = {"text-delta": "text", "reasoning-delta": "text", "tool-call-delta": "argumentsDelta"}


class Assembly:
    """Puts the chunks of one answer together; `content` gives what has come so far.

    >>> answer = Assembly()
    >>> answer.take({"type": "block-start", "index": 0, "blockType": "text"})
    >>> answer.take({"type": "text-delta", "index": 0, "text": "It is "})
    >>> answer.take({"type": "text-delta", "index": 0, "text": "3."})
    >>> answer.content()
    [{'type': 'text', 'text': 'It is 3.'}]

    The chunk that ends a block carries the whole block, and that one counts:

    >>> answer.take({"type": "block-end", "index": 0, "block": {"type": "text", "text": "It is 3!"}})
    >>> answer.content()
    [{'type': 'text', 'text': 'It is 3!'}]

    *usage* and *finish* (the reason) are None until they come. ValueError for a chunk that is none; nothing is taken of it.
    """

    def __init__(self) -> None:
        self.usage: dict[str, Any] | None = None
        self.finish: dict[str, Any] | None = None
        self._deltas: dict[int, list[Chunk]] = {}
        self._ended: dict[int, Block] = {}

    def take(self, chunk: Any) -> None:
        """Take the next *chunk*; other kinds than those of the format are passed over."""
        kind = _get(chunk, "type", str)
        if kind == "usage":
            self.usage = _get(chunk, "usage", dict)
        elif kind == "finish":
            _get(_get(chunk, "reason", dict), "kind", str)
            self.finish = chunk["reason"]
        elif kind == "block-end":
            self._ended[_get(chunk, "index", int)] = _checked(_get(chunk, "block", dict))
        elif kind in _TEXT_OF:
            _get(chunk, _TEXT_OF[kind], str)
            if kind == "tool-call-delta":
                _get(chunk, "id", str)
            before = self._deltas.setdefault(_get(chunk, "index", int), [])
            if before and before[0]["type"] != kind:
                raise ValueError(f"a {kind} goes on a block of {before[0]['type']}")
            before.append(chunk)

    def content(self) -> list[Block]:
        """The blocks in order; one that has not ended is made of its deltas."""
        return [self._ended[index] if index in self._ended else _block(self._deltas[index])
                for index in sorted({*self._deltas, *self._ended})]

    def calls(self) -> list[Block]:
        """Those blocks that ask for a tool."""
        return [block for block in self.content() if block["type"] == "tool-call"]


def _get(value: Any, key: str, kind: type) -> Any:
    """The field *key* of an object; ValueError where it is missing or of another type."""
    if not isinstance(value, dict) or not isinstance(value.get(key), kind):
        raise ValueError(f"a chunk lacks {key}, or it is no {kind.__name__}")
    return value[key]


def _checked(block: Block) -> Block:
    """*block*, which has a type, and when it is a call all that a call needs to be answered."""
    if _get(block, "type", str) == "tool-call":
        if not _get(block, "id", str):
            raise ValueError("a call has an id")
        _get(block, "name", str)
        _get(block, "arguments", str)
    return block


def _block(deltas: list[Chunk]) -> Block:
    first = deltas[0]
    text = joined("".join(delta[_TEXT_OF[first["type"]]] for delta in deltas))  # a stream may cut a character in two
    if first["type"] != "tool-call-delta":
        return {"type": first["type"].removesuffix("-delta"), "text": text}
    name = next((delta["name"] for delta in deltas if "name" in delta), "")
    return {"type": "tool-call", "id": first["id"], "name": name, "arguments": text}


def block_chunks(index: int, block: Block, size: int = 8, whole: bool = True) -> list[Chunk]:
    """The chunks that *block*, number *index* of its message, streams in: deltas of *size* characters, then its end.

    >>> [chunk["type"] for chunk in block_chunks(0, {"type": "text", "text": "Hello"}, size=3)]
    ['block-start', 'text-delta', 'text-delta', 'block-end']

    Without *whole* the end is missing, as in a stream that broke.
    """
    kind = block["type"]
    said = block["arguments"] if kind == "tool-call" else block["text"]
    head: dict[str, Any] = {"type": f"{kind}-delta", "index": index}
    if kind == "tool-call":
        head |= {"id": block["id"], "name": block["name"]}
    deltas = [{**head, _TEXT_OF[head["type"]]: said[at:at + size]} for at in range(0, len(said), size)]
    end = [{"type": "block-end", "index": index, "block": block}] if whole else []
    return [{"type": "block-start", "index": index, "blockType": kind}, *deltas, *end]
