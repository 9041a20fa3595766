"""Ranges: what may be compacted, against a count over plain records; what is refused, with a true pair and true edges."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labsupport.errors import CompactionError, PairingError
from labsupport.sessionlog import Session, estimate_message, pairing_cuts, replay
from labsupport.sessionlog import ranges as ranges_module
from labsupport.sessionlog.ranges import choose_range, is_checkpoint, legal_cuts, range_between
from tests.sessionlog import builders as make
from tests.sessionlog.compacting import LONG, calls_of, open_at, refusal, result_of, session_of, surfaces, talk

retained = st.integers(-1, 60) | st.integers(0, 600)


def costs_of(session: Session) -> list[int]:
    """The estimate of each node; nothing for one that says nothing."""
    messages = [session.message(seq) for seq in session.surface.nodes]
    return [0 if message is None else estimate_message(message) for message in messages]


def expected_cut(session: Session, retain: int) -> int:
    """The cut behind the range that `choose_range` is to choose: 0 for none. It looks at every cut on its own."""
    costs, counts = costs_of(session), open_at(session)
    legal = [cut for cut, count in enumerate(counts) if not count and sum(costs[cut:]) >= retain]
    cut = max(legal, default=0)
    checkpoint = cut == 1 and make.plain(session.events)[session.surface.nodes[0]]["data"].get("source", {}).get("plugin")
    return 0 if checkpoint == "compact" else cut


# What is chosen


@given(surfaces(), retained)
def test_the_largest_range_that_leaves_the_tail_and_no_open_call(session, retain):
    cut, chosen = expected_cut(session, retain), choose_range(session, retain)
    if chosen is None:
        assert cut == 0
        return
    costs, nodes = costs_of(session), list(session.surface.nodes)
    assert (chosen.first, chosen.last + 1) == (0, cut)
    assert (chosen.start, chosen.end, chosen.seqs) == (nodes[0], nodes[cut - 1], tuple(nodes[:cut]))
    assert chosen.tokens == sum(costs[:cut])
    assert sum(costs[cut:]) >= retain
    assert open_at(session)[cut] == 0


@given(surfaces(), st.lists(retained, min_size=1, max_size=4))
def test_a_range_is_the_same_from_a_cold_start(session, retains):
    """What is remembered between two looks never shows: a replay has looked at nothing before."""
    for retain in retains:
        assert choose_range(session, retain) == choose_range(replay(session.events), retain)


@given(st.data(), retained)
def test_a_look_after_every_event_gives_what_one_look_gives(data, retain):
    whole = data.draw(surfaces())
    session = Session.create("s1")
    for event in whole.events:
        session.append(event.type, event.read(), event.surface_op, event.source_event_seqs)
        assert choose_range(session, retain) == choose_range(replay(session.events), retain)
        assert legal_cuts(session) == pairing_cuts(session.events)


@pytest.mark.parametrize(("session", "retain", "reason"), [
    (talk(), 0, "nothing is there"),
    (talk("a"), 10, "all of it is the tail"),
    (talk("a", "b"), 10**9, "the tail wants more than there is"),
    (session_of(make.asks("c1"), make.user(LONG)), 0, "the first message waits for its result"),
    (session_of(make.user("a"), make.user("s", op=make.replacing(0, 0), sourceEventSeqs=[0])), 50, "all of it is the tail"),
], ids=lambda value: value if isinstance(value, str) else "")
def test_there_is_no_range_where_none_makes_sense(session, retain, reason):
    assert choose_range(session, retain) is None, reason


def test_one_earlier_summary_alone_is_no_range_and_with_a_message_it_is():
    session = talk(LONG, "next")
    session.append("user/message", make.user_data("s", "s", kind="plugin", plugin="compact"), make.replacing(0, 0), [0])
    assert is_checkpoint(session.events[2])
    assert choose_range(session, 1) is None
    assert choose_range(session, 0).seqs == (2, 1)


def test_a_message_in_place_of_others_that_is_no_summary_of_ours_can_be_summarised_alone():
    session = talk(LONG, "next")
    session.append("user/message", make.user_data("s", "s", kind="plugin", plugin="edit"), make.replacing(0, 0), [0])
    assert choose_range(session, 1).seqs == (2,)


def test_the_tail_is_counted_with_its_pairs():
    session = session_of(make.user(LONG), make.asks("c1", "c2"), make.result("c1"), make.result("c2"), make.user("last"))
    tail = costs_of(session)
    for retain in range(1, sum(tail[1:]) + 1):
        assert choose_range(session, retain).last in (0, 3), "never between the calls and both results"
    assert choose_range(session, tail[4]).last == 3
    assert choose_range(session, tail[4] + 1).last == 0


# What is refused


def refused(session: Session, start: int, end: int) -> CompactionError:
    return refusal(lambda: range_between(session, start, end))


def edges(error: str) -> set[tuple[str, int]]:
    """The edges that a refusal names, as ("before" | "behind", seq)."""
    return {(word, int(seq)) for word, seq in re.findall(r"(before|behind) (\d+)", error.split("An edge may be")[1])}


@given(surfaces())
@settings(max_examples=150)
def test_exactly_the_illegal_ranges_are_refused_each_with_a_true_pair_and_true_edges(session):
    nodes, counts, plain = list(session.surface.nodes), open_at(session), make.plain(session.events)
    costs = costs_of(session)
    for start in range(len(plain) + 1):
        for end in range(len(plain) + 1):
            places = [nodes.index(seq) if seq in nodes else None for seq in (start, end)]
            if None in places:
                error = refused(session, start, end)
                missing = ("start", start) if places[0] is None else ("end", end)
                assert "the {} of the range, {}, is not on the surface".format(*missing) in str(error)
            elif places[0] > places[1]:
                error = refused(session, start, end)
                assert f"{start} stands behind {end}" in str(error)
            elif counts[places[0]] or counts[places[1] + 1]:
                error = refused(session, start, end)
                cut = places[0] if counts[places[0]] else places[1] + 1
                asked = nodes.index(error.call)
                answered = len(nodes) if error.result is None else nodes.index(error.result)
                assert asked < cut <= answered
                answers = {result_of(plain[seq]): at for at, seq in enumerate(nodes)}
                theirs = {answers.get(id, len(nodes)) for id in calls_of(plain[error.call])}
                assert answered in theirs, "the result is one of that message's own calls, or one has none"
                below = max(at for at in range(cut + 1) if not counts[at])
                above = min((at for at in range(cut, len(counts)) if not counts[at]), default=None)
                near = {("before", nodes[0]) if below == 0 else ("behind", nodes[below - 1])}
                assert edges(str(error)) == (near if above is None else near | {("behind", nodes[above - 1])})
            else:
                chosen = range_between(session, start, end)
                first, last = places
                assert (chosen.first, chosen.last, chosen.start, chosen.end) == (first, last, start, end)
                assert chosen.seqs == tuple(nodes[first:last + 1])
                assert chosen.tokens == sum(costs[first:last + 1])
                continue
            assert error.code == "range"
            assert str(error).endswith("Nothing was changed.")
            assert len(session.events) == len(plain)


@pytest.mark.parametrize(("records", "ends", "pair", "reason"), [
    ([make.asks("c1"), make.result("c1")], (0, 0), (0, 1), "the plain case"),
    ([make.asks("c1"), make.result("c1")], (1, 1), (0, 1), "from the result on"),
    ([make.asks("c1", "c2"), make.result("c1"), make.result("c2")], (0, 1), (0, 2), "the second of two"),
    ([make.asks("c1"), make.user()], (0, 1), (0, None), "B59 B64: no result yet"),
    ([make.asks("c1"), make.asks("c2"), make.result("c1"), make.result("c2")], (0, 1), (1, 3), "two wait, answered in order"),
    ([make.asks("c1"), make.asks("c2"), make.result("c1"), make.result("c2")], (0, 2), (1, 3), "the first one is answered"),
    ([make.asks("c1"), make.asks("c2"), make.result("c2"), make.result("c1")], (0, 2), (0, 3), "the second one is answered"),
    ([make.asks("c1"), make.asks("c2"), make.result("c1")], (0, 2), (1, None), "one waits, the other is answered"),
], ids=lambda value: value if isinstance(value, str) else "")
def test_the_pair_that_is_named_is_one(records, ends, pair, reason):
    session = session_of(*records)
    error = refusal(lambda: range_between(session, *ends))
    assert (error.call, error.result) == pair, reason
    assert f"a call in message {pair[0]}" in str(error)
    assert ("no result yet" in str(error)) == (pair[1] is None)


@pytest.mark.parametrize("end", [-1, 2**53, 10**40, None, "0", [0], 1.5])
def test_what_is_no_node_is_refused(end):
    session = talk("a", "b")
    assert refusal(lambda: range_between(session, 0, end)).code == "range"


def test_a_result_without_a_call_is_told_until_it_is_covered():
    session = session_of(make.user("a"), make.result("gone"), make.user("b"))
    for look in (lambda: choose_range(session, 0), lambda: range_between(session, 0, 0), lambda: legal_cuts(session),
                 lambda: pairing_cuts(session.events)):
        for _ in range(2):
            with pytest.raises(PairingError, match="event 1: "):
                look()
    make.append(session, make.user("both", op=make.replacing(0, 1), sourceEventSeqs=[0, 1]))
    assert legal_cuts(session) == pairing_cuts(session.events) == [True] * 3
    assert choose_range(session, 0).seqs == (3, 2)


# What it costs


def test_a_node_is_measured_once_whatever_comes_after(monkeypatch):
    measured = []
    monkeypatch.setattr(ranges_module, "estimate_message",
                        lambda message: measured.append(message["id"]) or estimate_message(message))
    session = talk(*[LONG] * 20)
    for number in range(10):
        choose_range(session, 100)
        make.append(session, make.user("more", f"more{number}"))
        nodes = session.surface.nodes[:2]
        make.append(session, make.user("s", f"s{number}", make.replacing(*nodes), sourceEventSeqs=nodes))
    choose_range(session, 100)
    assert len(measured) == len(set(measured))
    assert len(measured) <= 20 + 10 + 10
