"""The log scrubber: one watermark, and the log, the surface, the transcript and two projections as of it (labs B1 and B2)."""
from labsupport.workbench.log_views import LogViews, span_at
from labsupport.workbench.pictures.base import esc, key, page, panels
from labsupport.workbench.pictures.scrubber_log import log_panel
from labsupport.workbench.pictures.scrubber_status import status_panel, status_words
from labsupport.workbench.pictures.scrubber_surface import surface_panel
from labsupport.workbench.pictures.scrubber_transcript import transcript_panel
from labsupport.workbench.pictures.trimmed import quoted
from labsupport.workbench.text import say

LEGEND = (("u", "●", "role_user"), ("a", "■", "role_assistant"), ("c", "▸", "scrub_key_call"), ("r", "◃", "scrub_key_result"),
          ("u", "◆", "scrub_key_replacement"), ("s", "·", "scrub_key_structure"), ("q", "○", "scrub_later"))


def scrubber_picture(views: LogViews, seq: int, *, show_text: bool = False) -> str:
    """The four views of a log as of event *seq*.

    Every row has its place at each *seq*; of a long log those around the watermark are drawn. Contents are drawn with
    *show_text* only. The picture fits a JupyterLab whose file browser is open on a screen of 1280 × 800, below its slider.
    """
    if not views.events:
        return page(say("scrub_label"), say("scrub_no_events"))
    right = [surface_panel(views, seq, show_text), transcript_panel(views, seq, show_text), status_panel(views, seq)]
    stacked = '<div style="display:grid;gap:10px">' + "".join(f"<div>{panel}</div>" for panel in right) + "</div>"
    legend = [f'<span class="xp-{letter}" aria-hidden="true">{sign}</span> {esc(say(words))}' for letter, sign, words in LEGEND]
    return page(say("scrub_label"), sentence(views, seq), panels(log_panel(views, seq, show_text), stacked, widths=(396, 408)),
                key(*legend, esc(say("scrub_key_open"))))


def sentence(views: LogViews, seq: int) -> str:
    """All that the four views say, in words."""
    event, row = views.events[seq], views.rows[views.row_at(seq)]
    kind = event.type if row.count == 1 else (
        f"{event.type}, {say('scrub_chunks_part', seen=seq - row.first + 1, count=row.count)}")
    parts = [say("scrub_at", seq=seq, type=quoted(kind, 48)), say("scrub_said_events", n=seq + 1),
             say("scrub_said_model", n=views.model_sees(seq))]
    shadowed = sum(by <= seq for by in views.shadowed_by.values())
    if shadowed:
        parts.append(say("scrub_said_shadowed", n=shadowed))
    parts.append(say("scrub_said_person", n=len(views.transcript(seq))))
    return "".join([*parts, _turn(views, seq), _waiting(views, seq)])


def _turn(views: LogViews, seq: int) -> str:
    state, turn = views.turn_states[seq], span_at(views.turns, seq)
    number = quoted(str(state["turn"]), 8)
    if state["status"] == "none":
        return say("scrub_said_no_turn")
    if state["status"] != "running" or turn is None:
        return say("scrub_said_ended", turn=number, status=quoted(status_words(state["status"]), 40))
    step = span_at(views.steps, seq)
    if state["step"] is None or step is None:
        return say("scrub_said_turn", turn=number, since=turn.began)
    return say("scrub_said_step", turn=number, since=turn.began, step=quoted(str(state["step"]), 8), step_since=step.began)


def _waiting(views: LogViews, seq: int) -> str:
    slots = views.waiting(seq)
    if not slots:
        return say("scrub_said_none_waits")
    names = [quoted(slot.call_id, 12) for slot in slots[:3]] + (["…"] if len(slots) > 3 else [])
    return say("scrub_said_waiting", calls=say("scrub_comma").join(names))
