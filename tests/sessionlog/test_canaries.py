"""No error about a log says what a message of it says: not in its words, its parts, the errors behind it or its traceback.

One log has a canary in every body, key and odd value. It is damaged in every way of a table, and everything that reads a log
is tried on what is left; what is raised, whoever raises it, is searched.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from labsupport.errors import EventError, LabError
from labsupport.sessionlog import (
    Reply,
    ScriptedModel,
    Session,
    SessionEvent,
    SessionHeader,
    check_compaction,
    check_invariants,
    delegate,
    fork,
    pairing_cuts,
    prune_session,
    replay,
    resume,
    run_turn,
    session_stats,
    todo,
    tool_pairing,
    transcript,
    turn_status,
)
from labsupport.sessionlog.compaction import compact
from labsupport.sessionlog.compaction_report import compaction_report
from labsupport.sessionlog.folding import fold
from labsupport.sessionlog.prompt import Prompt, Section, Tools
from labsupport.sessionlog.query_state import EMPTY, Source, approve, commit, plan, query_state
from labsupport.sessionlog.redaction import redact_log
from labsupport.sessionlog.request import explain_request, rebuild_request, request_seqs
from labsupport.sessionlog.retention import Hold, check_holds
from labsupport.sessionlog.roles import SUPPORT, read_raw
from labsupport.sessionlog.storage import JsonlStore, scan_log
from labsupport.sessionlog.summarizers import ScriptedSummarizer
from labsupport.workbench.log_views import LogViews
from labsupport.workbench.report import lab_report
from tests.miniagent.test_privacy import parts
from tests.sessionlog import builders as make

CANARY = "hunter2Canary"


def full() -> list[make.Record]:
    """A task with two turns and a compaction, and the canary in every body."""
    said = f"it is {CANARY}"
    call = {**make.call_block("c1"), "arguments": json.dumps({CANARY: CANARY})}
    result = {**make.result_data("c1", said), "meta": {CANARY: [CANARY]}}
    ended = {"turn": 2, "reason": {"kind": "error", "error": {"message": said, "code": "MODEL_FAILED", "name": "E"}}}
    header = {"config": {"provider": "p", "model": "m"}, "system": said, "tools": [{"name": "read", "description": said}]}
    return make.numbered(
        make.record("session/title", {"title": said}), make.turn_start(), make.step_start(), make.user(said, "u1"),
        make.record("request/header", {"header": header, "reason": "initial"}), make.chunk(said), make.chunk(said),
        make.record("assistant/message", make.says_data(make.text_block(said), call), surfaceOp="append"),
        make.record("tool/call", {"turn": 1, "step": 1, "callId": "c1", "name": "read", "arguments": call["arguments"]}),
        make.record("tool/result", result, surfaceOp="append", sourceEventSeqs=[8]),
        make.step_end(), make.turn_end(), make.record("todo/write", {"todos": [{"content": said, "status": "pending"}]}),
        make.turn_start(2), make.user(said, "u2"), make.says(said, turn=2, id="a2"), make.record("turn/end", ended))


BODY = {"text": CANARY, CANARY: CANARY}
CHANGES: dict[str, Any] = {
    "a number of the canary": {"seq": CANARY}, "another number": {"seq": 99}, "a time of the canary": {"time": CANARY},
    "no number": {"seq": None}, "a key more": {CANARY: CANARY}, "data that is text": {"data": CANARY},
    "data that is a list": {"data": [CANARY, BODY]}, "data that is another": {"data": BODY}, "no data": {"data": None},
    "a place of the canary": {"surfaceOp": CANARY}, "an operation of the canary": {"surfaceOp": {"op": CANARY, CANARY: 1}},
    "a range that is none": {"surfaceOp": make.replacing(9, 3)}, "a range over a pair": {"surfaceOp": make.replacing(7, 7)},
    "sources of the canary": {"sourceEventSeqs": [CANARY]}, "sources to come": {"sourceEventSeqs": [98]},
    "a mark of the canary": {"ignorable": CANARY}, "a type that nobody knows": {"type": "nobody/knows"},
    "a type that is a list": {"type": [CANARY]}, "content that is text": {"data": {"content": CANARY, "message": CANARY}},
    "content that is no block": {"data": {"id": "x", "role": "user", "source": {"kind": "user"}, "content": [CANARY]}},
    "a role of the canary": {"data": {"id": "x", "role": CANARY, "source": BODY, "content": [BODY]}},
    "a message of the canary": {"data": {"turn": 1, "step": 1, "message": {CANARY: CANARY, "content": [BODY]}}},
    "a block of the canary": {"data": {"turn": 1, "step": 1, "message": {
        "id": "x", "role": "assistant", "source": {"kind": "model"}, "content": [{"type": CANARY, CANARY: CANARY}]}}},
}
BYTES: dict[str, Callable[[bytes], bytes]] = {
    "half a line": lambda line: line[:len(line) // 2] + b"\n", "a byte": lambda line: line.replace(b"it is", b"it\xff is"),
    "NaN": lambda line: line.replace(b"{", b'{"%s":NaN,' % CANARY.encode(), 1), "twice": lambda line: line * 2,
    "a control": lambda line: line.replace(b"it is", b"it\x01is"), "words": lambda line: CANARY.encode() + b"\n",
    "an overflow": lambda line: line.replace(b"{", b'{"%s":1e999,' % CANARY.encode(), 1),
    "two keys": lambda line: line.replace(b"{", b'{"%s":1,"%s":2,' % (2 * (CANARY.encode(),)), 1),
    "joined": lambda line: line.removesuffix(b"\n"), "deep": lambda line: b'{"%s":' % CANARY.encode() * 5000 + b"\n",
    "a bad escape": lambda line: line.replace(b"it is", b"it\\x is"),
}
HEADERS: dict[str, bytes] = {
    "a version of the canary": make.HEADER_LINE.replace(b":0,", b':"%s",' % CANARY.encode(), 1),
    "a newer version": make.HEADER_LINE.replace(b'"version":0', b'"version":9'),
    "a key more": make.HEADER_LINE.replace(b"{", b'{"%s":{"%s":1},' % (2 * (CANARY.encode(),)), 1),
    "a time of the canary": make.HEADER_LINE.replace(b"1000", b'"%s"' % CANARY.encode()),
    "no header": b"", "words": CANARY.encode() + b"\n", "a title": make.HEADER_LINE.replace(
        b"{", b'{"title":"%s",' % CANARY.encode(), 1), "a list": b'["%s"]\n' % CANARY.encode(),
}


def damaged() -> Iterator[tuple[str, bytes]]:
    """Every damage, at a message, a call, a result, a chunk and the end."""
    lines = [make.line(record) for record in full()]
    for at in (3, 5, 7, 8, 9, len(lines) - 1):
        for name, change in CHANGES.items():
            yield f"{name} at {at}", make.HEADER_LINE + b"".join(
                [*lines[:at], make.line({**full()[at], **change}), *lines[at + 1:]])
        for name, spoil in BYTES.items():
            yield f"{name} at {at}", make.HEADER_LINE + b"".join([*lines[:at], spoil(lines[at]), *lines[at + 1:]])
        yield f"torn at {at}", make.HEADER_LINE + b"".join(lines[:at]) + lines[at][:-9]
        yield f"gone at {at}", make.HEADER_LINE + b"".join([*lines[:at], *lines[at + 1:]])
    for name, header in HEADERS.items():
        yield f"{name} in the header", header + b"".join(lines)


def raised(act: Callable[[], object]) -> Iterator[Exception]:
    """What *act* raises, whatever it is."""
    try:
        act()
    except Exception as error:  # noqa: BLE001  a KeyError may quote as well
        yield error


def read(store: JsonlStore) -> Iterator[Exception]:
    """What is raised where the log is read, repaired, gone on with, and handed to everything that reads events."""
    data = store.path("s1").read_bytes()
    at = len(full())
    more = make.log(make.user(CANARY), first=at)
    for act in (lambda: scan_log(data), lambda: store.inspect("s1"), lambda: store.list(), lambda: store.append("s1", more),
                lambda: store.append("s1", make.log(make.user(CANARY), first=at + 5)), lambda: resume(store, "s1"),
                lambda: store.load("s1")):
        yield from raised(act)
    events = list[SessionEvent]()
    for line in data.split(b"\n")[1:]:
        with suppress(ValueError, RecursionError):  # of the standard library, which quotes
            value = json.loads(line)
            yield from raised(lambda value=value: events.append(SessionEvent.from_json(value)))
    yield from read_events(events)


def read_events(events: list[SessionEvent]) -> Iterator[Exception]:
    """What is raised by whatever takes events."""
    units = (turn_status, session_stats, tool_pairing, todo, query_state)
    acts: list[Callable[[list[SessionEvent]], object]] = [
        lambda it: Session.create("s1", it).derive_messages(), LogViews, lab_report, check_invariants, check_compaction,
        lambda it: list(transcript(it)), replay, lambda it: fork(Session.create("s1", it)), lambda it: fork(
            Session.create("s1", it), 7), lambda it: delegate(Session.create("s1", it), "child"),
        lambda it: prune_session(Session.create("s1", it)), lambda it: redact_log(SessionHeader("s1"), it),
        pairing_cuts, lambda it: compaction_report(it, "x"), lambda it: read_raw(SUPPORT, it),
        *(partial(fold, unit) for unit in units)]
    for act in acts:
        yield from raised(partial(act, events))
    for seq in [*next(iter([request_seqs(events)]), []), 0, 98]:
        yield from raised(partial(rebuild_request, events, seq))
        yield from raised(partial(explain_request, events, seq))


def of_live_sessions() -> Iterator[Exception]:
    """What is raised where somebody asks a good session for what cannot be done."""
    def session() -> Session:
        return Session.create("s1", [SessionEvent.from_json(record) for record in full()])

    for value in ({CANARY: {CANARY}}, {CANARY: float("nan")}, CANARY.encode(), {CANARY: 2**60}, {(CANARY,): CANARY}):
        yield from raised(lambda value=value: session().append("plugin/x", value, ignorable=True))
    for surface_op in (CANARY, {"op": CANARY}, make.replacing(3, 7), make.replacing(7, 3), make.replacing(0, 98)):
        yield from raised(lambda op=surface_op: session().append("user/message", make.user_data(CANARY), op))
    for range_ in ((3, 7), (7, 3), (0, 98), (3, 3), (3, 9), (3, 15)):
        for summary in ("", CANARY, CANARY * 999):
            yield from raised(lambda range_=range_, summary=summary: compact(session(), *range_, ScriptedSummarizer([summary])))
    orphan = make.log(make.result("c9", CANARY), make.user(CANARY))
    yield from raised(lambda: pairing_cuts(orphan))
    yield from raised(lambda: compact(Session.create("s1", orphan), 0, 1, ScriptedSummarizer([CANARY])))
    open_turn = Session.create("s1", [SessionEvent.from_json(record) for record in full()[:8]])
    yield from raised(lambda: fork(open_turn, 6))
    yield from raised(lambda: delegate(open_turn, "s1"))
    sections = [Section("a", f"{CANARY} {{{{nobody}}}}"), Section("a", CANARY)]
    yield from raised(lambda: Prompt(sections).compose())
    yield from raised(lambda: Prompt(sections[:1]).compose())
    yield from raised(lambda: Prompt(tools=[Tools("x", [{"name": "t", CANARY: CANARY}])] * 2).compose())
    yield from raised(lambda: commit(EMPTY, Source(1, 1), goal=[CANARY]))
    yield from raised(lambda: commit(EMPTY, Source(1, 1), metric={"id": CANARY, "version": CANARY, "status": CANARY}))
    yield from raised(lambda: plan(commit(EMPTY, Source(1, 1), goal=CANARY), Source(2, 1)))
    yield from raised(lambda: approve(commit(EMPTY, Source(1, 1), goal=CANARY), Source(2, 1), CANARY, "ana"))
    yield from raised(lambda: SUPPORT.check("raw"))
    yield from raised(lambda: check_holds(["s1"], [Hold("case", frozenset({"s1"}))]))
    yield from raised(lambda: run_turn(
        session(), CANARY, ScriptedModel([Reply(CANARY)]), {}, config={"provider": "p", "model": "m"},
        before_send=lambda request: replace(request, messages=[{CANARY: CANARY}])))


def quoting(error: BaseException) -> list[str]:
    return [text for text in parts(error) if CANARY.lower() in text.lower()]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Exception]]:
    """For every damage what was raised."""
    told: dict[str, list[Exception]] = {}
    for name, data in damaged():
        store = make.jsonl_file(tmp_path_factory.mktemp("log"), data)
        told[name] = list(read(store))
    told["live"] = list(of_live_sessions())
    return told


def test_no_error_says_what_a_message_says(found: dict[str, list[Exception]]) -> None:
    loud = {f"{name}: {type(error).__name__}": quoting(error)[0][:300]
            for name, errors in found.items() for error in errors if quoting(error)}
    assert loud == {}


def test_the_damages_bring_every_refusal_about(found: dict[str, list[Exception]]) -> None:
    """All classes whose words may come near a body; the rest speak of a process, a disk or a name."""
    seen = {type(error).__name__ for errors in found.values() for error in errors}
    assert seen >= {"LosslessError", "EventError", "SurfaceError", "PairingError", "LogCorruptError", "TornLogError",
                    "LogFormatError", "UnknownEventError", "StaleCursorError", "CompactionError", "ForkError", "PromptError",
                    "QueryStateError", "RoleError", "HoldError", "UnloggedInputError"}
    assert not [error for errors in found.values() for error in errors if not isinstance(error, LabError)]


def test_an_error_that_quotes_would_be_found() -> None:
    assert quoting(EventError("data", f"no {CANARY}"))
    error, = raised(lambda: json.loads("{" + CANARY))
    assert quoting(error)
