"""Open a long session log (scan, validate, surface, first derive) beside a bare decode, and what a live session costs.

Run as a program, this module is the process that opens: one process each time, since a peak never goes down again.
"""
import gc
import time
from pathlib import Path
from statistics import median
from typing import Any

from tests.benchmarks import logs
from tests.benchmarks.environment import Worker, serve
from tests.benchmarks.load import peak_bytes
from tests.benchmarks.table import Row, a_second, beside, megabytes, seconds


def rows(folder: Path, count: int, rounds: int, peers: Path | None, here: str) -> list[Row]:
    """Rows for a log of *count* events; *peers* is the Python that has orjson, *here* ours."""
    path = folder / "log.jsonl"
    logs.write(path, count)
    size = megabytes(path.stat().st_size)
    opened: list[dict[str, Any]] = []
    decoded: list[dict[str, Any]] = []
    for _ in range(rounds):
        for python, way, results in ((here, "labsupport", opened), (peers, "orjson", decoded)):
            if python:
                with Worker(python, "open_log") as worker:
                    results.append(worker.ask(way, path=str(path)))
    path.unlink()
    if any(result["count"] != count for result in opened):
        raise RuntimeError("not every event was opened")
    best = min(opened, key=lambda result: result["seconds"])
    base = min((result["seconds"] for result in decoded), default=None)
    peak = median(result["peak"] for result in opened)
    subject = f"open {count:,} events, {size}"
    return [
        beside(subject, best["seconds"], "orjson, all kept", base, at_most=1.0),
        limit(f"{subject}: peak", peak, 1e9, megabytes),
        limit(f"derive after one append, {count:,} events", best["derive"], 50e-6, seconds),
        least("append in memory", best["append"], 100_000),
        *(least(f"fold {name}", best[name], 4_000_000) for name in ("turn_status", "tool_pairing")),
    ]


def limit(subject: str, value: float, most: float, show: Any) -> Row:
    """A figure of our own with an upper bound."""
    return Row(subject, show(value), "", "", f"≤ {show(most)}", value <= most)


def least(subject: str, value: float, at_least: float) -> Row:
    """A rate of our own with a lower bound, events a second."""
    return Row(subject, a_second(value), "", "", f"≥ {a_second(at_least)}", value >= at_least)


def labsupport(path: str) -> dict[str, float]:
    from labsupport.sessionlog import Session, fold, tool_pairing, turn_status
    from labsupport.sessionlog.storage import scan_file

    gc.collect()
    idle, start = peak_bytes(), time.perf_counter()
    with open(path, "rb") as file:
        scan = scan_file(file)
    session = Session.create(scan.header.id, seed=scan.events, header=scan.header)
    messages = session.derive_messages()
    result = {"seconds": time.perf_counter() - start, "peak": float(peak_bytes() - idle), "count": float(len(scan.events))}
    if not messages:
        raise RuntimeError("nothing was derived")
    question = next(record["data"] for record in logs.events(logs.TURN) if record["type"] == "user/message")
    times = []
    for _ in range(50):
        session.append("user/message", question, surface_op="append")
        start = time.perf_counter()
        session.derive_messages()
        times.append(time.perf_counter() - start)
    result["derive"] = median(times)
    for unit in (turn_status, tool_pairing):
        start = time.perf_counter()
        fold(unit, scan.events)
        result[unit.key] = len(scan.events) / (time.perf_counter() - start)
    result["append"] = _append_rate()
    return result


def _append_rate() -> float:
    from labsupport.sessionlog import Session

    session = Session.create("bench")
    records = list(logs.events(20_000 // logs.TURN * logs.TURN))
    start = time.perf_counter()
    for record in records:
        session.append(record["type"], record["data"], record.get("surfaceOp"), record.get("sourceEventSeqs"))
    return len(records) / (time.perf_counter() - start)


def orjson(path: str) -> dict[str, float]:
    from orjson import loads

    gc.collect()
    idle, start = peak_bytes(), time.perf_counter()
    with open(path, "rb") as file:
        kept = [loads(line) for line in file]
    return {"seconds": time.perf_counter() - start, "peak": float(peak_bytes() - idle), "count": float(len(kept) - 1)}


if __name__ == "__main__":
    serve({"labsupport": labsupport, "orjson": orjson})
