"""The check of lab B9: a tool that may be called again, whatever died, and whoever else calls it."""
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from labsupport.errors import LabError, LedgerConflictError
from labsupport.outside import Ledger, Operation
from labsupport.own import SEED, own_number, own_random
from labsupport.sessionlog import Reply, ScriptedModel, Session, SessionEvent, interrupted_turn_closers, run_turn
from labsupport.sessionlog.models import call
from labsupport.workbench.checks.base import Attempt, Verdict, attempt, correct, not_started, untouched, wrong
from labsupport.workbench.elsewhere import call_elsewhere
from labsupport.workbench.text import say

TIME = 1_704_013_200_000
"""The last morning of a year, and a Sunday: two days later hour, day, week, month and year are others."""
LATER = TIME + 2 * 86_400_000
SERIES = str(own_random("series").randint(10, 99)) if SEED else ""
"""What a student's numbers all begin with."""


def _number(number: int, kind: str = "INV") -> str:
    """The *number* of an invoice, or of another *kind* of thing."""
    return f"{kind}-{SERIES}{number}"


NUMBER = _number(20)
OTHERS = (_number(21), _number(31), _number(210), _number(20, "CRN"), _number(20, "账单"), *map(_number, range(300, 320)))
"""Numbers that share their beginning, end or digits with NUMBER, and enough of them to meet in a hash that was cut short."""


@dataclass(frozen=True)
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
Order = dict[str, str]


def check_send(send: Send) -> Verdict:
    """Let *send* send invoices, and kill, repeat and double its calls: the plainest case first, new processes last."""
    if untouched(send, lambda ledger, order, attempt: None):
        return not_started()
    for case in (_once, _retried, _other_invoices, _at_once, _changed, _elsewhere):
        verdict = case(send)
        if verdict is not None:
            return verdict
    return correct()


def _order(number: str, **other: str) -> Order:
    """Each case has numbers of its own: what a function kept in memory is of no use in the next."""
    return {"invoice": number, "customer": "harbour", "amount": f"{own_number(40, 4)}.00", **other}


def _log(session: Session) -> list[SessionEvent]:
    """The log as a tool sees it that is called in one more turn of *session*; the process dies in it."""
    seen = list[SessionEvent]()

    def die(given: Any) -> str:
        seen.extend(session.events)
        raise KeyboardInterrupt

    model = ScriptedModel([Reply(calls=[call("c1", "send_invoice", "{}")])])
    with suppress(KeyboardInterrupt):
        run_turn(session, "Send it.", model, {"send_invoice": die}, config={"provider": "workbook", "model": "scripted-1"})
    return seen


def _logs() -> tuple[list[SessionEvent], list[SessionEvent]]:
    """The log at a first call, and at a retry: the same session, recovered and resumed after a death in the tool."""
    session = Session.create("case", clock=lambda: TIME)
    first = _log(session)
    resumed = Session.create("case", seed=[*session.events, *interrupted_turn_closers(session.events)], clock=lambda: LATER)
    return first, _log(resumed)


@dataclass(frozen=True)
class Ran:
    """What *send* gave for each call, the *operations* in the ledger afterwards, and whether the orders are as they were."""

    its: list[Attempt]
    operations: list[Operation]
    kept: bool

    @property
    def invoices(self) -> list[Operation]:
        return [done for done in self.operations if done.kind == "invoice"]


def _ran(send: Send, *calls: tuple[Order, Try]) -> Ran:
    with TemporaryDirectory() as folder, Ledger(Path(folder) / "ledger.db", lambda: TIME) as ledger:
        orders = [dict(order) for order, _ in calls]
        its = [attempt(send, ledger, order, known) for order, (_, known) in zip(orders, calls, strict=True)]
        return Ran(its, ledger.operations(), orders == [order for order, _ in calls])


def _once(send: Send) -> Verdict | None:
    first, after = _logs()
    for words, number, events, nothing in (("b9_case_once", _number(1), first, "b9_wrong_nothing"),
                                           ("b9_case_before", _number(2), after, "b9_wrong_never")):
        order = _order(number)
        ran = _ran(send, (order, Try("c1", TIME, events)))
        if ran.its[0].error:
            return ran.its[0].verdict(say(words))
        if not ran.operations:
            return wrong(nothing, case=say(words))
        if len(ran.operations) > 1:
            return wrong("b9_wrong_extra", case=say(words), n=len(ran.operations))
        done = ran.operations[0]
        if done.kind != "invoice" or done.payload != order:
            return wrong("b9_wrong_payload", case=say(words))
        if not ran.kept:
            return wrong("b9_wrong_mutated", case=say(words))
        if ran.its[0].value != done.id:
            return wrong("b9_wrong_value", case=say(words), id=done.id)
    return None


def _retried(send: Send) -> Verdict | None:
    """The invoice went out, and is sent again; one thing is another one at each retry, so it is known what a key depends on."""
    first, after = _logs()
    elsewhere = _log(Session.create("other", clock=lambda: LATER))
    one = Try("c1", TIME, first)
    retries = (("b9_case_same", one, "b9_wrong_random"), ("b9_case_log", replace(one, _events=after), "b9_wrong_log_key"),
               ("b9_case_session", replace(one, _events=elsewhere), "b9_wrong_log_key"),
               ("b9_case_call", replace(one, call_id="c9"), "b9_wrong_call_id"),
               ("b9_case_later", replace(one, time=LATER), "b9_wrong_clock"))
    for at, (words, again, cause) in enumerate(retries):
        order, again = _order(_number(10 + at)), replace(again, looked=[])
        ran = _ran(send, (order, one), (order, again))
        if len(ran.invoices) > 1:
            keyless = "b9_wrong_log" if again.looked else "b9_wrong_no_key"
            return wrong(keyless if ran.invoices[0].key is None else cause, case=say(words), n=len(ran.invoices))
        verdict = _one(ran, words)
        if verdict is not None:
            return verdict
    return None


def _one(ran: Ran, words: str) -> Verdict | None:
    """What is wrong, if anything, where one invoice has to be there, and the last call has to give its id."""
    if ran.its[-1].error:
        return ran.its[-1].verdict(say(words))
    if len(ran.operations) != 1:
        return wrong("b9_wrong_extra", case=say(words), n=len(ran.operations))
    done = ran.operations[0].id
    return wrong("b9_wrong_value", case=say(words), id=done) if ran.its[-1].value != done else None


def _other_invoices(send: Send) -> Verdict | None:
    """Nothing but the number tells them apart. At last the first one is sent again, when it is not the latest any more."""
    first = _logs()[0]
    numbers = (NUMBER, *OTHERS, NUMBER)
    ran = _ran(send, *((_order(number), Try(f"c{at}", TIME + at, first)) for at, number in enumerate(numbers)))
    sent = {done.payload["invoice"]: done.id for done in ran.invoices}
    for number, it in zip(numbers, ran.its, strict=True):
        if number not in sent:
            met = it.error.id if isinstance(it.error, LedgerConflictError) else it.value
            other = next((other for other, id in sent.items() if id == met), numbers[0])
            return wrong("b9_wrong_merged", case=say("b9_case_two", one=other, other=number), number=number)
        words = say("b9_case_two", one=numbers[0], other=OTHERS[0] if number == numbers[0] else number)
        if it.error:
            return it.verdict(words)
        if it.value != sent[number]:
            return wrong("b9_wrong_other_id", case=words, number=number, id=sent[number])
    return None


def _at_once(send: Send) -> Verdict | None:
    """While a first process looks into the ledger, a second one comes, looks and sends."""
    def meet() -> None:
        if not met:
            met.append(True)
            attempt(send, ledger, _order(_number(50)), Try("c2", TIME, first))

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
    with TemporaryDirectory() as folder, Busy(Path(folder) / "ledger.db", lambda: TIME) as ledger:
        it = attempt(send, ledger, _order(_number(50)), Try("c1", TIME, first))
        met.append(True)
        ran = Ran([it], ledger.operations(), True)
    if len(ran.invoices) > 1:
        return wrong("b9_wrong_race", case=say("b9_case_at_once"), n=len(ran.invoices))
    return _one(ran, "b9_case_at_once")


def _changed(send: Send) -> Verdict | None:
    first, after = _logs()
    for words, number, other in (("b9_case_amount", _number(40), {"amount": f"{own_number(50, 4)}.00"}),
                                 ("b9_case_customer", _number(41), {"customer": "hillside"})):
        ran = _ran(send, (_order(number), Try("c1", TIME, first)), (_order(number, **other), Try("c2", TIME + 1, after)))
        if len(ran.invoices) > 1:
            cause = "b9_wrong_no_key" if ran.invoices[0].key is None else "b9_wrong_content"
            return wrong(cause, case=say(words), n=len(ran.invoices))
        if ran.its[-1].error is None:
            return wrong("b9_wrong_swallowed", case=say(words))
        if not isinstance(ran.its[-1].error, LedgerConflictError):
            return ran.its[-1].verdict(say(words))
    return None


def _elsewhere(send: Send) -> Verdict | None:
    """The process that sent it is gone. A new one tries again two days later, by its own clock and by the computer's."""
    first, after = _logs()
    case, order = say("b9_case_process"), _order(_number(60))
    with TemporaryDirectory() as folder, Ledger(Path(folder) / "ledger.db", lambda: TIME) as ledger:
        def there(known: Try, name: str, seed: int, days: int = 0) -> tuple[Any, str]:
            place = ledger.path.with_name(name)  # another process may run on another machine
            place.mkdir()
            answer: tuple[Any, str] = call_elsewhere(_send_there, send, ledger.path, order, known, folder=place,
                                                     hash_seed=seed, days=days)
            return answer

        try:
            (_, said), (given, later) = there(Try("c1", TIME, first), "one", 1), there(Try("c9", LATER, after), "two", 2, 2)
            sent = ledger.operations()
            if len(sent) > 1:  # the same once more on the first day: is it the day, or the process?
                there(Try("c9", LATER, after), "three", 3)
                same = len(ledger.operations()) == len(sent)
                return wrong("b9_wrong_wall_clock" if same else "b9_wrong_process", case=case, n=len(sent))
        except LabError as error:
            said, later = str(error), ""
    if said or later:
        return wrong("check_raised", case=case, error=said or later)
    if not sent:
        return wrong("b9_wrong_nothing", case=case)
    return wrong("b9_wrong_value", case=case, id=sent[0].id) if given != sent[0].id else None


def _send_there(send: Send, path: Path, order: Order, known: Try) -> tuple[Any, str]:
    """In the new process: what *send* gave, if that is a text, and the error in words."""
    with Ledger(path, lambda: TIME) as ledger:
        it = attempt(send, ledger, order, known)
    return it.value if isinstance(it.value, str) else None, it.said
