"""A log for measuring: turns of 33 events, each a two-step tool task; the same bytes every time."""
import json
from collections.abc import Callable, Iterator
from itertools import count as count_from
from itertools import islice
from pathlib import Path
from typing import Any

ID = "bench"
HEADER = {"type": "session", "version": 0, "id": ID, "createdAt": 0, "delegationDepth": 0}
START = 1_700_000_000_000
TURN = 33
ARGUMENTS = '{"clinic":"north","year":2025}'


def events(count: int) -> Iterator[dict[str, Any]]:
    """The first *count* events, as JSON records."""
    for seq in range(count):
        turn, at = divmod(seq, TURN)
        yield {"type": "", "seq": seq, "time": START + seq * 7, **_event(turn + 1, at, seq)}


def _event(turn: int, at: int, seq: int) -> dict[str, Any]:
    step = 1 if at < 17 else 2
    here = {"turn": turn, "step": step}
    call = f"call-{turn}"
    if at in (0, 32):
        return {"type": "turn/end", "data": {"turn": turn, "reason": {"kind": "completed"}}} if at else {
            "type": "turn/start", "data": {"turn": turn}}
    if at in (1, 17):
        return {"type": "step/start", "data": here}
    if at in (16, 31):
        return {"type": "step/end", "data": here}
    if at == 2:
        text = f"How many tests did clinic {turn} count, and how many the year before?"
        message = {"id": f"u{turn}", "role": "user", "source": {"kind": "user"}, "content": [{"type": "text", "text": text}]}
        return {"type": "user/message", "data": message, "surfaceOp": "append"}
    if at in (13, 30):
        block = {"type": "text", "text": f"Clinic {turn} counted 7,576 tests, 106 more than in the year before."}
        if at == 13:
            block = {"type": "tool-call", "id": call, "name": "year_on_year", "arguments": ARGUMENTS}
        source = {"kind": "model", "provider": "workbook", "model": "scripted-1"}
        message = {"id": f"a{seq}", "role": "assistant", "source": source, "content": [block]}
        data = {**here, "message": message, "usage": {"inputTokens": 900, "outputTokens": 40}}
        cited = list(range(seq - 10 if at == 13 else seq - 12, seq))
        return {"type": "assistant/message", "data": data, "surfaceOp": "append", "sourceEventSeqs": cited}
    if at == 14:
        return {"type": "tool/call", "data": {**here, "callId": call, "name": "year_on_year", "arguments": ARGUMENTS}}
    if at == 15:
        block = {"type": "tool-result", "toolCallId": call, "isError": False,
                 "content": [{"type": "text", "text": "2024: 7,470; 2025: 7,576; change +1.4 %"}]}
        message = {"id": f"r{turn}", "role": "user", "source": {"kind": "tool", "callId": call}, "content": [block]}
        data = {**here, "message": message}
        return {"type": "tool/result", "data": data, "surfaceOp": "append", "sourceEventSeqs": [seq - 1]}
    words = {"type": "text-delta", "index": 0, "text": f"a few words that were streamed as piece {at} "}
    return {"type": "assistant/chunk", "data": {**here, "chunk": words}}


def blocks(count: int, size: int) -> list[list[dict[str, Any]]]:
    """The first events, in *count* blocks of *size*."""
    records = events(count * size)
    return [list(islice(records, size)) for _ in range(count)]


def line(record: dict[str, Any]) -> bytes:
    """The line of *record* in a log."""
    return _compact(record).encode() + b"\n"


def row(record: dict[str, Any]) -> tuple[Any, ...]:
    """The row of *record* in the table of events."""
    sources, op = record.get("sourceEventSeqs"), record.get("surfaceOp")
    return (ID, record["seq"], record["type"], record["time"], _compact(record["data"]),
            None if sources is None else _compact(sources), None if op is None else _compact(op), None)


def clock() -> Callable[[], int]:
    """The times of the events, one after another."""
    return count_from(START, 7).__next__


def append(session: Any, record: dict[str, Any]) -> Any:
    """Log *record* in *session*; the event that it became."""
    return session.append(record["type"], record["data"], record.get("surfaceOp"), record.get("sourceEventSeqs"))


def write(path: Path, count: int) -> None:
    """Write a log of *count* events to *path*."""
    with path.open("wb") as file:
        file.writelines(map(line, (HEADER, *events(count))))


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
