"""Load a large session file, strict and typed, beside orjson over the same lines: time, and the peak of memory.

Run as a program, this module is the process that loads: one process a load, since a peak never goes down again.
"""
import gc
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from tests.benchmarks import histories
from tests.benchmarks.environment import Worker, serve
from tests.benchmarks.table import Row, beside, megabytes

WAYS = ("labsupport", "orjson", "orjson_paused")


def rows(folder: Path, size: int, rounds: int, peers: Path | None) -> list[Row]:
    """Rows for each shape, with files of *size* bytes; *peers* is the Python that has orjson."""
    table = []
    for shape in histories.SHAPES:
        path = folder / f"load-{shape}.jsonl"
        count = histories.write_size(path, shape, size)
        loads: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
        for _ in range(rounds):
            for way in WAYS:
                python = Path(sys.executable) if way == "labsupport" else peers
                if python:
                    with Worker(python, "load") as worker:
                        loads[way].append(worker.ask(way, path=str(path)))
        path.unlink()
        if any(load["count"] != count for done in loads.values() for load in done):
            raise RuntimeError(f"the file has {count} messages, but not every load gave that many")
        times = {way: min((load["seconds"] for load in done), default=None) for way, done in loads.items()}
        peaks = {way: median(load["peak"] for load in done) if done else None for way, done in loads.items()}
        subject = f"load {megabytes(size)}, {count:,} messages, {shape}"
        table += [
            beside(subject, times["labsupport"], "orjson, all kept", times["orjson"], at_most=1.3),
            beside(subject, times["labsupport"], "orjson, all kept, gc paused", times["orjson_paused"]),
            beside(f"{subject}: peak", peaks["labsupport"], "orjson, all kept", peaks["orjson"], show=megabytes, at_most=1),
        ]
    return table


def peak_bytes() -> int:
    """The most memory that this process has had so far."""
    status = Path("/proc/self/status")
    if status.exists():  # not getrusage: on Linux its figure begins with that of the process that started this one
        return next(int(line.split()[1]) * 1024 for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
    import resource  # there is none on Windows: measure the load elsewhere

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _measured(load: Callable[[str], list[Any]], path: str) -> dict[str, float]:
    """Seconds, bytes above this process when it was idle, and the number of messages."""
    gc.collect()
    idle, start = peak_bytes(), time.perf_counter()
    kept = load(path)
    return {"seconds": time.perf_counter() - start, "peak": peak_bytes() - idle, "count": len(kept)}


def labsupport(path: str) -> dict[str, float]:
    from labsupport.miniagent import load_session

    return _measured(load_session, path)


def orjson(path: str) -> dict[str, float]:
    from orjson import loads

    def load(path: str) -> list[Any]:
        with open(path, "rb") as file:
            return [loads(line) for line in file]

    return _measured(load, path)


def orjson_paused(path: str) -> dict[str, float]:
    gc.disable()
    return orjson(path)


if __name__ == "__main__":
    serve({"labsupport": labsupport, "orjson": orjson, "orjson_paused": orjson_paused})
