"""The rows of the truncation explorer: the whole log, where the cut goes through it, and the closers where seq goes on."""
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from labsupport.errors import LabError
from labsupport.sessionlog import SessionEvent, interrupted_turn_closers
from labsupport.sessionlog.json_text import field
from labsupport.sessionlog.recovery import answered_call, blocks
from labsupport.workbench.cuts import Closer, Cut, Line, lines_of
from labsupport.workbench.pictures.base import ROLES, Column, Role, bracket, esc, excerpt, number, table, td, tr
from labsupport.workbench.text import say

WINDOW = 20
"""Rows that are drawn of a long log; two more stand for what is above and below."""

GLYPHS: dict[str, Role] = {
    "user/message": "user", "assistant/message": "assistant", "tool/call": "call", "tool/result": "result"}
DASHED = "border:1px dashed var(--xp-struct);padding:0 2px"


class Row(NamedTuple):
    """One event, or a run of chunks: the lines that it takes up (from, to), and its events; the header's row has none."""

    first_line: int
    last_line: int
    events: tuple[SessionEvent, ...]

    @property
    def lines(self) -> int:
        return self.last_line - self.first_line


@dataclass(frozen=True)
class Whole:
    """A good log before it is cut: its bytes, its lines, the rows that are drawn, and rows below for closers of its own end."""

    data: bytes
    lines: list[Line]
    rows: list[Row]
    below: int


def read_whole(data: bytes) -> Whole:
    """Read the log *data* once, so that moving a cut through it is cheap. LabError when it is not whole."""
    if not data.endswith(b"\n"):
        raise LabError("this log is torn already; take one that ends with a line break")
    lines = lines_of(data)
    rows = [Row(0, 1, ())]
    for place, line in enumerate(lines[1:], start=1):
        last = rows[-1]
        if line.events[0].type == "assistant/chunk" == (last.events[0].type if last.events else ""):
            rows[-1] = Row(last.first_line, place + 1, last.events + line.events)
        else:
            rows.append(Row(place, place + 1, line.events))
    events = [event for line in lines for event in line.events]
    return Whole(data, lines, rows, len(interrupted_turn_closers(events)))


def whole_lines(whole: Whole, at: int) -> int:
    """How many lines are left of *whole*, line break and all, when it is cut at byte *at*."""
    return sum(line.stop <= at for line in whole.lines)


def rows_table(whole: Whole, cut: Cut, show_text: bool) -> str:
    """One row an event, a run of chunks in one; the same rows wherever the cut is."""
    kept = whole_lines(whole, cut.at)
    count = len(whole.rows) + whole.below
    edge = next((place for place, row in enumerate(whole.rows) if row.last_line > kept), len(whole.rows))
    last = edge if edge < len(whole.rows) and whole.rows[edge].first_line < kept else edge - 1  # of which something is left
    drawn = _window(count, edge)
    columns = [Column("seq", 54, "xp-n"), Column("", 14), Column("", 14), Column(say("b4_col_type"), 152),
               Column(say("b4_col_detail"), 98), Column(say("b4_col_state"), 64), Column(say("b4_col_adds"), 160)]
    open_turn, open_step = (any(closer.closes == what for closer in cut.closers) for what in ("turn", "step"))
    nesting = _nesting(whole.rows)
    rows = []
    for place in drawn:
        adds = td(_closer_cell(cut.closers, place - edge, place == drawn[-1]), **_dashes(cut.closers, place - edge))
        if place >= len(whole.rows):
            rows.append(tr(*[td()] * 6, adds))
            continue
        row = whole.rows[place]
        state, off = _state(row, kept, cut.at > whole.lines[kept].start if kept < len(whole.lines) else False)
        turn, step = (_piece(*nested, hidden=off, still_open=place == last and still)
                      for nested, still in zip(nesting[place], (open_turn, open_step), strict=True))
        rows.append(tr(td(_seqs(row), "xp-n xp-m xp-hc"), turn, step, td(_type(row), "xp-m"),
                       td(excerpt(_detail(row, show_text), 13)), td(f'<span class="xp-tag">{esc(state)}</span>'), adds,
                       classes="is-off" if off else "", now=place == last))
    if len(drawn) < count:
        rows = [_rest(drawn.start, "b4_rows_above"), *rows, _rest(count - drawn.stop, "b4_rows_below")]
    return table(columns, rows)


def _window(count: int, edge: int) -> range:
    if count <= WINDOW + 2:
        return range(count)
    first = min(max(0, edge - WINDOW // 2), count - WINDOW)
    return range(first, first + WINDOW)


def _rest(count: int, words: str) -> str:
    return tr(td(esc(say(words, n=count)), "xp-q", colspan=7))


def _state(row: Row, kept: int, torn: bool) -> tuple[str, bool]:
    """The state of a row in words, and whether nothing of it is left."""
    left = min(max(kept - row.first_line, 0), row.lines)
    if left == row.lines:
        return say("b4_kept"), False
    if left:
        return say("b4_part", left=left, of=row.lines), False
    return say("b4_torn" if torn and kept == row.first_line else "b4_off"), True


def _nesting(rows: Sequence[Row]) -> list[tuple[tuple[bool, bool, bool], tuple[bool, bool, bool]]]:
    """For each row, for turn and step: whether it is inside, the first, the last."""
    found, inside = [], {"turn": False, "step": False}
    for row in rows:
        kind = row.events[0].type if row.events else ""
        pieces = []
        for what in ("turn", "step"):
            inside[what] = inside[what] or kind == f"{what}/start"
            pieces.append((inside[what], kind == f"{what}/start", kind == f"{what}/end"))
            inside[what] = inside[what] and kind != f"{what}/end"
        found.append((pieces[0], pieces[1]))
    return found


def _piece(inside: bool, first: bool, last: bool, *, hidden: bool, still_open: bool) -> str:
    return bracket(first, last, still_open) if inside and not hidden else td("", "xp-kc")


def _seqs(row: Row) -> str:
    if not row.events:
        return "–"
    first, last = row.events[0].seq, row.events[-1].seq
    return f'<span class="xp-x">{first if first == last else f"{first}–{last}"}</span>'


def _type(row: Row) -> str:
    if not row.events:
        return _ink("structure", say("b4_header"))
    kind = row.events[0].type
    return _ink(GLYPHS.get(kind, "structure"), kind)


def _ink(name: Role, words: str, classes: str = "xp-x") -> str:
    letter, glyph = ROLES[name]
    sign = f'<span class="xp-g" aria-hidden="true">{glyph}</span>'
    return f'<span class="xp-{letter}">{sign} {excerpt(words, 17, classes)}</span>'


def _detail(row: Row, show_text: bool) -> str:
    """What the event is about, in a word or two."""
    if not row.events:
        return ""
    if row.events[0].type == "assistant/chunk":
        return f"×{len(row.events)}"
    event = row.events[0]
    data = event.read()
    family = event.type.split("/")[0]
    if event.type == "turn/end":
        return str(field(field(data, "reason"), "kind"))
    if family in ("turn", "step"):
        return say("b4_turn" if family == "turn" else "b4_step", number=field(data, family))
    if event.type == "tool/call":
        return f"{field(data, 'callId')} {field(data, 'name')}"
    if event.type == "request/header":
        return str(field(data, "reason"))
    message = data if event.type == "user/message" else field(data, "message")
    calls = [str(block.get("id")) for block in blocks(message) if block.get("type") == "tool-call"]
    if calls:
        return "▸ " + " ▸ ".join(calls)
    text = _text(message)
    said = text if show_text else say("b4_chars", n=len(text)) if text else ""
    return f"{answered_call(data)}: {said}" if event.type == "tool/result" else said


def _text(message: object) -> str:
    inner = [part for block in blocks(message) for part in (blocks(block) if block.get("type") == "tool-result" else [block])]
    return " ".join(str(part.get("text", "")) for part in inner if part.get("type") == "text")


# What recovery adds

def _dashes(closers: Sequence[Closer], at: int) -> dict[str, str]:
    return {"style": DASHED} if 0 <= at < len(closers) else {}


def _closer_cell(closers: Sequence[Closer], at: int, bottom: bool) -> str:
    """The closer that stands *at* rows below the cut; on the last row there is a word for those that find no row."""
    if not 0 <= at < len(closers):
        return ""
    if bottom and at < len(closers) - 1:
        return esc(say("b4_closers_more", n=len(closers) - at))
    closer = closers[at]
    seq = f'<span class="xp-m">{number(closer.event.seq)}</span>'
    if closer.closes != "call":
        reason = field(field(closer.event.read(), "reason"), "kind")
        return f'{seq} <span class="xp-m xp-s">{esc(closer.event.type)}</span> {esc(reason or "")}'
    words = say("b4_unknown_short" if closer.unknown else "b4_not_started")
    return f'{seq} {_ink("result", closer.call_id, "xp-m")} {esc(words)}'
