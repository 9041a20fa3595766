"""What the four panels of the scrubber share: the rows that are drawn, roles of events, and what a message says."""
from typing import Any

from labsupport.sessionlog import SessionEvent
from labsupport.sessionlog.events import Replace
from labsupport.sessionlog.recovery import blocks
from labsupport.workbench.pictures.base import ROLES, call, esc, excerpt, number, td, th, tr
from labsupport.workbench.pictures.trimmed import shortened
from labsupport.workbench.text import say

TYPE_ROLES = {"user/message": "user", "assistant/message": "assistant", "tool/call": "call", "tool/result": "result"}
ROLE_KEYS = {"user": "role_user", "assistant": "role_assistant", "result": "role_result"}


def window(count: int, focus: int, size: int, below: int, first: int | None = None) -> range:
    """Which of *count* rows are drawn: *size* of them at every position, *below* of them under *focus*; *first* stays in sight.

    >>> window(5, 2, 7, 2), window(40, 20, 7, 2), window(40, 0, 7, 2), window(40, 20, 7, 2, first=10)
    (range(0, 5), range(16, 23), range(0, 7), range(10, 17))
    """
    top = focus + below + 1 - size if first is None else min(first, focus + below + 1 - size)
    top = max(0, min(top, count - size))
    return range(top, min(count, top + size))


def as_of(seq: int) -> str:
    """The watermark, as each panel names it."""
    return say("scrub_as_of", seq=seq)


def panel_head(title: str, seq: int, note: str) -> str:
    """The title of a panel, the watermark in the slider's colour, and a quiet *note*."""
    return (f'<h4 class="xp-h">{esc(title)} <span class="xp-mk">{esc(as_of(seq))}</span> '
            f'<span>· {esc(note)}</span></h4>')


def part_note(note: str, drawn: range, count: int) -> str:
    """*note*, and where only part of the rows fits, which."""
    return note if len(drawn) >= count else f"{note} · {say('scrub_part', first=drawn.start + 1, last=drawn.stop, count=count)}"


def later_row(seq: int | None, columns: int) -> str:
    """A row of *columns* that waits for its event: its *seq*, and nothing that is not known yet."""
    mark = f'<span aria-hidden="true">○</span> <span class="xp-vh">{esc(say("scrub_later"))}</span>'
    head = th("" if seq is None else number(seq), "xp-n xp-m xp-q")
    return tr(head, td(mark), *[td()] * (columns - 2), classes="is-later")


def is_replacement(event: SessionEvent) -> bool:
    """Whether *event* stands on the surface in the place of others."""
    return isinstance(event.surface_op, Replace)


def glyph(event: SessionEvent) -> tuple[str, str]:
    """The class and the sign of the role of *event*."""
    if is_replacement(event):
        return "u", "◆"
    return ROLES[TYPE_ROLES.get(event.type, "structure")]


def inked(event: SessionEvent, words: str, classes: str = "") -> str:
    """*words* (markup) in the ink of the role of *event*, after its sign."""
    letter, sign = glyph(event)
    shown = f"xp-{letter} {classes}".strip()
    return f'<span class="{shown}"><span class="xp-g" aria-hidden="true">{sign}</span> {words}</span>'


def message_parts(message: Any, room: int, show_text: bool, names: bool = True) -> str:
    """What *message* says, as much as *room* columns hold: its words, or without *show_text* their length; its calls.

    A call is drawn with its name and id, or with its id alone: without *names*, and where there are several.
    """
    calls = [(_text(block, "name"), shortened(_text(block, "id"), 8))
             for block in blocks(message) if block.get("type") == "tool-call"]
    with_names = names and len(calls) == 1  # several are told apart by their ids
    drawn = [(shortened(name, max(4, room - 3 - len(call_id))) if with_names else "", call_id) for name, call_id in calls]
    costs = [len(name) + len(call_id) + 3 for name, call_id in drawn]
    parts = [words_cell(message_text(message), room - sum(costs), show_text)]
    for at, (name, call_id) in enumerate(drawn):
        if at and sum(costs[:at + 1]) > room:
            parts.append(f'<span class="xp-x xp-q">+{len(drawn) - at}</span>')
            break
        parts.append(call(name, call_id))
    return " ".join(filter(None, parts))


def words_cell(text: str, room: int, show_text: bool) -> str:
    """*text* shortened to *room*, or its length; nothing where there is none, or no room."""
    if not text:
        return ""
    if show_text:
        return excerpt(shortened(text, room), max(room, 1)) if room > 3 else ""
    length = say("scrub_characters", n=len(text))
    return f'<span class="xp-q">{esc(length)}</span>' if room >= len(length) else ""


def message_text(message: Any) -> str:
    """The words of *message*: of its text and reasoning, and of the result that it holds."""
    said: list[str] = []
    for block in blocks(message):
        inner = block.get("content") if block.get("type") == "tool-result" else [block]
        said += [_text(part, "text") for part in inner if isinstance(part, dict)] if isinstance(inner, list) else []
    return " ".join(filter(None, said))


def _text(block: Any, key: str) -> str:
    value = block.get(key)
    return value if isinstance(value, str) else ""
