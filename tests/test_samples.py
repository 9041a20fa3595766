"""The samples in data/: made again byte for byte, and each is what its name says."""
import csv

import pytest

from labsupport.errors import LabError, SessionFileError, SessionJsonError, SessionRecordError, SessionTornTailError
from labsupport.miniagent import AssistantMessage, context_units, find_orphans, load_session, open_calls
from labsupport.miniagent.cli import DATA, scripted_model
from labsupport.workbench import samples
from labsupport.workbench.sample_table import YEARS, table_tools


def files(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes()
            for path in folder.rglob("*") if path.suffix in {".csv", ".jsonl", ".json"}}


def test_everything_is_made_again_byte_for_byte(tmp_path):
    samples.write_all(tmp_path)
    made = files(tmp_path)
    kept = {name: data for name, data in files(DATA).items()
            if not name.startswith("sessionlog/") and name != "metrics.json"}  # those: test_log_samples; this: written by hand
    assert sorted(made) == sorted(kept)
    assert [name for name in made if made[name] != kept[name]] == []
    samples.write_all(tmp_path)  # once more over what is there: nothing is appended to old files
    assert files(tmp_path) == made


def test_the_readme_names_every_file():
    readme = (DATA / "README.md").read_text("utf-8")
    assert [name for name in files(DATA) if f"`{name}`" not in readme] == []


@pytest.mark.parametrize("name", samples.GOOD)
def test_a_good_session_loads_and_is_complete(name):
    messages = samples.load(name)
    assert messages
    assert (find_orphans(messages), open_calls(messages)) == ([], [])
    assert [message for message in messages if getattr(message, "is_error", False)] == []


@pytest.mark.parametrize(("name", "error", "line"), [
    ("second_line", SessionJsonError, 2), ("torn_tail", SessionTornTailError, 4), ("bad_record", SessionRecordError, 3),
])
def test_a_damaged_session_says_what_its_name_says(name, error, line):
    with pytest.raises(SessionFileError) as caught:
        samples.load(name)
    assert (type(caught.value), caught.value.line) == (error, line)


def test_what_loads_but_does_not_pair():
    assert find_orphans(samples.load("orphan")) == [0]
    assert [call.id for call in open_calls(samples.load("open_call"))] == ["c1", "c2", "c3"]


def test_every_sample_is_tested():
    assert set(samples.DAMAGE) == {"second_line", "torn_tail", "bad_record", "orphan", "open_call"}


def test_the_interleaved_session_is_where_the_two_rules_differ():
    messages = samples.load("interleaved")
    assert [message.role for message in messages] == ["user"] * 2 + ["assistant"] * 2 + ["tool"] * 2 + ["assistant"] * 2
    assert [len(unit) for unit in context_units(messages, "chapter")] == [1, 1, 1, 3, 1, 1]
    assert [len(unit) for unit in context_units(messages, "closed")] == [1, 1, 4, 1, 1]


def test_the_shapes_that_the_labs_rely_on():
    roles = {name: [message.role for message in samples.load(name)] for name in samples.GOOD}
    assert roles["short"] == ["user", "assistant", "tool", "assistant"]
    assert len(roles["tools"]) == 16
    assert roles["loop"].count("user") == 1
    assert roles["loop"].count("tool") == 24
    assert 300 <= len(roles["long"]) <= 600
    assert [len(message.tool_calls) for message in samples.load("parallel") if isinstance(message, AssistantMessage)] == [3, 0]


def test_the_answers_say_what_the_table_says():
    with (DATA / "outpatient.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if (row["clinic"], row["test"]) == ("hillside", "thyroid")]
    year = {str(year): sum(int(row["count"]) for row in rows if row["year"] == str(year)) for year in YEARS}
    assert f"{year['2025']} (12 rows)" in samples.load("short")[-1].content
    assert f"2024: {year['2024']:,}; 2025: {year['2025']:,}" in samples.load("tools")[8].content
    assert [row["month"] for row in rows if row["count"] == "0"] == ["6", "7"]


def test_the_command_line_script_calls_tools_that_exist_and_cites_them():
    turns = scripted_model(DATA / "miniagent" / "script.json")
    first = list(turns.stream([], {}))
    assert table_tools()[first[1].name](first[1].input) in (DATA / "miniagent" / "script.json").read_text("utf-8")


def test_damage_stays_inside_the_lines_it_names():
    good = samples.path("short").read_bytes().split(b"\n")
    second, torn = (samples.path(name).read_bytes().split(b"\n") for name in ("second_line", "torn_tail"))
    assert [number for number, (a, b) in enumerate(zip(good, second, strict=True), 1) if a != b] == [2]
    assert torn[:3] == good[:3]
    assert good[3].startswith(torn[3])


@pytest.mark.parametrize(("name", "sentence"), [("tool", "did you mean 'tools'"), ("zzz", "there are short, parallel")])
def test_an_unknown_name_is_answered(name, sentence):
    with pytest.raises(LabError, match=sentence):
        samples.load(name)


def test_a_failure_in_one_of_two_loops_reaches_the_caller(tmp_path):
    talks = [("one", [["hello"]]), ("two", [])]  # the second has nothing to say
    with pytest.raises(StopIteration):
        samples.record_interleaved(tmp_path / "s.jsonl", talks)
    assert [message.role for message in load_session(tmp_path / "s.jsonl")] == ["user", "user", "assistant"]


@pytest.mark.parametrize("longer", [0, 1])
def test_the_longer_of_two_loops_goes_on_alone(tmp_path, longer):
    talks = [("short", [["done"]]), ("short", [["done"]])]
    talks[longer] = ("long", [[samples.total(f"c{number}")] for number in range(5)] + [["{0}"]])
    runs = samples.record_interleaved(tmp_path / "s.jsonl", talks)
    assert [len(run.messages) for run in runs][longer] == 12 + longer  # the second loop also found the first one's question
    assert len(load_session(tmp_path / "s.jsonl")) == 12 + 2
