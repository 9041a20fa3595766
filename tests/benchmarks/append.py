"""Append one message after another, beside a bare open, the same lock, one write, and close."""
import os
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import portalocker

from labsupport.miniagent import append_session, load_session
from labsupport.miniagent.session import Durability
from tests.benchmarks import histories
from tests.benchmarks.table import Row, a_second, beside


def rows(folder: Path, flushed: int, synced: int, rounds: int) -> list[Row]:
    """A row without fsync and one with it: *flushed* and *synced* appends on each side, *rounds* times."""
    return [_row(folder, "flushed", "buffered", flushed, rounds), _row(folder, "with fsync", "fsync", synced, rounds)]


def _row(folder: Path, word: str, durability: Durability, count: int, rounds: int) -> Row:
    """The two sides take turns, and who begins changes, so that a slow moment meets both.

    Without fsync the best round counts, as for all that the processor does; with it the median, since a disk has luck too.
    """
    history, ours, bare = folder / "append.jsonl", folder / "append-ours.jsonl", folder / "append-bare.jsonl"
    histories.write(history, histories.take("tools", count))
    messages, lines = load_session(history), history.read_bytes().splitlines(keepends=True)

    def append() -> None:
        for message in messages:
            append_session(ours, message, durability=durability)

    def append_bare() -> None:
        for line in lines:
            fd = os.open(bare, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
            portalocker.lock(fd, portalocker.LockFlags.EXCLUSIVE)
            os.write(fd, line)
            if durability == "fsync":
                os.fsync(fd)
            os.close(fd)

    rates: dict[Callable[[], None], list[float]] = {append: [], append_bare: []}
    for number in range(rounds + 1):
        for side in sorted(rates, key=lambda side: (side is append) == bool(number % 2)):
            start = time.perf_counter()
            side()
            if number:  # the first round makes the files and warms up
                rates[side].append(count / (time.perf_counter() - start))
    if ours.read_bytes() != bare.read_bytes():
        raise RuntimeError("the two sides did not write the same")
    ours.unlink()
    bare.unlink()
    typical = median if durability == "fsync" else max
    return beside(f"append, {word}", typical(rates[append]), "bare open, same lock, write, close", typical(rates[append_bare]),
                  show=a_second, at_least=0.8)
