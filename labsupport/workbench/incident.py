"""The fault of the chapter's interview question: after a compaction an agent sends a notification that it had sent before."""
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from labsupport.outside import Ledger, Operation
from labsupport.sessionlog import Reply, Request, ScriptedModel, Session, SessionHeader, run_turn
from labsupport.sessionlog.compaction import compact
from labsupport.sessionlog.compaction_report import compaction_ids, compaction_report
from labsupport.sessionlog.json_text import field
from labsupport.sessionlog.models import Model, call
from labsupport.sessionlog.recovery import NOT_STARTED, OUTCOME_UNKNOWN
from labsupport.sessionlog.stream import Chunk
from labsupport.sessionlog.summarizers import ScriptedSummarizer
from labsupport.workbench.business_tools import result_of
from labsupport.workbench.invoice_task import CONFIG, LEDGER, START

NOTICE = {"notice": "N-17", "to": "harbour", "text": "The audit is on Monday. 请准备材料。"}
PROMPT, AGAIN = "Tell Harbour that the audit is on Monday. 通知一次就够。", "Does Harbour know? If not, tell them."
LOST = "The user cares about Harbour and the audit on Monday. Harbour was to be told, and that was seen to."
KEPT = "Harbour is to be told of the audit on Monday, once: 通知一次就够。 Done: notice N-17, operation op-0001."
"""Two summaries of the first turn: one has lost the operation, the other keeps it."""


class Messenger:
    """A scripted policy as a model: it sends the notice unless it reads of an operation, and says what came of it."""

    def stream(self, request: Request) -> Iterator[Chunk]:
        """The chunks of its answer."""
        known = "op-" in json.dumps([message["content"] for message in request.messages])
        send = call(f"c{len(request.messages)}", "send_notice", json.dumps(NOTICE))
        reply = Reply("Harbour was told.", size=400) if known else Reply(calls=[send], size=400)
        return iter(reply.chunks())


@dataclass(frozen=True)
class Incident:
    """What lies there afterwards: the *session*, and the *operations* in the ledger."""

    session: Session
    operations: Sequence[Operation]


def happen(folder: str | Path, *, summary: str = LOST, with_key: bool = False) -> Incident:
    """Three turns in *folder*, a new one: the notice goes out; small talk; then *summary* takes their place; the user asks."""
    Path(folder).mkdir()
    times = count(START, 7)
    session = Session.create("notices", header=SessionHeader("notices", created_at=START), clock=lambda: next(times))
    with Ledger(Path(folder) / LEDGER, lambda: START) as ledger:
        def send_notice(given: Any) -> str:
            return result_of(ledger.send("notice", given, given["notice"] if with_key else None))

        def ask(prompt: str, model: Model) -> None:
            run_turn(session, prompt, model, {"send_notice": send_notice}, config=CONFIG)

        ask(PROMPT, Messenger())
        ask("And what else is on? " * 8, ScriptedModel([Reply("Nothing else this week. " * 8, size=400)]))
        nodes = session.surface.nodes
        compact(session, nodes[0], nodes[-1], ScriptedSummarizer([summary], CONFIG["provider"], CONFIG["model"]))
        ask(AGAIN, Messenger())
        return Incident(session, ledger.operations("notice"))


@dataclass(frozen=True)
class Evidence:
    """The five places where the cause may lie, each as the log or the ledger shows it."""

    shadowed: tuple[int, ...]
    """The range: the seqs that the compaction took off the surface."""
    result: int
    """The first result that names an operation, and whether the range took it."""
    summary: int
    """The seq of the summary, and whether it names the operation."""
    kept: bool
    keys: tuple[str | None, ...]
    """The keys of the operations outside."""
    interrupted: tuple[int, ...]
    """The results that recovery wrote."""

    @property
    def hidden(self) -> bool:
        """Whether the range took the result off the surface."""
        return self.result in self.shadowed


def evidence(incident: Incident) -> Evidence:
    """Look at range, summary, results, the ledger, and recovery."""
    events, first = incident.session.events, incident.operations[0].id
    report = compaction_report(events, compaction_ids(events)[0])
    results = [event for event in events if event.type == "tool/result"]
    summary = events[report.writer.seqs[0]]
    return Evidence(
        report.nodes.seqs, next(event.seq for event in results if first in json.dumps(event.read())), summary.seq,
        first in json.dumps(summary.read()["summary"]), tuple(operation.key for operation in incident.operations),
        tuple(event.seq for event in results
              if field(field(event.read(), "error"), "code") in (NOT_STARTED, OUTCOME_UNKNOWN)))
