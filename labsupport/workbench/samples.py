"""The sample sessions in data/: found by name, and made again by the project's own loop from fixed seeds.

    python -m labsupport.workbench.samples     write data/ anew, the same bytes every time
"""
import json
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path

from labsupport.errors import LabError
from labsupport.miniagent import Message, ScriptedModel, load_session
from labsupport.miniagent.cli import scripted_model
from labsupport.own import DATA, SEED, own_random
from labsupport.workbench.sample_table import NAME, table_tools, write_table
from labsupport.workbench.sample_talks import (
    INTERLEAVED,
    LOOP,
    PARALLEL,
    SHORT,
    TOOLS,
    Talk,
    long_talk,
    record,
    record_interleaved,
    total,
)

TALKS: dict[str, Talk] = {"short": SHORT, "parallel": PARALLEL, "tools": TOOLS, "loop": LOOP, "long": long_talk()}
GOOD = (*TALKS, "interleaved")


# Damage. Each function takes the lines of a good file, line breaks and all, and gives those of a damaged one.

def damage_second_line(lines: list[bytes]) -> list[bytes]:
    """The second line has lost its end, but not its line break: what a bad disk or a careless editor leaves."""
    return [lines[0], lines[1][:own_cut(lines[1])] + b"\n", *lines[2:]]


def tear_tail(lines: list[bytes]) -> list[bytes]:
    """The last line stops half way: what a writer leaves that was stopped while it wrote."""
    return [*lines[:-1], lines[-1][:own_cut(lines[-1])]]


def spoil_record(lines: list[bytes]) -> list[bytes]:
    """A result says isError 0, or another wrong thing, where true or false belongs: still JSON, but no message."""
    said = own_random("spoil").choice((b"1", b"null", b'"no"', b"[]")) if SEED else b"0"
    return [line.replace(b'"isError":false', b'"isError":' + said) for line in lines]


def orphan_result(lines: list[bytes]) -> list[bytes]:
    """The message that asked for the result is gone, as if older lines had been cut off without care."""
    return lines[2:]


def leave_call_open(lines: list[bytes]) -> list[bytes]:
    """The file ends with the request: the process stopped inside the tool."""
    return lines[:2]


def own_cut(line: bytes) -> int:
    """Where *line* is cut: half way, and for a student somewhere about there."""
    return len(line) * own_random(f"cut {len(line)}").randint(35, 65) // 100 if SEED else len(line) // 2


DAMAGE: dict[str, tuple[str, Callable[[list[bytes]], list[bytes]]]] = {
    "second_line": ("short", damage_second_line),
    "torn_tail": ("short", tear_tail),
    "bad_record": ("short", spoil_record),
    "orphan": ("short", orphan_result),
    "open_call": ("parallel", leave_call_open),
}


def path(name: str, folder: Path = DATA) -> Path:
    """Where the sample session *name* is.

    >>> path("torn_tail").relative_to(DATA).as_posix()
    'miniagent/damaged/torn_tail.jsonl'

    >>> path("tool")
    Traceback (most recent call last):
    labsupport.errors.LabError: there is no sample session 'tool'; did you mean 'tools'?
    """
    if name not in GOOD and name not in DAMAGE:
        near = get_close_matches(name, [*GOOD, *DAMAGE], 1)
        there_are = f"did you mean {near[0]!r}?" if near else f"there are {', '.join([*GOOD, *DAMAGE])}"
        raise LabError(f"there is no sample session {name!r}; {there_are}")
    return folder / "miniagent" / ("damaged" if name in DAMAGE else ".") / f"{name}.jsonl"


def load(name: str) -> list[Message]:
    """The messages of the sample session *name*; the damaged ones raise what `load_session` raises.

    >>> [message.role for message in load("short")]
    ['user', 'assistant', 'tool', 'assistant']
    """
    return load_session(path(name))


def model() -> ScriptedModel:
    """The scripted model of the command line, from its first turn on: it asks for two rounds of calls, then it answers."""
    return scripted_model(DATA / "miniagent" / "script.json")


def write_all(folder: Path) -> None:
    """Make the table, every sample session and the command line's script anew, under *folder*.

    The tools read the table in data/, so that one has to be there before another folder is written.
    """
    (folder / "miniagent" / "damaged").mkdir(parents=True, exist_ok=True)
    write_table(folder / NAME)
    for name in (*GOOD, *DAMAGE):
        path(name, folder).unlink(missing_ok=True)
    for name, talk in TALKS.items():
        record(path(name, folder), talk)
    record_interleaved(path("interleaved", folder), INTERLEAVED)
    for name, (good, damage) in DAMAGE.items():
        with path(good, folder).open("rb") as file:
            path(name, folder).write_bytes(b"".join(damage(list(file))))
    (folder / "miniagent" / "script.json").write_text(script(), "utf-8", newline="\n")


def script() -> str:
    """The turns of the command line's scripted model, as JSON: two rounds of calls, and an answer with the tool's figures."""
    rounds = [[total("c1", year="2025")],
              [total("c2", clinic="hillside", year="2025"), total("c3", "repeats", clinic="hillside", year="2025")]]
    tools = table_tools()
    whole, part, repeats = (tools[call.name](call.input) for calls in rounds for call in calls)
    turns: list[list[object]] = [[{"id": call.id, "name": call.name, "input": call.input} for call in calls]
                                 for calls in rounds]
    turns[0].insert(0, "All clinics first.")
    turns.append([f"2025: {whole} in all clinics, {part} of them at hillside, where {repeats} were repeats."])
    return json.dumps(turns, ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    write_all(DATA)
