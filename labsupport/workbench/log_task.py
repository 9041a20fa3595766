"""The task that chapter 4's sample logs record: questions about data/outpatient.csv, answered with two pandas tools."""
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

import pandas as pd

from labsupport.own import DATA
from labsupport.sessionlog.models import Model, Reply, Request
from labsupport.sessionlog.stream import Block, Chunk
from labsupport.sessionlog.tokens import count_tokens
from labsupport.sessionlog.tools import Tool

NAME = "outpatient.csv"
CONFIG = {"provider": "workbook", "model": "scripted-1"}
CONTEXT_WINDOW = 128_000
SYSTEM = f"You answer questions about the table {NAME}. Every figure that you give comes from a tool's result."
_WHERE = {"file": {"type": "string"}, "clinic": {"type": "string"}, "test": {"type": "string"}}
SCHEMAS: list[dict[str, Any]] = [
    {"name": "compare_years", "description": "The sum of a column in 2024 and 2025, and the change in per cent.",
     "parameters": {"type": "object", "properties": {**_WHERE, "column": {"type": "string"}}, "required": ["file", "column"]}},
    {"name": "list_rows", "description": "The rows as CSV, each with its share of the month and its rate of repeats.",
     "parameters": {"type": "object", "properties": _WHERE, "required": ["file"]}},
]


@dataclass(frozen=True)
class Comparison:
    """The sums of a column in both years."""

    before: int
    after: int

    @property
    def change(self) -> str:
        """From 2024 to 2025, in per cent.

        >>> Comparison(200, 207).change
        '+3.5 %'
        """
        return f"{100 * (self.after - self.before) / self.before:+.1f} %"


def compare(column: str, clinic: str | None = None, test: str | None = None) -> Comparison:
    """The sums of *column* over the rows of *clinic* and *test*, or of all."""
    sums = _rows({"file": NAME, "clinic": clinic, "test": test}).groupby("year")[column].sum()
    return Comparison(int(sums[2024]), int(sums[2025]))


def compare_years(given: Any) -> str:
    """The tool: what `compare` finds, in words."""
    _rows(given)  # it is that file
    found = compare(given["column"], given.get("clinic"), given.get("test"))
    return f"2024: {found.before:,}\n2025: {found.after:,}\nchange: {found.change}"


def list_rows(given: Any) -> str:
    """The tool: the rows of the table as CSV; all of them take more than 8,192 characters."""
    rows = _rows(given)
    share = 100 * rows["count"] / rows.groupby(["year", "month"])["count"].transform("sum")
    rate = 100 * rows["repeats"] / rows["count"].where(rows["count"] > 0)
    text: str = rows.assign(share=share, repeat_rate=rate).to_csv(index=False, lineterminator="\n", float_format="%.2f")
    return text


def _rows(given: Any) -> pd.DataFrame:
    if given["file"] != NAME:
        raise FileNotFoundError(f"there is no {given['file']}; there is {NAME}")
    rows = _table()
    for column in ("clinic", "test"):
        if given.get(column) is not None:
            rows = rows[rows[column] == given[column]]
    return rows


@cache
def _table() -> pd.DataFrame:
    return pd.read_csv(DATA / NAME)


TOOLS: Mapping[str, Tool] = {"compare_years": compare_years, "list_rows": list_rows}


class SampleClock:
    """Epoch milliseconds that pass as *seed* says: a little with every look, more where something `wait`\\ s.

    >>> clock = SampleClock(7)
    >>> clock() <= clock()
    True
    """

    def __init__(self, seed: int, start: int = 1_772_442_000_000) -> None:
        self.now = start
        self._random = Random(seed)

    def __call__(self) -> int:
        self.wait(0, 3)
        return self.now

    def wait(self, least: int, most: int) -> None:
        """Let *least* to *most* milliseconds pass; less than none when somebody sets the clock back."""
        self.now += least + int((most - least) * self._random.random())


class SlowModel:
    """*model*, which now takes time on *clock*: some before the first chunk, a little before every other."""

    def __init__(self, model: Model, clock: SampleClock) -> None:
        self._model, self._clock = model, clock

    def stream(self, request: Request) -> Iterator[Chunk]:
        """The chunks of the model."""
        self._clock.wait(400, 900)
        for chunk in self._model.stream(request):
            self._clock.wait(2, 40)
            yield chunk


def slow(tool: Tool, clock: SampleClock) -> Tool:
    """*tool*, which now takes time on *clock*."""
    def run(given: Any) -> str:
        clock.wait(30, 160)
        return tool(given)

    return run


def usage_counter() -> Callable[[Request, Reply], dict[str, int]]:
    """A function that counts the tokens of a request and its reply; what a request shares with the one before was cached."""
    before: list[str] = []

    def count(request: Request, reply: Reply) -> dict[str, int]:
        nonlocal before
        parts = [json.dumps(part, ensure_ascii=False) for part in (request.header, *request.messages)]
        shared = next((at for at, (old, new) in enumerate(zip(before, parts, strict=False)) if old != new),
                      min(len(before), len(parts)))
        before = parts
        return {"inputTokens": sum(map(_tokens, parts[shared:])), "outputTokens": sum(map(_block_tokens, reply.blocks())),
                "cacheReadTokens": sum(map(_tokens, parts[:shared]))}

    return count


_tokens = cache(count_tokens)


def _block_tokens(block: Block) -> int:
    return _tokens(block["name"] + block["arguments"] if block["type"] == "tool-call" else block["text"])
