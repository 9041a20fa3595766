"""Lab B8's explorer: every boundary of many logs, what is drawn of it, and hostile text in it."""
import re

import pytest

from labsupport.sessionlog import Reply, Session, SessionHeader, delegate
from labsupport.sessionlog.lineage import boundaries
from labsupport.sessionlog.models import call
from labsupport.sessionlog.storage import JsonlStore
from labsupport.workbench import log_samples
from labsupport.workbench.explorers.b8 import fork_explorer
from labsupport.workbench.outbox_play import ID, ask, mails, record
from labsupport.workbench.show import sentence_of
from labsupport.workbench.text import speaking
from tests.notebooks.books import Reader
from tests.sessionlog.builders import append, files_of, user

EVIL = "</td><script>alert(1)</script>\u202e\x00\ud83d"


@pytest.fixture(autouse=True)
def in_english():
    with speaking("en"):
        yield


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    folder = tmp_path_factory.mktemp("office")
    record(folder)
    log = JsonlStore(folder).inspect(ID)
    return Session.seeded(log.header, log.events)


def seen(explorer, boundary):
    explorer.boundary.value = boundary
    return str(explorer.figure.value)


def tables(picture):
    """The rows of each table, a row as the texts of its cells."""
    def words(row):
        return [" ".join(re.sub(r"<[^>]*>", "", cell).split()) for cell in re.findall(r"<t[dh].*?</t[dh]>", row)]

    return [[words(row) for row in re.findall(r"<tr.*?</tr>", body, re.DOTALL)]
            for body in re.findall(r"<tbody>(.*?)</tbody>", picture, re.DOTALL)]


def of_type(session, kind):
    return next(event.seq for event in session.events if event.type == kind)


# The recording

def test_the_recording_is_the_same_every_time_and_sends_one_mail(tmp_path):
    for name in ("a", "b"):
        record(tmp_path / name)
    first, second = (files_of(tmp_path / name) for name in ("a", "b"))
    assert first == second
    assert [mails(tmp_path / name) for name in ("a", "b", "nowhere")] == [1, 1, 0]


# A boundary

def test_a_child_is_drawn_with_its_header_its_rights_and_its_surface(session):
    picture = seen(fork_explorer(session), of_type(session, "session/title"))
    assert sentence_of(picture) == (
        "Forked after seq 23 (session/title): the child reminder-fork-24 begins with 24 events and a session/end-seed. "
        "Its surface gives the model 4 messages.")
    rows, headers, rights, surface = tables(picture)
    assert headers == [["id", "reminder", "reminder-fork-24", "new"], ["parentSession", "–", "reminder", "new"],
                       ["seedLength", "–", "24", "new"], ["delegationDepth", "0", "0", "same"],
                       ["agentPreset", "assistant", "assistant", "same"], ["cwd", "/clinic", "/clinic", "same"]]
    assert [row[1] for row in rights] == ["send_mail, sum_co…", "0", "scripted-1", "–"]
    assert [row[:2] for row in surface] == [["2", "● user"], ["10", "■ assistant"], ["12", "◃ result"], ["20", "■ assistant"],
                                            [""], [""], [""]]
    now = [row for row in re.findall(r"<tr.*?</tr>", picture) if "is-now" in row]
    assert len(now) == 1
    assert "session/title" in now[0]
    assert [row[0] for row in rows if row[-1].startswith("✓")] == ["22", "23"]


def test_a_fork_inside_a_compaction_has_a_stale_lock(session):
    explorer = fork_explorer(session)
    start = of_type(session, "compaction/start")
    assert [row[4] for row in tables(seen(explorer, start))[0] if row[0] == str(start)] == [f"…-{start}"]
    for boundary in range(start - 1, start + 4):
        picture = seen(explorer, boundary)
        stale = start <= boundary < start + 3
        assert (f"The compaction begun at {start} has no end here" in sentence_of(picture)) == stale
        assert tables(picture)[2][3][1:] == ([f"open since {start}", "a stale one, no obstacle"] if stale else ["–", "none"])


def test_an_illegal_boundary_says_why_and_names_the_way_back(session):
    explorer = fork_explorer(session)
    inside = seen(explorer, of_type(session, "approval/asked"))
    assert sentence_of(inside) == (
        "Error: seq 34 (approval/asked) lies inside turn 2; there is no fork here: the result of c2 would stand in the parent "
        "alone. The last legal boundary is seq 23.")
    assert 'role="alert"' in inside
    assert "is-now" not in re.sub("<style>.*?</style>", "", inside, flags=re.DOTALL)
    assert inside.count('<tr class="is-cutbad"') == 1
    rows, headers, rights, surface = tables(inside)
    assert next(row for row in rows if row[-1] == "✓ last legal")[0] == "23"
    assert {row[2] for row in headers} == {"–"}
    assert [row[1:] for row in rights] == [["send_mail, sum_co…", "–"], ["0", "–"], ["scripted-1", "–"], ["–", "–"]]
    assert inside.count("there is no child") == 3
    assert {cell for row in surface for cell in row} == {""}
    assert "the rest of the turn would stand in the parent alone." in sentence_of(seen(explorer, 0))
    assert "There is no legal boundary before it: wait for the turn's end." in sentence_of(seen(explorer, 0))


@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("name", ["two_step", "replaced", "interrupted", "resumed", "ignorable_event"])
def test_no_boundary_moves_a_row(name, lang):
    log = log_samples.load(name)
    parent = Session.seeded(log.header, log.events)
    legal = boundaries(parent.events)
    with speaking(lang):
        explorer = fork_explorer(parent)
        pictures = [seen(explorer, at) for at in range(len(parent.events))]
    assert len({tuple(len(table) for table in tables(picture)) for picture in pictures}) == 1
    assert [at for at, picture in enumerate(pictures) if 'role="alert"' not in picture] == legal
    for picture in pictures:
        Reader(picture)


def test_what_messages_say_is_drawn_only_when_asked(session):
    end = len(session.events) - 1
    assert "Thank you" not in seen(fork_explorer(session), end)
    assert "Thank you" in seen(fork_explorer(session, show_text=True), end)


def test_a_session_without_events_is_a_sentence():
    assert repr(fork_explorer(Session.create("s1"))) == "There is no event in this log to fork after."


def test_text_from_a_log_stays_text():
    parent = delegate(Session.create(EVIL), EVIL + "1", EVIL)
    append(parent, user(EVIL))
    ask(parent, EVIL, Reply(EVIL, calls=[call(EVIL, EVIL, EVIL)]), Reply(EVIL), model=EVIL)
    parent.append(EVIL, {"turn": EVIL})
    parent.append("turn/start", {"turn": EVIL})
    parent.append("compaction/start", {"compactionId": EVIL})
    explorer = fork_explorer(parent, show_text=True)
    harmless = fork_explorer(Session.seeded(SessionHeader("s1"), log_samples.load("replaced").events), show_text=True)
    allowed = set(Reader(seen(harmless, 0)).tags) | set(Reader(seen(harmless, 86)).tags)
    for event in parent.events:
        picture = seen(explorer, event.seq)
        assert set(Reader(picture).tags) <= allowed
        assert not re.search(r"[\x00-\x09\x0b-\x1f\u202a-\u202e]", picture)
        picture.encode("utf-8")
