"""The check of lab A3: does the command line pass its two options on?"""
import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import chdir, redirect_stderr
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from labsupport.miniagent import AgentRun, Model, ScriptedModel, estimate_context_chars, load_session
from labsupport.workbench import samples
from labsupport.workbench.checks.base import Attempt, Verdict, attempt, correct, not_started, untouched, wrong
from labsupport.workbench.sample_talks import SHORT
from labsupport.workbench.text import say

Command = Callable[[Sequence[str], Model], Any]
PROMPT, TURNS = SHORT[0]
WHOLE = samples.load("short")
FILE = "session.jsonl"


class Refused(Exception):
    """The command line ended the program, as argparse does with an option that it does not know."""


def check_command(command: Command) -> Verdict:
    """Drive *command* through its argument list, and look at the file and at the requests.

    It is tried without options, then with each of the two, then with both, in an empty folder each time.
    """
    passed = correct()  # said here: in the empty folder nothing tells the notebook's language
    if untouched(command, _stub):
        return not_started()
    for case in (_plain, _session, _budget, _both):
        with TemporaryDirectory() as folder, chdir(folder):
            verdict = case(command)
        if verdict is not None:
            return verdict
    return passed


def _stub(argv: Sequence[str], model: Model) -> None:  # no docstring: it has to be the learner's own
    parser = argparse.ArgumentParser()
    parser.add_argument("prompt")


def _run(command: Command, *options: str) -> tuple[Attempt, ScriptedModel]:
    """What *command* gives for the prompt with *options*, and the model that it asked; argparse's own complaint is dropped."""
    model = ScriptedModel(TURNS)

    def quietly() -> Any:
        try:
            with redirect_stderr(StringIO()), patch.object(sys, "argv", ["command"]):  # no prompt for who reads those instead
                return command([PROMPT, *options], model)
        except SystemExit as error:
            raise Refused from error

    return attempt(quietly), model


def _failed(it: Attempt, model: ScriptedModel, options: str) -> Verdict | None:
    """What went wrong before the file and the requests can be looked at, if anything."""
    if isinstance(it.error, Refused):
        return wrong("a3_refused", options=options) if options else wrong("a3_refused_plain")
    if it.error:
        return it.verdict(say("a3_case_options", options=options) if options else say("a3_case_plain"))
    if not isinstance(it.value, AgentRun):
        return wrong("a3_no_run" if model.requests else "a3_not_called")
    return None


def _plain(command: Command) -> Verdict | None:
    """Without options: starts empty, writes nothing, sends the whole history."""
    it, model = _run(command)
    failed = _failed(it, model, "")
    if failed is not None:
        return failed
    if any(Path().iterdir()):
        return wrong("a3_plain")
    return None if [*map(list, model.requests)][1:] == [it.value.messages[:3]] else wrong("a3_plain_trimmed")


def _session(command: Command) -> Verdict | None:
    """With the file alone: two runs, the second goes on where the first stopped."""
    for runs in (1, 2):
        it, model = _run(command, "--session", FILE)
        if isinstance(it.error, ValueError):
            return wrong("a3_swapped")
        failed = _failed(it, model, "--session")
        if failed is not None:
            return failed
        if not Path(FILE).exists():
            return wrong("a3_session_lost")
        expected, found = runs * len(WHOLE), len(load_session(FILE))
        if found != expected:
            return wrong("a3_file_other", runs=runs, expected=expected, found=found)
    return None


def _budget(command: Command) -> Verdict | None:
    """With the budget alone: room for the round of calls, but not for the question before it."""
    return _trims(command)


def _both(command: Command) -> Verdict | None:
    """With both: the request is trimmed, the file is whole."""
    verdict = _trims(command, "--session", FILE)
    if verdict is None and len(load_session(FILE)) != len(WHOLE):
        return wrong("a3_both_lost")
    return verdict


def _trims(command: Command, *options: str) -> Verdict | None:
    room = estimate_context_chars(WHOLE[1:3]) + 40  # the question costs more than that
    it, model = _run(command, *options, "--context-max-chars", str(room))
    if isinstance(it.error, ValueError | TypeError):
        return wrong("a3_budget_text")
    failed = _failed(it, model, "--context-max-chars")
    if failed is not None:
        return failed
    if [len(request) for request in model.requests] == [1, 2]:
        return None
    if options:
        return wrong("a3_both_lost")
    return wrong("a3_budget_lost", budget=room, sent=estimate_context_chars(model.requests[-1]))
