"""`lab.py show`: what a class is shown of each lab, and a server that ends with its kernels."""
import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import nbformat
import psutil
import pytest

import lab
from deploy import open_lab, show_lab, show_notebooks
from labsupport.workbench.labs import LABS
from notebooks import build

NAMES = [one.name for one in LABS[1:]]
SERVE = """
import sys, pathlib
from deploy import open_lab, show_lab
show_lab.STATE = pathlib.Path(sys.argv.pop(1))
open_lab.main(show_lab.show, show_lab.WORDS)
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The notebooks in both languages: made[lang][name]."""
    root = tmp_path_factory.mktemp("show")
    paths = {lang: show_notebooks.make(root / lang, lang) for lang in ("zh", "en")}
    return {lang: {path.stem: nbformat.read(path, 4) for path in paths[lang]} for lang in paths}


def of_type(nb, kind):
    return [cell for cell in nb.cells if cell.cell_type == kind]


# The notebooks

def test_every_explorer_of_every_lab_is_shown(made):
    """A lab reads each of its explorers back with `.still`, which says without our help which there are."""
    for lang in made:
        for name in NAMES:
            stills = re.findall(r"(?m)^(\w+)\.still$", (build.SOURCES / f"{name}.py").read_text("utf-8"))
            code = of_type(made[lang][name], "code")
            shown = [cell.source.splitlines()[-1] for cell in code if not cell.metadata.get("tags")]
            assert shown == list(dict.fromkeys(stills))
            assert shown
        assert list(made[lang]) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_nothing_of_an_exercise_is_in_it(made, name):
    solved = build.notebook(build.SOURCES / f"{name}.py", "en", "solved").cells
    exercises = [cell for cell in solved if "nbgrader" in cell.metadata]
    assert exercises
    text = nbformat.writes(made["en"][name])
    assert not {cell.id for cell in made["en"][name].cells} & {cell.id for cell in exercises}
    own = {line.strip() for cell in exercises for line in cell.source.splitlines() if not line.startswith(("import ", "from "))}
    shared = {line.strip() for cell in solved if cell not in exercises for line in cell.source.splitlines()}
    assert [line for line in own - shared if len(line) > 15 and line in text] == []


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_a_class_reads_the_question_and_nothing_about_cells_minutes_or_answers(made, lang, name):
    prose = [cell.source for cell in of_type(made[lang][name], "markdown")]
    assert prose[0].startswith(f"# {next(one.id for one in LABS if one.name == name)} ")
    assert len(prose) == 1 + sum(not cell.metadata.get("tags") for cell in of_type(made[lang][name], "code"))
    assert all(text.startswith("## ") and text.count("\n\n") for text in prose[1:])
    unwanted = r"(?i)\d+ minutes|分钟|<details|\]\(|下一格|单元格|\bcells?\b|run all|labsupport/"
    assert re.findall(unwanted, "\n".join(prose)) == []


def test_the_same_sources_give_the_same_bytes_and_a_lab_that_is_gone_goes(tmp_path):
    before = {path.name: path.read_bytes() for path in show_notebooks.make(tmp_path, "zh")}
    (tmp_path / "b12_gone.ipynb").write_text("{}", "utf-8")
    after = {path.name: path.read_bytes() for path in show_notebooks.make(tmp_path, "zh")}
    assert before == after
    assert {path.name for path in tmp_path.iterdir()} == {*after, ".lang"}
    assert (tmp_path / ".lang").read_text("utf-8") == "zh\n"


def cells(*sources):
    """Code cells, or prose where a source begins with `#`."""
    return [(nbformat.v4.new_markdown_cell if source.startswith("#") else nbformat.v4.new_code_cell)(source)
            for source in sources]


@pytest.mark.parametrize(("above", "explorer", "kept"), [
    pytest.param(["a = 1", "b = a", "c = b"], "show(b)", ["a = 1", "b = a"], id="what makes a name, and what that reads"),
    pytest.param(["a = 1", "a = 2"], "show(a)", ["a = 2"], id="only the last that makes it"),
    pytest.param(["a = 1", "a = f(a)"], "show(a)", ["a = 1", "a = f(a)"], id="unless that reads what was before"),
    pytest.param(["a = 1", "a = 2; b = a"], "show(b)", ["a = 2; b = a"], id="a name is read after it was made"),
    pytest.param(["a = 1", "def f(b):\n    return a + b"], "show(f)", ["a = 1", "def f(b):\n    return a + b"],
                 id="what a function reads"),
    pytest.param(["a = 1", "[a for a in (1, 2)]"], "show([a for a in (3, 4)])", [], id="a comprehension's own names"),
    pytest.param(["from x import scratch", "print(1)", "scratch()"], "show(1)", ["from x import scratch", "scratch()"],
                 id="the folder that files are in"),
])
def test_a_class_does_not_wait_for_what_the_explorer_does_not_need(above, explorer, kept):
    assert [cell.source for cell in show_notebooks.needed(cells(*above), cells(explorer)[0])] == kept


@pytest.mark.parametrize(("above", "text"), [
    (["# T", "## A\n\nold", "## B\n\nnew"], "## B\n\nnew"),
    (["## A\n\nold\n\n## B\n\nnew", "# more"], "## B\n\nnew\n\n# more"),
    (["## A\n\nabout the code", "a = 1", "#### then"], "## A\n\n#### then"),
])
def test_the_prose_is_what_comes_right_before_the_explorer(above, text):
    assert show_notebooks.section(cells(*above)) == text


def test_a_lab_without_a_heading_is_refused():
    with pytest.raises(ValueError, match="no heading"):
        show_notebooks.section(cells("# T", "a = 1"))


@pytest.mark.parametrize(("text", "kept"), [
    ("拖动滑块。先自己拖，再运行下一格：它会移走。看哪里？", "拖动滑块。看哪里？"),
    ("Move it.\nMove it before you run the next\ncell. Where is 0.5 s?", "Move it.\nWhere is 0.5 s?"),
    ("All of it is about this cell.\n\nStays", "Stays"),
    ("See [B2](b2.ipynb).\n\n<details><summary>a</summary>\n\nb\n\n</details>\n\nEnd.", "See B2.\n\nEnd."),
])
def test_sentences_about_cells_are_left_out(text, kept):
    assert show_notebooks.prose(text) == kept


# The command and the server

@pytest.mark.parametrize(("argv", "arguments"), [
    ([], ["--lang", "zh"]),
    (["--lang", "en", "--port", "9", "--no-browser"], ["--lang", "en", "--lang", "en", "--port", "9", "--no-browser"]),
])
def test_the_verb_sets_up_voila_and_hands_over(monkeypatch, argv, arguments):
    done = []
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    monkeypatch.setattr(lab, "set_up", lambda root, venv, extra, lang: done.append(extra))
    monkeypatch.setattr(lab, "hand_over", lambda *handed: done.append(handed))
    lab.main(["show", *argv])
    assert done == ["show", ("show", arguments)]


@pytest.mark.parametrize("argv", [["--port", "0"], ["--lang", "fr"], ["--no-such"]])
def test_what_it_does_not_know_is_refused_before_anything_is_done(monkeypatch, capsys, argv):
    monkeypatch.setattr(lab, "set_up", lambda *_: pytest.fail("the set-up was begun"))
    with pytest.raises(SystemExit, match="2"):
        lab.main(["show", *argv])
    assert "usage: lab.py show" in capsys.readouterr().err


@pytest.mark.parametrize(("lang", "words"), [("en", "Port {} is taken"), ("zh", "端口 {} 已被占用")])
def test_a_taken_port_is_said_to_be_taken(monkeypatch, lang, words):
    monkeypatch.setattr(open_lab.signal, "signal", lambda *_: None)
    monkeypatch.setattr(show_lab, "running", lambda *_: pytest.fail("a server was started"))
    with open_lab.socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr(sys, "argv", ["show_lab", "--lang", lang, "--port", str(port)])
        with pytest.raises(SystemExit, match=words.format(port)):
            open_lab.main(show_lab.show, show_lab.WORDS)


def settings_in(folder, monkeypatch):
    """What deploy/voila/voila.py sets when Voilà is started in *folder*."""
    monkeypatch.chdir(folder)
    config = SimpleNamespace(Voila=SimpleNamespace(), VoilaConfiguration=SimpleNamespace(), HTMLExporter=SimpleNamespace())
    exec((open_lab.DEPLOY / "voila" / "voila.py").read_text("utf-8"), {"get_config": lambda: config})
    return config


def test_it_is_on_loopback_with_a_token_that_no_process_list_shows(monkeypatch, tmp_path):
    assert not any("a-secret" in part for part in show_lab.server(9000))
    assert show_lab.variables(tmp_path, "a-secret")["JUPYTER_TOKEN"] == "a-secret"
    config = settings_in(tmp_path, monkeypatch)
    assert config.Voila.ip == "127.0.0.1"
    assert config.Voila.auto_token is True  # without it, Voilà asks nobody for a token


def test_the_list_has_the_labs_that_are_there_in_their_order(monkeypatch, tmp_path):
    for name in ("b2_derive_messages", "a1_parse_and_load", "other"):
        (tmp_path / f"{name}.ipynb").write_text("{}", "utf-8")
    page = settings_in(tmp_path, monkeypatch).VoilaConfiguration.page_config_hook({}, base_url="/")
    assert [one["id"] for one in page["labs"]] == ["A1", "B2"]


@pytest.fixture
def shown(tmp_path, request):
    """A real `lab.py show` in a language, in a process group of its own; its process and the address it printed."""
    command = [sys.executable, "-c", SERVE, tmp_path, "--lang", request.param, "--no-browser"]
    process = subprocess.Popen(command, cwd=lab.ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
                               env=dict(os.environ, PYTHONIOENCODING="utf-8"), start_new_session=True,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # ignored in a background job
    lines = iter(process.stdout.readline, "")
    yield process, next(line.strip() for line in lines if line.startswith("    http"))
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.stdout.close()
    process.wait()


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no process groups that a test could stop like a terminal")
@pytest.mark.parametrize(("shown", "stop", "code", "words"), [
    pytest.param("zh", lambda pid: os.killpg(pid, signal.SIGINT), 0, "已停止。", id="Ctrl-C"),
    pytest.param("en", lambda pid: os.kill(pid, signal.SIGTERM), 0, "", id="SIGTERM"),
], indirect=["shown"])
def test_it_stops_with_its_kernels(shown, stop, code, words):
    process, url = shown
    page = url.replace("/?", "/voila/render/a3_two_states.ipynb?")
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(page, timeout=120) as answer:
        assert "requests_explorer" not in answer.read().decode("utf-8")
    family = psutil.Process(process.pid).children(recursive=True)
    kernels = [one for one in family if "ipykernel_launcher" in one.cmdline()]
    folders = {Path(one.cmdline()[one.cmdline().index("-f") + 1]).parent for one in kernels}
    assert len(kernels) == len(folders) == 1
    stop(process.pid)
    assert process.wait(60) == code
    said = process.stdout.read()
    assert words in said
    assert "Traceback" not in said
    assert psutil.wait_procs(family, timeout=10)[1] == []
    assert not any(folder.exists() for folder in folders)
