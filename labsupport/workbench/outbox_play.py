"""Lab B8's session: it asked for leave, sent a real mail, was compacted, and can be resumed, forked and replayed."""
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from labsupport.miniagent.cli import tools as table_tools
from labsupport.sessionlog import Reply, ScriptedModel, Session, TurnOutcome, run_turn
from labsupport.sessionlog.models import call
from labsupport.sessionlog.storage import barrier
from labsupport.sessionlog.stream import Block
from labsupport.sessionlog.tools import Tool
from labsupport.workbench.log_studio import Studio

ID, OUTBOX = "reminder", "outbox"
HEADER: dict[str, Any] = {"cwd": "/clinic", "agent_preset": "assistant"}
SYSTEM = "You help with the clinic's tables and mails."
SCHEMAS: dict[str, dict[str, Any]] = {
    "sum_column": {"name": "sum_column", "description": "The sum of a column.", "parameters": {"type": "object"}},
    "send_mail": {"name": "send_mail", "description": "Send a mail, if the user permits it.", "parameters": {"type": "object"}},
}
MAIL = {"to": "wang@clinic.example", "text": "The audit is on Monday."}
SUM = {"file": "outpatient.csv", "column": "count", "where": {"year": "2025"}}
SUM_CALL = "sum_column", json.dumps(SUM)
"""Name and arguments of the call that only reads."""


def record(folder: str | Path) -> None:
    """Record the session in *folder*: its log, and the outbox with the one mail that it sent. The same bytes every time.

    Turn 1 reads a table; between turns the session gets a title; turn 2 sends the mail; then turn 1 is compacted; turn 3.
    """
    studio = Studio(Path(folder), ID, **HEADER)
    tools = mail_tools(studio.session, folder)
    count = table_tools()["sum_column"](SUM).split()[0]

    def ask(prompt: str, *replies: Reply) -> None:
        studio.ask(prompt, replies, tools, system=SYSTEM, tool_schemas=_schemas(tools))

    ask("How many tests were there in 2025? 请用中文回答。", Reply(calls=[call("c1", *SUM_CALL)], size=200),
        Reply(f"2025 年有 {count} 次检验。", size=200))
    studio.session.append("session/title", {"title": "Audit"})
    ask("Please remind Dr. 王 of the audit.", Reply(calls=[mail_call("c2")], size=200), Reply("提醒已发出。", size=200))
    studio.compact(studio.session.surface.nodes[:4], f"The user wants answers in Chinese. Tests in 2025: {count}.")
    ask("Thank you.", Reply("不客气。", size=200))
    studio.writer.close()


def mail_call(id: str) -> Block:
    """The call *id* that sends the mail."""
    return call(id, "send_mail", json.dumps(MAIL))


def mail_tools(session: Session, folder: str | Path) -> dict[str, Tool]:
    """The tools of *session*: one reads a table, the other logs that it was permitted, and puts a mail into the outbox."""
    def send_mail(given: Any) -> str:
        session.append("approval/asked", {"tool": "send_mail"})
        session.append("approval/decided", {"tool": "send_mail", "decision": "approved"})
        outbox = Path(folder) / OUTBOX
        outbox.mkdir(parents=True, exist_ok=True)
        (outbox / f"{mails(folder) + 1}.json").write_text(json.dumps(given, ensure_ascii=False), "utf-8")
        return f"sent to {given['to']}"

    return {"send_mail": send_mail, **table_tools()}


def mails(folder: str | Path) -> int:
    """How many mails lie in the outbox of *folder*, whatever any log says."""
    outbox = Path(folder) / OUTBOX
    return len(list(outbox.iterdir())) if outbox.is_dir() else 0


def ask(session: Session, prompt: str, *replies: Reply, tools: Mapping[str, Tool] | None = None,
        model: str = "scripted-1") -> TurnOutcome:
    """One more turn of *session*: *replies* are what *model* says, *tools* what it may call, by default reading the table."""
    tools = table_tools() if tools is None else tools
    return run_turn(session, prompt, ScriptedModel(replies), tools, config={"provider": "workbook", "model": model},
                    system=SYSTEM, tool_schemas=_schemas(tools), context_window=128_000, barrier=barrier)


def _schemas(tools: Mapping[str, Tool]) -> Sequence[Any]:
    return [SCHEMAS[name] for name in tools]
