"""The six checks of a summary: what each finds, what it admits to miss, and that it names no more than a fact."""

import re
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labsupport.errors import CompactionError
from labsupport.sessionlog import Session
from labsupport.sessionlog.compaction import compact
from labsupport.sessionlog.facts import Fact, facts, has, known, named, operation_ids, values
from labsupport.sessionlog.passages import Source, text_of
from labsupport.sessionlog.quality import (
    LISTED,
    Check,
    Finding,
    check_summary,
    constraints_kept,
    nothing_exposed,
    nothing_invented,
    outcomes_kept,
    same_behaviour,
    tasks_kept,
)
from labsupport.sessionlog.statements import sentences, words
from labsupport.sessionlog.summarizers import ScriptedSummarizer
from labsupport.workbench import log_samples, summaries
from labsupport.workbench.random_logs import random_log
from labsupport.workbench.text import LANGUAGES, Language
from tests.sessionlog import builders as make
from tests.sessionlog.builders import Record
from tests.sessionlog.strategies import logs, texts
from tests.sessionlog.strategies import values as json_values

CHECKS: tuple[Check, ...] = get_args(Check)
each_check = pytest.mark.parametrize("check", CHECKS)
each_language = pytest.mark.parametrize("lang", LANGUAGES)


def session_of(*records: Record) -> Session:
    session = Session.create("s1")
    for one in records:
        make.append(session, one)
    return session


def review(session: Session, summary: Any, policy: Any = None, **more: Any) -> list[Finding]:
    return check_summary(session.events, session.surface.nodes, summary, policy, **more)


def said(text: str, summary: Any, **more: Any) -> list[str]:
    """What is found in *summary* of one message of a user."""
    return [str(one) for one in review(session_of(make.user(text)), summary, **more)]


def named_in(found: list[Finding], check: Check) -> list[str]:
    return [one.what for one in found if one.check == check]


# The examples that the lab shows


@each_language
def test_a_good_summary_passes_all_six(lang: Language) -> None:
    assert review(summaries.talk(lang), summaries.summary(lang), summaries.bookkeeper) == []


BAD = {  # what is found out, the type of the event that has it, and whether it is missing or added
    "constraints": ("prohibition", "user/message", "missing"),
    "tasks": ("todo 1 pending", "todo/write", "missing"),
    "outcomes": ("op-0417", "tool/result", "missing"),
    "behaviour": ("say → pay", "user/message", "added"),
    "invented": ("op-0999", None, "added"),
    "exposed": ("phone", "tool/result", "added"),
}


@each_check
@each_language
def test_a_bad_summary_is_found_out_with_the_thing_and_its_event(check: Check, lang: Language) -> None:
    session = summaries.talk(lang)
    found = [one for one in review(session, summaries.example(check, lang).bad, summaries.bookkeeper) if one.check == check]
    assert BAD[check] in [(one.what, None if one.seq is None else session.events[one.seq].type, one.change) for one in found]


@each_check
@each_language
def test_a_paraphrase_is_got_wrong_as_the_docstring_says(check: Check, lang: Language) -> None:
    example = summaries.example(check, lang)
    found = review(summaries.talk(lang), example.paraphrased, summaries.bookkeeper)
    assert bool(named_in(found, check)) is example.false_alarm


@each_language
def test_the_empty_summary_fails_four_and_passes_the_last_two(lang: Language) -> None:
    found = review(summaries.talk(lang), "", summaries.bookkeeper)
    assert {one.check for one in found} == {"constraints", "tasks", "outcomes", "behaviour"}


@each_language
def test_quoting_everything_passes_and_the_meta_is_not_quoted(lang: Language) -> None:
    session = summaries.talk(lang)
    quote = Source(session.events, session.surface.nodes).quote()
    assert review(session, quote, summaries.bookkeeper) == []
    assert summaries.PHONE not in quote


# 1. Constraints


@pytest.mark.parametrize(
    ("text", "summary", "found"),
    [
        ("Never mail a customer.", "Customers must not be mailed.", []),
        ("Never mail a customer.", "A customer was mailed. Never mind the weather.", ["prohibition"]),
        ("Use only the tests of 2025.", "Only tests of 2025 count.", []),
        ("Use only the tests of 2025.", "The tests of 2025 were used.", ["limit"]),
        ("Use only the tests of 2025.", "Only some tests count.", ["2025"]),
        ("Use clinic B instead.", "Clinic B is used.", ["correction"]),
        ("Rules:\n- Answer in English.", "It was a talk.", ["rule"]),
        ("Rules:\n- Answer in English.", "Answer in English.", []),
        ("Why did you not mail? Don't you know?", "", []),
        ("不要给客户发邮件。", "约束：禁止给客户发邮件。", []),
        ("不要给客户发邮件。", "给客户发邮件。", ["prohibition"]),
        ("只统计北院的检查。", "统计了北院的检查。", ["limit"]),
        ("类别不同，特别是北院。", "", []),
        ("Never!", "", []),
    ],
)
def test_a_demand_is_kept_under_its_own_kind_of_sentence(text: str, summary: str, found: list[str]) -> None:
    session = session_of(make.user(text))
    lost = constraints_kept(Source(session.events, [0]), summary)
    assert [one.what for one in lost] == found
    assert {(one.seq, one.change) for one in lost} <= {(0, "missing")}


def test_a_demand_in_an_earlier_summary_has_to_be_kept_too() -> None:
    session = session_of(*(make.user(text, f"u{at}") for at, text in enumerate(("Never mail a customer. " + "x " * 400, "ok"))))
    done = compact(session, 0, 0, ScriptedSummarizer(["Never mail a customer."]))
    found = constraints_kept(Source(session.events, session.surface.nodes), "Nothing was said.")
    assert [(one.what, one.seq) for one in found] == [("prohibition", done.checkpoint_seq)]


def test_what_an_assistant_or_a_tool_says_is_no_constraint() -> None:
    session = session_of(make.says("I must never mail a customer."), make.asks("c"), make.result("c", "Never delete rows."))
    assert constraints_kept(Source(session.events, session.surface.nodes), "") == []


# 2. Tasks


def todos(*items: Any) -> Record:
    return make.record("todo/write", {"todos": list(items)})


def test_of_the_task_lists_of_a_range_the_last_counts_and_of_that_what_is_open() -> None:
    session = session_of(
        make.user("go"),
        todos({"content": "read the code", "status": "pending"}),
        todos(
            {"content": "read the code", "status": "completed"}, {"content": "write the fix", "status": "in_progress"}, 5, "ask"
        ),
        make.says("ok"),
        todos({"content": "sleep", "status": "pending"}),
    )
    found = tasks_kept(Source(session.events, [0, 3]), "All is well.")
    assert [(one.what, one.seq) for one in found] == [("todo 2 in_progress", 2), ("todo 4 pending", 2)]
    assert tasks_kept(Source(session.events, [0, 3]), "Open:\n- write the fix\n- ask") == []
    assert tasks_kept(Source(session.events, [0]), "") == []


def test_a_later_step_of_the_assistant_takes_the_place_of_an_earlier_one() -> None:
    session = session_of(make.says("Next, I read the file.", id="a1"), make.says("Next: chart June.", id="a2"))
    found = tasks_kept(Source(session.events, [0, 1]), "")
    assert [(one.what, one.seq) for one in found] == [("next step", 1)]
    assert tasks_kept(Source(session.events, [0, 1]), "It will chart June.") == []


def test_a_task_list_that_an_earlier_summary_covers_is_within_reach() -> None:
    session = session_of(make.user("go " * 300), todos("call the lab"), make.says("ok"))
    compact(session, 0, 2, ScriptedSummarizer(["Open: call the lab."]))
    assert named_in(review(session, "nothing"), "tasks") == ["todo 1 pending"]


# 3. Outcomes


def failing(text: str, code: str) -> Record:
    one = make.result("c", text)
    one["data"]["error"] = {"name": "E", "code": code}
    one["data"]["message"]["content"][0]["isError"] = True
    return one


@pytest.mark.parametrize(
    ("code", "summary", "found"),
    [
        ("TOOL_FAILED", "read was called.", ["read failed"]),
        ("TOOL_FAILED", "read failed.", []),
        ("TOOL_FAILED", "Call c ended in an error.", []),
        ("TOOL_FAILED", "read 调用失败。", []),
        ("TOOL_FAILED", "Something failed. It was read.", ["read failed"]),
        ("TOOL_OUTCOME_UNKNOWN", "read failed.", ["read unknown"]),
        ("TOOL_OUTCOME_UNKNOWN", "It is unknown whether read took effect.", []),
        ("TOOL_OUTCOME_UNKNOWN", "read 的结果未知。", []),
    ],
)
def test_a_failure_is_told_as_what_it_was(code: str, summary: str, found: list[str]) -> None:
    session = session_of(make.asks("c"), failing("no", code))
    lost = outcomes_kept(Source(session.events, [0, 1]), summary)
    assert [one.what for one in lost] == found
    assert all(one.seq == 1 for one in lost)


def test_a_success_that_is_told_as_a_failure_is_found() -> None:
    session = session_of(make.asks("c"), make.result("c", "accepted, op_81f3"))
    assert [str(one) for one in outcomes_kept(Source(session.events, [0, 1]), "op_81f3 was rejected.")] == [
        "outcomes: op_81f3 failed added, event 1"
    ]
    assert outcomes_kept(Source(session.events, [0, 1]), "op_81f3 was accepted.") == []


def test_a_failure_that_the_source_tells_of_is_no_invention() -> None:
    session = session_of(make.asks("c"), make.result("c", "op_81f3 could not be booked at once, then it was"))
    assert outcomes_kept(Source(session.events, [0, 1]), "op_81f3 failed at first.") == []


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("accepted: op-0001, INV-2061", ["op-0001", "INV-2061"]),
        ('{"operationId": "88-41", "rows": 240}', ["88-41"]),
        ("id 3f2b8c1e-0d4a-4e5f-9a6b-7c8d9e0f1a2b", ["3f2b8c1e-0d4a-4e5f-9a6b-7c8d9e0f1a2b"]),
        ("流水号：20260301887", ["20260301887"]),
        ("invoice no. A77 and invoice note", ["A77"]),
        ("optional co-op-1 key-value ordinary", []),
    ],
)
def test_ids_of_outside_operations(text: str, ids: list[str]) -> None:
    assert list(operation_ids(text)) == ids


def test_a_long_list_of_ids_is_nobodys_duty() -> None:
    few, many = (", ".join(f"INV-{at:04}" for at in range(count)) for count in (LISTED, LISTED + 1))
    for text, lost in ((few, LISTED), (many, 0)):
        session = session_of(make.asks("c"), make.result("c", text))
        assert len(outcomes_kept(Source(session.events, [0, 1]), "")) == lost


# 4. Behaviour


def last_text(messages: Any) -> str:
    return str(messages[-1]["content"][-1]["text"])


def test_both_histories_hear_the_same_question_and_the_same_tail() -> None:
    session, seen = session_of(*(make.user(text, text) for text in ("before", "gone", "tail"))), []

    def policy(messages: Any) -> int:
        seen.append([text_of(message["content"]) for message in messages])
        return 0

    assert same_behaviour(Source(session.events, [1]), "short", policy, "well?") == []
    before, after = seen
    assert before == ["before", "gone", "tail", "well?"]
    assert [after[0], *after[2:]] == ["before", "tail", "well?"]
    assert "short" in after[1]


def test_it_goes_back_to_the_surface_that_the_range_was_taken_from() -> None:
    session = session_of(make.user("first " * 200, "a"), make.user("second", "b"))
    compact(session, 0, 0, ScriptedSummarizer(["short"]))
    make.append(session, make.user("later", "c"))
    lengths: list[int] = []
    same_behaviour(Source(session.events, [0]), "short", lambda messages: lengths.append(len(messages)))
    assert lengths == [2, 2]


@pytest.mark.parametrize(
    ("was", "now", "what"),
    [
        ("ask", "pay", "ask → pay"),
        ({"name": "pay", "arguments": {"to": "a", "n": 1}}, {"name": "pay", "arguments": {"to": "b", "n": 1}}, "pay: to"),
        ({"secret": "x"}, None, "something else → something else"),
    ],
)
def test_a_difference_is_named_without_what_the_arguments_say(was: Any, now: Any, what: str) -> None:
    session, answers = session_of(make.user("hi")), iter((was, now))
    found = same_behaviour(Source(session.events, [0]), "short", lambda messages: next(answers))
    assert found == [Finding("behaviour", what, 0, "added")]


def test_nodes_that_never_stood_together_have_no_history() -> None:
    session = session_of(make.turn_start(), make.user("hi"))
    with pytest.raises(CompactionError, match="one surface"):
        same_behaviour(Source(session.events, [0]), "", last_text)


# 5. Inventions


@pytest.mark.parametrize(
    ("text", "summary", "added"),
    [
        ("1,480.00", "1480", []),
        ("1480", "1,480.00", []),
        ("[1,480]", "It is 480.", []),
        ("fell by 5 %", "-5 %", ["-5"]),
        ("fell to -5", "5 less", []),
        ("2024-03-05", "5 March 2024", ["March"]),
        ("5 March 2024", "2024-03-06", ["2024-03-06"]),
        ("2024 and 2025", "2024-2025", []),
        ("007", "7", ["7"]),
        ("３ 家", "3 clinics", []),
        ("three", "1. one\n2. two\n3. three", []),
        ("three", "1. one\n4. four", ["4"]),
        ("see data/books.csv", "books.csv has it", []),
        ("see data/books.csv", "data/book.csv has it", ["data/book.csv"]),
        ("call list_rows", "list_row was called", ["list_row"]),
        ("ask Anna", "we asked Anna Miller", ["Miller"]),
        ("ask anna", "we asked Anna", []),
        ("请王伟医生看", "王医生看过", []),
        ("请王伟医生看", "李医生看过", ["李"]),
        ("4.5 kg", "4.5kg", []),
        ("3.46 %", "3.5 %", ["3.5"]),
    ],
)
def test_a_fact_without_a_source_is_named(text: str, summary: str, added: list[str]) -> None:
    session = session_of(make.user(text))
    assert [one.what for one in nothing_invented(Source(session.events, [0]), summary)] == added


def test_calls_and_their_arguments_are_a_source_escapes_and_all() -> None:
    asked = {
        "type": "tool-call",
        "id": "call_9",
        "name": "send_mail",
        "arguments": '{"to": "\\u738b\\u4f1f", "n": "a\\nINV-7"}',
    }
    session = session_of(make.record("assistant/message", make.says_data(asked), surfaceOp="append"))
    assert nothing_invented(Source(session.events, [0]), "call_9 of send_mail to 王伟医生 about INV-7") == []


words_without_digits = st.text(st.characters(exclude_categories=["Nd", "Nl", "No", "Cs"]), max_size=30)


@given(
    st.lists(st.integers(0, 10**6), max_size=6), words_without_digits, st.integers(0, 10**7), st.sampled_from(["{}", "{:,}"])
)
def test_every_number_of_a_summary_that_the_source_lacks_is_found(
    there: list[int], text: str, number: int, spelling: str
) -> None:
    source = text + " " + " ".join(map(str, there))
    spelled = spelling.format(number)
    found = said(source, f"It came to {spelled} in the end.")
    if number in there:
        assert found == []
    elif not {int(part) for part in spelled.split(",")} <= set(there):
        assert found == [f"invented: {spelled} added"]


# 6. Exposure

VALUES = {
    "email": ["wang@clinic.example", "a.b+c@x.co.uk"],
    "api-key": ["sk-abcdef0123456789", "ghp_0123456789abcdefABCD"],
    "id-number": ["11010519491231002X"],
    "card": ["4111 1111 1111 1111", "5500-0000-0000-0004"],
    "phone": ["138 0013 8000", "+8613800138000", "010-62345678", "+49 30 1234 5678", "(415) 555-2671"],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, those in VALUES.items() for value in those])
def test_a_value_that_only_the_tool_had_is_found_by_its_class_and_never_quoted(name: str, value: str) -> None:
    narrow = make.result("c", "done")
    narrow["data"]["meta"] = {"deep": [{"contact": f"电话{value}，"}]}
    session = session_of(make.asks("c"), narrow)
    found = review(session, f"Reach them at {value}.")
    assert [str(one) for one in found if one.check == "exposed"] == [f"exposed: {name} added, event 1"]
    assert not any(value in repr(one) for one in found)


@pytest.mark.parametrize("text", ["患者编号：P40017", "patient number P40017", "MRN P40017"])
def test_a_patients_number_is_known_by_the_word_before_it_and_found_without_it(text: str) -> None:
    blocks = [{"type": "text", "text": "done"}, {"type": "text", "text": text, "audience": "tool"}]
    narrow = make.result("c")
    narrow["data"]["message"]["content"][0]["content"] = blocks
    session = session_of(make.asks("c"), narrow)
    found = nothing_exposed(Source(session.events, [0, 1]), "It is about P40017.")
    assert [str(one) for one in found] == ["exposed: patient-number added, event 1"]
    assert text not in Source(session.events, [0, 1]).quote()


def test_what_the_model_read_may_not_go_outside() -> None:
    text = "Call 138 0013 8000."
    assert said(text, text) == []
    assert said(text, text, audience="outside") == ["exposed: phone added, event 0"]


@pytest.mark.parametrize("text", ["4111 1111 1111 1112", "1772442000000", "2024-03-05", "1,480.00", "sk-short", "INV-2061"])
def test_a_number_that_only_looks_like_one_is_no_value(text: str) -> None:
    assert list(values(text)) == []


@given(st.sampled_from([value for those in VALUES.values() for value in those]), st.sampled_from(VALUES["phone"]))
def test_an_invented_value_is_named_by_its_class_wherever_it_stands(value: str, other: str) -> None:
    for summary in (value, f"{value}/{other}", f"x {value},{other}", f"<{value}>"):
        digits = re.sub(r"\D", "", value)
        for one in said("nothing", summary):
            assert value not in one
            assert not digits or digits[:5] not in one


@pytest.mark.parametrize(("text", "shown"), [("INV-2061", "INV-2061"), ("13800138000", "phone"), ("a@b.example", "email")])
def test_what_a_finding_may_say(text: str, shown: str) -> None:
    assert named(text) == shown


# Laws

PIECES = [
    *(
        "Never mail a customer. ",
        "Only 2025, ",
        "use B instead ",
        "Correction: 5, not 6. ",
        "Rules:\n- be short\n- ",
        "1. ",
        "2) ",
    ),
    *(
        "不要发邮件。",
        "改为 3 家",
        "只看北院，",
        "下一步：核对",
        "王伟医生",
        "失败",
        "Next: pay INV-2061. ",
        "still to do: call Anna. ",
    ),
    *(
        "op_81f3 ",
        "3f2b8c1e-0d4a-4e5f-9a6b-7c8d9e0f1a2b",
        "data/books.csv ",
        "1,480.00 ",
        "-5 ",
        "138 0013 8000 ",
        "a@b.example ",
    ),
    *(
        "patient number:\n",
        "failed ",
        "unknown ",
        "?",
        ".",
        "\n",
        ": ",
        " ",
        "(",
        "/",
        "-",
        "sk-abcdef0123456789 ",
        "４１",
        "x",
    ),
]
prose = st.lists(st.sampled_from(PIECES) | texts, max_size=12).map("".join)


@st.composite
def talks(draw: st.DrawFn) -> list[Record]:
    """Messages, calls with all outcomes, blocks of any shape, and task lists."""
    made: list[Record] = []
    for at in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["user", "says", "call", "todo", "odd"]))
        if kind == "user":
            made.append(make.user(draw(prose), f"u{at}"))
        elif kind == "says":
            made.append(make.says(draw(prose), id=f"a{at}"))
        elif kind == "todo":
            made.append(todos(*draw(st.lists(prose.map(lambda text: {"content": text, "status": "pending"}), max_size=2))))
        elif kind == "odd":
            made.append(
                make.record(
                    "user/message", {**make.user_data(id=f"o{at}"), "content": draw(st.lists(json_values))}, surfaceOp="append"
                )
            )
        else:
            block = {"type": "tool-call", "id": f"c{at}", "name": draw(prose), "arguments": draw(prose)}
            made.append(make.record("assistant/message", make.says_data(block, id=f"a{at}"), surfaceOp="append"))
            answer = make.result(f"c{at}", draw(prose))
            code = draw(st.sampled_from([None, "TOOL_FAILED", "TOOL_OUTCOME_UNKNOWN"]))
            if code:
                answer["data"]["error"] = {"name": "E", "code": code}
            made.append(answer)
    return made


@settings(max_examples=300)
@given(talks())
def test_a_summary_that_quotes_everything_loses_and_invents_nothing(records: list[Record]) -> None:
    session = session_of(*records)
    source = Source(session.events, session.surface.nodes)
    quote = source.quote()
    assert constraints_kept(source, quote) == []
    assert tasks_kept(source, quote) == []
    assert outcomes_kept(source, quote) == []
    assert nothing_invented(source, quote) == []


@settings(max_examples=60)
@given(talks())
def test_the_empty_summary_invents_and_exposes_nothing(records: list[Record]) -> None:
    session = session_of(*records)
    assert {one.check for one in review(session, "", audience="outside")} <= {"constraints", "tasks", "outcomes"}


@settings(max_examples=60)
@given(logs(), prose)
def test_no_log_and_no_summary_breaks_a_check(records: list[Record], summary: str) -> None:
    session = Session.create("s1", seed=make.log(*records))
    review(session, summary, lambda messages: len(messages) > 3)


@pytest.mark.parametrize("seed", range(20))
def test_no_random_log_breaks_a_check(seed: int) -> None:
    session = random_log(seed)
    source = Source(session.events, session.surface.nodes)
    assert check_summary(session.events, session.surface.nodes, source.quote(), lambda messages: 0) == []


@pytest.mark.parametrize(
    "name", [name for name in log_samples.NAMES if name not in ("damaged", "newer_format", "unknown_event")]
)
def test_no_sample_log_breaks_a_check(name: str) -> None:
    log = log_samples.load(name)
    session = Session.create(log.header.id, seed=log.events, header=log.header)
    source = Source(session.events, session.surface.nodes)
    assert [one for one in review(session, source.quote(), lambda messages: 0) if one.check != "exposed"] == []
    review(session, "", lambda messages: 0)


CANARY = "zebrafish"


@given(st.lists(st.sampled_from(PIECES) | st.just(f" {CANARY} "), max_size=12).map("".join), prose)
def test_a_finding_never_holds_what_a_message_says(text: str, summary: str) -> None:
    session = session_of(make.user(text), todos(text), make.says(text))
    assert CANARY not in repr(review(session, summary, lambda messages: {"name": "a", "arguments": {"n": len(messages)}}))


def test_a_seq_that_the_log_does_not_have_is_refused() -> None:
    with pytest.raises(CompactionError) as refusal:
        check_summary(session_of(make.user()).events, [0, 7], "")
    assert refusal.value.code == "range"


def test_deep_and_strange_data_is_walked_through() -> None:
    deep: Any = "INV-1"
    for _ in range(20_000):
        deep = [deep]
    strange = make.result("c")
    strange["data"]["message"]["content"][0]["content"] = [deep, None, {"type": 3}, {"text": 5}, 10**15]
    session = session_of(make.asks("c"), strange)
    assert named_in(review(session, "INV-1"), "invented") == []


# The parts


@given(prose)
def test_facts_are_known_to_their_own_text(text: str) -> None:
    keys = known(text)
    assert [fact for fact in facts(text) if not has(keys, fact)] == []


@given(prose)
def test_sentences_are_numbered_and_lose_no_word(text: str) -> None:
    found = list(sentences(text))
    assert [one.number for one in found] == list(range(1, len(found) + 1))
    assert words(text) <= set().union(*(words(one.text) for one in found), words("1. 2)"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("INV-2061.", [Fact("id", "INV-2061", "INV-2061")]),
        ("/etc/hosts", [Fact("path", "/etc/hosts", "/etc/hosts")]),
        ("and/or e.g. well-known 24/7", [Fact("number", "24", "24"), Fact("number", "7", "7")]),
    ],
)
def test_facts_as_they_are_spelled(text: str, expected: list[Fact]) -> None:
    assert list(facts(text)) == expected
