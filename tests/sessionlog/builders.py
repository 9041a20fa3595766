"""Events on a line: a case should show what it is about and nothing else.

A builder gives a record without seq and time; `log` numbers records and makes events of them.
"""

import json
import os
import pickle
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from labsupport.sessionlog import Session, SessionEvent, SessionHeader, to_json
from labsupport.sessionlog.storage import JsonlStore

Record = dict[str, Any]
HEADER_LINE = b'{"type":"session","version":0,"id":"s1","createdAt":1000,"delegationDepth":0}\n'


# Records


def record(type: str, data: object = None, **more: object) -> Record:
    return {"type": type, "data": data, **more}


def turn_start(turn: int = 1) -> Record:
    return record("turn/start", {"turn": turn})


def turn_end(turn: int = 1, kind: str = "completed") -> Record:
    return record("turn/end", {"turn": turn, "reason": {"kind": kind}})


def step_start(step: int = 1, turn: int = 1) -> Record:
    return record("step/start", {"turn": turn, "step": step})


def step_end(step: int = 1, turn: int = 1) -> Record:
    return record("step/end", {"turn": turn, "step": step})


def replacing(start: int, end: int) -> Record:
    return {"op": "replace", "start": start, "end": end}


def text_block(text: str) -> Record:
    return {"type": "text", "text": text}


def user_data(text: str = "hi", id: str = "u", **source: object) -> Record:
    return {"id": id, "role": "user", "source": source or {"kind": "user"}, "content": [text_block(text)]}


def user(text: str = "hi", id: str = "u", op: object = "append", **more: object) -> Record:
    return record("user/message", user_data(text, id), surfaceOp=op, **more)


def call_block(id: str) -> Record:
    return {"type": "tool-call", "id": id, "name": "read", "arguments": "{}"}


def says_data(*blocks: object, step: int = 1, turn: int = 1, id: str = "a") -> Record:
    message = {
        "id": id,
        "role": "assistant",
        "source": {"kind": "model", "provider": "p", "model": "m"},
        "content": list(blocks),
    }
    return {"turn": turn, "step": step, "message": message}


def says(text: str = "ok", step: int = 1, turn: int = 1, id: str = "a", op: object = "append", **more: object) -> Record:
    return record("assistant/message", says_data(text_block(text), step=step, turn=turn, id=id), surfaceOp=op, **more)


def asks(*ids: str, step: int = 1, turn: int = 1) -> Record:
    """An answer that asks for as many tool calls as there are *ids*."""
    return record("assistant/message", says_data(*map(call_block, ids), step=step, turn=turn), surfaceOp="append")


def call(id: str, step: int = 1, turn: int = 1) -> Record:
    return record("tool/call", {"turn": turn, "step": step, "callId": id, "name": "read", "arguments": "{}"})


def result_data(id: str, text: str = "done", step: int = 1, turn: int = 1, is_error: bool = False) -> Record:
    block = {"type": "tool-result", "toolCallId": id, "isError": is_error, "content": [text_block(text)]}
    message = {"id": f"r-{id}", "role": "user", "source": {"kind": "tool", "callId": id}, "content": [block]}
    return {"turn": turn, "step": step, "message": message}


def result(id: str, text: str = "done", step: int = 1, turn: int = 1, op: object = "append", **more: object) -> Record:
    return record("tool/result", result_data(id, text, step, turn), surfaceOp=op, **more)


def chunk(text: str, step: int = 1, turn: int = 1, index: int = 0) -> Record:
    return record(
        "assistant/chunk", {"turn": turn, "step": step, "chunk": {"type": "text-delta", "index": index, "text": text}}
    )


def call_chunk(said: str, id: str = "c", index: int = 1, **name: str) -> Record:
    piece = {"type": "tool-call-delta", "index": index, "id": id, **name, "argumentsDelta": said}
    return record("assistant/chunk", {"turn": 1, "step": 1, "chunk": piece})


def request_header(model: str = "m", reason: str = "initial") -> Record:
    return record("request/header", {"header": {"config": {"provider": "p", "model": model}}, "reason": reason})


# Logs


def numbered(*records: Record, first: int = 0) -> list[Record]:
    """The *records* with seq and time."""
    return [
        {"type": one["type"], "seq": first + at, "time": 1000 + first + at, **{key: one[key] for key in one if key != "type"}}
        for at, one in enumerate(records)
    ]


def log(*records: Record, first: int = 0) -> list[SessionEvent]:
    """The events of the *records*, numbered from *first* on."""
    return [SessionEvent.from_json(one) for one in numbered(*records, first=first)]


def plain(events: Iterable[SessionEvent]) -> list[Record]:
    """The events as plain JSON, to compare with."""
    return [event.to_json() for event in events]


def line(value: object) -> bytes:
    """The line of a record, written by another encoder than the library's; half a pair becomes its escape."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace") + b"\n"


def log_bytes(*records: Record) -> bytes:
    """A plain log: a header and a line for each of the *records*."""
    return HEADER_LINE + b"".join(map(line, numbered(*records)))


def two_steps() -> list[Record]:
    """A task of one turn: step 1 asks for two calls, step 2 answers."""
    return [
        turn_start(),
        step_start(),
        user("compare the years"),
        request_header(),
        chunk("let"),
        chunk(" me"),
        chunk(" see 预算 🙂"),
        asks("c1", "c2"),
        call("c1"),
        result("c1", sourceEventSeqs=[8]),
        call("c2"),
        result("c2", sourceEventSeqs=[10]),
        step_end(),
        step_start(2),
        chunk("up", step=2),
        says("up 4 %", step=2, sourceEventSeqs=[14]),
        step_end(2),
        turn_end(),
    ]


def append(session: Session, one: Record) -> SessionEvent:
    """Append *one* of the records above to a live *session*."""
    return session.append(
        one["type"],
        one["data"],
        surface_op=one.get("surfaceOp"),
        source_event_seqs=one.get("sourceEventSeqs"),
        ignorable=one.get("ignorable", False),
    )


def stored(store: Any, *records: Record, id: str = "s1") -> Any:
    """*store* with a session of these *records* in it."""
    store.create(SessionHeader(id, created_at=1000))
    store.append(id, log(*records))
    return store


def same_messages(session: Session) -> list[Any]:
    return [to_json(message) for message in session.derive_messages()]


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file in *folder* but the locks, with its bytes."""
    return {
        path.name: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.endswith(".lock")
    }


def jsonl_file(folder: Path, data: bytes, id: str = "s1") -> JsonlStore:
    """A store of plain files in *folder*, with *data* as the log of session *id*."""
    store = JsonlStore(folder)
    folder.mkdir(parents=True, exist_ok=True)
    store.path(id).write_bytes(data)
    return store


# Other processes


def in_child(work: Callable[[], Any]) -> Any:
    """What *work* gives in a forked child, or the error that it raised there. Posix only."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            try:
                answer: Any = work()
            except Exception as error:  # noqa: BLE001 - it is handed to the test
                answer = error
            with os.fdopen(theirs, "wb") as out:
                out.write(pickle.dumps(answer))
            code = 0
        finally:
            os._exit(code)
    os.close(theirs)
    with os.fdopen(ours, "rb") as back:
        answer = back.read()
    status = os.waitpid(child, 0)[1]
    assert status == 0, f"the child ended with status {status}"
    return pickle.loads(answer)


POSIX = sys.platform != "win32"
