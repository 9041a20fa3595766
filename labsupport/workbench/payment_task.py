"""Lab B5's task: the bookings of a month are looked through and one invoice is paid; log and ledger lie side by side."""
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

from labsupport.outside.ledger import Ledger
from labsupport.own import own_seed
from labsupport.sessionlog import Reply, Request, ScriptedModel, Session, SessionHeader, run_turn
from labsupport.sessionlog.models import Model, call
from labsupport.sessionlog.recovery import blocks
from labsupport.sessionlog.storage import JsonlStore
from labsupport.sessionlog.stream import Chunk
from labsupport.sessionlog.tools import Tool
from labsupport.workbench.compactions import spoken

ID = "payment"
CONFIG = {"provider": "workbook", "model": "scripted-1"}
SYSTEM = "You keep the books of a clinic. Amounts and operation ids come from tools alone."
START = 1_772_442_000_000
SUPPLIERS = ("Nanshan Lab", "Harbour Glass", "Wren Textiles", "海澄试剂", "Lantern Print")
INVOICE, AMOUNT = "INV-2061", "1,480.00"
DUE = {"INV-2062": "2026-07-15"}
OPERATION = r"op-\d+"
AGAIN = f"Has {INVOICE} been paid? If not, pay it: {AMOUNT}."
ROWS = 240
"""Bookings in June: a result that is longer than what pruning leaves."""


def record(folder: str | Path, with_key: bool = False) -> Session:
    """Record the session in *folder*: four turns, fifteen messages, one payment; the same every time.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     session = record(folder)
    >>> len(session.surface.nodes)
    15
    """
    Path(folder).mkdir(exist_ok=True)
    times = count(START, 7)
    session = Session.create(ID, header=SessionHeader(ID, created_at=START), clock=lambda: next(times))
    writer = JsonlStore(folder).attach(session)
    for prompt, replies in _turns():
        ask(session, prompt, ScriptedModel(replies), folder, with_key=with_key)
    writer.close()
    return session


def _turns() -> Iterator[tuple[str, Sequence[Reply]]]:
    yield ("Go through the bookings of June. 规矩：不要给供应商发邮件。", [
        calls(("c1", "list_bookings", {"month": "2026-06"})),
        says("Two invoices are open: INV-2061 (Nanshan Lab, 1,840.00) and INV-2062 (Harbour Glass, 260.50).")])
    yield (f"Pay {INVOICE}. Correction: the right amount is {AMOUNT}, not 1,840.00.", [
        calls(("c2", "pay", {"invoice": INVOICE, "amount": AMOUNT})),
        says(f"{INVOICE} is paid.")])
    yield ("Are INV-2062 and INV-2063 due? 陈会计 at 138 0013 8000 may know more.", [
        calls(("c3", "due", {"invoice": "INV-2062"}), ("c4", "due", {"invoice": "INV-2063"})),
        says("INV-2062 is due on 15 July. INV-2063 is not in the books. Next: chart June by supplier.")])
    yield ("谢谢，先到这里。", [says("好的。")])


def calls(*asked: tuple[str, str, Any]) -> Reply:
    """A message that asks for tools: of each call the id, the name and what is given."""
    return Reply(calls=[call(id, name, json.dumps(given)) for id, name, given in asked], size=400)


def says(text: str) -> Reply:
    """A message without calls."""
    return Reply(text, size=400)


def ask(session: Session, prompt: str, model: Model | str, folder: str | Path, *, with_key: bool = False,
        before_request: Callable[[Session], object] = lambda session: None) -> None:
    """One more turn of *session*; *model* may be what it says. What is paid is paid in *folder*.

    *before_request* may prune the session, or compact it.
    """
    model = ScriptedModel([says(model)]) if isinstance(model, str) else model
    run_turn(session, prompt, model, tools(folder, with_key), config=CONFIG, system=SYSTEM,
             barrier=lambda session: _done(before_request(session)))


def _done(result: object) -> None:
    """A barrier gives nothing back."""


# The tools, and the world

def tools(folder: str | Path, with_key: bool = False) -> dict[str, Tool]:
    """The three tools. `pay` moves money; *with_key* it tells the ledger what it pays for, and the ledger pays that once."""
    def pay(given: Any) -> str:
        with _ledger(folder) as ledger:
            paid = ledger.send("payment", given, f"pay {given['invoice']}" if with_key else None)
        return f"accepted: {given['invoice']}, {given['amount']}, operation {paid.id}"

    def due(given: Any) -> str:
        if given["invoice"] not in DUE:
            raise KeyError(f"{given['invoice']} is not in the books")
        return f"{given['invoice']}: open, due {DUE[given['invoice']]}"

    return {"list_bookings": lambda given: bookings(ROWS, given["month"]), "pay": pay, "due": due}


def payments(folder: str | Path) -> list[str]:
    """The ids of the payments in the ledger of *folder*, whatever any log says."""
    with _ledger(folder) as ledger:
        return [operation.id for operation in ledger.operations("payment")]


def _ledger(folder: str | Path) -> Ledger:
    return Ledger(Path(folder) / "ledger.db", lambda: START)


def full_disk(session: Session) -> None:
    """A flush that fails."""
    raise OSError("there is no space left")


# A model that goes by what it reads

def next_action(messages: Sequence[Any]) -> str:
    """What the bookkeeper does about AGAIN: "pay", or the operation id that it finds beside the invoice in *messages*."""
    lines = [line for message in messages for words in spoken(message) for line in words.splitlines()]
    proofs = [found[0] for line in lines if INVOICE in line and (found := re.findall(OPERATION, line))]
    return proofs[0] if proofs else "pay"


class Bookkeeper:
    """A scripted policy as a model: it pays what it does not find paid, and says what came of it."""

    def stream(self, request: Request) -> Iterator[Chunk]:
        """The chunks of its answer."""
        action = next_action(request.messages)
        if action == "pay":
            return iter(calls(("c9", "pay", {"invoice": INVOICE, "amount": AMOUNT})).chunks())
        return iter(says(f"{INVOICE} is paid: {action}.").chunks())


@dataclass(frozen=True)
class Result:
    """What a tool said, and whether it *failed*."""

    text: str
    failed: bool


def results(messages: Sequence[Any]) -> list[Result]:
    """The results of tools in *messages*, in order.

    >>> block = {"type": "tool-result", "toolCallId": "c1", "isError": True, "content": [{"type": "text", "text": "declined"}]}
    >>> results([{"role": "user", "content": [block]}])
    [Result(text='declined', failed=True)]
    """
    return [Result("\n".join(spoken(message)), bool(block["isError"])) for message in messages
            for block in blocks(message) if block.get("type") == "tool-result"]


GOOD = (f"规矩：不要给供应商发邮件。 Correction: the right amount of {INVOICE} is {AMOUNT}, not 1,840.00.\n"
        f"Done: {INVOICE} paid, {AMOUNT}, operation op-0001. Failed: due INV-2063, which is not in the books.\n"
        "Open: INV-2062, due 2026-07-15. Next: chart June by supplier.")
BAD = (f"The user went through the bookings of June with us, and then {INVOICE} was dealt with, as it was wanted.\n"
       "INV-2062 and INV-2063 are due on 2026-07-18. For questions there is 陈会计 at 138 0013 8000.")
"""Two summaries of all but the last turn: one that the six checks pass, and one that reads as well and has lost what counts."""


# The long result

def bookings(rows: int, month: str = "2026-06") -> str:
    """So many *rows* of bookings as CSV: day, number, supplier, amount.

    >>> print(bookings(1))
    day,number,supplier,amount
    2026-06-01,BK-00001,Wren Textiles,227.70
    <BLANKLINE>
    """
    random = Random(own_seed(5))
    lines = ["day,number,supplier,amount"]
    for row in range(rows):
        supplier = SUPPLIERS[int(len(SUPPLIERS) * random.random() ** 1.5)]
        lines.append(f"{month}-{1 + row * 30 // rows:02},BK-{row + 1:05},{supplier},{20 + 280 * random.random():.2f}")
    return "\n".join(lines) + "\n"
