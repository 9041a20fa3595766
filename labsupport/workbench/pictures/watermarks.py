"""The watermark picture of lab B3: the log, and several views of it side by side as of one event."""
from typing import Any

from labsupport.lossless import js_json
from labsupport.sessionlog.json_text import field
from labsupport.workbench.log_views import LogViews
from labsupport.workbench.pictures.base import Column, esc, excerpt, key, number, page, panels, percent, table, td, th, tr
from labsupport.workbench.pictures.scrubber_cells import panel_head
from labsupport.workbench.pictures.scrubber_log import log_panel
from labsupport.workbench.pictures.trimmed import quoted, shortened
from labsupport.workbench.text import say
from labsupport.workbench.watermarks import UnitViews

FIELDS = 4
"""Names of a view that are drawn; of one that has more, the first."""

NAME_ROOM, ROOM = 14, 12
MARKS = {"changed": "◆", "inside": "◇", "same": "=", "passed": "·", "failed": "×"}
STATES = {"changed": "b3_changed", "inside": "b3_inside", "same": "b3_same", "passed": "b3_passed", "failed": "b3_failed"}
KEY = {"changed": "b3_key_changed", "inside": "b3_key_inside", "same": "b3_key_same", "passed": "b3_key_passed"}
SAID = {"changed": "b3_say_changed", "inside": "b3_say_inside", "same": "b3_say_same", "passed": "b3_say_passed",
        "failed": "b3_say_failed"}


def watermarks_picture(views: LogViews, units: UnitViews, seq: int, *, show_text: bool = False) -> str:
    """The log on the left; on the right every view before event *seq* and as of it, and what the event was to each.

    The same rows at every seq. Contents of messages are drawn with *show_text* only.
    """
    if not views.events:
        return page(say("b3_label"), say("scrub_no_events"))
    columns = [Column(say("b3_view"), 110), Column(say("b3_before"), 98), Column(say("scrub_as_of", seq=seq), 98, "xp-mk"),
               Column(say("b3_event_was"), 102)]
    rows = [row for unit in units.units for row in _unit(units, unit.key, seq)]
    right = panel_head(say("b3_views"), seq, say("b3_event", type=shortened(views.events[seq].type, 22))) + table(columns, rows)
    legend = [f'<span aria-hidden="true">{MARKS[state]}</span> {esc(say(words))}' for state, words in KEY.items()]
    return page(say("b3_label"), sentence(units, seq), panels(log_panel(views, seq, show_text), right, widths=(396, 408)),
                key(*legend, esc(say("b3_key_lane"))))


def sentence(units: UnitViews, seq: int) -> str:
    """What event *seq* was to each view, in words."""
    keys = [unit.key for unit in units.units]
    parts = []
    for state, words in SAID.items():
        named = [quoted(key, 24) for key in keys if _state(units, key, seq) == state]
        if named:
            parts.append(say(words, keys=say("scrub_comma").join(named)))
    at = say("b3_say_at", seq=seq, type=quoted(units.events[seq].type, 40))
    return at + say("b3_say_next").join(parts) + say("b3_say_end")


def _state(units: UnitViews, key: str, seq: int) -> str:
    """What the event was to the view: as `UnitViews.at` has it, told apart by whether a reader sees the change."""
    state = "failed" if units.failed(key, seq) else units.at(key, seq)
    return "inside" if state == "changed" and units.fields(key, seq) == units.fields(key, seq - 1) else state


def _unit(units: UnitViews, key: str, seq: int) -> list[str]:
    """The rows of one view: its head with the lane of its changes, and a row for each of its names."""
    state = _state(units, key, seq)
    changed = state == "changed"
    mark = (f'<span class="xp-tag{" xp-strong" if changed else " xp-q"}"><span class="xp-g" aria-hidden="true">{MARKS[state]}'
            f'</span> {esc(say(STATES[state]))}</span>')
    head = tr(th(excerpt(shortened(key, NAME_ROOM), NAME_ROOM, "xp-m xp-strong")),
              td(_lane(units, key, seq), "xp-b", colspan=2), td(mark), classes="is-first")
    before, now = units.fields(key, seq - 1), units.fields(key, seq)
    rows = []
    for name in units.names(key)[:FIELDS]:
        old, new = _value(before.get(name)), _value(now.get(name))
        differs = changed and before.get(name) != now.get(name)
        rows.append(tr(th(excerpt(shortened(name, NAME_ROOM), NAME_ROOM, "xp-m xp-q")),
                       td(excerpt(old, ROOM, "xp-m xp-q")),
                       td(excerpt(new, ROOM, "xp-m xp-strong" if differs else "xp-m")),
                       td(f'<span aria-hidden="true">{MARKS["changed"]}</span>' if differs else "")))
    return [head, *rows]


def _lane(units: UnitViews, key: str, seq: int) -> str:
    """A tick for every event of the log that changes the view *key*, and the slider's line."""
    seqs, last = units.changes[key], max(1, len(units.events) - 1)
    ticks = "".join(f'<s style="left:{percent(at, last)}"></s>' for at in seqs)
    said = say("b3_changes", n=sum(at <= seq for at in seqs), of=len(seqs))
    line = f'<b style="left:{percent(seq, last)}"></b>'
    return f'<span class="xp-bar xp-s" aria-hidden="true"><em></em>{ticks}{line}</span><span class="xp-vh">{esc(said)}</span>'


def _value(value: Any) -> str:
    """A value of a view in a few letters; of calls the status of the latest, and how many others there are."""
    if value is None:
        return "–"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return number(value)
    if isinstance(value, str):
        return shortened(value, ROOM)
    statuses = [field(one, "status") or one for one in value.values()] if isinstance(value, dict) else []
    if statuses and all(isinstance(status, str) for status in statuses):
        return shortened(statuses[-1] + (f" +{len(statuses) - 1}" if len(statuses) > 1 else ""), ROOM)
    return shortened(js_json(value), ROOM)
