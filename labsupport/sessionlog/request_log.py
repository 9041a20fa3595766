"""Logging what the next request will hold, where it is not what the log says already (chapter 4, §4.5)."""
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from labsupport.sessionlog.events import SessionEvent
from labsupport.sessionlog.json_text import same_json
from labsupport.sessionlog.prompt import DYNAMIC_CONTEXT, SESSION_OPENER, SNAPSHOT_INTRO, Opener
from labsupport.sessionlog.request import REQUEST_SOURCES
from labsupport.sessionlog.session import Session

NewId = Callable[[], str]


def latest(session: Session, *types: str) -> SessionEvent | None:
    """The last event of *types*; None where there is none."""
    return next((event for event in reversed(session.events) if event.type in types), None)


def log_user(session: Session, source: dict[str, Any], text: str, new_id: NewId) -> None:
    """A message in the user's role."""
    message = {"content": [{"type": "text", "text": text}], "source": source, "role": "user", "id": new_id()}
    session.append("user/message", message, surface_op="append")


def log_openers(session: Session, openers: Sequence[Opener], new_id: NewId) -> None:
    """Each opener that is not on the surface: at the first step, and again when a compaction removed it."""
    sources = [message["source"] for message in session.derive_messages()] if openers else []
    there = [source.get("name") for source in sources if source.get("plugin") == SESSION_OPENER]
    for opener in openers:
        if opener.name not in there:
            log_user(session, {"kind": "plugin", "plugin": SESSION_OPENER, "name": opener.name}, opener.text, new_id)


def log_dynamic_context(session: Session, context: Mapping[str, str], new_id: NewId) -> None:
    """A snapshot of *context*, unless the latest one that is on the surface says the same."""
    sections = [{"name": name, "text": text} for name, text in context.items()]
    sources = (message["source"] for message in reversed(session.derive_messages()))
    seen: Any = next((source.get("sections") for source in sources if source.get("plugin") == DYNAMIC_CONTEXT), [])
    if not same_json(sections, seen):
        text = "\n\n".join(section["text"] for section in sections) or "No context applies any more."
        source = {"kind": "plugin", "plugin": DYNAMIC_CONTEXT, "form": "snapshot", "sections": sections}
        log_user(session, source, SNAPSHOT_INTRO + text, new_id)


def log_request(session: Session, header: dict[str, Any], context: dict[str, Any], sources: dict[str, Any] | None) -> None:
    """The header, what it was made of, and the context of the model, each when it differs from the latest one."""
    last = latest(session, "request/header")
    changed = last is None or not same_json(session.request_header(), header)
    if changed:
        resumed = last is not None and last.seq < session.first_live_seq
        reason = "initial" if last is None else "resume" if resumed else "change"
        session.append("request/header", {"header": header, "reason": reason})
    if changed or sources is not None:
        known = latest(session, REQUEST_SOURCES)
        if not same_json(None if known is None else known.read(), sources):  # null: of this header no sources are known
            session.append(REQUEST_SOURCES, sources, ignorable=True)
    if not same_json(session.request_context(), context):
        session.append("request/context", context)
