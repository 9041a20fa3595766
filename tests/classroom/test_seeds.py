"""A student's own data and checks: other ids, numbers and faults than in the book, and the same answers right and wrong."""
import asyncio
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import build
import nbformat
import pytest
from nbclient import NotebookClient

from labsupport import own
from labsupport.classroom import own_data
from labsupport.classroom.students import make_data
from labsupport.errors import CourseError, LabError
from labsupport.sessionlog.storage import JsonlStore
from labsupport.workbench import log_samples, samples
from tests.classroom.verdicts import exercises, given, said, verdicts
from tests.notebooks.books import NAMES

ROOT = Path(__file__).resolve().parents[2]
SEEDS = (17, 1_403_481_474)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """By seed the folder of a student, with their data."""
    places = {seed: tmp_path_factory.mktemp(f"s{seed}") for seed in SEEDS}
    for seed, place in places.items():
        make_data(place, seed)
    return places


@pytest.fixture(params=SEEDS)
def seed(request):
    return request.param


@pytest.fixture
def folder(folders, seed):
    return folders[seed]


def in_folder(folder, *command):
    """Run Python with *command* as a student's kernel does: in that folder."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run([sys.executable, *command], cwd=folder, capture_output=True, text=True, check=False,
                          env=dict(env, PYTHONPATH=os.pathsep.join([str(ROOT), str(ROOT / "notebooks")])))


# The data

def files(folder):
    return {path.relative_to(folder).as_posix(): path for path in folder.rglob("*")
            if path.suffix in {".csv", ".jsonl", ".json"}}


def test_the_shape_is_the_books_and_the_rest_is_the_students_own(folder):
    book, mine = files(own.WORKBOOK), files(folder / "data")
    assert sorted(book) == sorted(mine)
    same = {name for name in book if book[name].read_bytes() == mine[name].read_bytes()}
    assert same == {"metrics.json"}
    for name in samples.GOOD:
        here, there = (samples.load_session(samples.path(name, place)) for place in (own.WORKBOOK, folder / "data"))
        assert [type(one) for one in here] == [type(one) for one in there], name
        assert here != there, name
    for name in ("two_step", "parallel", "replaced", "resumed", "tool_raises"):
        here, there = (JsonlStore(place / "sessionlog").inspect(name) for place in (own.WORKBOOK, folder / "data"))
        kinds = [[event.type for event in log.events if event.type != "assistant/chunk"] for log in (here, there)]
        assert kinds[0] == kinds[1], name
        assert ids(here).isdisjoint(ids(there)), name


def ids(log):
    """The ids of calls and messages in *log*."""
    return set(re.findall(r'"(?:callId|id)":"((?:call_|m)[^"]*)"', json.dumps([event.read() for event in log.events],
                                                                              separators=(",", ":"))))


def test_the_faults_are_of_the_same_kind_and_in_another_place(folder):
    for name, (_, change) in log_samples.DAMAGE.items():
        if change in (log_samples.tear, log_samples.damage):
            book, mine = ((place / "sessionlog" / f"{name}.jsonl").read_bytes() for place in (own.WORKBOOK, folder / "data"))
            assert [len(line) for line in book.split(b"\n")] != [len(line) for line in mine.split(b"\n")], name
    script = ("from tests.test_log_samples import REFUSED; from labsupport.workbench import log_samples, samples; import json\n"
              "def fate(load, name):\n"
              "    try: load(name)\n"
              "    except Exception as error: return type(error).__name__\n"
              "    return 'loads'\n"
              "print(json.dumps([[fate(log_samples.load, name) for name in log_samples.NAMES],"
              " [fate(samples.load, name) for name in (*samples.GOOD, *samples.DAMAGE)]]))")
    mine, book = (in_folder(place, "-c", script) for place in (folder, ROOT))
    assert json.loads(mine.stdout) == json.loads(book.stdout), mine.stderr + book.stderr


def test_data_are_made_the_same_again_and_only_for_a_student(folder, tmp_path, monkeypatch):
    seed = json.loads((folder / own.FILE).read_text())["seed"]
    make_data(tmp_path, seed)
    assert {name: path.read_bytes() for name, path in files(folder / "data").items()} == {
        name: path.read_bytes() for name, path in files(tmp_path / "data").items()}
    monkeypatch.setattr(own_data, "SEED", 0)
    with pytest.raises(CourseError, match=r"no \.student here"):
        own_data.main()


@pytest.mark.parametrize("text", [
    "", "[]", "{}", '{"seed": 0, "data": "d"}', '{"seed": true, "data": "d"}', '{"seed": "7", "data": "d"}', '{"seed": 7}',
    '{"seed": 7, "data": 5}', '{"seed": 1e3, "data": "d"}', "\udcff", "[" * 100_000,
])
def test_a_damaged_student_file_is_refused_with_what_to_do(tmp_path, text):
    (tmp_path / own.FILE).write_text(text, "utf-8", "surrogateescape")
    with pytest.raises(LabError, match=r"\.student does not say .*delete it"):
        own.student(tmp_path / "deeper")


# The checks and the labs

@pytest.fixture(scope="module")
def book():
    """What the checks give and say in the book."""
    return as_json(verdicts())


def as_json(value):
    return json.loads(json.dumps(value))


@pytest.fixture(scope="module")
def mine(folders):
    """By seed what they give and say to a student."""
    with ThreadPoolExecutor() as pool:  # each waits for a process of its own
        results = list(pool.map(lambda place: in_folder(place, "-m", "tests.classroom.verdicts"), folders.values()))
    assert [result.returncode for result in results] == [0, 0], [result.stderr[-3000:] for result in results]
    return {seed: json.loads(result.stdout.splitlines()[-1]) for seed, result in zip(folders, results, strict=True)}


def test_the_checks_judge_as_in_the_book(book, mine, seed):
    """Answers are right and wrong for the same reasons; the sentences quote the student's own ids."""
    def keys(said):
        return {exercise: [key for key, _ in answers] for exercise, answers in said.items()}

    assert keys(mine[seed]["said"]) == keys(book["said"])


GIVEN_NOTHING = {"b11_clinic/causes": "it names what is wrong with cases that the notebook shows"}


def test_the_cases_of_every_check_follow_the_seed(book, mine, seed):
    """No check forgets whose cases it makes. Where the answer is given nothing, the sentences are about other cases."""
    same = {exercise for exercise, calls in mine[seed]["given"].items() if book["given"][exercise] == calls}
    assert same == set(GIVEN_NOTHING)
    for exercise in GIVEN_NOTHING:
        assert mine[seed]["said"][exercise] != book["said"][exercise]


def test_in_the_book_the_cases_are_always_the_same(book):
    """Or the test above would find a difference in anything."""
    assert {exercise for exercise in exercises() if as_json(given(exercise)) != book["given"][exercise]} == set()
    assert {exercise for exercise in GIVEN_NOTHING if as_json(said(exercise)) != book["said"][exercise]} == set()


def test_processes_that_a_lab_starts_are_the_students_too(folder, seed):
    script = ("from labsupport.workbench.scratch import scratch; import subprocess, sys; scratch(); "
              "subprocess.run([sys.executable, '-c', 'from labsupport import own; print(own.SEED, own.DATA)'])")
    result = in_folder(folder, "-c", script)
    assert result.stdout.split() == [str(seed), str((folder / "data").resolve())], result.stderr


async def run(name, folder, gate):
    """Run a lab in *folder*; the cells that failed and should not have, and those that should have."""
    nb = build.notebook(build.SOURCES / f"{name}.py", "en", "learner")
    client = NotebookClient(nb, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}},
                            shutdown_kernel="immediate", allow_errors=True, extra_arguments=["--log-level=ERROR"])
    async with gate:
        await client.async_execute()
    nbformat.validate(nb)
    failed = []
    for cell in nb.cells:
        errors = [output for output in cell.get("outputs", ()) if output.output_type == "error"]
        if bool(errors) != ("raises-exception" in cell.metadata.get("tags", ())):
            failed.append(f"{name}/{cell.id}: {errors[0].ename if errors else 'no error'}")
    return failed


def test_every_lab_runs_untouched_on_a_students_data(folders):
    """For one student; what another seed changes in the checks is seen above."""
    folder = folders[SEEDS[0]]
    (folder / ".lang").write_text("en", "utf-8")

    async def run_all():
        gate = asyncio.Semaphore(2 * (os.cpu_count() or 1))
        return await asyncio.gather(*(run(name, folder, gate) for name in NAMES))

    assert [fault for faults in asyncio.run(run_all()) for fault in faults] == []
