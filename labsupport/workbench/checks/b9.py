"""The check of lab B9: a tool that may be called again, whatever died, and whoever else calls it."""
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from labsupport.errors import LedgerConflictError
from labsupport.outside import Ledger, Operation
from labsupport.sessionlog import Reply, ScriptedModel, Session, SessionEvent, interrupted_turn_closers, run_turn
from labsupport.sessionlog.models import call
from labsupport.workbench.checks.base import Attempt, Verdict, attempt, correct, not_started, untouched, wrong
from labsupport.workbench.text import say

ORDER = {"invoice": "INV-7", "customer": "harbour", "amount": "40.00"}
TIME = 1_772_442_000_000


@dataclass
class Try:
    """What the tool knows of the call that it runs for: the call's id, the time, and the events of the log so far."""

    call_id: str
    time: int
    _events: Sequence[SessionEvent]
    looked: list[bool] = field(default_factory=list, repr=False)

    @property
    def events(self) -> Sequence[SessionEvent]:
        """The log as it is when the tool is called."""
        self.looked.append(True)
        return self._events


Send = Callable[[Ledger, Any, Try], Any]


def check_send(send: Send) -> Verdict:
    """Let *send* send invoices, and kill, repeat and double its calls: the plainest case first."""
    if untouched(send, lambda ledger, order, attempt: None):
        return not_started()
    for case in (_once, _retried, _two_invoices, _at_once, _changed):
        verdict = case(send)
        if verdict is not None:
            return verdict
    return correct()


@contextmanager
def _ledger(kind: type[Ledger] = Ledger) -> Iterator[Ledger]:
    with TemporaryDirectory() as folder, kind(Path(folder) / "ledger.db", lambda: TIME) as ledger:
        yield ledger


def _logs() -> tuple[list[SessionEvent], list[SessionEvent]]:
    """The log as a tool sees it that is called for the first time, and as a retry sees it after a death in the tool."""
    session, seen = Session.create("case"), list[SessionEvent]()

    def die(given: Any) -> str:
        seen.extend(session.events)
        raise KeyboardInterrupt

    model = ScriptedModel([Reply(calls=[call("c1", "send_invoice", "{}")])])
    with suppress(KeyboardInterrupt):
        run_turn(session, "Send it.", model, {"send_invoice": die}, config={"provider": "workbook", "model": "scripted-1"})
    return seen, [*session.events, *interrupted_turn_closers(session.events)]


def _once(send: Send) -> Verdict | None:
    first, after = _logs()
    for words, events, nothing in (("b9_case_once", first, "b9_wrong_nothing"), ("b9_case_before", after, "b9_wrong_never")):
        with _ledger() as ledger:
            it, sent = attempt(send, ledger, dict(ORDER), Try("c1", TIME, events)), ledger.operations()
        if it.error:
            return it.verdict(say(words))
        if not sent:
            return wrong(nothing, case=say(words))
        if len(sent) > 1:
            return wrong("b9_wrong_no_key", case=say(words), n=len(sent))
        if sent[0].kind != "invoice" or sent[0].payload != ORDER:
            return wrong("b9_wrong_payload", case=say(words))
        if it.value != sent[0].id:
            return wrong("b9_wrong_value", case=say(words))
    return None


def _retried(send: Send) -> Verdict | None:
    """The invoice went out, and is sent again: by the same call, by another one, and later."""
    first, after = _logs()
    one = Try("c1", TIME, first)
    retries = {"b9_case_same": Try("c1", TIME, after), "b9_case_call": Try("c9", TIME, after),
               "b9_case_later": Try("c1", TIME + 60_000, after)}
    causes = {"b9_case_call": "b9_wrong_call_id", "b9_case_later": "b9_wrong_clock"}
    for words, again in retries.items():
        its, sent = _sent(send, (ORDER, one), (ORDER, again))
        if len(sent) > 1:
            keyless = "b9_wrong_log" if again.looked else "b9_wrong_no_key"
            cause = causes.get(words) or (keyless if sent[0].key is None else "b9_wrong_random")
            return wrong(cause, case=say(words), n=len(sent))
        if its[-1].error:
            return its[-1].verdict(say(words))
        if its[-1].value != sent[0].id:
            return wrong("b9_wrong_value", case=say(words))
    return None


def _two_invoices(send: Send) -> Verdict | None:
    one = Try("c1", TIME, _logs()[0])
    its, sent = _sent(send, (ORDER, one), ({**ORDER, "invoice": "INV-8"}, replace(one, call_id="c2", time=TIME + 1)))
    if len(sent) < 2:
        return wrong("b9_wrong_merged", case=say("b9_case_two"))
    return next((it.verdict(say("b9_case_two")) for it in its if it.error), None)


def _changed(send: Send) -> Verdict | None:
    first, after = _logs()
    its, sent = _sent(send, (ORDER, Try("c1", TIME, first)), ({**ORDER, "amount": "50.00"}, Try("c2", TIME + 1, after)))
    if len(sent) > 1:
        return wrong("b9_wrong_content", case=say("b9_case_changed"))
    if its[-1].error is None:
        return wrong("b9_wrong_swallowed", case=say("b9_case_changed"))
    return None if isinstance(its[-1].error, LedgerConflictError) else its[-1].verdict(say("b9_case_changed"))


def _at_once(send: Send) -> Verdict | None:
    """While a first process looks into the ledger, a second one comes, looks and sends."""
    def meet() -> None:
        if not met:
            met.append(True)
            attempt(send, ledger, dict(ORDER), Try("c2", TIME, first))

    class Busy(Ledger):
        def find(self, key: str) -> Operation | None:
            found = super().find(key)
            meet()
            return found

        def operations(self, kind: str | None = None) -> list[Operation]:
            found = super().operations(kind)
            meet()
            return found

    met, first = list[bool](), _logs()[0]
    with _ledger(Busy) as ledger:
        it = attempt(send, ledger, dict(ORDER), Try("c1", TIME, first))
        sent = ledger.operations()
    if len(sent) > 1:
        return wrong("b9_wrong_race", case=say("b9_case_at_once"), n=len(sent))
    return it.verdict(say("b9_case_at_once")) if it.error else None


def _sent(send: Send, *calls: tuple[dict[str, str], Try]) -> tuple[list[Attempt], list[Operation]]:
    """What *send* gave for each of *calls*, and the operations in the ledger afterwards."""
    with _ledger() as ledger:
        return [attempt(send, ledger, dict(order), known) for order, known in calls], ledger.operations()
