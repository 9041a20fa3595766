"""Lab B5's task, and what the lab shows of it: the history, its tables, the payment that is made twice, the long result."""
import re
from types import SimpleNamespace

import pytest
from msgspec import UNSET

from labsupport.outside import Attachments
from labsupport.sessionlog import Session, check_compaction, check_invariants, pairing_cuts, prune_session, replay, resume
from labsupport.sessionlog.compaction import compact
from labsupport.sessionlog.compaction_report import compaction_ids, compaction_report
from labsupport.sessionlog.quality import check_summary
from labsupport.sessionlog.ranges import choose_range
from labsupport.sessionlog.spill import Spill
from labsupport.sessionlog.storage import JsonlStore
from labsupport.sessionlog.summarizers import ExtractiveSummarizer, FailingSummarizer, ScriptedSummarizer
from labsupport.workbench.checks.b5 import CASES, check_repair, history
from labsupport.workbench.compaction_tables import fact_table, six_checks, six_questions, size_table, surface_table
from labsupport.workbench.compactions import Compactions, WhileWriting
from labsupport.workbench.payment_task import (
    AGAIN,
    BAD,
    GOOD,
    INVOICE,
    Bookkeeper,
    ask,
    bookings,
    full_disk,
    next_action,
    payments,
    record,
    results,
)
from labsupport.workbench.random_compactions import accounted, outcome, random_compactions
from labsupport.workbench.spill_play import list_all, places_table
from labsupport.workbench.text import speaking
from tests.sessionlog import builders as make


@pytest.fixture(autouse=True)
def in_english():
    with speaking("en"):
        yield


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    return record(tmp_path_factory.mktemp("desk")).events


@pytest.fixture(scope="module")
def chosen(log):
    return choose_range(replay(log), 10)


def cells(table):
    return [[str(value) for value in row] for row in table.itertuples(index=False)]


# The history

def test_the_recording_is_a_good_log_and_the_same_every_time(tmp_path):
    for name, with_key in (("one", False), ("two", False), ("key", True)):
        record(tmp_path / name, with_key)
    logs = [(tmp_path / name / "payment.jsonl").read_bytes() for name in ("one", "two", "key")]
    assert logs[0] == logs[1] == logs[2]  # the key goes from the tool to the ledger, and the model does not see it
    events = JsonlStore(tmp_path / "one").inspect("payment").events
    assert check_invariants(events) == check_compaction(events) == []
    assert all(pairing_cuts(events)[at] for at in (0, -1))
    assert payments(tmp_path / "one") == ["op-0001"]


def test_bookings_are_as_many_as_asked_for_and_the_same_every_time():
    assert bookings(240) == bookings(240)
    assert len(bookings(240).splitlines()) == 241
    assert len(bookings(240)) > 8192  # pruning has something to do
    assert bookings(100_000).splitlines()[50_000].startswith("2026-06-15,BK-50000,")


def test_results_tell_what_tools_said_and_which_failed(log):
    found = results(replay(log).derive_messages())
    assert [result.failed for result in found] == [False, False, False, True]
    assert [result.text.split(":")[0] for result in found[1:]] == ["accepted", "INV-2062", "Error"]


# The payment

@pytest.mark.parametrize(("summary", "with_key", "paid"), [
    pytest.param(GOOD, False, ["op-0001"], id="the summary has the proof"),
    pytest.param(BAD, False, ["op-0001", "op-0002"], id="it was lost, and is paid again"),
    pytest.param(BAD, True, ["op-0001"], id="it was lost, and the ledger knows the key"),
])
def test_the_bookkeeper_pays_what_it_does_not_find_paid(tmp_path, chosen, summary, with_key, paid):
    record(tmp_path, with_key)
    session = resume(JsonlStore(tmp_path), "payment")
    compact(session, chosen.start, chosen.end, ScriptedSummarizer([summary]))
    ask(session, AGAIN, Bookkeeper(), tmp_path, with_key=with_key)
    assert payments(tmp_path) == paid
    said = session.derive_messages()[-1]["content"][0]["text"]
    assert said == f"{INVOICE} is paid: {paid[-1]}."
    assert check_invariants(session.events) == check_compaction(session.events) == []


def test_without_a_compaction_it_finds_the_proof_itself(log):
    assert next_action(replay(log).derive_messages()) == "op-0001"
    assert next_action([]) == "pay"


def test_good_passes_the_six_checks_and_bad_fails_each(log, chosen):
    assert check_summary(log, chosen.seqs, GOOD, next_action, question=AGAIN, audience="outside") == []
    found = check_summary(log, chosen.seqs, BAD, next_action, question=AGAIN, audience="outside")
    assert {finding.check for finding in found} == {
        "constraints", "tasks", "outcomes", "behaviour", "invented", "exposed"}
    assert len(BAD) < len(GOOD)


# The tables

def test_the_six_checks_are_a_row_each_in_both_languages(log, chosen):
    for lang, missing in (("en", "that due failed missing (54); op-0001 missing (30)"),
                          ("zh", "丢了：due 失败这件事 (54)；丢了：op-0001 (30)")):
        with speaking(lang):
            table = six_checks(log, chosen.seqs, good=GOOD, bad=BAD)
        assert len(table) == 6
        assert {row[1] for row in cells(table)} == {"–"}
        assert all(row[2] != "–" for row in cells(table))
        assert missing in cells(table)[2][2]
        assert "138" not in table.to_string()  # of a value its class, never itself


def test_counters_are_those_of_the_explorer(log, chosen):
    session = replay(log)
    compact(session, chosen.start, chosen.end, ExtractiveSummarizer(500))
    sizes = Compactions(replay(log), ExtractiveSummarizer(500)).at(chosen.start, chosen.end, 10)
    now = [int(row[2].replace(",", "")) for row in cells(size_table(before=replay(log), after=session))]
    assert now == [sizes.after.events, sizes.after.nodes, sizes.after.estimated, sizes.after.real]
    assert [row[0] for row in cells(surface_table(session))] == [str(seq) for seq in session.surface.nodes]


@pytest.mark.parametrize(("summarizer", "options", "code", "state"), [
    pytest.param(ExtractiveSummarizer(500), {}, "made", "replaced", id="made"),
    pytest.param(FailingSummarizer(), {}, "summary", "failed, summary", id="failed"),
    pytest.param(ExtractiveSummarizer(500), {"flush": full_disk}, "persistence", "replaced", id="not flushed"),
])
def test_the_six_questions_say_how_it_ended(log, chosen, summarizer, options, code, state):
    session = replay(log)
    assert outcome(compact, session, chosen.start, chosen.end, summarizer, **options) == code
    table = six_questions(session.events, compaction_ids(session.events)[-1])
    assert len(table) == 6
    assert cells(table)[0][1:] == ["manual", "75"]
    assert cells(table)[4][1] == state
    assert cells(table)[5][1] == "nothing came"


@pytest.mark.parametrize(("details", "said"), [
    ({}, "provider workbook, model scripted-1; configuration: the log does not say"),
    ({"maxTokens": 500}, "provider workbook, model scripted-1; configuration: maxTokens 500"),
    ({"maxTokens": 500, "usage": {"outputTokens": 9}},
     "provider workbook, model scripted-1, usage {'outputTokens': 9}; configuration: maxTokens 500"),
])
def test_the_configuration_of_the_writer_is_told_or_said_to_be_missing(log, chosen, details, said):
    session = replay(log)
    compact(session, chosen.start, chosen.end, ScriptedSummarizer([GOOD], details=details))
    assert cells(six_questions(session.events, compaction_ids(session.events)[-1]))[3][1] == said


@pytest.mark.parametrize(("said", "zh", "en"), [
    ({}, ["日志没有说", "provider 没有记录, model 没有记录；配置：日志没有说"],
     ["the log does not say", "provider not recorded, model not recorded; configuration: the log does not say"]),
    ({"shadowedSeqs": [0], "model": "m-1"},
     ["1 个节点，估算 token 数没有记录", "provider 没有记录, model m-1；配置：日志没有说"],
     ["1 node, estimated tokens not recorded", "provider not recorded, model m-1; configuration: the log does not say"]),
    ({"shadowedSeqs": [0, 1], "shadowedTokenCount": "many", "provider": "acme", "model": 7, "maxTokens": True, "usage": "much"},
     ["2 个节点，估算 token 数没有记录", "provider acme, model 没有记录；配置：日志没有说"],
     ["2 nodes, estimated tokens not recorded", "provider acme, model not recorded; configuration: the log does not say"]),
    ({"shadowedSeqs": [0, 1], "shadowedTokenCount": 1234, "provider": "acme", "model": "m-1", "usage": {"outputTokens": 9}},
     ["2 个节点，估算 1,234 token", "provider acme, model m-1, usage {'outputTokens': 9}；配置：日志没有说"],
     ["2 nodes, 1,234 estimated tokens",
      "provider acme, model m-1, usage {'outputTokens': 9}; configuration: the log does not say"]),
], ids=["nothing", "no tokens", "wrong kinds", "no limit"])
def test_the_six_questions_about_a_summary_of_another_writer(said, zh, en):
    """What it says is told; what it leaves out, or says in a way of its own, is said to be missing."""
    session = Session.create("s1")
    make.append(session, make.user("a"))
    make.append(session, make.user("b"))
    for type, data in (("start", {"trigger": {"kind": "own"}}), ("summary", said), ("end", {"error": {"code": 500}})):
        session.append(f"compaction/{type}", {"compactionId": "x", "turn": None, **data})
    for lang, (nodes, writer) in {"zh": zh, "en": en}.items():
        with speaking(lang):
            told = [row[1] for row in cells(six_questions(session.events, "x"))]
        unsaid = {"zh": "日志没有说", "en": "the log does not say"}[lang]
        assert told[:5] == [unsaid, unsaid, nodes, writer, "failed"]


@pytest.mark.parametrize("cut", [1, 2, 3, 4])
def test_a_lock_that_nobody_released_is_void_after_a_replay(log, chosen, cut):
    session = replay(log)
    made = compact(session, chosen.start, chosen.end, ExtractiveSummarizer(500))
    back = replay(session.events[:made.start_seq + cut])
    state = compaction_report(back.events, made.id).state.value
    assert state["stale"] == (cut < 4)
    nodes = back.surface.nodes
    assert outcome(compact, back, nodes[0], nodes[-1], ExtractiveSummarizer(100)) == "made"


@pytest.mark.parametrize(("trigger", "code"), [("manual", "made"), ("pressure", "changed")])
def test_what_comes_meanwhile_is_kept_and_told(log, chosen, trigger, code):
    session = replay(log)
    writer = WhileWriting(session, "And INV-2064?", ExtractiveSummarizer(500))
    assert outcome(compact, session, chosen.start, chosen.end, writer, trigger=trigger) == code
    table = six_questions(session.events, compaction_ids(session.events)[-1])
    assert cells(table)[5][1:] == ["76, on the surface", "76"]
    assert "And INV-2064?" in str(session.derive_messages()[-1])


def test_pruning_is_exact_and_the_log_has_it_all(log, chosen, tmp_path):
    record(tmp_path)
    pruned = resume(JsonlStore(tmp_path), "payment")
    ask(pruned, "Thanks again.", "好的。", tmp_path, before_request=prune_session)
    assert check_invariants(pruned.events) == []
    session = replay(log)
    compact(session, chosen.start, chosen.end, ExtractiveSummarizer(500))
    facts = ["op-0001", "BK-00001", "BK-00120", "BK-00240"]
    assert cells(fact_table(facts, before=replay(log), pruned=pruned, summary=session)) == [
        ["op-0001", "yes", "yes", "yes", "yes"], ["BK-00001", "yes", "yes", "no", "yes"],
        ["BK-00120", "yes", "no", "no", "yes"], ["BK-00240", "yes", "yes", "no", "yes"]]
    assert cells(fact_table(["op-0001"], before=replay(log), after=Session.create("empty"))) == [["op-0001", "yes", "no", "no"]]


def test_a_spilled_result_is_in_the_store_alone(tmp_path):
    attachments = Attachments(tmp_path / "attachments", key=bytes(32))
    plain, spilled = list_all(2_000), list_all(2_000, Spill(attachments.put))
    ref, = attachments.refs()
    assert attachments.get(ref).decode() == bookings(2_000)
    assert "BK-01000" in str(list(plain.derive_messages()))
    assert "BK-01000" not in str(list(spilled.derive_messages()))
    rows = cells(places_table(plain, spilled, attachments))
    assert [len(row) for row in rows] == [3] * 4
    assert rows[2][1:] == ["–", f"{len(bookings(2_000).encode()):,} bytes"]
    assert rows[3][2] == "a page of 20 of 2,001 lines"


# Random sessions

@pytest.mark.parametrize("seed", range(25))
def test_every_event_is_on_the_surface_or_shadowed_by_one_replacement(seed):
    trial = random_compactions(seed)
    assert accounted(trial.session)
    assert all(trial.session.events[:len(past)] == past for past in trial.before)
    assert check_compaction(trial.session.events) == check_invariants(trial.session.events) == []
    assert pairing_cuts(trial.session.events)[-1]


@pytest.mark.parametrize(("nodes", "shadowed", "holds"), [
    pytest.param([5, 4], [(1, 2)], True, id="each is somewhere"),
    pytest.param([5], [(1, 2)], False, id="one is nowhere"),
    pytest.param([5, 4, 1], [(1, 2)], False, id="one is in two places"),
    pytest.param([5, 4], [(1, 2), (2,)], False, id="one was shadowed twice"),
])
def test_what_is_not_accounted_for_is_found(nodes, shadowed, holds):
    surface = SimpleNamespace(nodes=nodes, replacements=[SimpleNamespace(shadowed_seqs=seqs) for seqs in shadowed])
    events = [SimpleNamespace(seq=seq, surface_op="append" if seq in (1, 2, 4, 5) else UNSET) for seq in range(6)]
    assert accounted(SimpleNamespace(surface=surface, events=events)) == holds


def test_random_sessions_meet_every_case():
    trials = [random_compactions(seed) for seed in range(60)]
    assert {code for trial in trials for code in trial.outcomes} == {"made", "summary", "changed"}
    assert any(it.start > it.end for trial in trials for it in trial.session.surface.replacements)


# The exercise

def test_cases_have_what_they_say():
    for case in CASES:
        found = results(history(case))
        assert [result.failed for result in found] == [id in case.failed for id in case.results]
        assert all(text in result.text for text, result in zip(case.results.values(), found, strict=True))


def repaired(changed):
    """A right answer but for its lines, each of which goes through *changed* (mark, line of the result)."""
    def repair(summary, messages):
        kept, lost = re.findall(r"op-\d+", summary), {}
        for result in results(messages):
            for line in result.text.splitlines():
                for id in re.findall(r"op-\d+", line):
                    if id not in kept:
                        lost[id] = changed("failed: " if result.failed else "done: ", line)
        return "\n".join([summary, *dict.fromkeys(lost.values())])
    return repair


@pytest.mark.parametrize(("changed", "key"), [
    pytest.param(lambda mark, line: mark + line, "check_correct", id="as the task says"),
    pytest.param(lambda mark, line: f"{mark}{line}\n", "check_correct", id="with empty lines"),
    pytest.param(lambda mark, line: line, "b5_wrong_unmarked", id="no mark"),
    pytest.param(lambda mark, line: f"{line} … ok", "b5_wrong_unmarked", id="a mark at the end"),
    pytest.param(lambda mark, line: f"{mark}{line} … ok", "b5_wrong_line", id="more than the line"),
    pytest.param(lambda mark, line: f"- {mark}{line}", "b5_wrong_unmarked", id="a list"),
    pytest.param(lambda mark, line: "done: op " + "INV-1 op-1000", "b5_wrong_line", id="a line of one's own"),
    pytest.param(lambda mark, line: f"{mark}{line}, not op-1000", "b5_wrong_again", id="an id twice"),
    pytest.param(lambda mark, line: f"{'failed' if 'declined' in line else 'done'}: {line}", "b5_wrong_done", id="declined"),
    pytest.param(lambda mark, line: f"{'done' if 'accepted' in line else 'failed'}: {line}", "b5_wrong_done", id="accepted"),
    pytest.param(lambda mark, line: f"{'failed' if line.startswith('Error') else 'done'}: {line}", "b5_wrong_done", id="Error"),
])
def test_a_line_is_its_mark_and_the_line_of_the_result(changed, key):
    assert check_repair(repaired(changed)).key == key


def test_ids_that_share_a_line_are_told_about():
    def repair(summary, messages):
        lost = [result.text for result in results(messages) if not set(re.findall(r"op-\d+", result.text)) <= set(
            re.findall(r"op-\d+", summary))]
        return summary + ("\ndone: " + " ".join(lost) if lost else "")
    assert check_repair(repair).key == "b5_wrong_line"


def test_a_repair_that_raises_or_gives_no_text_is_told_so():
    assert check_repair(lambda summary, messages: 3).key == "b5_wrong_kind"
    assert check_repair(lambda summary, messages: messages.nothing).key == "check_raised"
