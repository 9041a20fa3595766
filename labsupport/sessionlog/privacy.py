"""What of a log is kept in the open, under a key, or elsewhere, and which requests can be rebuilt (chapter 4, §4.6.1, §4.13).

    protect_log     the log as it is stored: content of each class as its rule says, structure as it was
    reveal_log      the log as it was, as far as keys and attachments are there
    request_levels  for each request what it takes to rebuild it, and what of that is gone

Keys and attachments are not here: a vault has them (labsupport.outside.vault).
"""
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, Protocol

from msgspec import Raw
from msgspec.structs import replace

from labsupport.errors import AttachmentMissingError, EventError, KeyMissingError
from labsupport.sessionlog.events import Replace, SessionEvent
from labsupport.sessionlog.fields import CLASSES, rewrite
from labsupport.sessionlog.json_text import read_data, write_data
from labsupport.sessionlog.request import rebuild_request, request_seqs

How = Literal["plain", "key", "reference"]
Policy = Mapping[str, How]
"""How content of each class is kept: as it is, encrypted in its place, or elsewhere with a reference in its place. A class
that is not named is encrypted."""

Level = Literal["whole", "with key", "with attachment", "gone"]

_MARK, _FIELDS = "protected:", "protected"


class Vault(Protocol):
    """What keeps content for a log, and gives it back while it has it."""

    def seal(self, kind: str, data: bytes, where: str) -> tuple[str, int, str]:
        """The name and version of a key for the class *kind*, and *data* under it; it opens at *where* alone."""

    def open(self, name: str, version: int, sealed: str, where: str) -> bytes:
        """What was sealed. KeyMissingError when the key is gone."""

    def keep(self, data: bytes) -> str:
        """A reference to *data*, kept elsewhere."""

    def get(self, ref: str) -> bytes:
        """What a reference stands for. AttachmentMissingError when it is gone."""


@dataclass(frozen=True, order=True)
class Need:
    """What it takes to read something: the key *name* in its *version*, or the attachment *name*, which has none."""

    kind: Literal["key", "attachment"]
    name: str
    version: int = 0

    @property
    def label(self) -> str:
        """name@version of a key, the reference of an attachment."""
        return f"{self.name}@{self.version}" if self.kind == "key" else self.name


@dataclass(frozen=True)
class RequestLevel:
    """The request behind event *seq*: its *level*, what it *needs*, and what of that is *missing*."""

    seq: int
    level: Level
    needs: frozenset[Need]
    missing: frozenset[Need]


@dataclass(frozen=True)
class Revealed:
    """A log as far as it can be read: its *events*, and for each seq that has holes what is *missing* there."""

    events: list[SessionEvent]
    missing: Mapping[int, frozenset[Need]]


def protect_log(events: Iterable[SessionEvent], policy: Policy, vault: Vault,
                stored: Sequence[SessionEvent] = ()) -> list[SessionEvent]:
    """The *events* as they are to be stored. The same types, seqs, ids and surface; a store takes them as any log.

    The first of them may be *stored* already, and are taken over: a key that was rotated since seals only what is new, and a
    fork has what its parent's log has. A result that rewrites another one keeps all but its content as it stands there.
    Ids, names of tools and types stay as they are, and so does the session's header: they are no place for anybody's name.
    EventError for a class that there is not.
    """
    unknown = sorted(policy.keys() - set(CLASSES))
    if unknown:
        raise EventError("policy", f"there is no class {unknown[0]!r}; there are {', '.join(CLASSES)}")
    act, done = _Protect(policy, vault), list(stored)
    for event in islice(events, len(done), None):
        data = rewrite(event.type, event.read(), act)
        if event.type == "tool/result" and isinstance(event.surface_op, Replace):
            content = data["message"]["content"][0]["content"]
            data = done[event.surface_op.start].read()  # sealed twice, the same is two texts
            data["message"]["content"][0]["content"] = content
        done.append(_with(event, data))
    return done


def reveal_log(events: Iterable[SessionEvent], vault: Vault) -> Revealed:
    """The log that `protect_log` was given. Where a key or an attachment is gone, a text says so in its place."""
    found: list[SessionEvent] = []
    missing: dict[int, frozenset[Need]] = {}
    for event in events:
        holes: set[Need] = set()
        found.append(_with(event, _revealed(event.read(), vault, holes, event.type)))
        if holes:
            missing[event.seq] = frozenset(holes)
    return Revealed(found, missing)


def needs_of(value: Any) -> frozenset[Need]:
    """What it takes to read *value*, data of a protected event or a request that was rebuilt of some."""
    return frozenset(_need(text) for text in _tokens(value) if not text.startswith(f"{_MARK}plain:"))


def request_levels(events: Iterable[SessionEvent], is_there: Callable[[Need], bool]) -> list[RequestLevel]:
    """For each request of a stored log, in order, whether it can be rebuilt now.

    "whole": from the log alone; "with key"; "with attachment", perhaps with keys as well; "gone": something that the model read
    is not there any more. What no model was sent (raw chunks, titles, errors) counts for nothing here.
    """
    log, levels = list(events), list[RequestLevel]()
    for seq in request_seqs(log):
        request = rebuild_request(log, seq).request
        needs = needs_of([request.header, list(request.messages)])
        missing = frozenset(need for need in needs if not is_there(need))
        kinds = {need.kind for need in needs}
        level: Level = ("gone" if missing else "with attachment" if "attachment" in kinds else "with key" if kinds else "whole")
        levels.append(RequestLevel(seq, level, needs, missing))
    return levels


def lost_requests(logs: Mapping[str, Iterable[SessionEvent]], targets: Iterable[Need],
                  is_there: Callable[[Need], bool] = lambda need: True) -> list[tuple[str, int]]:
    """Which requests, as (session, seq), can be rebuilt now and not once *targets* are deleted.

    Forks and sub-agents count: they have the same keys and refer to the same attachments.
    """
    gone = frozenset(targets)
    return [(id, found.seq) for id, events in logs.items() for found in request_levels(events, is_there)
            if not found.missing and found.needs & gone]


class _Protect:
    """Content as the policy says; structure as it is."""

    def __init__(self, policy: Policy, vault: Vault) -> None:
        self._policy, self._vault = policy, vault

    def content(self, kind: str, value: Any, where: str) -> Any:
        how = self._policy.get(kind, "key")
        if how == "plain":
            return _plain(value) if isinstance(value, (dict, list)) else self._kept(value)
        data = write_data(value, stored=True)
        if how == "reference":
            return f"{_MARK}ref:{self._vault.keep(data)}"
        name, version, sealed = self._vault.seal(kind, data, where)
        return f"{_MARK}key:{name}:{version}:{sealed}"

    def rest(self, kind: str, fields: dict[str, Any], where: str) -> dict[str, Any]:
        return {_FIELDS: self.content(kind, fields, where)}

    def name(self, kind: str, value: str) -> str:
        return str(self._kept(value))

    def word(self, value: str, known: frozenset[str], where: str) -> str:
        return value if value in known else str(self.content("other", value, where))

    @staticmethod
    def _kept(value: Any) -> Any:
        """*value* as it is, unless it could be taken for a text of ours."""
        return _plain(value) if isinstance(value, str) and value.startswith(_MARK) else value


def _plain(value: Any) -> str:
    return f"{_MARK}plain:{write_data(value, stored=True).decode()}"


def _tokens(value: Any) -> Iterator[str]:
    """The texts of ours in *value*."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str) and item.startswith(_MARK):
            yield item
        elif isinstance(item, dict):
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)


def _need(token: str) -> Need:
    _, how, rest = token.split(":", 2)
    if how == "ref":
        return Need("attachment", rest)
    name, version, *_ = rest.split(":")
    return Need("key", name, int(version))


def _revealed(value: Any, vault: Vault, holes: set[Need], where: str) -> Any:
    """*value* with every text of ours opened; what comes out is content, and not looked into again."""
    if isinstance(value, str):
        return _opened(value, vault, holes, where) if value.startswith(_MARK) else value
    if isinstance(value, list):
        return [_revealed(item, vault, holes, f"{where}[]") for item in value]
    if not isinstance(value, dict):
        return value
    found = {key: _revealed(item, vault, holes, f"{where}.{key}") for key, item in value.items() if key != _FIELDS}
    fields = _opened(value[_FIELDS], vault, holes, f"{where}.*") if _FIELDS in value else {}
    return {**found, **(fields if isinstance(fields, dict) else {_FIELDS: fields})}


def _opened(token: str, vault: Vault, holes: set[Need], where: str) -> Any:
    _, how, rest = token.split(":", 2)
    if how == "plain":
        return read_data(rest.encode())
    try:
        if how == "ref":
            return read_data(vault.get(rest))
        name, version, sealed = rest.split(":")
        return read_data(vault.open(name, int(version), sealed, where))
    except (KeyMissingError, AttachmentMissingError):
        need = _need(token)
        holes.add(need)
        return f"[gone with the {need.kind}]"


def _with(event: SessionEvent, data: Any) -> SessionEvent:
    return replace(event, json_text=Raw(write_data(data, stored=True)))
