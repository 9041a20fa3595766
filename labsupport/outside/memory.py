"""Facts that outlive the session they were said in: to this store a session is only evidence (chapter 4, §4.11)."""
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from labsupport.database import Database, Kind
from labsupport.errors import MemoryAccessError, MemoryConflictError
from labsupport.outside.base import OutsideStore
from labsupport.outside.entries import SCHEMA, Entry, Rows, Version
from labsupport.outside.extraction import HIGHEST_SEQ, Evidence, Fact

_KIND = Kind(0x4C4D454D, 1, SCHEMA, check=True)  # "LMEM"


@dataclass(frozen=True)
class Forgotten:
    """How many values and pieces of evidence went; *erased* is False while another process still reads the old bytes."""

    versions: int
    seqs: int
    erased: bool


@dataclass(frozen=True)
class SessionForgotten:
    """The (owner, key) of each entry that went, and of each that other sessions still support."""

    forgotten: tuple[tuple[str, str], ...]
    kept: tuple[tuple[str, str], ...]
    erased: bool


class Memory(OutsideStore):
    """The memory at *path*; *clock* gives epoch milliseconds.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> memory = Memory(Path(folder.name, "memory.db"), clock=lambda: 1000)
    >>> fact = Fact("language", "en", Evidence("monday", (3,)))
    >>> memory.remember(fact, owner="ana").version
    1

    Another value is a conflict; nothing changes until somebody decides:

    >>> later = Fact("language", "zh", Evidence("friday", (8,)))
    >>> memory.remember(later, owner="ana")
    Traceback (most recent call last):
    labsupport.errors.MemoryConflictError: another value is remembered here, in version 1 (see .stored and .offered)...
    >>> memory.update(later, owner="ana", expected_version=1).version, memory.read("language", reader="ana").value
    (2, 'zh')

    What is forgotten does not come back from an old session, because a session is evidence and not memory:

    >>> memory.forget("language", owner="ana")
    Forgotten(versions=2, seqs=2, erased=True)
    >>> memory.remember(fact, owner="ana") is None
    True
    >>> memory.close(); folder.cleanup()

    Each owner has keys of their own. *owner* and *reader* are names that the caller vouches for. Whoever opens a memory may see
    the errors of `OutsideStore`. Chapter 4, §4.11.
    """

    def __init__(self, path: Path | str, clock: Callable[[], int]) -> None:
        super().__init__(path, _KIND, clock)

    def remember(self, fact: Fact, owner: str, readers: Collection[str] = ()) -> Entry | None:
        """Take in *fact* for *owner* and, when it is new, *readers*; the entry as it stands now.

        The same value again is more evidence for the same version; the readers stay as they were (`permit` changes them).
        Evidence that an older version rests on is no news: the entry stays. Another value raises MemoryConflictError.
        None: this was forgotten, and all the evidence is from before that.
        """
        readers, time = _names(readers), self._now()
        with self._rows(write=True) as rows:
            fresh = rows.fresh(fact, owner)
            if fresh is None:
                return None
            found = rows.find(owner, fact.key)
            if found is None:
                found = rows.add_entry(owner, fact.key, readers), 0
                rows.add_version(*found, fact.value, fresh, time)
            elif rows.value(*found) == fact.value:
                rows.add_evidence(*found, fresh)
            elif not rows.is_overruled(found[0], fact.value, fresh):
                raise MemoryConflictError(fact.key, rows.value(*found), fact.value, found[1])
            return rows.entry(found[0])

    def update(self, fact: Fact, owner: str, expected_version: int) -> Entry | None:
        """Let *fact* hold from now on; *expected_version* is the one that was looked at when this was decided.

        Raises MemoryConflictError when the entry went on since, MemoryAccessError when *owner* has none. None:
        as in `remember`.
        """
        time = self._now()
        with self._rows(write=True) as rows:
            fresh, found = rows.fresh(fact, owner), rows.find(owner, fact.key)
            if found is None:
                raise MemoryAccessError(fact.key, owner)
            stored = rows.value(*found)
            if found[1] != expected_version:
                raise MemoryConflictError(fact.key, stored, fact.value, found[1])
            if fresh is None:
                return None
            if stored == fact.value:
                rows.add_evidence(*found, fresh)
            else:
                rows.add_version(*found, fact.value, fresh, time)
            return rows.entry(found[0])

    def permit(self, key: str, owner: str, readers: Collection[str]) -> Entry:
        """Let *readers*, and beside *owner* nobody else, read the entry from now on. Raises MemoryAccessError."""
        readers = _names(readers)
        with self._rows(write=True) as rows:
            entry, _ = _own(rows, key, owner)
            rows.set_readers(entry, readers)
            return rows.entry(entry)

    def read(self, key: str, reader: str, owner: str | None = None) -> Entry:
        """The entry *key* of *owner* (*reader*'s own when not said).

        Raises MemoryAccessError, the same whether it is not there or not for this reader: that somebody has an entry
        "diagnosis" is already something that was not to be told.
        """
        with self._rows() as rows:
            found = rows.find(reader if owner is None else owner, key)
            if found is None or not rows.may_read(found[0], reader):
                raise MemoryAccessError(key, reader)
            return rows.entry(found[0])

    def search(self, reader: str, words: str = "") -> list[Entry]:
        """The entries that *reader* may see and whose key or value contains *words*, by owner and key; "" finds all."""
        with self._rows() as rows:
            entries = rows.seen_by(reader)
        wanted = words.casefold()
        return [entry for entry in entries if wanted in entry.key.casefold() or wanted in entry.value.casefold()]

    def history(self, key: str, owner: str) -> list[Version]:
        """All values of the entry so far, oldest first, for its owner alone. Raises MemoryAccessError for anybody else.

        Readers were let in to what holds, not to what held.
        """
        with self._rows() as rows:
            entry, _ = _own(rows, key, owner)
            return rows.versions(entry)

    def forget(self, key: str, owner: str, asked: Evidence | None = None) -> Forgotten:
        """Delete the entry with all its values and evidence, down to the bytes in the file.

        What stays is a salted digest for each session it rested on, so that nothing up to the last seq used there brings it
        back. *asked* is where the user asked for it: then nothing up to that place does. What is said later may.
        The sessions themselves and your backups still hold it. Raises MemoryAccessError.
        """
        with self._rows(write=True) as rows:
            entry, _ = _own(rows, key, owner)
            if asked is not None:
                rows.bury(asked.seqs[-1], owner, key, asked.session)
            versions, seqs = rows.delete(entry)
            Database.want_erasure(rows.database)
        return Forgotten(versions, seqs, self._database.erase())

    def forget_session(self, session: str) -> SessionForgotten:
        """Stop resting on *session*, which was deleted: its evidence goes, and nothing from it is taken in again.

        An entry whose present value had no other evidence is forgotten whole. An older value does not come back to life: it was
        overruled. An entry that other sessions support stays; older values of it that only this session knew go.
        """
        with self._rows(write=True) as rows:
            rows.bury(HIGHEST_SEQ, session)
            forgotten, kept = [], []
            for entry, owner, key in rows.withdraw(session):
                if rows.is_supported(entry):
                    rows.delete_unsupported_versions(entry)
                    kept.append((owner, key))
                else:
                    rows.delete(entry)
                    forgotten.append((owner, key))
            Database.want_erasure(rows.database)
        return SessionForgotten(tuple(forgotten), tuple(kept), self._database.erase())

    @contextmanager
    def _rows(self, *, write: bool = False) -> Iterator[Rows]:
        with self._transaction(write=write) as connection:
            yield Rows(connection)


def _own(rows: Rows, key: str, owner: str) -> tuple[int, int]:
    found = rows.find(owner, key)
    if found is None:
        raise MemoryAccessError(key, owner)
    return found


def _names(readers: Collection[str]) -> tuple[str, ...]:
    if isinstance(readers, str):
        raise TypeError("readers is a collection of names; for one reader write (name,)")
    return tuple(sorted(set(readers)))
