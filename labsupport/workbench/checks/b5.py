"""The check of lab B5: does a repaired summary say again what the tools did, and nothing that they did not?"""
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from labsupport.own import own_number
from labsupport.sessionlog import Reply, ScriptedModel, Session, run_turn
from labsupport.sessionlog.models import call
from labsupport.workbench.checks.base import Verdict, attempt, correct, not_started, untouched, wrong
from labsupport.workbench.payment_task import Result
from labsupport.workbench.payment_task import results as results_of
from labsupport.workbench.text import say

Repair = Callable[[str, Sequence[Any]], Any]
ID = re.compile(r"op-\d+")
INVOICE = re.compile(r"INV-\d+")
DONE, FAILED = "done: ", "failed: "


class Case(NamedTuple):
    """A history in *words*: what its tools say, which of the calls *failed*, and a *summary* that may have lost something.

    *missing* is the sentence for an operation id that is not brought back.
    """

    words: str
    summary: str
    results: Mapping[str, str]
    failed: frozenset[str] = frozenset()
    prompt: str = "Pay what is open."
    missing: str = "b5_wrong_lost"


SHIFT = own_number(0, 400)


def own_case(case: Case) -> Case:
    """*case* with the student's operation ids: each is as far from the book's as any other, so prefixes stay prefixes."""
    def moved(text: str) -> str:
        return re.sub(r"op-(\d{4})", lambda found: f"op-{int(found[1]) + SHIFT:04d}", text)

    return case._replace(summary=moved(case.summary), prompt=moved(case.prompt),
                         results={id: moved(text) for id, text in case.results.items()})


CASES = tuple(map(own_case, (
    Case("b5_case_lost", "The user asked to pay INV-1.", {"c1": "accepted: INV-1, operation op-1000"}),
    Case("b5_case_kept", "Done: INV-1, operation op-1000.", {"c1": "accepted: INV-1, operation op-1000"}),
    Case("b5_case_two", "Two invoices.",
         {"c1": "accepted: INV-1, operation op-1000", "c2": "accepted: INV-2, operation op-1001"}, missing="b5_wrong_first"),
    Case("b5_case_failed", "The user asked to pay INV-1.", {"c1": "declined: INV-1, operation op-1000"}, frozenset({"c1"}),
         missing="b5_wrong_untold"),
    Case("b5_case_prefix", "Done: INV-2, operation op-10001.",
         {"c1": "accepted: INV-1, operation op-1000", "c2": "accepted: INV-2, operation op-10001"}, missing="b5_wrong_prefix"),
    Case("b5_case_said", "The user asked about op-0999.", {"c1": "accepted: INV-1, operation op-1000"},
         prompt="I think INV-7 went out as op-0777. Pay INV-1."),
    Case("b5_case_long", "The user asked for the list.", {"c1": "\n".join(
        [f"INV-{row}, open" for row in range(100, 140)] + ["INV-1, paid, operation op-1000"])}),
    Case("b5_case_pair", "Two invoices.", {"c1": "accepted: INV-1, operation op-1000\naccepted: INV-2, operation op-1001"},
         missing="b5_wrong_inside"),
    Case("b5_case_line", "One invoice, in two parts.", {"c1": "accepted: INV-1, operations op-1000 and op-1001"},
         missing="b5_wrong_inside"),
    Case("b5_case_words", "Two invoices.",
         {"c1": "Error 51: declined, failed once, then accepted: INV-1, operation op-1000",
          "c2": "not accepted: INV-2, operation op-1001"}, frozenset({"c2"})),
    Case("b5_case_later", "The user asked to pay INV-1.",
         {"c1": "no answer yet: INV-1, operation op-1000", "c2": "accepted: INV-1, operation op-1000"}, frozenset({"c1"})),
)))


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
        messages, words = history(case), say(case.words)
        it = attempt(repair, case.summary, messages)
        if it.error:
            return it.verdict(words)
        verdict = _differs(case, words, results_of(messages), it.value)
        if verdict is not None:
            return verdict
    return correct()


def _differs(case: Case, words: str, results: Sequence[Result], text: Any) -> Verdict | None:
    """What is wrong with the repaired *text*, on the first thing that is."""
    if type(text) is not str:
        return wrong("b5_wrong_kind", case=words, type=type(text).__name__)
    if not text.startswith(case.summary):
        return wrong("b5_wrong_summary", case=words)
    added, lost = text[len(case.summary):], _lost(case, results)
    ids = ID.findall(added)
    invented = [id for id in ids if not _lines(results, id)]
    if invented:
        return wrong("b5_wrong_invented", case=words, id=invented[0])
    missing = [id for id in lost if id not in ids]
    if missing:
        return wrong(case.missing, case=words, id=missing[0])
    again = [id for id in ids if id not in lost or ids.count(id) > 1]
    if again:
        return wrong("b5_wrong_again", case=words, id=again[0])
    lines = added.splitlines()
    if lines and lines[0].strip():
        return wrong("b5_wrong_joined", case=words)
    others = [line for line in lines if line.strip() and not ID.search(line)]
    if others:
        return wrong("b5_wrong_long", case=words, n=len(others))
    for line in filter(str.strip, lines):
        id = ID.findall(line)[0]
        if line != "".join(lost[id]):
            return _differs_in(line, id, words, lost[id], _lines(results, id))
    return None


def _differs_in(line: str, id: str, words: str, wanted: tuple[str, str], proofs: Sequence[str]) -> Verdict:
    """What is wrong with the *line* of *id*; *wanted* is its beginning and its rest, *proofs* every line that names the id."""
    mark, proof = wanted
    invoice, = INVOICE.findall(proof)
    if invoice not in INVOICE.findall(line):
        return wrong("b5_wrong_bare", case=words, id=id, invoice=invoice)
    if proof not in line:
        earlier = any(other in line for other in proofs)
        return wrong("b5_wrong_last", case=words, id=id) if earlier else wrong("b5_wrong_line", case=words, id=id, mark=mark)
    if line.startswith(FAILED if mark == DONE else DONE):
        return wrong("b5_wrong_done" if mark == DONE else "b5_wrong_failed", case=words, id=id)
    return wrong("b5_wrong_line" if line.startswith(mark) else "b5_wrong_unmarked", case=words, id=id, mark=mark)


def _lost(case: Case, results: Sequence[Result]) -> dict[str, tuple[str, str]]:
    """What is to be added for each id that the summary of *case* lacks: how its line begins, and its last result's line."""
    return {id: (FAILED if result.failed else DONE, line) for result in results for line in result.text.splitlines()
            for id in ID.findall(line) if id not in ID.findall(case.summary)}


def _lines(results: Sequence[Result], id: str) -> list[str]:
    """Every line of *results* that names *id*."""
    return [line for result in results for line in result.text.splitlines() if id in ID.findall(line)]
