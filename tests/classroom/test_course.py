"""A class from clone to grades: release, hand out, collect, autograde, feedback, and the page, with students of every kind."""
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import build
import nbformat
import pytest
import release
from nbgrader.api import Gradebook

from labsupport.classroom import findings
from labsupport.classroom.course import CONFIG, Course, chosen
from labsupport.classroom.grade import grade
from labsupport.errors import CourseError

ROOT = Path(__file__).resolve().parents[2]
A2, B1 = "a2_trim_to_a_budget", "b1_two_step_tool_task"
CANARY = "kanarienvogel-7731"
WRONG = "def call_of_result(events, seq):\n    return seq - 1\n"
pytestmark = pytest.mark.slow


def answers(lab):
    """The answer of each exercise of *lab*, by the id of its cell."""
    return {cell.id: cell.source for cell in build.notebook(build.SOURCES / f"{lab}.py", "en", "solved").cells
            if cell.metadata.get("nbgrader", {}).get("solution")}


def answered(nb, lab, **others):
    """Put the answers of *lab* into *nb*, or the *others* instead, by their cells' ids with _ for -."""
    for cell in nb.cells:
        if cell.id in answers(lab):
            cell.source = others.get(cell.id.replace("-", "_"), answers(lab)[cell.id])


def replaced(nb, key, source):
    next(cell for cell in nb.cells if cell.id == key).source = source


def inserted(nb, before, source):
    """A cell of the student's own."""
    at = next(at for at, cell in enumerate(nb.cells) if cell.id == before)
    nb.cells.insert(at, nbformat.v4.new_code_cell(source))


def timed(nb):
    """As JupyterLab notes it: cells a minute apart, and a pause of an hour in the middle."""
    code = [cell for cell in nb.cells if cell.cell_type == "code"]
    for at, cell in enumerate(code):
        cell.execution_count = at + 1
        minute = at if at < len(code) // 2 else at + 60
        when = f"2026-03-02T{9 + minute // 60:02}:{minute % 60:02}:00.000Z"
        cell.metadata["execution"] = {"shell.execute_reply": when}


def damaged(nb):
    """Both cells of the exercise are gone, and a check of the student's own stands there."""
    nb.cells = [cell for cell in nb.cells if cell.id not in ("call-of-result", "call-of-result-check")]
    nb.cells.append(nbformat.v4.new_code_cell("print('correct')"))


STUDENTS = {  # id → lab → what the student did
    "right": {A2: lambda nb: (answered(nb, A2), timed(nb)), B1: lambda nb: answered(nb, B1)},
    "some": {A2: lambda nb: answered(nb, A2), B1: lambda nb: answered(nb, B1, call_of_result=WRONG + f"# {CANARY}\n")},
    "untouched": {A2: lambda nb: None, B1: lambda nb: None},
    "endless": {B1: lambda nb: answered(nb, B1, call_of_result="def call_of_result(events, seq):\n    while True:\n"
                                        "        try:\n            while True:\n                pass\n"
                                        "        except BaseException:\n            pass\n")},
    "own-loop": {B1: lambda nb: (answered(nb, B1), inserted(nb, "call-of-result", "while True:\n    print('x' * 1000)"))},
    "crash": {B1: lambda nb: (answered(nb, B1), inserted(nb, "call-of-result-check", "import os\nos._exit(3)"))},
    "gone": {B1: damaged},
    "warns": {B1: lambda nb: answered(nb, B1, call_of_result="import warnings\n" + answers(B1)["call-of-result"].replace(
        "\n", "\n    warnings.warn('old')\n", 1))},
}


def lab_py(*arguments, cwd):
    """Run a verb as lab.py hands it over; the other folder shows that names are seen from where somebody typed."""
    module = {"release": [str(ROOT / "notebooks/release.py")], "class": ["-m", "labsupport.classroom.students"],
              "grade": ["-m", "labsupport.classroom.grade"]}[arguments[0]]
    command, env = [sys.executable, *module, *map(str, arguments[1:])], {**os.environ, "LAB_FROM": str(cwd)}
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, env=env)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """The graded course of a class; what `lab.py grade` said is in `said.txt`."""
    home = tmp_path_factory.mktemp("home 课程")
    made = lab_py("release", "course", "a2", "b1", "--lang", "en", cwd=home)
    assert made.returncode == 0, made.stderr
    (home / "ids.txt").write_text("\n".join(STUDENTS), "utf-8")
    given = lab_py("class", "course", "--ids", "ids.txt", "--seed", "7", cwd=home)
    assert given.returncode == 0, given.stderr
    with (home / "course" / CONFIG).open("a") as file:
        file.write("c = get_config()\nc.LabExecute.timeout = 12\n")
    for id, labs in STUDENTS.items():
        for lab, change in labs.items():
            nb = nbformat.read(home / "course" / "students" / id / f"{lab}.ipynb", as_version=4)
            change(nb)
            (home / "downloads" / id).mkdir(parents=True, exist_ok=True)
            nbformat.write(nb, home / "downloads" / id / f"{lab}.ipynb")
    (home / "downloads" / f"broken_{B1} (2).ipynb").write_text('{"cells": [', "utf-8")
    (home / "downloads" / "stranger").mkdir()
    shutil.copy(home / "downloads" / "right" / f"{A2}.ipynb", home / "downloads" / "stranger")
    shutil.move(home / "downloads" / "untouched", home / "untouched")
    shutil.make_archive(str(home / "downloads" / "untouched"), "zip", home / "untouched")
    with (home / "course" / "roster.csv").open("a") as file:
        file.write("broken,5\n")
    said = lab_py("grade", "course", "--from", "downloads", cwd=home)
    assert said.returncode == 0, said.stderr
    (home / "course" / "said.txt").write_text(said.stdout, "utf-8")
    return Course(home / "course")


def scores(course):
    with Gradebook(f"sqlite:///{course.folder}/gradebook.db") as book:
        return {(one.student.id, lab): one.score for lab in course.labs for one in book.assignment_submissions(lab)}


def found(course):
    return {(one.id, one.lab): one for one in findings.load(course)}


def test_the_grades_are_what_they_should_be(course):
    assert {key: score for key, score in scores(course).items() if key[0] != "broken"} == {
        ("right", A2): 2, ("right", B1): 2, ("some", A2): 2, ("some", B1): 0, ("untouched", A2): 0, ("untouched", B1): 0,
        ("endless", B1): 0, ("own-loop", B1): 2, ("crash", B1): 2, ("gone", B1): 0, ("warns", B1): 2}


def test_every_submission_is_found_in_its_state_with_its_wrong_idea(course):
    states = {key: (one.state, *(f"{each.state} {each.idea}".strip() for each in one.exercises))
              for key, one in found(course).items()}
    assert states == {
        ("right", A2): ("done", "right"), ("right", B1): ("done", "right"),
        ("some", A2): ("done", "right"), ("some", B1): ("started", "wrong b1_other_call"),
        ("untouched", A2): ("untouched", "not_started"), ("untouched", B1): ("untouched", "not_started"),
        ("endless", B1): ("started", "not_run class_timed_out"), ("own-loop", B1): ("done", "right"),
        ("crash", B1): ("done", "right"), ("gone", B1): ("untouched", "not_started"), ("warns", B1): ("done", "right"),
        ("broken", B1): ("unreadable",)}


def test_minutes_leave_out_the_pause(course):
    one = found(course)["right", A2]
    assert (one.minutes, one.cells) == (one.of - 2, one.of)  # a minute between two cells, and the pause is none of them


def test_feedback_is_written_for_every_graded_submission(course):
    pages = {path.parent.parent.name for path in (course.folder / "feedback").glob("*/*/*.html")}
    assert pages == STUDENTS.keys()
    page = (course.folder / "feedback" / "some" / B1 / f"{B1}.html").read_text("utf-8")
    assert CANARY in page  # it is the student's own
    assert re.findall(r"""(?:src|href)=["'](?:https?:)?//[^"']*["']""", re.sub(r"(?s)<a .*?>", "", page)) == []


def test_what_was_not_taken_is_said(course):
    said = (course.folder / "said.txt").read_text("utf-8")
    assert f"not taken: stranger/{A2}.ipynb (neither its name nor a folder is an id of the roster)" in said
    assert f"{B1}, broken: unreadable; grading.log says why" in said
    assert "class.html" in said.splitlines()[-1]


def test_the_release_has_no_answer_and_the_same_cells_as_the_learners_own(course):
    for lab in course.labs:
        released = nbformat.read(course.folder / "release" / lab / f"{lab}.ipynb", as_version=4)
        ours = nbformat.read(build.HERE / "en" / f"{lab}.ipynb", as_version=4)
        assert [(cell.id, cell.source) for cell in released.cells] == [(cell.id, cell.source) for cell in ours.cells]
        text = nbformat.writes(released)
        assert "BEGIN SOLUTION" not in text
        assert "assert verdict" not in text
        source = (course.folder / "source" / lab / f"{lab}.ipynb").read_text("utf-8")
        assert "BEGIN SOLUTION" in source
        assert "assert verdict" in source


def test_each_student_gets_a_zip_with_notebooks_data_and_their_own_seed(course):
    roster = course.roster()
    assert len(set(roster.values())) == len(roster)
    for id in STUDENTS:
        with zipfile.ZipFile(course.folder / "students" / f"{id}.zip") as archive:
            names = set(archive.namelist())
            said = json.loads(archive.read(f"{id}/.student"))
        assert {f"{id}/{lab}.ipynb" for lab in course.labs} | {f"{id}/.lang", f"{id}/data/outpatient.csv"} <= names
        assert said == {"seed": roster[id], "data": "data"}
        assert json.loads((course.folder / "submitted" / id / B1 / ".student").read_text())["seed"] == roster[id]


def test_the_page_and_the_table_have_no_word_of_a_student(course):
    assert CANARY in (course.folder / "submitted" / "some" / B1 / f"{B1}.ipynb").read_text("utf-8")
    page = (course.folder / "class.html").read_text("utf-8")
    kept = [page, *(path.read_text("utf-8") for path in (course.folder / "class.csv", *course.folder.glob("reports/*/*")))]
    assert [text[:80] for text in kept if CANARY in text] == []
    assert "The nearest one need not be its own" in page
    assert re.findall(r"<(?:script|link|img|iframe)|https?:|url\(", page) == []
    with (course.folder / "class.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert ("some", B1, "call-of-result", "wrong", "b1_other_call", "0") in {
        tuple(row[name] for name in ("student", "lab", "exercise", "result", "idea", "points")) for row in rows}


def test_grading_again_does_what_is_new_and_keeps_a_correction_by_hand(course):
    with Gradebook(f"sqlite:///{course.folder}/gradebook.db") as book:
        one = book.find_submission_notebook(B1, B1, "some").grades[0]
        one.manual_score = 1
        book.db.commit()
    graded = course.folder / "autograded" / "right" / A2 / f"{A2}.ipynb"
    before = graded.stat().st_mtime_ns
    again = {(one.id, one.lab): one for one in grade(course, [A2, B1])}
    assert graded.stat().st_mtime_ns == before
    assert again["some", B1].exercises[0].points == 1


# What is refused

@pytest.mark.parametrize(("roster", "line"), [
    ("id,seed\ns01,1\ns01,2\n", 3), ("id,seed\ns01,1\nS01,2\n", 3), ("id,seed\n../x,1\n", 2), ("id,seed\na_b,1\n", 2),
    ("id,seed\ns01,0\n", 2), ("id,seed\ns01,x\n", 2), ("name\ns01\n", 2), ("id,seed\n,1\n", 2), ("id,seed\n.hidden,1\n", 2),
])
def test_a_roster_is_refused_with_its_line(tmp_path, roster, line):
    (tmp_path / "roster.csv").write_text(roster, "utf-8")
    with pytest.raises(CourseError, match=rf"roster\.csv:{line}: "):
        Course(tmp_path).roster()


def test_no_course_no_lab_and_the_other_language_are_refused(tmp_path):
    with pytest.raises(CourseError, match=r"is no course.*lab\.py release"):
        Course(tmp_path).lang  # noqa: B018
    with pytest.raises(CourseError, match="no lab 'b99'"):
        chosen(["b99"], [A2])
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(CourseError, match="is no course"):
        release.release(tmp_path, "en", [A2])
    (tmp_path / CONFIG).write_text("")
    (tmp_path / ".lang").write_text("zh")
    with pytest.raises(SystemExit, match="a course has one language"):
        release.release(tmp_path, "en", [A2])


@pytest.mark.parametrize(("arguments", "words"), [
    (["class", "none", "--students", "3"], "is no course"), (["class", "none"], "one of the arguments"),
    (["class", "none", "--students", "0"], "is no course"), (["grade", "none"], "is no course"),
])
def test_a_verb_says_what_is_wrong(tmp_path, arguments, words):
    result = lab_py(*arguments, cwd=tmp_path)
    assert result.returncode != 0
    assert words in result.stderr
    assert "Traceback" not in result.stderr
