"""Files that are very deep, very long or very large, and a system that says no."""
import inspect
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from labsupport.errors import SessionFileError, SessionJsonError, SessionRecordError, SessionTornTailError
from labsupport.lossless import js_json
from labsupport.miniagent import (
    AssistantMessage,
    Message,
    ScriptedModel,
    ToolCall,
    UserMessage,
    append_session,
    estimate_context_chars,
    load_session,
    message_json,
    run_agent,
    trim_context,
)
from tests.builders import gives, session_file, session_text, user
from tests.miniagent.child import facts

posix = pytest.mark.skipif(os.name != "posix", reason="this system has neither users nor limits of that kind")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s.jsonl"


# Deep

def nested(depth: int) -> Any:
    value: Any = "core"
    for level in range(depth):
        value = [value] if level % 2 else {"k": value}
    return value


def test_a_call_that_is_nested_deep_goes_all_the_way(path: Path) -> None:
    """Append, load, estimate, trim, and a tool that is given it."""
    given = nested(20_000)
    append_session(path, gives(given))
    loaded = load_session(path)
    assert [message_json(message) for message in loaded] == [message_json(gives(given))]
    assert estimate_context_chars(loaded) == len(path.read_text("utf-8"))
    assert trim_context(loaded, 10**6) == loaded
    append_session(path, user())
    seen = []
    run_agent("go on", ScriptedModel([[ToolCall("d", "deep", given)], ["ok"]]), {"deep": lambda it: seen.append(it) or "seen"},
              # type: ignore[func-returns-value]
              session_path=path, context_max_chars=10**6)
    assert js_json(seen[0]) == js_json(given)
    assert load_session(path)[-2].content == "seen"


@pytest.mark.parametrize("depth", [900, 20_000, 200_000])
@pytest.mark.parametrize(("line", "error"), [
    ('{"role":"user","content":"x","more":@}', None), ('{"role":"user","content":@}', SessionRecordError),
    ("@", SessionRecordError), ('{"role":"user","content":"x","more":@', SessionJsonError),
    ('{"role":"user","content":"x","more":@]}', SessionJsonError)],
    ids=["in a key that is dropped", "for a content", "alone", "not closed", "closed too often"])
def test_a_line_that_is_nested_deep_never_stops_the_program(line: str, error: Any, depth: int, path: Path) -> None:
    deep = '[{"k":' * (depth // 2) + "1" + "}]" * (depth // 2)
    path.write_text("\n" + line.replace("@", deep) + "\n", "utf-8")
    if error is None:
        assert load_session(path) == [user("x")]
        return
    with pytest.raises(SessionFileError) as caught:
        load_session(path)
    assert (type(caught.value), caught.value.line) == (error, 2)


def test_a_deep_line_loads_where_the_stack_is_nearly_used_up(path: Path) -> None:
    append_session(path, gives(nested(5_000)))

    def below(levels: int) -> list[Message]:
        return below(levels - 1) if levels else load_session(path)

    used = len(inspect.stack())
    assert len(below(sys.getrecursionlimit() - used - 60)) == 1


# Long

LONG = 16 * 2**20


@pytest.mark.parametrize("text", ["x" * LONG, "预算" * (LONG // 6), '"\n' * (LONG // 4), "\ud83d" + "x" * LONG],
                         ids=["ASCII", "Chinese", "escapes", "half a pair in front"])
def test_a_line_of_16_mib_is_a_line(text: str, path: Path) -> None:
    append_session(path, user(text))
    append_session(path, user("next"))
    assert path.stat().st_size >= LONG
    loaded = load_session(path)
    assert loaded[0].content == text
    assert loaded[1] == user("next")
    assert estimate_context_chars(loaded) == len(session_text(user(text), user("next")).encode("utf-16-le")) // 2


def test_a_bad_line_of_16_mib_gives_a_short_sentence(path: Path) -> None:
    line = b'{"role":"user","content":"' + b"x" * LONG
    path.write_bytes(line)
    for use in (lambda: load_session(path), lambda: append_session(path, user())):
        with pytest.raises(SessionTornTailError) as caught:
            use()
        assert len(str(caught.value)) < 600 + len(str(path))
    assert path.stat().st_size == len(line)
    path.write_bytes(line + b"\n")
    with pytest.raises(SessionJsonError, match="line 1") as damaged:
        load_session(path)
    assert len(str(damaged.value)) < 600 + len(str(path))


def test_numbers_of_very_many_digits_are_numbers(path: Path) -> None:
    digits = "7" * 100_000
    line = message_json(gives(None)).replace("null", f"[-{digits},0.{digits}]") + "\n"
    path.write_text(line, "utf-8")
    loaded = load_session(path)
    assert estimate_context_chars(loaded) == len(line) - len(digits) - 2 + len("0.7777777777777778")
    assert message_json(loaded[0]).count("7") == len(digits) + 15


# Large

@pytest.mark.slow
@pytest.mark.parametrize(("line", "lines", "limit"), [
    (session_text(user("x" * 1000)), 60_000, 2.0), (session_text(user("预算" * 200)), 50_000, 2.0),
    ('{"role":"user","content":"x","more":"' + "m" * 1_000_000 + '"}\n', 60, 0.5),
], ids=["what is kept is as large as the file", "two bytes a character in memory, three in the file", "what is kept is small"])
def test_memory_follows_what_is_kept(line: str, lines: int, limit: float, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(line for _ in range(lines))
    measured = facts("""
        import resource
        unit = 1 if sys.platform == "darwin" else 1024
        load_session(path.with_name("absent"))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        count = len(load_session(path))
        print(json.dumps([count, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * unit]))
        """, path)
    assert measured[0] == lines
    assert measured[1] < limit * path.stat().st_size


# A system that says no

@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody may read and only its owner write into; pytest's own are closed to others."""
    folder = Path(tempfile.mkdtemp(prefix="session"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@posix
def test_without_permission_nothing_is_written_and_reading_goes_on(open_folder: Path) -> None:
    path = session_file(open_folder / "s.jsonl", user("kept"))
    secret = session_file(open_folder / "secret.jsonl", user())
    path.chmod(0o444)
    secret.chmod(0)
    open_folder.chmod(0o555)
    before = path.read_bytes()
    found = facts("""
        if os.geteuid() == 0:  # root may write everywhere
            os.setegid(65534)
            os.seteuid(65534)
        print(json.dumps({
            "control: write": attempt(open, path, "ab"), "control: make": attempt(open, path.with_name("made"), "ab"),
            "append": attempt(append_session, path, UserMessage("no")),
            "plain": attempt(append_session, path, UserMessage("no"), lock=False),
            "make": attempt(append_session, path.with_name("new.jsonl"), UserMessage("no")),
            "load": attempt(load_session, path),
            "absent": attempt(load_session, path.with_name("new.jsonl")),
            "secret": attempt(load_session, path.with_name("secret.jsonl")),
            "run": attempt(run_agent, "no", ScriptedModel([["no"]]), {}, session_path=path)}))
        """, path)
    open_folder.chmod(0o755)
    for name in ("control: write", "control: make", "append", "plain", "make", "secret", "run"):
        assert found[name].get("errno") == "EACCES", name
        assert str(open_folder) in found[name]["says"]
        assert "no" not in found[name]["says"].replace(str(open_folder), "").split()
    assert found["load"] == {"gave": repr([user("kept")])}
    assert found["absent"] == {"gave": "[]"}
    assert path.read_bytes() == before
    assert sorted(file.name for file in open_folder.iterdir()) == ["s.jsonl", "secret.jsonl"]


FULL = """
    before = path.read_bytes()
    seen = {"append": attempt(append_session, path, UserMessage("A" * 100_000), durability=sys.argv[2])}
    seen["same"] = path.read_bytes() == before
    seen["loaded"] = len(load_session(path))
    history = []
    run = attempt(run_agent, "A" * 100_000, ScriptedModel([["never asked"]]), {}, session_path=path)
    seen["run"], seen["same after run"] = run, path.read_bytes() == before
    {more_room}
    append_session(path, UserMessage("B"))
    seen["then"] = [message.content for message in load_session(path)]
    print(json.dumps(seen))
"""


def disk_is_full(seen: Any, error: str) -> None:
    assert seen["append"]["errno"] == seen["run"]["errno"] == error
    assert seen["same"]
    assert seen["same after run"]
    assert seen["loaded"] == 2
    assert seen["then"] == ["first", "second", "B"]


@posix
@pytest.mark.parametrize("durability", ["buffered", "fsync"])
def test_a_limit_in_the_middle_of_an_append_leaves_the_file_as_it_was(durability: str, path: Path) -> None:
    session_file(path, user("first"), user("second"))
    limit = """
    import resource
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 10, hard))  # ten bytes go in, then EFBIG
    """
    seen = facts(limit + FULL.replace("{more_room}", "resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))"), path,
                 durability)
    disk_is_full(seen, "EFBIG")


@posix
def test_a_full_disk_in_the_middle_of_an_append_leaves_the_file_as_it_was(path: Path) -> None:
    mount = f"mount -t tmpfs -o size=64k none {str(path.parent)!r}"
    try:
        works = subprocess.run(["unshare", "-m", "sh", "-c", mount], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        works = False
    if not works:
        pytest.skip("a small disk cannot be made here: that takes root, `unshare` and the right to mount")
    code = f"""
    assert os.system({mount!r}) == 0
    append_session(path, UserMessage("first"))
    append_session(path, UserMessage("second"))
    """
    seen = facts(code + FULL.replace("{more_room}", ""), path, "buffered", before=("unshare", "-m"))
    disk_is_full(seen, "ENOSPC")


def test_messages_do_not_change_while_their_file_does(path: Path) -> None:
    append_session(path, AssistantMessage("", (ToolCall("a", "t", {"k": [1]}),)))
    loaded = load_session(path)
    append_session(path, UserMessage("more"))
    assert loaded == [AssistantMessage("", (ToolCall("a", "t", {"k": [1]}),))]
