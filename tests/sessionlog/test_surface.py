"""The surface: what the model sees. Planned before it is applied, and the same live, seeded and folded from scratch."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labsupport.errors import PairingError, SurfaceError
from labsupport.sessionlog import Session, Surface, derive_event_message, fold_surface, pairing_cuts, to_json
from tests.sessionlog import builders as make
from tests.sessionlog import oracle
from tests.sessionlog.builders import Record, replacing
from tests.sessionlog.strategies import logs


def state(surface: Surface) -> tuple[list[int], list[Any], int]:
    return list(surface.nodes), list(surface.replacements), surface.replace_generation


@given(logs(), st.data())
def test_prefix_then_rest_is_all_at_once(records: list[Record], data: st.DataObject) -> None:
    events = make.log(*records)
    cut = data.draw(st.integers(0, len(events)))
    surface = fold_surface(events[:cut])
    for event in events[cut:]:
        surface.apply(surface.plan(event, events.__getitem__))
    assert state(surface) == state(fold_surface(events))
    assert list(surface.nodes) == oracle.surface(make.plain(events))


@given(logs())
def test_live_seeded_and_folded_are_one_surface(records: list[Record]) -> None:
    live = Session.create("s1")
    for one in records:
        make.append(live, one)
    seeded = Session.create("s1", seed=make.log(*records))
    assert state(live.surface) == state(seeded.surface) == state(fold_surface(make.log(*records)))


@given(logs())
def test_derive_after_every_append_is_derive_from_scratch(records: list[Record]) -> None:
    live = Session.create("s1")
    for one in records:
        make.append(live, one)
        assert make.same_messages(live) == oracle.derive(make.plain(live.events))
    assert make.same_messages(live) == make.same_messages(Session.create("s1", seed=live.events))
    assert make.same_messages(live) == [
        to_json(message) for seq in live.surface.nodes if (message := derive_event_message(live.events[seq])) is not None
    ]


@given(logs())
def test_what_was_handed_out_neither_grows_nor_changes(records: list[Record]) -> None:
    live = Session.create("s1")
    kept = []
    for one in records:
        make.append(live, one)
        views = (live.derive_messages(), live.surface.nodes, live.events)
        kept.append((views, tuple(list(view) for view in views)))
    for views, then in kept:
        assert tuple(list(view) for view in views) == then


@given(logs())
def test_shadowed_nodes_are_those_that_left(records: list[Record]) -> None:
    events = make.log(*records)
    appended = [event.seq for event in events if event.surface_op == "append"]
    surface = fold_surface(events)
    gone = [seq for replacement in surface.replacements for seq in replacement.shadowed_seqs]
    assert len(gone) == len(set(gone)), "a node leaves once"
    assert sorted([*surface.nodes, *gone]) == sorted([*appended, *(replacement.seq for replacement in surface.replacements)])


# What a surface refuses, and that a refusal changes nothing

BEFORE = [
    make.user("a", "m0"),
    make.asks("c1"),
    make.call("c1"),
    make.result("c1"),
    make.user("b", "m4"),
    make.says("c", id="m5"),
    make.user("sum", "m6", replacing(0, 1), sourceEventSeqs=[0, 1]),
    make.result("c2"),
]  # surface: 6 3 4 5 7
BLOCK = make.result_data("c1")["message"]["content"][0]


def rewrite(**change: Any) -> Record:
    """A result that replaces the one at seq 3, with *change* in its block."""
    data = make.result_data("c1")
    return make.record(
        "tool/result",
        {**data, "message": {**data["message"], "content": [{**BLOCK, **change}]}},
        surfaceOp=replacing(3, 3),
        sourceEventSeqs=[3],
    )


REFUSED: dict[str, Record] = {
    "start never was on the surface": make.user(op=replacing(2, 4), sourceEventSeqs=[2, 3, 4]),
    "start was replaced": make.user(op=replacing(0, 4), sourceEventSeqs=[0, 3, 4, 6]),
    "end was replaced": make.user(op=replacing(3, 1), sourceEventSeqs=[1, 3]),
    "start is itself": make.user(op=replacing(8, 8), sourceEventSeqs=[]),
    "start stands after end": make.user(op=replacing(4, 3), sourceEventSeqs=[3, 4]),
    "start stands after end, though its seq is smaller": make.user(op=replacing(3, 6), sourceEventSeqs=[3, 6]),
    "cites none": make.user(op=replacing(3, 4)),
    "cites one of two": make.user(op=replacing(3, 4), sourceEventSeqs=[3]),
    "cites the ends only": make.user(op=replacing(3, 5), sourceEventSeqs=[3, 5]),
    "cites twice": make.user(op=replacing(3, 4), sourceEventSeqs=[3, 4, 3]),
    "cites itself": make.user(op=replacing(3, 4), sourceEventSeqs=[3, 4, 8]),
    "cites what is to come": make.user(sourceEventSeqs=[99]),
    "a user's message that cites an empty list": make.user(sourceEventSeqs=[]),
    "a result that cites an empty list": make.result("c2", sourceEventSeqs=[]),
    "no surfaceOp": {key: item for key, item in make.user().items() if key != "surfaceOp"},
    "a log-only type on the surface": make.record("plugin/x", surfaceOp="append"),
    "a log-only type that cites": make.record("turn/start", {"turn": 1}, sourceEventSeqs=[1]),
    "a retired type": make.record("request/header-delta"),
    "a result for two nodes": make.result("c1", op=replacing(3, 4), sourceEventSeqs=[3, 4]),
    "a result for a message": make.result("c1", op=replacing(4, 4), sourceEventSeqs=[4]),
    "a result for another call's": make.result("c9", op=replacing(3, 3), sourceEventSeqs=[3]),
    "a rewrite of isError": rewrite(isError=True),
    "a rewrite of isError into a number": rewrite(isError=0),
    "a rewrite with another field": rewrite(meta=1),
    "a rewrite that adds an error": {**(one := rewrite()), "data": {**one["data"], "error": {"code": "x"}}},
    "a rewrite in another step": {**(one := rewrite()), "data": {**one["data"], "step": 2}},
    "a rewrite with another id": {
        **(one := rewrite()),
        "data": {**one["data"], "message": {**one["data"]["message"], "id": "r2"}},
    },
}


@pytest.mark.parametrize("bad", REFUSED.values(), ids=REFUSED)
def test_a_refused_event_changes_nothing(bad: Record) -> None:
    live = Session.create("s1")
    for one in BEFORE:
        make.append(live, one)
    told: list[int] = []
    live.observe(lambda event: told.append(event.seq))
    before = state(live.surface), make.plain(live.events), make.same_messages(live)
    with pytest.raises(SurfaceError) as caught:
        make.append(live, bad)
    assert caught.value.seq == 8
    assert (state(live.surface), make.plain(live.events), make.same_messages(live)) == before
    assert not told
    good = make.append(live, make.user("after"))
    assert good.seq == 8, "no seq is lost"
    assert list(live.surface.nodes) == [6, 3, 4, 5, 7, 8]


@pytest.mark.parametrize("bad", [bad for name, bad in REFUSED.items() if "surfaceOp" in bad and bad["type"] != "plugin/x"])
def test_a_seed_and_a_fold_refuse_the_same(bad: Record) -> None:
    events = [*make.log(*BEFORE), *make.log(bad, first=8)]
    with pytest.raises(SurfaceError):
        fold_surface(events)
    with pytest.raises(SurfaceError):
        Session.create("s1", seed=events)


TAKEN: dict[str, tuple[Record, list[int]]] = {
    "a range": (make.user(op=replacing(3, 5), sourceEventSeqs=[3, 4, 5]), [6, 8, 7]),
    "the whole": (make.user(op=replacing(6, 7), sourceEventSeqs=[3, 4, 5, 6, 7]), [8]),
    "by position, though start is the larger seq": (make.user(op=replacing(6, 3), sourceEventSeqs=[3, 6]), [8, 4, 5, 7]),
    "citing more than it shadows": (make.user(op=replacing(3, 3), sourceEventSeqs=[3, 0, 2]), [6, 8, 4, 5, 7]),
    "by an answer": (make.says(op=replacing(4, 5), sourceEventSeqs=[5, 4]), [6, 3, 8, 7]),
    "a result's content": (rewrite(content=[make.text_block("short")]), [6, 8, 4, 5, 7]),
    "a result's content and the order of its keys": (
        {**(one := rewrite(content=[])), "data": {key: one["data"][key] for key in reversed(one["data"])}},
        [6, 8, 4, 5, 7],
    ),
    "an answer that cites an empty list": (make.says(sourceEventSeqs=[]), [6, 3, 4, 5, 7, 8]),
    "an answer without content": (make.record("assistant/message", make.says_data(), surfaceOp="append"), [6, 3, 4, 5, 7, 8]),
}


@pytest.mark.parametrize(("good", "nodes"), TAKEN.values(), ids=TAKEN)
def test_what_a_surface_takes(good: Record, nodes: list[int]) -> None:
    live = Session.create("s1")
    for one in [*BEFORE, good]:
        make.append(live, one)
    assert list(live.surface.nodes) == nodes
    assert make.same_messages(live) == oracle.derive(make.plain(live.events))


def test_a_plan_that_is_not_applied_does_nothing() -> None:
    events = make.log(*BEFORE, TAKEN["a range"][0])
    surface = fold_surface(events[:8])
    before = state(surface)
    plan = surface.plan(events[8], events.__getitem__)
    assert plan is not None
    assert state(surface) == before


def test_a_rewrite_of_a_rewrite() -> None:
    live = Session.create("s1")
    for one in [
        make.asks("c1"),
        make.call("c1"),
        make.result("c1", "long " * 100),
        make.result("c1", "shorter", op=replacing(2, 2), sourceEventSeqs=[2]),
        make.result("c1", "short", op=replacing(3, 3), sourceEventSeqs=[3]),
    ]:
        make.append(live, one)
    assert make.same_messages(live)[1]["content"][0]["content"] == [make.text_block("short")]
    assert live.events[2].read()["message"]["content"][0]["content"] == [make.text_block("long " * 100)], (
        "the log keeps the whole"
    )
    assert [replacement.shadowed_seqs for replacement in live.surface.replacements] == [(2,), (3,)]


def test_messages_are_shared_between_calls_and_frozen() -> None:
    live = Session.create("s1")
    make.append(live, make.user())
    first = live.derive_messages()
    make.append(live, make.says())
    assert live.derive_messages()[0] is first[0]
    with pytest.raises(TypeError):
        first[0]["content"].append(1)
    with pytest.raises((TypeError, AttributeError)):
        first[0] = None  # type: ignore[index]
    with pytest.raises(AttributeError):
        first.append(None)  # type: ignore[attr-defined]


def test_each_node_is_projected_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from labsupport.sessionlog import session as module

    seen: list[int] = []

    def counted(event: Any) -> Any:
        seen.append(event.seq)
        return derive_event_message(event)

    monkeypatch.setattr(module, "derive_event_message", counted)
    live = Session.create("s1")
    for one in [*BEFORE, TAKEN["a range"][0], make.user("more")]:
        make.append(live, one)
        live.derive_messages()
        live.derive_messages()
    assert seen == sorted({event.seq for event in live.events if event.type != "tool/call"})


def test_a_message_without_its_shape_is_named_when_it_is_derived() -> None:
    from labsupport.errors import EventError

    live = Session.create("s1")
    live.append("user/message", {"no": "shape"}, surface_op="append")
    with pytest.raises(EventError, match="event 0"):
        live.derive_messages()


# Cuts that split no pair


def cuts(*records: Record) -> list[bool]:
    return pairing_cuts(make.log(*records))


def test_cuts_between_calls_and_results() -> None:
    assert cuts() == [True]
    assert cuts(make.user(), make.says()) == [True, True, True]
    assert cuts(make.user(), make.asks("a", "b"), make.result("a"), make.result("b"), make.says()) == [
        True,
        True,
        False,
        False,
        True,
        True,
    ]
    assert cuts(make.asks("a")) == [True, False]
    assert cuts(make.asks("a"), make.user(), make.result("a")) == [True, False, False, True]


def test_cuts_count_and_do_not_match_ids() -> None:
    assert cuts(make.asks("a"), make.result("another")) == [True, False, True]
    assert cuts(make.asks("a", "a"), make.result("a"), make.result("a")) == [True, False, False, True]


def test_a_result_without_an_open_call_has_no_cuts() -> None:
    with pytest.raises(PairingError) as caught:
        cuts(make.user(), make.result("a"))
    assert caught.value.seq == 1
    with pytest.raises(PairingError):
        cuts(make.asks("a"), make.result("a"), make.result("a"))


@given(logs())
def test_a_cut_holds_where_as_many_results_as_calls_stand_before_it(records: list[Record]) -> None:
    events = make.log(*records)
    expected, balance = [True], 0
    for seq in fold_surface(events).nodes:
        message = to_json(derive_event_message(events[seq])) or {"content": []}
        kinds = [block["type"] for block in message["content"]]
        balance += kinds.count("tool-call") - kinds.count("tool-result")
        if balance < 0:  # a replacement took the call and left its result
            with pytest.raises(PairingError) as caught:
                pairing_cuts(events)
            assert caught.value.seq == seq
            return
        expected.append(balance == 0)
    assert pairing_cuts(events) == expected
