"""What is said in the sample sessions, and how the mini-agent's own loop records it.

A talk is a list of (prompt, turns), a turn what the model says at one request. The model is scripted, the tools are real:
`{0}` in a text stands for the first result of the round that just ended.
"""
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from random import Random
from threading import Semaphore, Thread
from typing import Any

from labsupport.miniagent import AgentRun, Message, Tool, ToolCall, ToolMessage, run_agent
from labsupport.own import own_id, own_seed
from labsupport.workbench.sample_table import CLINICS, NAME, TESTS, YEARS, table_tools

Turn = Sequence[str | ToolCall]
Talk = Sequence[tuple[str, Sequence[Turn]]]


class Speaker:
    """A model that says *turns* one after the other and cites what the tools gave."""

    def __init__(self, turns: Iterable[Turn]) -> None:
        self._turns = iter(turns)

    def stream(self, messages: Sequence[Message], tools: Mapping[str, Tool]) -> Iterable[str | ToolCall]:
        results: list[str] = []
        for message in reversed(messages):
            if not isinstance(message, ToolMessage):
                break
            results.insert(0, message.content)
        return [piece.format(*results) if isinstance(piece, str) else piece for piece in next(self._turns)]


def record(path: Path, talk: Talk) -> None:
    """Have *talk* with the mini-agent and let it write the session file *path*."""
    for prompt, turns in talk:
        run_agent(prompt, Speaker(turns), table_tools(), session_path=path, max_steps=len(turns))


def record_interleaved(path: str | PathLike[str], talks: Talk) -> list[AgentRun]:
    """Two loops that share the session file *path*: each hands over when it asks its model and when it runs a tool.

    They run in two threads, but never at once: a baton goes from one to the other, so the file is the same every time.
    The two runs, each with what it has in memory.
    """
    batons = [Semaphore(1), Semaphore(0)]
    runs: dict[int, AgentRun] = {}
    failures: list[BaseException] = []
    ended: set[int] = set()

    def take_part(number: int) -> None:
        def hand_over() -> None:
            if 1 - number not in ended:
                batons[1 - number].release()
                batons[number].acquire()

        def pausing(tool: Tool) -> Tool:
            def paused(given: Any) -> str:
                hand_over()
                return tool(given)
            return paused

        class PausingSpeaker(Speaker):
            def stream(self, messages: Sequence[Message], tools: Mapping[str, Tool]) -> Iterable[str | ToolCall]:
                hand_over()
                return super().stream(messages, tools)

        prompt, turns = talks[number]
        batons[number].acquire()
        try:
            paused_tools = {name: pausing(tool) for name, tool in table_tools().items()}
            runs[number] = run_agent(prompt, PausingSpeaker(turns), paused_tools, session_path=path)
        except BaseException as error:  # noqa: BLE001 - it belongs to the caller, who waits in another thread
            failures.append(error)
        finally:
            ended.add(number)
            batons[1 - number].release()

    threads = [Thread(target=take_part, args=(number,)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for failure in failures:
        raise failure
    return [runs[0], runs[1]]


def total(call_id: str, column: str = "count", **where: str) -> ToolCall:
    return ToolCall(own_id(call_id), "sum_column", {"file": NAME, "column": column, "where": where})


def rows(call_id: str, columns: str, **where: str) -> ToolCall:
    return ToolCall(own_id(call_id), "filter_rows", {"file": NAME, "columns": columns.split(), "where": where})


def change(call_id: str, **where: str) -> ToolCall:
    return ToolCall(own_id(call_id), "year_on_year", {"file": NAME, "column": "count", "where": where})


SHORT: Talk = [("How many thyroid tests did hillside run in 2025?", [
    ["Let me add them up.", total("c1", clinic="hillside", test="thyroid", year="2025")],
    ["Hillside, thyroid, 2025: {0}."],
])]

PARALLEL: Talk = [("2025 年哪个院区的重做最多？ Which clinic repeated most?", [
    [*(total(f"c{number}", "repeats", clinic=clinic, year="2025") for number, clinic in enumerate(CLINICS, 1))],
    ["riverside {0}; harbour {1}; hillside {2}。要看重做率，还得除以检验总数。"],
])]

INTERLEAVED: Talk = [
    ("比较两年的血糖检验。", [[change("x", test="glucose")], ["血糖检验：{0}。"]]),
    ("Compare the lipids of both years.", [[change("y", test="lipids")], ["Lipids: {0}."]]),
]

TOOLS: Talk = [
    ("Read outpatient.csv and total the 2025 tests of hillside.", [
        [total("c1", clinic="hillside", year="2025")],
        ["Hillside, all tests of 2025: {0}."],
    ]),
    ("甲状腺检验比上一年少很多。先查明细和重做次数，再说原因。", [
        ["先看逐月的数字。", rows("c2", "month count repeats", clinic="hillside", test="thyroid", year="2025"),
         change("c3", clinic="hillside", test="thyroid")],
        ["6、7 两个月一次也没有，8 月的重做特别多。全年变化：{1}。像是仪器停用过，不像是病人少了。"],
    ]),
    ("Did the other clinics take those patients over?", [
        [change("c4", clinic="riverside", test="thyroid"), change("c5", clinic="harbour", test="thyroid")],
        ["Riverside took some: {0}. Harbour did not: {1}."],
    ]),
    ("发给财务之前，用一句话总结。", [["hillside 的甲状腺检验在 2025 年 6、7 月中断，8 月重做偏多；riverside 接手了一部分。"]]),
]

LOOP: Talk = [("Go through riverside month by month, both years. 每个月单独查，不要跳过；最后报告 2025 年 12 月。", [
    *([total(f"m{number}", clinic="riverside", year=str(YEARS[number > 12]), month=str((number - 1) % 12 + 1))]
      for number in range(1, 25)),
    ["2025-12: {0}。二十四个月都单独查过。"],
])]


def long_talk(seed: int = own_seed(34)) -> Talk:
    """Every clinic, test, year and quarter in a shuffled order, asked in Chinese and in English by turns."""
    random = Random(seed)
    cases = [(clinic, test, str(year), quarter)
             for clinic in CLINICS for test in TESTS for year in YEARS for quarter in range(4)]
    order = sorted(cases, key=lambda case: random.random())
    return [_question(number, *case) for number, case in enumerate(order, 1)]


def _question(number: int, clinic: str, test: str, year: str, quarter: int) -> tuple[str, Sequence[Turn]]:
    """Every third question is about the whole year, the others are about the three months of a quarter."""
    if number % 3 == 0:
        calls = [rows(f"q{number}.1", "month count", clinic=clinic, test=test, year=year),
                 change(f"q{number}.2", clinic=clinic, test=test)]
        asked = (f"{year} 全年", f"all of {year}")
        answer = ("逐月见上；两年合计 {1}。", "By month as above; the two years: {1}.")
    else:
        months = [str(3 * quarter + month) for month in (1, 2, 3)]
        calls = [total(f"q{number}.{month}", clinic=clinic, test=test, year=year, month=month) for month in months]
        asked = (f"{year} 年第 {quarter + 1} 季度", f"quarter {quarter + 1} of {year}")
        answer = ("依次是 {0}、{1}、{2}。", "In order: {0}, {1}, {2}.")
    if number % 2:
        return (f"{clinic} 的 {test} 检验，{asked[0]}逐月是多少？", [calls, [answer[0]]])
    return (f"{test} at {clinic}, {asked[1]}, month by month?", [calls, [answer[1]]])
