"""A fork behind any event: the parent's log, and beside it the child, or why there is none (lab B8)."""
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from labsupport.errors import ForkError
from labsupport.sessionlog import Session, SessionEvent, SessionHeader
from labsupport.sessionlog.json_text import field
from labsupport.sessionlog.lineage import compaction_locks
from labsupport.workbench.log_views import LogViews
from labsupport.workbench.pictures.base import (
    Column,
    esc,
    excerpt,
    heading,
    key,
    number,
    page,
    panels,
    swatch,
    table,
    td,
    th,
    tr,
)
from labsupport.workbench.pictures.fork_rows import rows_table
from labsupport.workbench.pictures.scrubber_cells import (
    ROLE_KEYS,
    TYPE_ROLES,
    inked,
    is_replacement,
    message_parts,
    part_note,
    window,
)
from labsupport.workbench.pictures.trimmed import quoted, shortened
from labsupport.workbench.text import say

SURFACE_ROWS, ROOM = 7, 24
FIELDS = {"id": "b8_own", "parentSession": "b8_own", "seedLength": "b8_own", "delegationDepth": "b8_taken",
          "agentPreset": "b8_taken", "cwd": "b8_taken"}
"""Fields of a header, and whether a fork takes them over."""

Outcome = Session | ForkError
"""The child of a fork, or why there is none."""


def fork_picture(views: LogViews, legal: Collection[int], parent: SessionHeader, seq: int, outcome: Outcome,
                 show_text: bool = False) -> str:
    """The log of *parent* on the left with its *legal* boundaries; on the right what a fork behind event *seq* gives.

    The same rows at every boundary. What messages say is drawn with *show_text* only.
    """
    if not views.events:
        return page(say("b8_label"), say("b8_no_events"))
    child = outcome if isinstance(outcome, Session) else None
    left = heading(say("b8_parent"), parent_note(parent)) + rows_table(views, legal, seq, show_text)
    right = [_headers(parent, child), _rights(views.events[:seq + 1], child), _surface(views, child, show_text)]
    stacked = '<div style="display:grid;gap:10px">' + "".join(f"<div>{panel}</div>" for panel in right) + "</div>"
    legend = key(f"✓ {esc(say('b8_key_legal'))}", swatch("is-line", say("b8_key_line")), swatch("is-off", say("b8_key_off")))
    return page(say("b8_label"), sentence(views, seq, outcome), panels(left, stacked, widths=(440, 364)), legend,
                alert=child is None)


def parent_note(parent: SessionHeader) -> str:
    """The parent's id, short."""
    return shortened(parent.id, 24)


# The sentence

def sentence(views: LogViews, seq: int, outcome: Outcome) -> str:
    """All that the picture says at this boundary, in words."""
    event = views.events[seq]
    if isinstance(outcome, ForkError):
        return "".join(_refusal(views, seq, outcome))
    begins = say("b8_say_child", seq=seq, type=quoted(event.type, 30), child=quoted(outcome.id, 30),
                 n=outcome.header.seed_length)
    ends = say("b8_say_seed_ended" if event.type == "session/end-seed" else "b8_say_end_seed")
    parts = [begins + ends, say("b8_say_surface", n=len(outcome.derive_messages()))]
    stale = compaction_locks(outcome.events).stale
    if stale:
        parts.append(say("b8_say_stale", seq=stale[-1]))
    return say("b8_gap").join(parts)


def _refusal(views: LogViews, seq: int, error: ForkError) -> Iterator[str]:
    yield say("b8_say_refused", seq=seq, type=quoted(views.events[seq].type, 30),
              turn=quoted(str(views.rows[views.row_at(seq)].place.turn), 8))
    waiting = [quoted(slot.call_id, 12) for slot in views.waiting(seq)]
    yield say("b8_say_waiting", calls=say("scrub_comma").join(waiting[:3] + ["…"] * (len(waiting) > 3))) if waiting else say(
        "b8_say_rest")
    yield say("b8_say_no_legal") if error.last_legal is None else say("b8_say_last_legal", seq=error.last_legal)


# The child

def _headers(parent: SessionHeader, child: Session | None) -> str:
    """Both headers, field by field."""
    ours, theirs = parent.to_json(), {} if child is None else child.header.to_json()
    columns = [Column("", 120), Column(say("b8_col_parent"), 74), Column(say("b8_col_child"), 124), Column("", 46)]
    rows = [tr(th(name, "xp-m"), td(_value(ours.get(name), 9)), td(_value(theirs.get(name), 16)),
               td(esc(say(words)) if child is not None else "", "xp-q")) for name, words in FIELDS.items()]
    return heading(say("b8_header"), say("b8_none" if child is None else "b8_header_note")) + table(columns, rows)


def _value(value: Any, room: int) -> str:
    return "–" if value is None else excerpt(shortened(str(value), room), room, "xp-m")


def _rights(history: Sequence[SessionEvent], child: Session | None) -> str:
    """What *history*, the events up to the boundary, tells of, and what the child has of it."""
    latest = next((event.read() for event in reversed(history) if event.type == "request/header"), None)
    header = field(latest, "header")
    tools = [str(field(tool, "name")) for tool in field(header, "tools") or ()]
    approvals = sum(event.type == "approval/decided" for event in history)
    locks = compaction_locks(history)
    started = max([-1 if locks.live is None else locks.live, *locks.stale])
    told = [("b8_tools", ", ".join(tools) or "–", "b8_tools_own"),
            ("b8_approvals", number(approvals), "b8_approvals_own"),
            ("b8_model", str(field(field(header, "config"), "model") or "–"), "b8_model_own"),
            ("b8_lock", "–" if started < 0 else say("b8_lock_open", seq=started),
             "b8_lock_none" if started < 0 else "b8_lock_stale")]
    columns = [Column("", 68), Column(say("b8_col_history"), 138), Column(say("b8_col_has"), 158)]
    rows = [tr(th(esc(say(what))), td(excerpt(shortened(copied, 18), 18, "")),
               td("–" if child is None else esc(say(has)))) for what, copied, has in told]
    return heading(say("b8_rights"), say("b8_none") if child is None else "") + table(columns, rows)


def _surface(views: LogViews, child: Session | None, show_text: bool) -> str:
    """The messages that the child begins with, the latest when there are many."""
    nodes = [] if child is None else list(child.surface.nodes)
    drawn = window(len(nodes), len(nodes) - 1, SURFACE_ROWS, 0)
    rows = []
    for node in nodes[drawn.start:drawn.stop]:
        event = views.events[node]
        words = "b8_replacement" if is_replacement(event) else ROLE_KEYS[TYPE_ROLES[event.type]]
        rows.append(tr(th(number(node), "xp-n xp-m"), td(inked(event, esc(say(words)))),
                       td(message_parts(views.messages[node], ROOM, show_text))))
    rows += [tr(td("", colspan=3))] * (min(SURFACE_ROWS, len(views.order)) - len(rows))
    columns = [Column("seq", 40, "xp-n"), Column(say("scrub_col_role"), 106), Column(say("scrub_col_message"), 218)]
    note = part_note(say("scrub_nodes", n=len(nodes)), drawn, len(nodes)) if child is not None else say("b8_none")
    return heading(say("b8_surface"), note) + table(columns, rows)
