"""Text from logs is anybody's: in every picture, table and report it stays text, in its place and in bounds.

Each is drawn from hostile text in every field that it draws, and from harmless text as long: the same tags, attributes and
styles have to come of both.
"""
import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import ipywidgets as widgets
import pandas as pd
import pytest
from msgspec import structs

import labsupport.workbench
from labsupport.errors import ForkError, HoldError, LabError
from labsupport.lossless import js_json
from labsupport.miniagent import message_json
from labsupport.outside import Operation
from labsupport.sessionlog import (
    Reply,
    Session,
    SessionEvent,
    SessionHeader,
    Unit,
    fork,
    session_stats,
    tool_pairing,
    turn_status,
)
from labsupport.sessionlog.lineage import boundaries
from labsupport.sessionlog.privacy import Need, RequestLevel
from labsupport.sessionlog.prompt import ContextPart, Opener, Prompt, Section, Tools
from labsupport.sessionlog.query_state import EMPTY, Source, commit
from labsupport.sessionlog.roles import AUDITOR, OFFICER
from labsupport.sessionlog.summarizers import ScriptedSummarizer
from labsupport.workbench import business_tables, clinic_words, compaction_tables, privacy_tables
from labsupport.workbench.breakage import break_line
from labsupport.workbench.checks.base import correct
from labsupport.workbench.clinic import PLACES, diagnose, make_case
from labsupport.workbench.clinic.ward import every_cause
from labsupport.workbench.compactions import Compactions
from labsupport.workbench.copies import handle
from labsupport.workbench.cuts import cut_log
from labsupport.workbench.desk_play import Desk, ask
from labsupport.workbench.erasing import PLACES as KEPT_IN
from labsupport.workbench.erasing import Looked
from labsupport.workbench.explorers.b3 import UNITS
from labsupport.workbench.flush_measure import Measured as MeasuredFlushes
from labsupport.workbench.flush_runs import POLICIES, Run
from labsupport.workbench.invoice_kills import Found
from labsupport.workbench.invoice_moments import Known, Moment
from labsupport.workbench.log_views import LogViews
from labsupport.workbench.mail_task import Point
from labsupport.workbench.pictures.budget import Measured, budget_picture
from labsupport.workbench.pictures.business import business_picture
from labsupport.workbench.pictures.clinic import clinic_picture
from labsupport.workbench.pictures.compaction import compaction_picture
from labsupport.workbench.pictures.density import density_picture
from labsupport.workbench.pictures.flush import flush_picture
from labsupport.workbench.pictures.flush_chart import Dot, chart
from labsupport.workbench.pictures.fork import fork_picture
from labsupport.workbench.pictures.line import line_picture
from labsupport.workbench.pictures.privacy import privacy_picture
from labsupport.workbench.pictures.requests import requests_picture
from labsupport.workbench.pictures.rules import rules_picture
from labsupport.workbench.pictures.scrubber import scrubber_picture
from labsupport.workbench.pictures.truncation import truncation_picture
from labsupport.workbench.pictures.truncation_rows import read_whole
from labsupport.workbench.pictures.watermarks import watermarks_picture
from labsupport.workbench.pictures.whole_request import whole_request_picture
from labsupport.workbench.projection_tables import waiting_table
from labsupport.workbench.report import lab_report
from labsupport.workbench.request_tables import parts_table
from labsupport.workbench.show import Explorer
from labsupport.workbench.tables import CELL, TextTable, event_table, load_table, verdict_table
from labsupport.workbench.text import speaking
from labsupport.workbench.watermarks import UnitViews
from labsupport.workbench.whole_requests import WholeRequests
from labsupport.workbench.witness import Seen, Watched
from tests import builders as plain
from tests.notebooks.books import Reader
from tests.sessionlog import builders as make
from tests.sessionlog.test_canaries import full as bodies

MARK = "☃"
"""Begins every hostile text, and is nowhere else: so it is seen that a text is drawn."""
HOSTILE = {
    "a script": "<script>window.__pwned = 1</script>",
    "an image": '<img src=x onerror="window.__pwned = 2">',
    "a link": '<a href="javascript:window.__pwned = 3">here</a>',
    "an address": "javascript:window.__pwned = 4",
    "a stylesheet": "<style>* { display: none }</style>",
    "closing tags": "</bdi></td></tr></table></div></p></style>--></script><b>bold",
    "two quotes": "\" onmouseover=\"window.__pwned = 5\" style=\"position:fixed",
    "one quote": "' onfocus='window.__pwned = 6' autofocus='",
    "templates": "${7*7} {{7*7}} {0} {n} %(n)s %s",
    "mathematics": r"$x$ $$\href{javascript:alert(1)}{x}$$ \(y\) \begin{align}z\end{align}",
    "markdown": "**bold** *it* [x](javascript:alert(1)) `code` | cell | # title",
    "entities": "&lt;b&gt;&#60;b&#62;&quot;&amp;lt;",
    "bidi": "\u202eevil\u202c\u2066x\u2069\u2067y\u2069\u061c\u200f",
    "controls": "a\x00b\x07c\x1b[31md\x7fe\x80f\x9bg\u2028h\r\n\ti",
    "half a pair": "\ud83d lone \udc00 twice",
    "marks": "e" + "\u0301" * 3000,
}
LONG = "word " * 40_000
BAD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")


@pytest.fixture(autouse=True)
def in_english() -> Iterator[None]:
    with speaking("en"):
        yield


# Logs in which every field says *text*

def records(text: str) -> list[make.Record]:
    """One turn that ended and one that goes on, with *text* for every id, name, word and key that anybody may choose."""
    call = {**make.call_block(f"{text}1"), "name": text, "arguments": js_json({text: text})}
    error = {"name": text, "code": text, "message": text}
    result = {**make.result_data(f"{text}1", text), "meta": {text: [text]}, "error": error}
    header = {"config": {"provider": text, "model": text}, "system": text, "tools": [{"name": text, "description": text}]}
    return make.numbered(
        make.record("session/title", {"title": text}),
        make.record(f"plugin/{text}", {text: {text: text}}, ignorable=True),
        make.turn_start(), make.step_start(), make.user(text, f"{text}u"),
        make.record("user/message", make.user_data(text, f"{text}p", kind="plugin", plugin=text), surfaceOp="append"),
        make.record("request/header", {"header": header, "reason": text}),
        make.record("request/context", {"provider": text, "model": text, "contextWindow": 9}),
        make.chunk(text), make.chunk(text),
        make.record("assistant/message", make.says_data(make.text_block(text), {"type": "reasoning", "text": text}, call,
                                                        id=f"{text}a"), surfaceOp="append"),
        make.record("tool/call", {"turn": 1, "step": 1, "callId": f"{text}1", "name": text, "arguments": text}),
        make.record("tool/result", result, surfaceOp="append", sourceEventSeqs=[11]),
        make.step_end(), make.turn_end(1, text),
        make.record("todo/write", {"todos": [{"content": text, "status": text}]}),
        make.record("compaction/start", {"compactionId": text, "turn": None, "trigger": text}),
        make.record("approval/asked", {text: text}),
        make.record("turn/start", {"turn": text}), make.record("step/start", {"turn": text, "step": text}),
        make.record("user/message", make.user_data(text, f"{text}v"), surfaceOp="append"),
        make.record("assistant/message", make.says_data({**call, "id": f"{text}2"}, {**call, "id": f"{text}3"}),
                    surfaceOp="append"),
        make.record("tool/call", {"turn": text, "step": text, "callId": f"{text}2", "name": text, "arguments": text}))


def events(text: str) -> list[Any]:
    return make.log(*records(text))


def session(text: str) -> Session:
    header = SessionHeader(text, cwd=f"/{text}", parent_session=text, origin=text, agent_preset=text)
    return Session.seeded(header, events(text))


def talk(text: str) -> list[Any]:
    asked = plain.AssistantMessage(text, tuple(plain.ToolCall(f"{text}{n}", text, {text: text}) for n in range(3)))
    answers = [plain.ToolMessage(f"{text}{n}", text, n == 1) for n in (0, 1)]
    return [plain.ToolMessage(f"{text}9", text, False), plain.user(text), asked, *answers, plain.says(text), plain.user(text)]


def asked(text: str) -> Session:
    """A session whose requests have parts that are named like that."""
    found = Session.create("s")
    prompt = Prompt([Section(text, text, version=text)], [Tools(text, [{"name": text}], version=text)],
                    [ContextPart(text, lambda: text, version=text)], [Opener(text, text, version=text)])
    for _ in range(2):
        ask(found, Desk(), text, Reply(text), prompt=prompt)
    return found


# Pictures

AT = (1, 5, 11, 12, 14, 16, 20, 22)
"""Seqs of that log at which pictures stand."""
Draw = Callable[[str, bool], list[str]]


def of_budgets(text: str, show_text: bool) -> list[str]:
    measured = Measured(talk(text))
    return [budget_picture(measured, budget, rule, pin, show_text)
            for budget in (10, 5 * len(text) + 400, 10**8) for rule in ("chapter", "closed") for pin in (True, False)]


def of_rules(text: str, show_text: bool) -> list[str]:
    return [rules_picture(talk(text), budget, show_text) for budget in (10, 3 * len(text) + 300, 10**8)]


def of_requests(text: str, show_text: bool) -> list[str]:
    file = tuple(talk(text))
    seen = Watched((Seen(file[:3], file[1:3]), Seen(file, file[5:])), 99, file)
    return [requests_picture(seen, at, show_text=show_text) for at in (1, 2)]


def of_lines(text: str, show_text: bool) -> list[str]:
    lines = [f"{message_json(message)}\n".encode() for message in talk(text)[1:5]]
    lines.append(js_json({**{f"{text}{n}": text for n in range(9)}, "role": "user", "content": text}).encode() + b"\n")
    return [line_picture(break_line(lines, at, name)) for at in (2, 5) for name in ("none", "half", "no_input", "nan", "utf8")]


def of_density(text: str, show_text: bool) -> list[str]:
    return [density_picture({text: text, f"{text}2": "plain words"})]


def of_scrubber(text: str, show_text: bool) -> list[str]:
    views = LogViews(events(text))
    return [scrubber_picture(views, seq, show_text=show_text) for seq in AT]


def of_watermarks(text: str, show_text: bool) -> list[str]:
    own = Unit(text, frozenset({"turn/start"}), dict, lambda state, event: {text: text, f"{text}2": {text: text}})
    log = events(text)
    views = LogViews(log), UnitViews((own, turn_status, tool_pairing, session_stats), log)
    return [watermarks_picture(*views, seq, show_text=show_text) for seq in AT]


def of_truncation(text: str, show_text: bool) -> list[str]:
    found = []
    data = make.HEADER_LINE + b"".join(map(make.line, records(text)))
    whole = read_whole(data)
    for at in (5, *(whole.lines[line].stop - less for line in (2, 12, len(whole.lines) - 1) for less in (0, 3))):
        found.append(truncation_picture(whole, cut_log(data, at), handle(data[:at]), show_text))
    return found


def of_compaction(text: str, show_text: bool) -> list[str]:
    tries = Compactions(Session.seeded(SessionHeader("s"), events(text)), ScriptedSummarizer([text] * 99, text, text))
    seqs = [node.seq for node in tries.nodes]
    return [compaction_picture(tries, tries.at(seqs[0], end, 0), show_text) for end in (*seqs[::2], seqs[-1])]


def of_whole_request(text: str, show_text: bool) -> list[str]:
    requests = WholeRequests(asked(text).events)
    return [whole_request_picture(requests, at, show_text=show_text) for at in (1, 2)]


def of_flush(text: str, show_text: bool) -> list[str]:
    log = tuple(events(text))
    runs = [Run(policy, log, (5, 12)) for policy in POLICIES]
    return [flush_picture(runs, LogViews(log), killed, "every_ms", text, MeasuredFlushes(ms, text))
            for killed in (0, 12.5, 20) for ms in ({}, dict.fromkeys(POLICIES, 2.5))]


def of_chart(text: str, show_text: bool) -> list[str]:
    name = text[:40]
    return [chart([Dot(name, 1, 9), Dot(f"{name}2", 3, 4, True), Dot(name, 4, 5)], timed) for timed in (True, False)]


def of_fork(text: str, show_text: bool) -> list[str]:
    parent, found = session(text), []
    for seq in AT:
        try:
            outcome: Session | ForkError = fork(parent, seq)
        except ForkError as error:
            outcome = error
        found.append(fork_picture(LogViews(parent.events), boundaries(parent.events), parent.header, seq, outcome, show_text))
    return found


def state_of(text: str) -> Any:
    return commit(EMPTY, Source(1, 1), goal=text, metric={"id": text, "version": 1, "status": "draft"}, filters={text: text},
                  time=dict.fromkeys(("calendar", "mode", "start", "end"), text), ambiguities=[text])


def of_business(text: str, show_text: bool) -> list[str]:
    log = tuple(events(text))
    paid = Operation("op-0001", text, text, "done", 1, {"invoice": text, text: text})

    class Stated(Found):
        state = state_of(text)

    found = Stated(log, 2, (paid, paid, paid), ())
    return [business_picture(LogViews(log), Known(Moment(Point("event", text, 3), appended, ()), found, sent, sent == 2),
                             with_key, show_text) for appended in (3, len(log)) for sent in (None, 1, 2)
            for with_key in (True, False)]


def of_privacy(text: str, show_text: bool) -> list[str]:
    log = session(text)
    needs = frozenset({Need("key", f"clinic/{text}", 1)})
    more = needs | {Need("attachment", f"attachment:{text}")}
    levels = {text: [RequestLevel(3, "with key", needs, frozenset()), RequestLevel(9, "gone", needs, needs)],
              f"{text}2": [RequestLevel(3, "gone", more, more)], f"{text}3": [RequestLevel(3, "gone", needs, needs)]}
    before = Looked(levels, dict.fromkeys(KEPT_IN, True), None, None)
    now = Looked({**levels, f"{text}3": None}, dict.fromkeys(KEPT_IN, False), None, HoldError((text, text), (text,)))
    return [privacy_picture(log.header, log.events, before, after, "all", role, True, show_text)
            for role in (OFFICER, AUDITOR) for after in (before, now)]


def hostile_case(text: str) -> Any:
    case = make_case(1)
    odd = js_json({"type": text, "seq": len(case.archive.splitlines()) - 1, "time": 0, "data": {}})
    provider = replace(case.provider, scope=text, tools=(text,), context=(text, f"{text}2"))
    flushes = (replace(case.flushes[0], error=text), *case.flushes[1:])
    return replace(case, archive=case.archive + odd.encode() + b"\n", provider=provider, flushes=flushes,
                   receipts=tuple(replace(one, session=text, operations=(text,)) for one in case.receipts))


def of_clinic(text: str, show_text: bool) -> list[str]:
    found = diagnose(hostile_case(text))
    return [clinic_picture(patient, found, asked) for patient in every_cause()[::6] for asked in (0, len(PLACES))]


DRAWN: dict[str, Draw] = {
    "budget_picture": of_budgets, "rules_picture": of_rules, "requests_picture": of_requests, "line_picture": of_lines,
    "density_picture": of_density, "scrubber_picture": of_scrubber, "watermarks_picture": of_watermarks,
    "truncation_picture": of_truncation, "compaction_picture": of_compaction, "whole_request_picture": of_whole_request,
    "flush_picture": of_flush, "chart": of_chart, "fork_picture": of_fork, "business_picture": of_business,
    "privacy_picture": of_privacy, "clinic_picture": of_clinic}
NO_LOG = {"map_picture": "it draws the list of the labs, which is the workbook's own"}


def shape(markup: str) -> set[tuple[str, ...]]:
    """The tags of *markup*, its attributes and their values: without figures, and without words in labels."""
    reader = Reader(markup)
    values = {(tag, name, "" if name == "aria-label" else re.sub(r"\d+(\.\d+)?", "0", value or ""))
              for tag, name, value in reader.attributes}
    return {(tag,) for tag in reader.tags} | values


def seen(markups: list[str]) -> set[tuple[str, ...]]:
    """The shape of all *markups*; but a scale whose end lies elsewhere turns its words to another side."""
    return set().union(*map(shape, markups)) - {("span", "class", side) for side in ("is-l", "is-r", "is-mark is-r", "is-mark")}


@cache
def harmless(name: str, length: int) -> tuple[set[tuple[str, ...]], list[int]]:
    """What comes of harmless text of that *length*: the shape, and how much is bold in each picture."""
    drawn = DRAWN[name](MARK + "x" * length, True)
    return seen(drawn), bold(drawn)


def bold(markups: list[str]) -> list[int]:
    return [markup.count("<strong>") for markup in markups]


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("name", DRAWN)
def test_in_a_picture_hostile_text_stays_text(name: str, kind: str) -> None:
    drawn = DRAWN[name](MARK + HOSTILE[kind], True)
    assert (seen(drawn), bold(drawn)) == harmless(name, len(HOSTILE[kind]))
    assert any(MARK in text for picture in drawn for text in Reader(picture).text)
    for picture in drawn:
        picture.encode()
        assert not BAD.search(picture)


@pytest.mark.parametrize("name", DRAWN)
def test_a_long_text_makes_no_large_picture(name: str) -> None:
    """Contents are not asked for here; a summary that is, is there to be read whole."""
    sizes = [[len(picture) for picture in DRAWN[name](MARK + text, False)] for text in ("word " * 100, LONG)]
    assert max(sizes[1]) < max(sizes[0]) + 3000


def test_every_picture_is_covered() -> None:
    names = {name for module in modules("labsupport.workbench.pictures") for name, found in public(module)
             if name.endswith("picture") or name == "chart"}
    assert names == {*DRAWN, *NO_LOG}


def modules(package: str) -> Iterator[Any]:
    root = importlib.import_module(package)
    for found in pkgutil.walk_packages(root.__path__, f"{package}."):
        yield importlib.import_module(found.name)


def public(module: Any) -> Iterator[tuple[str, Any]]:
    """The functions that *module* itself has for others."""
    for name, found in vars(module).items():
        if inspect.isfunction(found) and found.__module__ == module.__name__ and not name.startswith("_"):
            yield name, found


def test_an_error_becomes_a_sentence_and_nothing_else() -> None:
    def draw(n: int, text: str) -> str:
        raise LabError(text)

    for kind, words in HOSTILE.items():
        text = MARK + words
        drawn = [str(Explorer(lambda n, said=said: draw(n, said), n=widgets.IntSlider(1)).figure.value)
                 for said in (text, MARK + "x" * len(words))]
        assert shape(drawn[0]) == shape(drawn[1]), kind


# What messages say

QUIET = [name for name in DRAWN if name not in ("line_picture", "density_picture")]
"""Pictures that draw contents on request only; a line that is broken, and texts that are counted, are there to be seen."""
SECRET = "hunter2Canary"


def with_secrets(name: str, show_text: bool) -> list[str]:
    """The picture *name* of something whose bodies, and nothing else, have the secret."""
    log = [SessionEvent.from_json(record) for record in bodies()]
    it, views = Session.seeded(SessionHeader("s1"), log), LogViews(log)
    said = [structs.replace(message, content=f"[{SECRET}]") for message in talk("x")[1:]]
    data = make.HEADER_LINE + b"".join(map(make.line, bodies()))
    tries, whole = Compactions(it, ScriptedSummarizer([SECRET] * 99)), read_whole(data)
    looked = Looked({}, dict.fromkeys(KEPT_IN, True), None, None)

    class Stated(Found):
        state = commit(EMPTY, Source(1, 1), goal=SECRET)

    draw: dict[str, Callable[[], list[str]]] = {
        "budget_picture": lambda: [budget_picture(Measured(said), 300, show_text=show_text)],
        "rules_picture": lambda: [rules_picture(said, 300, show_text)],
        "requests_picture": lambda: [requests_picture(Watched((Seen(tuple(said), tuple(said)),), 9, tuple(said)), 1,
                                                      show_text=show_text)],
        "scrubber_picture": lambda: [scrubber_picture(views, seq, show_text=show_text) for seq in range(len(log))],
        "watermarks_picture": lambda: [watermarks_picture(views, UnitViews(UNITS, log), seq, show_text=show_text)
                                       for seq in range(len(log))],
        "truncation_picture": lambda: [truncation_picture(whole, cut_log(data, at), handle(data[:at]), show_text)
                                       for at in (len(data), len(data) - 40, whole.lines[9].stop - 60)],
        "compaction_picture": lambda: [compaction_picture(tries, tries.at(3, end, 0), show_text) for end in (3, 7, 9, 14, 15)],
        "whole_request_picture": lambda: [whole_request_picture(WholeRequests(log), 1, show_text=show_text)],
        "fork_picture": lambda: [fork_picture(views, boundaries(log), it.header, 16, fork(it, 16), show_text)],
        "business_picture": lambda: [business_picture(views, Known(Moment(Point("event", "x", 3), 9, ()), Stated(
            tuple(log), 0, (), ()), 1), True, show_text)],
        "privacy_picture": lambda: [privacy_picture(it.header, make.log(make.user(f"[{SECRET}]")), looked, looked, "all",
                                                    AUDITOR, False, show_text)],
        "flush_picture": lambda: [flush_picture([Run(policy, tuple(log), (5,)) for policy in POLICIES], views, 3, "every_ms",
                                                "JSONL")],
        "chart": lambda: of_chart("x", show_text),
        "clinic_picture": lambda: [clinic_picture(every_cause()[0], diagnose(replace(make_case(1), log=tuple(log))), 6)]}
    return draw[name]()


@pytest.mark.parametrize("name", QUIET)
def test_what_messages_say_is_drawn_on_request_only(name: str) -> None:
    assert SECRET[:8] not in "".join(with_secrets(name, False))
    asked_for = "".join(with_secrets(name, True))
    assert (SECRET[:3] in asked_for) == (name not in ("flush_picture", "chart", "clinic_picture"))


# Tables

def of_states(text: str) -> list[pd.DataFrame]:
    needs = frozenset({Need("key", text, 1), Need("attachment", text)})
    level = RequestLevel(3, "gone", needs, needs)
    return [business_tables.state_table(state_of(text)), privacy_tables.level_table({text: [level]}),
            privacy_tables.class_table(events(text), {}, text)]


def of_logs(text: str) -> list[pd.DataFrame]:
    log = Session.seeded(SessionHeader("s"), events(text))
    ended = [*records(text), make.record("compaction/end", {"compactionId": text, "error": {"code": text}})]
    return [event_table(log.events), waiting_table(make.log(*records(text)[:18]), ["tool/call", "assistant/message"]),
            parts_table(asked(text).events, 2), compaction_tables.surface_table(log),
            compaction_tables.six_questions(make.log(*ended), text),
            compaction_tables.fact_table([text, f"{text}2"], before=log, after=log)]


def of_files(text: str) -> list[pd.DataFrame]:
    data = js_json({"role": text, text: text}).encode()
    return [verdict_table([text, {text: text}, {"role": "tool", "toolCallId": text, "content": text}]),
            load_table({text: data, f"{text}2": f"{message_json(plain.user(text))}\n".encode()})]


def of_cases(text: str) -> list[pd.DataFrame]:
    case = hostile_case(text)
    return [clinic_words.evidence_table(case), clinic_words.diagnosis_table(diagnose(case))]


TABLES: dict[str, Callable[[str], list[pd.DataFrame]]] = {
    "states": of_states, "logs": of_logs, "files": of_files, "cases": of_cases,
    "any": lambda text: [TextTable([(text, 1, text)], columns=[text, "n", f"{text}2"], index=[text])]}


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.parametrize("name", TABLES)
def test_in_a_table_hostile_text_stays_text(name: str, kind: str) -> None:
    text = MARK + HOSTILE[kind]
    pages = [page for table in TABLES[name](text) for page in [table._repr_html_()]]
    other = [table._repr_html_() for table in TABLES[name](MARK + "x" * len(HOSTILE[kind]))]
    assert seen(pages) == seen(other)
    assert any(MARK in page for page in pages)
    for shown in (*pages, *map(repr, TABLES[name](text))):
        shown.encode()
        assert not BAD.search(shown)
    assert all("mathjax_ignore" in page for page in pages)


@pytest.mark.parametrize("name", TABLES)
def test_a_long_text_makes_no_large_table(name: str) -> None:
    for table in TABLES[name](MARK + LONG):
        assert len(table._repr_html_()) < 2 * CELL * table.size + 20_000


def test_every_table_is_one_of_text() -> None:
    """What is a table in the workbook is a `TextTable`, and shown by it: so a new one needs no test here."""
    made = {}
    for path in sorted(Path(labsupport.workbench.__path__[0]).rglob("*.py")):
        nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
        calls = {getattr(node.func, "attr", getattr(node.func, "id", "")) for node in nodes if isinstance(node, ast.Call)}
        made[path.name] = calls & {"DataFrame", "Series", "to_html", "to_frame"}
    assert {name: calls for name, calls in made.items() if calls} == {"tables.py": {"DataFrame"}}  # that of `_as_shown`


# The report

@pytest.mark.parametrize("kind", HOSTILE)
def test_a_report_has_nothing_of_it_at_all(kind: str) -> None:
    text = MARK + HOSTILE[kind]
    report = lab_report(events(text), checks={"mine": correct()})
    told = [report.to_json(), report.to_markdown(), repr(report), report._repr_html_(), repr(report.table())]
    assert not [words for words in told if MARK in words]
    assert shape(report._repr_html_()) == shape(lab_report(events(f"{MARK}x"), checks={"mine": correct()})._repr_html_())
