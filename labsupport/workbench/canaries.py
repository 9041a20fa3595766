"""Canaries for lab B10's law: random logs with a word of its own in every field that could tell something."""
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from msgspec import Raw
from msgspec.structs import replace

from labsupport.own import own_seed
from labsupport.sessionlog import SessionEvent, SessionHeader
from labsupport.sessionlog.fields import CLASSES, rewrite
from labsupport.sessionlog.json_text import write_data
from labsupport.sessionlog.redaction import redact_log, texts_in
from labsupport.workbench.exports import messages_only, plain, written
from labsupport.workbench.random_requests import random_requests

NAMES = ("name", "header", "type")
"""Where canaries are besides content: in the names of tools, calls and messages, in the header, in an event's type."""


@dataclass(frozen=True)
class Planted:
    """A log with canaries: the *words*, by class of content or by `NAMES`."""

    header: SessionHeader
    events: Sequence[SessionEvent]
    words: Mapping[str, str]


class _Plant:
    """A word into every text, a field of its own into every object that content may be in."""

    def __init__(self, words: Mapping[str, str]) -> None:
        self._words = words

    def content(self, kind: str, value: Any, where: str) -> Any:
        word = self._words[kind]
        return f"{value} {word}" if isinstance(value, str) else {word: [value, word]} if where.endswith("meta") else value

    def rest(self, kind: str, fields: dict[str, Any], where: str) -> dict[str, Any]:
        return {**fields, f"x-{self._words[kind]}": {"inner": [self._words[kind]]}}

    def name(self, kind: str, value: str) -> str:
        return f"{value}-{self._words['name']}" if kind in ("call", "tool", "message", "part", "model") and value else value

    def word(self, value: str, known: frozenset[str], where: str) -> str:
        return value


def planted(seed: int) -> Planted:
    """A random session with canaries in it, the same for the same *seed*; it loads as any log.

    >>> log = planted(1)
    >>> sorted(log.words) == sorted([*CLASSES, *NAMES]), log.header.cwd == f"/home/{log.words['header']}"
    (True, True)
    """
    random = Random(own_seed(seed))
    words = {kind: f"canary-{kind}-{random.randrange(10**8):08}" for kind in (*CLASSES, *NAMES)}
    session = random_requests(seed).session
    session.append("session/title", {"title": "a title", "model": {"deep": [1, "x"]}})
    session.append("approval/asked", {words["other"]: {"tool": words["other"], "times": 3}})
    session.append(f"plugin/{words['type']}", {"text": words["other"]}, ignorable=True)
    session.append("turn/end", {"turn": 0, "reason": {"kind": "error", "error": {
        "message": "Invalid API key", "code": words["error"]}}})
    events = [replace(event, json_text=Raw(write_data(rewrite(event.type, event.read(), _Plant(words)), stored=True)))
              for event in session.events]
    header = SessionHeader(f"{session.id}-{words['header']}", cwd=f"/home/{words['header']}",
                           parent_session=words["header"], agent_preset=words["header"])
    return Planted(header, events, words)


def sung(log: Planted, *shown: str) -> set[str]:
    """The classes whose canary can be read in the export of *log* that shows the classes *shown*: in its file, or its name."""
    name, data = written(redact_log(log.header, log.events, shown))
    text = data.decode()
    return {kind for kind, word in log.words.items() if word in name or word in text}


def sung_naively(log: Planted) -> set[str]:
    """The same of an export that masks every canary in the text of messages, and looks nowhere else."""
    events = list(log.events)
    lines = plain(log.header, events)
    for word in log.words.values():
        lines = messages_only(log.header, events, word)
        events = [SessionEvent.from_json(line) for line in lines[1:]]
    said = list(texts_in(lines))
    return {kind for kind, word in log.words.items() if any(word in text for text in said)}


def there(log: Planted) -> set[str]:
    """The classes whose canary is in the log itself."""
    said = list(texts_in(plain(log.header, log.events)))
    return {kind for kind, word in log.words.items() if any(word in text for text in said)}
