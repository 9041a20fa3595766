"""Lab B9's explorer: every moment is drawn with the same rows, says what it shows, and lets no text out of its cell."""
import re

import pytest

from labsupport.sessionlog.query_state import EMPTY, Source, commit
from labsupport.workbench.explorers.b9 import business_explorer
from labsupport.workbench.invoice_kills import DONE, Found, points
from labsupport.workbench.invoice_moments import Known, Moment
from labsupport.workbench.invoice_task import settled
from labsupport.workbench.log_views import LogViews
from labsupport.workbench.mail_task import Point
from labsupport.workbench.pictures.business import business_picture
from labsupport.workbench.show import sentence_of
from labsupport.workbench.text import speaking
from tests.notebooks.books import Reader
from tests.test_fork_picture import tables

EVIL = "</td><script>alert(1)</script>\u202e\x00\ud83d"


def seen(explorer, point, with_key=True):
    explorer.with_key.value = with_key
    explorer.moment.value = points().index(point)
    return str(explorer.figure.value)


@pytest.fixture(scope="module")
def explorer():
    with speaking("en"):
        yield business_explorer(show_text=True)


def test_it_begins_where_the_ledger_knows_more_than_the_log(explorer):
    assert explorer.moment.value == points().index(DONE)
    log, state, ledger, answers = tables(explorer.still.picture)
    assert sentence_of(explorer.still.picture) == (
        "Killed with the invoice out, before send_invoice returns. On the disk: 45 of 45 events. The log on c2: outcome "
        "unknown. The ledger: 1 invoice. Asked, it says: done, op-0001 (found by its key). Called again with a key: 1 invoice.")
    assert [row[2] for row in log if row[0] in ("44", "45")] == ["on disk", "not yet"]
    assert ["metric", "tests v2, active", "11", "1", "1", "committed"] in state
    assert ledger[0] == ["op-0001", "invoice INV-2071", "INV-2071"]
    assert answers == [["the log", "outcome unknown"], ["recovery", "tool/result, step/end, turn/end"],
                       ["the ledger", "done, op-0001 (found by its key)"], ["a second call", "1 invoice"]]


def test_without_a_key_the_second_call_is_a_second_invoice(explorer):
    answers = tables(seen(explorer, DONE, with_key=False))[3]
    assert answers[2:] == [["the ledger", "done, op-0001 (found by its number)"], ["a second call", "2 invoices"]]
    before = tables(seen(explorer, Point("inserted", "send_invoice"), with_key=False))[3]
    assert before[2:] == [["the ledger", "not done (no trace in the ledger)"], ["a second call", "1 invoice"]]


def test_before_the_first_write_there_is_nothing_and_what_is_in_memory_is_lost(explorer):
    picture = seen(explorer, Point("event", "request/context", 4))
    log, state, ledger, answers = tables(picture)
    assert [row[2] for row in log[1:6]] == ["lost"] * 5
    assert {row[1] for row in state} == {"–"}
    assert ledger == [[""], [""]]
    assert answers[3] == ["a second call", "there is no log to resume"]
    assert "is-now" not in re.sub("<style>.*?</style>", "", picture, flags=re.DOTALL)


def test_without_an_approval_on_the_disk_the_second_call_is_refused(explorer):
    approved = max(at for at, point in enumerate(points()) if point.name == "workbook/query-state")
    picture = seen(explorer, points()[approved])
    assert tables(picture)[3][3] == ["a second call", "refused, not approved: 0 invoices"]


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_no_moment_moves_a_row(lang):
    with speaking(lang):
        explorer = business_explorer()
        pictures = []
        for with_key in (True, False):
            explorer.with_key.value = with_key
            for moment in range(explorer.moment.max + 1):
                explorer.moment.value = moment
                pictures.append(str(explorer.figure.value))
    assert len(pictures) == 2 * len(points())
    assert {tuple(len(table) for table in tables(picture)) for picture in pictures} == {(18, 7, 2, 4)}
    for picture in pictures:
        Reader(picture)


def test_the_goal_is_drawn_only_when_asked():
    with speaking("en"):
        assert "bill a clinic" not in str(business_explorer().figure.value)
        assert "bill a clinic" in str(business_explorer(show_text=True).figure.value)


def test_hostile_words_in_every_field_stay_words():
    session = settled()
    state = commit(EMPTY, Source(1, 1), goal=EVIL, metric={"id": EVIL, "version": 1, "status": "draft"}, filters={EVIL: EVIL},
                   time=dict.fromkeys(("calendar", "mode", "start", "end"), EVIL), ambiguities=[EVIL])

    class Hostile(Found):
        state = property(lambda self: state)

    known = Known(Moment(DONE, 3, ()), Hostile(tuple(session.events[:3]), 0, (), ()), 1)
    for lang in ("zh", "en"):
        with speaking(lang):
            picture = business_picture(LogViews(session.events), known, True, show_text=True)
            Reader(picture)
            assert "<script" not in picture
            assert "\u202e" not in picture
