"""A database that is not ours, of another version, damaged, or changed by somebody: a refusal that says so, or right data."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest

from labsupport.errors import (
    LogCorruptError,
    LogFormatError,
    SessionLogError,
    StoredLogError,
    TornLogError,
    UnknownEventError,
)
from labsupport.sessionlog import SessionHeader
from labsupport.sessionlog.storage import SqliteStore
from tests.sessionlog import builders as make
from tests.sessionlog.stores import with_rows

posix = pytest.mark.skipif(not make.POSIX, reason="links as on POSIX")
TALK = [make.turn_start(), make.user(), make.turn_end()]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions.db"


@pytest.fixture
def store(path: Path) -> SqliteStore:
    return SqliteStore(path)


def calls(store: SqliteStore) -> dict[str, Callable[[], Any]]:
    """Every way in."""
    return {
        "create": lambda: store.create(SessionHeader("new")),
        "append": lambda: store.append("s1", make.log(make.user(), first=3)),
        "load": lambda: store.load("s1"),
        "inspect": lambda: store.inspect("s1"),
        "read_from": lambda: store.read_from("s1", 0),
        "list": store.list,
        "revision": lambda: store.revision("s1"),
        "delete": lambda: store.delete("s1"),
        "read_checkpoint": lambda: store.read_checkpoint("s1"),
    }


# Files that are something else


def a_database(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as made, made:
        for statement in statements:
            made.execute(statement)


def ours(path: Path, *statements: str) -> None:
    """A database with a session in it, changed by *statements*."""
    made = make.stored(SqliteStore(path), *TALK)
    made.close()
    a_database(path, *statements)


FOREIGN: dict[str, tuple[Callable[[Path], Any], type[Exception], str]] = {
    "tables of another program": (lambda path: a_database(path, "CREATE TABLE events (x)"), LogFormatError, "something else"),
    "another program's id": (lambda path: a_database(path, "PRAGMA application_id = 7"), LogFormatError, "something else"),
    "another program's version": (lambda path: a_database(path, "PRAGMA user_version = 1"), LogFormatError, "something else"),
    "a newer schema": (lambda path: ours(path, "PRAGMA user_version = 99"), LogFormatError, "newer"),
    "an older schema": (lambda path: ours(path, "PRAGMA user_version = 0"), LogFormatError, "older"),
    "a schema below nothing": (lambda path: ours(path, "PRAGMA user_version = -3"), LogFormatError, "older"),
    "text": (lambda path: path.write_text("these are notes of mine\n" * 100), LogFormatError, "no SQLite database"),
    "a JSONL log": (lambda path: path.write_bytes(make.log_bytes(*TALK)), LogFormatError, "no SQLite database"),
    "a few bytes": (lambda path: path.write_bytes(b"SQLite"), LogFormatError, "no SQLite database"),
    "a folder": (lambda path: path.mkdir(), StoredLogError, "folder"),
}


def file_of(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


@pytest.mark.parametrize(("made", "error", "word"), FOREIGN.values(), ids=FOREIGN)
def test_a_file_that_is_something_else_is_refused_and_not_touched(
    path: Path, made: Callable[[Path], Any], error: type[Exception], word: str
) -> None:
    made(path)
    before = file_of(path)
    store = SqliteStore(path)
    for name, call in calls(store).items():
        with pytest.raises(error, match=word) as caught:
            call()
        assert str(caught.value).startswith(str(path)), name
        assert type(caught.value) is error, name
    store.close()
    assert file_of(path) == before
    assert [one.name for one in path.parent.iterdir() if one.is_file() and one != path and not one.name.endswith(".lock")] == []


def test_an_empty_file_becomes_a_database(path: Path, store: SqliteStore) -> None:
    path.touch()
    assert list(store.list()) == []
    with pytest.raises(FileNotFoundError):
        store.load("s1")
    assert path.stat().st_size == 0
    make.stored(store, *TALK)
    assert len(store.load("s1").events) == 3


@posix
@pytest.mark.parametrize("target", ["a database of another folder", "nothing"])
def test_a_database_that_is_a_link_is_refused(tmp_path: Path, path: Path, target: str) -> None:
    other = make.stored(SqliteStore(tmp_path / "other" / "sessions.db"), *TALK)
    other.close()
    before = file_of(tmp_path / "other" / "sessions.db")
    path.symlink_to(tmp_path / "other" / "sessions.db" if target.startswith("a") else tmp_path / "gone")
    for call in calls(SqliteStore(path)).values():
        with pytest.raises(StoredLogError, match="link"):
            call()
    assert file_of(tmp_path / "other" / "sessions.db") == before
    assert not (tmp_path / "gone").exists()
    (tmp_path / "linked").symlink_to(tmp_path / "other", target_is_directory=True)
    with pytest.raises(StoredLogError, match="link"):
        SqliteStore(tmp_path / "linked" / "sessions.db")


def test_a_database_that_is_not_there_holds_nothing(path: Path, store: SqliteStore) -> None:
    ways = calls(store)
    assert list(ways.pop("list")()) == []
    ways.pop("create")()
    for call in ways.values():
        with pytest.raises(FileNotFoundError):
            call()
    assert not path.exists()


# Damaged pages

SAID = [make.turn_start(), *[make.user(f"{number} " + "said " * (40 * number)) for number in range(12)], make.turn_end()]


def sound(path: Path) -> bool:
    """Whether SQLite itself finds nothing wrong with the file."""
    try:
        with closing(sqlite3.connect(path)) as opened:
            return opened.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    except (sqlite3.DatabaseError, UnicodeDecodeError):  # its messages may hold what is damaged
        return False


@pytest.mark.slow
def test_a_damaged_page_is_never_a_raw_error_and_never_repaired_away(tmp_path: Path) -> None:
    """Bytes flipped all over the file, alone and in runs. What SQLite's own check passes, a store cannot tell either.

    `read_from` repairs nothing and does not run that check: rows that a damaged page no longer leads to are missing at its end.
    """
    whole = tmp_path / "whole.db"
    made = make.stored(SqliteStore(whole), *SAID)
    make.stored(made, *TALK, id="other").close()
    data, expected = whole.read_bytes(), make.plain(make.log(*SAID))
    random, messages, right = Random(4), list[str](), 0
    pages = len(data) // 4096
    for number in range(160):
        at = number % pages * 4096 + random.choice([random.randrange(12), random.randrange(100), random.randrange(4096)])
        length = random.choice([1, 1, 2, 40, 600])
        damaged = bytearray(data)
        damaged[at : at + length] = bytes(byte ^ random.randrange(1, 256) for byte in damaged[at : at + length])
        path = tmp_path / f"{number}.db"
        path.write_bytes(damaged)
        is_sound = sound(path)
        store = SqliteStore(path)
        ways = calls(store)
        for name in ("read_from", "inspect", "revision", "list", "read_checkpoint", "load", "append", "delete", "create"):
            try:
                answer = ways[name]()
            except FileNotFoundError:
                continue
            except SessionLogError as error:
                messages.append(str(error))
                continue
            if name in ("read_from", "inspect", "load"):
                events = make.plain(answer if name == "read_from" else answer.events)
                if events == expected:
                    right += 1
                elif name != "read_from" or events != expected[: len(events)]:
                    assert is_sound, f"{name} gives something else, and SQLite knows that the file is damaged"
        store.close()
        path.unlink()
    assert right > 50
    assert len(messages) > 50
    assert all(message.startswith(str(tmp_path)) and "said said" not in message for message in messages), "never what was said"


def test_a_file_that_was_cut_is_named_damaged(tmp_path: Path) -> None:
    whole = tmp_path / "whole.db"
    make.stored(SqliteStore(whole), *SAID).close()
    data = whole.read_bytes()
    for size in range(4096, len(data), 4096):
        path = tmp_path / f"{size}.db"
        path.write_bytes(data[:size])
        with pytest.raises((LogCorruptError, FileNotFoundError)):
            SqliteStore(path).read_from("s1", 0)


# Rows that somebody changed


def log_rows(store: SqliteStore, *records: make.Record) -> Path:
    make.stored(store, *records)
    make.stored(store, *TALK, id="other")
    return store.file.parent


USERS = [make.turn_start(), make.step_start(), make.user("one"), make.user("two"), make.user("three")]
"""An open turn: what is torn off behind it closes no turn."""

TORN: dict[str, tuple[str, int]] = {
    "data is no JSON": ("UPDATE events SET data = '{\"a' WHERE seq = 3 AND session_id = 's1'", 3),
    "data is empty": ("UPDATE events SET data = '' WHERE seq = 3 AND session_id = 's1'", 3),
    "data and more": ("UPDATE events SET data = 'null,\"ignorable\":true' WHERE seq = 3 AND session_id = 's1'", 3),
    "data that closes the record": ("UPDATE events SET data = 'null}\n{\"type\":\"x\"' WHERE seq = 3 AND session_id = 's1'", 3),
    "data is a number": ("UPDATE events SET data = x'ff' WHERE seq = 3 AND session_id = 's1'", 3),
    "half a character": ("UPDATE events SET data = CAST(x'22e9a2' AS TEXT) WHERE seq = 3 AND session_id = 's1'", 3),
    "a gap": ("DELETE FROM events WHERE seq = 3 AND session_id = 's1'", 3),
    "a gap at the beginning": ("DELETE FROM events WHERE seq = 0 AND session_id = 's1'", 0),
    "a seq below nothing": ("UPDATE events SET seq = -1 WHERE seq = 4 AND session_id = 's1'", 0),
    "a seq between two": ("UPDATE events SET seq = 2.5 WHERE seq = 4 AND session_id = 's1'", 3),
    "a seq that is a word": ("UPDATE events SET seq = 'four' WHERE seq = 4 AND session_id = 's1'", 4),
    "a row that is far off": ("UPDATE events SET seq = 4000000000000000000 WHERE seq = 4 AND session_id = 's1'", 4),
}


@pytest.mark.parametrize(("change", "left"), TORN.values(), ids=TORN)
def test_a_row_that_cannot_be_read_is_a_torn_tail_and_kept(store: SqliteStore, change: str, left: int) -> None:
    folder = log_rows(store, *USERS)
    with_rows(folder, change)
    changed = with_rows(folder, "SELECT count(*) FROM events WHERE session_id = 's1'")[0][0]
    again = SqliteStore(store.file)
    assert len(again.read_from("s1", 0)) == left
    with pytest.raises(TornLogError):
        SqliteStore(store.file).append("s1", make.log(make.user(), first=left))
    loaded = again.load("s1")
    assert make.plain(loaded.events)[:left] == make.plain(make.log(*USERS))[:left]
    assert loaded.repair is not None
    assert loaded.repair.torn is not None
    assert loaded.repair.torn.records == changed - left
    assert with_rows(folder, "SELECT count(*) FROM torn WHERE session_id = 's1'") == [(changed - left,)]
    assert again.load("s1").repair is None, "a second repair"
    assert SqliteStore(store.file).load("s1").repair is None
    assert len(again.load("other").events) == 3


def test_what_is_cut_off_again_and_again_is_kept_each_time(store: SqliteStore) -> None:
    folder = log_rows(store, *TALK)
    for text in ("first", "second", "first"):
        with_rows(folder, "INSERT INTO events (session_id, seq, type, time, data) VALUES ('s1', 3, 'x', 1, ?)", f'"{text}')
        repair = SqliteStore(store.file).load("s1").repair
        assert repair is not None
        assert repair.kept_in == store.file
    kept = [row for [row] in with_rows(folder, "SELECT row FROM torn WHERE session_id = 's1' ORDER BY repair")]
    assert len(kept) == 3
    assert all(text in row for text, row in zip(("first", "second", "first"), kept, strict=True))


CORRUPT: dict[str, str] = {
    "a bad row before the end of a turn": "UPDATE events SET data = '{' WHERE seq = 1 AND session_id = 's1'",
    "a gap before the end of a turn": "DELETE FROM events WHERE seq = 1 AND session_id = 's1'",
    "a time that is a word": "UPDATE events SET time = 'noon' WHERE seq = 1 AND session_id = 's1'",
    "a time between two": "UPDATE events SET time = 1.5 WHERE seq = 1 AND session_id = 's1'",
    "a type that is a blob": "UPDATE events SET type = x'00ff' WHERE seq = 1 AND session_id = 's1'",
    "a message on no surface": "UPDATE events SET surface_op = NULL WHERE seq = 1 AND session_id = 's1'",
    "a surface that is no JSON": "UPDATE events SET surface_op = 'append' WHERE seq = 1 AND session_id = 's1'",
    "sources that are no list": "UPDATE events SET source_event_seqs = '{}' WHERE seq = 1 AND session_id = 's1'",
    "sources that come later": "UPDATE events SET source_event_seqs = '[9]' WHERE seq = 1 AND session_id = 's1'",
    "ignorable is 0": "UPDATE events SET ignorable = 0 WHERE seq = 1 AND session_id = 's1'",
    "ignorable is a word": "UPDATE events SET ignorable = 'yes' WHERE seq = 1 AND session_id = 's1'",
    "a message without its shape": "UPDATE events SET data = '{}' WHERE seq = 1 AND session_id = 's1'",
    "a number beyond a double": "UPDATE events SET data = '1e999' WHERE seq = 1 AND session_id = 's1'",
    "no header": "UPDATE sessions SET header = '' WHERE id = 's1'",
    "a header that is a list": "UPDATE sessions SET header = '[]' || char(10) WHERE id = 's1'",
    "another's header": "UPDATE sessions SET header = (SELECT header FROM sessions WHERE id = 'other') WHERE id = 's1'",
}


@pytest.mark.parametrize("change", CORRUPT.values(), ids=CORRUPT)
def test_a_row_that_cannot_be_torn_is_damage_and_nothing_is_changed(store: SqliteStore, change: str) -> None:
    folder = log_rows(store, *TALK)
    with_rows(folder, change)
    before = with_rows(folder, "SELECT * FROM events"), with_rows(folder, "SELECT * FROM sessions")
    again = SqliteStore(store.file)
    for ask in (again.inspect, again.load):
        with pytest.raises(LogCorruptError, match="Nothing was changed") as caught:
            ask("s1")
        assert caught.value.path == store.file
    assert (with_rows(folder, "SELECT * FROM events"), with_rows(folder, "SELECT * FROM sessions")) == before
    assert len(again.load("other").events) == 3
    assert "wal" not in {left.kind for left in again.delete("s1").unreached}, "a reading that was refused is over"


def test_a_newer_header_in_a_row_is_not_damage(store: SqliteStore) -> None:
    folder = log_rows(store, *TALK)
    with_rows(folder, "UPDATE sessions SET header = replace(header, '\"version\":0', '\"version\":7') WHERE id = 's1'")
    again = SqliteStore(store.file)
    with pytest.raises(LogFormatError, match="newer") as caught:
        again.load("s1")
    assert caught.value.version == 7
    listing = again.list()
    assert [header.id for header in listing] == ["other"]
    assert [type(problem) for problem in listing.problems] == [LogFormatError]


def test_a_word_that_makes_an_event_ignorable_cannot_be_smuggled_in_its_data(store: SqliteStore) -> None:
    """The columns are put together to one record; a column that holds more than one value would change the others."""
    folder = log_rows(store, make.turn_start(), make.record("todo/write", {"todos": []}))
    smuggled = 'null,"ignorable":true'
    with_rows(folder, "UPDATE events SET type = 'nobody/knows', data = ? WHERE seq = 1 AND session_id = 's1'", smuggled)
    again = SqliteStore(store.file)
    assert [event.type for event in again.read_from("s1", 0)] == ["turn/start"]
    with_rows(folder, "UPDATE events SET data = 'null' WHERE seq = 1 AND session_id = 's1'")
    with pytest.raises(UnknownEventError):
        SqliteStore(store.file).load("s1")


def test_rows_without_a_session_belong_to_nobody(store: SqliteStore) -> None:
    folder = log_rows(store, *TALK)
    with_rows(folder, "DELETE FROM sessions WHERE id = 's1'")
    again = SqliteStore(store.file)
    with pytest.raises(FileNotFoundError):
        again.load("s1")
    again.create(SessionHeader("s1"))
    with pytest.raises(StoredLogError):
        again.append("s1", make.log(make.user("mine")))
    assert [header.id for header in again.list()] == ["other"]


def test_a_table_that_is_gone_is_said(store: SqliteStore) -> None:
    folder = log_rows(store, *TALK)
    with_rows(folder, "DROP TABLE events")
    for name, call in calls(SqliteStore(store.file)).items():
        if name in ("create", "list", "read_checkpoint"):
            continue
        with pytest.raises(StoredLogError, match="events") as caught:
            call()
        assert caught.value.path == store.file
    assert os.listdir(folder)
