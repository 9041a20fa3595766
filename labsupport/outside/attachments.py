"""What is too big for a log: files that a keyed digest of their content names (chapter 4, §4.13)."""
import hashlib
import hmac
import os
import re
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from labsupport.errors import AttachmentCorruptError, AttachmentMissingError, AttachmentReferenceError, OutsideFileError
from labsupport.system import fsync_folder, make_folder, make_whole, replace_whole

WIDEST = 2000
"""How many characters of a line a page shows."""

_REF = re.compile(r"attachment:([0-9a-f]{64})", re.ASCII)
_NAME = re.compile(r"[0-9a-f]{64}", re.ASCII)
_DRAFT = re.compile(r"[0-9a-f]{64}\.[0-9]+\.[0-9]+\.draft", re.ASCII)
_SHORTEST_KEY, _PIECE = 16, 1 << 16


@dataclass(frozen=True)
class Page:
    """Some *lines* of an attachment, the *first* of which counts from 1, and how many it has in *total*."""

    first: int
    lines: tuple[str, ...]
    total: int


@dataclass(frozen=True)
class Removed:
    """What was deleted, and in *unreached* where the same may still be.

    "log" is what a log that the attachment belongs to says of it (head, tail, reference), "backup" any copy of the folder,
    "disk" what the file system freed and did not overwrite.
    """

    ref: str
    size: int
    unreached: tuple[str, ...] = ("log", "backup", "disk")


class Attachments:
    """The attachments in *folder*; *key* is a secret of at least 16 bytes, and stays the same.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> attachments = Attachments(folder.name, key=bytes(32))
    >>> ref = attachments.put(b"year,count\\n2024,17\\n2025,21\\n")
    >>> ref[:13], len(ref), attachments.size(ref)
    ('attachment:5c', 75, 27)
    >>> attachments.lines(ref, first=2, count=1)
    Page(first=2, lines=('2024,17',), total=3)

    The same bytes are the same attachment. It is not enough to guess them, though, to know whether they are here: the digest
    takes the key. A plain hash of "yes" or of a telephone number would be no secret.

    >>> attachments.put(b"year,count\\n2024,17\\n2025,21\\n") == ref, hashlib.sha256(attachments.get(ref)).hexdigest() in ref
    (True, False)
    >>> attachments.delete(ref).unreached
    ('log', 'backup', 'disk')
    >>> attachments.get(ref)
    Traceback (most recent call last):
    labsupport.errors.AttachmentMissingError: this attachment is not here: it was deleted, or it was put into another folder.
    >>> folder.cleanup()

    The name tells nothing, but the file holds its bytes as they are, and its size is there for all to see. Raises
    AttachmentReferenceError for a text that is no reference, OutsideFileError for what is in the way: a link, a folder.
    Chapter 4, §4.13.
    """

    def __init__(self, folder: Path | str, key: bytes) -> None:
        if type(key) is not bytes or len(key) < _SHORTEST_KEY:
            raise ValueError(f"the key is a secret of {_SHORTEST_KEY} bytes or more; secrets.token_bytes(32) makes one")
        self.folder, self._key, self._swept = Path(folder), key, False
        if self.folder.is_symlink() or (self.folder.exists() and not self.folder.is_dir()):
            raise OutsideFileError("attachments have a folder of their own, and this is a link or a file. Nothing was changed.",
                                   self.folder)

    def put(self, data: bytes) -> str:
        """Keep *data*, on the disk on return; its reference. What is there already stays, and is mended if it was damaged."""
        if type(data) is not bytes:
            raise TypeError("an attachment is bytes; text.encode() makes some of a text")
        name = self._digest(data).hexdigest()
        path = self.folder / name
        make_folder(self.folder)
        self._sweep()
        draft = self.folder / f"{name}.{os.getpid()}.{threading.get_ident()}.draft"
        while not self._holds(path, data, draft):
            pass  # another one's sweep, or deletion, came between
        return f"attachment:{name}"

    def _holds(self, path: Path, data: bytes, draft: Path) -> bool:
        """Let *path* hold *data*; whether it does so now."""
        try:
            if not _is_there(path):
                with suppress(FileExistsError):
                    make_whole(path, data, draft)
                    return True
            with _opened(path) as file:
                sound = file.read(len(data) + 1) == data
            if not sound:
                replace_whole(path, data, draft)
            fsync_folder(self.folder)  # who made the file may not have come so far yet
        except FileNotFoundError:
            if not self.folder.is_dir():
                raise
            return False
        return True

    def get(self, ref: str) -> bytes:
        """The bytes of *ref*. Raises AttachmentMissingError, and AttachmentCorruptError where they are not what was put."""
        with self._open(ref) as file:
            data = file.read()
        self._check(ref, self._digest(data))
        return data

    def lines(self, ref: str, first: int = 1, count: int = 20) -> Page:
        """The lines from *first* on, which counts from 1, at most *count* of them, as text that people can look at.

        All of it is read and checked as by `get`, but never more than a piece of it is in memory. Bytes that are no UTF-8 are
        shown as escapes, and a line that is wider than `WIDEST` ends in "…". Errors as in `get`.
        """
        if first < 1 or count < 0:
            raise ValueError("lines count from 1, and there cannot be fewer than none")
        digest, shown, number, begun = self._digest(b""), [], 1, b""
        inside = False
        with self._open(ref) as file:
            for piece in iter(lambda: file.readline(_PIECE), b""):
                digest.update(piece)
                inside = not piece.endswith(b"\n")
                if first <= number < first + count:
                    begun += piece[:max(0, 4 * WIDEST + 4 - len(begun))]
                    if not inside:
                        shown.append(_line(begun))
                        begun = b""
                number += not inside
        if inside and first <= number < first + count:
            shown.append(_line(begun))
        self._check(ref, digest)
        return Page(first, tuple(shown), number - (not inside))

    def size(self, ref: str) -> int:
        """How many bytes it has, without a look at them. Raises AttachmentMissingError."""
        with self._open(ref) as file:
            return os.fstat(file.fileno()).st_size

    def refs(self) -> list[str]:
        """The references of all that is here, in order; files of other names are not ours."""
        names = os.listdir(self.folder) if self.folder.is_dir() else []
        return [f"attachment:{name}" for name in sorted(names) if _NAME.fullmatch(name)]

    def delete(self, ref: str) -> Removed:
        """Remove the attachment, and what a crash left half written of it, for good on return. Raises AttachmentMissingError.

        Whatever else refers to it refers to nothing from now on. The answer says what a deletion cannot reach.
        """
        size, path = self.size(ref), self._path(ref)
        self._remove(name for name in os.listdir(self.folder) if name == path.name or (
            name.startswith(path.name) and _DRAFT.fullmatch(name)))
        return Removed(ref, size)

    def _sweep(self) -> None:
        """Remove, before the first `put`, what crashes left half written: nobody knows its reference, so nobody deletes it."""
        if not self._swept:
            self._remove(name for name in os.listdir(self.folder) if _DRAFT.fullmatch(name))
            self._swept = True

    def _remove(self, names: Iterator[str]) -> None:
        for name in names:
            (self.folder / name).unlink(missing_ok=True)
        fsync_folder(self.folder)

    def _digest(self, data: bytes) -> hmac.HMAC:
        return hmac.new(self._key, data, hashlib.sha256)

    def _check(self, ref: str, digest: hmac.HMAC) -> None:
        if not hmac.compare_digest(f"attachment:{digest.hexdigest()}", ref):
            raise AttachmentCorruptError(
                "what lies under this reference is not what was put there: the file is damaged, or its key was another one. "
                "Nothing was changed; put(data) mends it where somebody still has the data.", ref)

    def _path(self, ref: str) -> Path:
        found = _REF.fullmatch(ref) if type(ref) is str else None
        if found is None:
            raise AttachmentReferenceError(
                'this is no reference: one is "attachment:" and 64 digits from 0-9a-f. Nothing was read.', ref)
        return self.folder / found[1]

    @contextmanager
    def _open(self, ref: str) -> Iterator[BinaryIO]:
        path = self._path(ref)
        try:
            opened = _opened(path)
        except FileNotFoundError:
            raise AttachmentMissingError(
                "this attachment is not here: it was deleted, or it was put into another folder.", ref) from None
        with opened as file:
            yield file


def _is_there(path: Path) -> bool:
    return path.exists() or path.is_symlink()


def _opened(path: Path) -> BinaryIO:
    """The file, but neither through a link nor anything else that is no file."""
    found = os.lstat(path)
    if not stat.S_ISREG(found.st_mode):
        what = "link" if stat.S_ISLNK(found.st_mode) else "folder" if stat.S_ISDIR(found.st_mode) else "device"
        raise OutsideFileError(f"this is a {what}; an attachment is a file of its own. Nothing was read or written.", path)
    return os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)), "rb")


def _line(data: bytes) -> str:
    text = data.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", "backslashreplace")
    return text if len(text) <= WIDEST else text[:WIDEST] + "…"
