"""A log for other eyes: the same events, and of what they say only the classes that may be shown (chapter 4, §4.13)."""
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from msgspec import UNSET, Raw

from labsupport.errors import EventError
from labsupport.sessionlog.events import SessionEvent, is_known_type
from labsupport.sessionlog.fields import CLASSES, OURS, rewrite
from labsupport.sessionlog.header import SessionHeader
from labsupport.sessionlog.json_text import write_data
from labsupport.strict_json import read_json

REDACTED = "workbook/redacted"
"""The type of an event whose own type is nobody's: a name can say something, too."""

_OTHER = "other"


class Pseudonyms:
    """Names for names: session-1, call-2 …, the same for the same, in every log that is exported with them.

    >>> names = Pseudonyms(keep={"sum_column"})
    >>> names.of("tool", "sum_column"), names.of("tool", "mail_ana"), names.of("tool", "mail_ana"), names.of("call", "c1")
    ('sum_column', 'tool-1', 'tool-1', 'call-1')

    *keep* are names that the exporter knows to say nothing of anybody. A number tells in which order they came, no more.
    """

    def __init__(self, keep: Collection[str] = ()) -> None:
        self._keep = frozenset(keep)
        self._given: dict[tuple[str, str], str] = {}
        self._count: Counter[str] = Counter()

    def of(self, kind: str, value: str) -> str:
        """The pseudonym of *value*, a name of the *kind*; nothing for nothing."""
        if value in self._keep or not value:
            return value
        while (kind, value) not in self._given:
            self._count[kind] += 1
            name = f"{kind}-{self._count[kind]}"
            if name not in self._keep:
                self._given[kind, value] = name
        return self._given[kind, value]


@dataclass(frozen=True)
class Redacted:
    """A log that was redacted, and how many pieces of each class were *hidden* in it."""

    header: SessionHeader
    events: list[SessionEvent]
    hidden: Mapping[str, int]


def redact_log(header: SessionHeader, events: Iterable[SessionEvent], shown: Collection[str] = (),
               names: Pseudonyms | None = None) -> Redacted:
    """*header* and *events* with content of the classes *shown* only, and with pseudonyms for every name.

    >>> from labsupport.sessionlog.session import Session
    >>> session = Session.create("ana-lopez")
    >>> _ = session.append("session/title", {"title": "Ana has a cough", "ana": 7})
    >>> found = redact_log(session.header, session.events)
    >>> found.header.id, found.events[0].read(), found.hidden
    ('session-1', {'title': '[redacted title]', 'redacted': '[redacted title]'}, {'title': 2})

    Types, order, times, counts, pairing and surface stay, so a store takes it as any log. It fails closed: a field, a key or a
    type that no table knows is hidden. Classes retell each other: an answer quotes its question, a chunk is a piece of an
    answer, a summary quotes all of them; who shows one shows what is told again in it. EventError for a class that there is
    not. Chapter 4, §4.13.
    """
    unknown = sorted(set(shown) - set(CLASSES))
    if unknown:
        raise EventError("shown", f"there is no class {unknown[0]!r}; there are {', '.join(CLASSES)}")
    act = _Redact(frozenset(shown), Pseudonyms() if names is None else names)
    return Redacted(_header(header, act), [_event(event, act) for event in events], dict(act.hidden))


class _Redact:
    """Content hidden unless its class is shown, names changed, words of the format kept where they are known."""

    def __init__(self, shown: frozenset[str], names: Pseudonyms) -> None:
        self._shown, self.names, self.hidden = shown, names, Counter[str]()

    def content(self, kind: str, value: Any, where: str) -> Any:
        if kind in self._shown:
            return value
        self.hidden[kind] += 1
        return f"[redacted {kind}]"

    def rest(self, kind: str, fields: dict[str, Any], where: str) -> dict[str, Any]:
        return fields if kind in self._shown else {"redacted": self.content(kind, fields, where)}

    def name(self, kind: str, value: str) -> str:
        return self.names.of(kind, value)

    def word(self, value: str, known: frozenset[str], where: str) -> str:
        return value if value in known or not value else _OTHER


def _header(header: SessionHeader, act: _Redact) -> SessionHeader:
    parent, preset = header.parent_session, header.agent_preset
    return replace(header, id=act.name("session", header.id), cwd=None if header.cwd is None else "/redacted",
                   parent_session=None if parent is None else act.name("session", parent),
                   agent_preset=None if preset is None else act.name("preset", preset))


def _event(event: SessionEvent, act: _Redact) -> SessionEvent:
    data = Raw(write_data(rewrite(event.type, event.read(), act), stored=True))
    if is_known_type(event.type) or event.type in OURS:
        return msgspec.structs.replace(event, json_text=data)
    return SessionEvent(REDACTED, event.seq, event.time, data, UNSET, UNSET, True)


def json_in(text: str) -> Any:
    """The object or list that *text* is the JSON of; None where it is none. Arguments and results often are.

    >>> json_in('\\n{"name": "An\\\\u0061"}'), json_in("Ana")
    ({'name': 'Ana'}, None)
    """
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return read_json(text.encode("utf-8", "surrogatepass"))
    except ValueError:
        return None


def texts_in(value: Any) -> Iterator[str]:
    """Every text that can be read in *value*: values, keys, numbers as they are spelled, and the same in JSON inside a text."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting += [part for pair in item.items() for part in pair]
        elif isinstance(item, (list, tuple)):
            waiting += item
        elif isinstance(item, str):
            yield item
            inner = json_in(item)
            if inner is not None:
                waiting.append(inner)
        elif item is not None and not isinstance(item, bool):
            yield repr(item)

