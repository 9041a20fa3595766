"""Rows of the table of events, and the lines of JSON text that they are read as: one codec for both stores (§4.8)."""
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import UNSET

from labsupport.lossless import js_json
from labsupport.sessionlog.events import SessionEvent, surface_op_to_json
from labsupport.strict_json import read_json

COLUMNS = "session_id, seq, type, time, data, source_event_seqs, surface_op, ignorable"

_encode = msgspec.json.Encoder().encode
_value = msgspec.json.Decoder(msgspec.Raw).decode


def to_value(text: str) -> str | bytes:
    """*text* as a column takes it: lone surrogates, which no text column takes, make bytes of it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def to_text(value: bytes) -> str:
    """The text that `to_value` made a column of."""
    return value.decode("utf-8", "surrogatepass")


def event_row(event: SessionEvent) -> tuple[Any, ...]:
    """The columns of *event*, without the session's id.

    >>> event_row(SessionEvent.from_json({"type": "turn/start", "seq": 0, "time": 5, "data": {"turn": 1}}))
    (0, 'turn/start', 5, '{"turn":1}', None, None, None)
    """
    sources, op = event.source_event_seqs, event.surface_op
    return (event.seq, to_value(event.type), event.time, bytes(event.json_text).decode(),
            None if sources is UNSET else _encode(sources).decode(),
            None if op is UNSET else _encode(surface_op_to_json(op)).decode(), None if event.ignorable is UNSET else 1)


def row_line(row: tuple[Any, ...]) -> bytes:
    """*row* as the line that a JSONL log would have; a column that cannot stand in it makes a line that cannot be read.

    >>> row_line((b"s1", 0, b"turn/start", 5, b'{"turn":1}', None, None, None))
    b'{"type":"turn/start","seq":0,"time":5,"data":{"turn":1}}\\n'
    """
    _, seq, kind, time, data, sources, op, ignorable = row
    try:
        if op is None and sources is None and ignorable is None and type(seq) is int and type(time) is int:
            return b'{"type":%b,"seq":%d,"time":%d,"data":%b}\n' % (_string(kind), seq, time, _json(data))
        parts = [b'{"type":', _string(kind), b',"seq":', _number(seq), b',"time":', _number(time), b',"data":', _json(data)]
        if op is not None:
            parts += [b',"surfaceOp":', _json(op)]
        if sources is not None:
            parts += [b',"sourceEventSeqs":', _json(sources)]
        if ignorable is not None:
            parts.append(b',"ignorable":true' if ignorable == 1 and type(ignorable) is int else b',"ignorable":false')
    except (ValueError, TypeError, AttributeError):  # a column of another type, where a page is damaged
        return b"\n"
    return b"".join((*parts, b"}\n"))


@lru_cache(1024)
def _string(value: bytes) -> bytes:
    return js_json(to_text(value)).encode()


def _number(value: Any) -> bytes:
    if type(value) not in (int, float):
        raise TypeError("a number belongs here")
    return _encode(value)


def _json(value: Any) -> bytes:
    """*value* when it is the text of one JSON value, and of nothing beside it."""
    if type(value) is not bytes:
        raise TypeError("a text belongs here")
    try:
        _value(value)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        read_json(value)  # it decides: surrogates and depth are too much for the quick one
    return value if b"\n" not in value else value.replace(b"\n", b" ")
