"""The scrubber's second panel: the surface as of the watermark, with what was replaced struck under its replacement."""
from labsupport.sessionlog import SessionEvent
from labsupport.workbench.log_views import LogViews
from labsupport.workbench.pictures.base import Column, esc, number, role, table, td, th, tr
from labsupport.workbench.pictures.scrubber_cells import (
    ROLE_KEYS,
    TYPE_ROLES,
    inked,
    is_replacement,
    later_row,
    message_parts,
    panel_head,
    part_note,
    window,
)
from labsupport.workbench.text import say

ROWS = 7
ROOM = 19


def surface_panel(views: LogViews, seq: int, show_text: bool) -> str:
    """Every place that is ever on the surface, those around the latest change first of all."""
    positions = {node: at for at, node in enumerate(views.nodes(seq), start=1)}
    focus, first = _touched(views, seq)
    drawn = window(len(views.order), focus, ROWS, 2, first)
    rows = [later_row(at, 5) if at > seq else _row(views, at, seq, positions, show_text)
            for at in views.order[drawn.start:drawn.stop]]
    columns = [Column("seq", 40, "xp-n"), Column("#", 28, "xp-n"), Column(say("scrub_col_role"), 82),
               Column(say("scrub_col_message"), 148), Column(say("scrub_col_state"), 110)]
    note = part_note(say("scrub_nodes", n=len(positions)), drawn, len(views.order))
    return panel_head(say("scrub_surface"), seq, note) + table(columns, rows)


def _touched(views: LogViews, seq: int) -> tuple[int, int]:
    """The last and the first row, by number, that the latest change of the surface was about."""
    latest = max((node for node in views.order if node <= seq), default=None)
    if latest is None:
        return 0, 0
    touched = [at for at, node in enumerate(views.order) if node == latest or views.shadowed_by.get(node) == latest]
    return touched[-1], touched[0]


def _row(views: LogViews, node: int, seq: int, positions: dict[int, int], show_text: bool) -> str:
    event, position = views.events[node], positions.get(node)
    content = message_parts(views.messages[node], ROOM, show_text)
    off = position is None
    place = td("", "xp-n xp-hc") if off else td(number(position or 0), "xp-n xp-q")
    return tr(th(number(node), "xp-n xp-m xp-x" if off else "xp-n xp-m"), place, td(_role(event)), td(content),
              td(f'<span class="xp-tag">{esc(_state(views, event, seq))}</span>'), classes="is-off" if off else "")


def _role(event: SessionEvent) -> str:
    name = TYPE_ROLES[event.type]
    return inked(event, esc(say(ROLE_KEYS[name]))) if is_replacement(event) else role(name)  # type: ignore[arg-type]


def _state(views: LogViews, event: SessionEvent, seq: int) -> str:
    by = views.shadowed_by.get(event.seq)
    if by is not None and by <= seq:
        return say("scrub_shadowed_by", by=by)
    if views.messages[event.seq] is None:
        return say("scrub_empty")
    op = event.surface_op
    return say("scrub_replaces", start=op.start, end=op.end) if is_replacement(event) else ""  # type: ignore[union-attr]
