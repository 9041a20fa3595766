"""Two command lines over one loop: what the function can do, and what the command passes on."""
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from labsupport.errors import LabError
from labsupport.miniagent import (
    ScriptedModel,
    ToolCall,
    ToolMessage,
    estimate_context_chars,
    load_session,
    main,
    run_assembled,
    run_cli,
    trim_context,
)
from labsupport.miniagent.cli import scripted_model
from tests.builders import result, says, session_file, user
from tests.miniagent.child import ROOT

LOOKUP = {"id": "c1", "name": "sum_column", "input": {"file": "outpatient.csv", "column": "count", "where": {"year": "2025"}}}
TURNS: list[Any] = [["Looking.", LOOKUP], [LOOKUP | {"id": "c2", "name": "nothing"}], ["预算 ", "🙂"]]


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.json"
    path.write_text(json.dumps(TURNS), "utf-8")
    return path


def model() -> ScriptedModel:
    return ScriptedModel([[piece if isinstance(piece, str) else _call(piece) for piece in turn] for turn in TURNS])


def _call(piece: Any) -> Any:
    return ToolCall(**piece)


def command(*arguments: object, folder: Path) -> "subprocess.CompletedProcess[str]":
    """The command line as a learner starts it, in *folder*."""
    return subprocess.run([sys.executable, "-m", "labsupport.miniagent", *map(str, arguments)], cwd=folder, capture_output=True,
                          encoding="utf-8", timeout=60, check=False,
                          env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"})


def requests(output: str) -> list[tuple[int, int]]:
    """(messages, characters) of each request that the command reports."""
    return [(int(messages), int(chars)) for messages,
            chars in re.findall(r"request \d+: (\d+) messages?, (\d+) characters?", output)]


# In this process

def test_the_chapters_command_line_passes_neither_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    seen = []
    for _ in range(2):
        scripted = model()
        run = run_cli(["how many?"], scripted)
        seen.append(scripted.requests)
        assert [message.role for message in run.messages] == ["user", "assistant", "tool", "assistant", "tool", "assistant"]
    assert seen[0] == seen[1]
    assert [len(request) for request in seen[0]] == [1, 3, 5]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("option", ["--session", "--context-max-chars"])
def test_the_chapters_command_line_knows_no_options(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        run_cli(["how many?", option, "9"], model())
    assert caught.value.code == 2
    assert option in capsys.readouterr().err


def test_the_assembled_command_line_passes_both(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    scripted = model()
    run = run_assembled(["how many?", "--session", str(path), "--context-max-chars", "420"], scripted)
    assert load_session(path) == run.messages
    assert scripted.requests == [tuple(trim_context(run.messages[:length], 420)) for length in (1, 3, 5)]
    assert len(scripted.requests[2]) < 5
    again = model()
    assert run_assembled(["and now?", "--session", str(path)], again).messages[:6] == run.messages
    assert [len(request) for request in again.requests] == [7, 9, 11]


def test_the_assembled_command_line_without_options_is_the_chapters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_assembled(["how many?"], model()) == run_cli(["how many?"], model())
    assert list(tmp_path.iterdir()) == []


def test_the_tool_reads_tables_in_data_only() -> None:
    outside = LOOKUP | {"input": {"file": "../pyproject.toml", "column": "a"}}
    run = run_cli(["go"], ScriptedModel([[_call(LOOKUP)], [_call(outside)], ["done"]]))
    inside, refused = (message for message in run.messages if isinstance(message, ToolMessage))
    assert re.fullmatch(r"\d+ \(\d+ rows\)", inside.content)
    assert not inside.is_error
    assert refused.is_error
    assert "only files in data/ may be read" in refused.content


@pytest.mark.parametrize("text", ["7", '[["a", {"id": "c1"}]]', "[7]", '[["a", 7]]', "{", "[[null]]", ""], ids=ascii)
def test_what_is_no_script_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text(text, "utf-8")
    with pytest.raises(LabError, match="is no script"):
        scripted_model(path)


# As processes

def test_the_commands_as_processes(script: Path, tmp_path: Path) -> None:
    path, folder = tmp_path / "我的 session.jsonl", tmp_path / "empty"
    folder.mkdir()
    done = command("how many?", "--session", path, "--context-max-chars", 420, "--script", script, folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-2:] == ["预算 🙂", "stopped: answered"]
    recorded = load_session(path)
    assert [message.role for message in recorded] == ["user", "assistant", "tool", "assistant", "tool", "assistant"]
    sent = [trim_context(recorded[:length], 420) for length in (1, 3, 5)]
    assert requests(done.stdout) == [(len(messages), estimate_context_chars(messages)) for messages in sent]
    assert len(sent[2]) < 5

    before = path.read_bytes()
    again = command("and now?", "--session", path, "--script", script, folder=folder)
    assert [messages for messages, _ in requests(again.stdout)] == [7, 9, 11]
    assert path.read_bytes().startswith(before)
    assert len(load_session(path)) == 12

    plain = command("how many?", "--script", script, folder=folder)
    assert [messages for messages, _ in requests(plain.stdout)] == [1, 3, 5]
    assert list(folder.iterdir()) == []


def test_the_chapters_command_as_a_process(tmp_path: Path) -> None:
    first, second = (command("how many?", "--chapter", folder=tmp_path) for _ in range(2))
    assert (first.returncode, first.stderr, first.stdout) == (0, "", second.stdout)
    assert requests(first.stdout)[0][0] == 1
    assert first.stdout.endswith("stopped: answered\n")
    assert list(tmp_path.iterdir()) == []
    refused = command("how many?", "--chapter", "--session", "s.jsonl", folder=tmp_path)
    assert refused.returncode == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("arguments", "sentence"), [
    (["--context-max-chars", "20"], "context budget cannot contain the smallest consistent message unit"),
    (["--context-max-chars", "0"], "max_chars is a positive int"), (["--session", "."], "directory"),
    (["--session", "torn.jsonl"], "line 2"),
    (["--script", "absent.json"], "absent.json"), (["--script", "torn.jsonl"], "is no script"),
    (["--script", "short.json"], "script has 0 turns"),
], ids=["a small budget", "no budget", "a folder", "a torn session", "no script", "a script that is none", "a short script"])
def test_what_goes_wrong_is_one_sentence(arguments: list[str], sentence: str, script: Path, tmp_path: Path) -> None:
    session_file(tmp_path / "torn.jsonl", user(), tail=b'{"role":')
    (tmp_path / "short.json").write_text("[]")
    done = command("how many?", "--script", script, *arguments, folder=tmp_path)
    assert done.returncode == 1
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert "how many?" not in done.stderr


def test_an_answer_that_no_terminal_can_show_is_written_with_escapes(tmp_path: Path,
                                                                     capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "script.json"
    script.write_text('[["half \\ud83d"]]', "utf-8")
    assert main(["go", "--script", str(script), "--session", str(tmp_path / "s.jsonl")]) == 0
    assert "half \\ud83d" in capsys.readouterr().out
    assert load_session(tmp_path / "s.jsonl") == [user("go"), says("half \ud83d")]


def test_open_calls_are_closed_from_the_command_line_too(script: Path, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    run_assembled(["how many?", "--session", str(path)], ScriptedModel([[_call(LOOKUP)], ["done"]]))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2]))  # killed inside the tool
    assert command("again", "--session", path, "--script", script, folder=tmp_path).returncode == 0
    closing = load_session(path)[2]
    assert closing == result("c1", closing.content, True)
    assert "outcome unknown" in closing.content
