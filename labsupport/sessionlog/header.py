"""The header of a session: what is known of it as a whole, kept outside its events (chapter 4, §4.2)."""
from dataclasses import dataclass
from typing import Any

from labsupport.errors import EventError
from labsupport.lossless import joined
from labsupport.sessionlog.events import natural

LOG_VERSION = 0
"""The version of the log format that is read and written here."""

_KEYS = {"version": "version", "id": "id", "createdAt": "created_at", "cwd": "cwd", "parentSession": "parent_session",
         "seedLength": "seed_length", "origin": "origin", "delegationDepth": "delegation_depth", "agentPreset": "agent_preset"}


@dataclass(frozen=True)
class SessionHeader:
    """Who a session is: *created_at* in epoch milliseconds, *seed_length* in events.

    >>> SessionHeader("s1", created_at=5).to_json()
    {'version': 0, 'id': 's1', 'createdAt': 5, 'delegationDepth': 0}
    """

    id: str
    created_at: int = 0
    cwd: str | None = None
    parent_session: str | None = None
    seed_length: int | None = None
    origin: str | None = None
    delegation_depth: int = 0
    agent_preset: str | None = None
    version: int = LOG_VERSION
    nulls: frozenset[str] = frozenset()
    """Fields of a scanned header that were null, which is present and wrong; a session refuses them."""

    @classmethod
    def from_json(cls, value: object) -> "SessionHeader":
        """The header that *value* is; unknown keys are dropped. EventError names a field that is wrong."""
        return cls._read(value, scanning=False)

    @classmethod
    def scanned(cls, value: object) -> "SessionHeader":
        """The header of a stored log, checked as far as reading needs it: cwd and lineage are the session's business."""
        return cls._read(value, scanning=True)

    @classmethod
    def _read(cls, value: object, scanning: bool) -> "SessionHeader":
        if not isinstance(value, dict):
            raise EventError("header", f"an object belongs here, not a {type(value).__name__}")
        if natural(value.get("version"), "header.version") != LOG_VERSION:
            raise EventError("header.version", f"version {LOG_VERSION} is read here")
        for retired in ("sandboxMode", "approvalPolicy"):
            if retired in value:
                raise EventError(f"header.{retired}", "this field was retired")
        if type(value.get("id")) is not str or not (value["id"] or scanning):
            raise EventError("header.id", "a session has an id")
        if scanning and "delegationDepth" not in value:
            raise EventError("header.delegationDepth", "a stored header has this field")
        known: dict[str, Any] = {name: _joined(value[key]) for key, name in _KEYS.items() if key in value}
        known["version"] = LOG_VERSION
        known["nulls"] = frozenset(key for key in _KEYS if key in value and value[key] is None)
        known["created_at"] = natural(value.get("createdAt"), "header.createdAt")
        known["delegation_depth"] = natural(value.get("delegationDepth", 0), "header.delegationDepth")
        if "origin" in value and value["origin"] != "subagent":
            raise EventError("header.origin", "it is subagent or absent")
        _check_text(value, "agentPreset")
        if not scanning:
            _check_rest(known, value)
        return cls(**known)

    def to_json(self) -> dict[str, Any]:
        """The header as a plain JSON object, without the fields that it does not have."""
        found = {key: getattr(self, name) for key, name in _KEYS.items()}
        return {key: value for key, value in found.items() if value is not None or key in self.nulls}

    def check(self) -> None:
        """Check all that `from_json` checks; a header that was only scanned may still be wrong."""
        if SessionHeader.from_json(self.to_json()).id != self.id:
            raise EventError("header.id", "two halves of a character stand in it; labsupport.lossless.joined(id) joins them")


def _check_rest(known: dict[str, Any], value: dict[str, Any]) -> None:
    _check_text(value, "cwd")
    _check_text(value, "parentSession")
    if "cwd" in value and not value["cwd"].startswith("/"):
        raise EventError("header.cwd", "an absolute path belongs here")
    if "seedLength" in value:
        known["seed_length"] = natural(value["seedLength"], "header.seedLength")


def _joined(value: Any) -> Any:
    """A text as it comes back from JSON, which joins the two halves of a pair."""
    return joined(value) if type(value) is str else value


def _check_text(value: dict[str, Any], key: str) -> None:
    if key in value and type(value[key]) is not str:
        raise EventError(f"header.{key}", "a string belongs here")
