"""Trim a long history: cold, again, beside writing it once, beside a peer; and how the time grows."""
import gc
import json
import math
import timeit
from pathlib import Path

from labsupport.miniagent import ContextBudget, estimate_context_chars, load_session, trim_context
from tests.benchmarks import histories
from tests.benchmarks.environment import Worker, timed
from tests.benchmarks.table import Row, beside, seconds

encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def rows(folder: Path, sizes: tuple[int, ...], rounds: int, peers: Worker | None) -> list[Row]:
    """Rows for each shape at the last and largest of *sizes*, then the growth over all of them."""
    table = []
    for shape in histories.SHAPES:
        path = folder / f"trim-{shape}.jsonl"
        histories.write(path, histories.take(shape, sizes[-1]))
        table += _halved(path, shape, rounds, peers)
    return [*table, _again(path), _growth(folder, sizes, rounds)]


def _halved(path: Path, shape: str, rounds: int, peers: Worker | None) -> list[Row]:
    """*path* to half of its characters, one side after the other in every round; the best of each counts."""
    messages = load_session(path)
    half = estimate_context_chars(messages) // 2
    kept = len(trim_context(messages, half))
    plain = histories.read(path)[-kept:]
    if peers:
        peers.ask("hold", path=str(path))
    ours, whole, single, orjson, langchain = ([] for _ in range(5))
    for number in range(3 * rounds):
        ours.append(_cold(path, half))
        whole.append(timed(encode, plain))
        single.append(timed(histories.one_by_one, encode, plain))
        if peers:
            orjson.append(peers.ask("encode", start=len(messages) - kept))
        if peers and number % 3 == 0:  # it takes seconds
            langchain.append(peers.ask("trim"))
    subject = f"trim {len(messages):,} messages to half, cold, {shape}"
    return [
        beside(subject, min(ours), "json, the kept half as one list", min(whole), at_most=1.5),
        beside(subject, min(ours), "json, the kept half one by one", min(single), at_most=1.5),
        beside(subject, min(ours), "orjson, the kept half one by one", min(orjson, default=None)),
        beside(subject, min(ours), "langchain-core trim_messages", min(langchain, default=None), faster=10),
    ]


def _cold(path: Path, budget: int) -> float:
    """Seconds to trim the history *path*, whose messages nothing has looked at since they were loaded."""
    messages = load_session(path)
    return timed(trim_context, messages, budget)


def _again(path: Path) -> Row:
    """The slowest of 40 other budgets, with the list of kept messages in hand each time, once all costs are known."""
    messages = load_session(path)
    budget = ContextBudget(messages)
    whole = sum(budget.costs)
    budget.fit(whole)
    gc.collect()
    slowest = max(min(timeit.repeat(lambda: budget.fit(chars).messages, number=1, repeat=3))  # noqa: B023 - called at once
                  for chars in histories.spaced(budget.smallest, whole, 40))
    return Row(f"again with another budget, {len(messages):,} messages", f"{seconds(slowest)}, slowest of 40", "", "", "≤ 1 ms",
               slowest <= 1e-3)


def _growth(folder: Path, sizes: tuple[int, ...], rounds: int) -> Row:
    """The exponent of the time to trim to half over the number of messages, by the first and the last of *sizes*."""
    path, best = folder / "growth.jsonl", {}
    for size in sizes:
        histories.write(path, histories.take("tools", size))
        half = estimate_context_chars(load_session(path)) // 2
        best[size] = min(_cold(path, half) for _ in range(rounds))
    exponent = math.log(best[sizes[-1]] / best[sizes[0]]) / math.log(sizes[-1] / sizes[0])
    times = ", ".join(f"{size:,}: {seconds(time)}" for size, time in best.items())
    return Row("growth of trim to half, tools", times, "", f"exponent {exponent:.2f}", "≤ 1.1", exponent <= 1.1)
