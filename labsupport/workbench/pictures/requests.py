"""The file beside a request: what is on disk, and which of it the model is sent (chapter 34)."""
from labsupport.miniagent import ContextBudget, Message, UserMessage, estimate_context_chars, message_chars
from labsupport.workbench.pictures.base import Column, esc, heading, key, number, page, panels, swatch, table, td, tr
from labsupport.workbench.pictures.trimmed import message_cell, role_cell
from labsupport.workbench.text import say
from labsupport.workbench.witness import Seen, Watched


def requests_picture(watched: Watched, at: int, *, show_text: bool = False) -> str:
    """Request *at* (from 1) of *watched*: on the left the lines of the file, on the right what of them is sent.

    Every line has its row from the start, so nothing jumps when *at* moves. Contents are drawn with *show_text* only. The two
    panels together fit a JupyterLab whose file browser is open on a screen of 1280 pixels.
    """
    seen = watched.seen[at - 1]
    start = len(seen.file) - len(seen.sent)
    starts = {first for first, _ in ContextBudget(watched.file).units}
    left, right = [], []
    for index, message in enumerate(watched.file):
        first, now = index in starts, index == len(seen.file) - 1
        left.append(_line(message, index, first, now, index < len(seen.file), show_text))
        right.append(_sent(message, index, first, now, seen, show_text))
    held = heading(say("a3_file"), say("a3_file_note", n=len(seen.file)))
    sent = heading(say("a3_request", at=at), say("a3_request_note", n=len(seen.sent)))
    return page(
        say("a3_label"), _sentence(watched, at, seen, start),
        panels(held + table(_file_columns(), left), sent + table(_request_columns(), right), widths=(392, 412)),
        key(swatch("is-off", say("a3_key_not_sent")), swatch("is-line", say("a3_key_now")), esc(say("a3_key_later")),
            esc(say("a3_key_unit"))))


def _file_columns() -> list[Column]:
    return [Column(say("a3_col_line"), 36, "xp-n"), Column(say("a3_col_role"), 84), Column(say("a3_col_message"), 216),
            Column(say("a3_col_chars"), 56, "xp-n")]


def _request_columns() -> list[Column]:
    return [Column("#", 32, "xp-n"), Column(say("a3_col_role"), 84), Column(say("a3_col_message"), 156),
            Column(say("a3_col_state"), 140)]


def _line(message: Message, index: int, first: bool, now: bool, written: bool, show_text: bool) -> str:
    """The row of the file's line *index* (from 0)."""
    if not written:
        return _later(td(number(index + 1), "xp-n"), first)
    return tr(td(number(index + 1), "xp-n xp-q"), role_cell(message), message_cell(message, 28, show_text),
              td(number(message_chars(message)), "xp-n"), classes=_classes(first), now=now)


def _sent(message: Message, index: int, first: bool, now: bool, seen: Seen, show_text: bool) -> str:
    """The row on the right of line *index*: the same message when it is sent, struck and hatched when it is not."""
    if index >= len(seen.file):
        return _later(td(), first)
    place = index - (len(seen.file) - len(seen.sent))
    sent = place >= 0
    words = "a3_sent" if sent else "a3_question_not_sent" if index == _question(seen) else "a3_not_sent"
    loud = " xp-strong" if words == "a3_question_not_sent" else ""
    return tr(td(number(place + 1) if sent else "", "xp-n xp-q" if sent else "xp-n xp-hc"), role_cell(message),
              message_cell(message, 20, show_text), td(f'<span class="xp-tag{loud}">{esc(say(words))}</span>'),
              classes=_classes(first, not sent), now=now)


def _later(head: str, first: bool) -> str:
    mark = f'<span aria-hidden="true">○</span> <span class="xp-vh">{esc(say("a3_later"))}</span>'
    return tr(head, td(mark), td(), td(), classes=_classes(first, later=True))


def _classes(first: bool, off: bool = False, later: bool = False) -> str:
    return " ".join(name for name, holds in {"is-first": first, "is-off": off, "is-later": later}.items() if holds)


def _question(seen: Seen) -> int:
    """The index of the question that is being answered: the newest user message in the file."""
    return max(index for index, message in enumerate(seen.file) if isinstance(message, UserMessage))


def _sentence(watched: Watched, at: int, seen: Seen, start: int) -> str:
    """All figures of the picture at this request, in words."""
    place, chars = {"at": at, "of": len(watched.seen)}, estimate_context_chars(seen.file)
    parts = [say("a3_at_free", **place) if watched.budget is None else say("a3_at", budget=watched.budget, **place)]
    if start == 0:
        return say("a3_glue").join([*parts, say("a3_all", n=len(seen.file), chars=chars)])
    parts.append(say("a3_part", lines=len(seen.file), chars=chars, n=len(seen.sent),
                     sent_chars=estimate_context_chars(seen.sent)))
    gone = _question(seen) < start
    parts.append(say("a3_left_question", n=start, line=_question(seen) + 1) if gone else say("a3_left", n=start))
    return say("a3_glue").join(parts)
