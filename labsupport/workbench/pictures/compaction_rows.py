"""The rows of the compaction diff: the surface before, and on the same rows what the model reads afterwards (lab B5)."""
from labsupport.workbench.compactions import Compactions, Made, Node, Tried
from labsupport.workbench.pictures.base import Column, bracket, esc, number, table, td, tr
from labsupport.workbench.pictures.scrubber_cells import (
    ROLE_KEYS,
    TYPE_ROLES,
    glyph,
    inked,
    is_replacement,
    message_parts,
)
from labsupport.workbench.text import say

ROWS = 17
"""Rows of a surface that is too long to be drawn whole: around both edges of the range, and lines that count the rest."""

ROOM_BEFORE, ROOM_AFTER = 21, 28


def shown_places(count: int, first: int, last: int, size: int = ROWS) -> list[int | range]:
    """Which of *count* rows are drawn, and between them the ranges that are left out: always *size* lines, or all rows.

    The rows around *first* and *last*, the edges, are in sight:

    >>> shown_places(30, 0, 20, 9)
    [0, 1, 2, 3, 4, range(5, 19), 19, 20, range(21, 30)]
    """
    if count <= size:
        return list(range(count))
    first, last = min(first, last), max(first, last)
    drawn = {place for edge in (first, last) for place in (edge, edge - 1) if place >= 0}
    grow = max(first + 1, 1)
    while len(lines := _with_gaps(drawn, count)) < size:
        while grow in drawn and grow < count:
            grow += 1
        drawn.add(grow if grow < count else max(place for place in range(count) if place not in drawn))
    return lines


def _with_gaps(drawn: set[int], count: int) -> list[int | range]:
    lines: list[int | range] = []
    at = 0
    for place in [*sorted(drawn), count]:
        if place > at:
            lines.append(range(at, place))
        if place < count:
            lines.append(place)
        at = place + 1
    return lines


def rows_table(tries: Compactions, it: Tried, show_text: bool) -> str:
    """Left the surface before the compaction, right after it; the same rows, and the same number, wherever the range is."""
    nodes = tries.nodes
    lines = shown_places(len(nodes), it.first, it.last)
    spanned = [line for line in lines if _inside(line, it)] if it.made is not None else []
    body = []
    for line in lines:
        if it.made is not None and line in spanned:
            after = td(_summary(it.made, len(spanned)), "xp-sum", rowspan=len(spanned)) if line == spanned[0] else ""
        else:
            after = td("" if isinstance(line, range) else _after(nodes[line], show_text), "xp-after")
        body.append(_gap(line, it, after) if isinstance(line, range) else _row(tries, it, line, after, show_text))
    widest = max(34, 7 * max(len(str(node.seq)) for node in nodes) + 13)
    columns = [Column(say("b5_col_cut"), 40, "xp-n"), Column("", 12), Column("seq", widest, "xp-n"),
               Column(say("scrub_col_role"), 84), Column(say("b5_col_before"), 212 - widest),
               Column(say("b5_col_est"), 48, "xp-n"), Column(say("b5_col_state"), 72),
               Column("", 20), Column(say("b5_col_after" if spanned else "b5_col_same"), 344)]
    return table(columns, body)


def _inside(line: int | range, it: Tried) -> bool:
    return it.first <= (line if isinstance(line, int) else line.start) <= it.last


def _row(tries: Compactions, it: Tried, place: int, after: str, show_text: bool) -> str:
    node, inside = tries.nodes[place], it.first <= place <= it.last
    off, bad = inside and it.made is not None, it.edge is not None and it.edge.cut == place + 1
    legal = "–" if tries.cuts[place + 1] else "×"
    words = f'<span class="xp-vh">{esc(say("b5_cut_legal" if tries.cuts[place + 1] else "b5_cut_pair"))}</span>'
    cut = f'<span class="xp-m{" xp-err" if bad else ""}"><span aria-hidden="true">{legal}</span>{words}</span>'
    piece = bracket(place == it.first, place == it.last) if inside else td("", "xp-kc")
    classes = "is-off" if off else "is-cutbad" if bad or (it.refused == "tail" and place == it.tail - 1) else ""
    return tr(td(cut, "xp-n xp-q"), piece, td(f'<span class="xp-x">{node.seq}</span>', "xp-n xp-m"), td(role_of(node)),
              td(message_parts(node.message, ROOM_BEFORE, show_text)), td(number(node.estimated), "xp-n xp-q"),
              td(_state(it, node, place, inside), "xp-q" if off else ""), td("", "xp-gut xp-hc"), after, classes=classes)


def _state(it: Tried, node: Node, place: int, inside: bool) -> str:
    if it.edge is not None and node.seq in (it.edge.call, it.edge.result):
        return f'<span class="xp-err">{esc(say("b5_state_cut"))}</span>'
    if it.refused == "tail" and inside and place >= it.tail:
        return f'<span class="xp-err">{esc(say("b5_state_tail"))}</span>'
    if inside:
        return esc(say("b5_state_shadowed" if it.made is not None else "b5_state_range"))
    return esc(say("b5_state_tail" if place >= it.tail else "b5_state_kept"))


def role_of(node: Node) -> str:
    """The role of *node*; a replacement is named as what it is."""
    words = "b5_replacement" if is_replacement(node.event) else ROLE_KEYS[TYPE_ROLES[node.event.type]]
    return inked(node.event, esc(say(words)))


def _after(node: Node, show_text: bool) -> str:
    return (f'<span class="xp-m xp-w">{node.seq}</span> <span class="xp-w2">{role_of(node)}</span> '
            f'{message_parts(node.message, ROOM_AFTER, show_text)}')


def _summary(made: Made, lines: int) -> str:
    """The one node in the place of the range; below it, where there is room, what became of the others."""
    node, shadowed = made.checkpoint, made.result.shadowed_seqs
    letter, sign = glyph(node.event)
    head = f'<span class="xp-{letter}"><span class="xp-g" aria-hidden="true">{sign}</span> {esc(say("b5_summary"))}</span>'
    costs = say("b5_costs", estimated=node.estimated, real=node.real)
    ends = say("b5_replaces", start=shadowed[0], end=shadowed[-1])
    box = (f'<div class="xp-box is-sum">{head} <span class="xp-m">{node.seq}</span> {esc(ends)} '
           f'<span class="xp-q">{esc(costs)}</span></div>')
    gone = say("b5_gone", n=len(shadowed), tokens=made.result.shadowed_tokens)
    return box + (f'<p class="xp-q xp-gone">{esc(gone)}</p>' if lines > 1 else "")


def _gap(rest: range, it: Tried, after: str) -> str:
    words, inside = say("b5_more_nodes", n=len(rest)), it.first <= rest.start <= it.last
    piece = bracket(False, False) if inside else td("", "xp-kc")
    off = inside and it.made is not None
    rest_of_row = (td(), td(esc(words), "xp-q", colspan=4), td("", "xp-gut xp-hc"), after)
    return tr(td(), piece, *rest_of_row, classes="is-off" if off else "")

