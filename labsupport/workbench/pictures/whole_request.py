"""One request as the model reads it: its parts in their order, where each is from, and how much of the whole it takes."""
from labsupport.workbench.pictures.base import (
    ROLES,
    Column,
    axis,
    esc,
    excerpt,
    key,
    number,
    page,
    percent,
    round_ticks,
    table,
    td,
    th,
    tr,
)
from labsupport.workbench.pictures.trimmed import quoted, shortened
from labsupport.workbench.text import say
from labsupport.workbench.whole_requests import FIXED, Piece, WholeRequests

ROWS = 20
"""Rows of a request that has more parts than that: its fixed part, a line that counts what is left out, its newest messages."""

KINDS = {"config": ("s", "·", "b6_kind_config"), "section": ("s", "§", "b6_kind_section"),
         "tool": ("c", ROLES["call"][1], "b6_kind_tool"), "opener": ("u", "◆", "b6_kind_opener"),
         "context": ("u", "◆", "b6_kind_context"), "summary": ("u", "◆", "b6_kind_summary"),
         "plugin": ("u", "◆", "b6_kind_plugin"), "user": ("u", ROLES["user"][1], "b6_kind_user"),
         "answer": ("a", ROLES["assistant"][1], "b6_kind_answer"), "result": ("r", ROLES["result"][1], "b6_kind_result")}
"""Of each kind of part its ink, its sign and its word."""
NAMELESS = frozenset({"user", "answer", "plugin", "summary"})
"""The kinds whose names say no more than their seq."""

NAME, SCOPE, VERSION, TEXT = 14, 6, 13, 23
SEQS = 3


def whole_request_picture(requests: WholeRequests, at: int, *, show_text: bool = False) -> str:
    """Request *at* (from 1) of *requests*: a row for each part, from the call config to the newest message.

    The same number of rows at every request, those that it does not need stay empty. Contents are drawn with *show_text* only.
    """
    if not len(requests):
        return page(say("b6_label"), say("b6_no_requests"))
    pieces = requests.pieces(at)
    rows, before, whole = [], 0, requests.longest
    for line in shown(pieces):
        if isinstance(line, Piece):
            rows.append(_row(line, before, whole, show_text))
            before += line.tokens
        else:
            rows.append(_rest(line, before, whole))
            before += sum(piece.tokens for piece in line)
    rows += [tr(th(), *[td()] * 8)] * (min(requests.most, ROWS) - len(rows))
    return page(say("b6_label"), sentence(requests, at), table(_columns(whole, before), rows),
                key(f'<span aria-hidden="true">+</span> {esc(say("b6_key_new"))}', esc(say("b6_key_bar")),
                    esc(say("b6_key_seqs"))))


def shown(pieces: list[Piece], size: int = ROWS) -> list[Piece | list[Piece]]:
    """The lines that are drawn of *pieces*: each of them, or in the middle all those together that do not fit."""
    if len(pieces) <= size:
        return list(pieces)
    first = min(sum(piece.part.kind in FIXED for piece in pieces), size // 2)
    last = len(pieces) - (size - first - 1)
    return [*pieces[:first], pieces[first:last], *pieces[last:]]


def sentence(requests: WholeRequests, at: int) -> str:
    """What the picture says, in words."""
    pieces, rebuilt = requests.pieces(at), requests.rebuilt(at)
    said = say("b6_say_request", at=at, count=len(requests), seq=rebuilt.as_of_seq, n=len(pieces),
               characters=sum(len(piece.text) for piece in pieces), tokens=sum(piece.tokens for piece in pieces))
    if at == 1:
        return said + say("b6_gap") + say("b6_say_first")
    new = [piece for piece in pieces if piece.is_new]
    names = say("scrub_comma").join(dict.fromkeys(_short(piece) for piece in new))
    change = say("b6_say_new", n=len(new), names=names) if new else say("b6_say_none_new")
    gone = requests.gone(at)
    return said + say("b6_gap") + change + (say("b6_gap") + say("b6_say_gone", n=gone) if gone else "")


def _short(piece: Piece) -> str:
    kind = say(KINDS[piece.part.kind][2])
    return kind if piece.part.kind in NAMELESS | {"config"} else f"{kind} {quoted(piece.part.name, NAME)}"


def _columns(whole: int, tokens: int) -> list[Column]:
    scale = axis(whole, round_ticks(whole, 3), (tokens, number(tokens)))
    return [Column(say("b6_col_kind"), 94), Column(say("b6_col_name"), 116), Column(say("b6_col_scope"), 56),
            Column(say("b6_col_version"), 104), Column("seq", 70), Column(say("b6_col_text"), 160),
            Column(say("b6_col_characters"), 52, "xp-n"), Column("tokens", 54, "xp-n"), Column("", 116, "xp-b", scale)]


def _row(piece: Piece, before: int, whole: int, show_text: bool) -> str:
    part = piece.part
    letter, sign, words = KINDS[part.kind]
    new = (f'<span class="xp-mk xp-strong" aria-hidden="true">+</span><span class="xp-vh">{esc(say("b6_new"))}</span>'
           if piece.is_new else "")
    kind = (f'<span style="display:inline-block;width:11px">{new}</span><span class="xp-{letter}">'
            f'<span class="xp-g" aria-hidden="true">{sign}</span> {esc(say(words))}</span>')
    name = "" if part.kind in NAMELESS else excerpt(shortened(part.name, NAME), NAME, "xp-m")
    said = excerpt(shortened(" ".join(piece.text.split()), TEXT), TEXT) if show_text else ""
    loud = " xp-strong" if piece.is_new else ""
    return tr(th(kind), td(name), td(_quiet(part.scope, SCOPE)), td(_quiet(part.version, VERSION)),
              td(esc(seqs(part.seqs)), f"xp-m{loud}"), td(said), td(number(len(piece.text)), "xp-n"),
              td(number(piece.tokens), "xp-n"), td(_bar(letter, before, piece.tokens, whole, piece.is_new), "xp-b"),
              classes="is-first" if part.kind not in FIXED else "")


def seqs(found: tuple[int, ...]) -> str:
    """The events of a part: all of them, or the first ones and how many more.

    >>> seqs((5, 6)), seqs((58, 56, 57, 2, 3))
    ('5 6', '58 +4')
    """
    return " ".join(map(str, found)) if len(found) < SEQS else f"{found[0]} +{len(found) - 1}"


def _quiet(text: str | None, room: int) -> str:
    return "" if not text else excerpt(shortened(text, room), room, "xp-m xp-q")


def _bar(letter: str, before: int, length: int, whole: int, is_new: bool) -> str:
    """The piece's share of the longest request; what the request before had too is hatched."""
    where = f"left:{percent(before, whole)};width:{percent(length, whole)};min-width:2px"
    off = "" if is_new else ' class="is-off"'
    return f'<span class="xp-bar xp-{letter}"><i{off} style="{where}"></i></span>'


def _rest(pieces: list[Piece], before: int, whole: int) -> str:
    """The row that stands for parts that are not drawn."""
    tokens = sum(piece.tokens for piece in pieces)
    is_new = any(piece.is_new for piece in pieces)
    return tr(td(esc(say("b6_more_parts", n=len(pieces))), "xp-q", colspan=6),
              td(number(sum(len(piece.text) for piece in pieces)), "xp-n xp-q"), td(number(tokens), "xp-n xp-q"),
              td(_bar("s", before, tokens, whole, is_new), "xp-b"), classes="is-first")
