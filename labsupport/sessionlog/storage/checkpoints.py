"""Checkpoints of projections beside a log: a row is used only where the log proves that it belongs to it (chapter 4, §4.7)."""
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from labsupport.sessionlog.events import SessionEvent


@dataclass(frozen=True)
class Row:
    """The state *val* of unit *key*, version *ver*, after event *seq*; *proof* is of that event, *revision* of the log then."""

    key: str
    ver: int
    seq: int
    val: Any
    proof: str
    revision: str


ROW_FIELDS = ("key", "ver", "seq", "val", "proof", "revision")


def stored_rows(found: Iterable[Any], fields: Callable[[Any], tuple[Any, ...]]) -> list[Row]:
    """The rows that *fields* takes out of what was *found*; what is no row is passed over, for a cache may be lost."""
    rows = []
    for item in found:
        try:
            row = Row(*fields(item))
        except (ValueError, TypeError, KeyError, AttributeError):
            continue
        named = all(type(word) is str for word in (row.key, row.proof, row.revision))
        if named and type(row.ver) is type(row.seq) is int and row.ver >= 0 and row.seq >= -1:
            rows.append(row)
    return rows


@dataclass(frozen=True)
class Refused:
    """A row that is not used, and *why*."""

    key: str
    ver: int
    seq: int
    why: str


@dataclass(frozen=True)
class Checkpoint:
    """The *rows* that a registry restores from, and those that were *refused*."""

    rows: dict[str, Any]
    refused: tuple[Refused, ...]


def proof_of(events: Sequence[SessionEvent], seq: int) -> str:
    """A digest of event *seq*, the same however a store writes it; empty before the first event.

    It holds the event's data in a form that cannot be read back, but that can be guessed: keep it as close as the log.
    """
    if seq < 0:
        return ""
    event = events[seq]
    try:
        text = json.dumps(event.to_json(), sort_keys=True)
    except RecursionError:  # data nested thousands of levels deep: its envelope and its length stand for it
        text = json.dumps([event.type, event.seq, event.time, len(bytes(event.json_text))])
    return hashlib.sha256(text.encode()).hexdigest()


def new_rows(kept: Iterable[Row], rows: Mapping[str, Any], events: Sequence[SessionEvent], revision: str) -> list[Row]:
    """*kept* and *rows* together. A row takes the place of those of its key and version up to its own event."""
    made = [Row(key, row["ver"], row["seq"], row["val"], proof_of(events, row["seq"]), revision) for key, row in rows.items()]
    latest = {(row.key, row.ver): row.seq for row in made}
    return [row for row in kept if row.seq > latest.get((row.key, row.ver), -2)] + made


def choose(kept: Iterable[Row], versions: Mapping[str, int], revision: str,
           read: Callable[[], Sequence[SessionEvent]]) -> Checkpoint:
    """Of each key in *kept* the latest row that can be proven. *read* gives the log, where its *revision* is another one."""
    by_key: dict[str, list[Row]] = {}
    for row in kept:
        by_key.setdefault(row.key, []).append(row)
    rows: dict[str, Any] = {}
    refused: list[Refused] = []
    log: Sequence[SessionEvent] | None = None
    for key, found in by_key.items():
        wanted = versions.get(key, max(row.ver for row in found))
        for row in sorted(found, key=lambda row: row.seq, reverse=True):
            why = "" if row.ver == wanted else f"it was made by state_version {row.ver}, and {wanted} is wanted"
            if not why and row.revision != revision:
                log = read() if log is None else log
                why = _disproof(row, log)
            if why:
                refused.append(Refused(key, row.ver, row.seq, why))
            elif key not in rows:
                rows[key] = {"ver": row.ver, "seq": row.seq, "val": row.val}
    return Checkpoint(rows, tuple(refused))


def _disproof(row: Row, log: Sequence[SessionEvent]) -> str:
    if row.seq >= len(log):
        return f"it is for event {row.seq}, and the log ends before {len(log)}"
    return "" if proof_of(log, row.seq) == row.proof else f"event {row.seq} is another one than it was made from"
