"""The picture of a session file with one broken line: what parse answers, what load does, and what is lost."""
from collections.abc import Sequence

from labsupport.errors import SessionFileError, SessionJsonError, SessionTornTailError
from labsupport.miniagent import AssistantMessage, ToolMessage
from labsupport.workbench.breakage import BREAKAGES, Reading, Trial, read_line
from labsupport.workbench.pictures.base import Column, esc, excerpt, heading, key, number, page, role, swatch, table, td, th, tr
from labsupport.workbench.pictures.trimmed import quoted
from labsupport.workbench.text import say

WIDTHS = {"number": 44, "holds": 150, "text": 356, "parse": 166, "load": 160}
AROUND, CHANGED = 100, 110
"""Characters shown before and after a change, and of the change itself: three rows of the box, whatever is broken."""
KEYS = 4
"""As many keys that a message does not keep are named."""
WHOLE = 2 * (AROUND + CHANGED)
"""And of a line in which nothing was changed."""
PUT = 'class="xp-strong" style="text-decoration:none;background:var(--xp-wash);outline:1px solid var(--xp-rule)"'
"""How the characters that were put in look: on a ground of their own, for a line under blue words is a link."""


def line_picture(trial: Trial) -> str:
    """The lines of the file as they are now, the broken one at length, and the verdicts on it."""
    reading = read_line(trial.now)
    return page(say("a1_label"), _sentence(trial, reading), _lines(trial), _at_length(trial), _verdicts(trial, reading), _key())


def _sentence(trial: Trial, reading: Reading) -> str:
    head = say("a1_say_same" if trial.unbroken else "a1_say_head", at=trial.at, n=len(trial.before),
               breakage=say(BREAKAGES[trial.breakage].words))
    holds = {"message": "a1_say_message", "record": "a1_say_record", "text": "a1_say_text", "empty": "a1_say_empty"}
    middle = say(holds[reading.kind], why=reading.why, kind=_answer(reading))
    if isinstance(trial.result, SessionFileError):
        end = say("a1_say_raised", error=type(trial.result).__name__, line=trial.result.line)
    else:
        end = say("a1_say_loaded", n=len(trial.result), whole=len(trial.before))
    gap = say("a1_gap")
    return head + middle + gap + end + gap + _lost(trial, reading)


def _lost(trial: Trial, reading: Reading) -> str:
    """What the reader of the file does not get back."""
    result = trial.result
    if isinstance(result, SessionTornTailError):
        return say("a1_lost_tail" if trial.whole else "a1_lost_tail_only", offset=result.offset, n=trial.whole)
    if isinstance(result, SessionFileError):
        return say("a1_lost_all", n=len(trial.before))
    if reading.dropped:
        return say("a1_lost_key", keys=_keys(reading.dropped))
    if len(result) < len(trial.before):
        return say("a1_lost_message", n=len(trial.before) - len(result))
    return say("a1_lost_nothing" if trial.same else "a1_lost_value")


def _keys(names: Sequence[str]) -> str:
    """*names* of keys, the first of them where there are many."""
    return ", ".join([quoted(name, 24) for name in names[:KEYS]] + ["…"] * (len(names) > KEYS))


# The file

def _lines(trial: Trial) -> str:
    columns = [Column(say("a1_col_line"), WIDTHS["number"], "xp-n"), Column(say("a1_col_holds"), WIDTHS["holds"]),
               Column(say("a1_col_text"), WIDTHS["text"]), Column(say("a1_col_parse"), WIDTHS["parse"]),
               Column(say("a1_col_load"), WIDTHS["load"])]
    rows, given = [], 0
    for place in range(1, len(trial.before) + 1):
        line = trial.after[place - 1] if place <= len(trial.after) else None
        reading = read_line(line) if line is not None else None
        given += reading is not None and reading.kind == "message"
        bad = isinstance(trial.result, SessionFileError) and trial.result.line == place
        state = f'<span class="{"xp-err" if bad else "xp-q"}">{esc(_state(trial, place, reading, given))}</span>'
        begins = excerpt(_text(line or b"").removesuffix("\n"), 44, "xp-m")
        rows.append(tr(th(number(place), "xp-n xp-m"), td(_holds(reading)), td(begins), td(esc(_answer(reading))), td(state),
                       classes="is-first is-bad" if bad else "is-first", now=place == trial.at and not bad))
    return table(columns, rows)


def _state(trial: Trial, place: int, reading: Reading | None, given: int) -> str:
    """What load does with the line at *place*; *given* messages have been read up to here."""
    if reading is None:
        return say("a1_state_absent")
    if isinstance(trial.result, SessionFileError):
        line = trial.result.line
        return say("a1_state_stops" if place == line else "a1_state_read" if place < line else "a1_state_unread")
    return say("a1_state_empty") if reading.kind == "empty" else say("a1_state_given", n=given)


def _holds(reading: Reading | None) -> str:
    if reading is None:
        return ""
    message = reading.message
    if isinstance(message, ToolMessage):
        return role("result", message.tool_call_id[:12])
    if message is not None:
        return role("assistant" if isinstance(message, AssistantMessage) else "user")
    kinds = {"record": "a1_holds_record", "text": "a1_holds_text", "empty": "a1_holds_empty"}
    return esc(say(kinds[reading.kind]))


def _answer(reading: Reading | None) -> str:
    """What the parser answers: the class of the message, None, or nothing where there is no value to ask about."""
    if reading is None or reading.kind in ("text", "empty"):
        return "–"
    return type(reading.message).__name__ if reading.message is not None else "None"


# The broken line

def _at_length(trial: Trial) -> str:
    """The line, shortened far from the change: what was taken away is struck through, what was put in has a frame."""
    old, new = _text(trial.before[trial.at - 1]), _text(trial.broken)
    same = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    most = min(len(old), len(new)) - same
    tail = next((i for i in range(most) if old[-1 - i] != new[-1 - i]), most)
    gone, put, end = old[same:len(old) - tail], new[same:len(new) - tail], old[len(old) - tail:]
    start = _first(old[:same], WHOLE) if not (gone or put) else _last(old[:same], AROUND)
    parts = [esc(start), f'<del class="xp-q">{esc(_first(gone, CHANGED))}</del>' if gone else "",
             f"<ins {PUT}>{esc(_first(put, CHANGED))}</ins>" if put else "", esc(_first(end, AROUND))]
    return (f'<div style="margin:10px 0">{heading(say("a1_now", at=trial.at), say("a1_now_note"))}\n'
            f'<p class="xp-box xp-m" style="height:76px;overflow:hidden;overflow-wrap:anywhere">{"".join(parts)}</p></div>')


def _text(line: bytes) -> str:
    """The characters of *line*; the two signs that few fonts have are spelled."""
    return line.decode("utf-8", "backslashreplace").replace("\0", "[NUL]").replace("\r", "[CR]")


def _first(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit - 1] + "…"


def _last(text: str, limit: int) -> str:
    return text if len(text) <= limit else "…" + text[1 - limit:]


def _verdicts(trial: Trial, reading: Reading) -> str:
    result = trial.result
    is_json = {"message": "a1_yes", "record": "a1_yes", "text": "a1_no", "empty": "a1_holds_empty"}
    dropped = say("a1_dropped", keys=_keys(reading.dropped)) if reading.dropped else ""
    if isinstance(result, SessionFileError):
        words = ("a1_load_torn" if isinstance(result, SessionTornTailError)
                 else "a1_load_json" if isinstance(result, SessionJsonError) else "a1_load_record")
        loaded, why = type(result).__name__, say(words, line=result.line)
    else:
        loaded, why = say("messages", n=len(result)), ""
    rows = [(say("a1_ask_json"), say(is_json[reading.kind]), reading.why if reading.kind == "text" else ""),
            ("parse_session_message", _answer(reading), reading.why if reading.kind == "record" else dropped),
            ("load_session", loaded, why)]
    columns = [Column(say("a1_col_ask"), 176), Column(say("a1_col_answer"), 170), Column(say("a1_col_why"), 530)]
    lost = say("a1_lost_none" if trial.same else "a1_lost_some") + say("a1_gap") + _lost(trial, reading).replace("**", "")
    return table(columns, [*(tr(th(esc(ask)), td(esc(answer)), td(esc(why)), classes="is-first") for ask, answer, why in rows),
                           tr(th(esc(say("a1_ask_lost"))), td(esc(lost), colspan=2), classes="is-first")])


def _key() -> str:
    gone = f'<del class="xp-q">{esc(say("a1_key_gone"))}</del>'
    put = f"<ins {PUT}>{esc(say('a1_key_put'))}</ins>"
    return key(gone, put, esc(say("a1_key_signs")), swatch("is-line", say("a1_key_line")), esc(say("a1_key_bad")))
