"""How long what is kept, and what keeps it longer: retention by class, and legal holds (chapter 4, §4.13)."""
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from labsupport.errors import HoldError
from labsupport.sessionlog.events import SessionEvent
from labsupport.sessionlog.privacy import Need, needs_of

DAY = 86_400_000
"""Milliseconds."""


class KeyFacts(Protocol):
    """What retention asks of a key: its name, which ends in the class that it seals, and when what happened to it."""

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> int: ...
    @property
    def retired(self) -> int | None: ...
    @property
    def deleted(self) -> int | None: ...


@dataclass(frozen=True)
class Hold:
    """The legal hold *id*: nothing that it *covers* is deleted while it stands.

    It covers the names of keys (all versions), of keys in a version (name@2), of attachments (their references) and of
    sessions, and whatever begins with one of them and a slash: a tenant is a hold on all of its keys.

    >>> Hold("case-7", frozenset({"clinic-a"})).keeps("clinic-a/prompt@1")
    True
    """

    id: str
    covers: frozenset[str]

    def keeps(self, target: str) -> bool:
        """Whether the hold is on *target*, the `label` of a need or the id of a session."""
        return any(target == name or target.startswith((f"{name}/", f"{name}@")) for name in self.covers)


def hold_on(id: str, session: str, events: Iterable[SessionEvent]) -> Hold:
    """A hold on *session*, as it is stored: its log, and every key and attachment without which it could not be read."""
    return Hold(id, frozenset({session, *(need.label for event in events for need in needs_of(event.read()))}))


def check_holds(targets: Iterable[str], holds: Iterable[Hold]) -> None:
    """HoldError when a hold is on one of *targets*: it wins over any deletion, and says so."""
    wanted, standing = list(targets), list(holds)
    held = tuple(target for target in wanted if any(hold.keeps(target) for hold in standing))
    if held:
        raise HoldError(tuple(hold.id for hold in standing if any(map(hold.keeps, held))), held)


@dataclass(frozen=True)
class Due:
    """What has been kept long enough: *delete* it; *held* has what a hold keeps all the same, with the hold's id."""

    delete: tuple[Need, ...]
    held: tuple[tuple[Need, str], ...]


def due(keys: Iterable[KeyFacts], references: Mapping[str, int], days: Mapping[str, int | None], now: int,
        holds: Iterable[Hold] = ()) -> Due:
    """What is to be deleted at *now*, in milliseconds, when each class of *days* is kept that long.

    A key that was retired so many days ago sealed nothing that is younger, so its deletion ends the retention of all of it; the
    key in use is never due. *references* says of each attachment when an event last referred to it; they are of the class
    "attachment". A class that is not named, or has None, is kept.
    """
    standing = list(holds)
    old = [Need("key", key.name, key.version) for key in keys if key.deleted is None and key.retired is not None
           and _is_over(days.get(key.name.rpartition("/")[2]), key.retired, now)]
    old += [Need("attachment", ref) for ref, time in sorted(references.items()) if _is_over(days.get("attachment"), time, now)]
    held = [(need, hold.id) for need in old for hold in standing if hold.keeps(need.label)]
    kept = {need for need, _ in held}
    return Due(tuple(need for need in old if need not in kept), tuple(held))


def _is_over(days: int | None, since: int, now: int) -> bool:
    return days is not None and now - since >= days * DAY


def last_references(logs: Iterable[Iterable[SessionEvent]]) -> dict[str, int]:
    """For each attachment that stored *logs* refer to, the latest time of an event that does."""
    latest: dict[str, int] = {}
    for events in logs:
        for event in events:
            for need in needs_of(event.read()):
                if need.kind == "attachment":
                    latest[need.name] = max(event.time, latest.get(need.name, event.time))
    return latest
