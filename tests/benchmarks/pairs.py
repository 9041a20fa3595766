"""Trim to 40 evenly spaced budgets: are the pairs of call and result whole, is the budget kept, is anything left?

The judge belongs to none of the libraries: it looks at the plain messages of the file.
"""
from dataclasses import dataclass
from pathlib import Path

from labsupport.miniagent import context_units, load_session, trim_context
from tests.benchmarks import histories
from tests.benchmarks.environment import Worker
from tests.benchmarks.histories import Message
from tests.benchmarks.table import Row

BUDGETS = 40


@dataclass
class Count:
    """Of the *tried* trims: how many kept something and cut no pair, how many passed the budget, how many kept nothing."""

    tried: int = 0
    valid: int = 0
    over: int = 0
    empty: int = 0

    def add(self, history: list[Message], kept: list[int], over: bool) -> None:
        self.tried += 1
        self.valid += bool(kept) and pairs_are_whole(history, kept)
        self.over += over
        self.empty += not kept

    def __str__(self) -> str:
        return f"{self.valid} of {self.tried} valid, {self.over} over, {self.empty} empty"


def rows(folder: Path, steps: int, peers: Worker | None) -> list[Row]:
    """Our counts over a chat and a task of *steps* steps, each some 2 × *steps* messages; then a row for each peer."""
    ours, others = Count(), {}
    for name, history in (("chat", histories.asking("chat", 2 * steps)), ("task", histories.one_task(steps))):
        path = folder / f"pairs-{name}.jsonl"
        histories.write(path, history)
        newest = _count_ours(ours, path, history)
        for answer in peers.ask("sweep", path=str(path), newest=newest, budgets=BUDGETS) if peers else ():
            count = others.setdefault(answer["name"], Count())
            for kept, over in answer["kept"]:
                count.add(history, kept, over)
    subject = f"{BUDGETS} budgets each: a chat, and one request with {steps} steps"
    met = ours == Count(tried=2 * BUDGETS, valid=2 * BUDGETS)
    return [Row(subject, str(ours), target=f"{2 * BUDGETS} of {2 * BUDGETS}, 0 over, 0 empty", ok=met),
            *(Row(subject, str(ours), f"{name}: {count}") for name, count in others.items())]


def _count_ours(count: Count, path: Path, history: list[Message]) -> int:
    """Count our trims of *history*, which is what *path* holds; how many messages its newest unit has."""
    messages = load_session(path)
    places = {id(message): index for index, message in enumerate(messages)}
    newest = len(context_units(messages)[-1])
    for budget in histories.spaced(characters(history[-newest:]), characters(history), BUDGETS):
        kept = [places[id(message)] for message in trim_context(messages, budget)]
        count.add(history, kept, characters([history[index] for index in kept]) > budget)
    return newest


def characters(messages: list[Message]) -> int:
    """The UTF-16 code units of the lines of *messages*."""
    return sum(len(f"{histories.compact(message)}\n".encode("utf-16-le")) // 2 for message in messages)


def pairs_are_whole(history: list[Message], kept: list[int]) -> bool:
    """Whether *kept*, indexes into *history*, are in order and hold a call exactly when they hold its result.

    >>> call = {"id": "a", "name": "ls", "input": None}
    >>> talk = [histories.user("hi"), histories.assistant("", call), histories.result(call, "")]
    >>> [pairs_are_whole(talk, kept) for kept in ([0, 1, 2], [1, 2], [0, 1], [2])]
    [True, True, False, False]
    """
    asked = {call["id"]: index for index, message in enumerate(history) for call in message.get("toolCalls", ())}
    pairs = [(asked[message["toolCallId"]], index) for index, message in enumerate(history) if message["role"] == "tool"]
    held = set(kept)
    return kept == sorted(held) and all((call in held) == (result in held) for call, result in pairs)
