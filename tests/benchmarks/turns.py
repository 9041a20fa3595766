"""Two or more sides, call by call: what a disk does in one moment, or another program, meets all of them."""
import time
from collections.abc import Callable, Sequence
from statistics import median

Side = Callable[[int], object]


def by_turns(rounds: int, *sides: Side, before: Side | None = None) -> list[list[float]]:
    """The seconds of each call of each side with the round's number; the side that begins changes, and round 0 warms up.

    >>> calls = []
    >>> times = by_turns(2, lambda number: calls.append(f"a{number}"), lambda number: calls.append(f"b{number}"))
    >>> calls, [len(side) for side in times]
    (['a0', 'b0', 'b1', 'a1', 'a2', 'b2'], [2, 2])

    A side that is measured elsewhere returns its seconds:

    >>> by_turns(2, lambda number: 0.5 * number)
    [[0.5, 1.0]]

    What a round needs on top is done *before* it, and is in nobody's time.
    """
    times: list[list[float]] = [[] for _ in sides]
    for number in range(rounds + 1):
        if before is not None:
            before(number)
        for side, kept in list(zip(sides, times, strict=True))[::-1 if number % 2 else 1]:
            start = time.perf_counter()
            answer = side(number)
            spent = time.perf_counter() - start
            if number:
                kept.append(answer if isinstance(answer, float) else spent)
    return times


def paired(one: Sequence[float], other: Sequence[float]) -> float:
    """How many times *other* typically is *one*: the median of what the rounds say.

    A commit waits for the disk and then for a processor, so it has fast and slow times. The median of one side falls on
    either; within a round both sides have the same luck more often.

    >>> paired([1, 8, 1], [2, 10, 2])
    2.0
    """
    return median(second / first for first, second in zip(one, other, strict=True))
