"""Two command lines over one loop: "the function can do it" and "the command line passes it on" are two facts (chapter 34)."""
import argparse
import csv
import io
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from labsupport.errors import LabError
from labsupport.miniagent.agent import AgentRun, Model, ScriptedModel, Tool, run_agent
from labsupport.miniagent.context import estimate_context_chars
from labsupport.miniagent.messages import ToolCall
from labsupport.own import DATA
from labsupport.strict_json import read_json


def run_cli(argv: Sequence[str], model: Model | None = None) -> AgentRun:
    """The chapter's command line: a prompt, and neither of the two options that the loop has.

    Whatever `run_agent` can do, this run starts empty, writes nothing and sends the whole history. Without *model* it asks
    the scripted one of data/.
    """
    args = argparse.ArgumentParser(prog="labsupport.miniagent --chapter", description="The chapter's command line.")
    args.add_argument("prompt")
    return run_agent(args.parse_args(argv).prompt, model or scripted_model(DATA / "miniagent" / "script.json"), tools())


def run_assembled(argv: Sequence[str], model: Model | None = None) -> AgentRun:
    """The assembled command line: the same loop, with the session file and the budget passed on."""
    args = _parser().parse_args(argv)
    return run_agent(args.prompt, model or scripted_model(args.script), tools(),
                     session_path=args.session, context_max_chars=args.context_max_chars)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m labsupport.miniagent", description="A mini-agent with a scripted model.")
    parser.add_argument("prompt", metavar="PROMPT")
    parser.add_argument("--session", metavar="FILE", type=Path, help="load this session first, and append every message to it")
    parser.add_argument("--context-max-chars", metavar="N", type=int, help="send at most this many characters per request")
    parser.add_argument("--script", metavar="FILE", type=Path, default=DATA / "miniagent" / "script.json",
                        help="the turns of the scripted model (JSON: a list of turns, each a list of texts and calls)")
    parser.add_argument("--chapter", action="store_true", help="the chapter's command line instead: PROMPT and no other option")
    return parser


def scripted_model(path: Path) -> ScriptedModel:
    """The model that the JSON file *path* scripts; LabError when it is no list of turns."""
    try:
        turns = read_json(path.read_bytes())
    except ValueError as error:
        raise LabError(f"{path} is no script: it is not JSON ({error})") from None
    if not isinstance(turns, list) or not all(isinstance(turn, list) and all(map(_is_piece, turn)) for turn in turns):
        raise LabError(f"{path} is no script: that is a list of turns, each a list of texts and of calls {{id, name, input}}")
    return ScriptedModel([[_piece(piece) for piece in turn] for turn in turns])


def _is_piece(piece: Any) -> bool:
    return isinstance(piece, str) or (isinstance(piece, dict) and piece.keys() == {"id", "name", "input"}
                                      and isinstance(piece["id"], str) and isinstance(piece["name"], str))


def _piece(piece: Any) -> str | ToolCall:
    return piece if isinstance(piece, str) else ToolCall(piece["id"], piece["name"], piece["input"])


def tools() -> Mapping[str, Tool]:
    """The tools that the command line gives to the model: they read the tables in data/."""
    return {"sum_column": _sum_column}


def _sum_column(given: Any) -> str:
    """The sum of the column *column* of *file* in data/, over the rows in which each column of *where* has the given text."""
    path = (DATA / given["file"]).resolve()
    if not path.is_relative_to(DATA):
        raise PermissionError("only files in data/ may be read")
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if all(row[key] == text for key, text in given.get("where", {}).items())]
    return f"{sum(int(row[given['column']]) for row in rows)} ({len(rows)} rows)"


class _Watched:
    """A model that says on *out* how large each request is; never what it says."""

    def __init__(self, model: Model) -> None:
        self._model, self._number = model, 0

    def stream(self, messages: Any, tools: Mapping[str, Tool]) -> Any:
        self._number += 1
        count = f"{len(messages)} message{'' if len(messages) == 1 else 's'}"
        print(f"request {self._number}: {count}, {estimate_context_chars(messages)} characters")
        return self._model.stream(messages, tools)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one of the two command lines; 0, or 1 with one sentence on standard error, or 130 when it was interrupted."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that cannot show a character shows its number
    argv = list(sys.argv[1:] if argv is None else argv)
    args = _parser().parse_args(argv)
    try:
        model = _Watched(scripted_model(args.script))
        run = run_cli([arg for arg in argv if arg != "--chapter"], model) if args.chapter else run_assembled(argv, model)
    except (LabError, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted; what was recorded stays", file=sys.stderr)
        return 130
    print(run.messages[-1].content)
    print(f"stopped: {run.stopped}")
    return 0
