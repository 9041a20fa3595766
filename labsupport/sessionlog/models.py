"""Models for the loop: what every model is asked with, and one that follows a script (chapter 4, §4.2)."""
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from labsupport.errors import ScriptExhaustedError
from labsupport.sessionlog.stream import Block, Chunk, block_chunks


@dataclass(frozen=True)
class Request:
    """All that a model is sent: the logged request *header* (config, system, tools) and the derived *messages*, frozen."""

    header: Mapping[str, Any]
    messages: Sequence[Any]


class Model(Protocol):
    """Anything that answers a request with chunks; the last one is a finish."""

    def stream(self, request: Request) -> Iterable[Chunk]: ...


@dataclass(frozen=True)
class Reply:
    """What a scripted model says to one request: *reasoning*, then *text*, then *calls*, cut into pieces of *size* characters.

    *finish* is the kind of reason that the stream ends with; without one it is tool-calls or stop. With *error*, a message and
    a code, the stream breaks: its last block has no end, and the finish is an error.
    """

    text: str = ""
    calls: Sequence[Block] = ()
    reasoning: str = ""
    usage: Mapping[str, int] | None = None
    finish: str | None = None
    error: tuple[str, str] | None = None
    size: int = 8

    def blocks(self) -> list[Block]:
        """The blocks of the message."""
        said = [{"type": kind, "text": text} for kind, text in (("reasoning", self.reasoning), ("text", self.text)) if text]
        return [*said, *self.calls]

    def chunks(self) -> list[Chunk]:
        """The stream, whole."""
        blocks = self.blocks()
        chunks = [chunk for index, block in enumerate(blocks)
                  for chunk in block_chunks(index, block, self.size, whole=self.error is None or index < len(blocks) - 1)]
        if self.usage is not None:
            chunks.append({"type": "usage", "usage": dict(self.usage)})
        reason: dict[str, Any] = {"kind": self.finish or ("tool-calls" if self.calls else "stop")}
        if self.error is not None:
            reason = {"kind": "error", "failure": {"message": self.error[0], "code": self.error[1]}}
        return [*chunks, {"type": "finish", "reason": reason}]


def call(id: str, name: str, arguments: str) -> Block:
    """A block that calls the tool *name*; *arguments* is JSON text, as a model writes it.

    >>> call("c1", "add", "[1, 2]")
    {'type': 'tool-call', 'id': 'c1', 'name': 'add', 'arguments': '[1, 2]'}
    """
    return {"type": "tool-call", "id": id, "name": name, "arguments": arguments}


class ScriptedModel:
    """A model that replays *replies*, one a request, and keeps every request that it saw.

    >>> model = ScriptedModel([Reply("Hello")])
    >>> [chunk["type"] for chunk in model.stream(Request({}, []))], len(model.requests)
    (['block-start', 'text-delta', 'block-end', 'finish'], 1)

    *usage*, a function of request and reply, says what a reply costs that does not say so itself. One request more than there
    are replies: ScriptExhaustedError.
    """

    def __init__(self, replies: Iterable[Reply], usage: Callable[[Request, Reply], Mapping[str, int]] | None = None) -> None:
        self.replies = list(replies)
        self.requests: list[Request] = []
        self._usage = usage

    def stream(self, request: Request) -> Iterator[Chunk]:
        """The chunks of the next reply."""
        self.requests.append(request)
        if len(self.requests) > len(self.replies):
            raise ScriptExhaustedError(
                f"request {len(self.requests)}, but the script has {len(self.replies)} replies; add one or allow fewer steps")
        reply = self.replies[len(self.requests) - 1]
        if reply.usage is None and self._usage is not None:
            reply = replace(reply, usage=self._usage(request, reply))
        yield from reply.chunks()
