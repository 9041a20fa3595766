"""How long a picture takes to follow its slider on a log of about a thousand events: a learner drags, and waits for nothing."""
import time
from collections.abc import Callable, Iterable
from statistics import median
from typing import Any

from labsupport.sessionlog import Session
from labsupport.workbench import log_samples
from labsupport.workbench.compactions import Compactions
from labsupport.workbench.explorers.b1 import scrubber
from labsupport.workbench.explorers.b3 import watermark_explorer
from labsupport.workbench.explorers.b6 import request_explorer
from labsupport.workbench.explorers.b7 import flush_explorer
from labsupport.workbench.explorers.b8 import fork_explorer
from labsupport.workbench.pictures.compaction import compaction_picture
from tests.benchmarks.open_log import limit
from tests.benchmarks.table import Row, seconds

MOST = 50e-3
"""Seconds that a move may take."""


def rows(count: int) -> list[Row]:
    """The median of *count* moves of each explorer, the picture drawn and set."""
    log = log_samples.load("long")
    parent = Session.seeded(log.header, log.events)
    tries = Compactions(Session.seeded(log.header, log.events))
    seqs = [node.seq for node in tries.nodes]
    last = len(log.events) - 1
    moved = {
        "scrubber": _slider(scrubber(log.events, show_text=True).seq),
        "watermarks": _slider(watermark_explorer(log.events, show_text=True).seq),
        "fork": _slider(fork_explorer(parent).boundary),
        "request": _slider(request_explorer(log.events, show_text=True).request),
        "compaction": lambda at: compaction_picture(tries, tries.at(seqs[0], seqs[at], 0), show_text=True),
    }
    places = {"request": range(2, 60), "compaction": range(3, len(seqs))}
    found = [limit(f"a move of the {name} picture", _median(move, _spread(places.get(name, range(last)), count)), MOST, seconds)
             for name, move in moved.items()]
    killed = flush_explorer().killed
    stops = list(killed.options)
    return [*found, limit("a move of the flush picture",
                          _median(lambda at: setattr(killed, "index", at), _spread(range(len(stops)), count)), MOST, seconds)]


def _slider(control: Any) -> Callable[[int], None]:
    def move(at: int) -> None:
        control.value = at

    return move


def _spread(places: range, count: int) -> Iterable[int]:
    return places[::max(1, len(places) // count)]


def _median(move: Callable[[int], Any], places: Iterable[int]) -> float:
    took = []
    for at in places:
        begin = time.perf_counter()
        move(at)
        took.append(time.perf_counter() - begin)
    return median(took)
