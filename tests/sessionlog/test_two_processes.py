"""Two processes and one log: one of them writes, and nobody writes from where the log no longer ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from labsupport.errors import StaleCursorError, StoreBusyError
from labsupport.sessionlog import Session, SessionHeader
from labsupport.sessionlog.storage import on_flush
from tests.sessionlog import builders as make
from tests.sessionlog.builders import in_child, stored
from tests.sessionlog.stores import Kind

posix = pytest.mark.skipif(not make.POSIX, reason="forks a process")
TALK = [make.turn_start(), make.user(), make.turn_end()]


HOLDER = """
import sys
import time
from pathlib import Path
from labsupport.sessionlog import Session
from labsupport.sessionlog.storage import flush
from tests.sessionlog import stores
session = Session.create("s1")
writer = stores.named(sys.argv[2]).open(Path(sys.argv[1])).attach(session)
session.append("turn/start", {"turn": 1})
flush(session)
print("holding", flush=True)
sys.stdin.read()
"""


def holder(kind: Kind, folder: Path) -> subprocess.Popen[str]:
    """Another process that has written one event and holds the log until its input ends, or it is killed."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder), kind.name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "holding\n"
    return process


def test_the_second_process_is_refused_clearly_and_gets_in_when_the_first_is_killed(
    store: Any, kind: Kind, folder: Path
) -> None:
    with holder(kind, folder) as process:
        try:
            before = kind.held(folder)
            session = Session.create("s1", seed=make.log(make.turn_start()))
            for refused in (
                lambda: store.load("s1"),
                lambda: store.attach(session),
                lambda: store.append("s1", make.log(make.turn_end(), first=1)),
            ):
                with pytest.raises(StoreBusyError, match=f"process {process.pid}") as caught:
                    refused()
                assert caught.value.pid == process.pid
                assert caught.value.path == store.path("s1")
                assert "inspect" in str(caught.value)
            assert kind.held(folder) == before
            assert [event.type for event in store.inspect("s1").events] == ["turn/start", "turn/end"]
        finally:
            process.kill()
    loaded = store.load("s1")
    assert [event.type for event in loaded.events] == ["turn/start", "turn/end"]
    assert loaded.repair is not None


def test_the_lock_ends_with_the_writer(store: Any, kind: Kind, folder: Path) -> None:
    with holder(kind, folder) as process:
        process.communicate("")
    store.append("s1", make.log(make.turn_end(), first=1))
    assert len(store.load("s1").events) == 2


@posix
def test_a_writer_whose_log_went_on_elsewhere_cannot_append(store: Any, kind: Kind, folder: Path) -> None:
    stored(store, make.turn_start(), make.step_start(), make.asks("a"))
    header = SessionHeader("s1", created_at=1000)
    mine = Session.create("s1", seed=store.read_from("s1", 0), header=header)  # read without repair: its next seq is 3

    def recovers() -> int:
        return len(kind.open(folder).load("s1").events)

    assert in_child(recovers) == 6
    before = kind.held(folder)
    with pytest.raises(StaleCursorError) as caught:
        store.append("s1", make.log(make.result("a"), first=3))
    assert (caught.value.expected, caught.value.stored) == (3, 6)
    with pytest.raises(StaleCursorError):
        store.attach(mine)
    assert kind.held(folder) == before
    assert [event.seq for event in store.load("s1").events] == list(range(6)), "no seq twice"


@posix
def test_a_forked_child_does_not_inherit_the_right_to_write(store: Any, kind: Kind, folder: Path) -> None:
    session = Session.create("s1")
    writer = store.attach(session, on_flush)
    make.append(session, make.turn_start())
    writer.flush()
    make.append(session, make.turn_end())

    def child() -> Any:
        seen = []
        for refused in (
            writer.flush,
            lambda: store.append("s1", make.log(make.turn_end(), first=1)),
            lambda: kind.open(folder).load("s1"),
            lambda: store.load("s1"),
        ):
            with pytest.raises(StoreBusyError) as caught:
                refused()
            seen.append(caught.value.pid)
        return seen

    assert in_child(child) == [os.getpid()] * 4
    writer.flush()
    writer.close()
    assert len(store.load("s1").events) == 2


@posix
def test_a_forked_child_neither_keeps_the_lock_nor_breaks_it(store: Any, kind: Kind, folder: Path) -> None:
    session = Session.create("s1")
    writer = store.attach(session, on_flush)
    make.append(session, make.turn_start())
    writer.flush()
    assert in_child(lambda: writer.close()) is None, "the child lets go of its copy"
    with pytest.raises(StoreBusyError):
        in_child_raising(lambda: kind.open(folder).load("s1"))
    waiting = os.fork()
    if waiting == 0:
        signal.pause()
        os._exit(0)
    try:
        writer.close()
        assert len(kind.open(folder).load("s1").events) == 2
    finally:
        os.kill(waiting, signal.SIGKILL)
        os.waitpid(waiting, 0)


def in_child_raising(work: Any) -> Any:
    answer = in_child(work)
    if isinstance(answer, Exception):
        raise answer
    return answer


@posix
@pytest.mark.parametrize("processes", [4])
def test_processes_that_append_in_turn_weld_no_records(store: Any, kind: Kind, folder: Path, processes: int) -> None:
    """Each tries until it is its turn; whatever is refused is refused before it is written."""
    per_process = 10
    stored(store, make.user("first"))
    children = []
    for number in range(processes):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                mine, done, end = kind.open(folder), 0, time.monotonic() + 60
                while done < per_process and time.monotonic() < end:
                    try:
                        stored_now = len(mine.read_from("s1", 0))
                        mine.append("s1", make.log(make.user(f"{number}.{done} " + "x" * 20_000), first=stored_now))
                        done += 1
                    except (StoreBusyError, StaleCursorError):
                        continue
                code = int(done < per_process)
            finally:
                os._exit(code)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * processes
    events = store.load("s1").events
    assert [event.seq for event in events] == list(range(1 + processes * per_process))
    said = [event.read()["content"][0]["text"].split()[0] for event in events[1:]]
    for number in range(processes):
        assert [word for word in said if word.startswith(f"{number}.")] == [f"{number}.{at}" for at in range(per_process)]


@posix
def test_two_processes_create_one_session_and_one_of_them_is_told(store: Any, kind: Kind, folder: Path) -> None:
    folder.mkdir()
    ready, go = os.pipe()

    def child() -> str:
        os.read(ready, 1)
        try:
            mine = kind.open(folder)
            mine.create(SessionHeader("s1"))
            mine.append("s1", make.log(make.user("x" * 10_000)))
        except Exception as error:  # noqa: BLE001 - its name is what the test looks at
            return type(error).__name__
        return "wrote"

    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as pool:
        answers = [pool.submit(in_child, child) for _ in range(4)]
        os.write(go, b"x" * 4)
        told = sorted(answer.result() for answer in answers)
    os.close(ready)
    os.close(go)
    assert told.count("wrote") == 1
    assert set(told) <= {"wrote", "StoreBusyError", "StaleCursorError", "StoredLogError"}
    assert len(store.load("s1").events) == 1
