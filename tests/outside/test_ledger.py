"""A ledger: one effect for a key, whatever crashes, comes twice or comes at once; and nothing that is ever taken back."""
import json
import os
import pickle
import signal
import sqlite3
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labsupport import database
from labsupport.errors import LosslessError
from labsupport.frozen import FrozenDict
from labsupport.outside import (
    Ledger,
    LedgerConflictError,
    LedgerMissingError,
    Memory,
    Operation,
    OutsideBusyError,
    OutsideCorruptError,
    OutsideFileError,
    OutsideFormatError,
)
from labsupport.strict_json import read_json
from tests.sessionlog.builders import POSIX, in_child

posix = pytest.mark.skipif(not POSIX, reason="forks a process")
SECRET = "CANARY-7f3a"


def opened(path: Path, time: int = 1000) -> Ledger:
    return Ledger(path, clock=lambda: time)


def rows(path: Path, statement: str = "SELECT * FROM operation ORDER BY number", *values: object) -> list[tuple[Any, ...]]:
    """What *statement* finds or does, beside the ledger."""
    plain = sqlite3.connect(path)
    try:
        with plain:
            return plain.execute(statement, values).fetchall()
    finally:
        plain.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


@pytest.fixture
def ledger(path: Path) -> Iterator[Ledger]:
    with opened(path) as one:
        yield one


# One effect for a key


def test_an_operation_has_what_was_asked_for_and_ids_are_counted(ledger: Ledger) -> None:
    assert ledger.send("invoice", {"no": 7}, "INV-7") == Operation("op-0001", "invoice", "INV-7", "done", 1000, {"no": 7})
    assert ledger.send("payment", None).id == "op-0002"
    assert [(one.id, one.key) for one in ledger.operations()] == [("op-0001", "INV-7"), ("op-0002", None)]
    assert [one.id for one in ledger.operations("payment")] == ["op-0002"]
    assert ledger.operations("pay") == []


def test_a_retry_gives_what_was_done_then(path: Path) -> None:
    with opened(path, 1000) as ledger:
        first = ledger.send("invoice", {"no": 7}, "INV-7")
    with opened(path, 2000) as ledger:
        assert ledger.send("invoice", {"no": 7}, "INV-7") == ledger.find("INV-7") == ledger.get("op-0001") == first
        assert ledger.send("invoice", {"no": 8}, "INV-8").id == "op-0002", "a retry uses no number up"
        assert ledger.find("INV-9") is None


def test_without_a_key_every_call_is_an_effect(ledger: Ledger) -> None:
    assert len({ledger.send("invoice", {"no": 7}).id for _ in range(5)}) == 5


SAME: dict[str, tuple[Any, Any]] = {
    "keys in another order": ({"a": 1, "b": [{"c": 2, "d": 3}]}, {"b": [{"d": 3, "c": 2}], "a": 1}),
    "1 and 1.0 are one number in JSON": ({"n": 1}, {"n": 1.0}),
    "0 and -0.0 are": ([0], [-0.0]),
    "frozen or not": (FrozenDict({"a": 1}), {"a": 1}),
    "deeper than the call stack": (read_json(b"[" * 5000 + b"]" * 5000), read_json(b"[" * 5000 + b"]" * 5000)),
}
OTHER: dict[str, tuple[Any, Any]] = {
    "another amount": ({"n": 1480}, {"n": 1840}),
    "true is no number": ({"n": 1}, {"n": True}),
    "nor is a word": ({"n": 1}, {"n": "1"}),
    "null is not nothing": ({"n": None}, {}),
    "a list has an order": ([1, 2], [2, 1]),
    "a pair is no dict": ([["a", 1]], {"a": 1}),
    "empty and empty": ([], {}),
    "letters that look alike": ("é", "e\u0301"),
    "far inside": (read_json(b"[" * 5000 + b"]" * 5000), read_json(b"[" * 5000 + b"1" + b"]" * 5000)),
}


@pytest.mark.parametrize(("first", "again"), SAME.values(), ids=SAME)
def test_the_same_value_is_the_same_request(ledger: Ledger, first: Any, again: Any) -> None:
    assert ledger.send("k", first, "one").id == ledger.send("k", again, "one").id
    assert len(ledger.operations()) == 1


@pytest.mark.parametrize(("first", "again"), OTHER.values(), ids=OTHER)
def test_another_value_under_the_key_is_refused(path: Path, ledger: Ledger, first: Any, again: Any) -> None:
    ledger.send("k", first, "one")
    ledger.send("k", again, "two")
    before = rows(path)
    for kind, payload, key, id in (
            ("k", again, "one", "op-0001"), ("k", first, "two", "op-0002"), ("another kind", first, "one", "op-0001")):
        with pytest.raises(LedgerConflictError) as caught:
            ledger.send(kind, payload, key)
        assert (caught.value.key, caught.value.id) == (key, id)
    assert rows(path) == before


@pytest.mark.parametrize("payload", [
    2**53, float("nan"), (1,), {1: 2}, {"a": {3}}, b"x", "\ud83d" + "\ude42"], ids=[
    "beyond a double", "NaN", "a tuple", "a key that is a number", "a set", "bytes", "half and half"])
def test_what_json_does_not_carry_is_refused_before_anything_is_done(path: Path, ledger: Ledger, payload: Any) -> None:
    with pytest.raises(LosslessError):
        ledger.send("k", payload, "one")
    ledger.send("k", 1)
    with pytest.raises(LosslessError):
        ledger.compensate("op-0001", "k", payload)
    assert len(rows(path)) == 1


def test_what_was_sent_comes_back_and_nobody_can_change_it(path: Path, ledger: Ledger) -> None:
    payload = {"to": "海澄试剂 🙂", "half": "\ud83d", "": {"nul": "\0"}, "amounts": [1480.5, 2**53 - 1, -1, 1e300, None, True]}
    done = ledger.send("pay", payload, "k")
    payload["amounts"].append("later")  # type: ignore[attr-defined]
    with opened(path) as again:
        kept = again.get(done.id).payload
    assert kept == done.payload == {**payload, "amounts": payload["amounts"][:-1]}  # type: ignore[index]
    assert json.loads(json.dumps(kept)) == kept
    with pytest.raises(TypeError):
        kept["amounts"].append(1)


HOSTILE = ["\0", "a\0b", "\ud83d", "\ude00\ud83d", "😀", "'; DROP TABLE operation; --", '"', "%", "_", "?1", "x" * 255, "é",
           "e\u0301", "\u202e", "\x1b[31m", "\r\n", "None", " ", "1", "01", "op-0001"]


def test_hostile_keys_are_keys_like_others(path: Path) -> None:
    with opened(path) as ledger:
        ids = [ledger.send(text, text, text).id for text in HOSTILE]
    with opened(path) as ledger:
        assert [ledger.send(text, text, text).id for text in HOSTILE] == ids
        assert len(set(ids)) == len(HOSTILE)
        for text, id in zip(HOSTILE, ids, strict=True):
            assert ledger.find(text) == ledger.get(id)
            assert [one.id for one in ledger.operations(text)] == [id]


@pytest.mark.parametrize("name", ["", "x" * 256, 7, True, b"k"], ids=["empty", "too long", "a number", "a truth", "bytes"])
def test_what_is_no_name_is_refused(path: Path, ledger: Ledger, name: Any) -> None:
    for refused in (lambda: ledger.send("k", 1, name), lambda: ledger.send(name, 1), lambda: ledger.find(name),
                    lambda: ledger.compensate("op-0001", name)):
        with pytest.raises(ValueError, match="1 to 255 characters"):
            refused()
    assert rows(path) == []


@pytest.mark.parametrize("id", [
    "op-0002", "op-1", "op-00001", "op-٠٠٠١", "OP-0001", "op-0001\n", " op-0001", "op-0000", "op--001", "op-" + "9" * 18,
    "op-" + "9" * 400, "", "1", "'; DROP TABLE operation"], ids=ascii)
def test_an_id_that_no_operation_has_is_missing(ledger: Ledger, id: str) -> None:
    ledger.send("k", 1)
    for asked in (lambda: ledger.get(id), lambda: ledger.compensate(id, "k")):
        with pytest.raises(LedgerMissingError) as caught:
            asked()
        assert caught.value.id == id
    assert len(ledger.operations()) == 1


@pytest.mark.parametrize("time", [-1, 1.5, None, True, 2**53], ids=repr)
def test_a_clock_that_is_none_is_refused(path: Path, time: Any) -> None:
    with opened(path, time) as ledger, pytest.raises(ValueError, match="clock"):
        ledger.send("k", 1)
    assert rows(path) == []


# What makes up for an effect is an effect


def test_a_compensation_is_a_new_operation_that_names_the_first(path: Path, ledger: Ledger) -> None:
    paid = ledger.send("pay", {"sum": 1480}, "INV-7")
    before = rows(path)
    back = ledger.compensate(paid.id, "refund", {"sum": 1480})
    assert back == Operation("op-0002", "refund", None, "done", 1000, {"sum": 1480}, compensates="op-0001")
    assert rows(path)[:1] == before, "the first one stays as it is"
    assert ledger.get("op-0001") == Operation(
        "op-0001", "pay", "INV-7", "compensated", 1000, {"sum": 1480}, compensated_by="op-0002")
    assert ledger.send("pay", {"sum": 1480}, "INV-7") == ledger.get("op-0001"), "and its key does nothing again"
    assert len(ledger.operations()) == 2


def test_an_effect_is_made_up_for_once(ledger: Ledger) -> None:
    ledger.send("pay", {"sum": 1480}, "INV-7")
    back = ledger.compensate("op-0001", "refund", {"a": 1, "b": 2})
    assert ledger.compensate("op-0001", "refund", {"b": 2, "a": 1}) == back
    for kind, payload in (("refund", {"a": 1}), ("credit", {"a": 1, "b": 2}), ("refund", None)):
        with pytest.raises(LedgerConflictError) as caught:
            ledger.compensate("op-0001", kind, payload)
        assert (caught.value.key, caught.value.id) == ("INV-7", "op-0002")
    with pytest.raises(LedgerConflictError, match="sending it anew"):
        ledger.compensate("op-0002", "pay")
    assert len(ledger.operations()) == 2


def test_there_is_no_way_to_delete() -> None:
    names = {name for name in dir(Ledger) if not name.startswith("_")}
    assert names == {"close", "compensate", "find", "get", "operations", "send"}


# Law: a ledger is a list with rules


PAYLOADS = st.sampled_from([1, True, "1", {"a": 1}, {"a": 1, "b": 2}, {"b": 2, "a": 1}])
STEPS = st.one_of(
    st.tuples(st.just("send"), st.sampled_from(["x", "y"]), PAYLOADS, st.sampled_from([None, "k", "K", "k\0"])),
    st.tuples(st.just("compensate"), st.integers(1, 5), st.sampled_from(["x", "y"]), PAYLOADS))


def text_of(payload: Any) -> str:
    return json.dumps(payload, sort_keys=True)


class Model:
    """What the ledger should be, in a plain list of (kind, key, text of the payload, what it compensates)."""

    def __init__(self) -> None:
        self.done: list[tuple[str, str | None, str, int | None]] = []

    def send(self, kind: str, payload: Any, key: str | None) -> int | str:
        for number, (its_kind, its_key, text, _) in enumerate(self.done, start=1):
            if key is not None and its_key == key:
                return number if (its_kind, text) == (kind, text_of(payload)) else "LedgerConflictError"
        self.done.append((kind, key, text_of(payload), None))
        return len(self.done)

    def compensate(self, of: int, kind: str, payload: Any) -> int | str:
        if of > len(self.done):
            return "LedgerMissingError"
        if self.done[of - 1][3] is not None:
            return "LedgerConflictError"
        for number, (its_kind, _, text, compensates) in enumerate(self.done, start=1):
            if compensates == of:
                return number if (its_kind, text) == (kind, text_of(payload)) else "LedgerConflictError"
        self.done.append((kind, None, text_of(payload), of))
        return len(self.done)


@settings(max_examples=60, deadline=None)
@given(steps=st.lists(STEPS, max_size=14))
def test_law_a_ledger_does_what_its_model_does(fresh: Callable[[], Path], steps: list[Any]) -> None:
    model = Model()
    with opened(fresh()) as ledger:
        with ledger._database._connection(False) as connection:
            connection.execute("PRAGMA synchronous = OFF")
        for what, first, *rest in steps:
            said: int | str
            try:
                answer = ledger.send(first, *rest) if what == "send" else ledger.compensate(f"op-{first:04d}", *rest)
                said = int(answer.id[3:])
            except (LedgerConflictError, LedgerMissingError) as error:
                said = type(error).__name__
            assert said == (model.send(first, *rest) if what == "send" else model.compensate(first, *rest))
            assert [(one.kind, one.key, text_of(one.payload), one.compensates and int(one.compensates[3:]))
                    for one in ledger.operations()] == model.done
            compensated = {of for _, _, _, of in model.done}
            assert [one.status == "compensated" for one in ledger.operations()] == [
                number in compensated for number in range(1, len(model.done) + 1)]


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    folder = tmp_path_factory.mktemp("examples")

    def made() -> Path:
        for one in folder.iterdir():
            one.unlink()
        return folder / "ledger.db"

    return made


# Processes, threads, and kills


SENDER = """
import sys
from labsupport.outside import Ledger
path, keyed, first = sys.argv[1], sys.argv[2] == "keyed", int(sys.argv[3])
with Ledger(path, clock=lambda: 1) as ledger:
    for number in range(first, first + 400):
        print("asks", number, flush=True)
        print("done", number, ledger.send("pay", {"no": number}, f"INV-{number}" if keyed else None).id, flush=True)
"""


def killed_while_it_pays(path: Path, random: Random, keyed: str, first: int) -> tuple[int, dict[int, str]]:
    """Let a process pay from invoice *first* on until it is killed: how many it asked for, and what was said to be done."""
    command = [sys.executable, "-c", SENDER, str(path), keyed, str(first)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        lines = [child.stdout.readline() for _ in range(random.randint(1, 8))]
        time.sleep(random.uniform(0, 0.01))
        child.kill()
        lines += child.stdout.read().split("\n")
    said = [line.split() for line in lines]
    done = {int(words[1]): words[2] for words in said if words[:1] == ["done"] and len(words) == 3}
    return max(int(words[1]) for words in said if words[:1] == ["asks"] and len(words) == 2), done


def paid_in_spite_of_kills(path: Path, keyed: str, kills: int = 8) -> list[int]:
    """How often each invoice was paid by processes that go on, with the one they do not know of, where the last was killed."""
    random, first, told = Random(3), 0, {}
    for _ in range(kills):
        asked, done = killed_while_it_pays(path, random, keyed, first)
        told.update(done)
        first = asked if asked not in done else asked + 1
    with opened(path) as ledger:
        operations = ledger.operations()
    assert {one.payload["no"]: one.id for one in operations}.items() >= told.items(), "what send returned for is there"
    assert len(operations) > kills
    count = [one.payload["no"] for one in operations]
    return [count.count(number) for number in range(max(count) + 1)]


def test_after_kills_and_retries_every_invoice_is_paid_once(path: Path) -> None:
    assert set(paid_in_spite_of_kills(path, "keyed")) == {1}


@posix
def test_a_retry_behind_a_commit_pays_twice_without_a_key_and_once_with_it(tmp_path: Path) -> None:
    """The process is killed between the effect and its answer: what the test above is for is seen to happen."""
    for key, effects in ((None, 2), ("INV-7", 1)):
        path = tmp_path / f"{effects}.db"

        def dies(path: Path = path, key: str | None = key) -> None:
            opened(path).send("pay", {"no": 7}, key)
            os.kill(os.getpid(), signal.SIGKILL)

        assert status_of(dies) == signal.SIGKILL
        with opened(path) as ledger:
            ledger.send("pay", {"no": 7}, key)
            assert len(ledger.operations()) == effects


def status_of(work: Callable[[], Any]) -> int:
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    return os.waitpid(child, 0)[1]


@posix
@pytest.mark.parametrize("change", ["send", "compensate"])
def test_a_process_killed_at_any_statement_leaves_all_or_nothing(tmp_path: Path, change: str) -> None:
    template = tmp_path / "template.db"
    with opened(template) as ledger:
        ledger.send("pay", {"no": 1}, "INV-1")
    start, seen, at, killed = template.read_bytes(), set(), 0, True
    changes: dict[str, Callable[[Ledger], Operation]] = {
        "send": lambda ledger: ledger.send("pay", {"no": 2}, "INV-2"),
        "compensate": lambda ledger: ledger.compensate("op-0001", "refund", {"no": 1})}
    while killed:
        at += 1
        path = tmp_path / str(at) / "ledger.db"
        path.parent.mkdir()
        path.write_bytes(start)

        def work(path: Path = path, at: int = at) -> None:
            ledger, count = opened(path), 0

            def trace(_: str) -> None:
                nonlocal count
                count += 1
                if count == at:
                    os.kill(os.getpid(), signal.SIGKILL)

            with ledger._database._connection(False) as connection:  # the one that every transaction then has
                connection.set_trace_callback(trace)
            changes[change](ledger)

        killed = status_of(work) == signal.SIGKILL
        with opened(path) as ledger:
            left = len(ledger.operations())
            assert changes[change](ledger).id == "op-0002"
            assert len(ledger.operations()) == 2
        seen.add(left)
    assert at > 4
    assert seen == {1, 2}


@posix
def test_processes_that_send_one_key_at_once_make_one_operation(path: Path) -> None:
    ready, go = os.pipe()

    def child() -> list[str]:
        os.read(ready, 1)
        with opened(path) as ledger:
            return [ledger.send("pay", {"no": number}, f"INV-{number}").id for number in range(12)]

    with ThreadPoolExecutor(5) as pool:
        answers = [pool.submit(in_child, child) for _ in range(5)]
        os.write(go, b"x" * 5)
        assert {tuple(answer.result()) for answer in answers} == {tuple(f"op-{number:04d}" for number in range(1, 13))}
    os.close(ready)
    os.close(go)
    assert len(rows(path)) == 12


def test_threads_that_send_one_key_at_once_make_one_operation(path: Path, ledger: Ledger) -> None:
    with ThreadPoolExecutor(6) as pool:
        ids = list(pool.map(lambda number: ledger.send("pay", {"no": number % 3}, f"INV-{number % 3}").id, range(30)))
    assert len(set(ids)) == len(rows(path)) == 3


def test_the_table_itself_takes_a_key_once_and_a_compensation_once(path: Path, ledger: Ledger) -> None:
    """Whoever writes into it without this library, or beside a fault of it, is stopped as well."""
    ledger.send("pay", 1, "INV-1")
    ledger.compensate("op-0001", "refund")
    for key, compensates in ((b"INV-1", None), (None, 1), ("INV-2", None), (None, 99)):
        with pytest.raises(sqlite3.IntegrityError):
            rows(path, "INSERT INTO operation (kind, key, payload, time, compensates) VALUES (x'6b', ?, x'31', 1, ?)",
                 key, compensates)
    assert len(rows(path)) == 2


def test_two_that_send_another_thing_under_one_key_are_not_both_obeyed(path: Path, ledger: Ledger) -> None:
    def work(number: int) -> str:
        try:
            return ledger.send("pay", {"sum": number}, "INV-7").id
        except LedgerConflictError as error:
            return f"refused for {error.id}"

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(work, range(4))) == ["op-0001", *["refused for op-0001"] * 3]


# Files that are damaged, somebody else's, newer, or gone


def test_no_error_quotes_what_was_sent(path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger.send("pay", {"to": SECRET}, "INV-7")
    monkeypatch.setattr(database, "WAIT", 0.05)
    told = []
    with opened(path) as second, ledger._transaction(write=True):
        told.append(failure(lambda: second.send("pay", {"to": SECRET}, "INV-8")))
    told.append(failure(lambda: ledger.send("pay", {"to": SECRET + "x"}, "INV-7")))
    told.append(failure(lambda: ledger.send("pay", {"to": {SECRET}}, "INV-9")))
    ledger.compensate("op-0001", "refund", SECRET)
    told.append(failure(lambda: ledger.compensate("op-0001", "refund", SECRET + "x")))
    rows(path, "UPDATE operation SET payload = ? WHERE number = 1", f'{{"to": "{SECRET}'.encode())
    told.append(failure(lambda: ledger.find("INV-7")))
    told.append(failure(ledger.operations))
    rows(path, "UPDATE operation SET key = ? WHERE number = 1", b"\xff" + SECRET.encode())
    told.append(failure(lambda: ledger.get("op-0001")))
    rows(path, "DROP TABLE operation")
    told.append(failure(lambda: ledger.send("pay", {"to": SECRET}, "INV-7")))
    assert [kind for kind, _ in told] == [
        OutsideBusyError, LedgerConflictError, LosslessError, LedgerConflictError, OutsideCorruptError, OutsideCorruptError,
        OutsideCorruptError, OutsideFileError]
    assert not [text for _, text in told if SECRET in text]
    assert "'INV-7'" in told[1][1]
    assert "op-0001" in told[1][1]


def failure(work: Callable[[], Any]) -> tuple[type, str]:
    """The kind of error, and all that a traceback would print of it apart from lines of code."""
    try:
        work()
    except Exception as error:  # noqa: BLE001 - it is what the test looks at
        return type(error), "".join(traceback.format_exception_only(error)) + repr(error) + repr(error.__cause__)
    return type(None), ""


def test_an_error_is_the_same_in_another_process() -> None:
    for error in (LedgerConflictError("no.", "k", "op-0001"), LedgerMissingError("op-0009")):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), again.__dict__) == (type(error), str(error), error.__dict__)


def test_a_database_of_another_kind_or_version_is_left_alone(path: Path, tmp_path: Path) -> None:
    Memory(tmp_path / "memory.db", clock=lambda: 1).close()
    opened(path).close()
    rows(path, "PRAGMA user_version = 2")
    for there, version in ((tmp_path / "memory.db", None), (path, 2)):
        before = there.read_bytes()
        with pytest.raises(OutsideFormatError) as caught:
            opened(there)
        assert caught.value.version == version
        assert there.read_bytes() == before


def test_a_ledger_that_was_taken_away_is_not_begun_anew(path: Path, ledger: Ledger) -> None:
    """It would pay everything once more."""
    ledger.send("pay", {"no": 7}, "INV-7")
    away = path.with_name("away.db")
    ledger._database.close()
    path.rename(away)
    with pytest.raises(OutsideFileError, match="No such file"):
        ledger.send("pay", {"no": 7}, "INV-7")
    path.touch()
    with pytest.raises(OutsideFileError, match="empty"):
        ledger.send("pay", {"no": 7}, "INV-7")
    away.replace(path)
    assert ledger.send("pay", {"no": 7}, "INV-7").id == "op-0001"
    with pytest.raises(OutsideFileError):
        opened(path.parent / "no" / "such" / "folder" / "ledger.db")


def test_the_number_of_an_operation_is_never_used_again(path: Path, ledger: Ledger) -> None:
    """Somebody may delete rows all the same; a log that names op-0002 must not come to mean another effect."""
    for number in (1, 2):
        ledger.send("pay", {"no": number}, f"INV-{number}")
    rows(path, "DELETE FROM operation WHERE number = 2")
    assert ledger.send("pay", {"no": 3}, "INV-3").id == "op-0003"


def test_an_operation_that_names_one_which_is_not_there_is_damage(path: Path) -> None:
    with opened(path) as ledger:
        ledger.send("pay", 1, "INV-1")
        ledger.compensate("op-0001", "refund")
    rows(path, "DELETE FROM operation WHERE number = 1")
    with pytest.raises(OutsideCorruptError, match="backup"):
        opened(path)


def test_damage_is_told_or_does_no_harm(tmp_path: Path) -> None:
    """One byte changed, or the end cut off: refused with an error of this library, or every call still answers."""
    whole, path = tmp_path / "whole.db", tmp_path / "ledger.db"
    with opened(whole) as ledger:
        for number in range(40):
            ledger.send("pay", {"no": number, "note": "n" * 40}, f"INV-{number}")
        ledger.compensate("op-0003", "refund")
    start, random, refused = whole.read_bytes(), Random(7), set()
    cuts = [start[:length] for length in (50, 100, 4096, 5000, len(start) - 4096, len(start) - 1)]
    for trial in range(120):
        at = random.randrange(len(start))
        cuts.append(start[:at] + bytes([start[at] ^ 1 << trial % 8]) + start[at + 1:])
    for data in cuts:
        for one in tmp_path.glob("ledger.db*"):
            one.unlink()
        path.write_bytes(data)
        try:
            with opened(path) as ledger:
                done = ledger.operations()
                assert len(done) == 41
                ledger.send("pay", {"no": 99}, "INV-99")
        except OutsideFileError as error:
            refused.add(type(error))
    assert OutsideCorruptError in refused


def test_after_closing_nothing_is_done(path: Path) -> None:
    with opened(path) as ledger:
        ledger.send("pay", 1)
    with pytest.raises(ValueError, match="closed"):
        ledger.send("pay", 1)
    assert list(path.parent.iterdir()) == [path], "no file is left beside it"
