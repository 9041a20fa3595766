"""The log scrubber: what it shows at each watermark is what the library gives for the log up to there, and nothing jumps."""
import re

import pytest

from labsupport.errors import SurfaceError
from labsupport.sessionlog import Session, derive_event_message, fold, fold_surface, tool_pairing, turn_status
from labsupport.sessionlog.transcript import transcript
from labsupport.workbench import log_samples
from labsupport.workbench.explorers.b1 import scrubber
from labsupport.workbench.log_views import LogViews, span_at
from labsupport.workbench.pictures.scrubber import scrubber_picture
from labsupport.workbench.pictures.scrubber_cells import window
from labsupport.workbench.random_logs import random_log
from labsupport.workbench.show import sentence_of
from labsupport.workbench.tables import event_table
from labsupport.workbench.text import speaking
from tests.notebooks.books import Reader

WHOLE = [name for name in log_samples.NAMES if name not in ("damaged", "newer_format", "unknown_event")]
SHORT = [name for name in WHOLE if name != "long"]


@pytest.fixture(autouse=True)
def in_english():
    with speaking("en"):
        yield


def events_of(name):
    return log_samples.load(name).events


def tables(picture):
    """The rows of the five tables: log, surface, transcript, turns, calls."""
    return [re.findall(r"<tr.*?</tr>", body) for body in re.findall(r"<tbody>(.*?)</tbody>", picture, re.DOTALL)]


def plain(markup):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", re.sub(r"<style>.*?</style>", "", markup, flags=re.DOTALL))).strip()


# What is seen as of a watermark

@pytest.mark.parametrize("seed", range(12))
def test_every_view_is_the_librarys_own_for_the_prefix(seed):
    events = random_log(seed).events
    views = LogViews(events)
    for seq in range(len(events)):
        prefix = events[:seq + 1]
        nodes = fold_surface(prefix).nodes
        assert views.nodes(seq) == nodes
        assert views.transcript(seq) == transcript(prefix)
        assert views.turn_states[seq] == fold(turn_status, prefix)
        assert views.model_sees(seq) == sum(derive_event_message(prefix[node]) is not None for node in nodes)
        assert [node for node in views.order if node in set(nodes)] == list(nodes)  # each node has one place for good


@pytest.mark.parametrize("name", SHORT)
def test_calls_have_the_status_of_the_pairing(name):
    events = events_of(name)
    views = LogViews(events)
    for seq in range(len(events)):
        paired = fold(tool_pairing, events[:seq + 1])["calls"]
        turn = max((turn.began for turn in views.turns if turn.began <= seq), default=-1)
        seen = {slot.call_id: slot.as_of(seq) for slot in views.call_slots if turn < slot.history[0][0] <= seq}
        assert seen == {call_id: call["status"] for call_id, call in paired.items()}


def test_a_stream_shows_while_it_runs_and_what_broke_stays():
    views = LogViews(events_of("cancelled_stream"))
    assert "partial" in views.transcript(len(views.events) - 1)[-1].marks
    running = LogViews(events_of("two_step"))
    assert [row.marks for row in running.transcript(7)] == [(), ("partial",)]
    assert [row.marks for row in running.transcript(19)] == [(), (), ()]


def calls_of(*kinds):
    """The views of a log in which the call "a" is asked for and started, over and over, as *kinds* say."""
    session = Session.create("again")
    block = {"type": "tool-call", "id": "a", "name": "look_up", "arguments": "{}"}
    source = {"kind": "model", "provider": "p", "model": "m"}
    message = {"id": "m", "role": "assistant", "source": source, "content": [block]}
    for kind in kinds:
        if kind == "turn":
            session.append("turn/start", {"turn": 1 + sum(event.type == "turn/start" for event in session.events)})
        elif kind == "ask":
            session.append("assistant/message", {"message": message}, "append")
        else:
            session.append("tool/call", {"callId": "a", "name": "look_up", "arguments": "{}"})
    return LogViews(session.events)


@pytest.mark.parametrize(("kinds", "slots"), [
    pytest.param(("turn", "ask", "start", "turn", "ask", "start"),
                 [(1, [(1, "requested"), (2, "started")]), (2, [(4, "requested"), (5, "started")])], id="in the next turn"),
    pytest.param(("turn", "ask", "start", "ask", "start"),
                 [(1, [(1, "requested"), (2, "started")]), (1, [(3, "requested"), (4, "started")])], id="in the same turn"),
    pytest.param(("turn", "ask", "start", "turn", "start"),
                 [(1, [(1, "requested"), (2, "started")]), (2, [(4, "started")])], id="started without being asked for"),
])
def test_an_id_that_comes_again_is_another_call(kinds, slots):
    views = calls_of(*kinds)
    assert [(slot.turn, slot.history) for slot in views.call_slots] == slots
    assert views.waiting(len(views.events) - 1)[-1] is views.call_slots[-1]


def test_nobody_waits_for_a_call_of_an_earlier_turn():
    views = calls_of("turn", "ask", "start", "turn", "ask")
    assert [slot.turn for slot in views.waiting(4)] == [2]
    assert views.call_slots[0].seqs(1) == (1, None, None)


def test_a_log_that_is_none_is_refused():
    with pytest.raises(SurfaceError):
        LogViews(events_of("two_step")[1:])


# The picture

@pytest.mark.parametrize("name", SHORT)
def test_nothing_jumps(name):
    """As many rows in each table at every watermark, and no column that changes its width."""
    views = LogViews(events_of(name))
    seen = {(tuple(map(len, tables(picture))), tuple(re.findall("<colgroup>.*?</colgroup>", picture)))
            for picture in (scrubber_picture(views, seq, show_text=True) for seq in range(len(views.events)))}
    assert len(seen) == 1


@pytest.mark.parametrize("name", ["replaced", "resumed", "long"])
def test_the_rows_say_where_the_watermark_is(name):
    views = LogViews(events_of(name))
    for seq in range(0, len(views.events), 1 if len(views.events) < 100 else 31):
        picture = scrubber_picture(views, seq)
        log = tables(picture)[0]
        assert picture.count(f"as of {seq}<") == 4
        assert sum("is-now" in row for row in log) == 1
        at = next(at for at, row in enumerate(log) if "is-now" in row)
        assert all("after the watermark" in row and "○" in row for row in log[at + 1:] if "later event" not in row)
        assert not any("is-later" in row for row in log[:at + 1])
        assert views.events[seq].type in log[at]


def test_a_run_of_chunks_is_one_row():
    views = LogViews(events_of("two_step"))
    assert [(row.first, row.last) for row in views.rows if row.type == "assistant/chunk"] == [(5, 18), (24, 32)]
    assert "3 of 14" in plain(tables(scrubber_picture(views, 7))[0][5])
    assert "×14 text, call" in plain(tables(scrubber_picture(views, 18))[0][5])
    assert "(assistant/chunk, 3 of 14)" in sentence_of(scrubber_picture(views, 7))


def test_what_was_replaced_is_struck_under_its_replacement():
    views = LogViews(events_of("replaced"))
    before, after = (tables(scrubber_picture(views, seq))[1] for seq in (69, 70))
    assert [re.search(r"<th[^>]*>(\d+)", row)[1] for row in after] == ["70", "2", "13", "34", "15", "27", "32"]
    assert ["is-off" in row for row in after] == [False, True, True, True, True, True, False]
    assert "replaces 2–27" in after[0]
    assert "shadowed by 70" in after[1]
    assert "shadowed by 34" in after[4]
    assert not any("shadowed by 70" in row or "replaces 2" in row for row in before)


def test_brackets_end_in_dots_only_where_something_is_open():
    views = LogViews(events_of("two_step"))
    log = tables(scrubber_picture(views, 20))[0]
    assert [at for at, row in enumerate(log) if "is-open" in row] == [next(at for at, row in enumerate(log) if "is-now" in row)]
    assert not any("is-open" in row for row in tables(scrubber_picture(views, 35))[0])
    assert span_at(views.steps, 22) == views.steps[0]
    assert span_at(views.steps, 35) is None


def test_turns_and_calls_say_where_they_stand():
    *_, turns, calls = tables(scrubber_picture(LogViews(events_of("parallel")), 24))
    assert [plain(row) for row in turns] == ["10–running0 done, step 1 open"]
    assert [plain(row) for row in calls] == ["call_1compare_years2324–started", "call_2compare_years23––requested"]


@pytest.mark.parametrize(("name", "seq", "said"), [
    ("parallel", 24, "As of seq 24 (tool/call): 25 events; the model sees 2 messages, a person saw 3 entries; "
                     "turn 1 is open since 0, its step 1 since 1; still without a result: call_1, call_2."),
    ("replaced", 70, "As of seq 70 (user/message): 71 events; the model sees 5 messages (5 nodes are shadowed), "
                     "a person saw 8 entries; turn 2 has ended (completed); no call is waiting."),
    ("two_step", 0, "As of seq 0 (turn/start): 1 event; the model sees 0 messages, a person saw 0 entries; "
                    "turn 1 is open since 0; no call is waiting."),
    ("interrupted", 26, "As of seq 26 (turn/end): 27 events; the model sees 4 messages, a person saw 5 entries; "
                        "turn 1 has ended (interrupted); no call is waiting."),
])
def test_the_sentence_stands_alone(name, seq, said):
    assert sentence_of(scrubber_picture(LogViews(events_of(name)), seq)) == said


def test_the_sentence_in_chinese():
    with speaking("zh"):
        said = sentence_of(scrubber_picture(LogViews(events_of("replaced")), 70))
    assert said == ("截至 seq 70（user/message）：日志有 71 个事件；模型看到 5 条消息（5 个节点被遮蔽），人看到 8 条；"
                    "第 2 轮已结束（已完成）；没有调用在等结果。")


def test_contents_are_drawn_only_when_asked_for():
    views = LogViews(events_of("two_step"))
    assert "How many" not in scrubber_picture(views, 35)
    assert "14,693" not in scrubber_picture(views, 35)
    assert "How many" in scrubber_picture(views, 35, show_text=True)


def test_an_empty_log_has_a_sentence():
    assert sentence_of(scrubber(()).still.picture) == "There is no event in this log yet."


EVIL = "</td><script>alert(1)</script>\u202e\x00\ud83d\"' onclick="


def evil_log(text):
    """A log with *text* wherever a log holds text, or a number that may be text."""
    session, model = Session.create("evil"), {"kind": "model", "provider": text, "model": text}
    here = {"turn": text, "step": text}
    said = {"id": text, "role": "user", "source": {"kind": text}, "content": [{"type": "text", "text": text}]}
    asked = {"id": text, "role": "assistant", "source": model,
             "content": [{"type": "tool-call", "id": text, "name": text, "arguments": text}, {"type": text}]}
    answer = {"id": text, "role": "user", "source": {"kind": "tool", "callId": text},
              "content": [{"type": "tool-result", "toolCallId": text, "content": [{"type": "text", "text": text}]}]}
    session.append("turn/start", {"turn": text})
    session.append("step/start", here)
    session.append("user/message", said, "append")
    session.append("request/header", {"header": {"config": {"provider": text, "model": text}}, "reason": text})
    session.append("assistant/chunk", {**here, "chunk": {"type": "text-delta", "index": 0, "text": text}})
    session.append("assistant/message", {**here, "message": asked}, "append")
    session.append("tool/call", {**here, "callId": text, "name": text, "arguments": text})
    session.append("tool/result", {**here, "message": answer}, "append")
    session.append(f"plugin/{text}", {"compactionId": text})
    session.append("turn/end", {"turn": text, "reason": {"kind": text}})
    return session.events


def test_text_from_a_log_is_escaped():
    evil, good = LogViews(evil_log(EVIL)), LogViews(evil_log("harmless"))
    for seq in range(len(evil.events)):
        picture, harmless = (scrubber_picture(views, seq, show_text=True) for views in (evil, good))
        assert Reader(picture).tags == Reader(harmless).tags
        assert [name for _, name, _ in Reader(picture).attributes] == [name for _, name, _ in Reader(harmless).attributes]
        assert not set("\u202e\x00\ud83d") & set(picture)


@pytest.mark.parametrize("data", [None, [], "x", {}, {"turn": None, "step": [], "callId": {}, "chunk": 3, "reason": 5}])
def test_data_of_any_shape_is_drawn(data):
    session = Session.create("odd")
    for kind in ("turn/start", "step/start", "assistant/chunk", "tool/call", "request/header", "compaction/end", "turn/end"):
        session.append(kind, data)
    views = LogViews(session.events)
    assert all(scrubber_picture(views, seq) for seq in range(len(views.events)))
    assert len(event_table(session.events)) == len(views.rows)


@pytest.mark.parametrize(("count", "focus", "size", "below", "first"), [
    (count, focus, size, 2, None) for count in (0, 1, 6, 7, 8, 40) for focus in range(max(1, count)) for size in (1, 7)])
def test_a_window_has_its_size_and_holds_its_focus(count, focus, size, below, first):
    drawn = window(count, focus, size, below, first)
    assert len(drawn) == min(size, count)
    assert count == 0 or size < 3 or focus in drawn
    assert drawn.start >= 0
    assert drawn.stop <= count


# The explorer and the table

def test_the_slider_moves_the_picture():
    explorer = scrubber(events_of("parallel"))
    assert (explorer.seq.min, explorer.seq.max, explorer.seq.value) == (0, 45, 45)
    explorer.seq.value = 24
    assert explorer.still.picture == scrubber_picture(LogViews(events_of("parallel")), 24)


def test_made_twice_each_listens_to_its_own_slider():
    first, second = scrubber(events_of("parallel")), scrubber(events_of("parallel"))
    first.seq.value = 3
    assert second.still.sentence.startswith("As of seq 45")


@pytest.mark.parametrize("name", WHOLE)
def test_the_table_says_what_is_on_the_surface(name):
    events = events_of(name)
    table = event_table(events)
    assert list(table.columns) == ["seq", "type", "turn", "step", "call", "on_surface", "why"]
    assert [int(seq) for seq in table[table.on_surface].seq] == sorted(fold_surface(events).nodes)
    assert all(table.why)


def test_the_table_names_turn_step_and_call():
    table = event_table(events_of("two_step")).set_index("seq")
    assert list(table.loc["20", ["type", "turn", "step", "call"]]) == ["tool/call", 1, 1, "call_1"]
    assert list(table.loc["24–32", ["type", "turn", "step"]]) == ["assistant/chunk", 1, 2]
    assert list(table.loc["35", ["type", "turn", "step", "on_surface"]]) == ["turn/end", 1, "", False]


def test_the_table_tells_the_replaced_and_the_empty():
    table = event_table(events_of("replaced")).set_index("seq")
    assert "70 took its place" in table.why["34"]
    assert "2 to 27" in table.why["70"]
    logs = [LogViews(random_log(seed).events) for seed in range(8)]
    empty = [(views, seq) for views in logs for seq, message in views.messages.items()
             if message is None and seq not in views.shadowed_by]
    assert empty
    assert all("no content" in event_table(views.events).set_index("seq").why[str(seq)] for views, seq in empty)


def test_calls_that_do_not_fit_are_counted():
    views = LogViews(events_of("parallel"))
    log, surface, *_ = tables(scrubber_picture(views, 23))
    assert plain(log[6]).endswith("▸ call_1 +1")
    assert "▸ call_1 ▸ call_2" in plain(surface[1])
    assert "▸ compare_y… call_1" in plain(tables(scrubber_picture(LogViews(events_of("two_step")), 35))[1][1])
