"""The events of a range as passages of text: who said what, what became of each call, and who was to read it.

Three audiences, from narrow to wide. "tool": a block that is marked `"audience": "tool"` and the `meta` of a result, which no
message carries. "model": all else that a message says. "outside": whoever a text is handed to beyond the session. The mark is
ours: `derive_messages` keeps such a block, and an adapter that honours it leaves it out of the request.
"""
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from msgspec import UNSET

from labsupport.errors import CompactionError
from labsupport.sessionlog.events import Replace, SessionEvent
from labsupport.sessionlog.facts import known
from labsupport.sessionlog.json_text import field
from labsupport.sessionlog.ranges import is_checkpoint
from labsupport.sessionlog.recovery import OUTCOME_UNKNOWN, answered_call, blocks
from labsupport.sessionlog.statements import sentences
from labsupport.sessionlog.surface import derive_event_message
from labsupport.strict_json import read_json

Audience = Literal["tool", "model", "outside"]
AUDIENCES: tuple[Audience, ...] = ("tool", "model", "outside")
Role = Literal["user", "summary", "context", "assistant", "call", "result", "todo"]
Status = Literal["", "succeeded", "failed", "unknown"]
_DONE = ("completed", "cancelled", "done")


@dataclass(frozen=True)
class Passage:
    """What event *seq* says in one block. Calls and results have a *label*, id and name of the call, and results a *status*;
    an open task has its place in the list and its status as its *label*."""

    seq: int
    role: Role
    text: str
    audience: Audience = "model"
    label: str = ""
    status: Status = ""


class Source:
    """What a summary of the nodes *seqs* has to answer for: their messages, and the task list as the range leaves it.

    *events* is the log from its beginning. CompactionError (code "range") for a seq that the log does not have.
    """

    def __init__(self, events: Iterable[SessionEvent], seqs: Iterable[int]) -> None:
        self.events, self.seqs = list(events), tuple(seqs)
        for seq in self.seqs:
            if not 0 <= seq < len(self.events):
                raise CompactionError("range", f"this log has no event {seq}; it ends at {len(self.events) - 1}")

    @cached_property
    def passages(self) -> tuple[Passage, ...]:
        """The passages of all audiences, in the order of *seqs*; the open tasks behind them."""
        names: dict[str, str] = {}
        said = [passage for seq in self.seqs for passage in _passages(self.events[seq], names)]
        return (*said, *self._open_tasks())

    @cached_property
    def known(self) -> set[str]:
        """The keys of everything that stands in the source, whoever was to read it, with labels and decoded arguments."""
        parts: list[str] = []
        for passage in self.passages:
            parts += [passage.text, passage.label]
            if passage.role == "call":
                parts += leaves(_decoded(passage.text))
        return known("\n".join(parts))

    def quote(self) -> str:
        """All that the model was to read of it as text, with what became of each call: a summary that loses nothing."""
        return "\n".join(line for passage in self.passages if passage.audience == "model" for line in _lines(passage))

    def _open_tasks(self) -> Iterator[Passage]:
        first, last = self._reach()
        written = next((event for event in reversed(self.events[first:last + 1]) if event.type == "todo/write"), None)
        todos = field(written.read(), "todos") if written is not None else None
        if written is None or not isinstance(todos, list):
            return
        for number, item in enumerate(todos, start=1):
            content = field(item, "content") if isinstance(item, dict) else item
            status = field(item, "status")
            if type(content) is str and content.strip() and status not in _DONE:
                yield Passage(written.seq, "todo", content, label=f"{number} {_word(status) or 'pending'}")

    def _reach(self) -> tuple[int, int]:
        """The first and the last event that the range goes back to; a replacement goes back to what it replaced."""
        waiting, seen, ends = list(self.seqs), set[int](), [len(self.events), -1]
        while waiting:
            seq = waiting.pop()
            event = self.events[seq]
            if seq in seen:
                continue
            seen.add(seq)
            if isinstance(event.surface_op, Replace) and event.source_event_seqs:
                waiting += [cited for cited in event.source_event_seqs if self.events[cited].surface_op is not UNSET]
            else:
                ends = [min(ends[0], seq), max(ends[1], seq)]
        return ends[0], ends[1]


def _passages(event: SessionEvent, names: dict[str, str]) -> Iterator[Passage]:
    """The passages of *event*; *names* keeps the names of the calls so far."""
    message = derive_event_message(event)
    if message is None:
        return
    role = _role(event, message)
    for block in blocks(message)[1:-1] if role == "summary" else blocks(message):
        kind = block.get("type")
        if kind == "tool-call":
            call_id, name = _word(block.get("id")), _word(block.get("name"))
            names[call_id] = name
            arguments = block.get("arguments")
            text = arguments if type(arguments) is str else " ".join(leaves(arguments))
            yield Passage(event.seq, "call", text, _audience(block), f"{call_id} {name}".strip())
        elif kind == "tool-result":
            yield from _result(event, block, names)
        else:
            yield Passage(event.seq, role, _text(block), _audience(block))


def _role(event: SessionEvent, message: Any) -> Role:
    if event.type == "assistant/message":
        return "assistant"
    if is_checkpoint(event):
        return "summary"
    return "user" if field(field(message, "source"), "kind") == "user" else "context"


def _result(event: SessionEvent, block: Any, names: dict[str, str]) -> Iterator[Passage]:
    data = event.read() if event.type == "tool/result" else {}
    call_id = _word(answered_call(data) or block.get("toolCallId"))
    code = field(field(data, "error"), "code")
    failed = block.get("isError") is True or field(data, "error") is not None
    status: Status = "unknown" if code == OUTCOME_UNKNOWN else "failed" if failed else "succeeded"
    label = f"{call_id} {names.get(call_id, '')}".strip()
    content = block.get("content")
    parts = content if isinstance(content, list) and content else [""]
    for part in parts:
        narrow = "tool" in (_audience(block), _audience(part))
        yield Passage(event.seq, "result", _text(part), "tool" if narrow else "model", label, status)
    meta = " ".join(leaves(field(data, "meta")))
    if meta:
        yield Passage(event.seq, "result", meta, "tool", label, status)


def _audience(block: Any) -> Audience:
    return "tool" if field(block, "audience") == "tool" else "model"


def _text(block: Any) -> str:
    text = field(block, "text")
    return text if type(text) is str else " ".join(leaves(block))


def leaves(value: Any) -> list[str]:
    """The strings and numbers in *value*, at any depth, in order."""
    found, waiting = [], [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting += reversed(item.values())
        elif isinstance(item, list):
            waiting += reversed(item)
        elif type(item) is str:
            found.append(item)
        elif type(item) in (int, float):
            found.append(_digits(item))
    return found


def _digits(number: int | float) -> str:
    """*number* as it is written; Python does not write integers of more than 4300 digits."""
    return hex(number) if isinstance(number, int) and number.bit_length() > 10_000 else str(number)


def _decoded(text: str) -> Any:
    """The arguments of a call as a value, None where they are no JSON."""
    try:
        return read_json(text.encode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return None


def _word(value: Any) -> str:
    """*value* as one word of a line; "" where it is no text."""
    return re.sub(r"[\s。！？]+", "_", value)[:200] if type(value) is str else ""


def _lines(passage: Passage) -> Iterator[str]:
    if passage.role == "todo":
        for sentence in sentences(passage.text):
            yield f"todo {passage.label}: {sentence.text}"
    elif passage.role == "result":
        yield f"result of {passage.label}, {passage.status}: {passage.text}"
    elif passage.role == "call":
        yield f"call {passage.label} {passage.text}"
    elif passage.role == "summary":
        yield passage.text
    else:
        yield f"{passage.role}: {passage.text}"


def text_of(summary: str | Sequence[Any]) -> str:
    """The text of a *summary* that is given as text or as blocks."""
    return summary if isinstance(summary, str) else "\n".join(
        " ".join(leaves({key: value for key, value in block.items() if key != "type"})) if isinstance(block, dict) else
        " ".join(leaves(block)) for block in summary)
