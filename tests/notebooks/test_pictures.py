"""The page that pictures are made of, with hostile text in it."""
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labsupport.workbench.pictures.base import (
    Column,
    axis,
    bar,
    bracket,
    call,
    css,
    esc,
    excerpt,
    heading,
    key,
    page,
    panels,
    percent,
    role,
    round_ticks,
    swatch,
    table,
    td,
    th,
    tr,
)
from tests.notebooks.books import Reader

HOSTILE = ['<script>alert(1)</script>', '"><img src=x onerror=alert(1)>', "</style><b>", "a\u202eb\x00\ud800", "&lt;", "--><i>",
           "' onclick='x", "**bold**", "\u2028\n\r\t"]


@pytest.mark.parametrize("text", HOSTILE)
def test_text_from_a_log_stays_text(text):
    """Wherever a function takes text, no tag and no attribute comes of it."""
    cells = tr(td(excerpt(text)), td(role("result", text)), td(call(text, text)), th(esc(text)))
    picture = page(text, text, heading(text, text), table([Column(text, 10)], [cells]), key(swatch("is-off", text)),
                   f'<span class="xp-axis">{axis(10, [0], (3, text))}</span>')
    harmless = page("a", "a", heading("a", "a"), table([Column("a", 10)], [tr(td(excerpt("a")), td(role("result", "a")),
                    td(call("a", "a")), th(esc("a")))]), key(swatch("is-off", "a")),
                    f'<span class="xp-axis">{axis(10, [0], (3, "a"))}</span>')
    bold = text.count("**") // 2
    assert sorted(Reader(picture).tags) == sorted([*Reader(harmless).tags, *["strong"] * bold])
    assert [name for _, name, _ in Reader(picture).attributes] == [name for _, name, _ in Reader(harmless).attributes]
    picture.encode("utf-8")
    assert not re.search(r"[\x00-\x09\x0b-\x1f\u202a-\u202e]", picture)


UNSEEN = [0xAD, 0x034F, 0x061C, 0x115F, 0x1160, 0x180E, 0x200B, 0x200D, 0x2028, 0x202E, 0x2060, 0x2066, 0x2800, 0x3164, 0xFE00,
          0xFEFF, 0xFFA0, 0xFFF9, 0xE000, 0xFFFF, 0x1D173, 0xE0001, 0xE0041, 0xE0101, 0x10FFFF]


@pytest.mark.parametrize("code", UNSEEN, ids=hex)
def test_what_has_no_ink_is_shown_as_its_code(code):
    assert esc(f"a{chr(code)}b") == f"aU+{code:04X}b"


@pytest.mark.parametrize("text", ["上下文 budget", "naïve cafe\u0301", "한국어", "עברית", "हिंदी", "⚠\ufe0f ✅", "全\u3000角"])
def test_what_has_ink_stays(text):
    assert esc(text) == text


@given(st.text(st.characters(), max_size=60))
def test_no_character_is_left_that_would_not_be_seen(text):
    kinds = {unicodedata.category(character) for character in esc(text)}
    assert not kinds & {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


@given(st.text(st.characters(), max_size=60), st.integers(2, 40))
def test_an_excerpt_is_never_longer_than_it_may_be_and_cuts_no_entity(text, limit):
    reader = Reader(excerpt(text, limit))
    assert reader.tags == ["bdi"]
    short = text if len(text) <= limit else text[:limit - 1] + "…"
    assert excerpt(text, limit) == f'<bdi class="xp-x">{esc(short)}</bdi>'


@given(st.floats(0, 1e9), st.floats(0, 1e9))
def test_a_length_in_css_is_between_0_and_100_percent(part, whole):
    assert re.fullmatch(r"\d{1,3}\.\d\d%", percent(part, whole))
    assert 0 <= float(percent(part, whole)[:-1]) <= 100


@given(st.integers(1, 10**9))
def test_ticks_are_few_and_round(whole):
    ticks = round_ticks(whole)
    assert ticks[0] == 0
    assert ticks[-1] <= whole
    assert 2 <= len(ticks) <= 5 or whole == 0


def test_a_bar_and_a_bracket_say_in_words_of_ink_what_they_are():
    assert bar("user", 5, 10, 20, off=True, mark=30) == (
        '<span class="xp-bar xp-u"><i class="is-off" style="left:25.00%;width:50.00%"></i><b style="left:100.00%"></b></span>')
    places = ((True, True), (True, False), (False, False), (False, True))
    pieces = [re.search(r"xp-k(?!c)( is-\w+)?", bracket(*place))[0] for place in places]
    assert pieces == ["xp-k is-one", "xp-k is-top", "xp-k", "xp-k is-end"]
    assert "is-open" in bracket(True, False, still_open=True)
    assert 'class="is-off is-now" aria-current="true"' in tr(td("1"), classes="is-off", now=True)
    assert Reader(panels("<p>a</p>", "<p>b</p>", widths=(440, 436))).tags == ["div", "div", "p", "div", "p"]


def test_the_stylesheet_stays_inside_its_root():
    """No rule touches anything outside .xp, and nothing is loaded from anywhere."""
    assert "url(" not in css()
    assert "@import" not in css()
    selectors = re.findall(r"([^{}]+)\{", css())
    assert len(selectors) > 50
    assert [selector for selector in selectors if not all(".xp" in part for part in re.split(r",(?![^()]*\))", selector))] == []
