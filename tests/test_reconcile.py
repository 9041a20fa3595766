"""Business tools and reconcile: what a call did is found outside by key or business id, and nothing is guessed."""
import json
from pathlib import Path

import pytest

from labsupport.outside import Ledger
from labsupport.sessionlog import (
    Reply,
    ScriptedModel,
    Session,
    SessionEvent,
    check_invariants,
    interrupted_turn_closers,
    resume,
    run_turn,
    to_json,
)
from labsupport.sessionlog.json_text import same_json
from labsupport.sessionlog.models import call
from labsupport.sessionlog.pruning import PruneConfig, prune_session
from labsupport.sessionlog.query_state import current
from labsupport.sessionlog.storage import JsonlStore
from labsupport.workbench.business_tools import (
    SEND,
    Effect,
    approved_only,
    approved_order,
    ask_approval,
    business_tools,
    result_of,
    without_key,
)
from labsupport.workbench.invoice_task import METRICS, order, settled
from labsupport.workbench.reconcile import Finding, log_findings, reconcile, unknown_calls

CONFIG = {"provider": "p", "model": "m"}
ORDER = {"invoice": "INV-7", "amount": "40.00"}
KEY = "invoice INV-7"


@pytest.fixture
def ledger(tmp_path):
    with Ledger(tmp_path / "ledger.db", lambda: 1000) as opened:
        yield opened


def died(*calls, name="send_invoice"):
    """A session whose turn was interrupted in the first of *calls*, recovered."""
    session = Session.create("s1")

    def die(given):
        raise KeyboardInterrupt

    model = ScriptedModel([Reply(calls=[call(f"c{at}", name, text) for at, text in enumerate(calls, start=1)])])
    with pytest.raises(KeyboardInterrupt):
        run_turn(session, "Send it.", model, {name: die}, config=CONFIG)
    return [*session.events, *interrupted_turn_closers(session.events)]


def asked(ledger, order=ORDER, **more):
    finding, = reconcile(died(json.dumps(order), **more), ledger)
    return finding.answer, finding.why


# The tools

def tools_of(path: Path, key=SEND.key):
    return business_tools(lambda: Ledger(path, lambda: 1000), METRICS, key)


def test_an_invoice_is_sent_once_for_its_key_and_named_by_its_operation(tmp_path):
    send = tools_of(tmp_path / "ledger.db")["send_invoice"]
    assert json.loads(send(ORDER)) == json.loads(send(dict(reversed(ORDER.items())))) == {
        "operationId": "op-0001", "status": "done"}
    keyless = tools_of(tmp_path / "ledger.db", without_key)["send_invoice"]
    assert [json.loads(keyless(ORDER))["operationId"] for _ in range(2)] == ["op-0002", "op-0003"]


@pytest.mark.parametrize("given", [None, [], {}, {"invoice": ""}, {"invoice": 7}, "INV-7"])
def test_an_invoice_without_a_number_is_not_sent(tmp_path, given):
    with pytest.raises(ValueError, match="number"):
        tools_of(tmp_path / "ledger.db")["send_invoice"](given)
    assert not (tmp_path / "ledger.db").exists()


def test_a_metric_is_looked_up_with_its_version(tmp_path):
    lookup = tools_of(tmp_path / "ledger.db")["lookup_metric"]
    assert json.loads(lookup({"id": "tests"}))["version"] == 2
    assert json.loads(lookup({"id": "tests", "version": 1}))["status"] == "retired"
    with pytest.raises(TypeError):
        lookup({"id": ["tests"]})


def test_without_an_approval_that_holds_a_tool_does_not_run():
    ran = []
    tool = approved_only(lambda given: ran.append(given) or "done", Session.create("s1"))
    with pytest.raises(PermissionError):
        tool(1)
    assert ran == []
    assert approved_only(lambda given: "done", settled())(order()) == "done"


@pytest.mark.parametrize("given", [
    {"amount": "16825.00"}, {"amount": 16824}, {"customer": "hillside"}, {"invoice": "INV-2072"}, {"more": None}])
def test_an_approval_covers_the_order_that_was_asked_for_and_no_other(given):
    ran = []
    with pytest.raises(PermissionError, match="another order"):
        approved_only(lambda sent: ran.append(sent) or "done", settled())({**order(), **given})
    assert ran == []


def test_an_approval_without_an_order_covers_none():
    session = settled()
    approval = current(session)["approval"]["value"]
    bare = Session.create("s1")
    bare.append("approval/asked", {"planHash": approval["planHash"]})
    decided = bare.append("approval/decided", {"planHash": approval["planHash"], "decision": "approved"})
    state = {**to_json(current(session)), "approval": {
        "value": to_json(approval), "source": {"seq": decided.seq, "turn": None}, "version": 1, "status": "committed"}}
    assert approved_order(bare, state) is None


def test_what_is_asked_after_the_approval_is_not_approved():
    session = settled()
    ask_approval(session, current(session), {**order(), "amount": "99.00"})
    assert same_json(approved_order(session, current(session)), order())
    with pytest.raises(PermissionError, match="another order"):
        approved_only(lambda given: "done", session)({**order(), "amount": "99.00"})


# The answers

def test_done_not_done_and_a_person(ledger):
    assert asked(ledger) == ("not done", "no trace")
    ledger.send("invoice", ORDER, KEY)
    assert asked(ledger) == ("done", "key")
    ledger.compensate("op-0001", "credit note")
    assert asked(ledger) == ("ask a person", "compensated")


def test_what_was_sent_without_a_key_is_found_by_its_number(ledger):
    ledger.send("invoice", {**ORDER, "invoice": "INV-8"})
    assert asked(ledger) == ("not done", "no trace")
    ledger.send("invoice", ORDER)
    assert asked(ledger) == ("done", "business id")
    ledger.send("invoice", ORDER)
    assert asked(ledger) == ("ask a person", "several")


def test_one_with_a_key_and_one_without_are_several(ledger):
    ledger.send("invoice", ORDER, KEY)
    ledger.send("invoice", ORDER)
    assert asked(ledger) == ("ask a person", "several")


@pytest.mark.parametrize(("kind", "payload", "key"), [
    ("invoice", {**ORDER, "amount": "50.00"}, KEY), ("invoice", {**ORDER, "amount": "50.00"}, None),
    ("invoice", {**ORDER, "amount": 40}, KEY), ("mail", ORDER, KEY), ("invoice", {"no": "INV-7"}, KEY)])
def test_another_request_under_the_name_is_for_a_person(ledger, kind, payload, key):
    ledger.send(kind, payload, key)
    assert asked(ledger) == ("ask a person", "other request")


@pytest.mark.parametrize("text", ["[]", '{"amount": "40.00"}', '{"invoice": null}', '{"invoice": ["INV-7"]}'])
def test_a_call_without_a_business_id_is_for_a_person(ledger, text):
    finding, = reconcile(died(text), ledger)
    assert (finding.answer, finding.why, finding.key) == ("ask a person", "no business id", None)


def test_arguments_that_are_no_json_are_for_a_person(ledger):
    broken = [event.to_json() for event in died("{}")]
    next(event for event in broken if event["type"] == "tool/call")["data"]["arguments"] = "{"
    finding, = reconcile(map(SessionEvent.from_json, broken), ledger)
    assert finding.why == "no business id"


def test_an_unknown_tool_is_for_a_person_and_one_that_reads_is_no_question(ledger):
    assert asked(ledger, name="send_fax") == ("ask a person", "no business id")
    assert reconcile(died('{"id": "tests"}', name="lookup_metric"), ledger) == []


def test_a_ledger_that_cannot_be_asked_is_no_answer(ledger):
    ledger.close()
    assert asked(ledger) == ("ask a person", "unreachable")


def test_a_number_too_long_for_a_key_is_for_a_person(ledger):
    assert asked(ledger, {"invoice": "9" * 300}) == ("ask a person", "unreachable")


# Which calls

def test_only_what_was_started_and_not_answered_is_asked_for(ledger):
    events = died(json.dumps(ORDER), json.dumps({**ORDER, "invoice": "INV-8"}))
    finding, = reconcile(events, ledger)
    assert (finding.call_id, events[finding.seq].type) == ("c1", "tool/call")
    assert reconcile([], ledger) == []
    assert reconcile(events[:finding.seq + 1], ledger) == []  # as long as nobody recovered it, the call may be running


def test_a_later_answer_settles_it_and_a_rewrite_does_not():
    events = died(json.dumps(ORDER))
    session = Session.create("s1", seed=events)
    run_turn(session, "Again.", ScriptedModel([Reply(calls=[call("c1", "send_invoice", "{}")]), Reply("Done.")]),
             {"send_invoice": lambda given: "sent"}, config=CONFIG)
    assert list(unknown_calls(session.events)) == []
    rewritten = Session.create("s1", seed=events)
    rewritten.append("turn/start", {"turn": 2})
    assert prune_session(rewritten, PruneConfig(threshold_chars=60, head_chars=10, tail_chars=10))
    assert [event.data["callId"] for event in unknown_calls(rewritten.events)] == ["c1"]


def test_the_finding_is_told_to_the_model_and_the_log_stays_good(ledger):
    ledger.send("invoice", ORDER, KEY)
    session = Session.create("s1", seed=died(json.dumps(ORDER)))
    log_findings(session, reconcile(session.events, ledger))
    said = session.derive_messages()[-1]
    assert said["source"]["plugin"] == "reconcile"
    assert "done, as operation op-0001" in said["content"][0]["text"]
    assert session.events[said["source"]["callSeq"]].type == "tool/call"
    assert check_invariants(session.events) == []


def test_reconcile_changes_neither_log_nor_ledger(tmp_path, ledger):
    store = JsonlStore(tmp_path)
    session = Session.create("s1")
    store.create(session.header)
    store.append("s1", died(json.dumps(ORDER)))
    before = store.path("s1").read_bytes()
    reconcile(store.inspect("s1").events, ledger)
    assert (store.path("s1").read_bytes(), ledger.operations()) == (before, [])
    assert resume(store, "s1").events[-1].type == "session/end-seed"


def test_other_effects_have_their_own_ids(ledger):
    ledger.send("notice", {"notice": "N-1"}, "notice N-1")
    effects = {"send_notice": Effect("notice", "notice")}
    finding, = reconcile(died('{"notice": "N-1"}', name="send_notice"), ledger, effects)
    assert finding == Finding("c1", finding.seq, "done", "key", "notice N-1", ledger.get("op-0001"))
    assert json.loads(result_of(ledger.get("op-0001")))["operationId"] == "op-0001"
