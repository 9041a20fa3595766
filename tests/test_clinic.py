"""The clinic: what is wrong is found and proven, nothing else is, and what is shown of it holds no message."""
import json
import re
from dataclasses import replace
from itertools import combinations
from random import Random

import pytest

from labsupport.lossless import js_json
from labsupport.sessionlog import SessionEvent, SessionHeader, check_compaction, check_invariants, derive_event_message, replay
from labsupport.sessionlog.storage.jsonl import header_line
from labsupport.workbench import log_samples
from labsupport.workbench.checks.b11 import OVERLOOKED, check_causes, unseen
from labsupport.workbench.clinic import FAULTS, PLACES, ROWS, diagnose, evidence, make_case
from labsupport.workbench.clinic.cases import Flush, Provider, cache_of, client_of
from labsupport.workbench.clinic.draft import Draft
from labsupport.workbench.clinic.good import record
from labsupport.workbench.clinic.ward import BYSTANDERS, every_cause, waiting_room
from labsupport.workbench.clinic_words import MEANINGS, clue_words, diagnosis_table, evidence_table, matrix_table, ward_table
from labsupport.workbench.explorers.b11 import clinic_explorer
from labsupport.workbench.pictures.clinic import CAUSES, ROOM, causes_so_far, clinic_picture, sentence
from labsupport.workbench.text import speaking
from tests.notebooks.books import Reader

PAIRS = [pair for pair in combinations(FAULTS, 2) if FAULTS[pair[0]].spot != FAULTS[pair[1]].spot]


@pytest.fixture(autouse=True)
def in_english():
    with speaking("en"):
        yield


# Laws of diagnose

@pytest.mark.parametrize("seed", range(12))
def test_a_good_case_is_a_good_log_and_nothing_is_found(seed):
    case = make_case(seed)
    assert check_invariants(case.log) == check_compaction(case.log) == []
    assert list(replay(case.log).events)[:-1] == list(case.log)
    assert diagnose(case).findings == ()
    assert {clue.place for clue in diagnose(case).clues} == set(PLACES)


@pytest.mark.parametrize("name", FAULTS)
def test_every_single_fault_is_found_in_its_place_and_nothing_else(name):
    for seed in range(8):
        findings = diagnose(make_case(seed, [name])).findings
        assert [(clue.cause, clue.place) for clue in findings] == [(name, FAULTS[name].place)]


def test_of_every_two_faults_that_fit_into_one_case_both_are_found():
    assert len(PAIRS) > 200
    for at, pair in enumerate(PAIRS):
        assert set(diagnose(make_case(at % 7, pair)).causes) == set(pair), pair


@pytest.mark.parametrize("seed", range(40))
def test_of_many_faults_all_are_found(seed):
    random, names = Random(seed), list[str]()
    for name in random.sample(list(FAULTS), 8):
        if FAULTS[name].spot not in {FAULTS[other].spot for other in names}:
            names.append(name)
    assert set(diagnose(make_case(seed % 5, names)).causes) == set(names)


@pytest.mark.parametrize("name", FAULTS)
def test_who_does_not_look_in_its_place_does_not_find_it(name):
    rest = [place for place in PLACES if place != FAULTS[name].place]
    assert diagnose(make_case(2, [name]), rest).findings == ()


def test_the_order_of_the_findings_is_the_order_of_looking():
    case = make_case(3, ["client-folds", "no-flush", "deleted-only", "rule-lost"])
    assert diagnose(case).causes == ("no-flush", "rule-lost", "client-folds", "deleted-only")
    assert diagnose(case, reversed(PLACES)).causes == ("deleted-only", "client-folds", "rule-lost", "no-flush")


EVIDENCE = {
    "rule-lost": ["user/message", "compaction/summary"], "operation-lost": ["tool/result", "compaction/summary"],
    "range-split": ["assistant/message", "tool/result", "user/message"], "order-broken": ["tool/result", "tool/call"],
    "result-filtered": ["tool/call", "step/end"], "tail-not-repaired": ["turn/start", "session/end-seed"],
    "scope-changed": ["workbook/request-sources"] * 2, "client-behind": ["turn/end", "turn/end"],
}


@pytest.mark.parametrize(("name", "types"), EVIDENCE.items())
def test_the_evidence_names_the_events_that_prove_it(name, types):
    case = make_case(4, [name])
    finding, = diagnose(case).findings
    assert [case.log[seq].type for seq in finding.seqs] == types


def test_the_events_of_a_fork_are_told_by_their_side_of_the_seed():
    for name in ("history-only", "scope-kept"):
        case = make_case(5, [name])
        header, asked = diagnose(case).findings[0].seqs
        assert case.log[header].type == "request/header"
        assert (header < case.header.seed_length) == (name == "history-only")
        assert asked > case.header.seed_length


# It does not guess

def test_a_symptom_alone_is_no_cause():
    case = make_case(1)
    sent = next(operation for operation in case.ledger if operation.kind == "notice")
    twice = replace(case, ledger=(*case.ledger, replace(sent, id="op-0099")))
    found = diagnose(twice)
    assert found.findings == ()
    assert "b11_twice" in {clue.key for clue in found.clues}


def around(log, header=None):
    """A case of another log, with everything around it in order."""
    last = len(log) - 1
    made = [event for event in log if event.type == "workbook/request-sources"]
    provider = Provider(made[-1].read()["scope"] if made else "–", (), ())
    return replace(make_case(1), header=header or SessionHeader("other"), log=tuple(log), flushes=(Flush(last, last),),
                   provider=provider, client=client_of(tuple(log), last, last), cache=cache_of(tuple(log)))


@pytest.mark.parametrize("name", sorted({*log_samples.NAMES} - {"damaged", "newer_format", "unknown_event"}))
def test_in_the_sample_logs_nothing_is_found(name):
    loaded = log_samples.load(name)
    assert diagnose(around(loaded.events, loaded.header)).findings == ()


def test_an_empty_log_is_looked_at():
    assert diagnose(around([])).findings == ()


def drawn(change, seed=2):
    """The good case of *seed* with its log changed by *change*, and everything around it in order."""
    draft = Draft.of(record(seed))
    change(draft)
    log, _, length = draft.take()
    header = SessionHeader.from_json({**draft.good.header.to_json(), "seedLength": length})
    return replace(around(log, header), provider=draft.good.provider)


def end_range_at_a_call(draft):
    summary = draft.find("compaction/summary")
    checkpoint = draft.find("user/message", after=summary["seq"])
    seqs = summary["data"]["shadowedSeqs"]
    end = [event["seq"] for event in draft.events if event["type"] == "assistant/message" and event["seq"] in seqs
           and any(block["type"] == "tool-call" for block in event["data"]["message"]["content"])][-1]
    summary["data"]["shadowedSeqs"] = [seq for seq in seqs if seq <= end]
    checkpoint["surfaceOp"] = {**checkpoint["surfaceOp"], "end": end}
    checkpoint["sourceEventSeqs"] = [seq for seq in checkpoint["sourceEventSeqs"] if seq not in seqs or seq <= end]


def fail_compaction(draft):
    FAULTS["rule-lost"].in_log(draft)
    summary = draft.find("compaction/summary")
    draft.drop(draft.find("user/message", after=summary["seq"]))
    draft.find("compaction/end")["data"]["error"] = {"message": "it changed", "code": "changed"}


def resume_parent(draft):
    draft.insert(draft.find("turn/start", after=5)["seq"], {"type": "session/end-seed", "time": 0, "data": {}})


def keep_parents_header_of_a_resumed_parent(draft):
    FAULTS["history-only"].in_log(draft)
    resume_parent(draft)


def ask_first_after_the_resume(draft):
    own = {"request/header", "workbook/request-sources", "request/context"}
    fork, resume = draft.fork_end, draft.resume_end
    draft.drop(*[event for event in draft.events if fork < event["seq"] < resume
                 or (event["seq"] > resume and event["type"] in own)])


def log_no_sources(draft):
    draft.drop(*[event for event in draft.events if event["type"] == "workbook/request-sources"])


def change_scope_alone(draft):
    draft.find("workbook/request-sources", after=draft.resume_end)["data"]["scope"] = "office"


def write_result_late(draft):
    call = draft.find("tool/call", after=draft.fork_end)
    result = draft.result(call["data"]["callId"])
    draft.drop(result)
    draft.insert(draft.find("step/end", after=call["seq"])["seq"] + 1, result)


@pytest.mark.parametrize(("change", "causes"), [
    (end_range_at_a_call, ("range-split",)), (fail_compaction, ()), (resume_parent, ()),
    (keep_parents_header_of_a_resumed_parent, ("history-only",)), (ask_first_after_the_resume, ("history-only",)),
    (log_no_sources, ()), (change_scope_alone, ("scope-changed",)), (write_result_late, ("order-broken",)),
], ids=lambda value: getattr(value, "__name__", ""))
def test_another_way_to_the_same_cause_is_found_and_what_only_looks_like_one_is_not(change, causes):
    assert diagnose(drawn(change)).causes == causes


def test_a_fork_that_asks_with_its_parents_header_where_that_is_of_its_own_scope_is_in_order():
    def inherit(draft):
        FAULTS["history-only"].in_log(draft)
        draft.events = [event for event in draft.events if event["seq"] < draft.resume_end]

    case = drawn(inherit)
    assert diagnose(case).causes == ("history-only",)
    granted = Provider("office", ("look_up", "send_notice", "delete_rows"), case.provider.context)
    inherited = diagnose(replace(case, provider=granted))
    assert inherited.causes == ()
    assert "b11_fork_shared" in {clue.key for clue in inherited.clues}


def test_no_clue_names_an_event_that_is_not_there():
    early = replace(make_case(1), client=client_of((), -1, 0), log=(), flushes=())
    seqs = [seq for case in (around([]), early) for clue in diagnose(case).clues for seq in clue.seqs]
    assert all(seq >= 0 for seq in seqs)


def test_a_flush_that_failed_and_was_made_good_explains_nothing():
    case = make_case(1, ["flush-failed"])
    told = case.client.told_saved
    assert diagnose(replace(case, flushes=(*case.flushes, Flush(told, told)))).findings == ()


def test_the_compensation_of_an_operation_that_no_deleted_chat_named_is_not_the_wrong_one():
    case = make_case(1, ["deleted-only"])
    notice = next(operation for operation in case.ledger if operation.kind == "notice")
    stray = replace(notice, id="op-0099", kind="credit note", payload=None, compensates=notice.id)
    assert diagnose(replace(case, ledger=(*case.ledger, stray))).causes == ("deleted-only",)


def test_saved_and_gone_with_a_flush_that_was_reported_is_told_and_not_explained():
    case = make_case(1, ["no-flush"])
    told = case.client.told_saved
    found = diagnose(replace(case, flushes=(*case.flushes, Flush(told, told))))
    assert found.findings == ()
    assert "b11_saved_and_gone" in {clue.key for clue in found.clues}


def test_a_damaged_old_file_is_no_row_of_the_matrix():
    case = make_case(1)
    lines = case.archive.splitlines(keepends=True)
    damaged = replace(case, archive=b"".join([*lines[:3], b"{\n", *lines[4:]]))
    assert diagnose(damaged).findings == ()
    assert "b11_archive_damaged" in {clue.key for clue in diagnose(damaged).clues}


def test_an_operation_that_nobody_asked_to_undo_may_stand():
    case = make_case(1, ["deleted-only"])
    assert diagnose(replace(case, receipts=tuple(replace(one, undo=False) for one in case.receipts))).findings == ()


# Faults

def test_every_row_has_two_causes_or_more_and_every_cause_its_words():
    assert list(ROWS) == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert all(sum(fault.row == row for fault in FAULTS.values()) >= 2 for row in ROWS)
    assert set(MEANINGS) == set(FAULTS)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_changes_the_case_and_does_the_same_each_time(name):
    case, good = make_case(3, [name]), make_case(3)
    assert case == make_case(3, [name])
    assert case != good
    if FAULTS[name].place in ("watermark", "client", "outside"):
        assert case.log == good.log


def test_two_faults_at_one_spot_are_refused_and_so_is_a_name_that_is_none():
    with pytest.raises(ValueError, match="one spot"):
        make_case(1, ["no-flush", "flush-failed"])
    with pytest.raises(KeyError, match="no-such"):
        make_case(1, ["rule-lost", "no-such"])


def test_a_draft_that_nobody_changed_is_the_log():
    good = record(2)
    events, flushes, length = Draft.of(good).take()
    assert (events, flushes, length) == (good.events, good.flushes, good.header.seed_length)


def test_what_cites_follows_when_events_go_and_come():
    draft = Draft.of(record(2))
    draft.drop(draft.find("assistant/chunk"))
    draft.insert(draft.fork_end, {"type": "session/title", "time": 0, "data": {"title": "x"}})
    events, _, length = draft.take()
    good = record(2)
    assert length == good.header.seed_length - 1
    assert [event.type for event in events[:length]].count("assistant/chunk") == [
        event.type for event in good.events[:length]].count("assistant/chunk") - 1
    assert check_invariants(events) == check_compaction(events) == []
    replaced = [event for event in events if event.source_event_seqs and event.type == "user/message"]
    assert [events[seq].type for seq in replaced[0].source_event_seqs[:2]] == ["compaction/start", "compaction/summary"]


# The ward, the tables, the check

def test_the_explorers_patients_have_every_cause_and_the_exercise_has_every_row_and_place():
    *single, two, none = [patient.has for patient in every_cause()]
    assert (single, two, none) == ([(name,) for name in FAULTS], ("operation-lost", "client-behind"), ())
    *nine, nothing = unseen()
    assert sorted(patient.row for patient in nine) == list(ROWS)
    assert {FAULTS[patient.has[-1]].place for patient in nine} == set(PLACES)
    assert nothing.has == ()
    assert not {patient.seed for patient in unseen()} & {patient.seed for patient in every_cause()}
    assert waiting_room(7) == waiting_room(7) != waiting_room(8)


@pytest.mark.parametrize("seed", range(6))
def test_who_names_the_first_cause_that_is_found_is_wrong_about_some(seed):
    for patient in waiting_room(seed):
        causes = diagnose(patient.case).causes
        assert causes == patient.has
        assert [name for name in causes if FAULTS[name].row == patient.row] == list(patient.has[-1:])
    assert sum(len(patient.has) > 1 for patient in waiting_room(seed)) == BYSTANDERS


def test_what_a_patient_has_is_not_shown():
    patient = unseen()[0]
    assert patient.has[0] not in repr(patient)
    shown = evidence_table(patient.case).to_string()
    assert not any(re.search(rf"\b{name}\b", shown) for name in FAULTS)


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_tables_speak_both_languages(lang):
    with speaking(lang):
        assert len(matrix_table()) == len(FAULTS)
        assert list(matrix_table(places=True).columns)[:-1] == list(matrix_table().columns)
        assert list(ward_table(unseen()).iloc[:, 0]) == list(range(1, 11))
        healthy = diagnosis_table(diagnose(make_case(1)))
        assert list(healthy.iloc[0])[1:] == ["", "", ""]
        assert len(diagnosis_table(diagnose(make_case(1, ["rule-lost", "no-flush"])))) == 2


def right():
    return {patient.number: patient.has[-1] if patient.has else None for patient in unseen()}


def test_the_check_takes_every_way_to_know():
    def confirmed():
        causes = {patient.number: diagnose(patient.case).causes for patient in unseen()}
        return {patient.number: next((name for name in causes[patient.number] if FAULTS[name].row == patient.row), None)
                for patient in unseen()}

    class Named(dict):
        pass

    assert check_causes(right).correct
    assert check_causes(confirmed).correct
    assert check_causes(lambda: dict(reversed(right().items()))).correct
    assert check_causes(lambda: Named(right())).correct


@pytest.mark.parametrize(("changed", "key", "words"), [
    ({1: "history-only"}, "b11_wrong_prompt", "scope office"),
    ({2: "newer-format"}, "b11_wrong_events", "not ignorable"),
    ({5: "cache-version"}, "b11_wrong_watermark", "no row for turn_status"),
    ({7: "client-behind"}, "b11_wrong_client", "shows "),
    ({8: "range-split"}, "b11_wrong_surface", "lacks op-"),
    ({9: "deleted-only"}, "b11_wrong_outside", "compensated op-"),
    ({8: "tail-not-repaired"}, "b11_wrong_bystander", "row 3"),
    ({9: "no-flush"}, "b11_wrong_bystander", "row 4"),
    ({3: "operation-lost"}, "b11_wrong_row", "row 6"),
    ({10: "client-behind"}, "b11_wrong_unproven", "Say None"),
    ({10: "rule-lost"}, "b11_wrong_row", "row 1"),
    ({4: None}, "b11_wrong_none", "is open when the resume comes"),
    ({3: ["context-not-logged"]}, "b11_wrong_name", "one for each case"),
    ({6: "flush-fail"}, "b11_wrong_name", "perhaps “flush-failed”"),
    ({6: {}}, "b11_wrong_name", "{}"),
    ({10: ""}, "b11_wrong_name", "case"),
    ({11: "rule-lost"}, "b11_wrong_number", "case 11"),
    ({0: None}, "b11_wrong_number", "case 0"),
    ({"1": "scope-kept"}, "b11_wrong_number", "case '1'"),
])
def test_the_check_says_what_differs(changed, key, words):
    verdict = check_causes(lambda: {**right(), **changed})
    assert (verdict.correct, verdict.key) == (False, key)
    assert words in str(verdict)


def test_the_check_refuses_what_is_no_diagnosis_and_begins_at_the_first_case():
    first = {patient.number: diagnose(patient.case).causes[:1] for patient in unseen()}
    assert check_causes(lambda: None).key == "check_not_started"
    assert check_causes(dict).key == "b11_wrong_missing"
    assert check_causes(lambda: list(right().values())).key == "b11_wrong_shape"
    assert check_causes(lambda: {number: names[0] if names else None for number, names in first.items()}
                        ).key == "b11_wrong_bystander"
    assert "Case 1 " in str(check_causes(lambda: dict.fromkeys(right())))
    assert "Case 2 " in str(check_causes(lambda: {**dict.fromkeys(right()), 1: "scope-kept"}))
    assert "case 10." in str(check_causes(lambda: {n: name for n, name in right().items() if name}))
    assert check_causes(lambda: {True: "scope-kept", **{n: name for n, name in right().items() if n > 1}}
                        ).key == "b11_wrong_number"


def test_for_every_patient_another_cause_of_the_row_overlooks_the_evidence_of_that_place():
    for patient in unseen():
        for name, fault in FAULTS.items():
            if fault.row == patient.row and patient.has and name not in patient.has:
                verdict = check_causes(lambda number=patient.number, name=name: {**right(), number: name})
                assert verdict.key == OVERLOOKED[FAULTS[patient.has[-1]].place]
                assert not any(f"“{has}”" in str(verdict) for has in patient.has)


# The picture

def rows_of(picture):
    return [len(re.findall("<tr", table)) for table in re.findall(r"<tbody>(.*?)</tbody>", picture, re.DOTALL)]


def test_the_picture_has_the_same_rows_for_every_patient_at_every_step():
    for patient in every_cause():
        found = diagnose(patient.case)
        assert all(len(evidence(patient.case, place)) <= ROOM[place] for place in PLACES)
        for asked in range(len(PLACES) + 1):
            assert rows_of(clinic_picture(patient, found, asked)) == [sum(ROOM.values()), CAUSES]


@pytest.mark.parametrize("asked", range(len(PLACES) + 1))
def test_the_line_of_the_slider_stands_under_the_last_place_that_was_asked(asked):
    patient = every_cause()[0]
    rows = re.findall(r"<tr.*?</tr>", clinic_picture(patient, diagnose(patient.case), asked), re.DOTALL)[1:]
    marked = [at for at, row in enumerate(rows, start=1) if "is-now" in row]
    assert marked == ([sum(ROOM[place] for place in PLACES[:asked])] if asked else [])


def test_a_cause_is_open_until_its_place_was_asked():
    for patient in every_cause():
        found = diagnose(patient.case)
        assert set(causes_so_far(patient, found, 0).values()) <= {"open"}
        last = causes_so_far(patient, found, len(PLACES))
        assert {name for name, state in last.items() if state == "proven"} == set(patient.has)
        for asked in range(len(PLACES) + 1):
            states = causes_so_far(patient, found, asked)
            assert all((state == "open") == (FAULTS[name].place not in PLACES[:asked]) for name, state in states.items())
            assert ("Proven" in sentence(patient, found, asked)) == ("proven" in states.values())


def test_the_explorer_is_moved_by_its_menu_and_its_slider():
    explorer = clinic_explorer()
    assert "Asked: 0 of 6" in repr(explorer)
    explorer.patient.value, explorer.asked.value = 2, 2
    assert "Proven: rule-lost (events" in repr(explorer)


HOSTILE = "<img src=x onerror=alert(1)>"


def test_hostile_names_are_drawn_as_text():
    case = make_case(1)
    lines = case.archive.decode().splitlines()
    odd = js_json({"type": HOSTILE, "seq": len(lines) - 1, "time": 0, "data": {}})
    found = diagnose(replace(case, archive="\n".join([*lines, odd, ""]).encode(),
                             provider=replace(case.provider, context=("</td><script>",), scope=HOSTILE)))
    patient = every_cause()[-1]
    picture = clinic_picture(patient, found, len(PLACES))
    assert "img" not in Reader(picture).tags
    assert "script" not in Reader(picture).tags
    assert "&lt;img" in picture


def test_no_clue_says_what_a_message_says():
    for patient in every_cause():
        words = "\n".join(clue_words(clue) for clue in diagnose(patient.case).clues)
        for event in patient.case.log:
            message = derive_event_message(event)
            texts = [] if message is None else [block["text"] for block in message["content"] if "text" in block]
            assert not [text for text in texts if len(text) > 3 and text in words]


def test_the_old_file_is_one_that_a_store_would_read():
    good = record(4)
    header = good.archive.split(b"\n", 1)[0] + b"\n"
    assert header == header_line(SessionHeader("chat-4-old"))
    assert all(SessionEvent.from_json(json.loads(line)) for line in good.archive.splitlines()[1:])
