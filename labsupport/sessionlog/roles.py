"""Who may read what: the raw log, projections, a redacted transcript; and who may delete (chapter 4, §4.13)."""
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from labsupport.errors import RoleError
from labsupport.sessionlog.events import SessionEvent
from labsupport.sessionlog.folding import Unit, fold
from labsupport.sessionlog.header import SessionHeader
from labsupport.sessionlog.redaction import Redacted, redact_log
from labsupport.sessionlog.transcript import TranscriptRow, transcript

WISHES = ("raw", "projections", "transcript", "delete")


@dataclass(frozen=True)
class Role:
    """What the holder of a role *may* do, of `WISHES`, and the classes of content that are *shown* in what is redacted."""

    name: str
    may: frozenset[str]
    shown: frozenset[str] = frozenset()

    def check(self, wish: str) -> None:
        """RoleError where the role may not have *wish*."""
        if wish not in self.may:
            raise RoleError(self.name, wish)


AUDITOR = Role("auditor", frozenset({"raw", "projections", "transcript"}))
"""Looks into everything and deletes nothing."""
SUPPORT = Role("support", frozenset({"projections", "transcript"}), frozenset({"instruction"}))
"""Sees how a session went, and what the program told the model; nothing of what people said."""
OFFICER = Role("officer", frozenset({"delete"}))
"""Deletes and reads nothing: who decides what goes need not see it."""
ROLES = (AUDITOR, SUPPORT, OFFICER)


def read_raw(role: Role, events: Iterable[SessionEvent]) -> list[SessionEvent]:
    """The events as they are. RoleError."""
    role.check("raw")
    return list(events)


def read_redacted(role: Role, header: SessionHeader, events: Iterable[SessionEvent]) -> Redacted:
    """The log with the classes that are shown to *role*. RoleError."""
    role.check("transcript")
    return redact_log(header, events, role.shown)


def read_transcript(role: Role, header: SessionHeader, events: Iterable[SessionEvent]) -> list[TranscriptRow]:
    """The transcript of what `read_redacted` gives. RoleError."""
    return transcript(read_redacted(role, header, events).events)


def read_projections(role: Role, header: SessionHeader, events: Iterable[SessionEvent],
                     units: Sequence[Unit]) -> dict[str, Any]:
    """The views of *units*; of the redacted log, unless *role* may read the raw one. RoleError.

    A projection is no protection by itself: a list of things to do quotes who asked for them.
    """
    role.check("projections")
    seen = list(events) if "raw" in role.may else redact_log(header, events, role.shown).events
    return {unit.key: fold(unit, seen) for unit in units}
