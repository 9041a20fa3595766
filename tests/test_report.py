"""The lab report: what it proves, that anybody can compute it again, and that no body gets into it, in errors neither."""
import hashlib
import json
import re
from typing import Any

import pytest

from labsupport.lossless import js_json
from labsupport.sessionlog import Session, SessionEvent, check_invariants, fold_surface, pairing_cuts
from labsupport.sessionlog.models import Request
from labsupport.workbench import log_samples
from labsupport.workbench.checks.base import correct, wrong
from labsupport.workbench.random_logs import random_log
from labsupport.workbench.random_requests import random_requests
from labsupport.workbench.received import Received
from labsupport.workbench.report import lab_report
from labsupport.workbench.report_parts import OTHER
from labsupport.workbench.text import speaking

CANARY = "kanarienvogel"
SAMPLES = sorted({*log_samples.NAMES} - {"damaged", "newer_format", "unknown_event"})
STRUCTURE = {"type", "role", "kind", "plugin", "compactionId", "blockType", "form", "trigger", "code"}


@pytest.fixture(autouse=True)
def in_english():
    with speaking("en"):
        yield


def said(report):
    """Everything that leaves a report, in both languages."""
    texts = [report.to_json()]
    for lang in ("zh", "en"):
        with speaking(lang):
            texts += [report.to_markdown(), repr(report), report._repr_html_(), report.table().to_string(), *report.sentences()]
    return "\n".join(texts)


def planted(value: Any, key: str = "") -> Any:
    """*value* with the canary in every string that is no part of the structure, and in the names of what anybody may name."""
    if isinstance(value, str):
        return value if key in STRUCTURE else f"{CANARY} {value}"
    if isinstance(value, list):
        return [planted(item, key) for item in value]
    return {name: planted(item, name) for name, item in value.items()} if isinstance(value, dict) else value


def with_canaries(events):
    return [SessionEvent.from_json({**event.to_json(), "data": planted(event.read())}) for event in events]


@pytest.mark.parametrize("name", SAMPLES)
def test_no_body_of_any_sample_gets_in(name):
    events = log_samples.load(name).events
    full = with_canaries(events)
    assert sum(CANARY in js_json(event.read()) for event in full) > 3
    report, plain = lab_report(full, checks={"a": True}), lab_report(events, checks={"a": True})
    assert CANARY not in said(report)
    for part in ("events", "order", "counts", "turns", "pairing", "checks", "problems"):
        assert report.data[part] == plain.data[part], part


def test_no_name_that_anybody_may_choose_gets_in():
    session = Session.create("s1")
    session.append(f"{CANARY}/event", {CANARY: CANARY}, ignorable=True)
    session.append("turn/start", {"turn": CANARY})
    session.append("step/start", {"turn": 1, "step": CANARY})
    session.append("tool/call", {"callId": CANARY, "name": CANARY, "arguments": CANARY})
    session.append("turn/end", {"turn": 1, "reason": {"kind": CANARY, "error": {"code": CANARY, "message": CANARY}}})
    report = lab_report(session.events)
    assert CANARY not in said(report)
    assert report.data["counts"]["types"][OTHER] == 1
    assert report.data["turns"]["ends"] == {OTHER: 1}
    assert [row["turn"] for row in report.data["events"]][:2] == [None, None]


def test_the_words_of_a_verdict_stay_out_and_its_result_comes_in():
    report = lab_report([], checks={"mine": wrong("check_raised", case=CANARY, error=CANARY), "yours": correct()})
    assert report.data["checks"] == [{"name": "mine", "passed": False}, {"name": "yours", "passed": True}]
    assert CANARY not in said(report)


def test_a_check_with_another_name_is_refused_without_repeating_it():
    for name in (f"{CANARY} says", "", "x" * 61, f"{CANARY}\n", "名字"):
        with pytest.raises(ValueError, match="letters, digits") as refused:
            lab_report([], checks={name: True})
        assert CANARY not in str(refused.value)


def test_what_cannot_be_derived_or_rebuilt_is_said_by_the_name_of_the_refusal():
    session = Session.create("s1")
    session.append("turn/start", {"turn": 1})
    session.append("user/message", {CANARY: CANARY}, surface_op="append")  # append does not look into messages
    session.append("request/header", {"header": {"config": {"provider": "p", "model": "m"}}, "reason": "initial"})
    session.append("step/start", {"turn": 1, "step": 1})
    report = lab_report(session.events)
    assert report.data["surface"]["refused"] == "EventError"
    assert [(one["rebuilds"], one.get("refused")) for one in report.data["requests"]] == [(False, "EventError")]
    assert CANARY not in said(report)


def test_a_request_that_differs_is_told_by_the_place_and_never_by_a_name_of_its_own():
    events = log_samples.load("two_step").events
    plain = lab_report(events).data["requests"]
    sent = Request({CANARY: CANARY, "system": CANARY}, [{CANARY: CANARY}])
    report = lab_report(events, received=[Received(plain[0]["seq"], sent)])
    assert report.data["requests"][0]["differs"] == ["header.config", OTHER, "header.system", "header.tools", "message 0"]
    assert CANARY not in said(report)


@pytest.mark.parametrize("seed", range(6))
def test_what_models_received_is_what_is_rebuilt(seed):
    run = random_requests(seed)
    report = lab_report(run.session.events, received=run.received)
    assert [one["differs"] for one in report.data["requests"]] == [[]] * len(run.received)
    assert f"{len(run.received)} of {len(run.received)} are the same" in "\n".join(report.sentences())


# What it proves

@pytest.mark.parametrize("name", SAMPLES)
def test_the_figures_are_those_of_the_log(name):
    events = log_samples.load(name).events
    data = lab_report(events).data
    rows = [seq for row in data["events"] for seq in range(row["seqs"][0], row["seqs"][1] + 1)]
    assert rows == [event.seq for event in events]
    assert data["counts"]["events"] == sum(data["counts"]["types"].values()) == len(events)
    assert data["surface"]["nodes"] == len(fold_surface(events).nodes)
    assert data["problems"]["invariants"] == [one.seq for one in check_invariants(events)] == []
    assert all(one["rebuilds"] for one in data["requests"])
    taken = [list(one.shadowed_seqs) for one in fold_surface(events).replacements]
    assert [one["shadowed"] for one in data["figures"]] == taken
    assert (data["pairing"]["withoutCall"] == []) == (name not in ("max_tokens", "interrupted", "resumed", "torn"))
    assert pairing_cuts(events)[-1] == (data["pairing"]["unanswered"] == [])


def test_pairs_are_those_that_the_sources_say_whatever_the_ids():
    for seed in range(10):
        events = random_log(seed).events
        data = lab_report(events).data
        assert data["pairing"]["pairs"] == [[event.source_event_seqs[0], event.seq] for event in events
                                            if event.type == "tool/result"]
        assert data["pairing"]["unanswered"] == []


def test_before_and_after_a_compaction():
    figures = lab_report(log_samples.load("replaced").events).data["figures"]
    assert len(figures) == 2
    pruned, compacted = figures
    assert pruned["nodes"][0] == pruned["nodes"][1]
    assert compacted["nodes"][0] - compacted["nodes"][1] == len(compacted["shadowed"]) - 1
    assert all(one["tokens"][0] > one["tokens"][1] and one["events"] == [one["seq"], one["seq"] + 1] for one in figures)


def test_the_digest_can_be_computed_again_and_is_of_the_order_alone():
    events = log_samples.load("two_step").events
    data = json.loads(lab_report(events).to_json())
    rows = [[row["seqs"], row["type"], row["turn"], row["step"], row["sources"]] for row in data["events"]]
    assert data["order"] == hashlib.sha256(js_json(rows).encode()).hexdigest()
    at = next(seq for seq, event in enumerate(events) if event.type == "tool/call")
    swapped = [*events[:at], SessionEvent.from_json({**events[at + 1].to_json(), "seq": at, "sourceEventSeqs": [0]}),
               SessionEvent.from_json({**events[at].to_json(), "seq": at + 1}), *events[at + 2:]]
    assert lab_report(swapped).data["order"] != data["order"]


def test_markdown_has_a_row_for_each_row_and_the_same_bytes_each_time():
    events = log_samples.load("long").events
    report = lab_report(events)
    table = [line for line in report.to_markdown().splitlines() if line.startswith("|")]
    assert len(table) == 2 + len(report.data["events"])
    assert {len(re.findall(r"\|", line)) for line in table} == {6}
    assert report.to_json() == lab_report(events).to_json()


def test_many_sources_are_told_as_spans_and_their_ends():
    session = Session.create("s1")
    for _ in range(20):
        session.append("session/title", {})
    block = {"id": "m1", "role": "assistant", "content": [], "source": {"kind": "model", "provider": "p", "model": "m"}}
    session.append("assistant/message", {"turn": 1, "step": 1, "message": block}, "append", [0, 1, 2, 5, 7, 9, 11, 13, 14])
    assert lab_report(session.events).to_markdown().splitlines()[-1].endswith("| 0–2 5 7 … 13–14 |")


def test_an_empty_log_has_a_report():
    report = lab_report([])
    assert report.data["counts"] == {"events": 0, "types": {}}
    assert "events: 0; turns: 0 (ended: –)" in report.sentences()
