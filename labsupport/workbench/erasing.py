"""Lab B10's deletions, done for real: who asks, what holds, what goes, which requests are lost, and where it still is."""
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labsupport.errors import HoldError, RoleError
from labsupport.sessionlog import SessionEvent
from labsupport.sessionlog.fields import rewrite
from labsupport.sessionlog.kin import kin_of
from labsupport.sessionlog.privacy import Need, RequestLevel, lost_requests, needs_of, request_levels, reveal_log
from labsupport.sessionlog.redaction import texts_in
from labsupport.sessionlog.request import request_seqs
from labsupport.sessionlog.retention import Hold, check_holds
from labsupport.sessionlog.roles import Role
from labsupport.sessionlog.storage import JsonlStore
from labsupport.workbench.privacy_scene import BACKUP, EXPORT, LETTER, NAME, SECOND, VISIT, key, opened, stored

PLACES = ("title", "prompt", "answer", "tool", "chunk", "attachments", "fork", "subagent", "backup", "backup_keys", "export",
          "provider")
"""Where the patient's name may be: in the visit's log by class, in the files of the attachments, in its fork and its sub-agent,
in the backup with the keys of today and with the keys of then, in an old export, and with the provider of the model, where
nobody here can look."""


@dataclass(frozen=True)
class Target:
    """What is to be deleted: keys and attachments (*needs*), and whole *logs*."""

    needs: tuple[Need, ...] = ()
    logs: tuple[str, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """The names that a hold may be on."""
        return (*(need.label for need in self.needs), *self.logs)


@dataclass(frozen=True)
class Erasure:
    """What a deletion came to: the requests that are *lost* by it, as (session, seq), and where it does not reach."""

    removed: tuple[str, ...]
    lost: tuple[tuple[str, int], ...]
    unreached: tuple[str, ...]


def targets(logs: Mapping[str, Sequence[SessionEvent]]) -> dict[str, Target]:
    """What the lab deletes, by name."""
    result = next(event for event in logs[VISIT] if event.type == "tool/result")
    found, = (need for need in needs_of(result.read()) if need.kind == "attachment")
    every = tuple(sorted({need for events in logs.values() for event in events for need in needs_of(event.read())}))
    keys = tuple(need for need in every if need.kind == "key")
    return {"nothing": Target(), "prompt1": Target((key("prompt", 1),)), "prompt2": Target((key("prompt", 2),)),
            "title1": Target((key("title", 1),)), "result": Target((found,)), "visit": Target(logs=(VISIT,)),
            "letter": Target(logs=(LETTER,)), "keys": Target(keys), "all": Target(every)}


def erase(folder: str | Path, target: Target, role: Role, holds: Iterable[Hold] = ()) -> Erasure:
    """Delete *target* from *folder*, as *role* asks. RoleError and HoldError before anything is touched."""
    role.check("delete")
    check_holds(target.labels, holds)
    logs, store = stored(folder), JsonlStore(Path(folder) / "logs")
    removed: list[str] = []
    unreached: list[str] = []
    with opened(folder) as vault:
        lost = lost_requests(logs, target.needs, lambda need: vault.has(need.kind, need.name, need.version))
        for need in target.needs:
            left = (vault.keys.delete(need.name, need.version).unreached if need.kind == "key" else
                    vault.attachments.delete(need.name).unreached)
            removed.append(need.label)
            unreached += left
    for id in target.logs:
        lost += [(id, seq) for seq in request_seqs(logs[id])]
        kin = [each.kind for each in kin_of(store.list(), id)]
        kept = ["attachment"] if any(need.kind == "attachment" for event in logs[id] for need in needs_of(event.read())) else []
        done = store.delete(id)
        removed += done.removed
        unreached += [*kept, *kin, *(left.kind for left in done.unreached if left.kind not in kin)]
    return Erasure(tuple(removed), tuple(lost), tuple(dict.fromkeys(unreached)))


def key_bytes_found(folder: str | Path, need: Need, role: Role) -> tuple[bool, bool]:
    """Whether the wrapped key stands in any file of the database of keys, free pages and write-ahead log too: before *role*
    deletes it, and after.
    """
    with closing(sqlite3.connect(Path(folder) / "keys.db")) as database:
        wrapped, = database.execute("SELECT wrapped FROM keys WHERE name = ? AND version = ?",
                                    (need.name, need.version)).fetchone()
    before = wrapped in _bytes(folder)
    erase(folder, Target((need,)), role)
    return before, wrapped in _bytes(folder)


def _bytes(folder: str | Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(Path(folder).glob("keys.db*")))


@dataclass(frozen=True)
class Looked:
    """How things stand in a folder: the *levels* of the requests of each log (None: the log is gone), in which of `PLACES` the
    name can be *found* (None: nobody here can look), and what was *erased*, or who *refused* it.
    """

    levels: Mapping[str, list[RequestLevel] | None]
    found: Mapping[str, bool | None]
    erased: Erasure | None
    refused: RoleError | HoldError | None


def look(folder: str | Path, ids: Iterable[str], erased: Erasure | None = None,
         refused: RoleError | HoldError | None = None) -> Looked:
    """Look into *folder*, for the logs *ids*."""
    logs = stored(folder)
    with opened(folder) as vault:
        levels = {id: request_levels(logs[id], lambda need: vault.has(need.kind, need.name, need.version))
                  if id in logs else None for id in ids}
    return Looked(levels, places(folder), erased, refused)


def attempt(folder: str | Path, ids: Iterable[str], target: Target, role: Role, holds: Iterable[Hold] = ()) -> Looked:
    """Try a deletion, and look what became of it."""
    erased, refused = None, None
    try:
        erased = erase(folder, target, role, holds) if target.labels else None
    except (RoleError, HoldError) as error:
        refused = error
    return look(folder, ids, erased, refused)


def places(folder: str | Path, word: str = NAME) -> dict[str, bool | None]:
    """Where *word* can be read now, by whoever has the files and the root."""
    folder = Path(folder)
    visit = contents(_read(folder, VISIT))
    found: dict[str, bool | None] = {kind: says(visit.get(kind, []), word) for kind in PLACES[:5]}
    with opened(folder) as vault:
        kept = [vault.get(ref).decode() for ref in vault.attachments.refs()]
    found["attachments"] = says(kept, word)
    found["fork"], found["subagent"] = (says(_data(_read(folder, id)), word) for id in (SECOND, LETTER))
    found["backup"] = says(_data(_read(folder / BACKUP, VISIT, keys=folder)), word)
    found["backup_keys"] = says(_data(_read(folder / BACKUP, VISIT)), word)
    found["export"] = says(_data(JsonlStore(folder / EXPORT).inspect(VISIT).events), word)
    found["provider"] = None
    return found


def says(values: Any, word: str) -> bool:
    """Whether *word* can be read in *values*."""
    return any(word in text for text in texts_in(values))


def _data(events: Iterable[SessionEvent]) -> list[Any]:
    return [event.read() for event in events]


def _read(folder: Path, id: str, keys: Path | None = None) -> list[SessionEvent]:
    """What can be read of a log; nothing where it is gone."""
    logs = stored(folder)
    with opened(folder, keys) as vault:
        return reveal_log(logs.get(id, []), vault).events


class _Collect:
    """Content by its class."""

    def __init__(self) -> None:
        self.found: dict[str, list[Any]] = {}

    def content(self, kind: str, value: Any, where: str) -> Any:
        self.found.setdefault(kind, []).append(value)

    def rest(self, kind: str, fields: dict[str, Any], where: str) -> dict[str, Any]:
        self.content(kind, fields, where)
        return {}

    def name(self, kind: str, value: str) -> str:
        return value

    def word(self, value: str, known: frozenset[str], where: str) -> str:
        return value


def contents(events: Iterable[SessionEvent]) -> dict[str, list[Any]]:
    """What the *events* say, class by class."""
    collect = _Collect()
    for event in events:
        rewrite(event.type, event.read(), collect)
    return collect.found


