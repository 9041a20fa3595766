"""The ledger of business effects: what was really sent and paid, whatever a log says (chapter 4, §4.3)."""
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection
from typing import Any, Literal

from labsupport.database import Kind
from labsupport.errors import LedgerConflictError, LedgerMissingError, OutsideCorruptError
from labsupport.frozen import freeze_tree
from labsupport.lossless import js_json
from labsupport.outside.base import OutsideStore, to_bytes, to_text
from labsupport.strict_json import read_json

LONGEST = 255
"""How many characters a key, or the name of a kind, may have."""

_KIND = Kind(0x4C4C4544, 1, """
CREATE TABLE operation (
    number INTEGER PRIMARY KEY AUTOINCREMENT, kind BLOB NOT NULL CHECK (typeof(kind) = 'blob'),
    key BLOB UNIQUE CHECK (key IS NULL OR typeof(key) = 'blob'), payload BLOB NOT NULL CHECK (typeof(payload) = 'blob'),
    time INTEGER NOT NULL CHECK (typeof(time) = 'integer'),
    compensates INTEGER UNIQUE REFERENCES operation CHECK (compensates < number))
""", check=True)  # "LLED"

_FOUND = """
SELECT done.number, done.kind, done.key, done.payload, done.time, done.compensates, later.number
FROM operation AS done LEFT JOIN operation AS later ON later.compensates = done.number
"""


@dataclass(frozen=True)
class Operation:
    """A business effect that took place. It stays as it is; only another one can make up for it.

    *status* is "compensated" when one did, and *compensated_by* is its id; *compensates* is the id of the one that this one
    makes up for. *time* is epoch milliseconds, *payload* frozen JSON.
    """

    id: str
    kind: str
    key: str | None
    status: Literal["done", "compensated"]
    time: int
    payload: Any
    compensates: str | None = None
    compensated_by: str | None = None


class Ledger(OutsideStore):
    """The ledger at *path*; *clock* gives epoch milliseconds.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = Ledger(Path(folder.name, "ledger.db"), clock=lambda: 1000)

    With a key, asking again does nothing again. Without one, each call is a new effect:

    >>> [ledger.send("invoice", {"no": 7}, key="INV-7").id for _ in range(3)]
    ['op-0001', 'op-0001', 'op-0001']
    >>> [ledger.send("invoice", {"no": 7}).id for _ in range(3)]
    ['op-0002', 'op-0003', 'op-0004']

    A key that stands for something else is refused, and the message does not say for what:

    >>> ledger.send("invoice", {"no": 8}, key="INV-7")
    Traceback (most recent call last):
    labsupport.errors.LedgerConflictError: the key 'INV-7' stands for another request, which was done as op-0001...

    After a crash nobody knows from the log whether the effect took place. Ask by the key:

    >>> ledger.find("INV-7").status, ledger.find("INV-8")
    ('done', None)

    An effect is not undone by deleting it. What makes up for it is an effect of its own:

    >>> ledger.compensate("op-0001", "credit note").compensates, ledger.find("INV-7").status
    ('op-0001', 'compensated')
    >>> ledger.close(); folder.cleanup()

    Whoever opens a ledger may see the errors of `OutsideStore`. Chapter 4, §4.3 and §4.9.
    """

    def __init__(self, path: Path | str, clock: Callable[[], int]) -> None:
        super().__init__(path, _KIND, clock)

    def send(self, kind: str, payload: Any, key: str | None = None) -> Operation:
        """Do it, on the disk on return; with a *key* that was used for the same, do nothing, and give what was done then.

        The same is: the same kind, and the same JSON value, in whatever order its keys stand. So a retry is safe as long as it
        takes the key along. An operation that was compensated since is given as well: to do it once more, take a new key.
        LedgerConflictError for a key of something else, LosslessError for a payload that JSON does not carry.
        """
        _check("the kind", kind)
        if key is not None:
            _check("the key", key)
        text, time = js_json(payload, exact=True), self._now()
        with self._transaction(write=True) as database:
            done = None if key is None else self._find(database, "done.key = ?", to_bytes(key))
            if done is None:
                return self._insert(database, kind, key, text, time)
        if not _is_same(done, kind, text):
            raise LedgerConflictError(
                f"the key {key!r} stands for another request, which was done as {done.id}. A retry repeats its request "
                "unchanged; another request takes another key.", key, done.id)
        return done

    def compensate(self, id: str, kind: str, payload: Any = None) -> Operation:
        """Make up for the operation *id* by a new one, at most once: asked again for the same, give what was done then.

        LedgerMissingError for an id that is not there. LedgerConflictError when something else made up for it already, or
        when it is a compensation itself: to do the first thing after all, send it anew.
        """
        _check("the kind", kind)
        text, time = js_json(payload, exact=True), self._now()
        with self._transaction(write=True) as database:
            first = self._by_id(database, id)
            if first.compensates is not None:
                raise LedgerConflictError(
                    f"{id} makes up for {first.compensates} itself. What it took back is done by sending it anew.", None, id)
            if first.compensated_by is None:
                return self._insert(database, kind, None, text, time, _number(id))
            done = self._by_id(database, first.compensated_by)
        if not _is_same(done, kind, text):
            raise LedgerConflictError(f"{id} was made up for in another way already, as {done.id}.", first.key, done.id)
        return done

    def find(self, key: str) -> Operation | None:
        """The operation of this key; None where no effect took place under it so far."""
        _check("the key", key)
        with self._transaction() as database:
            return self._find(database, "done.key = ?", to_bytes(key))

    def get(self, id: str) -> Operation:
        """The operation of this id. Raises LedgerMissingError."""
        with self._transaction() as database:
            return self._by_id(database, id)

    def operations(self, kind: str | None = None) -> list[Operation]:
        """All operations, or those of one *kind*, in the order in which they were done."""
        where, values = ("", ()) if kind is None else ("WHERE done.kind = ?", (to_bytes(kind),))
        with self._transaction() as database:
            return [self._operation(row) for row in database.execute(f"{_FOUND} {where} ORDER BY done.number", values)]

    def _insert(self, database: Connection, kind: str, key: str | None, text: str, time: int,
                compensates: int | None = None) -> Operation:
        stored = to_bytes(kind), None if key is None else to_bytes(key), text.encode(), time, compensates
        made = database.execute("INSERT INTO operation (kind, key, payload, time, compensates) VALUES (?, ?, ?, ?, ?)", stored)
        return self._by_id(database, _id(made.lastrowid or 0))

    def _by_id(self, database: Connection, id: str) -> Operation:
        done = self._find(database, "done.number = ?", _number(id))
        if done is None:
            raise LedgerMissingError(id)
        return done

    def _find(self, database: Connection, where: str, value: object) -> Operation | None:
        row = database.execute(f"{_FOUND} WHERE {where}", (value,)).fetchone()
        return None if row is None else self._operation(row)

    def _operation(self, row: Any) -> Operation:
        number, kind, key, payload, time, compensates, later = row
        try:
            return Operation(
                _id(number), to_text(kind), None if key is None else to_text(key), "compensated" if later else "done", time,
                freeze_tree(read_json(payload)), _id(compensates) if compensates else None, _id(later) if later else None)
        except ValueError:
            raise OutsideCorruptError(f"the row of {_id(number)} is damaged. Nothing was changed; keep a copy, then restore a "
                                      "backup.", self.path) from None


def _id(number: int) -> str:
    return f"op-{number:04d}"


def _number(id: str) -> int | None:
    """The number in *id*; None where it is spelled in a way that no id is."""
    number = int(id[3:]) if re.fullmatch("op-[0-9]{4,18}", id) else 0
    return number if _id(number) == id else None


def _is_same(done: Operation, kind: str, text: str) -> bool:
    return done.kind == kind and _sorted(done.payload) == _sorted(read_json(text.encode()))


def _sorted(value: Any) -> str:
    """The text of a JSON value, its keys in order at any depth: 1, 1.0 and true are not the same, {a, b} and {b, a} are."""
    root = [value]
    open_places: list[tuple[Any, Any]] = [(root, 0)]
    while open_places:
        container, place = open_places.pop()
        item = container[place]
        if isinstance(item, dict | list):
            keyed = isinstance(item, dict)
            made: Any = {key: item[key] for key in sorted(item)} if keyed else list(item)
            container[place] = made
            open_places += [(made, inner) for inner in (made if keyed else range(len(made)))]
    return js_json(root[0])


def _check(what: str, name: object) -> None:
    if type(name) is not str or not 0 < len(name) <= LONGEST:
        raise ValueError(f"{what} is a text of 1 to {LONGEST} characters. Nothing was done.")
