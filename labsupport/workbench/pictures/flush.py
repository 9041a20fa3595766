"""What is durable and what is lost where a process is killed, under six flush policies: the picture of lab B7's explorer."""
from collections.abc import Sequence

from labsupport.workbench.flush_measure import Measured
from labsupport.workbench.flush_runs import INTERVAL, Run
from labsupport.workbench.log_views import LogViews, Span
from labsupport.workbench.pictures.base import (
    Column,
    axis,
    esc,
    heading,
    key,
    number,
    page,
    percent,
    round_ticks,
    swatch,
    table,
    td,
    th,
    tr,
)
from labsupport.workbench.pictures.flush_chart import Dot, chart
from labsupport.workbench.pictures.trimmed import quoted, shortened
from labsupport.workbench.text import say

NAMES = {"every_event": "b7_every_event", "on_barriers": "b7_on_barriers", "end_of_step": "b7_end_of_step",
         "end_of_turn": "b7_end_of_turn", "every_ms": "b7_every_ms", "on_flush": "b7_on_flush"}
NOT_MEASURED = Measured()


def policy_words(policy: str) -> str:
    """The policy in the learner's language."""
    return say(NAMES[policy], seconds=INTERVAL / 1000)


def flush_picture(runs: Sequence[Run], views: LogViews, killed: float, policy: str, store: str,
                  measured: Measured = NOT_MEASURED) -> str:
    """One row for each of *runs* with the kill through it, and below them worst loss against cost.

    *views* are of the session that all runs recorded; *policy* is the chosen one. Cost is what was *measured* with *store*,
    and how often was flushed as long as nothing was.
    """
    chosen = next(run for run in runs if run.policy == policy)
    whole = len(views.events)
    columns = [
        Column(say("b7_col_policy"), 168),
        Column("", 376, "xp-b", axis(whole, round_ticks(whole, 5), (killed, say("b7_killed_after", n=int(killed))))),
        Column(say("b7_col_lost"), 46, "xp-n"), Column(say("b7_col_worst"), 54, "xp-n"),
        Column(say("b7_col_flushes"), 60, "xp-n"), Column(say("b7_col_ms"), 56, "xp-n"), Column(say("b7_col_cost"), 140)]
    lanes = [_lane("b7_turns", _spans("b7_turn", views.turns, whole), killed, whole),
             _lane("b7_steps", _steps(views, whole), killed, whole), _lane("b7_tools", _tools(views, whole), killed, whole)]
    rows = [_row(run, killed, run is chosen, measured) for run in runs]
    legend = key(swatch("", say("b7_key_durable")), swatch("is-off", say("b7_key_lost")), esc(say("b7_key_flush")),
                 swatch("is-line", say("b7_key_kill")), esc(say("b7_key_worst")))
    return page(say("b7_label"), _sentence(chosen, views, killed, store, measured), table(columns, [*lanes, *rows]), legend,
                f'<div style="margin-top:12px">{heading(say("b7_chart"), _cost_note(store, measured))}</div>',
                chart([_dot(run, run is chosen, measured) for run in runs], timed=bool(measured.ms)))


def _cost_note(store: str, measured: Measured) -> str:
    return say("b7_chart_ms", store=shortened(store, 20)) if measured.ms else say("b7_chart_count")


def _sentence(run: Run, views: LogViews, killed: float, store: str, measured: Measured) -> str:
    said = [say("b7_say_killed" if killed else "b7_say_none", n=int(killed), of=len(run.events), last=int(killed) - 1,
                policy=policy_words(run.policy)),
            say("b7_say_lost", n=run.lost(killed)), say("b7_say_worst", n=run.worst)]
    running = _running(views, killed)
    if running is not None:
        key_words = "b7_say_tool_known" if run.durable(killed) > running.began else "b7_say_tool_lost"
        said.append(say(key_words, seq=running.began))
    if measured.ms:
        said.append(say("b7_say_ms", n=len(run.flushes), ms=_ms(measured.ms[run.policy]), store=quoted(store, 20)))
    else:
        said.append(say("b7_say_flushes", n=len(run.flushes)))
    if measured.failed:
        said.append(say("b7_say_failed", error=quoted(measured.failed, 200)))
    return say("b4_gap").join(said)


def _running(views: LogViews, killed: float) -> Span | None:
    """The tool that runs when the process is *killed*, if one does: half an event after its tool/call."""
    return next((span for span in _tool_spans(views) if span.began + 1.5 == killed), None)


def _ms(value: float) -> str:
    return f"{value:.1f}" if value < 10 else f"{value:,.0f}"


# The lanes: what happened when

def _lane(title: str, pieces: str, killed: float, whole: int) -> str:
    line = f'<span class="xp-bar" style="position:absolute;inset:0"><b style="left:{percent(killed, whole)}"></b></span>'
    return tr(td(esc(say(title)), "xp-q"), td(f'<span class="xp-lane">{pieces}{line}</span>', "xp-b"), td(colspan=5))


def _spans(words: str, spans: Sequence[Span], whole: int) -> str:
    return " ".join(_span(esc(say(words, number=at)), span, whole) for at, span in enumerate(spans, start=1))


def _steps(views: LogViews, whole: int) -> str:
    return " ".join(_spans("b7_step", [step for step in views.steps if turn.began < step.began <= turn.last], whole)
                    for turn in views.turns)


def _span(words: str, span: Span, whole: int) -> str:
    where = f"left:{percent(span.began, whole)};width:{percent(span.last + 1 - span.began, whole)}"
    return f'<i style="{where}"><span>{words}</span></i>'


def _tool_spans(views: LogViews) -> list[Span]:
    """Each tool from its tool/call to its result."""
    found = [slot.seqs(len(views.events)) for slot in views.call_slots]
    return [Span(started, answered, answered) for _, started, answered in found if started is not None and answered is not None]


def _tools(views: LogViews, whole: int) -> str:
    """A tool runs when its tool/call was appended and the flush before it has returned: half an event later."""
    return " ".join(f'<i class="xp-c" style="border:0;left:{percent(span.began + 1.5, whole)};width:0"><span class="xp-c" '
                    f'style="display:block;transform:translateX(-3px)" aria-hidden="true">▸</span>'
                    f'<span class="xp-vh">{esc(say("b7_tool_at", seq=span.began))}</span></i>' for span in _tool_spans(views))


# The policies

def _row(run: Run, killed: float, chosen: bool, measured: Measured) -> str:
    whole, durable = len(run.events), run.durable(killed)
    ticks = "".join(f'<s style="left:{percent(at, whole)}{";opacity:.55" if len(run.flushes) > whole / 2 else ""}"></s>'
                    for at in run.flushes)
    lost = f'<i class="is-off" style="left:{percent(durable, whole)};width:{percent(run.lost(killed), whole)}"></i>'
    ink = (f'<span class="xp-bar xp-s"><em></em><i style="left:0;width:{percent(durable, whole)};top:8px;height:6px"></i>'
           f'{lost if run.lost(killed) else ""}{ticks}<b style="left:{percent(killed, whole)}"></b></span>')
    words = say("b7_durable", last=durable - 1) if durable else say("b7_durable_none")
    return tr(th(esc(policy_words(run.policy)), "xp-strong" if chosen else ""),
              td(f'{ink} <span class="xp-vh">{esc(words)}</span>', "xp-b"), td(number(run.lost(killed)), "xp-n"),
              td(number(run.worst), "xp-n"), td(number(len(run.flushes)), "xp-n"), *_cost(run, measured), classes="is-first")


def _cost(run: Run, measured: Measured) -> tuple[str, ...]:
    if not measured.ms:
        return td(esc(say("b7_not_measured")), "xp-q", colspan=2, style="padding-left:14px"),
    length = percent(measured.ms[run.policy], max(measured.ms.values()))
    ink = f'<span class="xp-bar xp-s"><i style="left:0;width:{length};min-width:2px"></i></span>'
    return td(_ms(measured.ms[run.policy]), "xp-n"), td(ink, "xp-b")


def _dot(run: Run, chosen: bool, measured: Measured) -> Dot:
    return Dot(policy_words(run.policy), measured.ms[run.policy] if measured.ms else len(run.flushes), run.worst, chosen)
