"""Several writers on one file, and writers that are killed."""
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import portalocker
import pytest

from labsupport.errors import SessionTornTailError
from labsupport.miniagent import append_session, load_session, message_json
from tests.builders import session_file, user
from tests.miniagent.child import finish, start

WRITER = """
    name, count, padding = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    print("ready", flush=True)
    while not path.with_name("go").exists():
        time.sleep(0.001)
    for number in range(count):
        append_session(path, UserMessage(f"{name} {number} " + "x" * (number * padding % 180_000)))
"""


@pytest.mark.slow
@pytest.mark.parametrize(("writers", "count", "padding"), [(8, 1000, 1), (4, 50, 20_011)],
                         ids=["8 × 1,000 lines", "4 × 50 long lines"])
def test_processes_lose_and_mix_nothing(writers: int, count: int, padding: int, tmp_path: Path) -> None:
    path = session_file(tmp_path / "s.jsonl", tail=message_json(user("first")).encode())  # without its line break: one gives it
    processes = [start(WRITER, path, name, count, padding) for name in range(writers)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    (tmp_path / "go").touch()
    for process in processes:
        finish(process)
    contents = [message.content.split() for message in load_session(path)]
    assert len(contents) == 1 + writers * count == path.read_bytes().count(b"\n")  # and no empty line
    for name in map(str, range(writers)):
        assert [int(number) for writer, number, *_ in contents[1:] if writer == name] == list(range(count))


HELD = """
    print("ready", flush=True)
    append_session(path, UserMessage("late"))
"""


def test_append_waits_for_the_lock(tmp_path: Path) -> None:
    path = session_file(tmp_path / "s.jsonl", user())
    with path.open("rb+") as file:
        portalocker.lock(file, portalocker.LockFlags.EXCLUSIVE)
        process = start(HELD, path)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.3)
        assert process.poll() is None
        assert file.read() == (message_json(user()) + "\n").encode()
    finish(process)
    assert load_session(path) == [user(), user("late")]


ENDLESS = """
    number = 0
    while True:
        append_session(path, UserMessage(f"{number} " + "预" * (number * 7919 % 20_000)))
        number += 1
"""


@pytest.mark.parametrize("lines", [1, 20, 150])
def test_a_killed_writer_leaves_a_prefix(lines: int, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    process = start(ENDLESS, path)
    deadline = time.monotonic() + 60
    while not path.exists() or path.read_bytes().count(b"\n") < lines:
        assert time.monotonic() < deadline
        assert process.poll() is None
    process.kill()
    process.communicate()
    try:
        loaded = load_session(path)
    except SessionTornTailError as error:
        path.write_bytes(path.read_bytes()[:error.offset])
        loaded = load_session(path)
    assert [int(message.content.split()[0]) for message in loaded] == list(range(len(loaded)))
    assert len(loaded) >= lines
    append_session(path, user("after"))  # nobody holds the lock any more
    assert load_session(path)[-1] == user("after")


def test_a_load_beside_a_writer_at_work_waits_for_the_line_instead_of_calling_it_torn(tmp_path: Path) -> None:
    path = session_file(tmp_path / "s.jsonl", user("first"))
    line = (message_json(user("second")) + "\n").encode()
    with ThreadPoolExecutor(1) as pool, path.open("ab", buffering=0) as file:
        portalocker.lock(file, portalocker.LockFlags.EXCLUSIVE)
        file.write(line[:20])
        loading = pool.submit(load_session, path)
        with pytest.raises(TimeoutError):
            loading.result(timeout=0.3)
        file.write(line[20:])
        portalocker.unlock(file)
        assert loading.result(timeout=30) == [user("first"), user("second")]


def test_a_torn_tail_that_nobody_is_writing_is_said_to_be_torn(tmp_path: Path) -> None:
    path = session_file(tmp_path / "s.jsonl", user("first"))
    with path.open("ab") as file:
        file.write(b'{"role":"us')
    with pytest.raises(SessionTornTailError):
        load_session(path)
