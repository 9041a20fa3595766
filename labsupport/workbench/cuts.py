"""What a cut leaves of a log: the lines that are whole, the turn that is open, what closes it, and what nobody can claim.

Pure functions over bytes. Reading and closing are the library's own (`scan_log`, `interrupted_turn_closers`); here their
answers are only put side by side.
"""
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from msgspec import UNSET

from labsupport.errors import LogCorruptError
from labsupport.sessionlog import Session, SessionEvent, decode_record, interrupted_turn_closers, pack_chunk_runs
from labsupport.sessionlog.json_text import field, write_data
from labsupport.sessionlog.recovery import NOT_STARTED, OUTCOME_UNKNOWN, answered_call, blocks
from labsupport.sessionlog.storage import TornTail, scan_log
from labsupport.strict_json import read_json


class Line(NamedTuple):
    """A line of a log: where its bytes begin and end, and the events that it holds (the header's line holds none)."""

    start: int
    stop: int
    events: tuple[SessionEvent, ...]


def split_lines(data: bytes) -> list[bytes]:
    """The lines of *data* with their line breaks; only `\\n` ends one, and the last may lack it.

    >>> split_lines(b"a\\r\\nb")
    [b'a\\r\\n', b'b']
    """
    pieces = data.split(b"\n")
    return [piece + b"\n" for piece in pieces[:-1]] + ([pieces[-1]] if pieces[-1] else [])


def lines_of(data: bytes) -> list[Line]:
    """The lines of a good log, the header's first. LabError or ValueError where it is none."""
    scan_log(data)
    lines, start = list[Line](), 0
    for number, raw in enumerate(split_lines(data)):
        events = tuple(decode_record(read_json(raw))) if number else ()
        lines.append(Line(start, start + len(raw), events))
        start += len(raw)
    return lines


def log_bytes(session: Session) -> bytes:
    """The log of *session* as a store writes it, without a disk."""
    records = [{"type": "session", **session.header.to_json()}, *pack_chunk_runs(session.events)]
    return b"".join(write_data(record, stored=True) + b"\n" for record in records)


def telling_cuts(data: bytes) -> list[int]:
    """Where to cut a good log that is too long for every byte: behind each line, one byte before that, in its middle."""
    return [at for line in lines_of(data) for at in ((line.start + line.stop) // 2, line.stop - 1, line.stop)]


@dataclass(frozen=True)
class Closer:
    """One event that recovery adds, and what it closes: open *since* that seq, and for a call its id and its tool."""

    event: SessionEvent
    closes: Literal["call", "step", "turn"]
    since: int
    number: Any = None
    call_id: str = ""
    tool: str = ""
    code: str = ""

    @property
    def unknown(self) -> bool:
        """Whether the call was started, so that nobody can say from the log what came of it."""
        return self.code == OUTCOME_UNKNOWN


@dataclass(frozen=True)
class Cut:
    """The first *at* bytes of a log, as recovery sees them; *refused* where nothing can be read (a cut in the header)."""

    at: int
    kept: list[SessionEvent]
    torn: TornTail | None
    closers: tuple[Closer, ...]
    refused: LogCorruptError | None = None

    @property
    def events(self) -> list[SessionEvent]:
        """What a load gives: the events that were kept, and behind them the closers."""
        return [*self.kept, *(closer.event for closer in self.closers)]


def cut_log(data: bytes, at: int) -> Cut:
    """Cut the log *data* to its first *at* bytes, and close what is open.

    >>> head = b'{"type":"session","version":0,"id":"s1","createdAt":0,"delegationDepth":0}\\n'
    >>> turn = b'{"type":"turn/start","seq":0,"time":0,"data":{"turn":1}}\\n'
    >>> [closer.event.type for closer in cut_log(head + turn, len(head + turn)).closers]
    ['turn/end']

    One byte less, and there was no turn:

    >>> cut = cut_log(head + turn, len(head + turn) - 1)
    >>> cut.torn.size, cut.events
    (56, [])

    Chapter 4, §4.9.
    """
    try:
        scan = scan_log(data[:at])
    except LogCorruptError as error:
        return Cut(at, [], None, (), error)
    closers = tuple(_closer(event, scan.events) for event in interrupted_turn_closers(scan.events))
    return Cut(at, scan.events, scan.torn, closers)


def _closer(event: SessionEvent, kept: Sequence[SessionEvent]) -> Closer:
    data = event.read()
    if event.type != "tool/result":
        closes: Literal["step", "turn"] = "step" if event.type == "step/end" else "turn"
        since = next(past.seq for past in reversed(kept) if past.type == f"{closes}/start")
        return Closer(event, closes, since, data[closes])
    call_id = answered_call(data)
    asked = next(past for past in reversed(kept) if past.type == "assistant/message" and _asks(past, call_id))
    tool = next(str(block.get("name", "")) for block in blocks(asked.read()["message"]) if block.get("id") == call_id)
    since = asked.seq if event.source_event_seqs is UNSET else event.source_event_seqs[0]
    return Closer(event, "call", since, call_id=call_id, tool=tool, code=data["error"]["code"])


def _asks(event: SessionEvent, call_id: str) -> bool:
    return any(block.get("type") == "tool-call" and block.get("id") == call_id
               for block in blocks(field(event.read(), "message")))


def claims(events: Sequence[SessionEvent]) -> dict[str, str]:
    """What a log says of each call that it knows: id → "answered", or the code of its closer, or "open".

    >>> claims([])
    {}
    """
    found: dict[str, str] = {}
    for event in events:
        data = event.read()
        if event.type == "assistant/message":
            found |= {block["id"]: "open" for block in blocks(field(data, "message")) if block.get("type") == "tool-call"}
        elif event.type == "tool/result":
            code = field(field(data, "error"), "code")
            found[answered_call(data)] = code if code in (NOT_STARTED, OUTCOME_UNKNOWN) else "answered"
    return found
