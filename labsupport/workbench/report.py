"""The lab report: what a log proves about a task, without a word of what was said (the experiments of chapter 4).

It is built from what cannot hold a message: seqs, numbers, counts, names of the format, results of checks. A name that is not
the format's own is not repeated, whatever it is: an event's type, a reason, a code of an error may be anybody's text.
"""
import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import pandas as pd

from labsupport.lossless import js_json
from labsupport.sessionlog import SessionEvent, check_compaction, check_invariants
from labsupport.workbench.checks.base import Verdict
from labsupport.workbench.received import Received
from labsupport.workbench.report_parts import event_rows, name_of, pairing, reason_of, requests, surface
from labsupport.workbench.tables import TextTable
from labsupport.workbench.text import say

FORMAT = 1
"""The version of the report itself."""
DIGITS = 16
"""As many digits of the digest are said; `data` has them all."""


@dataclass(frozen=True, repr=False)
class LabReport:
    """A report as plain JSON, in `data`; a notebook shows its events as a table under its figures.

    Its parts: `events` (a run of chunks is one row), `counts`, `order` (a digest that anybody can compute again from the rows),
    `turns`, `pairing`, `surface`, `figures` (before and after each replacement), `requests` and `checks`.
    """

    data: dict[str, Any]

    def to_json(self) -> str:
        """As JSON text, the same bytes for the same log and checks."""
        return js_json(self.data)

    def to_markdown(self) -> str:
        """As a page of Markdown, in the notebook's language."""
        lines = [f"# {say('report_title')}", "", *(f"- {words}" for words in self.sentences()), "",
                 f"| {' | '.join(_columns())} |", "| --- " * len(_columns()) + "|"]
        return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in self._rows())]) + "\n"

    def table(self) -> pd.DataFrame:
        """The events, one row each: type, seq, turn, step, and the events that it cites."""
        return TextTable(self._rows(), columns=_columns(), index=[""] * len(self.data["events"]))

    def sentences(self) -> list[str]:
        """Everything but the events, in words."""
        data = self.data
        calls, asked, checks = data["pairing"], data["requests"], data["checks"]
        ends = say("report_list").join(f"{reason} {n}" for reason, n in data["turns"]["ends"].items()) or "–"
        return [
            say("report_counts", n=data["counts"]["events"], turns=data["turns"]["count"], ends=ends),
            say("report_pairing", calls=calls["calls"], paired=len(calls["pairs"]), open=len(calls["unanswered"]),
                alone=len(calls["withoutCall"])),
            say("report_surface", nodes=data["surface"]["nodes"], tokens=data["surface"]["tokens"],
                k=data["surface"]["replacements"]),
            *(say("report_figures", seq=one["seq"], before=one["nodes"][0], after=one["nodes"][1],
                  cost=one["tokens"][0], less=one["tokens"][1], events=one["events"][1]) for one in data["figures"]),
            say("report_requests", n=len(asked), good=sum(one["rebuilds"] for one in asked)),
            *([say("report_compared", good=sum(one.get("differs") == [] for one in asked), n=len(asked))]
              if any("differs" in one for one in asked) else []),
            say("report_invariants", n=len(data["problems"]["invariants"]) + len(data["problems"]["compaction"])),
            say("report_checks", n=len(checks), good=sum(one["passed"] for one in checks)),
            say("report_order", digest=data["order"][:DIGITS])]

    def _rows(self) -> list[tuple[str, ...]]:
        return [(_span(row["seqs"]), row["type"], _shown(row["turn"]), _shown(row["step"]), _several(row["sources"]))
                for row in self.data["events"]]

    def __repr__(self) -> str:
        return self.to_markdown()

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{words}</li>" for words in self.sentences())  # words of ours, numbers, names of the format
        page: str = self.table()._repr_html_()  # type: ignore[operator]
        return f"<ul>{items}</ul>\n{page}"


def lab_report(events: Iterable[SessionEvent], *, checks: Mapping[str, Verdict | bool] = MappingProxyType({}),
               received: Iterable[Received] = ()) -> LabReport:
    """What *events* prove, and which *checks* passed; with what a model *received*, whether each request was as it is rebuilt.

    >>> from labsupport.workbench import log_samples
    >>> report = lab_report(log_samples.load("two_step").events, checks={"pairing": True})
    >>> report.data["pairing"]["pairs"], report.data["turns"]["ends"], report.data["checks"]
    ([[20, 21]], {'completed': 1}, [{'name': 'pairing', 'passed': True}])

    A check is named by letters, digits, - and _; ValueError for another name, without repeating it. What cannot be rebuilt is
    said by the name of the refusal, never by its words.
    """
    log, passed = list(events), _checks(checks)
    rows = event_rows(log)
    order = hashlib.sha256(js_json([[row["seqs"], row["type"], row["turn"], row["step"], row["sources"]]
                                    for row in rows]).encode()).hexdigest()
    counts = Counter(name_of(event) for event in log)
    ends = Counter(reason_of(event) for event in log if event.type == "turn/end")
    return LabReport({
        "format": FORMAT, "events": rows, "order": order,
        "counts": {"events": len(log), "types": dict(sorted(counts.items()))},
        "turns": {"count": counts["turn/start"], "ends": dict(sorted(ends.items()))},
        "pairing": pairing(log), **surface(log), "requests": requests(log, list(received)),
        "problems": {"invariants": [one.seq for one in check_invariants(log)],
                     "compaction": [one.seq for one in check_compaction(log)]},
        "checks": passed})


def _checks(checks: Mapping[str, Verdict | bool]) -> list[dict[str, Any]]:
    if any(re.fullmatch(r"[\w-]{1,60}", name, re.ASCII) is None for name in checks):
        raise ValueError("a check is named by letters, digits, - and _, 60 at the most; its words stay out of a report")
    return [{"name": name, "passed": check.correct if isinstance(check, Verdict) else bool(check)}
            for name, check in checks.items()]


# The table

def _columns() -> list[str]:
    return ["seq", say("scrub_col_type"), say("scrub_col_turn"), say("scrub_col_step"), say("report_col_sources")]


def _span(seqs: Sequence[int]) -> str:
    return str(seqs[0]) if seqs[0] == seqs[1] else f"{seqs[0]}–{seqs[1]}"


def _shown(value: int | None) -> str:
    return "" if value is None else str(value)


def _several(seqs: Sequence[int], most: int = 4) -> str:
    """A list of seqs in which neighbours are one span; of more than *most* spans the ends."""
    spans: list[list[int]] = []
    for seq in seqs:
        if spans and seq == spans[-1][1] + 1:
            spans[-1][1] = seq
        else:
            spans.append([seq, seq])
    shown = spans if len(spans) <= most else [*spans[:most - 1], spans[-1]]
    words = [_span(span) for span in shown]
    return " ".join(words if len(spans) <= most else [*words[:-1], "…", words[-1]])
