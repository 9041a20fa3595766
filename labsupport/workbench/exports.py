"""Lab B10's exports: two that leak, as real programs made them, and the one of the library, each as the lines of its file."""
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from labsupport.sessionlog import SessionEvent, SessionHeader
from labsupport.sessionlog.redaction import Redacted, redact_log
from labsupport.sessionlog.storage import JsonlStore
from labsupport.strict_json import read_json

Lines = list[Any]
"""The JSON of each line: the header, then the records."""

MASK = "***"


def messages_only(header: SessionHeader, events: Iterable[SessionEvent], word: str) -> Lines:
    """A leaky export: *word* is masked in the text of messages. Header, titles, streams and errors are not looked at."""
    lines = plain(header, events)
    for line in lines[1:]:
        message = line["data"].get("message", line["data"])
        for block in message.get("content", ()) if isinstance(message, dict) else ():
            if "text" in block:
                block["text"] = block["text"].replace(word, MASK)
    return lines


def names_of_secrets(header: SessionHeader, events: Iterable[SessionEvent]) -> Lines:
    """A leaky export: a value is masked when its key has the name of a secret, wherever that key stands."""
    return [_masked(line) for line in plain(header, events)]


def _masked(value: Any) -> Any:
    if isinstance(value, list):
        return [_masked(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: MASK if key in ("apiKey", "password", "token") else _masked(item) for key, item in value.items()}


def plain(header: SessionHeader, events: Iterable[SessionEvent]) -> Lines:
    """The log as it is."""
    return [{"type": "session", **header.to_json()}, *(event.to_json() for event in events)]


def redacted(header: SessionHeader, events: Iterable[SessionEvent], *shown: str) -> Lines:
    """The export of the library, with the classes *shown*."""
    found = redact_log(header, events, shown)
    return plain(found.header, found.events)


def written(found: Redacted) -> tuple[str, bytes]:
    """The name and the bytes of the file that a store makes of a redacted log, after it has loaded it again."""
    with TemporaryDirectory() as folder:
        store = JsonlStore(Path(folder))
        store.create(found.header)
        store.append(found.header.id, found.events)
        JsonlStore(Path(folder)).load(found.header.id)
        path = store.path(found.header.id)
        return path.name, path.read_bytes()


def records(data: bytes) -> Lines:
    """The JSON of each line of a file."""
    return [read_json(line) for line in data.splitlines()]
