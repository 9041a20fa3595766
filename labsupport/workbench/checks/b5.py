"""The check of lab B5: does a repaired summary say again what the tools did, and nothing that they did not?"""
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from labsupport.sessionlog import Reply, ScriptedModel, Session, run_turn
from labsupport.sessionlog.models import call
from labsupport.workbench.checks.base import Verdict, attempt, correct, not_started, untouched, wrong
from labsupport.workbench.text import say

Repair = Callable[[str, Sequence[Any]], Any]
ID = re.compile(r"op-\d+")
LONGEST = 120
"""As many characters may come with each id: the line of the result that names it, not the whole result."""


class Case(NamedTuple):
    """A history in *words*: what its tools say (None stands for a failure), a *summary* of it, and what that has lost.

    *lost* is operation id → the invoice beside it; *missing* the sentence for one that is not brought back.
    """

    words: str
    summary: str
    results: Mapping[str, str]
    lost: Mapping[str, str]
    failed: frozenset[str] = frozenset()
    prompt: str = "Pay what is open."
    missing: str = "b5_wrong_lost"


CASES = (
    Case("b5_case_lost", "The user asked to pay INV-1.", {"c1": "accepted: INV-1, operation op-1000"}, {"op-1000": "INV-1"}),
    Case("b5_case_kept", "Done: INV-1, operation op-1000.", {"c1": "accepted: INV-1, operation op-1000"}, {}),
    Case("b5_case_two", "Two invoices.",
         {"c1": "accepted: INV-1, operation op-1000", "c2": "accepted: INV-2, operation op-1001"},
         {"op-1000": "INV-1", "op-1001": "INV-2"}, missing="b5_wrong_first"),
    Case("b5_case_failed", "The user asked to pay INV-1.", {"c1": "declined: INV-1, operation op-1000"}, {"op-1000": "INV-1"},
         frozenset({"c1"})),
    Case("b5_case_prefix", "Done: INV-2, operation op-10001.",
         {"c1": "accepted: INV-1, operation op-1000", "c2": "accepted: INV-2, operation op-10001"}, {"op-1000": "INV-1"},
         missing="b5_wrong_prefix"),
    Case("b5_case_said", "The user asked about op-0999.", {"c1": "accepted: INV-1, operation op-1000"}, {"op-1000": "INV-1"},
         prompt="I think INV-7 went out as op-0777. Pay INV-1."),
    Case("b5_case_long", "The user asked for the list.", {"c1": "\n".join(
        [f"INV-{row}, open" for row in range(100, 140)] + ["INV-1, paid, operation op-1000"])}, {"op-1000": "INV-1"}),
)


def history(case: Case) -> Sequence[Any]:
    """The messages of *case*, as the loop records them: one message that calls, a result for each call, an answer."""
    session = Session.create("case")

    def run(given: Any) -> str:
        if given in case.failed:
            raise RuntimeError(case.results[given])
        return case.results[given]

    model = ScriptedModel([Reply(calls=[call(id, "pay", f'"{id}"') for id in case.results]), Reply("Done.")])
    run_turn(session, case.prompt, model, {"pay": run}, config={"provider": "workbook", "model": "scripted-1"})
    return session.derive_messages()


def check_repair(repair: Repair) -> Verdict:
    """Let *repair* mend the summary of each case, the smallest first."""
    if untouched(repair, lambda summary, messages: None):
        return not_started()
    for case in CASES:
        it = attempt(repair, case.summary, history(case))
        words = say(case.words)
        if it.error:
            return it.verdict(words)
        verdict = _differs(case, words, it.value)
        if verdict is not None:
            return verdict
    return correct()


def _differs(case: Case, words: str, text: Any) -> Verdict | None:
    """What is wrong with the repaired *text*, on the first thing that is."""
    if type(text) is not str:
        return wrong("b5_wrong_kind", case=words)
    if not text.startswith(case.summary):
        return wrong("b5_wrong_summary", case=words)
    added = text[len(case.summary):]
    ids, there = ID.findall(added), set(ID.findall(case.summary))
    proven = set(ID.findall("\n".join(case.results.values())))
    invented = [id for id in ids if id not in proven]
    if invented:
        return wrong("b5_wrong_invented", case=words, id=invented[0])
    missing = [id for id in case.lost if id not in ids]
    if missing:
        return wrong(case.missing, case=words, id=missing[0])
    again = [id for id in ids if id in there or ids.count(id) > 1]
    if again:
        return wrong("b5_wrong_again", case=words, id=again[0])
    if len(added) > LONGEST * max(1, len(case.lost)):
        return wrong("b5_wrong_long", case=words, n=len(added))
    for id, invoice in case.lost.items():
        line = next(line for line in added.splitlines() if id in ID.findall(line))
        if invoice not in re.findall(r"INV-\d+", line):
            return wrong("b5_wrong_bare", case=words, id=id, invoice=invoice)
        if ("failed" in line.lower()) != bool(case.failed):
            return wrong("b5_wrong_failed" if case.failed else "b5_wrong_done", case=words, id=id)
    return None
