"""Views side by side: what is shown at each event is what the library folds for the log up to there, and nothing jumps."""
import re

import pytest

from labsupport.sessionlog import Session, Unit, fold, todo, turn_status
from labsupport.workbench import log_samples
from labsupport.workbench.explorers.b3 import UNITS, watermark_explorer
from labsupport.workbench.log_views import LogViews
from labsupport.workbench.pictures.watermarks import watermarks_picture
from labsupport.workbench.projection_tables import waiting_table
from labsupport.workbench.random_logs import random_log
from labsupport.workbench.show import sentence_of
from labsupport.workbench.text import LANGUAGES, speaking
from labsupport.workbench.waiting_views import read_at_once, read_while_waiting
from labsupport.workbench.watermarks import UnitViews, live_equals_scratch, play
from tests.notebooks.books import Reader

SHORT = ["two_step", "parallel", "tool_raises", "replaced", "interrupted", "resumed", "packed", "ignorable_event"]
STARTS = frozenset({"turn/start"})


@pytest.fixture(autouse=True)
def in_english():
    with speaking("en"):
        yield


def events_of(name):
    return log_samples.load(name).events


def pictures(events, units=UNITS, **more):
    log, views = LogViews(events), UnitViews(units, events)
    return [watermarks_picture(log, views, seq, **more) for seq in range(len(events))]


def right_rows(picture):
    """The rows of the table of views."""
    table = re.findall(r"<tbody>(.*?)</tbody>", picture, re.DOTALL)[1]
    return re.findall(r"<tr.*?</tr>", table)


def words(markup):
    return " ".join(re.sub(r"<[^>]*>", " ", markup).split())


@pytest.mark.parametrize("name", SHORT)
def test_fields_are_the_fold_and_every_change_is_one(name):
    events = events_of(name)
    views = UnitViews([*UNITS, todo], events)
    for unit in views.units:
        for seq in range(-1, len(events)):
            view = fold(unit, events[:seq + 1])
            assert views.fields(unit.key, seq) == (view if isinstance(view, dict) else {"": view})
            if seq >= 0 and views.at(unit.key, seq) != "changed":
                assert views.fields(unit.key, seq) == views.fields(unit.key, seq - 1)
                assert (views.at(unit.key, seq) == "same") == (events[seq].type in unit.event_types)


def test_a_rewritten_result_is_read_and_changes_the_surface_only():
    views = UnitViews(UNITS, events_of("replaced"))
    assert {unit.key: views.at(unit.key, 34) for unit in UNITS} == {
        "turn_status": "passed", "tool_pairing": "same", "session_stats": "same", "surface_tokens": "changed"}


def test_a_log_that_is_played_again_is_the_same_log():
    for name in SHORT:
        session = Session.create("again")
        play(events_of(name), session)
        assert [(one.type, one.data, one.surface_op, one.source_event_seqs, one.ignorable) for one in session.events] == [
            (one.type, one.data, one.surface_op, one.source_event_seqs, one.ignorable) for one in events_of(name)]


def test_a_unit_that_remembers_outside_its_state_breaks_the_law():
    seen = []
    counts = Unit("n", STARTS, lambda: 0, lambda state, event: seen.append(event) or len(seen))
    assert not all(live_equals_scratch([counts], random_log(3).events))
    assert all(live_equals_scratch([turn_status], random_log(3).events))


# The picture

@pytest.mark.parametrize("name", SHORT)
def test_nothing_jumps(name):
    shapes = {(tuple(len(re.findall("<tr", body)) for body in re.findall(r"<tbody>.*?</tbody>", picture, re.DOTALL)),
               tuple(re.findall("<colgroup>.*?</colgroup>", picture))) for picture in pictures(events_of(name), show_text=True)}
    assert len(shapes) == 1


def test_rows_say_before_now_and_what_the_event_was():
    rows = [words(row) for row in right_rows(pictures(events_of("replaced"))[34])]
    assert rows[0] == "turn_status changes so far: 8 of 16 · not read"
    assert rows[5:7] == ["tool_pairing changes so far: 4 of 8 = same object", "calls {} {}"]
    assert rows[-3:] == ["surface_tokens changes so far: 6 of 12 ◆ changed", "tokens 2,263 1,378 ◆", "nodes 5 5"]
    assert "is-now" in pictures(events_of("replaced"))[34]


def test_a_state_that_changed_where_no_reader_sees_it_is_said_so():
    picture = pictures(events_of("two_step"))[1]  # step/start: session_stats notes when the model was asked
    assert [words(row) for row in right_rows(picture) if "session_stats" in row] == [
        "session_stats changes so far: 1 of 10 ◇ inside only"]
    assert "changed inside only: session_stats;" in sentence_of(picture)


@pytest.mark.parametrize(("lang", "said"), [
    ("en", "As of seq 34 (tool/result): changed: surface_tokens; read, and still the same object: tool_pairing, session_stats; "
           "do not read this type: turn_status."),
    ("zh", "截至 seq 34（tool/result）。变了：surface_tokens；读了，还是同一对象：tool_pairing、session_stats；"
           "不读这种事件：turn_status。"),
])
def test_the_sentence_stands_alone(lang, said):
    with speaking(lang):
        assert sentence_of(pictures(events_of("replaced"))[34]) == said


def test_units_of_a_learner_are_drawn_and_one_that_fails_is_named():
    def fails(state, event):
        if event.seq:
            raise ValueError("private words")
        return state + 1

    units = [Unit("good <b>", STARTS, lambda: 0, lambda state, event: state + 1), Unit("bad", STARTS, lambda: 0, fails),
             Unit("odd", STARTS, lambda: {"<i>": [1]}, lambda state, event: {"<i>": [event.seq]}),
             Unit("calls", STARTS, dict, lambda state, event: {"calls": {"a": "started", "b": {"status": "failed"}}})]
    picture = pictures(events_of("replaced"), units)[-1]
    rows = [words(row) for row in right_rows(picture)]
    assert rows[0].startswith("good &lt;b&gt;")
    assert rows[1] == "3 3"
    assert any(row.startswith("bad") and row.endswith("× stopped") for row in rows)
    assert "stopped: bad." in sentence_of(picture)
    assert "private" not in picture
    assert "&lt;i&gt; [72] [72]" in rows
    assert "calls failed +1 failed +1" in rows
    assert "i" not in Reader(picture).tags


def test_contents_are_shown_on_request_only():
    hidden, shown = (pictures(events_of("two_step"), show_text=show)[-1] for show in (False, True))
    assert "How many" not in hidden
    assert "How many" in shown


def test_an_empty_log_has_a_sentence():
    assert sentence_of(watermark_explorer([]).still.picture) == "There is no event in this log yet."


def test_the_slider_moves_the_picture():
    explorer = watermark_explorer(events_of("long"), show_text=True)
    for seq in range(0, 970, 31):
        explorer.seq.value = seq
        assert repr(explorer.still).startswith(f"As of seq {seq} (")


# Views that wait

@pytest.mark.parametrize("name", SHORT)
def test_who_reads_while_one_view_waits_reads_an_older_one(name):
    events = events_of(name)
    true, read = read_at_once(events), read_while_waiting(events)
    assert [one.step for one in read] == [one.step for one in true]
    for at, one in enumerate(read):
        assert one.calls_seq < at
        assert one.calls == (true[one.calls_seq].calls if one.calls_seq >= 0 else ())


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_table_shows_a_moment_that_never_was(lang):
    types = ["assistant/message", "tool/call", "tool/result", "step/start", "step/end"]
    with speaking(lang):
        table = waiting_table(events_of("tool_raises")[:20], types)
        assert list(table.iloc[:, -1]) == [{"en": "yes", "zh": "有"}[lang]] * 4 + [{"en": "never", "zh": "从来没有"}[lang]] + [
            {"en": "yes", "zh": "有"}[lang]]
