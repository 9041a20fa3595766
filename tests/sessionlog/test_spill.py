"""Spill: what the log keeps of a long result, that the rest is kept whole elsewhere, and that pruning leaves the way to it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labsupport.errors import EventError
from labsupport.outside.attachments import Attachments
from labsupport.sessionlog import PruneConfig, prune_content
from labsupport.sessionlog.spill import Spill
from tests.sessionlog import builders as make
from tests.sessionlog.strategies import texts

KEY = bytes(range(32))


class Shelf:
    """Keeps what it is given."""

    def __init__(self) -> None:
        self.kept: list[bytes] = []

    def __call__(self, data: bytes) -> str:
        self.kept.append(data)
        return f"attachment:{len(self.kept)}"


@st.composite
def spills(draw: st.DrawFn) -> tuple[Spill, Shelf]:
    head, tail, shelf = draw(st.integers(0, 8)), draw(st.integers(0, 8)), Shelf()
    return Spill(shelf, head + tail + draw(st.integers(0, 10)), head, tail), shelf


long_texts = texts | st.lists(st.sampled_from(["a", "预", "🙂", "\n", "\ud83d", "\udc00", "\r\n"]), max_size=60).map("".join)


@given(long_texts, spills())
def test_a_long_text_is_kept_whole_and_shown_by_its_ends(text, made):
    spill, shelf = made
    blocks = spill.blocks(text)
    if len(text) <= spill.limit_chars:
        assert blocks is None
        assert shelf.kept == []
        return
    shown, attachment = blocks
    assert [data.decode("utf-8", "surrogatepass") for data in shelf.kept] == [text]
    assert attachment == {"type": "attachment", "ref": "attachment:1", "chars": len(text), "bytes": len(shelf.kept[0]),
                          "lines": len(text.split("\n")) - text.endswith("\n")}
    head, tail = text[:spill.head_chars], text[len(text) - spill.tail_chars:]
    assert shown["type"] == "text"
    assert shown["text"].startswith(head + "\n\n[... ")
    assert shown["text"].endswith(" ...]\n\n" + tail)
    note = shown["text"][len(head):len(shown["text"]) - len(tail)]
    assert str(len(text) - len(head) - len(tail)) in note
    assert str(len(text)) in note
    assert "attachment:1" in note


@pytest.mark.parametrize("sizes", [(10, 6, 5), (0, 1, 0), (10, -1, 0), (10, 0, -1), (-1, 0, 0)], ids=str)
def test_ends_that_do_not_fit_are_refused(sizes):
    with pytest.raises(EventError, match="limit_chars"):
        Spill(Shelf(), *sizes)


def test_attachments_give_it_back_byte_by_byte_and_line_by_line(tmp_path):
    attachments = Attachments(tmp_path / "kept", KEY)
    rows = "".join(f"{number},north,{number * 7}\n" for number in range(100_000))
    shown, attachment = Spill(attachments.put).blocks(rows)
    assert attachments.get(attachment["ref"]).decode() == rows
    page = attachments.lines(attachment["ref"], 50_001, 2)
    assert list(page.lines) == ["50000,north,350000", "50001,north,350007"]
    assert page.total == attachment["lines"] == 100_000
    assert attachment["bytes"] == len(rows)
    assert len(shown["text"]) < 5_300


def test_half_a_character_is_kept_as_it_is(tmp_path):
    attachments = Attachments(tmp_path / "kept", KEY)
    text = "a" * 10 + "\ud83d" * 10
    _, attachment = Spill(attachments.put, 5, 2, 2).blocks(text)
    assert attachments.get(attachment["ref"]).decode("utf-8", "surrogatepass") == text


def test_the_same_text_is_kept_once(tmp_path):
    attachments = Attachments(tmp_path / "kept", KEY)
    spill = Spill(attachments.put, 5, 2, 2)
    assert spill.blocks("x" * 100) == spill.blocks("x" * 100)
    assert len(attachments.refs()) == 1


@given(st.integers(41, 90))
def test_pruning_cuts_the_text_and_keeps_the_reference(threshold):
    blocks = Spill(Shelf(), 20, 10, 10).blocks("x" * 1_000)
    pruned = prune_content(blocks, PruneConfig(threshold, 1, 1))
    assert pruned is None or pruned[-1] == blocks[-1]
    assert (pruned is None) == (len(blocks[0]["text"]) <= threshold)


def test_what_is_spilled_by_default_is_not_pruned_by_default():
    blocks = Spill(lambda data: "attachment:" + "f" * 64).blocks("预" * 100_000)
    assert prune_content(blocks, PruneConfig()) is None
    assert prune_content([make.text_block("预" * 100_000)], PruneConfig()) is not None
