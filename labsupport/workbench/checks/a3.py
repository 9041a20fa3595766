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

from labsupport.errors import ContextBudgetError
from labsupport.miniagent import AgentRun, Model, ScriptedModel, estimate_context_chars, load_session, run_agent
from labsupport.miniagent.cli import tools
from labsupport.workbench import samples
from labsupport.workbench.checks.base import Attempt, Verdict, attempt, correct, not_started, untouched, wrong
from labsupport.workbench.text import say

Command = Callable[[Sequence[str], Model], Any]
PROMPT = "How many tests were there in 2025?"
LONG = PROMPT + " " * 100_000  # more than any budget that somebody may have taken for a default
FILE = "session.jsonl"


class Refused(Exception):
    """The command line ended the program, as argparse does with an option that it does not know."""


def check_command(command: Command) -> Verdict:
    """Drive *command* through its argument list, and compare file and requests with what the loop itself makes of them.

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


def _loop(budget: int | None = None) -> tuple[ScriptedModel, AgentRun]:
    """What is right: the loop itself on the prompt, under *budget*, and the model that it asked."""
    model = samples.model()
    return model, run_agent(PROMPT, model, tools(), context_max_chars=budget)


def _run(command: Command, *options: str, prompt: str = PROMPT) -> tuple[Attempt, ScriptedModel]:
    """What *command* gives for *prompt* with *options*, and the model that it was given; argparse's complaint is dropped."""
    model = samples.model()

    def quietly() -> Any:
        try:
            with redirect_stderr(StringIO()), patch.object(sys, "argv", ["command"]):  # no prompt for who reads those instead
                return command([prompt, *options], model)
        except SystemExit as error:
            raise Refused from error

    return attempt(quietly), model


def _failed(it: Attempt, model: ScriptedModel, options: str) -> Verdict | None:
    """What went wrong before the file and the requests can be looked at, if anything."""
    if isinstance(it.error, Refused):
        return wrong("a3_refused", options=options) if options else wrong("a3_refused_plain")
    if it.error:
        return it.verdict(say("a3_case_options", options=options) if options else say("a3_case_plain"))
    if not model.requests:
        return wrong("a3_not_called" if it.value is None else "a3_other_model")
    return None if isinstance(it.value, AgentRun) else wrong("a3_no_run")


def _plain(command: Command) -> Verdict | None:
    """Without options: starts empty, writes nothing, sends the whole history."""
    it, model = _run(command, prompt=LONG)
    if isinstance(it.error, ContextBudgetError):
        return wrong("a3_plain_trimmed")
    failed = _failed(it, model, "")
    if failed is not None:
        return failed
    if any(Path().iterdir()):
        return wrong("a3_plain")
    same = [len(request) for request in model.requests] == [len(request) for request in _loop()[0].requests]
    return None if same else wrong("a3_plain_trimmed")


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
        expected, found = runs * len(_loop()[1].messages), len(load_session(FILE))
        if found != expected:
            return wrong("a3_file_other", runs=runs, expected=expected, found=found)
    return None


def _budget(command: Command) -> Verdict | None:
    """With the budget alone."""
    return _trims(command)


def _both(command: Command) -> Verdict | None:
    """With both: the request is trimmed, the file is whole."""
    verdict = _trims(command, "--session", FILE)
    if verdict is None and (not Path(FILE).exists() or load_session(FILE) != _loop()[1].messages):
        return wrong("a3_both_lost")
    return verdict


def _trims(command: Command, *options: str) -> Verdict | None:
    last = _loop()[0].requests[-1]
    room = estimate_context_chars(last) - 1  # one less than the whole history, so the last request has to be trimmed
    it, model = _run(command, *options, "--context-max-chars", str(room))
    if isinstance(it.error, ValueError | TypeError):
        return wrong("a3_budget_text")
    failed = _failed(it, model, "--context-max-chars")
    if failed is not None:
        return failed
    if model.requests == _loop(room)[0].requests:
        return None
    if options:
        return wrong("a3_both_lost")
    return wrong("a3_budget_lost", budget=room, sent=estimate_context_chars(model.requests[-1]))
