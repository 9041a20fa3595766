"""A deletion, who asked for it, and what became of it: the picture of lab B10's explorer."""
import re
from collections.abc import Sequence

from labsupport.errors import HoldError, RoleError
from labsupport.sessionlog import SessionEvent, SessionHeader, session_stats
from labsupport.sessionlog.privacy import RequestLevel
from labsupport.sessionlog.roles import Role, read_projections, read_raw, read_transcript
from labsupport.sessionlog.transcript import transcript
from labsupport.workbench.erasing import PLACES, Looked
from labsupport.workbench.pictures.base import (
    Column,
    esc,
    excerpt,
    heading,
    key,
    number,
    page,
    panels,
    table,
    td,
    th,
    tr,
)
from labsupport.workbench.pictures.trimmed import shortened
from labsupport.workbench.text import say

LEVEL_WORDS = {"whole": ("●", "b10_whole"), "with key": ("◐", "b10_with_key"), "with attachment": ("◑", "b10_with_attachment"),
               "gone": ("○", "b10_gone")}
PLACE_WORDS = {
    "title": "b10_place_title", "prompt": "b10_place_prompt", "answer": "b10_place_answer", "tool": "b10_place_tool",
    "chunk": "b10_place_chunk", "attachments": "b10_place_attachments", "fork": "b10_place_fork",
    "subagent": "b10_place_subagent", "backup": "b10_place_backup", "backup_keys": "b10_place_backup_keys",
    "export": "b10_place_export", "provider": "b10_place_provider"}
FOUND_WORDS = {True: "b10_found", False: "b10_not_found", None: "b10_cannot_look"}
TARGET_WORDS = {"nothing": "b10_target_nothing", "prompt1": "b10_target_prompt1", "prompt2": "b10_target_prompt2",
                "title1": "b10_target_title1", "result": "b10_target_result", "visit": "b10_target_visit",
                "letter": "b10_target_letter", "keys": "b10_target_keys", "all": "b10_target_all"}
ROLE_WORDS = {"officer": "b10_role_officer", "auditor": "b10_role_auditor", "support": "b10_role_support"}
STANDING_IN = re.compile(r"\[redacted [a-z]+\]|\[gone with the (key|attachment)\]")
"""What stands where words stood, whoever looks; it says nothing of them."""
LEFT_WORDS = {
    "attachment": "b10_left_attachment", "fork": "b10_left_fork", "subagent": "b10_left_subagent", "backup": "b10_left_backup",
    "memory": "b10_left_memory", "process": "b10_left_process", "outside": "b10_left_outside", "disk": "b10_left_disk",
    "wal": "b10_left_wal", "plain": "b10_left_plain", "log": "b10_left_log"}


def privacy_picture(header: SessionHeader, events: Sequence[SessionEvent], before: Looked, now: Looked, target: str,
                    role: Role, held: bool, show_text: bool = False) -> str:
    """The requests of every log on the left; on the right where the name can be read, and what *role* may see and do.

    *events* are of the visit, as far as they can be read now; none where its log is gone. *before* is how things stood.
    The same rows for every deletion. What people said is drawn with *show_text* only.
    """
    left = _stack(_requests(before, now), _role(header, events, now, role, show_text))
    right = _stack(_places(before, now), _unreached(now))
    legend = key(*(f'<span aria-hidden="true">{sign}</span> {esc(say(words))}' for sign, words in LEVEL_WORDS.values()),
                 f'<span class="is-off"><span class="xp-x">{esc(say("b10_found"))}</span></span> {esc(say("b10_key_lost"))}')
    return page(say("b10_label"), sentence(now, target, role, held), panels(left, right, widths=(452, 420)), legend,
                alert=now.refused is not None)


def _stack(*panels: str) -> str:
    return '<div style="display:grid;gap:10px">' + "".join(f"<div>{panel}</div>" for panel in panels) + "</div>"


# In words

def sentence(now: Looked, target: str, role: Role, held: bool) -> str:
    """What was asked for, by whom, and what became of it."""
    asked = say("b10_say_asked", target=say(TARGET_WORDS[target]), role=say(ROLE_WORDS[role.name]))
    levels = [level for found in now.levels.values() for level in found or ()]
    found = list(now.found.values())
    stands = [say("b10_say_requests", n=sum(not level.missing for level in levels)),
              say("b10_say_places", n=found.count(True), of=len(found) - found.count(None))]
    hold = [say("b10_say_hold")] if held else []
    if isinstance(now.refused, RoleError):
        told = [asked, say("b10_say_role")]
    elif isinstance(now.refused, HoldError):
        told = [asked, say("b10_say_held", n=len(now.refused.held))]
    elif now.erased is None:
        told = [say("b10_say_nothing"), *hold]
    else:
        told = [asked, *hold, say("b10_say_done", n=len(now.erased.lost))]
    return say("b10_gap").join([*told, *stands])


def needs_words(level: RequestLevel) -> str:
    """What a request needs, or what of that is missing."""
    missing = sorted(level.missing)
    if len(missing) == 1 and missing[0].kind == "key":
        return say("b10_missing", what=shortened(missing[0].label.rpartition("/")[2], 24))
    if missing:
        return say("b10_missing_some", n=len(missing), of=len(level.needs))
    attachments = sum(need.kind == "attachment" for need in level.needs)
    keys = len(level.needs) - attachments
    return say("b10_list").join(filter(None, [say("b10_keys", n=keys) if keys else "",
                                              say("b10_attachments", n=attachments) if attachments else ""])) or "–"


# The requests

def _requests(before: Looked, now: Looked) -> str:
    columns = [Column(say("b10_col_session"), 98), Column("seq", 38, "xp-n"), Column(say("b10_col_level"), 130),
               Column(say("b10_col_needs"), 186)]
    rows = [_request(id, at, old, now.levels[id])
            for id, levels in before.levels.items() for at, old in enumerate(levels or ())]
    return heading(say("b10_requests"), say("b10_requests_note")) + table(columns, rows)


def _request(id: str, at: int, old: RequestLevel, levels: list[RequestLevel] | None) -> str:
    gone = levels is None
    level = old if levels is None else levels[at]
    sign, words = ("○", "b10_log_gone") if gone else LEVEL_WORDS[level.level]
    needs = "–" if gone else needs_words(level)
    off = gone or bool(level.missing)
    return tr(th(excerpt(id, 16, "xp-m xp-x" if gone else "xp-m"), "" if at == 0 else "xp-q"),
              td(f'<span class="xp-x">{number(old.seq)}</span>', "xp-n xp-m"),
              td(f'<span aria-hidden="true">{sign}</span> {esc(say(words))}', "xp-strong" if off else ""),
              td(esc(needs), "" if level.missing else "xp-q"),
              classes=" ".join(filter(None, ["is-first" if at == 0 else "", "is-off" if off else ""])))


# Where the name can be read

def _places(before: Looked, now: Looked) -> str:
    columns = [Column(say("b10_col_place"), 252), Column(say("b10_col_before"), 84), Column(say("b10_col_now"), 84)]
    rows = []
    for place in PLACES:
        was, found = before.found[place], now.found[place]
        word = f'<span class="xp-strong">{esc(say(FOUND_WORDS[found]))}</span>' if found else esc(say(FOUND_WORDS[found]))
        rows.append(tr(th(f'<span class="xp-x">{esc(say(PLACE_WORDS[place]))}</span>'),
                       td(esc(say(FOUND_WORDS[was])), "xp-q"), td(word), classes="is-off" if was and not found else ""))
    return heading(say("b10_places"), say("b10_places_note")) + table(columns, rows)


def _unreached(now: Looked) -> str:
    left = [] if now.erased is None else [say(LEFT_WORDS[kind]) for kind in now.erased.unreached]
    said = say("b10_list").join(left) if left else "–"
    return heading(say("b10_unreached")) + f'<p style="min-height:40px;font-size:12px">{esc(said)}</p>'


# What a role may see and do

def _role(header: SessionHeader, events: Sequence[SessionEvent], now: Looked, role: Role, show_text: bool) -> str:
    rows = [(say("b10_see_raw"), _seen("raw", header, events, role, show_text)),
            (say("b10_see_transcript"), _seen("transcript", header, events, role, show_text)),
            (say("b10_see_projections"), _seen("projections", header, events, role, show_text)),
            (say("b10_see_delete"), _did(now, role))]
    body = [tr(th(esc(head)), td(words)) for head, words in rows]
    return heading(say("b10_role_panel"), say(ROLE_WORDS[role.name])) + table(
        [Column(say("b10_col_wish"), 130), Column(say("b10_col_gets"), 300)], body)


def _seen(wish: str, header: SessionHeader, events: Sequence[SessionEvent], role: Role, show_text: bool) -> str:
    try:
        if wish == "projections":
            found = read_projections(role, header, events, [session_stats])[session_stats.key]
            return esc(say("b10_stats", turns=found["turns"], steps=found["steps"])) if events else "–"
        rows = transcript(read_raw(role, events)) if wish == "raw" else read_transcript(role, header, events)
    except RoleError:
        return f'<span class="xp-q">{esc(say("b10_refused"))}</span>'
    if not rows:
        return "–"
    text = rows[0].text
    shown = show_text or STANDING_IN.fullmatch(text) is not None
    return excerpt(text, 46, "xp-x") if shown else esc(say("scrub_characters", n=len(text)))


def _did(now: Looked, role: Role) -> str:
    if isinstance(now.refused, HoldError):
        return f'<span class="xp-err">{esc(say("b10_held", hold=shortened(", ".join(now.refused.holds), 40)))}</span>'
    if "delete" not in role.may:
        return f'<span class="xp-q">{esc(say("b10_refused"))}</span>'
    return esc(say("b10_allowed") if now.erased is None else say("b10_removed", n=len(now.erased.removed)))
