"""Histories to measure with, as plain dicts in the order of the file: the same seed gives the same history.

    chat     short talk; in every fourth exchange the assistant looks something up, sometimes with two calls at once
    tools    long tasks: one request, then dozens of steps with inputs and tables as results
    chinese  the shape of chat, in Chinese, with an emoji now and then
"""
import json
from collections.abc import Callable, Iterator
from itertools import chain, islice
from pathlib import Path
from random import Random
from typing import Any

Message = dict[str, Any]
Exchange = list[Message]

ENGLISH = [f"{who} {what} {when}." for who in ("The north depot", "Our second supplier", "The night shift", "Line 4")
           for what in ("reported three late trucks", "asked for a new forecast", "closed the books", "found a broken seal")
           for when in ("on Monday", "before the audit", "after the price change", "without telling anyone")]
CHINESE = [f"{when}，{who}{what}。" for who in ("北区仓库", "第二家供应商", "夜班", "四号线")
           for what in ("报告了三辆晚到的货车", "要求重新预测销量", "已经结账", "发现一处封条破损")
           for when in ("星期一", "审计之前", "调价以后", "没有通知任何人")] + ["好的 👍", "已确认 ✅"]


def compact(message: Message) -> str:
    """The line of *message*, without its line break."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"))


def spaced(low: int, high: int, count: int) -> list[int]:
    """*count* whole numbers from *low* to *high*, evenly spaced.

    >>> spaced(10, 20, 3)
    [10, 15, 20]
    """
    return [low + (high - low) * step // (count - 1) for step in range(count)]


def user(content: str) -> Message:
    return {"role": "user", "content": content}


def assistant(content: str, *calls: Message) -> Message:
    return {"role": "assistant", "content": content, "toolCalls": list(calls)}


def result(call: Message, content: str, is_error: bool = False) -> Message:
    return {"role": "tool", "toolCallId": call["id"], "content": content, "isError": is_error}


def take(shape: str, count: int, seed: int = 34) -> list[Message]:
    """The first *count* messages of *shape*."""
    return list(islice(chain.from_iterable(SHAPES[shape](Random(seed))), count))


def asking(shape: str, count: int, seed: int = 34) -> list[Message]:
    """Whole exchanges of *shape*, at least *count* messages, then a user's message that waits for its answer."""
    messages: list[Message] = []
    for exchange in SHAPES[shape](Random(seed)):
        if len(messages) >= count:
            return [*messages, exchange[0]]
        messages += exchange
    raise AssertionError("a shape has no end")


def one_task(steps: int, seed: int = 34) -> list[Message]:
    """One user's message, then *steps* steps of one call and its result each."""
    random, messages = Random(seed), [user("Check every report of the year and list what does not add up.")]
    for number in range(steps):
        messages += _step(random, f"step{number}", 1)
    return messages


def one_by_one(encode: Callable[[Message], object], messages: list[Message]) -> None:
    """Write every message on its own, and keep nothing."""
    for message in messages:
        encode(message)


def write(path: Path, messages: list[Message]) -> None:
    """Write *messages* as the session file *path*."""
    path.write_text("".join(compact(message) + "\n" for message in messages), encoding="utf-8", newline="\n")


def read(path: Path | str) -> list[Message]:
    """The plain messages of the session file *path*."""
    return [json.loads(line) for line in Path(path).read_text("utf-8").split("\n") if line]


def write_size(path: Path, shape: str, size: int, seed: int = 34) -> int:
    """Write a session file of *shape* that has at least *size* bytes; how many messages it took."""
    count = 0
    with open(path, "wb") as file:
        for message in chain.from_iterable(SHAPES[shape](Random(seed))):
            file.write(compact(message).encode() + b"\n")
            count += 1
            if file.tell() >= size:
                break
    return count


def _talk(sentences: list[str], between: str) -> Callable[[Random], Iterator[Exchange]]:
    def exchanges(random: Random) -> Iterator[Exchange]:
        def some(most: int) -> str:
            return between.join(random.choices(sentences, k=random.randint(1, most)))

        number = 0
        while True:
            number += 1
            exchange = [user(some(3))]
            if number % 4 == 0:
                calls = [{"id": f"look{number}-{part}", "name": "search", "input": {"query": some(1), "limit": 5}}
                         for part in range(random.randint(1, 2))]
                exchange += [assistant("", *calls), *(result(call, some(8)) for call in calls)]
            yield [*exchange, assistant(some(6))]

    return exchanges


def _tasks(random: Random) -> Iterator[Exchange]:
    number = 0
    while True:
        number += 1
        exchange = [user(" ".join(random.choices(ENGLISH, k=3)))]
        for step in range(random.randint(20, 60)):
            exchange += _step(random, f"task{number}-{step}", random.choice((1, 1, 1, 2)))
        yield [*exchange, assistant(" ".join(random.choices(ENGLISH, k=5)))]


def _step(random: Random, name: str, calls: int) -> Exchange:
    """A message that asks for *calls* calls, and their results; one input in ten holds a number with a fraction."""
    asked = []
    for part in range(calls):
        value: Message = {"path": f"reports/{random.choice(('north', 'south'))}-{random.randint(1, 99)}.csv",
                          "offset": random.randint(0, 9000), "columns": ["date", "region", "paid"], "strict": True}
        if random.random() < 0.1:
            value["threshold"] = 0.25
        asked.append({"id": f"{name}-{part}", "name": "read_table", "input": value})
    text = random.choice(("", "I look at the next report.", "The sums differ, so I read on."))
    return [assistant(text, *asked), *(result(call, _table(random), random.random() < 0.05) for call in asked)]


def _table(random: Random) -> str:
    days = range(1, random.randint(3, 15))
    return "date,region,paid\n" + "\n".join(f"2025-03-{day:02},north,{random.randint(100, 99999)}" for day in days)


SHAPES: dict[str, Callable[[Random], Iterator[Exchange]]] = {
    "chat": _talk(ENGLISH, " "), "tools": _tasks, "chinese": _talk(CHINESE, "")}
