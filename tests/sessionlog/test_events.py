"""The envelope: what an event and a header are, and what is none."""

import copy
import pickle
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labsupport.errors import EventError, LogCorruptError, LosslessError
from labsupport.lossless import MAX_SAFE_INTEGER
from labsupport.sessionlog import (
    Session,
    SessionEvent,
    SessionHeader,
    SessionLogError,
    is_known_type,
    register_event_type,
    to_json,
)
from labsupport.sessionlog.json_text import same_json
from labsupport.sessionlog.storage import scan_log
from tests.sessionlog import builders as make
from tests.sessionlog.strategies import json_of, logs, stored_values, texts, unfit_values

GOOD = make.numbered(*make.two_steps())
BASE: dict[str, Any] = {"type": "plugin/x", "seq": 3, "time": 5, "data": {"a": 1}}
USER: dict[str, Any] = {**make.user(), "seq": 3, "time": 5}


@given(stored_values, texts, st.integers(0, MAX_SAFE_INTEGER), st.integers(-MAX_SAFE_INTEGER, MAX_SAFE_INTEGER), st.booleans())
def test_to_json_gives_back_what_from_json_took(data: Any, kind: str, seq: int, time: int, ignorable: bool) -> None:
    value = {"type": "plugin/" + kind, "seq": seq, "time": time, "data": data, **({"ignorable": True} if ignorable else {})}
    event = SessionEvent.from_json(value)
    assert same_json(event.to_json(), value)
    assert list(event.to_json()) == list(value)
    assert SessionEvent.from_json(event.to_json()) == event


@given(logs())
def test_every_event_of_a_log_makes_the_round_trip(records: list[make.Record]) -> None:
    for value in make.numbered(*records):
        assert same_json(SessionEvent.from_json(value).to_json(), value)


@given(
    st.dictionaries(
        st.sampled_from([*BASE, "surfaceOp", "sourceEventSeqs", "ignorable", "x"]),
        json_of(st.none() | st.booleans() | st.integers() | st.floats() | texts | st.sampled_from(["append", "user/message"])),
    )
    | unfit_values
)
def test_from_json_takes_an_event_or_refuses_in_its_own_words(value: Any) -> None:
    try:
        event = SessionEvent.from_json(value)
    except SessionLogError:
        return
    assert same_json(event.to_json(), value)


WRONG: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "no type": (BASE, {"type": ...}),
    "no seq": (BASE, {"seq": ...}),
    "no time": (BASE, {"time": ...}),
    "no data": (BASE, {"data": ...}),
    "type is null": (BASE, {"type": None}),
    "type is a number": (BASE, {"type": 1}),
    "another field": (BASE, {"more": None}),
    "a field in another case": (BASE, {"Seq": 3}),
    "seq is negative": (BASE, {"seq": -1}),
    "seq is true": (BASE, {"seq": True}),
    "seq is text": (BASE, {"seq": "3"}),
    "seq is 2**53": (BASE, {"seq": 2**53}),
    "seq is 3.5": (BASE, {"seq": 3.5}),
    "seq is null": (BASE, {"seq": None}),
    "seq is a list": (BASE, {"seq": [3]}),
    "time is unsafe": (BASE, {"time": 2**53}),
    "time is below safe": (BASE, {"time": -(2**53)}),
    "time is 1.5": (BASE, {"time": 1.5}),
    "time is false": (BASE, {"time": False}),
    "time is a date": (BASE, {"time": "2024-01-01"}),
    "ignorable is false": (BASE, {"ignorable": False}),
    "ignorable is null": (BASE, {"ignorable": None}),
    "ignorable is 1": (BASE, {"ignorable": 1}),
    "a log-only type on the surface": (BASE, {"surfaceOp": "append"}),
    "a log-only type that cites": (BASE, {"sourceEventSeqs": [1]}),
    "surfaceOp null on a log-only type": (BASE, {"surfaceOp": None}),
    "a message without surfaceOp": (USER, {"surfaceOp": ...}),
    "surfaceOp is null": (USER, {"surfaceOp": None}),
    "surfaceOp is another word": (USER, {"surfaceOp": "prepend"}),
    "surfaceOp is true": (USER, {"surfaceOp": True}),
    "surfaceOp is a list": (USER, {"surfaceOp": ["append"]}),
    "replace without end": (USER, {"surfaceOp": {"op": "replace", "start": 0}}),
    "replace with more": (USER, {"surfaceOp": {**make.replacing(0, 0), "why": 1}}),
    "replace from null": (USER, {"surfaceOp": {"op": "replace", "start": None, "end": 0}}),
    "replace from -1": (USER, {"surfaceOp": make.replacing(-1, 0)}),
    "another op": (USER, {"surfaceOp": {"op": "insert", "start": 0, "end": 0}}),
    "no op": (USER, {"surfaceOp": {"start": 0, "end": 0}}),
    "sources null": (USER, {"sourceEventSeqs": None}),
    "sources is a number": (USER, {"sourceEventSeqs": 1}),
    "sources negative": (USER, {"sourceEventSeqs": [-1]}),
    "sources text": (USER, {"sourceEventSeqs": ["1"]}),
    "sources true": (USER, {"sourceEventSeqs": [True]}),
    "a retired type": (BASE, {"type": "request/header-delta"}),
}


@pytest.mark.parametrize(("base", "change"), WRONG.values(), ids=WRONG)
def test_what_is_no_event(base: dict[str, Any], change: dict[str, Any]) -> None:
    assert SessionEvent.from_json(base).seq == 3
    value = {key: item for key, item in {**base, **change}.items() if item is not ...}
    with pytest.raises(EventError) as caught:
        SessionEvent.from_json(value)
    assert caught.value.where


@pytest.mark.parametrize("value", [None, [], "x", 1, True, BASE.items(), ()], ids=repr)
def test_only_an_object_is_an_event(value: Any) -> None:
    with pytest.raises(EventError):
        SessionEvent.from_json(value)


@pytest.mark.parametrize(
    ("field", "spelled", "meant"), [("seq", 3.0, 3), ("seq", -0.0, 0), ("time", 5.0, 5), ("time", -1e3, -1000), ("time", 0, 0)]
)
def test_an_integer_may_be_spelled_with_a_point(field: str, spelled: float, meant: int) -> None:
    found = SessionEvent.from_json({**BASE, field: spelled}).to_json()[field]
    assert (found, type(found)) == (meant, int)


def message(**change: Any) -> dict[str, Any]:
    value = {**make.user_data(), **change}
    return {key: item for key, item in value.items() if item is not ...}


def answer(**change: Any) -> dict[str, Any]:
    data = make.says_data(make.text_block("x"))
    return {**data, "message": {key: item for key, item in {**data["message"], **change}.items() if item is not ...}}


def outcome(block: Any = None, **change: Any) -> dict[str, Any]:
    data = make.result_data("c1")
    given_block = {**data["message"]["content"][0], **block} if isinstance(block, dict) else block
    content = data["message"]["content"] if block is None else [given_block]
    return {**data, "message": {**data["message"], "content": content, **change}}


def request(**change: Any) -> dict[str, Any]:
    value = {"config": {"provider": "p", "model": "m"}, **change}
    return {"header": {key: item for key, item in value.items() if item is not ...}, "reason": "initial"}


SHAPES: dict[str, tuple[str, Any]] = {
    "data is null": ("user/message", None),
    "data is a list": ("user/message", []),
    "no id": ("user/message", message(id=...)),
    "empty id": ("user/message", message(id="")),
    "id is a number": ("user/message", message(id=1)),
    "no role": ("user/message", message(role=...)),
    "another role": ("user/message", message(role="assistant")),
    "no source": ("user/message", message(source=...)),
    "source is text": ("user/message", message(source="user")),
    "source without kind": ("user/message", message(source={})),
    "an empty kind": ("user/message", message(source={"kind": ""})),
    "no content": ("user/message", message(content=...)),
    "content is text": ("user/message", message(content="hi")),
    "content is null": ("user/message", message(content=None)),
    "an answer that is bare": ("assistant/message", make.user_data()),
    "an answer by the user": ("assistant/message", answer(role="user")),
    "an answer of no model": ("assistant/message", answer(source={"kind": "model", "provider": "p"})),
    "an empty model": ("assistant/message", answer(source={"kind": "model", "provider": "p", "model": ""})),
    "an answer by a plug-in": ("assistant/message", answer(source={"kind": "plugin", "provider": "p", "model": "m"})),
    "an answer without content": ("assistant/message", answer(content=...)),
    "a result of no call": ("tool/result", outcome(source={"kind": "tool"})),
    "a result of another source": ("tool/result", outcome(source={"kind": "user", "callId": "c1"})),
    "an empty call id": ("tool/result", outcome({"toolCallId": ""}, source={"kind": "tool", "callId": ""})),
    "two calls named": ("tool/result", outcome({"toolCallId": "c2"})),
    "no block": ("tool/result", outcome(content=[])),
    "two blocks": ("tool/result", outcome(content=outcome()["message"]["content"] * 2)),
    "another block": ("tool/result", outcome({"type": "text"})),
    "a null block": ("tool/result", outcome(content=[None])),
    "a result without content": ("tool/result", outcome({"content": None})),
    "no header": ("request/header", {"reason": "initial"}),
    "no config": ("request/header", request(config=...)),
    "no model": ("request/header", request(config={"provider": "p"})),
    "an empty provider": ("request/header", request(config={"provider": "", "model": "m"})),
    "an empty effort": ("request/header", request(config={"provider": "p", "model": "m", "reasoningEffort": ""})),
    "defaults of another name": ("request/header", request(adapterDefaults={"model": True})),
    "defaults not true": ("request/header", request(adapterDefaults={"maxTokens": False})),
    "defaults of nothing": ("request/header", request(adapterDefaults={"maxTokens": True})),
    "a retired reason": ("request/header", {**request(), "reason": "fallback"}),
}


@pytest.mark.parametrize(("kind", "data"), SHAPES.values(), ids=SHAPES)
def test_shapes_that_are_refused_when_read(kind: str, data: Any) -> None:
    value = {"type": kind, "seq": 0, "time": 0, "data": data, **({} if kind == "request/header" else {"surfaceOp": "append"})}
    with pytest.raises(EventError) as caught:
        SessionEvent.from_json(value)
    assert caught.value.where.startswith("data")


@pytest.mark.parametrize(("kind", "data"), SHAPES.values(), ids=SHAPES)
def test_the_quick_reader_refuses_the_same_shapes(kind: str, data: Any) -> None:
    value = {"type": kind, "seq": 0, "time": 0, "data": data, **({} if kind == "request/header" else {"surfaceOp": "append"})}
    with pytest.raises(LogCorruptError) as caught:
        scan_log(make.HEADER_LINE + make.line(value))
    assert caught.value.line == 2


LOOSE: dict[str, tuple[str, Any]] = {
    "blocks of any kind": ("user/message", message(content=[None, 5, {"type": "image"}])),
    "more fields": ("user/message", message(mood="good")),
    "another source": ("user/message", message(source={"kind": "plugin", "plugin": "x"})),
    "an answer without blocks": ("assistant/message", answer(content=[])),
    "an answer without turn": ("assistant/message", {"message": answer()["message"]}),
    "a result with meta": ("tool/result", {**outcome(), "meta": [1]}),
    "an error result": ("tool/result", outcome({"isError": True})),
    "isError of any kind": ("tool/result", outcome({"isError": "yes"})),
    "a header with more": ("request/header", request(mood=1, system="", tools=[])),
    "halves of a pair": ("user/message", message(id="\ud83d")),
}


@pytest.mark.parametrize(("kind", "data"), LOOSE.values(), ids=LOOSE)
def test_shapes_that_are_taken(kind: str, data: Any) -> None:
    value = {"type": kind, "seq": 0, "time": 0, "data": data, **({} if kind == "request/header" else {"surfaceOp": "append"})}
    assert same_json(SessionEvent.from_json(value).to_json(), value)
    assert same_json(make.plain(scan_log(make.HEADER_LINE + make.line(value)).events), [value])


def test_data_that_is_no_json_is_named() -> None:
    with pytest.raises(LosslessError):
        SessionEvent.from_json({**BASE, "data": {"a": {1}}})


@pytest.mark.parametrize(
    "change",
    [
        lambda event: setattr(event, "seq", 9),
        lambda event: delattr(event, "seq"),
        lambda event: object.__setattr__(event, "seq", 9),
        lambda event: setattr(event, "json_text", msgspec.Raw(b"9")),
        lambda event: setattr(event, "more", 9),
        lambda event: event.__init__("x", 9, 9, msgspec.Raw(b"9")),
        lambda event: event.source_event_seqs.append(9),
        lambda event: setattr(event.surface_op, "start", 9),
    ],
    ids=["set", "delete", "object.__setattr__", "data", "more", "init", "sources", "op"],
)
def test_an_event_cannot_be_changed(change: Any) -> None:
    event = SessionEvent.from_json({**USER, "surfaceOp": make.replacing(0, 1), "sourceEventSeqs": [0, 1]})
    before = event.to_json()
    with suppress(AttributeError, TypeError):
        change(event)
    assert event.to_json() == before


def test_an_event_can_be_copied_and_sent_to_another_process() -> None:
    for event in make.log(*make.two_steps()):
        assert pickle.loads(pickle.dumps(event)) == copy.deepcopy(event) == event


def test_the_picture_of_an_event_says_nothing_of_its_body() -> None:
    assert "CANARY" not in repr(SessionEvent.from_json({**BASE, "data": "CANARY"}))


def test_to_json_gives_plain_containers_at_every_depth() -> None:
    session = Session.create("s1")
    make.append(session, make.user())
    given_out: list[Any] = [
        to_json(session.events),
        to_json(session.derive_messages()),
        to_json(session.events[0].data),
        to_json(session.header),
    ]
    while given_out:
        value = given_out.pop()
        assert type(value) in (dict, list, str, int)
        given_out += value.values() if type(value) is dict else value if type(value) is list else []


def test_a_plug_in_makes_its_type_known() -> None:
    assert not is_known_type("weather/asked")
    register_event_type("weather/asked")
    assert is_known_type("weather/asked")
    with pytest.raises(EventError):
        register_event_type("")


# The header

HEADER: dict[str, Any] = {
    "version": 0,
    "id": "s1",
    "createdAt": 5,
    "cwd": "/home/demo",
    "parentSession": "s0",
    "seedLength": 3,
    "origin": "subagent",
    "delegationDepth": 1,
    "agentPreset": "plain",
}


def test_a_header_makes_the_round_trip() -> None:
    assert SessionHeader.from_json(HEADER).to_json() == HEADER
    bare = {"version": 0, "id": "s1", "createdAt": 5}
    assert SessionHeader.from_json(bare).to_json() == {**bare, "delegationDepth": 0}
    assert SessionHeader.from_json({**HEADER, "mood": [1]}).to_json() == HEADER, "fields that nobody knows are dropped"
    assert SessionHeader.from_json({**HEADER, "createdAt": -0.0}).to_json()["createdAt"] == 0


@pytest.mark.parametrize(
    "change",
    [
        {"version": 1},
        {"version": -1},
        {"version": None},
        {"version": False},
        {"version": "0"},
        {"id": ""},
        {"id": None},
        {"id": 1},
        {"createdAt": -1},
        {"createdAt": 1.5},
        {"createdAt": True},
        {"cwd": "home"},
        {"cwd": ""},
        {"cwd": None},
        {"parentSession": 1},
        {"parentSession": None},
        {"seedLength": -1},
        {"seedLength": None},
        {"origin": "user"},
        {"origin": None},
        {"delegationDepth": -1},
        {"delegationDepth": None},
        {"agentPreset": None},
        {"sandboxMode": "x"},
        {"approvalPolicy": None},
    ],
    ids=repr,
)
def test_what_is_no_header(change: dict[str, Any]) -> None:
    with pytest.raises(EventError) as caught:
        SessionHeader.from_json({**HEADER, **change})
    assert caught.value.where == f"header.{next(iter(change))}"


@pytest.mark.parametrize(
    "header",
    [
        SessionHeader(""),
        SessionHeader("s1", created_at=-1),
        SessionHeader("s1", cwd="here"),
        SessionHeader("s1", version=1),
        SessionHeader("s1", delegation_depth=-1),
        SessionHeader("s1", origin="user"),
        SessionHeader("s2"),
    ],
    ids=repr,
)
def test_a_session_refuses_a_header_that_no_log_could_have(header: SessionHeader) -> None:
    with pytest.raises(EventError):
        Session.create("s1", header=header)
