"""Lab B4's task: one of its two tools changes the world, and the log is written while it does.

The recording can be stopped at any of its points: behind every event, before and after every write and in the middle of it,
and around what a tool does. Nothing here needs pandas, so that a process of its own starts fast.
"""
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from labsupport import system
from labsupport.miniagent.cli import tools as table_tools
from labsupport.sessionlog import Session, SessionHeader
from labsupport.sessionlog.driver import run_turn
from labsupport.sessionlog.models import Reply, ScriptedModel, call
from labsupport.sessionlog.storage import JsonlStore, Policy, barrier, files
from labsupport.sessionlog.tools import Tool

ID = "mail"
CONFIG = {"provider": "workbook", "model": "scripted-1"}
START = 1_772_442_000_000
PROMPT = "Please remind Dr. 王 of the audit, and count the tests of 2025."
MAIL = {"to": "wang@clinic.example", "text": "The audit is on Monday."}
SUM = {"file": "outpatient.csv", "column": "count", "where": {"year": "2025"}}
OUTBOX, RAN = "outbox.jsonl", "ran.txt"

each_message = Policy("each answer of the model, and barriers", lambda event: event.type == "assistant/message", barriers=True)
"""Writes when the model has answered, as many programs do, and where the loop asks for it."""


class Point(NamedTuple):
    """A moment of the recording. Its *kind* is event (*name* is the type, *number* the seq), write, half or written (before, in
    the middle of and after write *number*), tool or done (around what the tool *name* does)."""

    kind: str
    name: str = ""
    number: int = 0


Stop = Callable[[Point, int], None]
"""Called at every point, with how many events are durable by then."""


def record(folder: Path, stop: Stop = lambda point, durable: None, *, barrier_before_tools: bool = True) -> None:
    """Record the task in *folder*: its log, the outbox, and beside them a note of every tool that was started.

    The same bytes every time. *barrier_before_tools* false leaves out the one barrier that this lab is about.
    """
    times = count(START, 7)
    session = Session.create(ID, header=SessionHeader(ID, created_at=START), clock=lambda: next(times))
    writer = JsonlStore(folder).attach(session, each_message)

    def at(kind: str, name: str = "", number: int = 0) -> None:
        stop(Point(kind, name, number), len(session.events) - writer.waiting)

    session.observe(lambda event: at("event", event.type, event.seq))
    watched = {name: _watched(name, tool, folder, at) for name, tool in tools(folder).items()}
    calls = [call("c1", "send_mail", json.dumps(MAIL)), call("c2", "sum_column", json.dumps(SUM))]
    answer = f"The reminder is out. In 2025 there were {table_tools()['sum_column'](SUM).split()[0]} tests."
    model = ScriptedModel([Reply(calls=calls, size=200), Reply(answer, size=200)])
    with slow_writes(at):
        run_turn(session, PROMPT, model, watched, config=CONFIG, barrier=barrier, barrier_before_tools=barrier_before_tools)
        writer.close()


def tools(folder: Path) -> dict[str, Tool]:
    """The two tools: one puts a mail in the outbox, which cannot be undone, the other only reads a table."""
    def send_mail(given: Any) -> str:
        _note(folder / OUTBOX, json.dumps(given, ensure_ascii=False))
        return f"sent to {given['to']}"

    return {"send_mail": send_mail, **table_tools()}


def outbox(folder: Path | str) -> list[dict[str, str]]:
    """The mails that went out, whatever any log says."""
    return [json.loads(line) for line in _notes(Path(folder) / OUTBOX)]


def ran(folder: Path | str) -> list[str]:
    """The tools that were started, as a witness outside of the log noted them."""
    return _notes(Path(folder) / RAN)


def _watched(name: str, tool: Tool, folder: Path, at: Callable[..., None]) -> Tool:
    def run(given: Any) -> str:
        _note(folder / RAN, name)
        at("tool", name)
        text = tool(given)
        at("done", name)
        return text

    return run


def _note(path: Path, line: str) -> None:
    with path.open("a", encoding="utf-8", newline="\n") as file:
        file.write(line + "\n")


def _notes(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines() if path.exists() else []


@contextmanager
def slow_writes(at: Callable[..., None]) -> Iterator[None]:
    """Every write of the store in two halves, with a point before, between and after them."""
    whole, numbers = files.write_all, count(1)

    def write(fd: int, data: bytes) -> None:
        number = next(numbers)
        at("write", "", number)
        whole(fd, data[:len(data) // 2])
        at("half", "", number)
        whole(fd, data[len(data) // 2:])
        at("written", "", number)

    files.write_all = system.write_all = write  # a new file is made in one place, a log goes on in the other
    try:
        yield
    finally:
        files.write_all = system.write_all = whole
