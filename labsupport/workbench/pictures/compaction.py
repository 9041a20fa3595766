"""The compaction diff: what the model reads before and after, and what the log keeps: the picture of lab B5's explorer."""
from labsupport.workbench.compactions import Compactions, Edge, Made, Tried
from labsupport.workbench.pictures.base import (
    Column,
    esc,
    heading,
    key,
    number,
    page,
    panels,
    percent,
    swatch,
    table,
    td,
    th,
    tr,
)
from labsupport.workbench.pictures.compaction_rows import rows_table
from labsupport.workbench.pictures.trimmed import quoted
from labsupport.workbench.text import say

BOX = 88
"""The height of the summary's box: a longer summary scrolls."""

WHY = 300
"""As much of the words of a refusal is said."""


def compaction_picture(tries: Compactions, it: Tried, show_text: bool = False) -> str:
    """The surface of *tries* and what the range of *it* makes of it, row beside row; below, the summary and four counters.

    The same rows and boxes at every range. What messages say, and the summary, is drawn with *show_text* only.
    """
    below = panels(_summary_box(it, show_text), _counters(tries, it), widths=(360, 440))
    legend = key(swatch("is-off", say("b5_key_off")), *(esc(say(words)) for words in (
        "b5_key_legal", "b5_key_pair", "b5_key_bars")))
    return page(say("b5_label"), sentence(tries, it), rows_table(tries, it, show_text),
                f'<div style="margin-top:10px">{below}</div>', legend, alert=bool(it.refused))


def sentence(tries: Compactions, it: Tried) -> str:
    """All that the picture says of this range, in words."""
    start, end = tries.nodes[it.first].seq, tries.nodes[it.last].seq
    if it.made is not None:
        return _say_done(tries, it, it.made, start, end)
    why = _say_pair(it.edge, start, end) if it.edge is not None else _REFUSALS[it.refused](tries, it, start, end)
    return why + say("b5_gap") + _unchanged(tries, it)


def _say_done(tries: Compactions, it: Tried, made: Made, start: int, end: int) -> str:
    before, after = tries.before, it.after
    said = say("b5_say_done", start=start, end=end, n=it.last - it.first + 1, seq=made.checkpoint.seq,
               nodes=after.nodes, of=before.nodes, estimated=after.estimated, estimated_of=before.estimated, real=after.real,
               real_of=before.real, grows=after.events - before.events, events=after.events)
    return said + say("b5_gap") + say("b5_say_automatic") if it.automatic else said


def _say_backwards(tries: Compactions, it: Tried, start: int, end: int) -> str:
    return say("b5_say_backwards", start=start, end=end)


def _say_tail(tries: Compactions, it: Tried, start: int, end: int) -> str:
    kept = sum(node.estimated for node in tries.nodes[it.tail:])
    if not it.tail:
        return say("b5_say_all_tail", start=start, end=end, n=kept)
    return say("b5_say_tail", start=start, end=end, asked=it.retain, n=kept, seq=tries.nodes[it.tail].seq)


def _say_pair(edge: Edge, start: int, end: int) -> str:
    call_id = quoted(edge.call_id, 12)
    if edge.result is None:
        said = say("b5_say_open", start=start, end=end, call=call_id, seq=edge.call)
    else:
        words = "b5_say_pair_start" if edge.is_start else "b5_say_pair_end"
        said = say(words, start=start, end=end, call=call_id, seq=edge.call, result=edge.result)
    near = say("b5_or").join(f"**{seq}**" for seq in edge.nearby)
    return said + say("b5_gap") + say("b5_say_starts" if edge.is_start else "b5_say_ends", near=near)


def _say_summary(tries: Compactions, it: Tried, start: int, end: int) -> str:
    return say("b5_say_summary", start=start, end=end, n=it.cost, shadowed=it.shadowed)


def _say_empty(tries: Compactions, it: Tried, start: int, end: int) -> str:
    return say("b5_say_empty", start=start, end=end)


def _say_other(tries: Compactions, it: Tried, start: int, end: int) -> str:
    return say("b5_say_other", start=start, end=end, why=quoted(it.why, WHY))


_REFUSALS = {"backwards": _say_backwards, "tail": _say_tail, "summary": _say_summary, "empty": _say_empty,
             "other": _say_other}


def _unchanged(tries: Compactions, it: Tried) -> str:
    """What is left when there is no compaction: the surface as it was, and a log that may have grown."""
    before, grown = tries.before, it.after.events - tries.before.events
    figures = {"nodes": before.nodes, "estimated": before.estimated, "real": before.real, "events": it.after.events}
    return say("b5_say_grown", grows=grown, **figures) if grown else say("b5_say_nothing", **figures)


# The summary

def _summary_box(it: Tried, show_text: bool) -> str:
    if it.made is None:
        words = "b5_summary_refused" if it.refused in ("summary", "empty") else "b5_no_summary"
        note, said = "", f'<span class="xp-q">{esc(say(words))}</span>'
    else:
        note, text = say("b5_read_at", seq=it.made.checkpoint.seq), it.made.text
        lines = text.split("\n") if show_text else [say("b5_characters", n=len(text))]
        said = "<br>".join(f"<bdi>{esc(line)}</bdi>" for line in lines)
    label = say("b5_summary_box")
    style = f"height:{BOX:d}px;overflow:auto;line-height:18px;font-size:12px"
    box = f'<div class="xp-box" style="{style}" tabindex="0" role="region" aria-label="{esc(label)}">{said}</div>'
    return heading(label, note) + box


# The counters

def _counters(tries: Compactions, it: Tried) -> str:
    rows = []
    for name, words in COUNTERS.items():
        before, after = getattr(tries.before, name), getattr(it.after, name)
        rows.append(tr(th(esc(say(words))), td(number(before), "xp-n"), td(number(after), "xp-n xp-strong"),
                       td(_change(after - before), "xp-n"), td(_bars(before, after), "xp-b"), classes="is-first"))
    columns = [Column(say("b5_col_counter"), 166), Column(say("b5_col_then"), 58, "xp-n"),
               Column(say("b5_col_now"), 58, "xp-n"), Column(say("b5_col_change"), 62, "xp-n"), Column("", 88)]
    return table(columns, rows)


COUNTERS = {"events": "b5_count_events", "nodes": "b5_count_nodes", "estimated": "b5_count_estimated", "real": "b5_count_real"}


def _change(by: int) -> str:
    return f"+{number(by)}" if by > 0 else f"−{number(-by)}" if by else "±0"


def _bars(before: int, after: int) -> str:
    """Before, hatched, over after, solid, on a scale that ends a little after the longer one."""
    whole = 1.1 * max(before, after, 1)
    return (f'<span class="xp-bar xp-s"><i class="is-off" style="left:0;width:{percent(before, whole)};top:4px;height:6px"></i>'
            f'<i style="left:0;width:{percent(after, whole)};top:12px;height:6px"></i></span>')
