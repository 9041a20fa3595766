"""Submissions, code, files and folders that mean ill, or that look as if they did: no grade is better for it, none is lost."""
import json
import os
import shutil
import stat
import time
import zipfile
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path

import build
import nbformat
import portalocker
import psutil
import pytest
import release
from nbformat.v4 import new_code_cell
from nbgrader.api import Gradebook

from labsupport.classroom import findings, gather, grade, handed
from labsupport.classroom.apart import apart, untouched
from labsupport.classroom.course import CONFIG, Course
from labsupport.classroom.execute import LabExecute
from labsupport.classroom.findings import Exercise, Finding
from labsupport.classroom.grader import generate
from labsupport.classroom.page import class_page, write_page
from labsupport.classroom.students import enrol, make_data, read_ids
from labsupport.errors import CourseError, LabError
from labsupport.own import student
from labsupport.workbench.text import speaking

LAB = "b4_truncate_and_recover"
CANARY = "kanarienvogel-7731"
WRONG = "def decide(events, call_id):\n    return 'retry'\n"


def cells_of(lab, edition):
    return {cell.id: cell for cell in build.notebook(build.SOURCES / f"{lab}.py", "en", edition).cells}


RIGHT = cells_of(LAB, "solved")["decide"].source


def small_course(folder, keep=("imports", "decide", "decide-check")):
    """A course of one lab that has an exercise, its check and the import of the check, and nothing else."""
    folder.mkdir(parents=True)
    (folder / ".lang").write_text("en", "utf-8")
    settings = release.SETTINGS.format(stub=build.STUB) + "get_config().LabExecute.timeout = 5\n"
    (folder / CONFIG).write_text(settings, "utf-8")
    nb = build.notebook(build.SOURCES / f"{LAB}.py", "en", "source")
    nb.cells = [cell for cell in nb.cells if cell.id in keep]
    nb.cells[0].source = "from labsupport.workbench.checks.b4 import check_decide"
    path = folder / "source" / LAB / f"{LAB}.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(nb, path)
    generate(Course(folder), [LAB])
    return Course(folder)


def hand_in(course, id, change):
    nb = nbformat.read(course.folder / "release" / LAB / f"{LAB}.ipynb", as_version=4)
    change(nb)
    path = course.folder / "submitted" / id / LAB / f"{LAB}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(nb), "utf-8")  # nbformat writes no broken one
    return path


def cell_of(nb, id):
    return next(cell for cell in nb.cells if cell.id == id)


def answered(source, *others):
    """A change: *source* in the exercise, and cells of the student's own before its check."""
    def change(nb):
        cell_of(nb, "decide").source = source
        nb.cells[2:2] = [new_code_cell(other) for other in others]
    return change


# Notebooks

def marks(nb):
    """The right answer, with every mark of nbgrader spoilt, some of the format's rules broken, and cells copied."""
    answered(RIGHT)(nb)
    exercise, check = cell_of(nb, "decide"), cell_of(nb, "decide-check")
    nb.cells.append(deepcopy(check) | {"id": "copy", "cell_type": "markdown"})
    check.metadata.nbgrader |= {"points": 100, "schema_version": 99, "locked": False, "grade_id": "decide", "solution": True}
    check.source = "print('Correct.')"
    exercise.metadata = {"nbgrader": [1], "execution": [1], "tags": 5}
    stray = new_code_cell("1", metadata={"nbgrader": {"grade": True, "grade_id": "mine", "points": 50, "schema_version": 1}})
    nb.cells += [stray, {"cell_type": "other", "metadata": {}, "source": 5}, new_code_cell("2")]
    del nb.cells[-1]["execution_count"], nb.cells[-1]["outputs"]
    nb.metadata = {"kernelspec": {"name": CANARY, "display_name": CANARY}, "language_info": CANARY}


def skips(nb):
    """A tag with which a cell is not run, on the check: a cell without an error was worth all its points."""
    answered(WRONG)(nb)
    cell_of(nb, "decide-check").metadata.tags = ["skip-execution"]
    cell_of(nb, "decide-check").outputs = [nbformat.v4.new_output("stream", text="Correct.")]


HOOKS = """
shell = get_ipython()
def forge(info):
    kernel = shell.kernel
    content = {"data": {"text/plain": "2.0"}, "metadata": {}, "execution_count": 1}
    kernel.session.send(kernel.iopub_socket, "execute_result", content, parent=kernel.get_parent())
shell.events.register("pre_run_cell", forge)
shell.set_custom_exc((BaseException,), lambda *given, **named: None)
"""
CHANGED_CELL = """
get_ipython().input_transformers_post.append(
    lambda lines: ["print('Correct.')\\n"] if any("check_decide(" in line for line in lines) else lines)
"""
OTHER_CHECK = """
class Said:
    correct, key = True, "check_correct"
def check_decide(answer):
    return Said()
"""
HANGS = """
import time
import labsupport.workbench.checks.b4 as library
class Said:
    correct = True
    key = property(lambda self: time.sleep(1000))
library.check_decide = lambda answer: Said()
"""
LEAVES = f"""
import os, subprocess, sys
from pathlib import Path
sleep = [sys.executable, "-c", "import time; time.sleep(1000)", "{CANARY}"]
subprocess.Popen(sleep, start_new_session=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv(sys.executable, sleep)
    os._exit(0)
print(sorted(os.environ), Path.cwd(), Path.home())
os.write(2, b"{CANARY} on the terminal")
Path("left.txt").write_text("x")
(Path.home() / "left.txt").write_text("x")
input()
"""
FLOOD = """
from IPython.display import display, HTML
for at in range(3000):
    display(HTML("x" * 1000))
"""
LIMIT = "taken = bytearray(8_000_000_000)"

STUDENTS = {
    "marks": (marks, 2, "done right"),
    "skips": (skips, 0, "started wrong b4_wrong_again"),
    "hooks": (answered(WRONG, HOOKS), 0, "started wrong b4_wrong_again"),
    "changed-cell": (answered(WRONG, CHANGED_CELL), 0, "started wrong"),
    "other-check": (answered(WRONG, OTHER_CHECK), 0, "started wrong b4_wrong_again"),
    "hangs": (answered(WRONG, HANGS), 0, "started not_run class_timed_out"),
    "leaves": (answered(RIGHT, LEAVES, FLOOD, LIMIT), 2, "done right"),
}
UNREADABLE = {
    "not-utf-8": "\x80\x81".encode("latin-1"), "deep": b'{"cells":' + b"[" * 100_000, "empty": b"", "list": b"[]",
    "newer": b'{"nbformat": 9, "nbformat_minor": 0, "metadata": {}, "cells": []}',
    "no-cells": b'{"nbformat": 4, "metadata": {}}',
}


@contextmanager
def terminal(path):
    """What goes to the standard error of this process and of those that it starts goes to *path*."""
    kept = os.dup(2)
    with path.open("wb") as file:
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A graded course of such students, in a folder with a name of every kind; what the terminal saw is in terminal.txt."""
    course = small_course(tmp_path_factory.mktemp("home") / "课 程 'a' \"b\" 100% #1")
    for id, (change, _, _) in STUDENTS.items():
        hand_in(course, id, change)
    for id, data in UNREADABLE.items():
        hand_in(course, id, lambda nb: None).write_bytes(data)
    (course.folder / "submitted" / "list" / LAB / ".student").mkdir()
    os.environ["SOME_API_KEY"] = CANARY
    try:
        with speaking("en"), terminal(course.folder / "terminal.txt"):
            grade.grade(course, [LAB])
    finally:
        del os.environ["SOME_API_KEY"]
    return course


@pytest.mark.slow
def test_no_grade_is_better_for_a_trick_and_none_is_lost_for_a_spoilt_mark(course):
    with Gradebook(f"sqlite:///{course.folder}/gradebook.db") as book:
        scores = {one.student.id: one.score for one in book.assignment_submissions(LAB)}
    assert {id: scores[id] for id in STUDENTS} == {id: points for id, (_, points, _) in STUDENTS.items()}
    found = {one.id: " ".join((one.state, *(f"{each.state} {each.idea}".strip() for each in one.exercises)))
             for one in findings.load(course)}
    assert found == {id: words for id, (_, _, words) in STUDENTS.items()} | dict.fromkeys(UNREADABLE, "unreadable")


@pytest.mark.slow
def test_what_code_leaves_is_gone_and_it_saw_no_keys_and_no_course(course):
    assert CANARY not in (course.folder / "terminal.txt").read_text("utf-8")
    running = [process for process in psutil.process_iter(["cmdline"]) if CANARY in (process.info["cmdline"] or [])]
    assert running == []
    assert [*course.folder.rglob("left.txt")] == []
    text = (course.folder / "autograded" / "leaves" / LAB / f"{LAB}.ipynb").read_text("utf-8")
    assert "'PATH'" in text
    assert "SOME_API_KEY" not in text
    assert course.folder.name not in text
    assert 500_000 < text.count("x") < 1_100_000
    assert "MemoryError" in text


@pytest.mark.slow
def test_a_page_of_hostile_submissions_says_none_of_their_words(course):
    write_page(course, findings.load(course))
    for path in (course.folder / "class.html", course.folder / "class.csv", *course.folder.glob("reports/*/*")):
        assert CANARY not in path.read_text("utf-8"), path


@pytest.mark.slow
def test_interrupted_released_again_and_meddled_with(tmp_path, monkeypatch):
    course = small_course(tmp_path / "course")
    hand_in(course, "s01", answered(RIGHT))
    stop = tmp_path / "stop"
    stop.touch()
    hand_in(course, "s02", answered(RIGHT, f"""
import os, signal, time
if os.path.exists({str(stop)!r}):
    os.kill(os.getppid(), signal.SIGINT)
    time.sleep(3)
"""))
    with speaking("en"), pytest.raises(KeyboardInterrupt):
        grade.grade(course, [LAB])
    stop.unlink()
    first = course.folder / "autograded" / "s01" / LAB / f"{LAB}.ipynb"
    before = first.stat().st_mtime_ns
    with speaking("en"):
        assert [one.state for one in grade.grade(course, [LAB])] == ["done", "done"]
    assert first.stat().st_mtime_ns == before
    kept = {path: path.read_bytes() for part in ("source", "release") for path in (course.folder / part).rglob("*.ipynb")}
    real = build.notebook

    def with_another(*given):
        nb = real(*given)
        nb.cells += [deepcopy(cell_of(nb, key)) for key in ("decide", "decide-check")]
        for cell, key in zip(nb.cells[-2:], ("more", "more-check"), strict=True):
            cell.id = cell.metadata.nbgrader.grade_id = key
        return nb
    monkeypatch.setattr(build, "notebook", with_another)
    with pytest.raises(CourseError, match="has other exercises now"):
        release.release(course.folder, "en", [LAB])
    assert {path: path.read_bytes() for path in kept} == kept
    hand_in(course, "s02", answered(f"import sqlite3\nwith sqlite3.connect({str(course.folder / 'gradebook.db')!r}) as book:\n"
                                    "    book.execute('update grade set manual_score = 2')"))
    os.utime(course.folder / "submitted" / "s02" / LAB / f"{LAB}.ipynb", (0, 0))  # an exchange keeps the time of saving
    with speaking("en"), pytest.raises(CourseError, match=r"code of s02 .* changed|gradebook\.db"):
        grade.grade(course, [LAB])
    assert not (course.folder / "autograded" / "s02" / LAB / f"{LAB}.ipynb").exists()


def test_a_notebook_whose_time_is_up_is_not_run_any_further():
    steps = LabExecute(total=0)
    steps._end = time.monotonic() - 1
    cell, _ = steps.preprocess_cell(new_code_cell("raise SystemExit"), {}, 7)
    assert (cell.metadata.lab.fate, cell.outputs[0].output_type) == ("passed_over", "error")


def test_a_finding_bears_what_a_notebook_may_hold(tmp_path):
    course = Course(tmp_path)
    for part in ("submitted", "autograded"):
        (tmp_path / part / "s01" / LAB).mkdir(parents=True)
    (tmp_path / "autograded" / "s01" / LAB / f"{LAB}.ipynb").write_text(nbformat.writes(nbformat.v4.new_notebook()), "utf-8")
    times = ["2026-03-02T09:00:00Z", "2026-03-02T09:04:00+00:00", "0001-01-01T00:00:00+23:59", 5, None]
    cells = [{"cell_type": "code", "source": "1", "metadata": {"execution": {"shell.execute_reply": at}}} for at in times]
    cells += [{"cell_type": "code", "source": 5, "metadata": {"execution": [1]}, "execution_count": 1}]
    cells += [{"cell_type": "code", "metadata": {"execution": {"shell.execute_reply": "9999-12-31T23:59:59-23:59"}}}]
    nb = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}
    (tmp_path / "submitted" / "s01" / LAB / f"{LAB}.ipynb").write_text(json.dumps(nb), "utf-8")
    one = findings.find(course, "s01", LAB, {})
    assert (one.state, one.minutes, one.cells, one.of) == ("started", 4, 1, 6)


# What code is kept apart from

def test_code_gets_a_copy_of_the_data_and_nothing_that_it_leaves_stays(tmp_path, monkeypatch):
    folder, data = tmp_path / "submitted", tmp_path / "data"
    for made in (folder, data):
        made.mkdir()
    (data / "log.jsonl").write_text("as it was", "utf-8")
    (folder / ".student").write_text(json.dumps({"seed": 17, "data": "../data"}), "utf-8")
    monkeypatch.setenv("SOME_API_KEY", CANARY)
    with apart(folder, "zh") as (work, names):
        seed, copy = student(work)
        (copy / "log.jsonl").write_text("changed", "utf-8")
        assert (seed, (work / ".lang").read_text("utf-8"), "SOME_API_KEY" in names) == (17, "zh", False)
        assert names["HOME"] != os.environ.get("HOME")
    assert (data / "log.jsonl").read_text("utf-8") == "as it was"
    assert not work.exists()


@pytest.mark.parametrize("change", [
    lambda root: (root / "gradebook.db").write_text("y"), lambda root: (root / "reports" / "s02.json").write_text("new"),
    lambda root: (root / "source" / "lab.ipynb").unlink(), lambda root: os.replace(root / "x", root / "roster.csv"),
    lambda root: (root / "gradebook.db").write_text("z") and os.utime(root / "gradebook.db", (1, 1)),
], ids=["written", "new", "removed", "replaced", "set back"])
def test_a_change_to_what_grading_reads_is_seen(tmp_path, change):
    for name in ("gradebook.db", "reports/s01.json", "source/lab.ipynb", "roster.csv", "x", "autograded/own/own.ipynb"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
        os.utime(tmp_path / name, (1, 1))
    with untouched(tmp_path, tmp_path / "autograded" / "own"):
        (tmp_path / "autograded" / "own" / "own.ipynb").write_text("its own")
        (tmp_path / "notes.txt").write_text("of no account")
    time.sleep(0.02)  # the clock of a disk is coarse
    with pytest.raises(KeyboardInterrupt), untouched(tmp_path, tmp_path / "autograded" / "own"):
        change(tmp_path)


# Grading that was stopped, or runs twice

@pytest.fixture
def empty(tmp_path, monkeypatch):
    """A course with two submissions whose grading is not done: what would be graded is kept in order."""
    course = Course(tmp_path)
    (tmp_path / ".lang").write_text("en", "utf-8")
    (tmp_path / CONFIG).touch()
    (tmp_path / "source" / LAB).mkdir(parents=True)
    for id in ("s01", "s02"):
        (tmp_path / "submitted" / id / LAB).mkdir(parents=True)
    monkeypatch.setattr(grade, "check_release", lambda course, lab: None)
    monkeypatch.setattr(grade, "_grade", lambda course, lab, id, seed, again: Finding(id, lab, "done", None, 0, 0, ()))
    return course


def test_what_killed_the_grading_is_said_and_comes_last(empty, capsys, monkeypatch):
    order = []
    one = grade._grade
    monkeypatch.setattr(grade, "_grade", lambda course, lab, id, *rest: (order.append(id), one(course, lab, id, *rest))[1])
    (empty.folder / grade.RUNNING).write_text(f"{LAB}/s01", "utf-8")
    with speaking("en"):
        assert [one.id for one in grade.grade(empty, [LAB])] == ["s01", "s02"]
        assert order == ["s02", "s01"]
        assert f"The last grading ended abruptly while {LAB} of s01 ran" in capsys.readouterr().out
        grade.grade(empty, [LAB])
    assert "abruptly" not in capsys.readouterr().out


def test_a_course_is_graded_by_one_at_a_time(empty):
    with (empty.folder / grade.RUNNING).open("a") as file:
        portalocker.lock(file, portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING)
        with speaking("en"), pytest.raises(CourseError, match="is being graded already"):
            grade.grade(empty, [LAB])


def test_a_full_disk_and_a_gradebook_in_use_are_no_fault_of_a_submission(empty, monkeypatch):
    with speaking("en"):
        grade.check_disk(empty)
        with grade.closing(grade.sqlite3.connect(empty.folder / "gradebook.db")) as book:
            book.execute("begin exclusive")
            with pytest.raises(CourseError, match="database is locked"):
                grade.check_disk(empty)
        monkeypatch.setattr(grade, "TemporaryFile", lambda dir: (_ for _ in ()).throw(OSError(28, "No space left")))
        with pytest.raises(CourseError, match="No space left"):
            grade.check_disk(empty)


def test_what_is_graded_again_follows_the_notebook_the_release_and_the_seed(tmp_path):
    course = Course(tmp_path)
    submitted, released = tmp_path / "submitted.ipynb", tmp_path / "release" / LAB / f"{LAB}.ipynb"
    released.parent.mkdir(parents=True)
    seen = [grade.digest_of(course, LAB, submitted, 1)]
    for path, text, seed in ((submitted, "a", 1), (submitted, "b", 1), (released, "c", 1), (released, "c", 2)):
        path.write_text(text, "utf-8")
        seen.append(grade.digest_of(course, LAB, submitted, seed))
    assert len(set(seen)) == 5


def test_without_its_release_a_lab_is_not_graded_at_all(tmp_path, monkeypatch):
    course = Course(tmp_path)
    (tmp_path / "submitted" / "s01" / LAB).mkdir(parents=True)
    with pytest.raises(CourseError, match=f"lab.py release COURSE {LAB}"):
        grade.grade(course, [LAB])


def test_a_link_is_removed_and_what_it_leads_to_is_not(tmp_path):
    (tmp_path / "kept").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "kept")
    (tmp_path / "folder").mkdir()
    for name in ("link", "folder", "nothing"):
        grade.remove(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


# Downloads

@pytest.fixture
def classroom(tmp_path):
    course = Course(tmp_path / "course")
    for lab in (LAB, "a2_trim_to_a_budget"):
        (course.folder / "source" / lab).mkdir(parents=True)
    (course.folder / "roster.csv").write_text("id,seed\ns1,1\ns10,2\ns1.a,3\nx-12,4\n", "utf-8")
    (tmp_path / "in").mkdir()
    return course, tmp_path / "in"


def taken(course, folder):
    found = gather.gather(course, folder)
    return {(lab, id): data for lab, files in found.files.items() for id, data in files.items()}, found.left


@pytest.mark.parametrize(("name", "id"), [
    (f"s1_{LAB}.ipynb", "s1"), (f"S10_{LAB} (3).ipynb", "s10"), (f"s1.a/{LAB}-Copy1.ipynb", "s1.a"),
    (f"s1.a_{LAB}.IPYNB", "s1.a"), (f"x-12_{LAB}.ipynb", "x-12"), (f"x-12/{LAB}.ipynb", "x-12"),
    (f"s1 (2)/{LAB}.ipynb", "s1"), (f"张三/s10/{LAB}.ipynb", "s10"),
    (f"s2_{LAB}.ipynb", None), (f"Alice-s1-{LAB}.ipynb", None), (f"s1_{LAB}x.ipynb", None), (f"s10/s1.b_{LAB}.ipynb", "s10"),
    (f"s1_{LAB}.ipynb/inner_{LAB}.ipynb", None), (f"{LAB}.ipynb", None), (f"s1_{LAB}\x1b[2J.ipynb", None),
])
def test_a_name_says_whose_it_is_or_it_is_not_taken(classroom, name, id):
    course, folder = classroom
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\xef\xbb\xbf{}")
    files, left = taken(course, folder)
    assert files == ({(LAB, id): b"{}"} if id else {})
    assert len(left) == (id is None)
    assert all(gather.shown(said).isprintable() for said, _ in left)


def test_of_a_zip_nothing_is_written_and_nothing_outside_is_meant(classroom, monkeypatch):
    course, folder = classroom
    with zipfile.ZipFile(folder / "s1 (1).ZIP", "w") as archive:
        archive.writestr(f"../../s10/{LAB}.ipynb", "first")
        archive.writestr(f"C:\\work\\{LAB}.ipynb", "mine")
        archive.writestr(f"/etc/s10_{LAB}.ipynb", "absolute")
        archive.writestr("a2_trim_to_a_budget.ipynb/", "")
        archive.writestr("inner.zip", "x")
        archive.writestr(" " * 60_000 + f"{LAB}.ipynb", "long")
        link = zipfile.ZipInfo(f"s1.a_{LAB}.ipynb")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    for name in ("s1.zip", "s10.rar"):
        (folder / name).write_bytes(b"PK\x03\x04 no zip")
    files, left = taken(course, folder)
    assert files == {(LAB, "s1"): b"mine", (LAB, "s10"): b"absolute", (LAB, "s1.a"): b"/etc/passwd"}
    assert sorted(why for _, why in left) == ["class_left_inner", "class_left_zip", "class_left_zip"]
    monkeypatch.setattr(gather, "ALL", 5)
    assert "class_left_large" in [why for _, why in taken(course, folder)[1]]


def test_a_locked_zip_a_huge_member_and_ten_thousand_of_them(classroom, monkeypatch):
    course, folder = classroom
    monkeypatch.setattr(gather, "MOST", 1000)
    with zipfile.ZipFile(folder / "s1.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{LAB}.ipynb", bytes(10_000))
        for at in range(10_000):
            archive.writestr(f"{at}/a2_trim_to_a_budget.ipynb", f"{at}")
    plain = (folder / "s1.zip").read_bytes()
    locked = bytearray(plain)
    for magic, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        locked[locked.index(magic) + flags] |= 1
    (folder / "s10.zip").write_bytes(bytes(locked))
    files, left = taken(course, folder)
    assert files == {("a2_trim_to_a_budget", "s1"): b"9999"}
    assert sorted(why for _, why in left) == ["class_left_large", "class_left_large", "class_left_zip"] or \
        sorted(why for _, why in left) == ["class_left_large", "class_left_zip"]


def test_links_are_not_followed(classroom):
    course, folder = classroom
    (folder / "s10").mkdir()
    (folder / "s10" / f"{LAB}.ipynb").write_text("mine")
    (folder / f"s1_{LAB}.ipynb").symlink_to(folder / "s10" / f"{LAB}.ipynb")
    (folder / "s1.a").symlink_to(folder / "s10")
    files, left = taken(course, folder)
    assert (files, left) == ({(LAB, "s10"): b"mine"}, [(f"s1_{LAB}.ipynb", "class_left_link")])


def test_a_folder_that_is_not_there_is_said(classroom):
    course, folder = classroom
    with pytest.raises(CourseError, match="is no folder"):
        gather.gather(course, folder / "downlaods")


def test_only_what_came_now_is_collected(classroom):
    course, _ = classroom
    for id in ("s1", "s10"):
        gather.place(course, gather.Gathered(files={LAB: {id: b"{}"}}))
    assert [path.name for path in (course.folder / "downloaded" / LAB / "archive").iterdir()] == [f"s10_{LAB}.ipynb"]


def test_a_lab_report_with_absurd_figures_is_none(classroom):
    said = {"format": 1, "events": [], "order": [], "counts": {"events": 10**400}, "turns": [], "pairing": [], "surface": [],
            "figures": [], "requests": [{"rebuilds": True}], "problems": {"invariants": [], "compaction": []},
            "checks": [{"name": CANARY, "passed": True}]}
    assert handed.read_report("s1", LAB, json.dumps(said).encode()) is None
    said["counts"]["events"] = 3
    report = handed.read_report("s1", LAB, json.dumps(said).encode())
    assert report == handed.Handed("s1", LAB, 3, 1, 1, 1, 1, 0)
    course, _ = classroom
    assert handed.keep(course, [report]) == [report]
    kept = course.folder / "reports" / "handed.json"
    kept.write_text(json.dumps([vars(report) | {"events": CANARY}, vars(report) | {"lab": CANARY}]), "utf-8")
    assert handed.keep(course, []) == []
    kept.write_text("{", "utf-8")
    assert handed.keep(course, []) == []


# Reports and the page

def finding(id="s1", name="decide", **others):
    exercise = Exercise(name, 2, 2, "right", "")
    return Finding(id, LAB, "done", 5, 3, 9, (exercise,), "digest").__class__(
        **{"id": id, "lab": LAB, "state": "done", "minutes": 5, "cells": 3, "of": 9, "exercises": (exercise,), **others})


@pytest.mark.parametrize("change", [
    lambda said: [], lambda said: CANARY, lambda said: None, lambda said: said | {"id": "s2"},
    lambda said: said | {"lab": CANARY},
    lambda said: said | {"state": CANARY}, lambda said: said | {"minutes": CANARY}, lambda said: said | {"cells": -1},
    lambda said: said | {"more": 1}, lambda said: said | {"exercises": [CANARY]}, lambda said: said | {"format": 2},
    lambda said: said | {"exercises": [said["exercises"][0] | {"name": f"<b>{CANARY}"}]},
    lambda said: said | {"exercises": [said["exercises"][0] | {"state": "best"}]},
    lambda said: said | {"exercises": [said["exercises"][0] | {"idea": CANARY}]},
    lambda said: said | {"exercises": [said["exercises"][0] | {"points": "100"}]},
    lambda said: said | {"exercises": [said["exercises"][0] | {"points": 1e300}]},
])
def test_a_report_that_somebody_altered_is_left_out(classroom, change):
    course, _ = classroom
    findings.save(course, finding())
    assert findings.load(course) == [finding()]
    path = course.folder / "reports" / "s1" / f"{LAB}.json"
    path.write_text(json.dumps(change(json.loads(path.read_text("utf-8")))), "utf-8")
    assert findings.load(course) == []


@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("exercises", [0, 1, 60])
def test_a_page_of_any_size(lang, exercises):
    each = tuple(Exercise(f"exercise-{at}", at % 3, 2, "right" if at % 3 == 2 else "wrong", "") for at in range(exercises))
    ids = [f"s{at}" for at in range(200)]
    with speaking(lang):
        page = class_page([finding(id, exercises=each) for id in ids], ids)
    assert page.count("<rect") == 4 * exercises + 4
    assert page.count("<td>●") == 200
    assert "nan" not in page


def test_who_is_not_on_the_roster_is_not_counted(classroom):
    course, _ = classroom
    (course.folder / ".lang").write_text("en", "utf-8")
    (course.folder / CONFIG).touch()
    write_page(course, [finding("s1"), finding("removed")])
    assert "1 / 4" in (course.folder / "class.html").read_text("utf-8")
    assert "removed" not in (course.folder / "class.csv").read_text("utf-8")
    write_page(course, [finding("removed")])
    assert "0 / 4" not in (course.folder / "class.html").read_text("utf-8")


# Who takes part

@pytest.mark.parametrize(("data", "ids"), [
    (b"\xef\xbb\xbfid\r\ns01\r\n\r\n s02 \r\ns01\r\n", ["s01", "s02"]), (b"s01\nid\n", ["s01", "id"]), (b"s01", ["s01"]),
])
def test_ids_are_read_from_lines(tmp_path, data, ids):
    (tmp_path / "ids.txt").write_bytes(data)
    assert read_ids(tmp_path / "ids.txt") == ids


@pytest.mark.parametrize(("data", "words"), [
    ("张三\n".encode("gb18030"), "is not in UTF-8"), (b"", "has no ids"), (b"id\n", "has no ids"),
    (b"s01,s02\n", "'s01,s02' is no id"), (b"s01 Alice\n", "'s01 Alice' is no id"), (b"s01\nS01\n", "differ in case only"),
    (b"s01.zip\n", "is no id"), (b"s01.\n", "is no id"), (b"../s01\n", "is no id"),
])
def test_ids_that_cannot_be_are_refused(tmp_path, data, words):
    (tmp_path / "ids.txt").write_bytes(data)
    with pytest.raises(CourseError, match=words):
        enrol(Course(tmp_path), read_ids(tmp_path / "ids.txt"), 7)
    assert not (tmp_path / "roster.csv").exists()


def test_who_comes_later_changes_no_line_of_the_roster(tmp_path):
    (tmp_path / "roster.csv").write_text("\ufeffname,seed,id\n\"Li, Na\",17,s01", "utf-8")
    roster = enrol(Course(tmp_path), ["s01", "s02"], 7)
    assert (roster["s01"], list(roster)) == (17, ["s01", "s02"])
    assert (tmp_path / "roster.csv").read_text("utf-8") == f"name,seed,id\n\"Li, Na\",17,s01\n,{roster['s02']},s02\n"
    (tmp_path / "roster.csv").write_bytes("id,seed,name\ns01,17,李娜\n".encode("gb18030"))
    with pytest.raises(CourseError, match="Save it as CSV in UTF-8"):
        Course(tmp_path).roster()


def test_another_seed_and_a_lost_file_make_the_data_anew(tmp_path, monkeypatch):
    made = []

    def make(command, cwd, **options):
        made.append(student(cwd)[0])
        shutil.copytree(Path(__file__).resolve().parents[2] / "data", cwd / "data", dirs_exist_ok=True)
        return type("Result", (), {"returncode": 0})
    monkeypatch.setattr("labsupport.classroom.students.subprocess.run", make)
    for seed, change in ((17, None), (17, None), (18, None), (18, lambda data: (data / "outpatient.csv").unlink()),
                         (18, shutil.rmtree), (18, lambda data: (data.parent / ".student").write_text("{"))):
        if change:
            change(tmp_path / "data")
        else:
            (tmp_path / "data").mkdir(exist_ok=True)
            (tmp_path / "data" / "old").touch()
        make_data(tmp_path, seed)
    assert made == [17, 18, 18, 18, 18]
    assert not (tmp_path / "data" / "old").exists()


# Whose data

@pytest.mark.parametrize("text", [
    "", "{", "[]", "5", '{"seed": 0, "data": "data"}', '{"seed": true, "data": "data"}', '{"seed": "17", "data": "data"}',
    '{"seed": 17}', '{"seed": 17, "data": 5}', '{"seed": 17, "data": "a\\u0000b"}', '{"seed": 17, "data": "gone"}',
    "[" * 100_000,
])
def test_a_damaged_student_file_is_a_sentence(tmp_path, text):
    (tmp_path / "data").mkdir()
    (tmp_path / ".student").write_text(text, "utf-8")
    with pytest.raises(LabError, match="your instructor"):
        student(tmp_path / "deep" / "down")


def test_a_student_is_found_from_below_through_a_link_and_in_another_place(tmp_path):
    (tmp_path / "s01" / "data").mkdir(parents=True)
    (tmp_path / "s01" / "below").mkdir()
    (tmp_path / "s01" / ".student").write_bytes(b'\xef\xbb\xbf{"seed": 17, "data": "data"}')
    (tmp_path / "link").symlink_to(tmp_path / "s01")
    shutil.copytree(tmp_path / "s01", tmp_path / "另一处" / "s 01")
    for folder, data in (("s01/below", "s01"), ("link", "s01"), ("另一处/s 01", "另一处/s 01")):
        assert student(tmp_path / folder) == (17, tmp_path / data / "data")
    (tmp_path / ".student").mkdir()
    with pytest.raises(LabError, match="your instructor"):
        student(tmp_path)


@pytest.mark.parametrize("name", ["a[1]", "a{x}", "a*", "a?"])
def test_a_course_with_a_name_that_nbgrader_cannot_find_is_refused(tmp_path, name):
    with pytest.raises(CourseError, match="Name it otherwise"):
        Course(tmp_path / name)
