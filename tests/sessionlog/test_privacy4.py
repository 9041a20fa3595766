"""Privacy: what is stored comes back or is named as missing; the list of lost requests is exact; no canary leaves an export."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import pytest

from labsupport.errors import (
    EventError,
    HoldError,
    LabError,
    LogCorruptError,
    RoleError,
    SealError,
    StoredLogError,
)
from labsupport.outside import Attachments, Keys, KeyState, TenantVault
from labsupport.sessionlog import (
    Session,
    SessionEvent,
    SessionHeader,
    delegate,
    fork,
    session_stats,
    todo,
    tool_pairing,
    transcript,
    turn_status,
)
from labsupport.sessionlog.fields import CLASSES
from labsupport.sessionlog.json_text import same_json
from labsupport.sessionlog.kin import kin_of
from labsupport.sessionlog.privacy import Need, lost_requests, needs_of, protect_log, request_levels, reveal_log
from labsupport.sessionlog.redaction import REDACTED, Pseudonyms, redact_log, texts_in
from labsupport.sessionlog.request import rebuild_request, request_seqs
from labsupport.sessionlog.retention import DAY, Hold, check_holds, due, hold_on, last_references
from labsupport.sessionlog.roles import AUDITOR, OFFICER, ROLES, SUPPORT, read_projections, read_raw, read_transcript
from labsupport.sessionlog.storage import JsonlStore, SqliteStore
from labsupport.workbench import log_samples
from labsupport.workbench.canaries import planted, sung, sung_naively, there
from labsupport.workbench.random_logs import random_log
from labsupport.workbench.random_requests import random_requests
from tests.sessionlog import builders as make

ROOT = bytes(range(32))
POLICIES: list[dict[str, Any]] = [
    {},
    {"tool": "reference", "instruction": "plain"},
    dict.fromkeys(CLASSES, "plain"),
    dict.fromkeys(CLASSES, "reference"),
]
SAMPLES = ["two_step", "parallel", "tool_raises", "replaced", "ignorable_event", "interrupted"]


@contextmanager
def vault_in(folder: Path) -> Iterator[TenantVault]:
    with Keys(folder / "keys.db", ROOT, lambda: 5) as keys:
        yield TenantVault("clinic", keys, Attachments(folder / "attachments", ROOT))


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[TenantVault]:
    with vault_in(tmp_path) as found:
        yield found


def is_there(vault: TenantVault) -> Any:
    return lambda need: vault.has(need.kind, need.name, need.version)


def key(name: str, version: int = 1) -> Need:
    return Need("key", f"clinic/{name}", version)


def delete(vault: TenantVault, need: Need) -> None:
    if need.kind == "key":
        vault.keys.delete(need.name, need.version)
    else:
        vault.attachments.delete(need.name)


def every_need(events: list[SessionEvent]) -> list[Need]:
    return sorted({need for event in events for need in needs_of(event.read())})


def events_of(*records: make.Record) -> list[SessionEvent]:
    return make.log(*records)


# What is stored comes back


@pytest.mark.parametrize("policy", POLICIES, ids=["sealed", "mixed", "plain", "elsewhere"])
@pytest.mark.parametrize("name", [*SAMPLES, *range(6)])
def test_a_protected_log_is_a_log_and_comes_back_as_it_was(vault, tmp_path, policy, name):
    events = list(log_samples.load(name).events if isinstance(name, str) else random_requests(name).session.events)
    stored = protect_log(events, policy, vault)
    shape = [(event.type, event.seq, event.time, event.surface_op, event.source_event_seqs) for event in events]
    assert [(event.type, event.seq, event.time, event.surface_op, event.source_event_seqs) for event in stored] == shape
    store = JsonlStore(tmp_path / "logs")
    store.create(SessionHeader("s"))
    store.append("s", stored)
    again = JsonlStore(tmp_path / "logs").load("s").events
    found = reveal_log(again, vault)
    assert (make.plain(found.events)[: len(events)], dict(found.missing)) == (make.plain(events), {})


def test_nothing_that_was_said_is_in_the_stored_log(vault):
    log = planted(3)
    told = " ".join(texts_in(make.plain(protect_log(log.events, {}, vault))))
    assert there(log) > {"name"}
    assert [kind for kind in CLASSES if log.words[kind] in told] == []


@pytest.mark.parametrize(
    "text", ["protected:plain:1", "protected:key:clinic/prompt:1:x", "protected:ref:attachment:00", "protected:"]
)
@pytest.mark.parametrize("policy", POLICIES, ids=["sealed", "mixed", "plain", "elsewhere"])
def test_a_text_that_looks_like_one_of_ours_is_content(vault, text, policy):
    events = events_of(
        make.turn_start(),
        make.user(text),
        make.asks(text),
        make.call(text),
        make.result(text, text),
        make.record("plugin/x", {text: [text], "protected": text, "deep": {"protected": [text]}}),
        make.record("session/title", {"title": text, "protected": {"protected": 1}}),
    )
    stored = protect_log(events, policy, vault)
    assert make.plain(reveal_log(stored, vault).events) == make.plain(events)
    assert all(need.name.startswith(("clinic/", "attachment:")) and need.name != "attachment:00" for need in every_need(stored))


@pytest.mark.parametrize("value", ["\ud83d", "🙂\x00", 2**53, -0.0, 1.5, None, True, [], {}, {"": [[{}]]}])
def test_any_data_comes_back(vault, value):
    for policy in POLICIES:
        events = [SessionEvent.from_json({"type": "plugin/x", "seq": 0, "time": 0, "data": {"a": value}})]
        assert make.plain(reveal_log(protect_log(events, policy, vault), vault).events) == make.plain(events)


def test_deep_data_comes_back(vault):
    deep: Any = "x"
    for _ in range(5000):
        deep = [deep]
    for policy in POLICIES:
        result = {**make.result_data("c"), "meta": deep}
        events = events_of(make.record("plugin/x", deep), make.record("tool/result", result, surfaceOp="append"))
        found = reveal_log(protect_log(events, policy, vault), vault).events
        assert all(same_json(one.read(), other.read()) for one, other in zip(found, events, strict=True))


def test_a_rewritten_result_still_rewrites(vault):
    events = events_of(
        make.asks("c"),
        make.record("tool/result", {**make.result_data("c", "long"), "meta": {"x": 1}}, surfaceOp="append"),
        make.record(
            "tool/result",
            {**make.result_data("c", "short"), "meta": {"x": 1}},
            surfaceOp=make.replacing(1, 1),
            sourceEventSeqs=[1],
        ),
    )
    stored = protect_log(events, {}, vault)
    assert list(Session.create("s", stored).surface.nodes) == [0, 2]
    assert make.plain(reveal_log(stored, vault).events) == make.plain(events)


def test_what_was_stored_already_is_taken_over(vault):
    events = events_of(make.user("one"), make.user("two"))
    begun = protect_log(events[:1], {}, vault)
    vault.keys.rotate("clinic/prompt")
    stored = protect_log(events, {}, vault, begun)
    assert stored[0] is begun[0]
    assert [every_need([event]) for event in stored] == [[key("prompt", 1)], [key("prompt", 2)]]


def test_a_seal_that_is_moved_to_another_field_does_not_open(vault):
    stored = protect_log(events_of(make.user("secret"), make.record("session/title", {"title": "x"})), {}, vault)
    moved = stored[1].to_json() | {"data": {"title": stored[0].read()["content"][0]["text"]}}
    with pytest.raises(SealError) as caught:
        reveal_log([SessionEvent.from_json(moved)], vault)
    assert "secret" not in str(caught.value)


def test_a_class_that_there_is_not_is_refused(vault):
    for ask in (lambda: protect_log([], {"prompts": "plain"}, vault), lambda: redact_log(SessionHeader("s"), [], {"prompts"})):
        with pytest.raises(EventError, match="no class 'prompts'"):
            ask()


# Which requests can be rebuilt


@pytest.mark.parametrize("seed", range(12))
def test_a_request_is_gone_exactly_where_it_cannot_be_rebuilt(vault, seed):
    """Delete some keys and attachments: the levels say which requests are then as they were, and the list said so before."""
    random = Random(seed)
    session = random_requests(seed).session if seed % 2 else random_log(seed)
    events, policy = list(session.events), random.choice(POLICIES[:2])
    half = random.choice([event.seq for event in events])
    begun = protect_log(events[:half], policy, vault)
    for state in vault.keys.states():
        vault.keys.rotate(state.name)
    stored = protect_log(events, policy, vault, begun)
    needs = every_need(stored)
    doomed = random.sample(needs, random.randint(1, min(3, len(needs))))
    told = lost_requests({"s": stored}, doomed, is_there(vault))
    for need in doomed:
        delete(vault, need)
    levels, read = request_levels(stored, is_there(vault)), reveal_log(stored, vault).events
    assert [level.seq for level in levels] == request_seqs(events)
    for level in levels:
        same = rebuild_request(read, level.seq).request == rebuild_request(events, level.seq).request
        assert same == (level.level != "gone") == (not level.missing)
    assert told == [("s", level.seq) for level in levels if level.level == "gone"]


def test_each_level_by_what_the_request_needs(vault):
    def level_of(policy: dict[str, Any]) -> Any:
        events = events_of(make.turn_start(), make.step_start(), make.user("hi"), make.request_header(), make.says())
        found, = request_levels(protect_log(events, policy, vault), is_there(vault))
        return found

    found = [level_of({"prompt": how}) for how in ("plain", "key", "reference")]
    assert [level.level for level in found] == ["whole", "with key", "with attachment"]
    delete(vault, key("prompt"))
    assert level_of({"prompt": "key"}).needs == {key("prompt", 2)}


def test_what_no_model_read_is_not_needed(vault):
    events = events_of(
        make.turn_start(),
        make.step_start(),
        make.user("hi"),
        make.request_header(),
        make.chunk("he"),
        make.says("hello"),
        make.record("session/title", {"title": "hi"}),
    )
    stored = protect_log(events, {}, vault)
    for name in ("chunk", "title", "answer"):
        assert lost_requests({"s": stored}, [key(name)], is_there(vault)) == []
        delete(vault, key(name))
    assert [level.level for level in request_levels(stored, is_there(vault))] == ["with key"]
    assert sorted(reveal_log(stored, vault).missing) == [4, 5, 6]


def test_a_long_result_that_was_spilled_is_no_need_of_a_request(vault):
    """The model saw head, tail and reference; the attachment itself it never had."""
    data = make.result_data("c")
    data["message"]["content"][0]["content"].append({"type": "attachment", "ref": "attachment:" + "0" * 64, "bytes": 9})
    events = events_of(make.record("tool/result", data, surfaceOp="append"))
    assert {need.kind for need in every_need(protect_log(events, {}, vault))} == {"key"}


def test_forks_and_sub_agents_count(vault):
    session = random_log(3)
    stored = protect_log(session.events, {}, vault)
    child = fork(session, child_id="child")
    logs = {"s": stored, "child": protect_log(child.events, {}, vault, stored)}
    lost = lost_requests(logs, [key("prompt")], is_there(vault))
    assert [id for id, _ in lost].count("s") == [id for id, _ in lost].count("child") == len(request_seqs(session.events))


def test_a_deleted_key_reaches_every_copy_of_a_ciphertext_and_no_copy_of_the_plain_text(tmp_path):
    for folder in (tmp_path / "live", tmp_path / "backup"):
        folder.mkdir()
    with vault_in(tmp_path / "live") as vault:
        stored = protect_log(events_of(make.user("CANARY")), {}, vault)
        for place in ("live", "backup"):
            store = SqliteStore(tmp_path / place / "logs.db")
            store.create(SessionHeader("s"))
            store.append("s", stored)
            store.close()
        delete(vault, key("prompt"))
        for place in ("live", "backup"):
            copy = SqliteStore(tmp_path / place / "logs.db").load("s").events
            assert "CANARY" not in str(make.plain(reveal_log(copy, vault).events))


def test_kin_of_kin_are_found_and_strangers_are_not():
    first = random_log(3)
    second = fork(first, child_id="second")
    third = delegate(second, "third")
    fourth = fork(random_log(4), child_id="fourth")
    headers = [session.header for session in (fourth, third, second, first)]
    assert [(kin.id, kin.kind, kin.parent, kin.events) for kin in kin_of(headers, first.id)] == [
        ("second", "fork", first.id, len(first.events)),
        ("third", "subagent", "second", 0),
    ]
    loop = [SessionHeader("a", parent_session="b", seed_length=1), SessionHeader("b", parent_session="a", seed_length=1)]
    assert [kin.id for kin in kin_of(loop, "a")] == ["b"]


# Exports


@pytest.mark.parametrize("seed", range(20))
def test_no_canary_of_a_hidden_class_is_in_an_export_nor_in_its_file_name(seed):
    log = planted(seed)
    assert sung(log) == set()
    shown = set(Random(seed).sample(CLASSES, 3))
    assert sung(log, *shown) == shown & there(log)


def test_the_canaries_are_everywhere_and_the_check_can_fail():
    logs = [planted(seed) for seed in range(20)]
    assert set.union(*map(there, logs)) == {*CLASSES, "name", "header", "type"}
    assert all(sung_naively(log) >= {"header", "title", "error", "type", "name"} for log in logs)


@pytest.mark.parametrize("name", SAMPLES)
def test_an_export_tells_how_a_session_went(name):
    header, events = SessionHeader(name), list(log_samples.load(name).events)
    found = redact_log(header, events)
    assert [(one.type, one.seq, one.time, one.surface_op) for one in found.events] == [
        (one.type if one.type != "bookmark/set" else REDACTED, one.seq, one.time, one.surface_op) for one in events
    ]
    log, ours = Session.create(name, events), Session.create("session-1", found.events, found.header)
    assert list(log.surface.nodes) == list(ours.surface.nodes)
    units = [turn_status, session_stats]
    assert read_projections(SUPPORT, header, events, units) == read_projections(AUDITOR, header, events, units)
    raw, seen = (read_projections(role, header, events, [tool_pairing])["tool_pairing"]["calls"] for role in (AUDITOR, SUPPORT))
    assert [one["status"] for one in seen.values()] == [one["status"] for one in raw.values()]
    assert all(id.startswith("call-") for id in seen)


def test_what_went_in_is_not_changed():
    events = random_requests(1).session.events
    before = make.plain(events)
    redact_log(SessionHeader("s"), events)
    assert make.plain(events) == before


def test_the_title_in_a_header_line_and_every_other_place_of_a_key_b74(tmp_path):
    secret = "sk-demo-4f9a2c7711bbEXAMPLE"
    header = {"type": "session", "version": 0, "id": f"use-{secret}", "createdAt": 1000, "cwd": f"/home/demo/{secret}",
              "delegationDepth": 0, "title": f"use key {secret} for"}
    asked = {"turn": 1, "step": 1, "callId": secret, "name": secret, "arguments": f'{{"key": "{secret}"}}'}
    said = [make.turn_start(), make.user(f"use key {secret}"), make.asks(secret), make.record("tool/call", asked)]
    records = make.numbered(*said, make.result(secret, secret))
    store = JsonlStore(tmp_path / "logs")
    (tmp_path / "logs").mkdir()
    store.path(header["id"]).write_bytes(b"".join(map(make.line, [header, *records])))
    log = store.inspect(header["id"])
    found = redact_log(log.header, log.events)
    out = JsonlStore(tmp_path / "out")
    out.create(found.header)
    out.append(found.header.id, found.events)
    assert [path.name for path in (tmp_path / "out").iterdir() if path.suffix == ".jsonl"] == ["session-1.jsonl"]
    assert all(secret.encode() not in path.read_bytes() for path in (tmp_path / "out").iterdir())
    assert secret[:8] not in out.path("session-1").read_text(), "no partial masking either"
    assert out.load("session-1").repair is None


def test_an_error_that_repeats_a_key_and_a_line_that_is_no_record_b76(tmp_path):
    secret, password = "sk-demo-4f9a2c7711bbEXAMPLE", "hunter2-EXAMPLE"
    reason = {"kind": "error", "error": {"message": f"Invalid API key: {secret}", "code": secret}}
    good = events_of(make.user("hi"), make.record("turn/end", {"turn": 1, "reason": reason}))
    assert secret not in str(make.plain(redact_log(SessionHeader("s1"), good).events))
    bad = make.log_bytes(make.user("hi")) + f'{{"role":"user","content":"password is {password}"\n'.encode()
    store = make.jsonl_file(tmp_path, bad + make.line({"type": "turn/end", "seq": 1, "time": 1, "data": {}}))
    with pytest.raises(LogCorruptError) as caught:
        store.load("s1")
    assert caught.value.line == 3
    told = [str(caught.value), repr(caught.value.__dict__), repr(caught.value.__context__), repr(caught.value.__cause__)]
    assert not [text for text in told if password in text]


@pytest.mark.parametrize("id", ["../evil", "..\\evil", "/etc/passwd", "a/b", ".", "..", "con", "x\0y", "a" * 300, "line\nbreak",
                                "\u202egpj.exe", "ok-1_2"])
def test_no_id_names_the_file_of_an_export_b79(tmp_path, id):
    found = redact_log(SessionHeader(id), [])
    assert JsonlStore(tmp_path).path(found.header.id) == tmp_path / "session-1.jsonl"


@pytest.mark.skipif(not make.POSIX, reason="links as on POSIX")
def test_an_export_goes_through_no_link_b80(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "folder").symlink_to(elsewhere)
    with pytest.raises(StoredLogError, match="link"):
        JsonlStore(tmp_path / "folder")
    (tmp_path / "out").mkdir()
    target = tmp_path / "target"
    target.write_text("as it was")
    os.symlink(target, tmp_path / "out" / "session-1.jsonl")
    found = redact_log(SessionHeader("s"), events_of(make.user("hi")))
    with pytest.raises((StoredLogError, OSError)):
        JsonlStore(tmp_path / "out").create(found.header)
    assert target.read_text() == "as it was"


def test_pseudonyms_hold_over_logs_that_are_exported_together():
    session = random_log(3)
    child = fork(session, child_id="child")
    names = Pseudonyms(keep={"add"})
    one, other = (redact_log(it.header, it.events, names=names) for it in (session, child))
    assert (one.header.id, other.header.id, other.header.parent_session) == ("session-1", "session-2", "session-1")
    assert make.plain(other.events)[: len(session.events)] == make.plain(one.events)
    assert {"tool-1", "add"} >= {event.read()["name"] for event in one.events if event.type == "tool/call"}


def test_no_pseudonym_is_a_name_that_is_kept():
    names = Pseudonyms(keep={"tool-1"})
    assert [names.of("tool", name) for name in ("tool-1", "mail", "")] == ["tool-1", "tool-2", ""]


# Roles


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_a_role_has_what_it_may_and_is_refused_the_rest(role):
    header, events = SessionHeader("s"), list(log_samples.load("two_step").events)
    asks = {"raw": lambda: read_raw(role, events), "transcript": lambda: read_transcript(role, header, events),
            "projections": lambda: read_projections(role, header, events, [todo]), "delete": lambda: role.check("delete")}
    for wish, ask in asks.items():
        if wish in role.may:
            ask()
        else:
            with pytest.raises(RoleError) as caught:
                ask()
            assert (caught.value.role, caught.value.wish) == (role.name, wish)


def test_who_deletes_does_not_read_and_who_reads_does_not_delete():
    assert [role for role in ROLES if "delete" in role.may and role.may & {"raw", "transcript", "projections"}] == []
    assert OFFICER.may == {"delete"}


def test_a_projection_for_support_is_folded_from_the_redacted_log():
    events = events_of(make.turn_start(), make.record("todo/write", {"todos": [{"content": "call Ana", "status": "pending"}]}))
    seen = [str(read_projections(role, SessionHeader("s"), events, [todo])) for role in (AUDITOR, SUPPORT)]
    assert ["Ana" in view for view in seen] == [True, False]


def test_the_transcript_of_support_has_the_rows_and_not_the_words():
    log = planted(2)
    rows = read_transcript(SUPPORT, log.header, log.events)
    assert [(row.seq, row.role, row.kind) for row in rows] == [(row.seq, row.role, row.kind) for row in transcript(log.events)]
    hidden = [word for kind, word in log.words.items() if kind != "instruction"]
    assert not [row for row in rows if any(word in repr(row) for word in hidden)]


# Retention and holds


def state(name: str, version: int, retired: int | None, deleted: int | None = None) -> KeyState:
    return KeyState(f"clinic/{name}", version, 0, retired, deleted)


@pytest.mark.parametrize(("days", "now", "found"), [
    (7, 7 * DAY - 1, []), (7, 7 * DAY, [key("chunk")]), (0, 0, [key("chunk")]), (None, 10**15, []),
], ids=["a millisecond too early", "on the day", "at once", "without end"])
def test_a_retired_key_is_due_when_its_class_has_been_kept_long_enough(days, now, found):
    keys = [state("chunk", 1, 0), state("chunk", 2, None), state("chunk", 3, 0, deleted=1), state("prompt", 1, 0)]
    assert list(due(keys, {}, {"chunk": days}, now).delete) == found


def test_an_attachment_is_due_after_the_last_event_that_refers_to_it(vault):
    events = events_of(make.user("same"), make.user("same"), make.user("other"))
    times = last_references([protect_log(events, {"prompt": "reference"}, vault)])
    assert sorted(times.values()) == [1001, 1002]
    found = due([], times, {"attachment": 1}, 1001 + DAY)
    assert [need.name for need in found.delete] == [ref for ref, time in times.items() if time == 1001]


def test_a_hold_wins_over_what_is_due_and_says_so():
    keys, hold = [state("prompt", 1, 0), state("chunk", 1, 0)], Hold("case-7", frozenset({"clinic/prompt"}))
    found = due(keys, {}, {"prompt": 1, "chunk": 1}, 2 * DAY, [hold])
    assert (found.delete, found.held) == ((key("chunk"),), ((key("prompt"), "case-7"),))


def test_a_hold_on_a_session_holds_what_it_takes_to_read_it(vault):
    events = events_of(make.user("hi"), make.says("hello"))
    stored = protect_log(events, {"answer": "reference"}, vault)
    hold = hold_on("case-7", "s", stored)
    assert all(hold.keeps(need.label) for need in every_need(stored))
    assert hold.keeps("s")
    assert not any(map(hold.keeps, ("s2", "clinic/prompt@2", "clinic/title@1", "clinic")))


@pytest.mark.parametrize(("covers", "target", "keeps"), [
    ("clinic", "clinic/prompt@1", True), ("clinic/prompt", "clinic/prompt@12", True),
    ("clinic/prompt@1", "clinic/prompt@12", False),
    ("clinic", "clinic-b/prompt@1", False), ("s", "s", True), ("s", "s-fork-2", False),
])
def test_what_a_hold_covers(covers, target, keeps):
    assert Hold("h", frozenset({covers})).keeps(target) is keeps


def test_a_deletion_under_a_hold_is_refused_whole():
    holds = [Hold("case-7", frozenset({"a"})), Hold("case-8", frozenset({"zzz"}))]
    check_holds(["b", "c"], holds)
    with pytest.raises(HoldError, match="case-7") as caught:
        check_holds(["b", "a", "c"], holds)
    assert (caught.value.holds, caught.value.held) == (("case-7",), ("a",))


def test_no_refusal_tells_what_it_is_about(vault):
    canary = "CANARY"
    stored = protect_log(events_of(make.user(canary), make.record("session/title", {"title": canary})), {}, vault)
    torn = json.loads(json.dumps(stored[0].to_json()))
    torn["data"]["content"][0]["text"] = torn["data"]["content"][0]["text"][:-4]
    asks = [lambda: reveal_log([SessionEvent.from_json(torn)], vault), lambda: SUPPORT.check("raw"),
            lambda: check_holds(["clinic/prompt@1"], [hold_on("h", "s", stored)])]
    for ask in asks:
        with pytest.raises(LabError) as caught:
            ask()
        assert canary not in f"{caught.value} {caught.value.__dict__}"
