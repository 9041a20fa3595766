"""The loop: one record, written to the disk first, and what each request holds."""
import enum
import errno
import os
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from labsupport.errors import ContextBudgetError, LosslessError, ScriptExhaustedError, SessionJsonError, SessionTornTailError
from labsupport.lossless import joined
from labsupport.miniagent import (
    AssistantMessage,
    Message,
    ScriptedModel,
    Tool,
    ToolCall,
    ToolMessage,
    UserMessage,
    estimate_context_chars,
    find_orphans,
    load_session,
    open_calls,
    run_agent,
    trim_context,
)
from labsupport.miniagent import session as session_module
from tests.builders import calls, result, says, session_file, session_text, user
from tests.miniagent.strategies import few_ids, texts, values


def echo(given: Any) -> str:
    return f"<{given}>"


TOOLS: dict[str, Tool] = {"echo": echo}


def ask(call_id: str = "c1", given: Any = 1, name: str = "echo") -> ToolCall:
    return ToolCall(call_id, name, given)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s.jsonl"


# What is written and what is sent

def test_without_options_it_starts_empty_writes_nothing_and_sends_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        model = ScriptedModel([["Let me ", "look.", ask()], [ask("c2"), ask("c3", None)], ["Done", "."]])
        run = run_agent("go", model, TOOLS)
        assert run.messages == [user("go"), AssistantMessage("Let me look.", (ask(),)), result("c1", "<1>"),
                                AssistantMessage("", (ask("c2"), ask("c3", None))), result("c2", "<1>"), result("c3", "<None>"),
                                says("Done.")]
        assert run.stopped == "answered"
        assert model.requests == [tuple(run.messages[:length]) for length in (1, 3, 6)]
    assert list(tmp_path.iterdir()) == []


def test_with_a_session_two_runs_continue(path: Path) -> None:
    first = run_agent("one", ScriptedModel([[ask()], ["1"]]), TOOLS, session_path=path)
    assert load_session(path) == first.messages
    model = ScriptedModel([["2"]])
    second = run_agent("two", model, TOOLS, session_path=str(path))
    assert second.messages == [*first.messages, user("two"), says("2")] == load_session(path)
    assert model.requests == [tuple(second.messages[:-1])]


def test_the_budget_changes_the_requests_and_nothing_else(path: Path) -> None:
    turns = [[ask(f"c{number}", "x" * 60)] for number in range(8)] + [["done"]]
    model = ScriptedModel(turns)
    run = run_agent("the request", model, TOOLS, session_path=path, context_max_chars=500)
    plain = run_agent("the request", ScriptedModel(turns), TOOLS)
    assert run == plain
    assert path.read_text("utf-8") == session_text(*plain.messages)
    assert model.requests == [tuple(trim_context(plain.messages[:length], 500)) for length in range(1, 19, 2)]
    assert len(model.requests[-1]) < 17
    assert max(map(estimate_context_chars, model.requests)) <= 500
    pinned = ScriptedModel(turns)
    run_agent("the request", pinned, TOOLS, context_max_chars=500, pin_first_user=True)
    assert all(request[0] == user("the request") for request in pinned.requests)


def test_the_rule_reaches_the_requests(path: Path) -> None:
    x, y, of_x, of_y = [calls("x"), calls("y"), result("x"), result("y")]
    room = estimate_context_chars([y, of_x, of_y, user("go")])
    kept = {}
    for rule in ("chapter", "closed"):
        session_file(path, x, y, of_x, of_y)
        model = ScriptedModel([["done"]])
        run_agent("go", model, TOOLS, session_path=path, context_max_chars=room, rule=rule)  # type: ignore[arg-type]
        kept[rule] = model.requests
    assert kept == {"chapter": [(y, of_x, of_y, user("go"))], "closed": [(user("go"),)]}
    with pytest.raises(ValueError, match="did you mean 'closed'"):
        run_agent("p", ScriptedModel([["done"]]), TOOLS, context_max_chars=300, rule="close")  # type: ignore[arg-type]


def test_a_model_keeps_what_it_saw() -> None:
    class Keeps:
        def __init__(self) -> None:
            self.seen: list[Sequence[Message]] = []

        def stream(self, messages: Sequence[Message], tools: Mapping[str, Tool]) -> Any:
            assert list(tools) == ["echo"]
            self.seen.append(messages)
            return ["done"] if len(self.seen) == 2 else [ask()]

    model = Keeps()
    run_agent("go", model, TOOLS)
    assert [type(messages) for messages in model.seen] == [tuple, tuple]
    assert [len(messages) for messages in model.seen] == [1, 3]


# The disk first, then memory

class Watching:
    """A model that says how many lines the file had at each request."""

    def __init__(self, path: Path, turns: list[list[Any]]) -> None:
        self.path, self.script, self.lines = path, ScriptedModel(turns), list[int]()

    def stream(self, messages: Sequence[Message], tools: Mapping[str, Tool]) -> Any:
        self.lines.append(self.path.read_bytes().count(b"\n"))
        return self.script.stream(messages, tools)


def test_everything_is_on_disk_before_the_next_step(path: Path) -> None:
    seen: list[int] = []

    def looks(given: Any) -> str:
        seen.append(path.read_bytes().count(b"\n"))
        return "ok"

    model = Watching(path, [[ask("a", name="look"), ask("b", name="look")], ["done"]])
    run_agent("go", model, {"look": looks}, session_path=path)
    assert model.lines == [1, 4]
    assert seen == [2, 3]


@pytest.mark.parametrize("fails_at", [1, 2, 3, 4])
def test_an_append_that_fails_leaves_memory_without_the_message(fails_at: int, path: Path,
                                                                monkeypatch: pytest.MonkeyPatch) -> None:
    complete = run_agent("go", ScriptedModel([[ask()], ["done"]]), TOOLS).messages
    write, count = os.write, 0

    def failing(fd: int, data: bytes) -> int:
        nonlocal count
        count += 1
        if count == fails_at:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(fd, data)

    monkeypatch.setattr(session_module.os, "write", failing)
    model = ScriptedModel([[ask()], ["done"]])
    with pytest.raises(OSError, match="No space left"):
        run_agent("go", model, TOOLS, session_path=path)
    monkeypatch.undo()
    assert load_session(path) == complete[:fails_at - 1]
    assert [len(request) for request in model.requests] == [1, 3][:fails_at // 2]
    run_agent("again", ScriptedModel([["done"]]), TOOLS, session_path=path)  # and the session goes on
    assert open_calls(load_session(path)) == []


def test_a_budget_that_is_too_small_stops_before_the_request(path: Path) -> None:
    model = ScriptedModel([[ask(given="x" * 200)], ["never"]])
    with pytest.raises(ContextBudgetError) as caught:
        run_agent("go", model, TOOLS, session_path=path, context_max_chars=100)
    assert len(model.requests) == 1
    recorded = load_session(path)
    assert recorded == [user("go"), AssistantMessage("", (ask(given="x" * 200),)), result("c1", "<" + "x" * 200 + ">")]
    assert caught.value.needed == estimate_context_chars(recorded[1:])


@pytest.mark.parametrize("given", [2**60, {"n": [-(2**53)]}, float("nan"), (1,), "\ud83d\ude42"],
                         ids=["large", "below zero", "NaN", "a tuple", "halves"])
def test_a_call_that_no_file_can_carry_is_refused(given: Any, path: Path) -> None:
    ran: list[Any] = []
    tools: dict[str, Tool] = {"echo": lambda it: ran.append(it) or "ran"}  # type: ignore[func-returns-value]
    with pytest.raises(LosslessError, match=r"toolCalls\[0\]\.input"):
        run_agent("go", ScriptedModel([[ask(given=given)], ["done"]]), tools, session_path=path)
    assert load_session(path) == [user("go")]
    assert ran == []


def test_a_model_that_fails_in_the_middle_leaves_no_half_answer(path: Path) -> None:
    class Fails:
        def stream(self, messages: Sequence[Message], tools: Mapping[str, Tool]) -> Any:
            yield "half an "
            raise ConnectionError("gone")

    with pytest.raises(ConnectionError):
        run_agent("go", Fails(), TOOLS, session_path=path)
    assert load_session(path) == [user("go")]


def test_a_damaged_session_stops_before_anything_is_written(path: Path) -> None:
    for tail, error in ((b"no\n", SessionJsonError), (b'{"role":', SessionTornTailError)):
        before = session_file(path, user(), tail=tail).read_bytes()
        model = ScriptedModel([["never"]])
        with pytest.raises(error):
            run_agent("go", model, TOOLS, session_path=path)
        assert path.read_bytes() == before
        assert model.requests == []


# Tools

class Wordless(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


class Colour(enum.StrEnum):
    RED = "red"


def raises(error: BaseException) -> Tool:
    def tool(given: Any) -> str:
        raise error

    return tool


@pytest.mark.parametrize(("tool", "content", "is_error"), [
    (lambda given: "fine", "fine", False), (lambda given: "", "", False), (lambda given: Colour.RED, "red", False),
    (lambda given: "\ud83d" + "\ude42", "🙂", False), (lambda given: "\ud83d", "\ud83d", False),
    (raises(ValueError("bad input")), "tool t failed: ValueError: bad input", True),
    (raises(KeyError("k")), "tool t failed: KeyError: 'k'", True),
    (raises(SystemExit(3)), "tool t failed: SystemExit: 3", True),
    (raises(RecursionError()), "tool t failed: RecursionError: ", True),
    (raises(ValueError("\ud83d\ude42")), "tool t failed: ValueError: 🙂", True),
    (raises(StopIteration()), "tool t failed: StopIteration: ", True),
    (lambda given: None, "tool t gave no text but a NoneType", True),
    (lambda given: b"bytes", "tool t gave no text but a bytes", True),
    (lambda given: 3, "tool t gave no text but a int", True), (lambda: "no input", None, True),
    (raises(Wordless()), None, True),
], ids=["text", "no characters", "a string of another class", "a pair in two halves", "half a pair", "raises", "raises a key",
        "exits", "recurses",
        "raises in halves", "stops an iteration", "None", "bytes", "a number", "takes no input", "raises without words"])
def test_whatever_a_tool_does_is_a_result(tool: Any, content: str | None, is_error: bool, path: Path) -> None:
    run = run_agent("go", ScriptedModel([[ask(name="t")], ["done"]]), {"t": tool}, session_path=path)
    answer = run.messages[2]
    assert isinstance(answer, ToolMessage)
    assert (answer.tool_call_id, answer.is_error) == ("c1", is_error)
    assert type(answer.content) is str
    assert answer.content == content if content is not None else answer.content.startswith("tool t failed: ")
    assert load_session(path) == run.messages
    assert run.stopped == "answered"


def test_an_unknown_tool_is_named_and_the_loop_goes_on() -> None:
    model = ScriptedModel([[ask(name="drop_table"), ask("c2")], ["sorry"]])
    run = run_agent("go", model, TOOLS)
    assert run.messages[2:] == [result("c1", "unknown tool: drop_table", True), result("c2", "<1>"), says("sorry")]
    assert model.requests[1] == tuple(run.messages[:4])


def test_interrupting_a_tool_ends_the_run_and_the_next_one_says_so(path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run_agent("go", ScriptedModel([[ask("a"), ask("b", name="stop"), ask("c")]]),
                  TOOLS | {"stop": raises(KeyboardInterrupt())}, session_path=path)
    assert load_session(path)[2:] == [result("a", "<1>")]
    run = run_agent("and?", ScriptedModel([["ok"]]), TOOLS, session_path=path)
    assert [(message.tool_call_id, message.is_error) for message in run.messages if isinstance(message, ToolMessage)] == [
        ("a", False), ("b", True), ("c", True)]


def test_a_tool_that_changes_its_input_changes_nothing_else(path: Path) -> None:
    def greedy(given: Any) -> str:
        given["rows"].append("mine")
        given.clear()
        return "ok"

    model = ScriptedModel([[ask(given={"rows": [1]}, name="t")], ["done"]])
    run = run_agent("go", model, {"t": greedy}, session_path=path)
    assert run.messages[2] == result("c1", "ok")  # its copy can be changed
    asked = AssistantMessage("", (ask(given={"rows": [1]}, name="t"),))
    assert [run.messages[1], load_session(path)[1], model.requests[1][1]] == [asked] * 3


def test_the_steps_are_counted(path: Path) -> None:
    model = ScriptedModel([[ask()]] * 9)
    run = run_agent("go", model, TOOLS, max_steps=3, session_path=path)
    assert (run.stopped, len(model.requests), len(run.messages)) == ("max_steps", 3, 7)
    assert open_calls(run.messages) == []
    assert load_session(path) == run.messages


@pytest.mark.parametrize("wrong", [
    {"max_steps": 0}, {"max_steps": 2.0}, {"max_steps": True}, {"context_max_chars": 0}, {"context_max_chars": "99"},
    {"rule": "chaptr"},
], ids=str)
def test_what_cannot_be_run_is_refused_before_anything_is_recorded(wrong: dict[str, Any], path: Path) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong)).removeprefix("context_")):
        run_agent("go", ScriptedModel([["hi"]]), TOOLS, session_path=path, **wrong)
    assert not path.exists()


def test_a_script_that_ends_too_early_leaves_the_record(path: Path) -> None:
    with pytest.raises(ScriptExhaustedError):
        run_agent("go", ScriptedModel([[ask()]]), TOOLS, session_path=path)
    assert len(load_session(path)) == 3


# Pieces of text

@pytest.mark.parametrize(("pieces", "content"), [
    (["\ud83d", "\ude42"], "🙂"), (["a\ud83d", "\ude42b"], "a🙂b"), (["\ude42", "\ud83d"], "\ude42\ud83d"),
    (["\ud83d"], "\ud83d"),
    (["\ud83d", "", "\ude42\ud83d", "\ude42"], "🙂🙂"), ([], ""),
], ids=ascii)
def test_a_pair_that_the_stream_cut_is_joined(pieces: list[str], content: str, path: Path) -> None:
    run = run_agent("\ud83d\ude42", ScriptedModel([pieces]), TOOLS, session_path=path)
    assert run.messages == [user("🙂"), says(content)] == load_session(path)


@given(st.text(st.characters(), max_size=6), st.lists(st.integers(0, 6), max_size=3))
def test_where_a_stream_is_cut_plays_no_part(text: str, cuts: list[int]) -> None:
    borders = [0, *sorted(cuts), len(text)]
    pieces = [text[start:stop] for start, stop in pairwise(borders)]
    assert run_agent("go", ScriptedModel([pieces]), TOOLS).messages[1] == says(joined(text))


def test_text_and_calls_keep_their_order() -> None:
    run = run_agent("go", ScriptedModel([["a", ask("1"), "b", ask("2"), "c"], ["done"]]), TOOLS)
    assert run.messages[1] == AssistantMessage("abc", (ask("1"), ask("2")))


# A session that ended with open calls

@pytest.mark.parametrize(("history", "closed"), [
    ([user(), calls("a", "b")], ["a", "b"]), ([user(), calls("a", "b", "c"), result("b")], ["a", "c"]), ([calls("a")], ["a"]),
    ([user(), calls("a"), calls("b"), result("b")], ["a"]), ([user(), calls("a"), result("a"), calls("b")], ["b"]),
    ([user(), calls("f", "f"), result("f")], ["f"]), ([user(), calls("f"), result("f"), calls("f")], ["f"]),
    ([user(), calls("a"), result("a")], []), ([user(), says()], []), ([user()], []), ([], []), ([result("lost")], []),
    ([user(), calls("a"), user(), says()], []),
], ids=["two", "one was answered", "nothing before", "two requests", "the second step", "one id twice",
        "an id that comes again", "all answered",
        "an answer", "a question", "nothing", "an orphan", "the talk has gone on since"])
def test_open_calls_at_the_end_get_a_result(history: list[Message], closed: list[str], path: Path) -> None:
    before = session_file(path, *history).read_bytes()
    model = ScriptedModel([["ok"]])
    run = run_agent("next", model, TOOLS, session_path=path)
    added = run.messages[len(history):]
    assert [message.tool_call_id for message in added[:-2] if isinstance(message, ToolMessage)] == closed
    assert added[-2:] == [user("next"), says("ok")]
    for message in added[:-2]:
        assert isinstance(message, ToolMessage)
        assert message.is_error
        assert "outcome unknown" in message.content
        assert "check" in message.content
        assert "not run" not in message.content
    assert path.read_bytes() == before + session_text(*added).encode()
    assert model.requests == [tuple(run.messages[:-1])]


def test_closing_open_calls_can_itself_be_interrupted(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session_file(path, user(), calls("a", "b", "c"))
    write = os.write
    budget = [1, 1]

    def failing(fd: int, data: bytes) -> int:
        if not budget:
            raise OSError(errno.EIO, "I/O error")
        budget.pop()
        return write(fd, data)

    monkeypatch.setattr(session_module.os, "write", failing)
    with pytest.raises(OSError, match="I/O error"):
        run_agent("next", ScriptedModel([["ok"]]), TOOLS, session_path=path)
    monkeypatch.undo()
    run = run_agent("next", ScriptedModel([["ok"]]), TOOLS, session_path=path)
    assert [message.tool_call_id for message in run.messages if isinstance(message, ToolMessage)] == ["a", "b", "c"]


# Laws

turns = st.lists(st.lists(texts | st.builds(ToolCall, few_ids, st.sampled_from(["echo", "unknown"]), values), max_size=3),
                 min_size=1, max_size=4)


@example(turns=[[ask("a")], [ask("b")], [ask("c")]], max_chars=250, prompt="go")  # it trims, which random ones need not
@given(turns=turns, max_chars=st.integers(1, 900), prompt=texts)
def test_the_record_does_not_depend_on_the_budget_or_the_file(fresh_file: Any, turns: list[list[Any]], max_chars: int,
                                                              prompt: str) -> None:
    script = [*turns, ["end"]]
    plain = run_agent(prompt, ScriptedModel(script), TOOLS)
    path = fresh_file()
    model = ScriptedModel(script)
    try:
        run = run_agent(prompt, model, TOOLS, session_path=path, context_max_chars=max_chars)
    except ContextBudgetError:
        recorded = load_session(path)
        assert recorded == plain.messages[:len(recorded)]
    else:
        assert run == plain
        assert load_session(path) == plain.messages
    for request in model.requests:
        assert estimate_context_chars(request) <= max_chars
        assert find_orphans(request) == []


@given(turns, st.data())
def test_a_run_can_be_taken_up_after_any_line(fresh_file: Any, turns: list[list[Any]], data: st.DataObject) -> None:
    """The process dies after some line: the next run closes what is open, repeats nothing and goes on."""
    whole = run_agent("go", ScriptedModel([*turns, ["end"]]), TOOLS).messages
    kept = whole[:data.draw(st.integers(0, len(whole)))]
    path = session_file(fresh_file(), *kept)
    run = run_agent("on", ScriptedModel([["ok"]]), TOOLS, session_path=path)
    assert run.messages[:len(kept)] == kept
    assert open_calls(run.messages) == []
    assert [type(message) for message in run.messages[len(kept):]] == [
        *[ToolMessage] * len(open_calls(kept)), UserMessage, AssistantMessage]
