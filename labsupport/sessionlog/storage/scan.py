"""Reading the bytes of a log: what was committed, what was torn off at the end, and what is damage (chapter 4, §4.8–4.9)."""
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
from msgspec import UNSET

from labsupport.errors import EventError, LogCorruptError, LogFormatError
from labsupport.sessionlog.events import RETIRED_TYPES, SessionEvent, check_envelope
from labsupport.sessionlog.header import LOG_VERSION, SessionHeader
from labsupport.sessionlog.json_text import field, same_json
from labsupport.sessionlog.shapes import SHAPED_TYPES, check_stored_shape
from labsupport.sessionlog.storage.chunk_rows import decode_record, is_chunk_row
from labsupport.strict_json import NumberTooLargeError, read_json
from labsupport.system import no_garbage_collection


@dataclass(frozen=True)
class Scan:
    """What the bytes of a log hold: whole records up to *committed_bytes*; *torn* says what stands behind them."""

    header: SessionHeader
    events: list[SessionEvent]
    committed_bytes: int
    torn: "TornTail | None" = None


@dataclass(frozen=True)
class TornTail:
    """The end of a log that was not committed, from *line* and byte *offset* on: *records* lines, *whole* of them readable."""

    line: int
    offset: int
    size: int
    records: int
    whole: int
    why: str


def scan_log(data: bytes) -> Scan:
    """Read the bytes of a JSONL log.

    >>> line = b'{"type":"session","version":0,"id":"s1","createdAt":5,"delegationDepth":0}\\n'
    >>> scan_log(line + b'{"type":"turn/sta').committed_bytes == len(line)
    True

    A last record without its line break is torn. From the first record that cannot be read, or leaves a gap in seq, on,
    everything is a torn tail, unless a turn/end can be read in it or behind it: then it is damage, LogCorruptError. Another
    version is LogFormatError, before anything else is looked at. Chapter 4, §4.8.3 and §4.9.
    """
    return scan_file(io.BytesIO(data))


def scan_file(file: BinaryIO, path: Path | None = None, size: int | None = None) -> Scan:
    """As `scan_log`, from a file that is open at its beginning; *path* is for the messages.

    Only the first *size* bytes are looked at: of what a live writer adds meanwhile, half a line could stand before a whole one.
    """
    first = file.readline()
    left = None if size is None else size - len(first)
    return scan_lines(first, _blocks(file, left), path)


def _blocks(file: BinaryIO, left: int | None) -> Iterator[list[bytes]]:
    while left is None or left > 0:
        lines = file.readlines(_BLOCK if left is None else min(_BLOCK, left))
        if not lines:
            return
        if left is not None:
            left -= sum(map(len, lines))
            if left < 0:  # the last line goes beyond it
                lines[-1] = lines[-1][:left]
        yield lines


_BLOCK = 1 << 20


def scan_lines(first: bytes, blocks: Iterable[list[bytes]], path: Path | None = None, first_seq: int = 0) -> Scan:
    """As `scan_log`, from the header's line *first* and the lines of the records behind it, in *blocks* of any size.

    The records are those from *first_seq* on.
    """
    with no_garbage_collection():
        return _Reader(first, iter(blocks), path, first_seq).read()


def ends_a_turn(lines: bytes) -> bool:
    """Whether one of *lines* can be read as a turn/end."""
    return any(record_type(line) == "turn/end" for line in lines.split(b"\n"))


def record_type(line: bytes) -> object:
    """The type of the record on *line*; None where it cannot be read or has none."""
    try:
        return field(read_json(line), "type")
    except ValueError:
        return None


class _Reader:
    def __init__(self, first: bytes, blocks: Iterator[list[bytes]], path: Path | None, first_seq: int) -> None:
        self.first, self.blocks, self.path, self.first_seq = first, blocks, path, first_seq
        self.events: list[SessionEvent] = []
        self.line, self.offset = 1, 0  # of the record that is read next

    def read(self) -> Scan:
        header = self._header()
        for block in self.blocks:
            lines = list(block)
            unfinished = lines.pop() if not lines[-1].endswith(b"\n") else b""
            clean = _is_clean(b"".join(lines))
            for at, line in enumerate(lines):
                why = self._take(line, clean)
                if why:
                    return self._stop(header, why, lines[at:], unfinished)
                self.line += 1
                self.offset += len(line)
            if unfinished:
                return self._stop(header, "the last record has no line break", [], unfinished)
        return Scan(header, self.events, self.offset)

    def _take(self, line: bytes, clean: bool) -> str:
        """Take the record on *line*; or say why nothing from here on was committed."""
        events = self.events
        if clean:
            try:
                event = _decode(line)
            except (msgspec.MsgspecError, UnicodeError, RecursionError):
                pass  # stricter than the rules (1.0 for 1, lone surrogates), and it knows no packed rows
            else:
                if event.seq != self.first_seq + len(events):
                    return f"its seq is {event.seq}, and {self.first_seq + len(events)} is the next one"
                if (event.type in _LOOKED_INTO or event.surface_op is not UNSET or event.source_event_seqs is not UNSET
                        or event.ignorable is not UNSET):
                    self._check(event)
                events.append(event)
                return ""
        return self._take_slowly(line)

    def _check(self, event: SessionEvent) -> None:
        try:
            check_envelope(event)
            check_stored_shape(event.type, event.json_text)
        except EventError as error:
            raise self._damage(str(error)) from None

    def _take_slowly(self, line: bytes) -> str:
        try:
            record = read_json(line)
        except NumberTooLargeError as error:
            raise self._damage(str(error)) from None
        except ValueError as error:
            return f"it is not JSON ({error})"
        if not isinstance(record, dict):
            return "it is not an object"
        try:
            events = decode_record(record)
        except EventError as error:
            if is_chunk_row(record) or not same_json(record.get("seq"), self.first_seq + len(self.events)):
                return str(error)
            raise self._damage(str(error)) from None
        if events[0].seq != self.first_seq + len(self.events):
            return f"its seq is {events[0].seq}, and {self.first_seq + len(self.events)} is the next one"
        self.events += events
        return ""

    def _damage(self, what: str) -> LogCorruptError:
        sentence = f"this record has the right seq, but {what}. It is damage, not a torn tail. Nothing was changed."
        return LogCorruptError(sentence, self.path, self.line)

    def _stop(self, header: SessionHeader, why: str, rest: list[bytes], unfinished: bytes) -> Scan:
        """The end of what was committed: a torn tail, or damage when a turn ends in it or behind it."""
        size = records = whole = 0
        for at, line in enumerate(self._lines(rest, unfinished)):
            size, records = size + len(line), records + 1
            if not line.endswith(b"\n"):
                continue
            try:
                record = read_json(line)
            except ValueError:
                continue
            whole += 1
            if isinstance(record, dict) and record.get("type") == "turn/end":
                behind = f"a turn ends behind it, in line {self.line + at}" if at else "it ends a turn"
                raise LogCorruptError(f"{why}; {behind}, so this is damage, not a torn tail. Nothing was changed.",
                                      self.path, self.line)
        return Scan(header, self.events, self.offset, TornTail(self.line, self.offset, size, records, whole, why))

    def _lines(self, rest: list[bytes], unfinished: bytes) -> Iterator[bytes]:
        yield from rest
        if unfinished:
            yield unfinished
        for block in self.blocks:
            yield from block

    def _header(self) -> SessionHeader:
        first = self.first
        self.offset = len(first)
        try:
            value = read_json(first)
        except ValueError as error:
            what = f"the header is not JSON ({error})" if first.endswith(b"\n") else "there is no whole header"
            raise LogCorruptError(f"{what}. Nothing was changed.", self.path, 1) from None
        version = value.get("version") if isinstance(value, dict) else None
        if type(version) in (int, float) and version != LOG_VERSION:
            raise foreign_version(version, self.path)
        try:
            if not first.endswith(b"\n"):
                raise EventError("header", "its line has no end")
            if not isinstance(value, dict) or value.get("type") != "session":
                raise EventError("header.type", "the first line is no session header")
            header = SessionHeader.scanned(value)
        except EventError as error:
            raise LogCorruptError(f"{error}. Nothing was changed.", self.path, 1) from None
        self.line = 2
        return header


def foreign_version(version: Any, path: Path | None) -> LogFormatError:
    """The refusal of a log of another *version*."""
    if version > LOG_VERSION:
        return LogFormatError(
            f"version {version} of the format is newer than {LOG_VERSION}, the one read here. The log is whole: "
            "open it with a newer version of this library.", version, path)
    return LogFormatError(
        f"version {version} of the format is older than {LOG_VERSION}, and no upgrade path leads from it here. "
        "The log is whole: upgrade it with a version that knows both.", version, path)


_LOOKED_INTO = SHAPED_TYPES | RETIRED_TYPES
_decode = msgspec.json.Decoder(SessionEvent).decode

# What the quick decoder lets through in data that it does not look into: bytes that are not UTF-8, and numbers beyond a
# double. Such a number has an exponent of three digits, or two hundred digits in a row; both show in a copy of the bytes that
# tells only their kinds apart.
_KINDS = bytes.maketrans(
    bytes(range(256)), b"".join(b"d" if byte in b"0123456789." else b"e" if byte in b"eE" else b"s" if byte in b"+-" else b" "
                                for byte in range(256)))


def _is_clean(block: bytes) -> bool:
    """Whether the quick decoder sees all that can be wrong in *block*."""
    if not block.isascii():
        try:
            block.decode("utf-8")
        except UnicodeDecodeError:
            return False
    kinds = block.translate(_KINDS)
    return not (b"deddd" in kinds or b"desddd" in kinds or b"d" * 200 in kinds)
