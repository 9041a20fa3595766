"""A case: all that can be asked for when something is wrong with one session (chapter 4, §4.14)."""
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from labsupport.outside import Operation
from labsupport.sessionlog import SessionEvent, SessionHeader, Unit, session_stats, tool_pairing, turn_status
from labsupport.sessionlog.folding import fold, fold_state
from labsupport.sessionlog.surface import derive_event_message, fold_surface

VERSION = 2
"""The state_version that this program's views have; some clients and caches are of an earlier one."""

UNITS: tuple[Unit, ...] = tuple(replace(unit, state_version=VERSION) for unit in (turn_status, tool_pairing, session_stats))
"""The views that the client shows and the session list keeps."""


@dataclass(frozen=True)
class ClientView:
    """What a client shows: its views, each with the version it was built for, and the ids of the messages, as of one event.

    *told_saved* is the last event of which it told its user that it is saved.
    """

    as_of_seq: int
    versions: Mapping[str, int]
    values: Mapping[str, Any]
    messages: tuple[str, ...]
    told_saved: int


@dataclass(frozen=True)
class Flush:
    """One line of the flush record: behind event *asked* a flush was asked for, and up to *durable* all is on the disk since.

    *error* is the backend's code; then *durable* is what it was before.
    """

    asked: int
    durable: int
    error: str = ""


@dataclass(frozen=True)
class Provider:
    """What this session is to be composed of, as the permission provider answers today: its scope, its tools, and the parts
    of the dynamic context that have something to say."""

    scope: str
    tools: tuple[str, ...]
    context: tuple[str, ...]


@dataclass(frozen=True)
class Receipt:
    """Another chat of this user that was deleted: the *operations* that its results named, and whether *undo* was wanted."""

    session: str
    operations: tuple[str, ...]
    undo: bool


@dataclass(frozen=True)
class Case:
    """One session and everything around it. The *log* is what lies on the disk, as it is read before any repair.

    *cache* holds the rows from which the session list is shown: key → {"ver", "seq", "val"}. *archive* is the file of an older
    session of the same user.
    """

    header: SessionHeader
    log: tuple[SessionEvent, ...]
    flushes: tuple[Flush, ...]
    provider: Provider
    client: ClientView
    cache: Mapping[str, Any]
    ledger: tuple[Operation, ...]
    receipts: tuple[Receipt, ...]
    archive: bytes

    @property
    def last(self) -> int:
        """The seq of the last event."""
        return len(self.log) - 1


def client_of(log: tuple[SessionEvent, ...], as_of: int, told_saved: int) -> ClientView:
    """What an honest client shows of *log* as of event *as_of*."""
    known = log[:as_of + 1]
    return ClientView(as_of, {unit.key: unit.state_version for unit in UNITS},
                      {unit.key: fold(unit, known) for unit in UNITS}, message_ids(known), told_saved)


def message_ids(log: tuple[SessionEvent, ...]) -> tuple[str, ...]:
    """The ids of the messages that `derive_messages` gives."""
    messages = (derive_event_message(log[seq]) for seq in fold_surface(log).nodes)
    return tuple(str(message["id"]) for message in messages if message is not None)


def cache_of(log: tuple[SessionEvent, ...]) -> dict[str, Any]:
    """The rows of a cache that is up to date."""
    return {unit.key: {"ver": unit.state_version, "seq": len(log) - 1, "val": fold_state(unit, log)} for unit in UNITS}
