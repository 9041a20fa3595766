"""Lab B9's session: what is to be billed is settled, planned and approved, and then one invoice is sent, for real.

Log and ledger lie side by side in one folder. The recording can be stopped at any of its points: behind every event but the
chunks, around every write of the log, and around what `send_invoice` does, also between the row of the invoice and its commit.
"""
import csv
import json
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from sqlite3 import Connection
from typing import Any

from labsupport.outside import Ledger, Metric, Metrics, Operation
from labsupport.own import DATA, own_number
from labsupport.sessionlog import Reply, ScriptedModel, Session, SessionEvent, SessionHeader, run_turn
from labsupport.sessionlog.folding import State
from labsupport.sessionlog.lineage import resume
from labsupport.sessionlog.models import call
from labsupport.sessionlog.query_state import Source, approve, commit, current, log_state, plan, source_at
from labsupport.sessionlog.storage import JsonlStore, barrier, flush
from labsupport.sessionlog.tools import Tool
from labsupport.strict_json import read_json
from labsupport.workbench.business_tools import SEND, approved_only, ask_approval, business_tools, without_key
from labsupport.workbench.mail_task import Point, each_message, slow_writes

ID, LEDGER = "billing", "ledger.db"
CONFIG = {"provider": "workbook", "model": "scripted-1"}
START = 1_772_442_000_000
METRICS = DATA / "metrics.json"
CLINIC, YEAR, PRICE = "harbour", "2025", 4
INVOICE = f"INV-{own_number(2071, 60)}"
PROMPTS = ("Bill Harbour for its tests of last year. 账单按检验次数算。", "The calendar year 2025.", "Send it. 谢谢。")
Stop = Callable[[Point, int], None]
"""Called at every point, with how many events the session has by then."""

NO_TOOLS: Mapping[str, Tool] = {}
CALLED = "c2"
"""The id of the call that sends it."""


# The figure

def rows(year: str = YEAR) -> list[dict[str, str]]:
    """The rows of the table that the invoice is about."""
    with (DATA / "outpatient.csv").open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["clinic"] == CLINIC and row["year"] == year]


def order(metric: Metric | None = None) -> dict[str, Any]:
    """The input of `send_invoice`, by the active definition of a test or by *metric*."""
    metric = metric or Metrics(METRICS).active("tests")
    quantity = metric.value(rows())
    return {"invoice": INVOICE, "customer": CLINIC, "metric": f"{metric.id} v{metric.version}", "quantity": quantity,
            "amount": f"{quantity * PRICE}.00"}


def order_of(state: State) -> dict[str, Any]:
    """The input of `send_invoice`, by the metric of *state*, a query state."""
    metric = state["metric"]
    return order(None if metric is None else Metrics(METRICS).get(metric["value"]["id"], metric["value"]["version"]))


# The recording

def record(folder: str | Path, stop: Stop = lambda point, appended: None, *, with_key: bool = True) -> Session:
    """Record the session in *folder*: its log, and the ledger with one invoice. The same bytes of the log every time.

    Turn 1 looks the metric up and asks what "last year" means; turn 2 settles that and shows the plan; between turns a person
    approves it; turn 3 sends the invoice.
    """
    Path(folder).mkdir(exist_ok=True)
    ledger_of(folder).close()  # it is there before any session is
    times = count(START, 7)
    session = Session.create(ID, header=SessionHeader(ID, created_at=START), clock=lambda: next(times))

    def at(kind: str, name: str = "", number: int = 0) -> None:
        stop(Point(kind, name, number), len(session.events))

    writer = JsonlStore(folder).attach(session, each_message)
    session.observe(lambda event: None if event.type == "assistant/chunk" else at("event", event.type, event.seq))
    tools = _watched(session, folder, with_key, at)
    with slow_writes(at):
        _settle(session, tools)
        send = call(CALLED, "send_invoice", json.dumps(order()))
        ask(session, PROMPTS[2], Reply(calls=[send], size=400), Reply(f"{INVOICE} is out. 账单已发出。", size=400), tools=tools)
        writer.close()
    return session


def settled() -> Session:
    """The first two turns and the approval, in memory: what stands before the invoice is sent."""
    times = count(START, 7)
    session = Session.create(ID, header=SessionHeader(ID, created_at=START), clock=lambda: next(times))
    _settle(session, business_tools(_no_ledger, METRICS))
    return session


def _no_ledger() -> Ledger:
    raise FileNotFoundError("this session has no ledger")


def _settle(session: Session, tools: dict[str, Tool]) -> None:
    """The first two turns, and what the system commits to after each."""
    lookup = call("c1", "lookup_metric", json.dumps({"id": "tests"}))
    question = Reply("Tests without their repeats. By “last year”, do you mean the calendar year 2025?", size=400)
    asked = ask(session, PROMPTS[0], Reply(calls=[lookup], size=400), question, tools=tools)
    answered = latest(session, "tool/result")
    state = commit(current(session), asked, goal="bill a clinic for tests", filters={"clinic": CLINIC},
                   ambiguities=["last year: the calendar year, or the last twelve months?"])
    log_state(session, commit(state, answered, metric=_looked_up(session)))
    bill = order()
    shown_plan = f"The plan: {INVOICE} to {CLINIC}, {bill['quantity']:,} tests of {YEAR}, {bill['amount']}."
    said = ask(session, PROMPTS[1], Reply(shown_plan, size=400))
    shown = latest(session, "assistant/message")
    time = {"calendar": "gregorian", "mode": "calendar-year", "start": f"{YEAR}-01-01", "end": f"{YEAR}-12-31"}
    state = plan(commit(current(session), said, time=time, ambiguities=[]), shown)
    log_state(session, state)
    ask_approval(session, state, bill)
    decided = session.append("approval/decided", {"planHash": state["planHash"]["value"], "decision": "approved"})
    log_state(session, approve(state, source_at(session, decided.seq), state["planHash"]["value"], "ana"))
    flush(session)  # before anybody is told that it is approved


def _looked_up(session: Session) -> dict[str, Any]:
    """The metric that the latest result names: what the service said, not what anybody remembers."""
    said = read_json(last_event(session, "tool/result").data["message"]["content"][0]["content"][0]["text"].encode())
    return {name: said[name] for name in ("id", "version", "status")}


def latest(session: Session, kind: str) -> Source:
    """The latest event of this type, as a source."""
    return source_at(session, last_event(session, kind).seq)


def last_event(session: Session, kind: str) -> SessionEvent:
    """The latest event of this type."""
    return next(event for event in reversed(session.events) if event.type == kind)


def ask(session: Session, prompt: str, *replies: Reply, tools: Mapping[str, Tool] = NO_TOOLS) -> Source:
    """One more turn of *session*, in which the model says *replies*; what the user said, as a source."""
    asked = len(session.events)
    run_turn(session, prompt, ScriptedModel(replies), tools, config=CONFIG, barrier=barrier)
    said = next(event.seq for event in session.events[asked:] if event.type == "user/message")
    return source_at(session, said)


def _watched(session: Session, folder: str | Path, with_key: bool, at: Callable[..., None]) -> dict[str, Tool]:
    """The tools of *session*, with a point before and after `send_invoice`, and one between its row and the commit."""
    class Watched(Ledger):
        def _insert(self, database: Connection, *values: Any) -> Operation:
            made = super()._insert(database, *values)
            at("inserted", "send_invoice")
            return made

    tools = business_tools(lambda: Watched(Path(folder) / LEDGER, lambda: START), METRICS,
                           SEND.key if with_key else without_key)

    def send_invoice(given: Any) -> str:
        at("tool", "send_invoice")
        said = tools["send_invoice"](given)
        at("done", "send_invoice")
        return said

    return {**tools, "send_invoice": approved_only(send_invoice, session)}


# Afterwards

def ledger_of(folder: str | Path) -> Ledger:
    """The ledger of *folder*."""
    return Ledger(Path(folder) / LEDGER, lambda: START)


def invoices(folder: str | Path) -> Sequence[Operation]:
    """The invoices that went out, whatever any log says."""
    with ledger_of(folder) as ledger:
        return ledger.operations("invoice")


def again(folder: str | Path, *, with_key: bool = True) -> Session:
    """What a program does that just tries once more: resume the session in *folder*, and let the model send the invoice again.

    The call has another id than the first one, as it is another call. *with_key* says whether the tool sends a key now.
    """
    store = JsonlStore(folder)
    times = count(START + 60_000, 7)
    session = resume(store, ID, lambda: next(times))
    writer = store.attach(session, each_message)
    send_again(session, folder, with_key=with_key)
    writer.close()
    return session


def send_again(session: Session, folder: str | Path, *, with_key: bool = True, amount: str = "") -> SessionEvent:
    """One more turn of *session*, in which the model calls `send_invoice` once more; the result. *amount* is another one than
    that of the order."""
    tools = business_tools(lambda: ledger_of(folder), METRICS, SEND.key if with_key else without_key)
    guarded = {**tools, "send_invoice": approved_only(tools["send_invoice"], session)}
    bill = order_of(current(session))
    bill = {**bill, "amount": amount or bill["amount"]}
    send = call(f"c{len(session.events)}", "send_invoice", json.dumps(bill))
    ask(session, "Please go on.", Reply(calls=[send], size=400), Reply("Done.", size=400), tools=guarded)
    return last_event(session, "tool/result")
