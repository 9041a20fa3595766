"""Two tools that touch the world outside a log: one sends an invoice, the other looks up what a figure means (§4.3, §4.12)."""
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labsupport.outside import Ledger, Metrics, Operation
from labsupport.sessionlog import Session, SessionEvent
from labsupport.sessionlog.folding import State
from labsupport.sessionlog.json_text import field, same_json
from labsupport.sessionlog.query_state import current, may_act
from labsupport.sessionlog.tools import Tool

Clock = Callable[[], int]
KeyOf = Callable[[Any], str | None]


@dataclass(frozen=True)
class Effect:
    """How what a call did is found again outside: its *kind* in the ledger, and the field of the input with its business id."""

    kind: str
    id_field: str

    def business_id(self, given: Any) -> str | None:
        """The business id in the input of a call; None where it has none."""
        found = given.get(self.id_field) if isinstance(given, dict) else None
        return found if isinstance(found, str) and found else None

    def key(self, given: Any) -> str | None:
        """The idempotency key of a call: made of what it is about, so a retry has the same one, whoever makes it and when.

        >>> Effect("invoice", "invoice").key({"invoice": "INV-7", "amount": "12.00"})
        'invoice INV-7'
        """
        found = self.business_id(given)
        return None if found is None else f"{self.kind} {found}"


SEND = Effect("invoice", "invoice")
EFFECTS: dict[str, Effect | None] = {"send_invoice": SEND, "lookup_metric": None}
"""How what a tool did is found outside; None for a tool that only reads, and may simply be called again."""


def without_key(given: Any) -> None:
    """No key: every call is a new effect."""


def business_tools(ledger: Callable[[], Ledger], metrics: Path, key: KeyOf = SEND.key) -> dict[str, Tool]:
    """The tools `send_invoice` and `lookup_metric`; *ledger* opens the ledger for one call, *metrics* is the definitions' file.

    Their results are JSON text. What was done has an `operationId`, by which it is found outside of the log.
    """
    def send_invoice(given: Any) -> str:
        if SEND.business_id(given) is None:
            raise ValueError("an invoice has a number")
        with ledger() as opened:
            return result_of(opened.send("invoice", given, key(given)))

    def lookup_metric(given: Any) -> str:
        id, version = given["id"], given.get("version")
        if not isinstance(id, str):
            raise TypeError("a metric's id is a text")
        known = Metrics(metrics)
        metric = known.active(id) if version is None else known.get(id, version)
        return json.dumps({"id": metric.id, "version": metric.version, "status": metric.status, "words": metric.words})

    return {"send_invoice": send_invoice, "lookup_metric": lookup_metric}


def approved_only(tool: Tool, session: Session) -> Tool:
    """*tool*, which runs only for what was approved: the plan as it is now, and the very order that was asked for with it.

    A plan says what is counted, not what comes of it. So a person approves the order too, and another amount, customer or
    number is another order.
    """
    def run(given: Any) -> str:
        state = current(session)
        if not may_act(state):
            raise PermissionError("no approval of the plan as it is now; make a plan, show it, and ask")
        approved = approved_order(session, state)
        if approved is None or not same_json(given, approved):
            raise PermissionError("another order was approved; show this one, and ask")
        return tool(given)

    return run


def ask_approval(session: Session, state: State, order: Any) -> SessionEvent:
    """Log that a person is asked to approve the plan in *state*, with the *order* that would be sent, amount and all."""
    return session.append("approval/asked", {"planHash": state["planHash"]["value"], "order": order})


def approved_order(session: Session, state: State) -> Any:
    """The order of the approval in *state*: what was asked last, before it was given, with its plan's hash; None where nothing
    was."""
    approval = state["approval"]
    for event in reversed(session.events[:approval["source"]["seq"]]):
        if event.type == "approval/asked" and field(event.read(), "planHash") == approval["value"]["planHash"]:
            return field(event.read(), "order")
    return None


def result_of(operation: Operation) -> str:
    """What a tool says of *operation*."""
    return json.dumps({"operationId": operation.id, "status": operation.status})
