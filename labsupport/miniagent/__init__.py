"""Chapter 34: a mini-agent whose session is a JSONL file, and the context that a budget leaves of it.

    messages.py  the three messages, and the text that one has on disk
    session.py   what a line is; load and append
    units.py     what must stay together
    context.py   what it costs, and what may be cut
    agent.py     the loop that keeps the two states apart: the record on disk, and what the model is sent
    cli.py       the loop behind a command line, twice: the chapter's, and the assembled one
"""
from labsupport.miniagent.agent import AgentRun, Model, ScriptedModel, Tool, run_agent
from labsupport.miniagent.cli import main, run_assembled, run_cli
from labsupport.miniagent.context import ContextBudget, Fit, estimate_context_chars, message_chars, trim_context
from labsupport.miniagent.messages import AssistantMessage, Message, ToolCall, ToolMessage, UserMessage, message_json
from labsupport.miniagent.session import (
    RecordProblem,
    append_session,
    load_session,
    parse_session_message,
    session_message_problem,
)
from labsupport.miniagent.units import context_units, find_orphans, open_calls

__all__ = [
    "AgentRun", "AssistantMessage", "ContextBudget", "Fit", "Message", "Model", "RecordProblem", "ScriptedModel", "Tool",
    "ToolCall", "ToolMessage", "UserMessage", "append_session", "context_units", "estimate_context_chars", "find_orphans",
    "load_session", "main", "message_chars", "message_json", "open_calls", "parse_session_message", "run_agent",
    "run_assembled", "run_cli", "session_message_problem", "trim_context",
]
