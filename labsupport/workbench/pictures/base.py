"""What every picture is made of: escaping, the page around it, tables, roles, brackets, bars and the key.

Two kinds of strings meet here. *Text* (a label, a sentence, anything from a log) is escaped by the function that takes it.
*Markup* (cells, rows, parts) is what these functions return. Text from a log never gets into a class, a style or an id.
"""
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import Literal, NamedTuple

from labsupport.workbench.text import say

Role = Literal["user", "assistant", "call", "result", "structure"]
ROLES = {"user": ("u", "●"), "assistant": ("a", "■"), "call": ("c", "▸"), "result": ("r", "◃"), "structure": ("s", "·")}
ROLE_WORDS = {"user": "role_user", "assistant": "role_assistant", "call": "role_call", "result": "role_result",
              "structure": "role_structure"}


# Text

class _Shown(dict[int, str]):
    """What each character is shown as: itself, or its sign or code where it would not be seen. Filled as characters come."""

    # Controls, formats (direction marks, joiners, tags), private and unassigned ones, line and paragraph separators
    HIDDEN = frozenset({"Cc", "Cf", "Co", "Cn", "Zl", "Zp"})
    # Letters and marks without ink: the joiner, Hangul and Khmer fillers, selectors of variants, the empty Braille cell.
    # The two selectors after them, U+FE0E and U+FE0F, choose how the sign before them looks, as in many an emoji.
    BLANK = frozenset({0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x2800, 0x3164, 0xFFA0,
                       *range(0xFE00, 0xFE0E), *range(0xE0100, 0xE01F0)})

    def __missing__(self, code: int) -> str:
        category = unicodedata.category(chr(code))
        hidden = category in self.HIDDEN or code in self.BLANK
        self[code] = "\ufffd" if category == "Cs" else f"U+{code:04X}" if hidden else chr(code)
        return self[code]


_SHOWN = _Shown({code: chr(0x2400 + code) for code in range(0x20)} | {0x0A: "⏎", 0x7F: "␡"})
PILE = 4
"""As many marks may stand over and under one letter; more of them would cover the lines around it."""


@cache
def _piles() -> re.Pattern[str]:
    """What finds more marks than that."""
    marks = "".join(chr(code) for code in range(0x300, 0x1E950) if unicodedata.category(chr(code)) in ("Mn", "Me"))
    return re.compile(f"([{marks}]{{{PILE}}})[{marks}]+")


def shown(text: str) -> str:
    """*text* as it may stand on a page, not yet escaped: what would be invisible, or turn the line around, is shown.

    Controls get their sign, other characters without ink their code; a lone surrogate cannot be shown at all:

    >>> shown("a\\x00b\\nc\\u202ed\\xade\\U000e0041\\ud83d")
    'a␀b⏎cU+202EdU+00ADeU+E0041�'

    So an emoji made of several shows what joins them; and of many marks on one letter the first stay:

    >>> shown("👩\\u200d💻"), shown("o" + 9 * "\\u0308") == "o" + PILE * "\\u0308" + "…"
    ('👩U+200D💻', True)
    """
    text = text.translate(_SHOWN)
    return text if text.isascii() else _piles().sub(r"\1…", text)


def esc(text: str) -> str:
    """*text* as content of an element or of an attribute, as `shown` has it.

    >>> esc('<b>"1"</b>\\n')
    '&lt;b&gt;&quot;1&quot;&lt;/b&gt;⏎'
    """
    return escape(shown(text), quote=True)


def excerpt(text: str, limit: int = 34, classes: str = "xp-x") -> str:
    """The first *limit* characters of *text*, in an element that keeps its direction to itself.

    >>> excerpt("it is & was", limit=7)
    '<bdi class="xp-x">it is …</bdi>'
    """
    short = text if len(text) <= limit else text[:limit - 1] + "…"  # first shortened, then escaped: no entity is cut
    return _element("bdi", esc(short), classes, {})


def number(value: int | float) -> str:
    """*value* with thousands separators; a float gets two decimals.

    >>> number(1434), number(4.375)
    ('1,434', '4.38')
    """
    return f"{value:,.2f}" if isinstance(value, float) else f"{value:,}"


# The page

@cache
def css() -> str:
    """The stylesheet without comments and line breaks. Read once."""
    text = (files(__package__) / "explorers.css").read_text("utf-8")
    return re.sub(r"/\*.*?\*/|\n", "", text, flags=re.DOTALL)


def page(label: str, sentence: str, *parts: str, alert: bool = False) -> str:
    """The picture: its styles, the *sentence* that says it all, then the *parts*. *label* names it for screen readers.

    In the sentence `**…**` is bold, kept for figures. With *alert* it starts with the word "Error" and is read out at once.
    """
    bold = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", esc(" ".join(sentence.splitlines())))
    if alert:
        said = f'<p class="xp-say is-error" role="alert"><span class="xp-err">{say("error")}</span>{bold}</p>'
    else:
        said = f'<p class="xp-say" role="status" aria-live="polite" aria-atomic="true">{bold}</p>'
    # CSS skips the comment marks. A page that takes the style element away but keeps its text then shows nothing of it.
    styles = f"<style><!--\n{css()}\n--></style>"
    # Without that class JupyterLab would set what stands between two dollar signs as mathematics.
    begin = f'<div class="xp mathjax_ignore" role="group" aria-label="{esc(label)}">'
    return "\n".join([styles, begin, said, *parts, "</div>\n"])


def heading(title: str, note: str = "") -> str:
    """The title of a panel, with a quiet *note* after it."""
    return f'<h4 class="xp-h">{esc(title)}' + (f" <span>{esc(note)}</span>" if note else "") + "</h4>"


def panels(*parts: str, widths: Sequence[int]) -> str:
    """*parts* side by side, each as many pixels wide as *widths* say, or less on a narrow page."""
    grid = " ".join(f"minmax(0,{width:d}px)" for width in widths)
    return "\n".join([f'<div class="xp-cols" style="grid-template-columns:{grid}">', *(f"<div>{part}</div>" for part in parts),
                      "</div>"])


def key(*items: str) -> str:
    """The legend under a picture; an item is markup, often a `swatch` and its words."""
    return '<ul class="xp-key">' + " ".join(f"<li>{item}</li>" for item in items) + "</ul>"


def swatch(state: Literal["", "is-off", "is-add", "is-line"], words: str) -> str:
    """A legend entry: a piece of the ink (filled, hatched, dashed, the slider's line) and what it means."""
    return f'{_element("span", "", f"xp-sw {state}".strip(), {})} {esc(words)}'


# Tables

class Column(NamedTuple):
    """A column of a table: its *title* (text), its *width* in pixels, the *classes* of its head, and markup *above* instead."""

    title: str
    width: int
    classes: str = ""
    above: str = ""


def td(content: str = "", classes: str = "", **attributes: str | int) -> str:
    """A cell that holds markup *content*.

    >>> td(number(70), "xp-n")
    '<td class="xp-n">70</td>'
    """
    return _element("td", content, classes, attributes)


def th(content: str = "", classes: str = "", **attributes: str | int) -> str:
    """The head of a row: the cell that says which row this is."""
    return _element("th", content, classes, {"scope": "row", **attributes})


def tr(*cells: str, classes: str = "", now: bool = False) -> str:
    """A row of *cells*; *now* marks the row at which the slider stands."""
    if now:
        return _element("tr", "".join(cells), f"{classes} is-now".strip(), {"aria-current": "true"})
    return _element("tr", "".join(cells), classes, {})


def table(columns: Sequence[Column], rows: Iterable[str]) -> str:
    """A table of *rows* under the titles of its *columns*, one row a line so that a change of it is easy to read."""
    widest = max(range(len(columns)), key=lambda place: columns[place].width)  # it takes what is left, so a page can be narrow
    cols = "".join("<col>" if place == widest else f'<col style="width:{column.width:d}px">'
                   for place, column in enumerate(columns))
    heads = "".join(_element("th", column.above or esc(column.title), column.classes, {"scope": "col"}) for column in columns)
    return "\n".join([f"<table><colgroup>{cols}</colgroup>", f"<thead><tr>{heads}</tr></thead>", "<tbody>", *rows,
                      "</tbody></table>"])


def _element(tag: str, content: str, classes: str, attributes: Mapping[str, str | int]) -> str:
    shown = {"class": classes, **attributes} if classes else attributes
    return f"<{tag}" + "".join(f' {name}="{value}"' for name, value in shown.items()) + f">{content}</{tag}>"


# Ink

def role(name: Role, note: str = "") -> str:
    """A role as glyph, colour and word, so that none of the three carries it alone; *note* is text after it, a call's id."""
    letter, glyph = ROLES[name]
    words = say(ROLE_WORDS[name]) + (f" {esc(note)}" if note else "")
    return f'<span class="xp-{letter}"><span class="xp-g" aria-hidden="true">{glyph}</span> {words}</span>'


def call(name: str, call_id: str, limit: int = 20) -> str:
    """A tool call as `▸ name id`, both from the log."""
    return (f'<span class="xp-x xp-m"><span class="xp-c" aria-hidden="true">▸</span> {excerpt(name, limit, "")} '
            f'{excerpt(call_id, limit, "xp-q")}</span>')


def bracket(first: bool, last: bool, still_open: bool = False) -> str:
    """The cell with this row's piece of a unit's bracket: the *first* row, the *last*, both or neither."""
    piece = "is-one" if first and last else "is-top" if first else "is-end" if last else ""
    return td(_element("span", "", " ".join(filter(None, ("xp-k", piece, "is-open" if still_open else ""))), {}), "xp-kc")


def percent(part: float, whole: float) -> str:
    """*part* of *whole* as a length in CSS, never outside 0 to 100 %.

    >>> percent(1, 3), percent(5, 4), percent(5, 0)
    ('33.33%', '100.00%', '0.00%')
    """
    return f"{min(100.0, max(0.0, 100 * part / whole if whole else 0.0)):.2f}%"


def bar(name: Role, start: float, length: float, whole: float, *, off: bool = False, mark: float | None = None) -> str:
    """A bar from *start* over *length* on a scale of *whole*; hatched when *off*, crossed by the slider's line at *mark*."""
    line = f'<b style="left:{percent(mark, whole)}"></b>' if mark is not None else ""
    where = f"left:{percent(start, whole)};width:{percent(length, whole)}"
    piece = _element("i", "", "is-off" if off else "", {"style": where})
    return f'<span class="xp-bar xp-{ROLES[name][0]}">{piece}{line}</span>'


def axis(whole: float, ticks: Sequence[int], mark: tuple[float, str] | None = None, origin: float = 0) -> str:
    """The scale above a column of bars: *ticks*, and the slider's place with its words. Its left end is *origin*."""
    pieces = [(tick - origin, number(tick), "") for tick in ticks] + ([(mark[0] - origin, mark[1], "is-mark")] if mark else [])
    edge = [(at, words, " ".join(filter(None, (state, "is-l" if at <= whole * 0.06 else "is-r" if at >= whole * 0.94 else ""))))
            for at, words, state in pieces]
    spans = [_element("span", esc(words), classes, {"style": f"left:{percent(at, whole)}"}) for at, words, classes in edge]
    return f'<span class="xp-axis">{" ".join(spans)}</span>'


def round_ticks(whole: float, most: int = 4) -> list[int]:
    """Round numbers from 0 up to *whole*, at most *most* steps apart: 1, 2 or 5 times a power of ten.

    >>> round_ticks(1600), round_ticks(7)
    ([0, 500, 1000, 1500], [0, 2, 4, 6])
    """
    step = next(digit * 10**power for power in range(19) for digit in (1, 2, 5) if digit * 10**power * most >= whole)
    return list(range(0, int(whole) + 1, step))
