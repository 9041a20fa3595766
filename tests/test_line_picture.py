"""Lab A1: a line that is broken on purpose, its picture, its explorer, its tables, and what the lab writes with."""
import gc
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from labsupport.errors import SessionFileError, SessionJsonError, SessionRecordError, SessionTornTailError
from labsupport.miniagent import RecordProblem, load_session, session_message_problem
from labsupport.strict_json import read_json
from labsupport.workbench import samples
from labsupport.workbench.breakage import (
    BREAKAGES,
    RULES,
    break_line,
    json_words,
    load_bytes,
    problem_words,
    read_line,
    split_lines,
)
from labsupport.workbench.checks.a1 import check_parse_tool
from labsupport.workbench.checks.base import attempt
from labsupport.workbench.explorers.a1 import line_explorer
from labsupport.workbench.pictures.line import line_picture
from labsupport.workbench.random_messages import random_messages
from labsupport.workbench.scratch import fresh
from labsupport.workbench.show import sentence_of
from labsupport.workbench.tables import load_table, verdict_table
from labsupport.workbench.text import speaking
from labsupport.workbench.writers import append_from_processes

SHORT = split_lines(samples.path("short").read_bytes())
EVERY = [(at, name) for at in range(1, len(SHORT) + 1) for name in BREAKAGES]
ROOT = Path(__file__).resolve().parent.parent


def rows(picture):
    """The rows of the first table of *picture*: the words of each cell."""
    body = picture.split("<tbody>")[1].split("</tbody>")[0]
    return [[re.sub(r"<[^>]*>", "", cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)]
            for row in re.findall(r"<tr.*?</tr>", body)]


def verdicts(picture):
    """The table of verdicts: what was asked, and the rest of its row."""
    return {head: " ".join(re.findall(r"<td[^>]*>(.*?)</td>", row)) for head, row in
            re.findall(r'<th scope="row">(.*?)</th>(.*?)</tr>', picture.split("<tbody>")[2])}


# Breaking a line

@pytest.mark.parametrize(("at", "name", "kind", "error"), [
    (2, "none", "message", None), (2, "half", "text", SessionJsonError), (2, "torn", "text", SessionTornTailError),
    (2, "joined", "text", SessionJsonError), (4, "joined", "message", None), (2, "twice", "text", SessionJsonError),
    (2, "role", "record", SessionRecordError), (2, "content", "record", SessionRecordError),
    (2, "no_input", "record", SessionRecordError), (2, "null_input", "message", None), (3, "one", "record", SessionRecordError),
    (2, "extra", "message", None), (2, "nan", "text", SessionJsonError), (2, "nul", "text", SessionJsonError),
    (2, "cr", "message", None), (1, "bom", "text", SessionJsonError), (2, "bom", "text", SessionJsonError),
    (2, "utf8", "text", SessionJsonError), (2, "blank", "text", SessionJsonError), (2, "erased", "empty", None),
])
def test_a_broken_line_is_what_its_name_says(at, name, kind, error):
    trial = break_line(SHORT, at, name)
    assert read_line(trial.after[at - 1]).kind == kind
    assert (type(trial.result) is error and trial.result.line == at) if error else isinstance(trial.result, list)


@pytest.mark.parametrize(("at", "name"), EVERY)
def test_only_the_line_that_was_named_is_touched(at, name):
    trial = break_line(SHORT, at, name)
    assert trial.after[:at - 1] == tuple(SHORT[:at - 1])
    expected = trial.broken if name == "torn" else trial.broken + b"".join(SHORT[at:])
    assert b"".join(trial.after[at - 1:]) == expected
    assert samples.path("short").read_bytes() == b"".join(SHORT)


@pytest.mark.parametrize(("at", "name"), [(1, "no_input"), (4, "no_input"), (3, "null_input"), (1, "one"), (2, "one")])
def test_a_line_without_the_field_stays_as_it_is(at, name):
    trial = break_line(SHORT, at, name)
    assert trial.unbroken
    assert trial.after == tuple(SHORT)


def test_read_line_says_which_keys_the_message_drops():
    assert read_line(break_line(SHORT, 1, "extra").after[0]).dropped == ("mood",)


@pytest.mark.parametrize("size", range(0, 445, 37))
def test_split_lines_loses_no_byte(size):
    data = samples.path("short").read_bytes()[:size]
    assert b"".join(split_lines(data)) == data
    assert all(line.endswith(b"\n") for line in split_lines(data)[:-1])


def test_every_rule_of_the_parser_has_words():
    assert set(RULES) == set(RecordProblem.__annotations__["rule"].__args__)


@pytest.mark.parametrize("value", [
    None, [], {}, {"role": "user"}, {"role": "robot", "content": ""}, {"role": "tool", "content": "", "toolCallId": "a"},
    {"role": "assistant", "content": ""}, {"role": "assistant", "content": "", "toolCalls": [{"id": "a", "name": "b"}]},
])
def test_the_english_words_for_a_problem_are_those_of_the_parser(value):
    problem = session_message_problem(value)
    with speaking("en"):
        assert problem_words(problem) == str(problem)
    with speaking("zh"):
        assert (problem.where or "值") in problem_words(problem)


SPOILT = [b"", b"nul", b"[1 2]", b'{1:2}', b'{"a" 1}', b"1 2", b'"a', b'"\x01"', b'"\\q"', b'"\\u12"', b'"\xff"', b"NaN",
          b"[-Infinity]", b"1e999", b"\xef\xbb\xbf1"]


@pytest.mark.parametrize("deep", [False, True], ids=["flat", "deep"])
@pytest.mark.parametrize("data", SPOILT)
def test_every_reason_of_the_decoder_has_words(data, deep):
    data = b"[" * 5000 + data if deep and not data.startswith(b"\xef") else data
    with pytest.raises(ValueError) as found:  # noqa: PT011  what it says is looked at below
        read_json(data)
    reason = str(found.value)
    with speaking("en"):
        assert json_words(reason) == reason
    with speaking("zh"):
        assert re.search("[\u4e00-\u9fff]", json_words(reason))


def test_a_reason_that_is_not_known_stays_as_it_is():
    with speaking("zh"):
        assert json_words("something new, column 3") == "something new, column 3"


# The picture

@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize(("at", "name"), EVERY)
def test_the_sentence_holds_what_the_picture_shows(at, name, lang):
    trial = break_line(SHORT, at, name)
    with speaking(lang):
        picture = line_picture(trial)
    sentence = sentence_of(picture)
    assert f"{at}" in sentence
    assert f"{len(SHORT)}" in sentence
    if isinstance(trial.result, SessionFileError):
        assert type(trial.result).__name__ in sentence
        told = f"第 {trial.result.line} 行" if lang == "zh" else trial.result.sentence.format(line=trial.result.line)
        assert told in verdicts(picture)["load_session"]
    else:
        assert str(len(trial.result)) in sentence
    if isinstance(trial.result, SessionTornTailError):
        assert str(trial.result.offset) in sentence
    assert len(sentence) < (250 if lang == "en" else 140)  # two lines are kept for it


@pytest.mark.parametrize(("at", "name"), EVERY)
def test_a_move_changes_no_row_of_the_layout(at, name):
    picture = line_picture(break_line(SHORT, at, name))
    assert [row[0] for row in rows(picture)] == [str(number) for number in range(1, len(SHORT) + 1)]
    assert picture.count("<tr") == line_picture(break_line(SHORT, 1, "none")).count("<tr")


def test_the_states_of_a_load_that_stops():
    with speaking("en"):
        states = [row[-1] for row in rows(line_picture(break_line(SHORT, 2, "half")))]
        torn = [row[-1] for row in rows(line_picture(break_line(SHORT, 2, "torn")))]
    assert states == ["read, not returned", "stops here", "not reached", "not reached"]
    assert torn == ["read, not returned", "stops here", "not in the file", "not in the file"]


def test_the_states_of_a_load_that_passes_an_empty_line_over():
    with speaking("en"):
        states = [row[-1] for row in rows(line_picture(break_line(SHORT, 2, "erased")))]
    assert states == ["message 1", "passed over", "message 2", "message 3"]


@pytest.mark.parametrize(("at", "name", "gone", "put"), [
    (3, "one", "false", "1"), (2, "half", "outpatient", ""), (1, "nul", "", "[NUL][NUL][NUL]"), (1, "cr", "", "[CR]"),
    (1, "bom", "", "U+FEFF"), (1, "joined", "⏎", ""), (1, "none", "", ""), (4, "extra", "", "mood"),
])
def test_what_was_changed_is_marked_as_taken_away_or_put_in(at, name, gone, put):
    box = re.search(r'<p class="xp-box.*?</p>', line_picture(break_line(SHORT, at, name)))[0]
    marked = ["".join(re.findall(rf"<{tag}[^>]*>(.*?)</{tag}>", box)) for tag in ("del", "ins")]
    assert gone in marked[0]
    assert put in marked[1]
    assert [bool(mark) for mark in marked] == [bool(gone), bool(put)]


def test_text_of_a_log_is_escaped():
    nasty = '</p><script>alert(1)</script>\u202e"\''
    lines = [json.dumps({"role": "user", "content": nasty}, ensure_ascii=False).encode() + b"\n",
             json.dumps({"role": "tool", "toolCallId": nasty, "content": "", "isError": False}).encode() + b"\n"]
    for at in (1, 2):
        for name in BREAKAGES:
            picture = line_picture(break_line(lines, at, name))
            assert "<script" not in picture
            assert "\u202e" not in picture


# The explorer

def test_every_control_moves_the_picture():
    with speaking("en"):
        explorer = line_explorer(samples.path("short"))
        seen = set()
        for at, name in EVERY:
            explorer.line.value, explorer.breakage.value = at, name
            assert explorer.figure.value == line_picture(break_line(SHORT, at, name))
            assert explorer.still.sentence == sentence_of(explorer.figure.value)
            seen.add(explorer.still.sentence)
    assert len(seen) == len(EVERY)
    assert (explorer.line.min, explorer.line.max) == (1, len(SHORT))
    assert [name for _, name in explorer.breakage.options] == list(BREAKAGES)


def test_running_the_cell_again_leaves_one_observer():
    def cell():
        return line_explorer(samples.path("short"))

    explorer = cell()
    explorer = cell()
    gc.collect()
    moves = []
    draw, explorer.draw = explorer.draw, lambda **values: moves.append(values) or draw(**values)
    explorer.line.value = 3
    assert moves == [{"line": 3, "breakage": "none"}]


def test_a_file_that_does_not_load_has_no_explorer():
    with pytest.raises(SessionJsonError):
        line_explorer(samples.path("second_line"))


def test_a_file_with_an_empty_line_has_one(tmp_path):
    (tmp_path / "gap.jsonl").write_bytes(SHORT[0] + b"\n" + SHORT[1])
    explorer = line_explorer(tmp_path / "gap.jsonl")
    explorer.line.value = 2
    for name in BREAKAGES:
        explorer.breakage.value = name
        assert explorer.still.sentence


@pytest.mark.parametrize("value", [b"[" * 5000 + b"]" * 5000, b"9" * 5000], ids=["deep", "long integer"])
def test_a_file_with_awkward_values_has_one(tmp_path, value):
    call = b'{"role":"assistant","content":"","toolCalls":[{"id":"c1","name":"f","input":' + value + b"}]}\n"
    (tmp_path / "awkward.jsonl").write_bytes(call + SHORT[0])
    explorer = line_explorer(tmp_path / "awkward.jsonl")
    for name in BREAKAGES:
        explorer.breakage.value = name
        assert explorer.still.sentence


def test_an_empty_file_has_one_that_says_so(tmp_path):
    (tmp_path / "empty.jsonl").write_bytes(b"")
    with speaking("en"):
        explorer = line_explorer(tmp_path / "empty.jsonl")
        explorer.breakage.value = "half"
    assert explorer.still.sentence.startswith("Error: This file has no line")


# The tables

def test_the_table_of_verdicts_agrees_with_the_parser():
    values = [None, {"role": "user", "content": ""}, {"role": "tool", "content": "", "toolCallId": "", "isError": 1}]
    with speaking("en"):
        table = verdict_table(values)
    assert list(table.columns) == ["value", "parse answers", "why"]
    assert list(table["parse answers"]) == ["None", "UserMessage", "None"]
    assert list(table["why"]) == [str(session_message_problem(value) or "") for value in values]


def test_odd_files_are_named_in_the_language_of_the_notebook():
    with speaking("zh"):
        table = load_table({"blanks": b"  \n", "other": b'["'})
    assert list(table["文件"]) == ["有一行只有空格", "other"]
    assert list(table["理由"]) == ["第 4 个字符处应当是一个值", "从第 2 个字符开始的字符串没有结束"]


def test_a_torn_first_line_leaves_an_empty_history():
    with speaking("en"):
        said = sentence_of(line_picture(break_line(SHORT, 1, "torn")))
    assert said.endswith("No message stands before it; cut to 0 bytes, the file is an empty history.")


def test_the_verdict_says_whether_anything_is_lost():
    with speaking("en"):
        lost = {name: verdicts(line_picture(break_line(SHORT, 2, name)))["is anything lost?"].split()[0]
                for name in ("none", "cr", "extra", "erased", "null_input", "torn")}
    assert lost == {"none": "No.", "cr": "No.", "extra": "No.", "erased": "Yes.", "null_input": "Yes.", "torn": "Yes."}


def test_the_table_of_loads_agrees_with_load():
    good = b'{"role":"user","content":"hi"}\n'
    files = {"good": good, "second": good + b"nope\n", "torn": good + b'{"ro', "record": b"[]\n", "blanks": good + b" \n"}
    with speaking("en"):
        table = load_table(files)
    assert list(table["load_session"]) == ["1 message", "SessionJsonError", "SessionTornTailError", "SessionRecordError",
                                           "SessionJsonError"]
    assert list(table["line"]) == ["", 2, 2, 1, 2]
    assert table["why"].iloc[3] == "the record must be an object"
    assert all(table["why"][1:])


# What the lab writes with

def test_scratch_gives_a_folder_of_its_own_with_copies_of_the_samples():
    code = ("import os; from labsupport.workbench.scratch import scratch; home = os.getcwd()\n"
            "print(scratch('short', 'torn_tail'), sorted(os.listdir()), os.getcwd() != home)\n"
            "from labsupport.workbench.text import language; print(language(), os.getcwd())")
    command = [sys.executable, "-c", code]
    ran = subprocess.run(command, cwd=ROOT / "notebooks" / "zh", capture_output=True, text=True, check=True)
    names, lang = ran.stdout.splitlines()
    assert names == "['short.jsonl', 'torn_tail.jsonl'] ['.lang', 'short.jsonl', 'torn_tail.jsonl'] True"
    assert lang.startswith("zh ")
    assert not os.path.exists(lang.removeprefix("zh "))


def test_fresh_gives_a_name_where_nothing_stands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        Path(fresh("a.jsonl")).write_text("x")
        Path(fresh("a.jsonl")).mkdir()
        Path("a.jsonl", "inside").write_text("x")


def test_several_processes_lose_no_line(tmp_path):
    append_from_processes(tmp_path / "shared.jsonl", processes=2, each=10)
    said = [message.content for message in load_session(tmp_path / "shared.jsonl")]
    assert [text for text in said if text.startswith("0")] == [f"0:{number}" for number in range(10)]
    assert [text for text in said if text.startswith("1")] == [f"1:{number}" for number in range(10)]
    assert len(said) == 20


def test_random_messages_hold_all_kinds_and_awkward_text():
    many = [message for seed in range(200) for message in random_messages(seed)]
    assert {message.role for message in many} == {"user", "assistant", "tool"}
    assert any("\ud83d" in message.content for message in many)
    assert any(isinstance(call.input, dict) for message in many if message.role == "assistant" for call in message.tool_calls)


# The check

def test_another_error_is_told_with_its_case():
    def answer(value):
        raise RuntimeError

    with speaking("en"):
        verdict = check_parse_tool(answer)
    assert verdict.key == "check_raised"
    assert "raised RuntimeError." in verdict.words
    assert '"toolCallId":"c1"' in verdict.words


HELPER, ANSWER = "def fail(value):\n    return value['no such key']\n", "def parse_tool(value):\n\n    return fail(value)\n"


def test_an_error_is_told_with_its_words_and_the_line_of_the_learners_cell():
    cells = {}
    for name, source in (("cell 1", HELPER), ("cell 2", ANSWER)):
        exec(compile(source, name, "exec"), cells)
    with speaking("en"):
        words = check_parse_tool(cells["parse_tool"]).words
    assert words.endswith("your code raised KeyError: 'no such key' (line 3 of your cell).")


def hostile_error():
    class Mute(Exception):
        def __str__(self):
            raise RuntimeError
    return Mute()


@pytest.mark.parametrize(("error", "said"), [
    (ValueError("no\nmore"), "ValueError: no"), (SystemExit("bye"), "SystemExit: bye"), (ValueError(), "ValueError"),
    (hostile_error(), "Mute: <exception str() failed>"),
])
def test_whatever_comes_out_of_a_learners_code_is_told(error, said):
    def answer(value):
        raise error

    with speaking("en"):
        assert attempt(answer, 1).said == said
        assert said in check_parse_tool(answer).words


def test_the_stop_button_is_no_answer():
    def answer(value):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        attempt(answer, 1)


def test_load_bytes_returns_what_load_raises():
    assert load_bytes(b"") == []
    assert isinstance(load_bytes(b"{"), SessionTornTailError)
