"""A log that is cut, what recovery makes of it, and what stays unclaimed: the picture of lab B4's explorer."""
from labsupport.workbench.copies import Handled, line_count
from labsupport.workbench.cuts import Closer, Cut
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
from labsupport.workbench.pictures.trimmed import quoted
from labsupport.workbench.pictures.truncation_rows import Whole, rows_table, whole_lines
from labsupport.workbench.text import say

SHOWN_CALLS = 2
BEFORE, AFTER = 18, 40
"""Characters of the file that are shown before and behind the cut: two lines of the box."""


def truncation_picture(whole: Whole, cut: Cut, handled: Handled, show_text: bool = False) -> str:
    """The rows of *whole* on the left, with *cut* through them and the closers where seq goes on; on the right what is not
    claimed, the bytes at the cut, and the file as inspect and load leave it, which *handled* has tried.

    The same rows and boxes at every cut. Contents of messages are drawn with *show_text* only, and so are the bytes.
    """
    right = "\n".join([
        heading(say("b4_claims")), _box(_claims(cut), 182, " is-claim" if any(c.unknown for c in cut.closers) else ""),
        _gap(heading(say("b4_bytes"), _bytes_note(whole, cut))), _box(_bytes(whole, cut, show_text), 58, " xp-m"),
        _gap(heading(say("b4_files"))), _files(handled)])
    left = heading(say("b4_log"), say("b4_log_note")) + rows_table(whole, cut, show_text)
    legend = key(swatch("", say("b4_kept")), swatch("is-off", say("b4_key_off")), swatch("is-add", say("b4_key_add")),
                 swatch("is-line", say("b4_key_cut")), esc(say("b4_key_open")))
    return page(say("b4_label"), sentence(whole, cut, handled), panels(left, right, widths=(556, 248)), legend,
                alert=cut.refused is not None)


def _gap(markup: str) -> str:
    return f'<div style="margin-top:10px">{markup}</div>'


def _box(content: str, height: int, classes: str) -> str:
    breaks = "break-all" if "xp-m" in classes else "break-word"
    return f'<div class="xp-box{classes}" style="height:{height:d}px;overflow:hidden;word-break:{breaks}">{content}</div>'


# The sentence

def sentence(whole: Whole, cut: Cut, handled: Handled) -> str:
    """All that the picture says at this cut, in words."""
    kept, size = whole_lines(whole, cut.at), len(whole.data)
    torn = cut.torn.size if cut.torn else 0
    gap = say("b4_gap")
    if cut.refused is not None:
        return say("b4_say_refused", n=cut.at, of=whole.lines[0].stop)
    if cut.at == size:
        parts = [say("b4_say_whole", n=kept, size=size)]
    elif torn:
        parts = [say("b4_say_torn", lines=kept, n=torn, line=kept + 1, size=cut.at)]
    else:
        parts = [say("b4_say_cut", n=kept, size=cut.at)]
    parts.append(say("b4_say_kept", last=len(cut.kept) - 1) if cut.kept else say("b4_say_kept_none"))
    if cut.closers:
        parts.append(say("b4_say_added", n=len(cut.closers), what=say("b4_list").join(map(_short, cut.closers))))
    else:
        parts.append(say("b4_say_nothing_open"))
    parts.append(say("b4_say_files" if handled.after != handled.before else "b4_say_files_same", size=len(handled.after)))
    return gap.join(parts)


def _short(closer: Closer) -> str:
    if closer.closes == "call":
        return f"{quoted(closer.call_id, 12)} {say('b4_unknown' if closer.unknown else 'b4_not_started')}"
    return say("b4_turn" if closer.closes == "turn" else "b4_step", number=quoted(str(closer.number), 12))


# What nobody can claim

def _claims(cut: Cut) -> str:
    calls = [closer for closer in cut.closers if closer.closes == "call"]
    if cut.refused is not None:
        return f"<p>{esc(say('b4_claim_refused'))}</p>"
    if not calls:
        return f"<p>{esc(say('b4_claim_turn' if cut.closers else 'b4_claim_none'))}</p>"
    more = len(calls) - SHOWN_CALLS
    shown = [_claim(closer) for closer in (calls if more <= 0 else calls[:SHOWN_CALLS - 1])]
    return "".join(shown) + (f"<p>{esc(say('b4_claim_more', n=more + 1))}</p>" if more > 0 else "")


def _claim(closer: Closer) -> str:
    words = "b4_claim_unknown" if closer.unknown else "b4_claim_not_started"
    tool = closer.tool if len(closer.tool) <= 16 else closer.tool[:15] + "…"
    head = f'<span class="xp-strong">{excerpt(closer.call_id, 8, "")}</span> {esc(closer.code)}'
    return f'<p><span class="xp-m">{head}</span><br>{esc(say(words, tool=tool, seq=closer.since))}</p>'


# The bytes

def _bytes_note(whole: Whole, cut: Cut) -> str:
    kept = whole_lines(whole, cut.at)
    inside = cut.at - (whole.lines[kept - 1].stop if kept else 0)
    if not inside:
        return say("b4_bytes_end", n=kept)
    line = whole.lines[kept]
    return say("b4_bytes_in", line=kept + 1, n=inside, of=line.stop - line.start)


def _bytes(whole: Whole, cut: Cut, show_text: bool) -> str:
    """The last bytes that are left and the first that are gone, with the cut between them."""
    kept = whole_lines(whole, cut.at)
    start = whole.lines[kept - 1].stop if kept else 0
    if cut.at == start and kept:
        start = whole.lines[kept - 1].start
    line_end = next((line.stop for line in whole.lines if line.stop > cut.at), len(whole.data))
    left, gone = whole.data[start:cut.at], whole.data[cut.at:line_end]
    if not show_text:
        return esc(say("b4_bytes_hidden", left=len(left), n=len(gone)))
    before, behind = (part.decode("utf-8", "backslashreplace") for part in (left, gone))
    before = before if len(before) <= BEFORE else "…" + before[1 - BEFORE:]
    behind = behind if len(behind) <= AFTER else behind[:AFTER - 1] + "…"
    line = '<span style="border-left:2px solid var(--xp-mark);margin:0 1px" aria-hidden="true"></span>'
    here = f'<span class="xp-vh">{esc(say("b4_cut_here"))}</span>'
    return f'<bdi>{esc(before)}</bdi>{line}{here}<del class="xp-q">{esc(behind)}</del>'


# The file

def _files(handled: Handled) -> str:
    columns = [Column("", 86), Column(say("b4_col_bytes"), 54, "xp-n"), Column(say("b4_col_lines"), 44, "xp-n"),
               Column(say("b4_col_events"), 64, "xp-n")]
    seen, loaded = (number(len(log.events)) if log else say("b4_refused") for log in (handled.seen, handled.loaded))
    return table(columns, [
        _file(say("b4_file_cut"), handled.before, "–"), _file("inspect", handled.inspected, seen),
        _file("load", handled.after, loaded), _file(say("b4_file_again"), handled.again, loaded),
        _file(say("b4_file_beside"), handled.kept, "–")])


def _file(name: str, data: bytes, events: str) -> str:
    return tr(th(esc(name)), td(number(len(data)), "xp-n"), td(number(line_count(data)), "xp-n"), td(esc(events), "xp-n"))
