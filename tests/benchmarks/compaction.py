"""A long surface: one replacement and what it takes to derive again, the choice of a range, and a compaction's own cost."""
import math
from collections.abc import Sequence
from statistics import median
from typing import Any

from labsupport.sessionlog import Session, fork
from labsupport.sessionlog.compaction import compact
from labsupport.sessionlog.ranges import choose_range
from labsupport.sessionlog.summarizers import Summary
from tests.benchmarks import logs
from tests.benchmarks.environment import timed
from tests.benchmarks.open_log import limit
from tests.benchmarks.table import Row, seconds

RETAINED = 1_000
"""The tokens of the tail that a compaction leaves."""

SHADOWED = 48
"""The nodes that a small compaction takes: twelve turns."""


class _Ready:
    """A summarizer that has its summary already."""

    def summarize(self, messages: Sequence[Any]) -> Summary:
        return Summary([{"type": "text", "text": "All went well."}], "workbook", "ready-1")


def rows(sizes: tuple[int, ...], transaction: int, rounds: int) -> list[Row]:
    """Rows for surfaces of *sizes* nodes, the last one the largest, and for a transaction on one of *transaction* nodes."""
    surfaces = {size: _surface(size) for size in {*sizes, transaction}}
    largest, subject = sizes[-1], f"{transaction:,} nodes, without the summarizer"
    session = _copy(surfaces[largest])
    times = [_replaced(session, number) for number in range(rounds)]
    small, large = ([_compacted(surfaces[transaction], everything) for _ in range(rounds)] for everything in (False, True))
    return [
        limit(f"replace and derive, {largest:,} nodes", min(times), 30e-3, seconds),
        _growth({size: min(_chosen(surfaces[size]) for _ in range(rounds)) for size in sizes}),
        limit(f"compact {SHADOWED} of {subject}", median(small), 5e-3, seconds),
        limit(f"compact all but the tail of {subject}", median(large), 5e-3, seconds),
    ]


def _surface(size: int) -> Session:
    """A session of *size* messages as they come in whole turns: a question, a call, its result, an answer."""
    session = Session.create(logs.ID, clock=logs.clock())
    for record in logs.events((size // 4 + 1) * logs.TURN):
        if "surfaceOp" in record and len(session.events) < size:
            session.append(record["type"], record["data"], "append")
    session.derive_messages()
    return session


def _replaced(session: Session, number: int) -> float:
    """The seconds to replace two whole turns, behind those of the rounds before, and to derive the messages again."""
    seqs = list(session.surface.nodes[number:number + 8])
    message = {"id": f"s{number}", "role": "user", "source": {"kind": "plugin", "plugin": "edit"},
               "content": [{"type": "text", "text": "Eight messages in one."}]}

    def replace() -> None:
        session.append("user/message", message, {"op": "replace", "start": seqs[0], "end": seqs[-1]}, seqs)
        session.derive_messages()

    return timed(replace)


def _copy(session: Session) -> Session:
    """The session again, its messages derived and nothing of it measured yet."""
    copy = fork(session)
    copy.derive_messages()
    return copy


def _chosen(session: Session) -> float:
    """The seconds of the first choice of a range, which measures every node."""
    return timed(choose_range, _copy(session), RETAINED)


def _growth(best: dict[int, float]) -> Row:
    """The exponent of the time to choose over the number of nodes, by the smallest and the largest surface."""
    small, large = min(best), max(best)
    exponent = math.log(best[large] / best[small]) / math.log(large / small)
    times = ", ".join(f"{size:,}: {seconds(time)}" for size, time in sorted(best.items()))
    return Row("growth of choose_range, nodes", times, "", f"exponent {exponent:.2f}", "≤ 1.1", exponent <= 1.1)


def _compacted(session: Session, everything: bool) -> float:
    """The seconds of one compaction, of *everything* that the tail leaves, on a surface that was measured before."""
    session = _copy(session)
    chosen = choose_range(session, RETAINED)
    if chosen is None:
        raise RuntimeError("the surface has no range")
    nodes = session.surface.nodes
    first, last = (nodes[0], chosen.end) if everything else (nodes[4], nodes[3 + SHADOWED])
    return timed(compact, session, first, last, _Ready())
