"""Keys, one row each: what they sealed can be read as long as they are there, and not a moment longer (chapter 4, §4.13)."""
import base64
import binascii
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from labsupport.database import Database, Kind
from labsupport.errors import KeyMissingError, SealError
from labsupport.outside.base import OutsideStore

_KIND = Kind(0x4B455953, 1, """
CREATE TABLE keys (name TEXT NOT NULL, version INTEGER NOT NULL, wrapped BLOB, made INTEGER NOT NULL, retired INTEGER,
    deleted INTEGER, PRIMARY KEY (name, version)) WITHOUT ROWID
""")  # "KEYS"
_NAME = re.compile(r"[a-z0-9._-]+(/[a-z0-9._-]+)*", re.ASCII)
_NONCE, _LENGTH = 12, 32


def derive_key(root: bytes, purpose: str) -> bytes:
    """A key of 32 bytes for *purpose*, the same for the same *root*: HKDF with SHA-256.

    >>> derive_key(bytes(32), "attachments/clinic-a") == derive_key(bytes(32), "attachments/clinic-b")
    False

    Whoever has the root can derive it again, so deleting it deletes nothing. For what is to be deleted, take `Keys`.
    """
    return HKDF(SHA256(), _LENGTH, salt=None, info=purpose.encode()).derive(_checked(root))


@dataclass(frozen=True)
class KeyState:
    """The key *name* in *version*: when it was *made*, *retired* (another one took its place), *deleted*, in milliseconds."""

    name: str
    version: int
    made: int
    retired: int | None
    deleted: int | None


@dataclass(frozen=True)
class KeyRemoved:
    """The *versions* of the key *name* that were deleted, and in *unreached* where one of them may still be.

    "backup" is any copy of the database, which opens with the root; "process" one that used it; "wal" pages that a reader
    holds; "plain" is no key at all: what was ever read with it, exported, or sent to a model.
    """

    name: str
    versions: tuple[int, ...]
    unreached: tuple[str, ...]


class Keys(OutsideStore):
    """The keys in the database *path*, each random and wrapped by *root*, a secret of 32 bytes that lies elsewhere.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> keys = Keys(f"{folder.name}/keys.db", root=bytes(32), clock=lambda: 5)
    >>> version, sealed = keys.seal("clinic-a/prompt", b"Ana has a cough", "here")
    >>> keys.open("clinic-a/prompt", version, sealed, "here")
    b'Ana has a cough'

    A rotation makes another version for what is sealed from now on; older ones open what they sealed:

    >>> keys.rotate("clinic-a/prompt"), keys.seal("clinic-a/prompt", b"", "here")[0], version
    (2, 2, 1)
    >>> keys.delete("clinic-a/prompt", 1).versions
    (1,)
    >>> keys.open("clinic-a/prompt", 1, sealed, "here")
    Traceback (most recent call last):
    labsupport.errors.KeyMissingError: the key 'clinic-a/prompt' in version 1 was deleted, so what it sealed cannot be read ...
    >>> keys.close(); folder.cleanup()

    What is sealed opens at the same place alone: SealError for another one, or an altered text, or another root. *new_bytes*
    makes keys and nonces; a test may fix it, and nobody else should. Errors of the file as in `OutsideStore`.
    Chapter 4, §4.13.
    """

    def __init__(self, path: Path | str, root: bytes, clock: Callable[[], int],
                 new_bytes: Callable[[int], bytes] = secrets.token_bytes) -> None:
        self._root, self._new = AESGCM(_checked(root)), new_bytes
        super().__init__(path, _KIND, clock)

    def seal(self, name: str, data: bytes, where: str) -> tuple[int, str]:
        """*data* under the newest key *name*, which is made when there is none; the key's version, and the text."""
        with self._transaction(write=True) as rows:
            found = rows.execute("SELECT version, wrapped FROM keys WHERE name = ? AND wrapped IS NOT NULL "
                                 "ORDER BY version DESC", (_named(name),)).fetchone()
            version, wrapped = found or self._make(rows, name)
        nonce = self._new(_NONCE)
        sealed = nonce + self._unwrapped(name, version, wrapped).encrypt(nonce, data, _about(name, version, where))
        return version, base64.urlsafe_b64encode(sealed).decode()

    def open(self, name: str, version: int, sealed: str, where: str) -> bytes:
        """What was sealed. KeyMissingError when the key is not there, SealError when it does not open it."""
        with self._transaction() as rows:
            found = rows.execute("SELECT wrapped FROM keys WHERE name = ? AND version = ?", (_named(name), version)).fetchone()
        if found is None or found[0] is None:
            raise KeyMissingError(name, version, deleted=found is not None)
        try:
            data = base64.b64decode(sealed, altchars=b"-_", validate=True)
            return self._unwrapped(name, version, found[0]).decrypt(data[:_NONCE], data[_NONCE:], _about(name, version, where))
        except (InvalidTag, binascii.Error, ValueError):
            raise SealError(name, "this is not what was sealed with this key at this place: it was altered, or moved here "
                                  "from somewhere else") from None

    def has(self, name: str, version: int) -> bool:
        """Whether the key is there."""
        return any(it.version == version and it.deleted is None for it in self.states(name))

    def states(self, prefix: str = "") -> list[KeyState]:
        """All keys whose name is *prefix* or begins with it and a slash, deleted ones too; every key for ""."""
        with self._transaction() as rows:
            found = [KeyState(*row) for row in rows.execute(
                "SELECT name, version, made, retired, deleted FROM keys ORDER BY name, version")]
        return [it for it in found if not prefix or it.name == prefix or it.name.startswith(f"{prefix}/")]

    def rotate(self, name: str) -> int:
        """Retire the newest key *name* and make another; its version. Nothing that was sealed is touched."""
        with self._transaction(write=True) as rows:
            rows.execute("UPDATE keys SET retired = ? WHERE name = ? AND retired IS NULL", (self._now(), _named(name)))
            return self._make(rows, name)[0]

    def delete(self, name: str, version: int | None = None) -> KeyRemoved:
        """Delete the key in *version*, or in all of them, down to the bytes in the file. KeyMissingError when none is there.

        That there was one stays known, so that its number is not given again, and so that an error can say "deleted".
        """
        with self._transaction(write=True) as rows:
            there = [number for number, in rows.execute(
                "SELECT version FROM keys WHERE name = ? AND wrapped IS NOT NULL ORDER BY version", (_named(name),))]
            doomed = [number for number in there if version in (None, number)]
            if not doomed:
                ever = rows.execute("SELECT count(*) FROM keys WHERE name = ? AND version = coalesce(?, version)",
                                    (name, version)).fetchone()[0]
                raise KeyMissingError(name, version, deleted=bool(ever))
            rows.executemany("UPDATE keys SET wrapped = NULL, deleted = ?, retired = coalesce(retired, ?) "
                             "WHERE name = ? AND version = ?", [(self._now(), self._now(), name, number) for number in doomed])
            Database.want_erasure(rows)
        left = ("backup", "process", "plain") if self._database.erase() else ("backup", "process", "plain", "wal")
        return KeyRemoved(name, tuple(doomed), left)

    def rewrap(self, root: bytes) -> int:
        """Wrap every key by another *root*, and let go of the old one; how many there were. Nothing is sealed anew."""
        fresh = AESGCM(_checked(root))
        with self._transaction(write=True) as rows:
            there = rows.execute("SELECT name, version, wrapped FROM keys WHERE wrapped IS NOT NULL").fetchall()
            rows.executemany("UPDATE keys SET wrapped = ? WHERE name = ? AND version = ?", [
                (self._wrapped(fresh, name, version, self._key(name, version, wrapped)), name, version)
                for name, version, wrapped in there])
            Database.want_erasure(rows)
        self._root = fresh
        self._database.erase()
        return len(there)

    def _make(self, rows: Connection, name: str) -> tuple[int, bytes]:
        version = rows.execute("SELECT coalesce(max(version), 0) + 1 FROM keys WHERE name = ?", (name,)).fetchone()[0]
        wrapped = self._wrapped(self._root, name, version, self._new(_LENGTH))
        rows.execute("INSERT INTO keys VALUES (?, ?, ?, ?, NULL, NULL)", (name, version, wrapped, self._now()))
        return version, wrapped

    def _wrapped(self, root: AESGCM, name: str, version: int, key: bytes) -> bytes:
        nonce = self._new(_NONCE)
        return nonce + root.encrypt(nonce, key, _about(name, version, "key"))

    def _key(self, name: str, version: int, wrapped: bytes) -> bytes:
        try:
            return self._root.decrypt(wrapped[:_NONCE], wrapped[_NONCE:], _about(name, version, "key"))
        except InvalidTag:
            raise SealError(name, "the root does not open this key: it is another root, or the row was altered") from None

    def _unwrapped(self, name: str, version: int, wrapped: bytes) -> AESGCM:
        return AESGCM(self._key(name, version, wrapped))


def _about(name: str, version: int, where: str) -> bytes:
    """What a seal vouches for besides the data: which key, and at which place."""
    return f"{name}@{version}:{where}".encode("utf-8", "surrogatepass")


def _named(name: str) -> str:
    if type(name) is not str or len(name) > 255 or not _NAME.fullmatch(name):
        raise ValueError("the name of a key is made of a-z, 0-9, ., _ and -, with / between its parts")
    return name


def _checked(root: bytes) -> bytes:
    if type(root) is not bytes or len(root) != _LENGTH:
        raise ValueError(f"the root is a secret of {_LENGTH} bytes; secrets.token_bytes({_LENGTH}) makes one")
    return root
