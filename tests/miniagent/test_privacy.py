"""No error says what a message says: not in its words, its parts, the errors behind it or its traceback."""
import copy
import json
import pickle
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from labsupport.errors import (
    ContextBudgetError,
    ContextSerializationError,
    LabError,
    LosslessError,
    MiniagentError,
    ScriptExhaustedError,
    SessionJsonError,
    SessionRecordError,
    SessionTornTailError,
)
from labsupport.lossless import js_json
from labsupport.miniagent import (
    AssistantMessage,
    ContextBudget,
    Message,
    ScriptedModel,
    ToolCall,
    ToolMessage,
    UserMessage,
    append_session,
    estimate_context_chars,
    load_session,
    run_agent,
    trim_context,
)
from labsupport.strict_json import read_json

CANARY = "hunter2Canary"
LINES: dict[str, tuple[str, type[LabError]]] = {
    "a role": ('{"role":"@","content":""}', SessionRecordError),
    "a content that is a list": ('{"role":"user","content":["@"]}', SessionRecordError),
    "an unknown key": ('{"role":"user","content":null,"@":1}', SessionRecordError), "a list": ('["@"]', SessionRecordError),
    "an id": ('{"role":"tool","toolCallId":{"@":"@"},"content":"@","isError":false}', SessionRecordError),
    "isError": ('{"role":"tool","toolCallId":"@","content":"@","isError":"@"}', SessionRecordError),
    "a key of a call": ('{"role":"assistant","content":"@","toolCalls":[{"@":"@"}]}', SessionRecordError),
    "a call": ('{"role":"assistant","content":"@","toolCalls":["@"]}', SessionRecordError),
    "an open string": ('{"role":"user","content":"@', SessionJsonError), "no quotes": ('{"role":@}', SessionJsonError),
    "a second value": ('{"role":"user","content":"@"} "@"', SessionJsonError),
    "a bad escape": ('{"role":"user","content":"@\\x@"}', SessionJsonError),
    "a bad byte": ('{"role":"user","content":"@\udcff@"}', SessionJsonError),
    "NaN": ('{"role":"user","content":"@","@":NaN}', SessionJsonError),
    "an overflow": ('{"role":"user","content":"@","@":1e999}', SessionJsonError),
    "deep": ('{"@":' * 5000 + "@", SessionJsonError),
    "a control character": ('{"role":"user","content":"@\x01@"}', SessionJsonError),
}
BAD_VALUES: dict[str, Any] = {
    "a set": {CANARY: [{CANARY}]}, "NaN": {CANARY: [CANARY, float("nan")]}, "a key": {CANARY: {(CANARY,): 1}},
    "bytes": [CANARY, CANARY.encode()],
    "another class": [OrderedDict({CANARY: CANARY})], "an integer": {CANARY: 2**60},
    "halves": {CANARY: "\ud83d\ude42" + CANARY},
    "a key in halves": {"\ud83d\ude42" + CANARY: CANARY},
}
BAD_MESSAGES: dict[str, Message] = {
    "a content": UserMessage([CANARY]), "an id": ToolMessage(CANARY.encode(), CANARY, False),
    "isError": ToolMessage(CANARY, CANARY, CANARY),  # type: ignore[arg-type]
    "a name": AssistantMessage(CANARY, (ToolCall(CANARY, [CANARY], CANARY),)),
    "a call": AssistantMessage(CANARY, ({CANARY: CANARY},)),  # type: ignore[arg-type]
    "no message": {"role": "user", "content": CANARY}, "halves": UserMessage(CANARY + "\ud83d\ude42"),
    # type: ignore[dict-item]
}


def quoting(message: Any) -> int:
    raise ValueError(message.content)


def cases() -> Iterator[tuple[str, Callable[[Path], object], type[LabError]]]:
    for name, (line, error) in LINES.items():
        data = line.replace("@", CANARY).encode("utf-8", "surrogateescape")
        yield f"load: {name}", lambda path, data=data: (path.write_bytes(data + b"\n"), load_session(path)), error
        if error is SessionJsonError:
            torn = SessionTornTailError
            yield f"torn tail: {name}", lambda path, data=data: (path.write_bytes(data), load_session(path)), torn
            yield f"append to: {name}", lambda path, data=data: (path.write_bytes(data),
                                                                 append_session(path, UserMessage(CANARY))), torn
    for name, value in BAD_VALUES.items():
        message = AssistantMessage(CANARY, (ToolCall(CANARY, CANARY, value),))
        yield f"append: {name}", lambda path, message=message: append_session(path, message), LosslessError
        yield f"exact: {name}", lambda _, value=value: js_json(value, exact=True), LosslessError
        if name not in {"an integer", "halves", "a key in halves"}:  # these have a length
            yield f"estimate: {name}", lambda _, message=message: estimate_context_chars([message]), ContextSerializationError
    for name, message in BAD_MESSAGES.items():
        yield f"append a message: {name}", lambda path, message=message: append_session(path, message), LosslessError
        if name != "halves":
            yield f"trim: {name}", lambda _, message=message: trim_context([message], 999), ContextSerializationError
    yield "an encoder that quotes", lambda _: ContextBudget([UserMessage(CANARY)],
                                                            cost=quoting).fit(9), ContextSerializationError
    yield "a budget", lambda _: trim_context([UserMessage(CANARY)], 9), ContextBudgetError
    yield "a script", lambda _: run_agent(CANARY, ScriptedModel([[CANARY, ToolCall(CANARY, CANARY, CANARY)]]),
                                          {}), ScriptExhaustedError
    yield "an integer from a model", lambda path: run_agent(
        CANARY, ScriptedModel([[CANARY, ToolCall(CANARY, CANARY, {CANARY: 2**60})]]), {}, session_path=path), LosslessError


CASES = list(cases())


def parts(error: BaseException | None) -> Iterator[str]:
    """Every text on *error* and on the errors behind it."""
    while error is not None:
        yield from (str(error), repr(error), repr(error.args), repr(vars(error)), *getattr(error, "__notes__", []))
        yield "".join(traceback.format_exception(error))
        yield from parts(error.__cause__)
        error = error.__context__


@pytest.mark.parametrize(("act", "kind"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_an_error_does_not_say_what_a_message_says(act: Callable[[Path], object], kind: type[LabError], tmp_path: Path) -> None:
    with pytest.raises(kind) as caught:
        act(tmp_path / "s.jsonl")
    found = list(parts(caught.value))
    assert found
    assert [text for text in found if CANARY.lower() in text.lower()] == []


def test_the_standard_errors_would_be_found() -> None:
    """The search itself: what the decoder of the standard library raises does hold the text."""
    with pytest.raises(ValueError, match="quotes") as caught:
        json.loads("{" + CANARY)
    assert any(CANARY in text for text in parts(caught.value))
    with pytest.raises(ValueError, match="property name") as ours:
        read_json(("{" + CANARY).encode())
    assert not any(CANARY in text for text in parts(ours.value))


@pytest.mark.parametrize("again", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))], ids=["copy", "pickle"])
def test_an_error_survives_the_way_to_another_process(again: Callable[[LabError], LabError], tmp_path: Path) -> None:
    for _, act, kind in CASES[::5]:
        with pytest.raises(kind) as caught:
            act(tmp_path / "s.jsonl")
        other = again(caught.value)
        assert (type(other), str(other), vars(other)) == (type(caught.value), str(caught.value), vars(caught.value))
        (tmp_path / "s.jsonl").unlink(missing_ok=True)


def test_there_is_a_case_for_every_error() -> None:
    def leaves(kind: type[LabError]) -> set[type[LabError]]:
        below = kind.__subclasses__()
        return set().union(*map(leaves, below)) if below else {kind}

    assert {case[2] for case in CASES} >= leaves(MiniagentError) | leaves(LosslessError)
