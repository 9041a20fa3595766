"""What is recorded in the sample logs: each play is one session, told to a studio."""
import json
from collections.abc import Callable
from contextlib import suppress
from itertools import islice, product
from typing import Any

from labsupport.own import own_id
from labsupport.sessionlog.models import Reply, call
from labsupport.sessionlog.pruning import prune_session
from labsupport.sessionlog.stream import Block
from labsupport.workbench.log_studio import Studio
from labsupport.workbench.log_task import CONFIG, NAME, TOOLS, compare, list_rows

Play = Callable[[Studio], None]

QUESTION = "How many tests were done in 2025, against 2024?"


def compare_call(id: str, column: str = "count", file: str = NAME, **where: str) -> Block:
    """A call of the tool compare_years."""
    return call(own_id(id), "compare_years", json.dumps({"file": file, "column": column, **where}))


def rows_call(id: str, **where: str) -> Block:
    """A call of the tool list_rows."""
    return call(own_id(id), "list_rows", json.dumps({"file": NAME, **where}))


def figures(subject: str, column: str = "count", **where: str) -> str:
    """A sentence with what the table holds."""
    found = compare(column, **where)
    return f"{subject}: {found.after:,} in 2025 against {found.before:,} in 2024, {found.change}."


def two_step(studio: Studio) -> None:
    """One question, one call, its result, the answer."""
    studio.ask(QUESTION, [Reply("I look it up.", [compare_call("call_1")]), Reply(figures("All tests"), size=12)])


def parallel(studio: Studio) -> None:
    """Two calls in one message. While the second tool runs, somebody sets the clock of the machine back."""
    def back(given: Any) -> str:
        if given["column"] == "repeats":
            studio.clock.wait(-1_500, -1_500)
        return TOOLS["compare_years"](given)

    answer = f"{figures('All tests')} {figures('Repeats', 'repeats')}"
    studio.ask("Compare the tests and the repeats of both years.",
               [Reply(calls=[compare_call("call_1"), compare_call("call_2", "repeats")]), Reply(answer, size=12)],
               {**TOOLS, "compare_years": back})


def steering(studio: Studio) -> None:
    """While the first tool runs, the user adds something; it enters with the second step."""
    waiting: list[str] = []

    def interrupted(given: Any) -> str:
        if not given.get("clinic"):
            waiting.append("Only the clinic hillside, please.")
        return TOOLS["compare_years"](given)

    def take() -> list[str]:
        said, waiting[:] = list(waiting), []
        return said

    studio.ask(QUESTION, [Reply(calls=[compare_call("call_1")]), Reply(calls=[compare_call("call_2", clinic="hillside")]),
                          Reply(figures("Hillside", clinic="hillside"), size=12)],
               {**TOOLS, "compare_years": interrupted}, steering=take)


def max_tokens(studio: Studio) -> None:
    """The second answer is cut at its token limit, inside the arguments of a call."""
    cut = call(own_id("call_2"), "list_rows", '{"file": "outpa')
    studio.ask(QUESTION, [Reply(calls=[compare_call("call_1")]),
                          Reply("The sum alone says little, so I look at the rows.", [cut], finish="max-tokens", size=12)])


def cancelled(studio: Studio) -> None:
    """The user cancels while the first of two tools runs: that one ends, the other is not started."""
    stopped: list[bool] = []

    def cancel(given: Any) -> str:
        stopped.append(True)
        return TOOLS["compare_years"](given)

    studio.ask("Compare both years, then list all rows.", [Reply(calls=[compare_call("call_1"), rows_call("call_2")])],
               {**TOOLS, "compare_years": cancel}, cancelled=lambda: bool(stopped))


def cancelled_stream(studio: Studio) -> None:
    """The user cancels while the answer streams: there is no message, only chunks."""
    def cancelled() -> bool:
        step = studio.find("step/start")
        return bool(step.data["step"] == 2) and studio.find("assistant/chunk").seq - step.seq >= 4

    studio.ask(QUESTION, [Reply(calls=[compare_call("call_1")]), Reply(figures("All tests"), size=8)], cancelled=cancelled)


def tool_raises(studio: Studio) -> None:
    """The model names a file that is not there; the tool raises, the model reads why and asks again."""
    studio.ask(QUESTION, [Reply(calls=[compare_call("call_1", file="outpatients.csv")]),
                          Reply("The file has another name.", [compare_call("call_2")]), Reply(figures("All tests"), size=12)])


def provider_error(studio: Studio) -> None:
    """The provider gives up while it streams the answer."""
    studio.ask(QUESTION, [Reply(calls=[compare_call("call_1")]),
                          Reply("In 2025 there were", error=("the provider is overloaded; try again later", "OVERLOADED"))])


def replaced(studio: Studio) -> None:
    """A long result is pruned before the second request on it; later the first turn is replaced by a summary."""
    thyroid = figures("Thyroid tests at hillside", clinic="hillside", test="thyroid")
    zero = [row.split(",")[1] for row in list_rows({"file": NAME, "clinic": "hillside", "test": "thyroid"}).split("\n")
            if row.startswith("2025") and row.split(",")[4] == "0"]
    finding = f"In 2025 hillside has no thyroid tests in the months {' and '.join(zero)}."
    studio.ask("Show me all rows. Does anything look odd?", [Reply(calls=[rows_call("call_1")]), Reply(finding, size=12)])
    studio.ask("How do both years compare there?",
               [Reply(calls=[compare_call("call_2", clinic="hillside", test="thyroid")]), Reply(thyroid, size=12)],
               make_room=lambda session, trigger: prune_session(session))
    studio.compact(studio.session.surface.nodes[:4], f"The user had all rows of {NAME} listed. {finding}")
    studio.ask("Thank you. Which months were that?", [Reply(finding, size=12)])


def interrupted(studio: Studio) -> None:
    """The process dies while the first of two tools runs: of that call the outcome is unknown, the other was not started."""
    def die(given: Any) -> str:
        raise KeyboardInterrupt

    with suppress(KeyboardInterrupt):
        studio.ask("Compare both years, then list all rows.", [Reply(calls=[compare_call("call_1"), rows_call("call_2")])],
                   {**TOOLS, "compare_years": die})


def resumed(studio: Studio) -> None:
    """As interrupted; a new process loads the log, closes what was open, and goes on with another model."""
    interrupted(studio)
    studio.restart()
    studio.ask("Go on.", [Reply(calls=[compare_call("call_3")]), Reply(figures("All tests"), size=12)],
               config={**CONFIG, "model": "scripted-2"})


def packed(studio: Studio) -> None:
    """One question, with reasoning, in very small pieces: most records are packed rows of chunks."""
    studio.ask(QUESTION, [Reply("", [compare_call("call_1")], "Both years are in the table; one call will do.", size=2),
                          Reply(figures("All tests"), reasoning="The tool gave both sums and the change.", size=2)])


def ignorable_event(studio: Studio) -> None:
    """Two steps, and then an event of a type that is not known here and says that it may be passed over."""
    two_step(studio)
    studio.session.append("bookmark/set", {"seq": studio.find("tool/result").seq}, ignorable=True)


CLINICS = (None, "riverside", "harbour", "hillside")
TESTS = (None, "glucose", "lipids", "thyroid")
COLUMNS = ("count", "repeats")
NAMES_ZH = {"riverside": "河畔", "harbour": "港口", "hillside": "山坡", "glucose": "血糖", "lipids": "血脂",
            "thyroid": "甲状腺", "count": "检验量", "repeats": "复检量"}


def long(studio: Studio) -> None:
    """Thirty-two questions, about a thousand events, every third in Chinese; after the twelfth the first eight are replaced."""
    for number, (column, clinic, test) in enumerate(product(COLUMNS, CLINICS, TESTS), start=1):
        where = {key: name for key, name in (("clinic", clinic), ("test", test)) if name}
        if number % 3 == 0:
            subject = "、".join(NAMES_ZH[name] for name in (*where.values(), column))
            found = compare(column, **where)
            question = f"{subject}：两年相比如何？"
            answer = f"{subject}：2025 年 {found.after:,}，2024 年 {found.before:,}，{found.change}。"
        else:
            subject = ", ".join((*where.values(), column))
            question = f"Compare the years: {subject}."
            answer = figures(subject, column, **where)
        wrong = number == 20
        first = compare_call(f"call_{number}", column, "outpatients.csv" if wrong else NAME, **where)
        retry = [Reply(calls=[compare_call(f"call_{number}b", column, **where)], size=24)] if wrong else []
        studio.ask(question, [Reply(calls=[first], size=24), *retry, Reply(answer, size=8)])
        if number == 12:
            nodes = list(islice(studio.session.surface.nodes, 32))
            studio.compact(nodes, "The user compared counts of tests, by clinic and by test: eight questions, all answered.")


PLAYS: dict[str, Play] = {
    play.__name__: play
    for play in (two_step, parallel, steering, max_tokens, cancelled, cancelled_stream, tool_raises, provider_error, replaced,
                 interrupted, resumed, packed, ignorable_event, long)
}
