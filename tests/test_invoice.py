"""Lab B9's session: killed at every point between call and result, and tried again; and the incident after a compaction."""
import pytest

from labsupport.errors import LabError
from labsupport.sessionlog import check_compaction, check_invariants
from labsupport.sessionlog.query_state import current, may_act
from labsupport.sessionlog.storage import JsonlStore
from labsupport.workbench.business_tables import death_table, domains, evidence_table, metric_table, state_table
from labsupport.workbench.incident import KEPT, LOST, evidence, happen
from labsupport.workbench.invoice_kills import DONE, between, kill, killed, look, points
from labsupport.workbench.invoice_moments import exactly_one, known, moments, tries
from labsupport.workbench.invoice_task import CALLED, ID, again, invoices, last_event, order, record, send_again, settled
from labsupport.workbench.mail_task import Point
from labsupport.workbench.pictures.business import POINTS, SAID
from labsupport.workbench.text import speaking


def test_the_recording_is_the_same_every_time_and_a_good_log(tmp_path):
    logs = []
    for name, options in (("one", {}), ("two", {}), ("keyless", {"with_key": False})):
        session = record(tmp_path / name, **options)
        logs.append(JsonlStore(tmp_path / name).path(ID).read_bytes())
        assert check_invariants(session.events) == []
    assert logs[0] == logs[1] == logs[2]
    assert [one.key for one in invoices(tmp_path / "one")] == ["invoice INV-2071"]
    assert [one.key for one in invoices(tmp_path / "keyless")] == [None]


def test_the_state_before_the_invoice_is_approved_and_has_its_sources():
    session = settled()
    state = current(session)
    assert may_act(state)
    types = {name: session.events[state[name]["source"]["seq"]].type for name in state}
    assert types == {"goal": "user/message", "metric": "tool/result", "filters": "user/message", "time": "user/message",
                     "ambiguities": "user/message", "planHash": "assistant/message", "approval": "approval/decided"}


# The law, with real deaths

@pytest.mark.slow
def test_killed_anywhere_between_call_and_result_and_tried_again_there_is_exactly_one():
    deaths = killed(between())
    assert [death.after for death in deaths] == [1] * len(between())
    assert {death.found.said for death in deaths} == {"TOOL_NOT_STARTED", "TOOL_OUTCOME_UNKNOWN", "answered"}
    for death in deaths:  # what the ledger answers is what is in it
        answers = [finding.answer for finding in death.found.findings]
        unknown = death.found.said == "TOOL_OUTCOME_UNKNOWN"
        assert answers == ([["not done", "done"][len(death.found.invoices)]] if unknown else [])
    assert {(len(death.found.invoices), death.found.said) for death in deaths} >= {
        (0, "TOOL_OUTCOME_UNKNOWN"), (1, "TOOL_OUTCOME_UNKNOWN")}


@pytest.mark.slow
def test_without_a_key_a_retry_after_the_commit_makes_two():
    at = between(False).index(DONE)
    deaths = killed(between(False)[at - 1:at + 2], with_key=False)
    assert [death.after for death in deaths] == [1, 2, 2]


def test_a_row_that_was_not_committed_is_gone_after_the_death(tmp_path):
    found = kill(tmp_path / "run", Point("inserted", "send_invoice"))
    assert (found.said, len(found.invoices), found.findings[0].answer) == ("TOOL_OUTCOME_UNKNOWN", 0, "not done")


def test_a_point_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(LabError, match="no point"):
        kill(tmp_path / "run", Point("done", "send_fax"))


def test_the_points_between_are_those_with_a_question():
    found = list(points())
    assert len(set(found)) == len(found)
    assert {point.kind for point in found} == set(POINTS)
    assert between()[0].name == "tool/call"
    assert between()[-1].kind == "written"


# The law, at every moment

def test_at_every_moment_a_retry_with_the_key_leaves_one_invoice_if_it_was_approved_and_none_if_not():
    found = tries()
    assert [it.moment.point for it in found] == list(points())
    assert exactly_one(found)
    assert {it.sent for it in found if it.refused} == {0}
    assert {it.found.said for it in found} == set(SAID) - {"open"}
    assert all(it.sent is not None for it in found if it.found.events)


def test_the_law_is_seen_to_fail_without_a_key():
    assert not exactly_one(tries(with_key=False))


def test_a_copy_of_the_files_is_what_a_death_leaves(tmp_path):
    at = points().index(DONE)
    copied = known(moments()[1][at])
    killed_there = kill(tmp_path / "run", DONE)
    assert killed_there == copied.found == look(tmp_path / "run")


def test_a_retry_is_another_call_of_the_same_thing(tmp_path):
    record(tmp_path / "run")
    session = again(tmp_path / "run")
    calls = [event.data["callId"] for event in session.events if event.type == "tool/call"]
    assert calls[:2] == ["c1", CALLED]
    assert len(set(calls)) == 3
    assert check_invariants(session.events) == []


def test_what_is_sent_is_of_the_metric_in_the_state(tmp_path):
    session = settled()
    assert "error" not in send_again(session, tmp_path).data
    sent, = invoices(tmp_path)
    assert sent.payload == order()
    assert last_event(session, "tool/result").data["message"]["content"][0]["isError"] is False


def test_an_amount_that_was_not_approved_is_not_sent(tmp_path):
    refused = send_again(settled(), tmp_path, amount="99.00")
    assert "another order was approved" in refused.data["message"]["content"][0]["content"][0]["text"]
    assert invoices(tmp_path) == []


# The incident

@pytest.mark.parametrize(("summary", "with_key", "sent"), [
    (LOST, False, 2), (KEPT, False, 1), (LOST, True, 1), (KEPT, True, 1)])
def test_summary_or_key_keeps_the_notice_from_going_out_again(tmp_path, summary, with_key, sent):
    scene = happen(tmp_path / "scene", summary=summary, with_key=with_key)
    found = evidence(scene)
    assert len(scene.operations) == sent
    assert (found.hidden, found.kept, found.interrupted) == (True, summary == KEPT, ())
    assert scene.session.events[found.result].type == "tool/result"
    assert check_invariants(scene.session.events) == check_compaction(scene.session.events) == []


# The tables

def test_the_domains_are_tried_and_the_folder_stays_as_it_is(tmp_path):
    record(tmp_path / "run")
    before = {path.name: path.read_bytes() for path in (tmp_path / "run").glob("*.jsonl")}
    with speaking("en"):
        rows = [row.tolist() for _, row in domains(tmp_path / "run").iterrows()]
    assert [row[2:] for row in rows] == [
        ["55 events", "gone", "55 events"], ["StoreBusyError", "–", "DetachedSessionError"],
        ["1 invoice", "1 invoice", "1 invoice"], ["tests v2, active"] * 3]
    assert before == {path.name: path.read_bytes() for path in (tmp_path / "run").glob("*.jsonl")}


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_tables_speak_both_languages(tmp_path, lang):
    with speaking(lang):
        state = state_table(current(settled()))
        assert state["seq"].tolist() == [2, 11, 2, 24, 24, 29, 34]
        assert len(metric_table("tests")) == 3
        found = evidence_table(evidence(happen(tmp_path / "scene")))
        assert "seq 32" in found.iloc[1, 1] or "seq 32）" in found.iloc[1, 1]
        assert death_table([]).shape == (0, 5)
