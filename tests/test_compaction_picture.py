"""Lab B5's explorer: every range is really compacted on a copy; what is drawn is what came of it; and nothing jumps."""
import re

import pytest

from labsupport.errors import CompactionError, PairingError
from labsupport.sessionlog import Reply, ScriptedModel, Session, estimate_message, pairing_cuts, replay, run_turn
from labsupport.sessionlog.compaction import compact
from labsupport.sessionlog.models import call
from labsupport.sessionlog.ranges import choose_range, range_between
from labsupport.sessionlog.summarizers import ExtractiveSummarizer, FailingSummarizer
from labsupport.sessionlog.tokens import count_tokens
from labsupport.workbench import log_samples
from labsupport.workbench.compactions import Compactions, node_of, spoken
from labsupport.workbench.explorers.b5 import compaction_explorer, tail_sizes
from labsupport.workbench.payment_task import record
from labsupport.workbench.pictures.compaction import compaction_picture
from labsupport.workbench.pictures.compaction_rows import ROWS, shown_places
from labsupport.workbench.random_compactions import random_compactions
from labsupport.workbench.random_logs import random_log
from labsupport.workbench.show import sentence_of
from labsupport.workbench.text import speaking
from tests.notebooks.books import Reader

EVIL = "</td><script>alert(1)</script>\u202e\x00"
NOW = 1_000_000
"""A tail of so many tokens leaves nothing to compact."""


@pytest.fixture(autouse=True)
def in_english():
    with speaking("en"):
        yield


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    return record(tmp_path_factory.mktemp("payment"))


@pytest.fixture(scope="module")
def tries(session):
    return Compactions(session, ExtractiveSummarizer(500))


def pairs(tries):
    seqs = [node.seq for node in tries.nodes]
    return [(start, end) for start in seqs for end in seqs]


def rows(picture):
    return re.findall(r"<tr.*?</tr>", re.findall(r"<tbody>(.*?)</tbody>", picture, re.DOTALL)[0])


def cells(row):
    return [" ".join(re.sub(r"<[^>]*>", " ", cell).split()) for cell in re.findall(r"<t[dh].*?</t[dh]>", row)]


def after_of(shown):
    """What the right side says, row by row; the summary once."""
    return [cells(row)[8] for row in rows(shown) if len(cells(row)) > 8]


def tried(session, start, end):
    """What a compaction gave, or with what it was refused."""
    try:
        return compact(session, start, end, ExtractiveSummarizer(500)), None
    except CompactionError as error:
        return None, error


# What is tried

def test_each_range_is_what_the_library_makes_of_it(session, tries):
    for start, end in pairs(tries):
        it, copy = tries.at(start, end, 0), replay(session.events)
        made, refusal = tried(copy, start, end)
        if made is None:
            unfit = "empty" if "says nothing" in str(refusal) else "summary"
            assert it.refused == (unfit if refusal.code == "summary" else "backwards" if refusal.call is None else "pair")
            assert (it.after.nodes, it.after.estimated, it.after.real) == (
                tries.before.nodes, tries.before.estimated, tries.before.real)
            assert it.after.events - tries.before.events == (2 if refusal.code == "summary" else 0)
            continue
        assert it.refused == ""
        assert it.made.result.shadowed_seqs == made.shadowed_seqs
        assert it.cost == made.tokens == it.made.checkpoint.estimated
        assert it.after.events == tries.before.events + 4
        assert it.after.nodes == len(copy.surface.nodes)
        assert it.after.estimated == sum(estimate_message(message) for message in copy.derive_messages())
        assert it.after.real == sum(count_tokens(words) for message in copy.derive_messages() for words in spoken(message))


def test_the_session_itself_never_changes(session, tries):
    events, nodes = session.events, session.surface.nodes
    for start, end in pairs(tries)[:60]:
        tries.at(start, end, 0)
    assert session.events == events
    assert session.surface.nodes == nodes


def test_a_session_that_goes_on_is_shown_as_it_was(session):
    going = replay(session.events)
    tries = Compactions(going)
    going.append("session/title", {"title": "later"})
    assert tries.at(2, 54, 0).after.events == tries.before.events + 4 == len(going.events) + 3


@pytest.mark.parametrize("retain", [20, 50, 200, 5000])
def test_the_tail_is_the_one_that_the_library_retains(session, tries, retain):
    chosen = choose_range(session, retain)
    tail = 0 if chosen is None else chosen.last + 1
    assert tries.tail(retain) == tail
    for start, end in pairs(tries):
        it = tries.at(start, end, retain)
        if it.first <= it.last:
            assert (it.refused == "tail") == (it.last >= tail)
    if chosen is not None:
        assert tries.at(chosen.start, chosen.end, retain).automatic


@pytest.mark.parametrize("name", ["parallel", "replaced", "cancelled", "steering", "resumed"])
def test_edges_name_the_pair_and_legal_edges_that_are_accepted(name):
    session = log_samples.load(name).session()
    tries, legal = Compactions(session), pairing_cuts(session.events)
    refused = 0
    for start, end in pairs(tries):
        it = tries.at(start, end, 0)
        if it.refused != "pair":
            continue
        refused += 1
        with pytest.raises(CompactionError) as error:
            range_between(session, start, end)
        assert (it.edge.call, it.edge.result) == (error.value.call, error.value.result)
        assert not legal[it.edge.cut]
        assert it.edge.cut == (it.first if it.edge.is_start else it.last + 1)
        assert it.edge.nearby
        for seq in it.edge.nearby:  # an edge there parts nothing
            at = [node.seq for node in tries.nodes].index(seq)
            assert legal[at if it.edge.is_start else at + 1]
    assert refused


@pytest.mark.parametrize("seed", range(8))
def test_random_sessions_can_be_tried_at_every_range(seed):
    tries = Compactions(random_compactions(seed).session)
    for start, end in pairs(tries):
        it = tries.at(start, end, 0)
        assert Reader(compaction_picture(tries, it)).tags.count("table") == 2
        assert (it.made is None) == bool(it.refused)


def test_a_call_without_a_result_has_an_edge_too():
    session = Session.create("open")
    source = {"kind": "model", "provider": "p", "model": "m"}
    session.append("user/message", {"id": "m0", "role": "user", "source": {"kind": "user"},
                                    "content": [{"type": "text", "text": "go"}]}, "append")
    session.append("assistant/message", {"message": {"id": "m1", "role": "assistant", "source": source, "content": [
        call("c7", "look_up", "{}")]}}, "append")
    tries = Compactions(session)
    it = tries.at(0, 1, 0)
    assert (it.refused, it.edge.call_id, it.edge.result, it.edge.nearby) == ("pair", "c7", None, (0,))
    assert "the call c7 at 1 has no result yet. Legal ends nearby: 0." in sentence_of(compaction_picture(tries, it))


# The picture

def test_a_legal_range_has_its_summary_in_its_place(tries):
    it = tries.at(2, 54, 20)
    shown = compaction_picture(tries, it, show_text=True)
    body = rows(shown)
    assert len(body) == len(tries.nodes)
    assert ['class="is-off"' in row for row in body] == [node.seq <= 54 for node in tries.nodes]
    spanning = re.findall(r'<td class="xp-sum" rowspan="(\d+)">', shown)
    assert spanning == ["12"]
    assert cells(body[0])[8].startswith("◆ summary 76 replaces 2..54")
    assert after_of(shown)[1:] == [
        "61 ■ assistant INV-2062 is due on 15 July.…", "66 ● user 谢谢，先到这里。", "71 ■ assistant 好的。"]
    assert [cells(row)[0].split()[0] for row in body] == ["–" if legal else "×" for legal in tries.cuts[1:]]
    said = sentence_of(shown)
    assert "Range 2..54 (12 nodes) becomes one summary, seq 76" in said
    assert "automatic" in said


def test_all_figures_are_in_the_sentence(tries):
    for start, end, retain in [(2, 54, 20), (2, 52, 0), (37, 37, 0), (71, 71, 0), (66, 2, 0), (2, 71, 50), (9, 11, 0)]:
        it = tries.at(start, end, retain)
        said = sentence_of(compaction_picture(tries, it))
        for size in (it.after.nodes, it.after.estimated, it.after.real, it.after.events):
            assert f"{size:,}" in said, (start, end, retain, said)


@pytest.mark.parametrize(("start", "end", "retain", "said"), [
    pytest.param(2, 52, 20, "would cut a pair: c4 is called at 50, and its result at 54 stays outside. Legal ends nearby: 42 "
                            "or 54.", id="an end inside a pair"),
    pytest.param(54, 71, 0, "c4 is called at 50, which stays outside, and its result at 54 is inside. Legal starts nearby: 50 "
                            "or 61.", id="a start inside a pair"),
    pytest.param(66, 2, 0, "runs backwards: on the surface, 66 comes after 2", id="backwards"),
    pytest.param(37, 37, 0, "and would shadow 13: it is refused. The surface is as it was", id="a summary that is too big"),
    pytest.param(71, 71, 0, "says nothing, and the range would be forgotten: it is refused. The surface is as it was",
                 id="a summary that says nothing"),
    pytest.param(18, 42, 0, "and would shadow 141: it is refused", id="a turn and more, and its summary is no shorter"),
    pytest.param(2, 71, 20, "reaches into the tail: 20 tokens asked for, in whole messages and pairs 49, from seq 61 on. The "
                 "end must come before it.", id="into the tail"),
    pytest.param(2, 54, NOW, "so long a tail takes in all", id="nothing but tail"),
])
def test_what_is_refused_says_why_and_leaves_the_right_side_as_before(tries, start, end, retain, said):
    shown = compaction_picture(tries, tries.at(start, end, retain), show_text=True)
    assert said in sentence_of(shown)
    assert 'role="alert"' in shown
    assert "is-off" not in re.findall(r"<tbody>(.*?)</tbody>", shown, re.DOTALL)[0]
    assert "xp-sum" not in shown.split("</style>")[1]
    assert [int(text.split()[0]) for text in after_of(shown)] == [node.seq for node in tries.nodes]


def test_both_halves_of_a_cut_pair_are_named_and_the_edge_is_ruled(tries):
    shown = compaction_picture(tries, tries.at(2, 52, 20))
    assert [cells(row)[2] for row in rows(shown) if "pair cut" in row] == ["50", "54"]
    assert [cells(row)[2] for row in rows(shown) if "is-cutbad" in row] == ["52"]
    start = compaction_picture(tries, tries.at(54, 71, 0))
    assert [cells(row)[2] for row in rows(start) if "is-cutbad" in row] == ["52"]


def test_a_failing_summarizer_is_a_sentence(session):
    tries = Compactions(session, FailingSummarizer())
    it = tries.at(2, 54, 0)
    assert it.refused == "other"
    assert "the summarizer failed (TimeoutError)" in sentence_of(compaction_picture(tries, it))


def test_a_live_compaction_is_a_sentence(session):
    busy = replay(session.events)
    busy.append("compaction/start", {"compactionId": "c", "turn": None, "trigger": "manual"})
    tries = Compactions(busy)
    assert "has not ended" in sentence_of(compaction_picture(tries, tries.at(2, 54, 0)))


def test_without_show_text_no_message_is_quoted(tries):
    for start, end in [(2, 54), (2, 52)]:
        shown = compaction_picture(tries, tries.at(start, end, 20))
        for words in ("Nanshan", "Correction", "谢谢", "supplier,amount"):
            assert words not in shown


def test_text_of_a_log_stays_text():
    session = Session.create("evil")
    model = ScriptedModel([Reply(EVIL * 40, [call(EVIL, EVIL, '"x"')]), Reply(EVIL * 40)])
    run_turn(session, EVIL * 40, model, {EVIL: lambda given: EVIL * 60}, config={"provider": "p", "model": "m"})
    tries = Compactions(session)
    for start, end in pairs(tries):
        for show_text in (True, False):
            shown = compaction_picture(tries, tries.at(start, end, 0), show_text)
            assert "<script" not in shown
            assert "\u202e" not in shown
            assert "script" not in Reader(shown).tags


# Long histories

@pytest.mark.parametrize("count", [0, 1, 16, 17, 18, 19, 25, 99, 400])
def test_a_long_surface_keeps_its_number_of_rows_and_both_edges(count):
    for first in range(0, count, max(1, count // 9)):
        for last in {0, first, count - 1, min(count - 1, first + 3), count // 2}:
            lines = shown_places(count, first, last)
            assert len(lines) == min(count, ROWS)
            drawn = [line for line in lines if isinstance(line, int)]
            assert {first, last} <= set(drawn)
            flat = [place for line in lines for place in ([line] if isinstance(line, int) else line)]
            assert flat == list(range(count))


def test_a_long_history_is_drawn_around_its_edges():
    session = log_samples.load("long").session()
    tries = Compactions(session)
    seqs = [node.seq for node in tries.nodes]
    heights = set()
    for first, last in [(0, 95), (10, 93), (20, 30), (0, 0), (60, 98)]:
        shown = compaction_picture(tries, tries.at(seqs[first], seqs[last], 0), show_text=True)
        assert "more node" in shown
        heights.add(len(rows(shown)))
        spans = re.findall(r'rowspan="(\d+)"', shown)
        assert len(spans) == (tries.at(seqs[first], seqs[last], 0).made is not None)
    assert heights == {ROWS}


# The widget

def test_the_sliders_move_the_picture(session):
    explorer = compaction_explorer(session, summarizer=ExtractiveSummarizer(500), show_text=True)
    assert "automatic" in explorer.still.sentence
    explorer.retain.value = 0
    explorer.end.value = 52
    assert "would cut a pair" in explorer.still.sentence
    explorer.start.value, explorer.end.value = 9, 11
    assert "Range 9..11 (2 nodes)" in explorer.still.sentence
    assert [explorer.start.options[0], explorer.end.options[-1]] == [2, 71]


def test_an_empty_session_is_a_sentence():
    assert compaction_explorer(Session.create("empty")).still.sentence == "There is no message on the surface to compact."


def test_a_surface_with_a_result_that_lost_its_call_is_a_sentence():
    orphaned = next(session for session in map(random_log, range(50)) if _has_orphan(session))
    explorer = compaction_explorer(orphaned)
    assert "has no call on the surface" in explorer.still.sentence


def _has_orphan(session):
    try:
        pairing_cuts(session.events)
    except PairingError:
        return True
    return False


def test_round_tails():
    assert tail_sizes(0) == [0]
    assert tail_sizes(21) == [0, 20]
    assert all(a < b for a, b in zip(tail_sizes(10**6), tail_sizes(10**6)[1:], strict=False))


def test_a_node_counts_words_and_no_frames(session):
    node = node_of(session, 2)
    assert node.real == count_tokens("Go through the bookings of June. 规矩：不要给供应商发邮件。")
    assert node.estimated == estimate_message(session.message(2))


def test_both_languages_say_the_same_figures(tries):
    for start, end, retain in [(2, 54, 20), (2, 52, 0), (37, 37, 0), (71, 71, 0), (66, 2, 0), (2, 71, 50), (2, 54, NOW)]:
        it = tries.at(start, end, retain)
        figures = []
        for lang in ("zh", "en"):
            with speaking(lang):
                figures.append(sorted(re.findall(r"\d+(?:,\d+)*", sentence_of(compaction_picture(tries, it)))))
        assert figures[0] == figures[1]
