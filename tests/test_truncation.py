"""Lab B4's explorer: what a cut leaves, at every byte of a log; what is drawn of it; and what the store really does."""
import re

import pytest

from labsupport.errors import LabError
from labsupport.sessionlog import Session, interrupted_turn_closers
from labsupport.sessionlog.storage import JsonlStore, scan_log
from labsupport.workbench import log_samples
from labsupport.workbench.copies import handle
from labsupport.workbench.cuts import claims, cut_log, lines_of, log_bytes, telling_cuts
from labsupport.workbench.explorers.b4 import truncation_explorer
from labsupport.workbench.mail_task import record
from labsupport.workbench.pictures.truncation import truncation_picture
from labsupport.workbench.pictures.truncation_rows import read_whole
from labsupport.workbench.random_logs import random_log
from labsupport.workbench.show import sentence_of
from labsupport.workbench.text import speaking
from tests.notebooks.books import Reader

EVIL = "</td><script>alert(1)</script>\u202e\x00"
WHOLE_SAMPLES = [name for name in log_samples.NAMES if name not in log_samples.DAMAGE]


@pytest.fixture(autouse=True)
def in_english():
    with speaking("en"):
        yield


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mail")
    record(folder)
    return (folder / "mail.jsonl").read_bytes()


@pytest.fixture(scope="module")
def whole(log):
    return read_whole(log)


def picture(whole, at, **options):
    return truncation_picture(whole, cut_log(whole.data, at), handle(whole.data[:at]), **options)


def rows(shown):
    """The rows of the log's table."""
    return re.findall(r"<tr.*?</tr>", re.findall(r"<tbody>(.*?)</tbody>", shown, re.DOTALL)[0])


def cells(row):
    return [" ".join(re.sub(r"<[^>]*>", "", cell).split()) for cell in re.findall(r"<td.*?</td>", row)]


# What a cut leaves

def test_every_byte_keeps_a_prefix_and_a_second_recovery_changes_nothing(log):
    events, ends = scan_log(log).events, [line.stop for line in lines_of(log)]
    for at in range(len(log) + 1):
        cut = cut_log(log, at)
        assert cut.kept == events[:max(0, sum(end <= at for end in ends) - 1)]  # no line of this log is packed
        assert interrupted_turn_closers(cut.events) == []
        assert (cut.refused is not None) == (at < ends[0])
        assert (cut.torn is not None) == (at > ends[0] and at not in ends)


@pytest.mark.parametrize("seed", range(5))
def test_so_it_is_on_random_logs(seed):
    data = log_bytes(random_log(seed))
    events = scan_log(data).events
    for at in telling_cuts(data):
        cut = cut_log(data, at)
        assert cut.kept == events[:len(cut.kept)]
        assert interrupted_turn_closers(cut.events) == []


def test_a_call_is_unknown_from_the_line_break_of_its_start_on(log):
    start = lines_of(log)[14]
    assert start.events[0].type == "tool/call"
    assert [closer.code for closer in cut_log(log, start.stop - 1).closers[:2]] == ["TOOL_NOT_STARTED"] * 2
    cut = cut_log(log, start.stop)
    assert [(c.call_id, c.tool, c.code, c.since, c.unknown) for c in cut.closers[:2]] == [
        ("c1", "send_mail", "TOOL_OUTCOME_UNKNOWN", 13, True), ("c2", "sum_column", "TOOL_NOT_STARTED", 12, False)]
    assert [(c.closes, c.number, c.since, c.event.type) for c in cut.closers[2:]] == [
        ("step", 1, 1, "step/end"), ("turn", 1, 0, "turn/end")]
    assert claims(cut.kept) == {"c1": "open", "c2": "open"}
    assert claims(cut.events) == {"c1": "TOOL_OUTCOME_UNKNOWN", "c2": "TOOL_NOT_STARTED"}


def test_the_bytes_of_a_session_are_what_a_store_writes(tmp_path):
    session = random_log(3)
    store = JsonlStore(tmp_path)
    store.create(session.header)
    store.append(session.id, session.events)
    assert store.path(session.id).read_bytes() == log_bytes(session)


# What the store does with the copy

@pytest.mark.parametrize("step", [173])
def test_the_store_agrees_at_many_bytes(log, step):
    edges = [at for line in lines_of(log)[10:20] for at in (line.stop - 1, line.stop)]
    for at in sorted({*range(0, len(log), step), *edges, len(log)}):
        cut, it = cut_log(log, at), handle(log[:at])
        assert it.before == it.inspected == log[:at]
        if cut.refused:
            assert (it.after, it.kept, it.seen, it.loaded) == (log[:at], b"", None, None)
            assert str(cut.refused).split(": ", 1)[1] in str(it.refused)
            continue
        committed = cut.torn.offset if cut.torn else at
        assert it.after.startswith(log[:committed])
        assert it.kept == log[committed:at]
        assert scan_log(it.after).events == it.loaded.events == it.seen.events == cut.events
        assert it.again == it.after


# The picture

def test_everything_stands_where_seq_goes_on(whole):
    at = whole.lines[14].stop + 60
    shown = rows(picture(whole, at))
    states = [cells(row)[5] for row in shown]
    assert states == ["kept"] * 9 + ["torn"] + ["cut away"] * 8
    assert [cells(row)[6] for row in shown[9:14]] == [
        "14 ◃ c1 unknown", "15 ◃ c2 not started", "16 step/end", "17 turn/end interrupted", ""]
    assert [cells(row)[0] for row in shown[9:13]] == ["14", "15", "16", "17"]
    assert [place for place, row in enumerate(shown) if "is-now" in row] == [8]
    assert [place for place, row in enumerate(shown) if "is-open" in row] == [8]
    assert [("is-off" in row) for row in shown] == [False] * 9 + [True] * 9


def test_the_sentence_says_what_the_picture_shows(whole):
    at = whole.lines[14].stop + 60
    it = handle(whole.data[:at])
    assert sentence_of(picture(whole, at)) == (
        f"The file ends 60 bytes into line 16, at {at:,}; this torn tail is kept beside, then cut off. Kept: seq 0–13. "
        f"Added: 4 events (c1 outcome unknown, c2 not started, step 1, turn 1). inspect leaves the file, load makes it "
        f"{len(it.after):,} bytes.")


@pytest.mark.parametrize(("where", "said"), [
    (0, "Error: the file ends inside its header, after 0 of 89 bytes. inspect and load refuse it and change nothing."),
    (88, "Error: the file ends inside its header, after 88 of 89 bytes. inspect and load refuse it and change nothing."),
    (89, "The file ends after line 1, at 89 bytes. No event is left. Nothing is open, nothing is added. "
         "inspect and load leave the file alone."),
    (90, "The file ends 1 byte into line 2, at 90; this torn tail is kept beside, then cut off. No event is left. "
         "Nothing is open, nothing is added. inspect leaves the file, load makes it 89 bytes."),
    (-1, "All 27 lines are there, {size:,} bytes. Kept: seq 0–25. Nothing is open, nothing is added. "
         "inspect and load leave the file alone."),
])
def test_the_edges(whole, where, said):
    at = len(whole.data) if where < 0 else where
    assert sentence_of(picture(whole, at)) == said.format(size=len(whole.data))


def test_chinese(whole):
    at = whole.lines[14].stop
    with speaking("zh"):
        said = sentence_of(picture(whole, at))
        size = len(handle(whole.data[:at]).after)
    assert said == (f"文件停在第 15 行末尾，{at:,} 个字节。保留 seq 0–13。补写 4 个事件："
                    f"c1 结局未知、c2 未开始、第 1 步、第 1 轮。inspect 不改文件，load 之后是 {size:,} 个字节。")


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_every_byte_can_be_drawn_and_the_layout_stays(log, lang):
    whole, it = read_whole(log), handle(log)  # the disk has a test of its own
    shapes = set()
    with speaking(lang):
        for at in range(len(log) + 1) if lang == "en" else telling_cuts(log):
            shown = truncation_picture(whole, cut_log(log, at), it, show_text=True)
            shapes.add((tuple(len(re.findall("<tr", body)) for body in re.findall(r"<tbody>(.*?)</tbody>", shown, re.DOTALL)),
                        *re.findall(r"height:\d+px;overflow", shown)))
            if at % 500 == 0:
                Reader(shown)
    assert len(shapes) == 1


def test_a_cut_through_a_character_is_shown_in_bytes(whole):
    at = whole.data.index("王".encode()) + 1
    assert "\\xe7" in picture(whole, at, show_text=True)
    assert "\\x8e\\x8b" in picture(whole, at, show_text=True)


def test_what_nobody_can_claim_is_told(whole):
    def box(at):
        return " ".join(Reader(picture(whole, at)).text)

    assert "send_mail was started at 13. It may have taken effect: ask outside before a retry." in box(whole.lines[14].stop)
    assert "sum_column was asked for at 12, no start is on record." in box(whole.lines[14].stop)
    assert "The log knows of no call" in box(whole.lines[4].stop)
    assert "No turn is open" in box(len(whole.data))
    assert "Without its header" in box(10)


def test_contents_are_drawn_only_when_asked_for(whole):
    at = whole.lines[3].start + 100
    assert "remind" not in picture(whole, at)
    assert "remind" in picture(whole, at, show_text=True)


def test_without_styles_the_words_remain(whole):
    text = " ".join("".join(Reader(picture(whole, whole.lines[14].stop)).text).split())
    assert "kept" in text
    assert "cut away" in text
    assert "TOOL_OUTCOME_UNKNOWN" in text
    assert "recovery adds" in text


def test_text_from_a_log_is_escaped():
    session = Session.create("evil")
    session.append("turn/start", {"turn": EVIL})
    session.append("step/start", {"turn": EVIL, "step": EVIL})
    block = {"type": "tool-call", "id": EVIL, "name": EVIL, "arguments": EVIL}
    source = {"kind": "model", "provider": "p", "model": "m"}
    message = {"id": EVIL, "role": "assistant", "source": source, "content": [{"type": "text", "text": EVIL}, block]}
    session.append("assistant/message", {"turn": EVIL, "step": EVIL, "message": message}, "append")
    session.append("tool/call", {"turn": 1, "step": 1, "callId": EVIL, "name": EVIL, "arguments": EVIL})
    session.append(EVIL, EVIL, ignorable=True)
    whole = read_whole(log_bytes(session))
    for at in telling_cuts(whole.data):
        shown = picture(whole, at, show_text=True)
        assert "<script" not in shown
        assert not set("\u202e\x00") & set(shown)
        Reader(shown)


@pytest.mark.parametrize("name", WHOLE_SAMPLES)
def test_every_sample_log_can_be_cut(name):
    whole = read_whole(log_samples.path(name).read_bytes())
    heights = set()
    for at in telling_cuts(whole.data)[::97 if name == "long" else 7]:
        shown = picture(whole, at, show_text=True)
        heights.add(len(rows(shown)))
    assert len(heights) == 1
    assert heights.pop() <= 24


def test_a_log_that_is_torn_already_is_refused():
    with pytest.raises(LabError, match="torn already"):
        read_whole(log_samples.path("torn").read_bytes())


# The explorer

def test_the_sliders_move_the_cut(log):
    explorer = truncation_explorer(log)
    assert explorer.still.sentence.startswith("All 27 lines")
    assert explorer.bytes.disabled
    explorer.lines.value = 14
    line = lines_of(log)[14]
    assert (explorer.bytes.value, explorer.bytes.max, explorer.bytes.disabled) == (0, line.stop - line.start - 1, False)
    assert "c1 not started" in explorer.still.sentence
    explorer.bytes.value = explorer.bytes.max
    assert explorer.still.sentence.startswith(f"The file ends {explorer.bytes.max} bytes into line 15")
    explorer.lines.value = 15
    assert explorer.bytes.value == 0
    assert "c1 outcome unknown" in explorer.still.sentence


def test_made_twice_each_listens_to_its_own_sliders(log):
    first, second = truncation_explorer(log), truncation_explorer(log)
    first.lines.value = 3
    assert second.still.sentence.startswith("All 27 lines")
