"""The rows of a memory: entries, readers, versions, evidence, and the tombstones of what was forgotten (chapter 4, §4.11)."""
import hashlib
import sqlite3
from collections.abc import Collection
from dataclasses import dataclass

from labsupport.outside.base import to_bytes, to_text
from labsupport.outside.extraction import Evidence, Fact

SCHEMA = """
CREATE TABLE salt (bytes BLOB NOT NULL CHECK (typeof(bytes) = 'blob' AND length(bytes) = 32));
INSERT INTO salt VALUES (randomblob(32));
CREATE TABLE entry (
    id INTEGER PRIMARY KEY, owner BLOB NOT NULL CHECK (typeof(owner) = 'blob'), key BLOB NOT NULL CHECK (typeof(key) = 'blob'),
    version INTEGER NOT NULL CHECK (typeof(version) = 'integer'), UNIQUE (owner, key),
    FOREIGN KEY (id, version) REFERENCES version (entry, version) DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE reader (
    entry INTEGER NOT NULL REFERENCES entry ON DELETE CASCADE, reader BLOB NOT NULL CHECK (typeof(reader) = 'blob'),
    PRIMARY KEY (entry, reader)) WITHOUT ROWID;
CREATE TABLE version (
    entry INTEGER NOT NULL REFERENCES entry ON DELETE CASCADE, version INTEGER NOT NULL,
    value BLOB NOT NULL CHECK (typeof(value) = 'blob'), time INTEGER NOT NULL CHECK (typeof(time) = 'integer'),
    PRIMARY KEY (entry, version)) WITHOUT ROWID;
CREATE TABLE evidence (
    entry INTEGER NOT NULL, version INTEGER NOT NULL, session BLOB NOT NULL CHECK (typeof(session) = 'blob'),
    seq INTEGER NOT NULL CHECK (typeof(seq) = 'integer' AND seq BETWEEN 0 AND 9007199254740991),
    PRIMARY KEY (entry, version, session, seq),
    FOREIGN KEY (entry, version) REFERENCES version ON DELETE CASCADE) WITHOUT ROWID;
CREATE TABLE tombstone (digest BLOB PRIMARY KEY, through INTEGER NOT NULL) WITHOUT ROWID
"""


@dataclass(frozen=True)
class Entry:
    """What is remembered now: *version* counts the values so far, *time* (epoch ms) is when this one was taken in."""

    key: str
    value: str
    version: int
    owner: str
    readers: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    time: int


@dataclass(frozen=True)
class Version:
    """One value that an entry had, or has."""

    version: int
    value: str
    evidence: tuple[Evidence, ...]
    time: int


class Rows:
    """What a memory reads and writes; each call is made inside a transaction of the caller."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self.database = database

    def find(self, owner: str, key: str) -> tuple[int, int] | None:
        """The id and version of the entry."""
        row: tuple[int, int] | None = self.database.execute(
            "SELECT id, version FROM entry WHERE owner = ? AND key = ?", (to_bytes(owner), to_bytes(key))).fetchone()
        return row

    def seen_by(self, reader: str) -> list[Entry]:
        """The entries of *reader*, and those that *reader* was let in to."""
        rows = self.database.execute(
            "SELECT id FROM entry WHERE owner = ?1 OR id IN (SELECT entry FROM reader WHERE reader = ?1) "
            "ORDER BY owner, key", (to_bytes(reader),)).fetchall()
        return [self.entry(entry) for entry, in rows]

    def may_read(self, entry: int, reader: str) -> bool:
        """Whether *reader* is the owner, or one of the readers."""
        return self.database.execute(
            "SELECT 1 FROM entry WHERE id = ?1 AND owner = ?2 UNION SELECT 1 FROM reader WHERE entry = ?1 AND reader = ?2",
            (entry, to_bytes(reader))).fetchone() is not None

    def value(self, entry: int, version: int) -> str:
        """What the entry was in this version."""
        value, = self.database.execute(
            "SELECT value FROM version WHERE entry = ? AND version = ?", (entry, version)).fetchone()
        return to_text(value)

    def versions(self, entry: int) -> list[Version]:
        """All values, oldest first."""
        rows = self.database.execute(
            "SELECT version, value, time FROM version WHERE entry = ? ORDER BY version", (entry,)).fetchall()
        return [Version(version, to_text(value), self.evidence(entry, version), time) for version, value, time in rows]

    def evidence(self, entry: int, version: int) -> tuple[Evidence, ...]:
        """What one version rests on, by session."""
        by_session: dict[bytes, list[int]] = {}
        for session, seq in self.database.execute(
                "SELECT session, seq FROM evidence WHERE entry = ? AND version = ? ORDER BY session, seq", (entry, version)):
            by_session.setdefault(session, []).append(seq)
        return tuple(Evidence(to_text(session), tuple(seqs)) for session, seqs in by_session.items())

    def entry(self, entry: int) -> Entry:
        """The entry as it is now."""
        owner, key, version, value, time = self.database.execute(
            "SELECT owner, key, version, value, time FROM entry JOIN version USING (version) WHERE id = ?1 AND entry = ?1",
            (entry,)).fetchone()
        readers = self.database.execute("SELECT reader FROM reader WHERE entry = ? ORDER BY reader", (entry,)).fetchall()
        return Entry(to_text(key), to_text(value), version, to_text(owner), tuple(to_text(reader) for reader, in readers),
                     self.evidence(entry, version), time)

    def add_entry(self, owner: str, key: str, readers: Collection[str]) -> int:
        """A new entry, for which `add_version` has yet to give the first value; its id."""
        self.database.execute("INSERT INTO entry (owner, key, version) VALUES (?, ?, 0)", (to_bytes(owner), to_bytes(key)))
        entry, = self.database.execute("SELECT last_insert_rowid()").fetchone()
        self.set_readers(entry, readers)
        return int(entry)

    def set_readers(self, entry: int, readers: Collection[str]) -> None:
        """Let these in, and nobody else."""
        self.database.execute("DELETE FROM reader WHERE entry = ?", (entry,))
        self.database.executemany("INSERT INTO reader VALUES (?, ?)", [(entry, to_bytes(reader)) for reader in readers])

    def add_version(self, entry: int, version: int, value: str, fresh: Evidence, time: int) -> None:
        """Let *value* follow on *version*."""
        self.database.execute("INSERT INTO version VALUES (?, ?, ?, ?)", (entry, version + 1, to_bytes(value), time))
        self.database.execute("UPDATE entry SET version = ? WHERE id = ?", (version + 1, entry))
        self.add_evidence(entry, version + 1, fresh)

    def add_evidence(self, entry: int, version: int, fresh: Evidence) -> None:
        """One more place where this value was said."""
        session = to_bytes(fresh.session)
        self.database.executemany("INSERT OR IGNORE INTO evidence VALUES (?, ?, ?, ?)",
                                  [(entry, version, session, seq) for seq in fresh.seqs])

    def is_overruled(self, entry: int, value: str, fresh: Evidence) -> bool:
        """Whether an older version with this value rests on all of the evidence already."""
        known = self.database.execute(
            "SELECT seq FROM evidence JOIN version USING (entry, version) WHERE entry = ? AND value = ? AND session = ?",
            (entry, to_bytes(value), to_bytes(fresh.session))).fetchall()
        return set(fresh.seqs) <= {seq for seq, in known}

    def fresh(self, fact: Fact, owner: str) -> Evidence | None:
        """The part of the evidence that was not there when the fact, or its session, was forgotten."""
        session = fact.evidence.session
        through, = self.database.execute(
            "SELECT coalesce(max(through), -1) FROM tombstone WHERE digest IN (?, ?)",
            (self._digest(session), self._digest(owner, fact.key, session))).fetchone()
        seqs = tuple(seq for seq in fact.evidence.seqs if seq > through)
        return Evidence(session, seqs) if seqs else None

    def delete(self, entry: int) -> tuple[int, int]:
        """Delete the entry and bury it; how many versions and seqs it had."""
        owner, key = self.database.execute("SELECT owner, key FROM entry WHERE id = ?", (entry,)).fetchone()
        for session, last in self.database.execute(
                "SELECT session, max(seq) FROM evidence WHERE entry = ? GROUP BY session", (entry,)).fetchall():
            self.bury(last, to_text(owner), to_text(key), to_text(session))
        versions, = self.database.execute("SELECT count(*) FROM version WHERE entry = ?", (entry,)).fetchone()
        seqs, = self.database.execute("SELECT count(*) FROM evidence WHERE entry = ?", (entry,)).fetchone()
        self.database.execute("DELETE FROM entry WHERE id = ?", (entry,))
        return versions, seqs

    def withdraw(self, session: str) -> list[tuple[int, str, str]]:
        """Delete all evidence from *session*; the id, owner and key of the entries that had some."""
        rows = self.database.execute(
            "SELECT DISTINCT id, owner, key FROM entry JOIN evidence ON entry = id WHERE session = ? ORDER BY owner, key",
            (to_bytes(session),)).fetchall()
        self.database.execute("DELETE FROM evidence WHERE session = ?", (to_bytes(session),))
        return [(entry, to_text(owner), to_text(key)) for entry, owner, key in rows]

    def is_supported(self, entry: int) -> bool:
        """Whether the present value has any evidence."""
        return self.database.execute(
            "SELECT 1 FROM evidence JOIN entry ON entry = id AND evidence.version = entry.version WHERE id = ?",
            (entry,)).fetchone() is not None

    def delete_unsupported_versions(self, entry: int) -> None:
        """Delete the values of the entry that have no evidence."""
        self.database.execute(
            "DELETE FROM version WHERE entry = ?1 AND version NOT IN (SELECT version FROM evidence WHERE entry = ?1)", (entry,))

    def bury(self, through: int, *names: str) -> None:
        """Remember of *names*, an owner, key and session or a session alone, that nothing up to seq *through* counts."""
        self.database.execute(
            "INSERT INTO tombstone VALUES (?, ?) ON CONFLICT DO UPDATE SET through = max(through, excluded.through)",
            (self._digest(*names), through))

    def _digest(self, *names: str) -> bytes:
        """A name on a tombstone: it tells whether it is this one, to those who guess it; it does not say what it is."""
        salt, = self.database.execute("SELECT bytes FROM salt").fetchone()
        digest = hashlib.blake2b(digest_size=32, key=salt)
        for name in map(to_bytes, names):
            digest.update(len(name).to_bytes(8, "big") + name)
        return digest.digest()
