"""The chapter's own tables and examples, and the exact beginnings of the refusals."""
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from labsupport.errors import (
    ContextBudgetError,
    ContextSerializationError,
    LosslessError,
    ScriptExhaustedError,
    SessionJsonError,
    SessionRecordError,
    SessionTornTailError,
)
from labsupport.miniagent import (
    AssistantMessage,
    ContextBudget,
    Message,
    ScriptedModel,
    ToolCall,
    ToolMessage,
    UserMessage,
    append_session,
    context_units,
    estimate_context_chars,
    find_orphans,
    load_session,
    message_chars,
    message_json,
    open_calls,
    parse_session_message,
    session_message_problem,
    trim_context,
)
from tests.builders import call, calls, gives, result, says, session_file, user

# The discriminating parser

ONE_CALL = {"id": "c1", "name": "read", "input": {}}


def assistant(*items: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": "", "toolCalls": list(items)}


def tool(**fields: Any) -> dict[str, Any]:
    return {"role": "tool", "toolCallId": "c1", "content": "1", "isError": False} | fields


TAKEN: list[tuple[str, Any, Message]] = [
    ("a user", {"role": "user", "content": "hi"}, user("hi")),
    ("an empty content is a string", {"role": "user", "content": ""}, user("")),
    ("keys it does not know are dropped", {"role": "user", "content": "hi", "toolCalls": 7, "more": None}, user("hi")),
    ("an assistant without calls", assistant(), says("")),
    ("an assistant with a call", assistant(ONE_CALL), AssistantMessage("", (ToolCall("c1", "read", {}),))),
    ("an input may be null", assistant(ONE_CALL | {"input": None}), AssistantMessage("", (ToolCall("c1", "read", None),))),
    ("an input may be a number", assistant(ONE_CALL | {"input": 0}), AssistantMessage("", (ToolCall("c1", "read", 0),))),
    ("keys of a call that it does not know are dropped", assistant(ONE_CALL | {"type": "function"}),
     AssistantMessage("", (ToolCall("c1", "read", {}),))),
    ("an id twice is the loop's business", assistant(ONE_CALL, ONE_CALL),
     AssistantMessage("", (ToolCall("c1", "read", {}),) * 2)),
    ("empty id and name are strings", assistant({"id": "", "name": "", "input": 1}),
     AssistantMessage("", (ToolCall("", "", 1),))),
    ("a result", tool(), ToolMessage("c1", "1", False)),
    ("a result that is an error", tool(isError=True), ToolMessage("c1", "1", True)),
]
REFUSED: list[tuple[str, Any, str]] = [
    ("a list", [], "the record must be an object"), ("null", None, "the record must be an object"),
    ("a string", "user", "the record must be an object"), ("no role", {"content": ""}, "role must be a string"),
    ("a role that is no string", {"role": ["user"], "content": ""}, "role must be a string"),
    ("an unknown role", {"role": "system", "content": ""}, "role must be user, assistant or tool"),
    ("a role in capitals", {"role": "User", "content": ""}, "role must be user, assistant or tool"),
    ("the content is checked before the role is known", {"role": "system"}, "content must be a string"),
    ("no content", {"role": "user"}, "content must be a string"),
    ("a content of null", assistant() | {"content": None}, "content must be"),
    ("a content of parts", {"role": "user", "content": [{"type": "text"}]}, "content must be a string"),
    ("no toolCalls", {"role": "assistant", "content": ""}, "toolCalls must be a list"),
    ("toolCalls of null", {"role": "assistant", "content": "", "toolCalls": None}, "toolCalls must be a list"),
    ("one object instead of a list", {"role": "assistant", "content": "", "toolCalls": ONE_CALL}, "toolCalls must be a list"),
    ("a call of null", assistant(None), "toolCalls[0] must be an object"),
    ("one bad call spoils the message", assistant(ONE_CALL, ONE_CALL | {"id": 1}), "toolCalls[1].id must be a string"),
    ("a call without a name", assistant({"id": "c1", "input": 1}), "toolCalls[0].name must be a string"),
    ("a call without an input", assistant({"id": "c1", "name": "read"}), "toolCalls[0].input must be there (null is allowed)"),
    ("no toolCallId", {"role": "tool", "content": "", "isError": False}, "toolCallId must be a string"),
    ("a toolCallId that is a number", tool(toolCallId=1), "toolCallId must be a string"),
    ("no isError", {"role": "tool", "content": "", "toolCallId": "c1"}, "isError must be true or false"),
    ("1 is no boolean", tool(isError=1), "isError must be true or false"),
    ("a string is none", tool(isError="false"), "isError must be"),
    ("null is none", tool(isError=None), "isError must be true or false"),
]


@pytest.mark.parametrize(("value", "message"), [case[1:] for case in TAKEN], ids=[case[0] for case in TAKEN])
def test_parse_takes(value: Any, message: Message) -> None:
    assert parse_session_message(value) == message
    assert session_message_problem(value) is None


@pytest.mark.parametrize(("value", "problem"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_parse_refuses(value: Any, problem: str) -> None:
    assert parse_session_message(value) is None
    assert str(session_message_problem(value)).startswith(problem)


def test_the_text_on_disk_is_the_chapters() -> None:
    assert message_json(user("…")) == '{"role":"user","content":"…"}'
    assert message_json(AssistantMessage("…", (call("c1", "read", None),))) == (
        '{"role":"assistant","content":"…","toolCalls":[{"id":"c1","name":"read","input":null}]}')
    assert message_json(says("")) == '{"role":"assistant","content":"","toolCalls":[]}'
    assert message_json(result("c1", "…")) == '{"role":"tool","toolCallId":"c1","content":"…","isError":false}'


def test_a_message_keeps_its_own_copy_of_an_input() -> None:
    given = {"rows": [1]}
    message = gives(given)
    given["rows"].append(2)
    assert message.tool_calls[0].input == {"rows": [1]}
    with pytest.raises(TypeError, match="thaw"):
        message.tool_calls[0].input["rows"].append(3)
    with pytest.raises(AttributeError):
        message.content = "other"  # type: ignore[misc]


# Units

def sizes(messages: list[Message], rule: Any = "closed") -> list[int]:
    return [len(unit) for unit in context_units(messages, rule)]


UNITS = [
    ("nothing", [], [], []),
    ("the worked example", [user(), calls("a", "b"), result("a"), result("b")], [1, 3], [1, 3]),
    ("results in another order", [user(), calls("a", "b"), result("b"), result("a")], [1, 3], [1, 3]),
    ("a call without a result", [user(), calls("a", "b"), result("a")], [1, 2], [1, 2]),
    ("a message between call and result comes along", [user(), calls("a"), user(), result("a"), says()], [1, 3, 1], [1, 3, 1]),
    ("an orphan stays alone", [result("lost"), user()], [1, 1], [1, 1]),
    ("an orphan inside a round trip comes along", [calls("b"), result("a"), result("b")], [3], [3]),
    ("a result before its request is an orphan", [result("a"), calls("a")], [1, 1], [1, 1]),
    ("an id that comes again belongs to the nearest", [calls("f"), result("f"), calls("f"), result("f")], [2, 2], [2, 2]),
    ("an id that comes again and again, and an orphan that makes the search go past all of them",
     [calls("f"), result("f"), calls("f"), result("f"), calls("f"), result("f"), calls("f"), result("f"), result("lost")],
     [2, 2, 2, 2, 1], [2, 2, 2, 2, 1]),
    ("interleaved: the rules differ", [calls("x"), calls("y"), result("x"), result("y")], [1, 3], [4]),
    ("crossed, and a user in between", [user(), calls("x"), user(), calls("y"), user(), result("x"), result("y")], [1, 1, 1, 4],
     [1, 6]),
    ("nested: the inner pair is inside the outer", [calls("x"), calls("y"), result("y"), result("x")], [4], [4]),
    ("a late result draws everything in", [calls("x"), user(), calls("y"), result("y"), result("x")], [5], [5]),
    ("a chain closes as one", [calls("x"), calls("y"), result("x"), calls("z"), result("y"), result("z")], [3, 3], [6]),
    ("a second result for one call", [calls("x"), result("x"), user(), result("x")], [4], [4]),
]


@pytest.mark.parametrize(("messages", "chapter", "closed"), [case[1:] for case in UNITS], ids=[case[0] for case in UNITS])
def test_units(messages: list[Message], chapter: list[int], closed: list[int]) -> None:
    assert (sizes(messages, "chapter"), sizes(messages)) == (chapter, closed)


def test_a_budget_can_part_interleaved_calls_by_the_chapters_rule_only() -> None:
    _, y, of_x, of_y = history = [calls("x"), calls("y"), result("x"), result("y")]
    newest = estimate_context_chars([y, of_x, of_y])
    assert trim_context(history, newest, "chapter") == [y, of_x, of_y]  # the result of x without its request
    with pytest.raises(ContextBudgetError) as caught:
        trim_context(history, newest, "closed")
    assert caught.value.needed == estimate_context_chars(history)
    assert trim_context(history, caught.value.needed) == history


@pytest.mark.parametrize(("rule", "near"), [("close", "'closed'"), ("chapters", "'chapter'")])
def test_a_rule_that_is_nearly_right_is_answered_with_the_right_one(rule: Any, near: str) -> None:
    for use in (lambda: context_units([], rule), lambda: trim_context([user()], 99, rule), lambda: ContextBudget([], rule)):
        with pytest.raises(ValueError, match=f"did you mean {near}"):
            use()


def test_orphans_and_open_calls() -> None:
    history = [result("a"), calls("a", "b"), result("b"), result("z"), result("b")]
    assert find_orphans(history) == [0, 3]
    assert [one.id for one in open_calls(history)] == ["a"]
    assert [one.name for one in open_calls([AssistantMessage("", (call("f", "old"),)),
                                            AssistantMessage("", (call("f", "new"),)),
                                            result("f")])] == ["old"]  # a result answers the latest call of its id that is open
    assert len(open_calls([calls("f", "f"), result("f")])) == 1
    assert open_calls(iter([calls("a")])) == [call("a")]


# The budget

USER, GIVES, TOOL = (len(line) + 1 for line in (  # the lines without what varies, and the line break
    '{"role":"user","content":""}', '{"role":"assistant","content":"","toolCalls":[{"id":"c","name":"run","input":}]}',
    '{"role":"tool","toolCallId":"a","content":"","isError":true}'))
LENGTHS: list[tuple[str, Message, int]] = [
    ("nothing", user(""), USER), ("two Chinese characters", user("预算"), USER + 2),
    ("one that counts twice", user("🙂"), USER + 2),
    ("half a pair is an escape", user("\ud83d"), USER + len("\\ud83d")), ("two escapes", user('"\n'), USER + 4),
    ("1.0 is 1", gives(1.0), GIVES + 1), ("1e+21", gives(1e21), GIVES + 5), ("1e-7", gives(1e-7), GIVES + 4),
    ("-0.0 is 0", gives(-0.0), GIVES + 1),
    ("4,501 digits", gives(10**4500), GIVES + 4501), ("no blanks", gives({"k": [1.5, None]}), GIVES + len('{"k":[1.5,null]}')),
    ("an error", result("a", "", True), TOOL), ("a result", result("a", "12"), TOOL + len("12") + len("false") - len("true")),
]


@pytest.mark.parametrize(("message", "length"), [case[1:] for case in LENGTHS], ids=[case[0] for case in LENGTHS])
def test_a_message_costs_the_length_of_its_line(message: Message, length: int) -> None:
    assert message_chars(message) == length == len((message_json(message) + "\n").encode("utf-16-le")) // 2


SHORT, LONG = user("x"), user("x" * 71)  # 30 and 100 characters


@pytest.mark.parametrize(("history", "max_chars", "kept"), [
    ([SHORT, SHORT], 60, 2), ([SHORT, SHORT], 59, 1), ([SHORT, SHORT], 30, 1), ([SHORT], 10**9, 1),
    ([SHORT, LONG, SHORT], 129, 1), ([SHORT, LONG, SHORT], 130, 2), ([SHORT, LONG, SHORT], 160, 3),
], ids=["all fits exactly", "one character short", "only the newest", "room to spare",
        "an older, smaller unit is not reached over a larger",
        "the large one fits", "all"])
def test_trim(history: list[Message], max_chars: int, kept: int) -> None:
    assert trim_context(history, max_chars) == history[len(history) - kept:]


def test_trim_gives_the_same_objects() -> None:
    history = [user("a"), calls("a"), result("a")]
    assert list(map(id, trim_context(history, 10_000))) == list(map(id, history))
    assert trim_context(history, 10_000) is not history


def test_a_long_tool_loop_trims_the_request_away_unless_it_is_pinned() -> None:
    history: list[Message] = [user("the request")]
    for number in range(30):
        history += [calls(f"c{number}"), result(f"c{number}", "x" * 50)]
    assert user("the request") not in trim_context(history, 1000)
    pinned = trim_context(history, 1000, pin_first_user=True)
    assert pinned[0] is history[0]
    assert pinned[1:] == history[len(history) - len(pinned) + 1:]
    assert estimate_context_chars(pinned) <= 1000


def test_the_pinned_message_counts() -> None:
    history = [LONG, SHORT, SHORT]
    assert trim_context(history, 159, pin_first_user=True) == [LONG, SHORT]
    assert trim_context(history, 130, pin_first_user=True) == [LONG, SHORT]
    with pytest.raises(ContextBudgetError) as caught:
        trim_context(history, 129, pin_first_user=True)
    assert caught.value.needed == 130
    assert trim_context([says(), SHORT], 30, pin_first_user=True) == [SHORT]  # it is kept already, and counted once


@pytest.mark.parametrize("max_chars", [0, -1, True, False, 1.0, "9", None, 2.5e3], ids=repr)
def test_a_budget_is_a_positive_int(max_chars: Any) -> None:
    with pytest.raises(ValueError, match="max_chars is a positive int"):
        trim_context([user()], max_chars)


def test_a_fit_says_what_it_kept_and_what_it_left() -> None:
    fit = ContextBudget([LONG, SHORT, SHORT]).fit(99)
    assert (fit.start, fit.pinned, fit.kept_units, fit.dropped_units, fit.cost, fit.next_cost) == (1, None, 2, 1, 60, 160)
    fit = ContextBudget([LONG, says(), SHORT], pin_first_user=True).fit(150)
    assert (fit.start, fit.pinned, fit.kept_units, fit.dropped_units, fit.cost) == (2, 0, 1, 2, 130)
    assert ContextBudget([SHORT]).fit(99).next_cost is None
    assert (ContextBudget([]).units, ContextBudget([]).costs, ContextBudget([]).smallest) == ([], [], 0)


def _cyclic() -> AssistantMessage:
    loop: list[Any] = []
    loop.append(loop)
    return gives(loop)


NOT_JSON: list[tuple[str, Callable[[], Message]]] = [
    ("a cycle", _cyclic), ("a set", lambda: gives({1})), ("NaN", lambda: gives([float("nan")])),
    ("a tuple", lambda: gives((1,))),
    ("a content that is no string", lambda: UserMessage(None)),  # type: ignore[arg-type]
    ("a number for a boolean", lambda: ToolMessage("a", "", 1)),  # type: ignore[arg-type]
    ("a key that is no string", lambda: gives({1: 1})),
]


@pytest.mark.parametrize("make", [case[1] for case in NOT_JSON], ids=[case[0] for case in NOT_JSON])
def test_a_message_that_cannot_be_written_is_named_by_its_index(make: Callable[[], Message], tmp_path: Path) -> None:
    bad = make()
    for use in (lambda: estimate_context_chars([user(), bad, bad]), lambda: trim_context([bad, bad, user()], 10_000)):
        with pytest.raises(ContextSerializationError, match=r"^message 1 cannot be written as JSON: ") as caught:
            use()
        assert caught.value.index == 1
    assert trim_context([bad, LONG, SHORT], 100) == [SHORT]  # it is never looked at
    with pytest.raises(LosslessError):
        append_session(tmp_path / "s.jsonl", bad)
    assert list(tmp_path.iterdir()) == []  # refused before the file is made


@pytest.mark.parametrize(("answer", "words"), [(lambda _: None, "had nothing to say"), (lambda _: 1.5, "had nothing to say"),
                                               (lambda _: 1 // 0, "raised ZeroDivisionError")],
                                               ids=["None", "a float", "an error"])
def test_both_ways_in_which_an_encoder_fails_are_covered(answer: Any, words: str) -> None:
    with pytest.raises(ContextSerializationError, match=f"^message 2 cannot be written as JSON: the encoder {words}"):
        ContextBudget([user(), user(), user()], cost=answer).fit(50)


# What the refusals say and carry

def test_a_budget_below_the_newest_unit() -> None:
    history = [user(), calls("a"), result("a")]
    needed = estimate_context_chars(history[1:])
    with pytest.raises(ContextBudgetError,
                       match=r"^context budget cannot contain the smallest consistent message unit") as caught:
        trim_context(history, needed - 1)
    assert (caught.value.budget, caught.value.needed) == (needed - 1, needed)
    assert trim_context(history, needed) == history[1:]


def test_no_messages_at_all() -> None:
    with pytest.raises(ContextBudgetError, match=r"^context budget cannot be empty") as caught:
        trim_context([], 5)
    assert (caught.value.budget, caught.value.needed) == (5, 0)


@pytest.mark.parametrize(("tail", "error", "sentence"), [
    (b"no\n", SessionJsonError, "invalid session JSON at line 3"),
    (b'{"role":"user"}\n', SessionRecordError, "invalid session record at line 3"),
    (b'{"role":"us', SessionTornTailError, "invalid session JSON at line 3"),
    (b"[]", SessionRecordError, "invalid session record at line 3"),
], ids=["damage", "no message", "a torn tail", "no message and no line break"])
def test_a_bad_line(tail: bytes, error: Any, sentence: str, tmp_path: Path) -> None:
    path = session_file(tmp_path / "s.jsonl", user(), says(), tail=tail)
    with pytest.raises(error) as caught:
        load_session(path)
    assert type(caught.value) is error
    assert str(caught.value).startswith(sentence)
    assert (caught.value.path, caught.value.line) == (path, 3)
    assert str(path) in str(caught.value)


def test_a_torn_tail_says_where_the_file_is_whole(tmp_path: Path) -> None:
    path = session_file(tmp_path / "s.jsonl", user("预算"), tail='{"role":"user","content":"预'.encode()[:-1])
    with pytest.raises(SessionTornTailError) as caught:
        load_session(path)
    assert f"cut the file to {caught.value.offset} bytes" in str(caught.value)
    path.write_bytes(path.read_bytes()[:caught.value.offset])
    assert load_session(path) == [user("预算")]


def test_a_script_that_is_too_short() -> None:
    with pytest.raises(ScriptExhaustedError, match="request 1, but the script has 0 turns"):
        ScriptedModel([]).stream([user()], {})
