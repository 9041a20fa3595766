"""The one codec between events and the records of both stores: an event, or a packed row of chunks (chapter 4, §4.8)."""
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import msgspec
from msgspec import UNSET, Raw

from labsupport.errors import EventError
from labsupport.lossless import MAX_SAFE_INTEGER
from labsupport.sessionlog.events import SessionEvent, integer, natural, to_json
from labsupport.sessionlog.json_text import same_json, write_data

SMALLEST_RUN = 3
"""Runs of fewer chunks are written as events; rows of one or two are read all the same."""

_ROWS = {"text-chunks": "text-delta", "reasoning-chunks": "reasoning-delta", "tool-call-chunks": "tool-call-delta"}
_ROW_OF = {delta: row for row, delta in _ROWS.items()}


def is_chunk_row(record: object) -> bool:
    """Whether *record* is a packed row, by its type alone."""
    return isinstance(record, dict) and type(record.get("type")) is str and record["type"] in _ROWS


def decode_record(record: object) -> list[SessionEvent]:
    """The events of one JSON *record*: those that a packed row expands to, or the one event that it is.

    >>> data = {"turn": 1, "step": 1, "index": 0, "dt": [3], "texts": ["a", "b"]}
    >>> row = {"type": "text-chunks", "seq0": 5, "time0": 100, "data": data}
    >>> [(event.seq, event.time, event.data["chunk"]["text"]) for event in decode_record(row)]
    [(5, 100, 'a'), (6, 103, 'b')]

    EventError for a malformed row or an event that is none.
    """
    if not is_chunk_row(record):
        return [SessionEvent.from_json(record)]
    row: dict[str, Any] = record  # type: ignore[assignment]
    data = row.get("data")
    if row.keys() != {"type", "seq0", "time0", "data"} or not isinstance(data, dict):
        raise EventError("row", "a packed row has type, seq0, time0, data and nothing else")
    is_call = row["type"] == "tool-call-chunks"
    texts_key = "args" if is_call else "texts"
    wanted = {"turn", "step", "index", "dt", texts_key} | ({"id"} | (data.keys() & {"name"}) if is_call else set())
    if data.keys() != wanted:
        raise EventError("row.data", f"a row of {row['type']} has other fields")
    for key in ("turn", "step", "index"):
        if type(data[key]) not in (int, float):
            raise EventError(f"row.data.{key}", "a number belongs here")
    for key in sorted({"id", "name"} & data.keys()):
        if type(data[key]) is not str:
            raise EventError(f"row.data.{key}", "a string belongs here")
    texts, gaps = data[texts_key], data["dt"]
    if not isinstance(texts, list) or not texts or not all(type(text) is str for text in texts):
        raise EventError(f"row.data.{texts_key}", "strings belong here, at least one")
    if not isinstance(gaps, list) or len(gaps) != len(texts) - 1:
        raise EventError("row.data.dt", "there is one gap less than members")
    seq, time = natural(row["seq0"], "row.seq0"), integer(row["time0"], "row.time0")
    if seq + len(texts) - 1 > MAX_SAFE_INTEGER:
        raise EventError("row.seq0", "the row's last seq is beyond 2^53-1")
    times = [time]
    for gap in gaps:
        times.append(integer(times[-1] + integer(gap, "row.data.dt"), "row.data.dt"))
    head: dict[str, Any] = {"type": _ROWS[row["type"]], "index": data["index"]}
    head |= {key: data[key] for key in ("id", "name") if key in data}
    said = "argumentsDelta" if is_call else "text"
    return [
        SessionEvent("assistant/chunk", seq + at, times[at], Raw(write_data(
            {"turn": data["turn"], "step": data["step"], "chunk": {**head, said: text}}, stored=True)))
        for at, text in enumerate(texts)
    ]


def pack_chunk_runs(events: Iterable[SessionEvent]) -> list[dict[str, Any]]:
    """The JSON records of *events*, runs of three or more chunks that belong together packed into rows.

    A run has the same kind, turn, step, index, and for calls the same id and name, and its seqs follow each other.
    """
    return [to_json(record) for record in _packed(events)]


def _packed(events: Iterable[SessionEvent]) -> list[SessionEvent | dict[str, Any]]:
    """The rows of *events*, and the events that stay outside of rows."""
    records: list[SessionEvent | dict[str, Any]] = []
    run: list[tuple[SessionEvent, dict[str, Any]]] = []

    def close() -> None:
        records.extend([_row(run)] if len(run) >= SMALLEST_RUN else [event for event, _ in run])
        run.clear()

    for event in events:
        data = _packable(event)
        if run and (data is None or not _follows(run[-1], (event, data))):
            close()
        if data is None:
            records.append(event)
        else:
            run.append((event, data))
    close()
    return records


def record_lines(events: Sequence[SessionEvent], pack: bool = False) -> bytes:
    """The records of *events* as lines of JSON text; with *pack* runs of chunks stand in rows."""
    try:
        return _encode_lines(_packed(events) if pack else events)
    except UnicodeEncodeError:  # a surrogate in a type or in a row
        records = _packed(events) if pack else events
        return b"".join(write_data(to_json(record), stored=True) + b"\n" for record in records)


_encode_lines = msgspec.json.Encoder().encode_lines


def _packable(event: SessionEvent) -> dict[str, Any] | None:
    """The data of *event* when it is a chunk with exactly the fields that a row carries; else None."""
    if event.type != "assistant/chunk" or event.ignorable is not UNSET:
        return None
    data = event.read()
    if not isinstance(data, dict) or data.keys() != {"turn", "step", "chunk"} or not isinstance(data["chunk"], dict):
        return None
    chunk = data["chunk"]
    kind = chunk.get("type")
    if type(kind) is not str or kind not in _ROW_OF:
        return None
    texts = {"id", "argumentsDelta"} | (chunk.keys() & {"name"}) if kind == "tool-call-delta" else {"text"}
    if chunk.keys() != {"type", "index"} | texts or not all(type(chunk[key]) is str for key in texts):
        return None
    numbers = (data["turn"], data["step"], chunk["index"])
    return data if all(type(number) in (int, float) for number in numbers) else None


def _follows(before: tuple[SessionEvent, dict[str, Any]], after: tuple[SessionEvent, dict[str, Any]]) -> bool:
    (old, old_data), (new, new_data) = before, after
    gap = new.time - old.time
    return new.seq == old.seq + 1 and abs(gap) <= MAX_SAFE_INTEGER and same_json(_kin(old_data), _kin(new_data))


def _kin(data: dict[str, Any]) -> dict[str, Any]:
    """What all members of a run share."""
    chunk = {key: value for key, value in data["chunk"].items() if key not in ("text", "argumentsDelta")}
    return {**data, "chunk": chunk}


def _row(run: list[tuple[SessionEvent, dict[str, Any]]]) -> dict[str, Any]:
    first, data = run[0]
    chunk = data["chunk"]
    is_call = chunk["type"] == "tool-call-delta"
    said = "argumentsDelta" if is_call else "text"
    packed = {"turn": data["turn"], "step": data["step"], "index": chunk["index"],
              "dt": [after.time - before.time for (before, _), (after, _) in pairwise(run)]}
    packed |= {key: chunk[key] for key in ("id", "name") if key in chunk}
    packed["args" if is_call else "texts"] = [member["chunk"][said] for _, member in run]
    return {"type": _ROW_OF[chunk["type"]], "seq0": first.seq, "time0": first.time, "data": packed}
