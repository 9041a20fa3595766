"""Faults that other projects reported in public, each as a test of ours on data of ours.

The id is a number of our collection and what must hold here. "spec-wins" marks the ones where the chapter asks for something
else than the report: it refuses a bad line where others skip it, and it keeps an orphan in sight where others hide it.
"""
import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from labsupport.errors import (
    ContextBudgetError,
    LosslessError,
    SessionFileError,
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
    append_session,
    context_units,
    estimate_context_chars,
    find_orphans,
    load_session,
    message_chars,
    message_json,
    open_calls,
    run_agent,
    trim_context,
)
from labsupport.miniagent import session as session_module
from tests.builders import calls, gives, result, says, session_file, user

Case = Callable[[Path], None]
REPORTS: list[Any] = []


def report(number: str, holds: str) -> Callable[[Case], Case]:
    """Make the function below it the test of report *number*."""
    def add(case: Case) -> Case:
        REPORTS.append(pytest.param(case, id=f"{number}: {holds}"))
        return case

    return add


def room_for_newest(history: list[Message], count: int) -> int:
    """A budget that would hold exactly the newest *count* messages."""
    return estimate_context_chars(history[-count:])


def refused(path: Path, kind: type[SessionFileError], line: int) -> SessionFileError:
    """The error that loading *path* ends in; the file is as it was."""
    before = path.read_bytes()
    with pytest.raises(SessionFileError) as caught:
        load_session(path)
    assert (type(caught.value), caught.value.line) == (kind, line)
    assert path.read_bytes() == before
    return caught.value


def written(path: Path, *lines: str | bytes) -> Path:
    path.write_bytes(b"".join(line if isinstance(line, bytes) else line.encode() for line in lines))
    return path


FIRST, SECOND = message_json(user("first")) + "\n", message_json(says("second")) + "\n"


# Trimming and pairing

@report("B01", "a result is not kept at the head without its request; room is left unused instead")
def _(path: Path) -> None:
    history = [user("when is the boat?"), calls("t1"), result("t1", "09:10, 09:40"), user("good"), says("fine"),
               user("the ferry?"), says("09:25")]
    for rule in ("closed", "chapter"):
        kept = trim_context(history, room_for_newest(history, 5), rule)
        assert kept == history[3:]
        assert isinstance(kept[0], type(user()))


@report("B02", "the whole of what is kept is in pairs, not only its head, at every budget")
def _(path: Path) -> None:
    history = [user("one"), says("ok"), user("two"), calls("k"), result("k", "12"), says("twelve"), user("three")]
    budget = ContextBudget(history)
    for max_chars in range(budget.smallest, sum(budget.costs) + 1):
        kept = budget.fit(max_chars).messages
        assert kept == history[len(history) - len(kept):]
        assert (calls("k") in kept) == (result("k", "12") in kept)
        assert find_orphans(kept) == []


@report("B04-spec-wins",
        "an orphan stays where it is and visible to the loop; find_orphans names it and the pair beside it is whole")
def _(path: Path) -> None:
    history = [user("go"), calls("b"), result("a", "left over"), result("b", "read"), says("both"), user("next")]
    assert find_orphans(history) == [2]
    assert context_units(history)[1] == history[1:4]
    assert trim_context(history, room_for_newest(history, 5)) == history[1:]
    assert trim_context(history, room_for_newest(history, 4)) == history[4:]


@report("B05", "a request with many parallel results is kept or dropped whole")
def _(path: Path) -> None:
    ids = [f"f{number}" for number in range(12)]
    history = [user("read them"), calls(*ids), *(result(call_id) for call_id in ids), says("done")]
    for count in range(2, 14):
        assert trim_context(history, room_for_newest(history, count)) == history[-1:]
    assert trim_context(history, room_for_newest(history, 14)) == history[1:]


@report("B07", "a prompt larger than the budget is an error with both numbers, never an empty or a shortened request")
def _(path: Path) -> None:
    prompt = user("digits: " + "0123456789" * 40)
    with pytest.raises(ContextBudgetError) as caught:
        trim_context([prompt], 100)
    assert (caught.value.budget, caught.value.needed) == (100, message_chars(prompt))
    assert "0123456789" not in str(caught.value)


@report("B08", "a batch of results that is too large together is not split, though each of them would fit")
def _(path: Path) -> None:
    history = [user("scan"), calls("p", "q", "r"), *(result(call_id, call_id * 300) for call_id in "pqr")]
    with pytest.raises(ContextBudgetError) as caught:
        trim_context(history, 900)
    assert caught.value.needed == estimate_context_chars(history[1:]) > 900 > message_chars(history[-1])


@report("B10", "one id for every call of a session: no result is taken for a repetition")
def _(path: Path) -> None:
    history = [user("step"), *[message for number in range(3) for message in (calls("call_0"), result("call_0", f"r{number}"))],
               says("end")]
    assert (find_orphans(history), open_calls(history)) == ([], [])
    for rule in ("closed", "chapter"):
        assert [len(unit) for unit in context_units(history, rule)] == [1, 2, 2, 2, 1]
    assert trim_context(history, 10_000) == history


@report("B11", "an id that comes again is a call of its own, open until its own result")
def _(path: Path) -> None:
    later = [user("a"), calls("f"), result("f"), user("b"), calls("f"), user("c")]
    assert open_calls(later) == list(calls("f").tool_calls)
    assert open_calls(later[:4]) == []
    assert [len(unit) for unit in context_units(later)] == [1, 2, 1, 1, 1]
    twice = [user("a"), calls("f", "f"), result("f", "first"), result("f", "second"), says()]
    assert (open_calls(twice), find_orphans(twice)) == ([], [])
    assert [len(unit) for unit in context_units(twice)] == [1, 3, 1]
    assert len(open_calls(twice[:3])) == 1


@report("B13", "an empty id and an empty name can be restored; they pair with the nearest request, the tool is unknown")
def _(path: Path) -> None:
    nameless = AssistantMessage("", (ToolCall("", "", {}),))
    history = [user("go"), nameless, result("", "x", True), nameless, result("", "y"), says()]
    session_file(path, *history)
    assert load_session(path) == history
    assert [len(unit) for unit in context_units(history)] == [1, 2, 2, 1]
    run = run_agent("go", ScriptedModel([[ToolCall("", "", {})], ["ok"]]), {})
    assert run.messages[2] == result("", "unknown tool: ", True)


@report("B14-spec-wins",
        "a call that never got a result loads; where the talk went on, the request goes out as it was recorded")
def _(path: Path) -> None:
    history = [user("build"), calls("b1", "b2"), result("b1"), user("are you there?")]
    before = session_file(path, *history).read_bytes()
    assert load_session(path) == history
    assert [one.id for one in open_calls(history)] == ["b2"]
    model = ScriptedModel([["yes"]])
    run_agent("well?", model, {}, session_path=path)
    assert model.requests == [(*history, user("well?"))]
    assert path.read_bytes().startswith(before)


@report("B16-spec-wins",
        "killed inside a batch: loading writes nothing; the next run records that the outcome is unknown, and retries nothing")
def _(path: Path) -> None:
    history = [user("migrate"), calls("m1", "m2", "m3"), result("m2", "3 rows")]
    before = session_file(path, *history).read_bytes()
    load_session(path)
    assert path.read_bytes() == before
    ran: list[Any] = []
    run = run_agent("go on", ScriptedModel([["ok"]]), {"read": lambda given: str(ran.append(given))}, session_path=path)
    first, second = run.messages[3:5]
    assert isinstance(first, ToolMessage)
    assert isinstance(second, ToolMessage)
    assert (first.tool_call_id, second.tool_call_id, first.is_error, second.is_error) == ("m1", "m3", True, True)
    assert "may have run or not" in first.content == second.content
    assert ran == []
    assert path.read_bytes().startswith(before)


@report("B17-spec-wins",
        "an orphan and a second result raise nothing and stay in sight; find_orphans names the first")
def _(path: Path) -> None:
    history = [user("hi"), result("zz", "left over"), calls("c"), result("c", "one"), result("c", "one again"), says("ok")]
    assert find_orphans(history) == [1]
    assert open_calls(history) == []
    assert [len(unit) for unit in context_units(history)] == [1, 1, 3, 1]
    session_file(path, *history)
    assert run_agent("on", ScriptedModel([["ok"]]), {}, session_path=path).messages[:6] == history


@report("B19", "what comes between a request and its result belongs to their unit, and the order stays the true one")
def _(path: Path) -> None:
    history = [user("sync"), calls("s"), user("[notice] worker 3 is done"), result("s", "synced"), says("done")]
    for rule in ("closed", "chapter"):
        assert trim_context(history, room_for_newest(history, 3), rule) == history[4:]
        assert trim_context(history, room_for_newest(history, 4), rule) == history[1:]


# Lines

@report("B20-spec-wins",
        "a bad line in the middle refuses the whole file by its number; it neither ends the session early nor is it skipped")
def _(path: Path) -> None:
    written(path, FIRST, SECOND, '{"kind":"snapshot","files":{"a.py":"\n', FIRST, SECOND)
    refused(path, SessionJsonError, 3)


@report("B22", "a tail of NULs is torn and says how long the whole lines are; NULs inside are damage")
def _(path: Path) -> None:
    tail = refused(written(path, FIRST, SECOND, b"\0" * 284), SessionTornTailError, 3)
    assert isinstance(tail, SessionTornTailError)
    assert tail.offset == len(FIRST + SECOND)
    refused(written(path, FIRST, b"\0" * 10, "\n", SECOND), SessionJsonError, 2)
    nothing = refused(written(path, b"\0" * 64), SessionTornTailError, 1)
    assert isinstance(nothing, SessionTornTailError)
    assert nothing.offset == 0


@report("B23", "NULs behind a record on its line are an error at that line")
def _(path: Path) -> None:
    refused(written(path, FIRST, SECOND[:-1], b"\0" * 90, "\n", FIRST), SessionJsonError, 2)


@report("B25", "a last line is whole, torn, or damaged but ended: three cases")
def _(path: Path) -> None:
    assert load_session(written(path, FIRST, SECOND[:-1])) == [user("first"), says("second")]
    refused(written(path, FIRST, SECOND[:20]), SessionTornTailError, 2)
    refused(written(path, FIRST, SECOND[:20], "\n"), SessionJsonError, 2)


@report("B26-spec-wins",
        "a write cut inside a character is a torn tail, a bad byte elsewhere refuses the file; nothing is replaced")
def _(path: Path) -> None:
    cut = refused(written(path, FIRST, '{"role":"user","content":"预'.encode()[:-1]), SessionTornTailError, 2)
    assert "UTF-8" in str(cut)
    bad = refused(written(path, FIRST, b'{"role":"user","content":"caf\xe9"}\n', FIRST), SessionJsonError, 2)
    assert "byte 29" in str(bad)


@report("B28", "U+2028 and U+2029 end no line, raw or written by us")
def _(path: Path) -> None:
    history = [user("before\u2028after"), says("p1\u2029p2"), says("ok")]
    for message in history:
        append_session(path, message)
    assert "\u2028" in path.read_text("utf-8")
    assert load_session(path) == history


@report("B29", "U+0085 ends no line; raw VT and FS are no JSON and shift no number")
def _(path: Path) -> None:
    assert load_session(written(path, '{"role":"user","content":"row1\u0085row2"}\n', SECOND)) == [user("row1\u0085row2"),
                                                                                                   says("second")]
    for control in "\x0b\x1c\x0c":
        refused(written(path, FIRST, f'{{"role":"user","content":"a{control}b"}}\n', SECOND), SessionJsonError, 2)


@report("B31", "empty lines are passed over and counted, a line of blanks is no JSON, a lone return ends no line")
def _(path: Path) -> None:
    assert load_session(written(path, FIRST, "\n", SECOND)) == [user("first"), says("second")]
    refused(written(path, FIRST, "\n", SECOND, "   \n", FIRST), SessionJsonError, 4)
    crlf = (FIRST + SECOND).replace("\n", "\r\n")
    assert load_session(written(path, crlf)) == [user("first"), says("second")]
    refused(written(path, FIRST[:-1], "\r", SECOND), SessionJsonError, 1)


@report("B32-spec-wins", "JSON that is no object is a record error at its line; the first one stops the load")
def _(path: Path) -> None:
    for line in ('"just text"', "42", "null", "[]", "{}", "true", "1.5"):
        refused(written(path, FIRST, line, "\n", SECOND), SessionRecordError, 2)


@report("B34", "digits survive loading, estimating and thawing; what JavaScript would round is not written")
def _(path: Path) -> None:
    line = message_json(gives(None)).replace("null", '{"id":7312845690127734999,"n":9007199254740993}') + "\n"
    loaded = load_session(written(path, line, '{"role":"user","content":"x","more":{"id":7312845690127734999}}\n'))
    assert message_json(loaded[0]) + "\n" == line
    assert message_chars(loaded[0]) == len(line)
    before = path.read_bytes()
    with pytest.raises(LosslessError, match="write it as a string"):
        append_session(path, loaded[0])
    assert path.read_bytes() == before


@report("B35", "NaN, infinities and numbers that overflow are errors at their line, in dropped keys too, and are never written")
def _(path: Path) -> None:
    for literal in ("NaN", "Infinity", "-Infinity", "1e999", "-1e999"):
        refused(written(path, FIRST, f'{{"role":"user","content":"x","more":{{"loss":{literal}}}}}\n', SECOND),
                SessionJsonError, 2)
    for number in (float("nan"), float("inf")):
        with pytest.raises(LosslessError):
            append_session(path.with_name("new"), gives({"loss": number}))
    assert not path.with_name("new").exists()


@report("B37-spec-wins", "20,000 levels load: no RecursionError, no limit that is lower")
def _(path: Path) -> None:
    deep = "[" * 20_000 + "]" * 20_000
    written(path, FIRST, message_json(gives(None)).replace("null", deep), "\n",
            f'{{"role":"user","content":"x","more":{deep}}}\n', SECOND)
    assert len(load_session(path)) == 4
    refused(written(path, FIRST, f'{{"role":"user","content":{deep}}}\n', SECOND), SessionRecordError, 2)


@report("B38", "half a pair is saved as an escape and comes back, a whole pair is one character, and no byte is bad UTF-8")
def _(path: Path) -> None:
    written(path, '{"role":"user","content":"done \\ud83d"}\n{"role":"user","content":"ok \\ud83d\\ude00"}\n')
    loaded = load_session(path)
    assert loaded == [user("done \ud83d"), user("ok 😀")]
    for message in loaded:
        append_session(path, message)
    assert path.read_bytes().decode().splitlines()[2:] == [r'{"role":"user","content":"done \ud83d"}',
                                                           '{"role":"user","content":"ok 😀"}']
    assert load_session(path) == loaded * 2


@report("B40", "a content that is null or a list of parts is a record error, never the text None")
def _(path: Path) -> None:
    for content in ("null", '[null,{"type":"text","text":"hi"}]', "{}"):
        for role in ('"user"', '"assistant","toolCalls":[]', '"tool","toolCallId":"n","isError":false'):
            refused(written(path, FIRST, f'{{"role":{role},"content":{content}}}\n'), SessionRecordError, 2)


@report("B41", "two records on one line are an error that names the column of the second")
def _(path: Path) -> None:
    error = refused(written(path, FIRST, SECOND[:-1], FIRST, "\n", SECOND), SessionJsonError, 2)
    assert f"column {len(SECOND)}" in str(error)


@report("B44", "a disk that is full in the middle of a record: nothing of it is saved, and the next one is clean")
def _(path: Path) -> None:
    session_file(path, user("first"), says("second"))
    before = path.read_bytes()
    write, done = os.write, [10]

    def full(fd: int, data: bytes) -> int:
        if not done:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(fd, data[:done.pop()])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session_module.os, "write", full)
        model = ScriptedModel([["never asked"]])
        with pytest.raises(OSError, match="No space left"):
            run_agent("A", model, {}, session_path=path)
    assert path.read_bytes() == before
    assert model.requests == []
    append_session(path, user("B"))
    assert load_session(path) == [user("first"), says("second"), user("B")]


@report("B46", "an error of the system comes through as it is, with its path, and is not called damage")
def _(path: Path) -> None:
    session_file(path, user())

    def denied(*args: Any) -> int:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session_module.os, "open", denied)
        with pytest.raises(PermissionError) as caught:
            run_agent("hidden words", ScriptedModel([["ok"]]), {}, session_path=path)
    assert caught.value.filename == str(path)
    assert "hidden words" not in str(caught.value)
    assert load_session(path) == [user()]


@report("B47", "a folder in the place of the file is an error of the system, no first start, and nothing is made in it")
def _(path: Path) -> None:
    path.mkdir()
    for act in (lambda: load_session(path), lambda: append_session(path, user()),
                lambda: run_agent("x", ScriptedModel([["ok"]]), {}, session_path=path)):
        with pytest.raises(OSError, match=r"s\.jsonl"):
            act()
    assert list(path.iterdir()) == []
    other = session_file(path.with_name("other.jsonl"), user("here"))
    assert load_session(other) == [user("here")]


@report("B73-spec-wins",
        "the budget counts characters as JavaScript does and says so; it promises no tokens")
def _(path: Path) -> None:
    frame = message_chars(user(""))
    assert message_chars(user("你好世界" * 25)) == frame + 100
    assert message_chars(user("word" * 25)) == frame + 100
    assert message_chars(user("👨\u200d👩\u200d👧" * 5)) == frame + 40
    assert "characters" in (estimate_context_chars.__doc__ or "")
    assert "tokens" in (estimate_context_chars.__doc__ or "")


@report("B76", "the report of a bad line gives its number, column and reason, never its text")
def _(path: Path) -> None:
    error = refused(written(path, FIRST, '{"role":"user","content":"password is swordfish-42"\n'), SessionJsonError, 2)
    assert "swordfish" not in "".join(map(str, (error, error.args, vars(error), error.__context__, error.__cause__)))
    assert "column" in str(error)
    with pytest.raises(json.JSONDecodeError) as standard:  # what the standard library's error would have carried along
        json.loads(path.read_bytes().splitlines()[1])
    assert "swordfish" in standard.value.doc


@pytest.mark.parametrize("case", REPORTS)
def test_report(case: Case, tmp_path: Path) -> None:
    case(tmp_path / "s.jsonl")
