"""A power cut: what a folder holds afterwards, when the disk keeps only what was synced, and of the rest whatever it likes.

A `Recorder` notes every call of the system that changes something in a folder; `after_cut` gives the folders that can be found
when the power fails behind one of those calls. Kept is what POSIX promises and no more: the content of a file as of its last
fsync, and a name, that of a folder too, as of the last fsync of the folder that it stands in. What was changed and not synced
may be there or not, in any combination, and of a write there may be the beginning alone.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path, PurePosixPath
from random import Random
from typing import Any

Contents = dict[str, bytes | None]
"""Names below a folder, and what they hold: bytes, or None where they are folders themselves."""

FOLDER, GONE = 0, -1
SECTOR = 512
"""A disk writes at least so many bytes at once."""


@dataclass(frozen=True)
class Call:
    """A call that changed something: a "write" or "truncate" of a *file* (they are numbered), a "sync" of one or of a *folder*,
    or "names", which from then on stand for another file, for a FOLDER, or for nothing (GONE)."""

    what: str
    file: int = GONE
    at: int = 0
    data: bytes = b""
    names: tuple[tuple[str, int], ...] = ()
    folder: str | None = None


class Recorder:
    """While it is entered, notes what this thread changes in *folder*; `mark` notes a word between the calls.

    A sync for which *deaf* is true is made and not noted. A change in a way that it does not watch is noticed at the end.
    """

    def __init__(self, folder: Path, deaf: Callable[[Call], bool] = lambda call: False) -> None:
        self.folder, self._deaf = Path(os.path.abspath(folder)), deaf
        self.first = contents(folder)
        self.calls: list[Call] = []
        self.marks: list[tuple[int, Any]] = []
        self._names = numbered(self.first)
        self._files = len(self.first)
        self._handles: dict[int, tuple[str, int, bool]] = {}  # descriptor: name, number of the file, whether it appends

    def mark(self, word: Any) -> None:
        self.marks.append((len(self.calls), word))

    def last_word(self, at: int, nothing: Any = None) -> Any:
        """What was marked last when *at* calls were made."""
        return ([nothing] + [word for done, word in self.marks if done <= at])[-1]

    def cuts(self, at: int, seed: int = 0, scattered: bool = False) -> Iterator[Contents]:
        """What the folder can hold when the power fails behind the first *at* calls."""
        return after_cut(self.first, self.calls[:at], seed, scattered)

    def __enter__(self) -> "Recorder":
        self._real = {name: getattr(os, name) for name in _WATCHED}
        for name, watch in _WATCHED.items():
            setattr(os, name, lambda *args, _real=self._real[name], _watch=watch, **more: _watch(self, _real, *args, **more))
        return self

    def __exit__(self, kind: object, *rest: object) -> None:
        for name, real in self._real.items():
            setattr(os, name, real)
        if kind is None:
            everything = _Disk(self.first, self.calls).found(Random(0), "all", "all")
            assert everything == contents(self.folder), "something changed in a way that is not watched"

    def _name(self, path: Any) -> str | None:
        """*path* below the folder; None where it is not."""
        try:
            return Path(os.path.abspath(os.fsdecode(path))).relative_to(self.folder).as_posix()
        except (TypeError, ValueError):
            return None

    def _rename(self, *names: tuple[str | None, int]) -> None:
        inside = tuple((name, file) for name, file in names if name is not None)
        self._names.update(inside)
        if inside:
            self.calls.append(Call("names", names=inside))

    def _open(self, real: Callable[..., int], path: Any, flags: int, *more: Any, **named: Any) -> int:
        descriptor = real(path, flags, *more, **named)
        name = self._name(path)
        self._handles.pop(descriptor, None)
        if name is not None:
            if name != "." and self._names.get(name, GONE) == GONE:
                self._files += 1
                self._rename((name, self._files))
            self._handles[descriptor] = (name, self._names.get(name, FOLDER), bool(flags & os.O_APPEND))
            if flags & os.O_TRUNC:
                self.calls.append(Call("truncate", self._names[name]))
        return descriptor

    def _write(self, real: Callable[..., int], descriptor: int, data: bytes) -> int:
        handle = self._handles.get(descriptor)
        if handle is None:
            return real(descriptor, data)
        at = os.fstat(descriptor).st_size if handle[2] else os.lseek(descriptor, 0, os.SEEK_CUR)
        done = real(descriptor, data)
        self.calls.append(Call("write", handle[1], at, bytes(data[:done])))
        return done

    def _truncate(self, real: Callable[..., None], descriptor: int, size: int) -> None:
        real(descriptor, size)
        if descriptor in self._handles:
            self.calls.append(Call("truncate", self._handles[descriptor][1], size))

    def _sync(self, real: Callable[..., None], descriptor: int) -> None:
        real(descriptor)
        if descriptor in self._handles:
            name, file, _ = self._handles[descriptor]
            call = Call("sync", file, folder=name if file == FOLDER else None)
            if not self._deaf(call):
                self.calls.append(call)

    def _close(self, real: Callable[..., None], descriptor: int) -> None:
        real(descriptor)
        self._handles.pop(descriptor, None)

    def _link(self, real: Callable[..., None], path: Any, target: Any, **more: Any) -> None:
        real(path, target, **more)
        self._rename((self._name(target), self._names[str(self._name(path))]))

    def _move(self, real: Callable[..., None], path: Any, target: Any, **more: Any) -> None:
        real(path, target, **more)
        name = self._name(path)
        self._rename((self._name(target), self._names[str(name)]), (name, GONE))

    def _remove(self, real: Callable[..., None], path: Any, **more: Any) -> None:
        real(path, **more)
        self._rename((self._name(path), GONE))

    def _mkdir(self, real: Callable[..., None], path: Any, *more: Any, **named: Any) -> None:
        real(path, *more, **named)
        self._rename((self._name(path), FOLDER))


_WATCHED: dict[str, Any] = {
    "open": Recorder._open,
    "close": Recorder._close,
    "write": Recorder._write,
    "ftruncate": Recorder._truncate,
    "fsync": Recorder._sync,
    "fdatasync": Recorder._sync,
    "link": Recorder._link,
    "rename": Recorder._move,
    "replace": Recorder._move,
    "unlink": Recorder._remove,
    "remove": Recorder._remove,
    "rmdir": Recorder._remove,
    "mkdir": Recorder._mkdir,
}


def contents(folder: Path) -> Contents:
    """What *folder* holds now."""
    found = sorted(folder.rglob("*"))
    return {path.relative_to(folder).as_posix(): None if path.is_dir() else path.read_bytes() for path in found}


def numbered(holds: Contents) -> dict[str, int]:
    return {name: FOLDER if data is None else number for number, (name, data) in enumerate(holds.items(), start=1)}


def lay_out(holds: Contents, folder: Path) -> Path:
    """Make *folder* hold just that."""
    folder.mkdir(parents=True)
    for name, data in sorted(holds.items()):
        if data is None:
            (folder / name).mkdir()
        else:
            (folder / name).write_bytes(data)
    return folder


def after_cut(first: Contents, calls: Sequence[Call], seed: int = 0, scattered: bool = False) -> Iterator[Contents]:
    """What can be found of a folder that held *first*, all of it synced, and in which *calls* were made: each once.

    Nothing that was not synced, all of it, or some of it as *seed* chooses, of the names and of what the files hold. With
    *scattered*, the sectors of one write are kept or lost each for itself, with zeros where one is lost.
    """
    disk, random = _Disk(first, calls), Random(f"{seed} {len(calls)}")
    seen: list[Contents] = []
    for names, data in product(("none", "all", "some"), ("none", "all", "some", "sectors" if scattered else "some")):
        found = disk.found(random, names, data)
        if found not in seen:
            seen.append(found)
            yield found


@dataclass
class _File:
    """What a file holds for certain, and what was done to it since."""

    kept: bytes = b""
    loose: list[Call] = field(default_factory=list)


class _Disk:
    """What is certain and what is not, when *calls* were made."""

    def __init__(self, first: Contents, calls: Sequence[Call]) -> None:
        self.names = numbered(first)
        self.loose: list[Call] = []
        self.files = {self.names[name]: _File(data) for name, data in first.items() if data is not None}
        for call in calls:
            if call.what == "names":
                self.loose.append(call)
            elif call.what != "sync":
                self.files.setdefault(call.file, _File()).loose.append(call)
            elif call.folder is None:
                file = self.files.setdefault(call.file, _File())
                self.files[call.file] = _File(_with(file.kept, file.loose))
            else:
                synced = [one for one in self.loose if call.folder in {_folder(name) for name, _ in one.names}]
                self.names.update(pair for one in synced for pair in one.names)
                self.loose = [one for one in self.loose if one not in synced]

    def found(self, random: Random, names: str, data: str) -> Contents:
        """The folder with *names* and *data*, each "none", "all" or "some" of what is not certain."""
        there = dict(self.names)
        for call in self.loose:
            if names == "all" or (names == "some" and random.random() < 0.5):
                there.update(call.names)
        holds: Contents = {}
        for name, number in sorted(there.items()):  # a folder comes before what is in it
            if number != GONE and (_folder(name) == "." or holds.get(_folder(name), b"") is None):
                file = self.files.get(number, _File())
                holds[name] = None if number == FOLDER else _with(file.kept, _chosen(file.loose, random, data))
        return holds


def _folder(name: str) -> str:
    return PurePosixPath(name).parent.as_posix()


def _with(held: bytes, changes: Sequence[Call]) -> bytes:
    for call in changes:
        if call.what == "truncate":
            held = held[: call.at].ljust(call.at, b"\0")
        else:
            held = held.ljust(call.at, b"\0")[: call.at] + call.data + held[call.at + len(call.data) :]
    return held


def _chosen(changes: Sequence[Call], random: Random, data: str) -> list[Call]:
    """Those of the *changes* to a file that reached the disk; a write perhaps in part."""
    if data in ("none", "all"):
        return list(changes) if data == "all" else []
    kept = []
    for call in changes:
        if call.what == "truncate" or not call.data:
            kept += [call] * random.randint(0, 1)
        elif data == "some":
            part = random.choice([0, len(call.data), random.randint(0, len(call.data))])
            kept += [Call("write", call.file, call.at, call.data[:part])] if part else []
        else:
            kept += [piece for piece in _sectors(call) if random.random() < 0.5]
    return kept


def _sectors(call: Call) -> Iterator[Call]:
    """The write *call*, sector by sector of its file."""
    at, end = call.at, call.at + len(call.data)
    while at < end:
        stop = min(end, (at // SECTOR + 1) * SECTOR)
        yield Call("write", call.file, at, call.data[at - call.at : stop - call.at])
        at = stop
