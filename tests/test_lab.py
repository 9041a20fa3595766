"""`lab.py` and what it hands over to: any Python reads it, the language, a whole environment, a closed server."""
import ast
import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import threading
import time
import tomllib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

import lab
from deploy import open_lab
from tests import __main__ as stages
from tests import chromium

SOURCE = (lab.ROOT / "lab.py").read_text("utf-8")


# A bare and an old Python

def test_it_imports_the_standard_library_only():
    nodes = list(ast.walk(ast.parse(SOURCE)))
    names = [name.name for node in nodes if isinstance(node, ast.Import) for name in node.names]
    names += [node.module for node in nodes if isinstance(node, ast.ImportFrom)]
    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names


def test_it_runs_on_a_bare_interpreter():
    command = [sys.executable, "-I", "-S", lab.ROOT / "lab.py", "--help"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "--no-browser" in said
    assert all(verb in said for verb in lab.VERBS)


def test_an_old_python_can_parse_it():
    ast.parse(SOURCE, feature_version=(3, 7))  # the oldest that ast knows to tell apart


@pytest.mark.parametrize(("locale", "words"), [("en_US.UTF-8", "needs 3.11 or newer"), ("zh_CN.UTF-8", "需要 3.11 或更新")])
def test_an_old_python_gets_a_sentence_and_nothing_is_made(monkeypatch, tmp_path, locale, words):
    monkeypatch.setattr(lab, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(sys, "version_info", (3, 8, 18))
    monkeypatch.setenv("LC_ALL", locale)
    with pytest.raises(SystemExit, match=rf"3\.8.*{words}"):
        lab.main(["test"])
    assert not (tmp_path / ".venv").exists()


def test_a_python_without_ensurepip_gets_the_next_step(monkeypatch, tmp_path):
    monkeypatch.setattr(lab.importlib.util, "find_spec", lambda name: None if name == "ensurepip" else name)
    with pytest.raises(SystemExit, match=r"lacks ensurepip.*apt install python3-venv"):
        lab.set_up(lab.ROOT, tmp_path / ".venv", "", "en")
    assert not (tmp_path / ".venv").exists()


# Verbs and language

def test_every_verb_names_something_that_is_there():
    for what, extra, _ in lab.VERBS.values():
        place = what[-1].replace(".", "/") if what[0] == "-m" else what[0].removesuffix(".py")
        assert any((lab.ROOT / name).is_file() for name in (f"{place}.py", f"{place}/__main__.py")), what
        project = tomllib.loads((lab.ROOT / "pyproject.toml").read_text("utf-8"))["project"]
        assert extra in ("", *project["optional-dependencies"])


def test_an_unknown_verb_is_told_the_verbs():
    with pytest.raises(SystemExit, match=r"'tset'.*open, test, bench, soak, notebooks"):
        lab.main(["tset"])


@pytest.mark.parametrize(("argv", "verb", "arguments"), [
    pytest.param([], "open", ["--lang", "zh"], id="nothing opens the workbook in the system's language"),
    pytest.param(["--lang", "en", "--port", "9"], "open", ["--lang", "en", "--lang", "en", "--port", "9"], id="--lang wins"),
    pytest.param(["test", "-k", "law"], "test", ["-k", "law"], id="a verb's arguments are its own"),
    pytest.param(["notebooks", "--check"], "notebooks", ["--check"], id="options too"),
])
def test_main_sets_up_then_hands_over(monkeypatch, argv, verb, arguments):
    done = []
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    monkeypatch.setattr(lab, "set_up", lambda root, venv, extra, lang: done.append(extra))
    monkeypatch.setattr(lab, "hand_over", lambda *handed: done.append(handed))
    lab.main(argv)
    assert done == [lab.VERBS[verb][1], (verb, arguments)]


@pytest.mark.parametrize("port", ["99999", "-1", "0", "65536"])
@pytest.mark.parametrize(("lang", "words"), [("en", "a number from 1 to 65535"), ("zh", "1 到 65535")])
def test_what_is_no_port_is_told_what_one_is(monkeypatch, capsys, port, lang, words):
    monkeypatch.setattr(lab, "set_up", lambda *_: pytest.fail("the set-up was begun"))
    with pytest.raises(SystemExit, match="2"):
        lab.main(["--lang", lang, f"--port={port}"])
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(("environ", "desktop", "language"), [
    ({"LANG": "zh_CN.UTF-8"}, "", "zh"),
    ({"LANG": "zh_TW"}, "", "zh"),
    ({"LANG": "en_US.UTF-8"}, "", "en"),
    ({"LANG": "de_DE.UTF-8"}, "", "en"),
    ({"LC_ALL": "zh_CN.UTF-8", "LANG": "en_US.UTF-8"}, "", "zh"),
    ({"LC_ALL": "", "LC_MESSAGES": "zh_CN.UTF-8", "LANG": "en_US.UTF-8"}, "", "zh"),
    ({"LANG": "en_US.UTF-8", "LANGUAGE": "zh_CN:en"}, "", "zh"),
    ({"LANG": "zh_CN.UTF-8", "LANGUAGE": "en"}, "", "en"),
    ({"LANG": "C.UTF-8", "LANGUAGE": "zh_CN"}, "", "en"),
    ({"LC_CTYPE": "zh_CN.UTF-8"}, "", "en"),
    ({}, "zh_CN", "zh"),
    ({}, "zh-Hans-CN", "zh"),
    ({}, "en_GB", "en"),
    ({"LANG": "en_US.UTF-8"}, "zh_CN", "en"),
    ({}, "", "en"),
])
def test_the_language_is_read_as_gettext_reads_it(environ, desktop, language):
    assert lab.language_of(environ, desktop) == language


# The environment

@pytest.fixture
def made(tmp_path):
    """A project in a folder, and its environment of empty packages, with a stamp that says it is finished."""
    for name in lab.ASKED:
        (tmp_path / name).write_text(f"# {name}\n", "utf-8")
    python = lab.python_of(tmp_path / ".venv")
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    (tmp_path / ".venv" / "pyvenv.cfg").write_text(f"home = {Path(sys.base_prefix) / 'bin'}\n", "utf-8")
    packages = Path(sysconfig.get_path("purelib", "venv", {"base": str(tmp_path / ".venv")}))
    packages.mkdir(parents=True)
    for name in ("jupyterlab", "labsupport", "pip"):
        (packages / f"{name}.py").write_text("", "utf-8")

    def stamp(**changes):
        facts = lab.wanted(tmp_path, tmp_path / ".venv") | {"extras": [], "unfinished": False} | changes
        (tmp_path / ".venv" / "lab.json").write_text(json.dumps(facts), "utf-8")

    stamp()
    return SimpleNamespace(root=tmp_path, venv=tmp_path / ".venv", stamp=stamp,
                           state=lambda extra="": lab.state_of(tmp_path, tmp_path / ".venv", extra))


def test_a_finished_environment_is_ready_and_nothing_is_written(made, monkeypatch):
    monkeypatch.setattr(lab.subprocess, "check_call", lambda *_, **__: pytest.fail("something was installed"))
    assert made.state() == "ready"
    lab.set_up(made.root, made.venv, "", "en")
    assert not (made.root / ".lab").exists()


@pytest.mark.parametrize("name", ["requirements.txt", "constraints.txt", "pyproject.toml"])
def test_other_requirements_are_installed(made, name):
    (made.root / name).write_text("# another\n", "utf-8")
    assert made.state() == "install"


def test_the_test_extra_is_installed_once(made):
    assert made.state("test") == "install"
    made.stamp(extras=["test"])
    assert (made.state("test"), made.state()) == ("ready", "ready")


@pytest.mark.parametrize("changes", [
    pytest.param({"unfinished": True}, id="killed during the set-up"),
    pytest.param({"place": "/home/demo/elsewhere/.venv"}, id="the folder was moved or copied"),
    pytest.param({"python": [3, 10]}, id="another Python"),
    pytest.param({"extras": 5}, id="extras that are no list"),
    pytest.param({"extras": [["test"]]}, id="extras that are no names"),
    pytest.param({"extras": ["no such"]}, id="an extra that is not ours"),
    pytest.param({"unfinished": None}, id="it does not say that it is finished"),
])
def test_a_broken_environment_is_made_again(made, changes):
    made.stamp(**changes)
    assert made.state() == "again"


@pytest.mark.parametrize("text", ["", "{", "{}", "[]", "null", "5", '"x"', "[" * 100_000, "\xff"])
def test_a_damaged_stamp_is_made_again(made, text):
    (made.venv / "lab.json").write_text(text, "latin-1")
    assert made.state() == "again"


def test_a_stamp_that_is_a_folder_is_made_again(made, failing):
    (made.venv / "lab.json").unlink()
    (made.venv / "lab.json").mkdir()
    with pytest.raises(SystemExit, match="starts the set-up afresh"):
        lab.set_up(made.root, made.venv, "", "en")
    assert (made.venv / "lab.json").is_file()


@pytest.mark.parametrize("stamped", [True, False])
@pytest.mark.parametrize("program", [None, b"", b"#!/nowhere/python\n"], ids=["not executable", "empty", "its loader is gone"])
def test_an_interpreter_that_does_not_start_is_made_again(made, stamped, program):
    python = lab.python_of(made.venv)
    python.unlink()
    python.write_bytes(b"#!/bin/sh\n" if program is None else program)
    python.chmod(0o644 if program is None else 0o755)
    if not stamped:
        (made.venv / "lab.json").unlink()
        (made.venv / "pyvenv.cfg").write_text(str(made.venv), "utf-8")
    assert made.state() == "again"


@pytest.mark.parametrize("part", ["", "jupyterlab.py", "labsupport.py"])
def test_an_environment_that_lost_its_packages_is_made_again(made, part):
    path = Path(sysconfig.get_path("purelib", "venv", {"base": str(made.venv)})) / part
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert made.state() == "again"


@pytest.mark.parametrize("name", lab.ASKED)
def test_a_checkout_without_its_requirements_gets_a_sentence(made, name):
    (made.root / name).unlink()
    with pytest.raises(SystemExit, match=rf"{name} is missing in .*Get it again"):
        lab.set_up(made.root, made.venv, "", "en")


def spoil(made, obstacle):
    """Put *obstacle* where the environment is to be; the folder of the project, and what is to stay as it is."""
    shutil.move(made.venv, made.root / "elsewhere")
    if obstacle == "a file":
        made.venv.write_text("mine", "utf-8")
    elif obstacle == "a dangling link":
        made.venv.symlink_to(made.root / "gone")
    elif obstacle == "a link to a broken folder":
        lab.python_of(made.root / "elsewhere").unlink()
        made.venv.symlink_to(made.root / "elsewhere")
    elif obstacle == "a colon":
        return shutil.copytree(made.root, made.root / "a:b", ignore=shutil.ignore_patterns("elsewhere"))
    elif obstacle == "a folder that cannot be written":
        (made.root / ".lab").write_text("as little as a folder that is read-only", "utf-8")
    return made.root


@pytest.mark.parametrize(("obstacle", "en", "zh"), [
    ("a file", "is a file.*Rename or delete it", "是一个文件.*改名或删除"),
    ("a dangling link", "is a link.*Delete the link", "是一个链接.*删除"),
    ("a link to a broken folder", "is a link.*Delete the link", "是一个链接.*删除"),
    ("a colon", "with ':' in its path.*Rename the folder", "路径里有“:”.*改名"),
    ("a folder that cannot be written", "Nothing can be written here.*Copy the workbook", "不能写入.*复制到你自己的文件夹"),
])
def test_what_stands_in_the_way_is_named_and_left_alone(made, failing, obstacle, en, zh):
    root = spoil(made, obstacle)
    before = sorted(made.root.rglob("*"))
    for lang, sentence in (("en", en), ("zh", zh)):
        with pytest.raises(SystemExit, match=f"(?s){sentence}") as stopped:
            lab.set_up(root, root / ".venv", "", lang)
        assert not any(word in str(stopped.value) for word in ("network", "网络"))
    assert sorted(made.root.rglob("*")) == before
    assert failing == []


def test_a_venv_that_fails_does_not_blame_the_network(made, failing):
    shutil.rmtree(made.venv)
    with pytest.raises(SystemExit, match="could not be made") as stopped:
        lab.set_up(made.root, made.venv, "", "en")
    assert "network" not in str(stopped.value)


def test_a_dangling_interpreter_is_made_again(made):
    lab.python_of(made.venv).unlink()
    lab.python_of(made.venv).symlink_to(made.root / "gone")
    assert made.state() == "again"


def test_no_environment_is_made(made):
    assert lab.state_of(made.root, made.root / "none", "") == "make"


@pytest.mark.parametrize(("place", "state"), [("here", "install"), ("elsewhere", "again")])
def test_one_made_by_hand_is_taken_over_unless_it_was_moved(made, place, state):
    (made.venv / "lab.json").unlink()
    with (made.venv / "pyvenv.cfg").open("a", encoding="utf-8") as config:
        config.write(f"command = python3 -m venv {made.venv if place == 'here' else place}\n")
    assert made.state() == state


@pytest.fixture
def failing(monkeypatch):
    """The commands of a set-up, each of which fails at once."""
    calls = []

    def fail(command, **_):
        calls.append(command)
        raise subprocess.CalledProcessError(1, command[:4])

    monkeypatch.setattr(lab.subprocess, "check_call", fail)
    return calls


@pytest.mark.parametrize("by_hand", [False, True])
def test_an_install_that_fails_says_so_and_keeps_what_was_there(made, failing, capsys, by_hand):
    (made.root / "requirements.txt").write_text("# more\n", "utf-8")
    if by_hand:
        (made.venv / "lab.json").unlink()
        with (made.venv / "pyvenv.cfg").open("a", encoding="utf-8") as config:
            config.write(f"command = python3 -m venv {made.venv}\n")
    with pytest.raises(SystemExit, match="Is the network there"):
        lab.set_up(made.root, made.venv, "test", "en")
    assert "2 of 2" in capsys.readouterr().out
    assert failing[0][-3:] == ["constraints.txt", "-e", ".[test]"]
    assert made.state("test") == "install"


def test_an_install_that_is_killed_is_made_again(made, monkeypatch):
    (made.root / "requirements.txt").write_text("# more\n", "utf-8")
    monkeypatch.setattr(lab.subprocess, "check_call", lambda *_, **__: sys.exit(9))
    with pytest.raises(SystemExit):
        lab.set_up(made.root, made.venv, "", "en")
    assert made.state() == "again"


def test_making_it_again_removes_the_old_and_a_failure_is_redone(made, failing, capsys):
    made.stamp(place="/home/demo/elsewhere/.venv")
    (made.venv / "old").write_text("", "utf-8")
    with pytest.raises(SystemExit, match="starts the set-up afresh"):
        lab.set_up(made.root, made.venv, "", "en")
    assert "was moved here" in capsys.readouterr().out
    assert failing[0][1:] == ["-m", "venv", str(made.venv)]
    assert sorted(path.name for path in made.venv.iterdir()) == ["lab.json"]
    assert made.state() == "again"


# Two at once

CHILD = """
import pathlib, subprocess, sys
sys.path.insert(0, sys.argv[2])
import lab
root = pathlib.Path(sys.argv[1])
def install(command, **options):
    code = ("import pathlib, sys, time; (pathlib.Path(sys.argv[1]) / 'begun').touch(); "
            "[time.sleep(0.02) for _ in iter((pathlib.Path(sys.argv[1]) / 'go').exists, True)]")
    subprocess.Popen([sys.executable, "-c", code, str(root)], pass_fds=options["pass_fds"]).wait()
lab.subprocess.check_call = install
lab.set_up(root, root / ".venv", "test", "en")
"""


@pytest.fixture
def installing(made):
    """Another process that installs into the environment until a file `go` is there."""
    other = subprocess.Popen([sys.executable, "-c", CHILD, made.root, lab.ROOT], stdout=subprocess.DEVNULL)
    while not (made.root / "begun").exists():
        assert other.poll() is None
        time.sleep(0.02)
    yield other
    (made.root / "go").touch()
    other.wait(20)


def second(made):
    """A second `lab.py` in a thread, and what it said in the end."""
    said = []

    def run():
        with contextlib.redirect_stdout(io.StringIO()) as out:
            lab.set_up(made.root, made.venv, "test", "en")
        said.append(out.getvalue())

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread, said


@pytest.mark.skipif(os.name == "nt", reason="the child is given the lock by its number")
def test_a_second_one_waits_for_the_first_and_then_has_nothing_to_do(made, installing, failing):
    thread, said = second(made)
    thread.join(1.5)
    assert thread.is_alive()
    assert json.loads((made.venv / "lab.json").read_text("utf-8"))["unfinished"] is True
    assert lab.python_of(made.venv).exists()
    (made.root / "go").touch()
    thread.join(20)
    assert said == ["Another lab.py is installing here; waiting until it is done …\n"]
    assert (installing.wait(20), failing, made.state("test")) == (0, [], "ready")


@pytest.mark.skipif(os.name == "nt", reason="the child is given the lock by its number")
def test_when_the_first_is_killed_the_second_waits_for_its_pip(made, installing, failing):
    installing.kill()
    installing.wait(20)
    with (made.root / ".lab" / "setup.lock").open("a") as file:
        assert lab.lock(file) is False
    (made.root / "go").touch()
    with pytest.raises(SystemExit, match="starts the set-up afresh"):
        lab.set_up(made.root, made.venv, "test", "en")
    assert [command[1:3] for command in failing] == [["-m", "venv"]]


def test_a_lock_that_nobody_holds_is_never_stale(made):
    (made.root / ".lab").mkdir()
    (made.root / ".lab" / "setup.lock").write_text("4711", "utf-8")
    with lab.alone(made.root, "en"), (made.root / ".lab" / "setup.lock").open("a") as file:
        assert lab.lock(file) is False
    with (made.root / ".lab" / "setup.lock").open("a") as file:
        assert lab.lock(file) is True


def test_a_child_gets_this_environment_first_and_nothing_of_another(monkeypatch, tmp_path):
    monkeypatch.setenv("PYTHONPATH", "/home/demo/lib")
    env = lab.environment(tmp_path)
    assert env["PATH"].split(os.pathsep)[0] == str(lab.python_of(tmp_path).parent)
    assert "PYTHONPATH" not in env


# The pins

LINES = (lab.ROOT / "constraints.txt").read_text("utf-8").splitlines()
PINS = dict(line.split("==") for line in LINES if not line.startswith("#"))


def needed(requirements, extra=""):
    """The packages, each with "" and with its extras, of those *requirements* that this Python on this system needs."""
    parsed = [Requirement(text) for text in requirements or ()]
    wanted = [one for one in parsed if not one.marker or one.marker.evaluate({"extra": extra})]
    return {(canonicalize_name(one.name), part) for one in wanted for part in ("", *one.extras)}


def test_every_package_that_is_asked_for_has_a_pin_and_so_have_its_own():
    lines = (lab.ROOT / "requirements.txt").read_text("utf-8").splitlines()
    asked = needed(line for line in lines if not line.startswith(("#", "-")))
    project = tomllib.loads((lab.ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert needed(project["dependencies"]) <= asked
    waiting, seen = asked | needed(project["optional-dependencies"]["test"]), set()
    while waiting:
        name, extra = waiting.pop()
        seen.add((name, extra))
        waiting |= needed(metadata.requires(name), extra) - seen
    assert sorted({name for name, _ in seen} - PINS.keys()) == ["labsupport"]  # one extra brings others


def test_every_pin_allows_the_oldest_python():
    refused = []
    for distribution in metadata.distributions():
        if canonicalize_name(distribution.name) in PINS and (python := distribution.metadata["Requires-Python"]):
            refused += [f"{distribution.name} needs {python}"] if not SpecifierSet(python).contains("3.11.0") else []
    assert refused == []


# The server

def test_the_server_is_on_loopback_with_a_token_that_no_process_list_shows():
    command = open_lab.server(Path("root"), 9000, Path("settings"))
    env = open_lab.variables(Path("state"), "a-secret")
    assert "--ServerApp.ip=127.0.0.1" in command
    assert "--ServerApp.port=9000" in command
    assert not any("a-secret" in part or "0.0.0.0" in part for part in command)
    assert env["JUPYTER_TOKEN"] == "a-secret"
    assert Path(env["JUPYTER_CONFIG_DIR"]) == Path("state/config")
    assert Path(env["JUPYTER_DATA_DIR"]) == Path("state/data")


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows has no root")
@pytest.mark.parametrize(("user", "allowed"), [(0, True), (1000, False)])
def test_root_is_allowed_only_as_root(monkeypatch, user, allowed):
    monkeypatch.setattr(os, "geteuid", lambda: user)
    assert ("--allow-root" in open_lab.server(Path("root"), 1, Path("settings"))) is allowed


def test_a_taken_port_is_not_given():
    with open_lab.socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        number = taken.getsockname()[1]
        assert open_lab.free_port(number) is None
    assert open_lab.free_port(number) == number
    assert open_lab.free_port(0)


class Stranger(BaseHTTPRequestHandler):
    """The server of another lab.py: it answers anybody at /api, as Jupyter does, and a token that is not its own with 403."""

    def do_GET(self):
        self.send_response(200 if self.path == "/api" else 403)
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def stranger():
    """The port of a server that is not ours."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Stranger) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


OURS = """
import http.server, os, sys
class Ours(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        known = self.path == "/api/status" and self.headers["Authorization"] == "token " + os.environ["JUPYTER_TOKEN"]
        self.send_response(200 if known else 403)
        self.end_headers()
        self.server.asked = known
    def log_message(self, *_):
        pass
server = http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Ours)
server.asked = False
while not server.asked:
    server.handle_request()
sys.exit(int(sys.argv[2]))
"""


@pytest.fixture
def serving(monkeypatch, tmp_path):
    """JupyterLab replaced by a server that exits when it has been asked with its token; the ports it was started on."""
    ports, codes = [], []
    monkeypatch.setattr(open_lab, "STATE", tmp_path)
    monkeypatch.setattr(open_lab.lab, "ROOT", tmp_path)
    monkeypatch.setattr(open_lab.subprocess, "run", lambda *_, **__: None)  # there is nothing to trust
    monkeypatch.setattr(open_lab.signal, "signal", lambda *_: None)

    def server(root, port, settings):
        ports.append(port)
        return ["-c", OURS, str(port), str(codes[0] if codes else 0)]

    monkeypatch.setattr(open_lab, "server", server)
    return SimpleNamespace(ports=ports, codes=codes)


def opened(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["open_lab", "--lang", "en", "--no-browser", *arguments])
    open_lab.main()


def test_the_server_of_another_is_not_taken_for_ours(serving, stranger, tmp_path):
    """Ours cannot have the port, and dies; that somebody answers there says nothing."""
    assert not open_lab.answers(f"http://127.0.0.1:{stranger}", "ours")
    with (pytest.raises(ChildProcessError),
          open_lab.running(tmp_path, tmp_path, stranger, "ours", tmp_path)):
        pytest.fail("given out as open")


def test_a_port_that_answers_with_no_http_is_not_ours(monkeypatch):
    with open_lab.socket.create_server(("127.0.0.1", 0)) as taken:
        def answer():
            with taken.accept()[0] as peer:
                peer.recv(1000)
                peer.sendall(b"220 mail\r\n\r\n")

        threading.Thread(target=answer, daemon=True).start()
        assert not open_lab.answers(f"http://127.0.0.1:{taken.getsockname()[1]}", "ours")


def test_a_port_lost_to_a_race_is_followed_by_the_next(monkeypatch, capsys, serving, stranger):
    """It was free when it was looked at, and another server had it before ours did."""
    free, real = [stranger], open_lab.free_port
    monkeypatch.setattr(open_lab, "free_port", lambda port=None: free.pop() if free else real(port or 0))
    opened(monkeypatch)
    assert serving.ports[0] == stranger
    assert len(serving.ports) == 2
    out = capsys.readouterr().out
    assert f"took port {stranger} in the same moment" in out
    assert out.count("open at") == 1
    assert f"http://127.0.0.1:{serving.ports[1]}/lab/tree/notebooks/en/00_start_here.ipynb?token=" in out


def test_a_port_that_was_asked_for_and_lost_is_said_to_be_taken(monkeypatch, capsys, serving, stranger):
    free, real = [stranger], open_lab.free_port
    monkeypatch.setattr(open_lab, "free_port", lambda port=None: free.pop() if free else real(port))
    with pytest.raises(SystemExit, match=f"Port {stranger} is taken"):
        opened(monkeypatch, "--port", str(stranger))
    assert serving.ports == [stranger]
    assert "open at" not in capsys.readouterr().out


def test_a_server_that_never_starts_is_not_tried_twice(monkeypatch, serving):
    monkeypatch.setattr(open_lab, "server", lambda *_: serving.ports.append(1) or ["-c", "import sys; sys.exit(3)"])
    with pytest.raises(SystemExit, match="before it was ready"):
        opened(monkeypatch)
    assert serving.ports == [1]


def test_a_server_that_dies_later_is_not_passed_over(monkeypatch, capsys, serving):
    serving.codes.append(9)
    with pytest.raises(SystemExit, match=r"stopped by itself \(exit code 9\)"):
        opened(monkeypatch)
    assert "open at" in capsys.readouterr().out


def test_a_server_that_was_shut_down_from_its_menu_is_no_fault(monkeypatch, capsys, serving):
    opened(monkeypatch)
    assert capsys.readouterr().out.endswith("Stopped. What you saved is kept.\n")


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_the_interface_has_the_language_and_asks_nobody_for_news(lang):
    settings = json.loads((open_lab.DEPLOY / "jupyterlab" / lang / "overrides.json").read_text("utf-8"))
    assert settings["@jupyterlab/translation-extension:plugin"]["locale"] == {"zh": "zh_CN", "en": "en"}[lang]
    assert settings["@jupyterlab/apputils-extension:notification"] == {"fetchNews": "false", "checkForUpdates": False}


VIEW = "application/vnd.jupyter.widget-view+json"


@pytest.mark.parametrize(("data", "kept"), [
    pytest.param({VIEW: {}, "text/html": "", "text/plain": ""}, {"text/html", "text/plain"}, id="a table is there"),
    pytest.param({VIEW: {}, "image/svg+xml": "", "text/plain": ""}, {"image/svg+xml", "text/plain"}, id="a drawing is there"),
    pytest.param({VIEW: {}, "text/plain": ""}, {VIEW, "text/plain"}, id="a widget alone stays"),
])
def test_a_save_drops_a_widget_only_where_its_picture_is(data, kept):
    config = SimpleNamespace(ContentsManager=SimpleNamespace(), LabApp=SimpleNamespace(), ServerApp=SimpleNamespace())
    exec((open_lab.DEPLOY / "jupyter_server_config.py").read_text("utf-8"), {"get_config": lambda: config})
    cells = [{"cell_type": "markdown"}, {"outputs": [{"output_type": "stream", "text": ""}, {"data": data}]}]
    config.ContentsManager.pre_save_hook(model={"type": "notebook", "content": {"cells": cells}}, path="a.ipynb")
    assert set(data) == kept


@pytest.mark.parametrize("model", [{"type": "file", "content": "text"}, {"type": "notebook", "content": None}])
def test_a_save_of_anything_else_is_let_through(model):
    config = SimpleNamespace(ContentsManager=SimpleNamespace(), LabApp=SimpleNamespace(), ServerApp=SimpleNamespace())
    exec((open_lab.DEPLOY / "jupyter_server_config.py").read_text("utf-8"), {"get_config": lambda: config})
    before = json.dumps(model)
    config.ContentsManager.pre_save_hook(model=model, path="a")
    assert json.dumps(model) == before


# The stages of `lab.py test`

def test_every_stage_runs_and_one_failure_fails_all(monkeypatch, capsys):
    codes = {"a": 0, "b": 1, "c": 0}
    monkeypatch.setattr(stages.subprocess, "run", lambda command, **_: SimpleNamespace(returncode=codes[command[-1]]))
    assert stages.run({name: [name] for name in codes}) == 1
    out = capsys.readouterr().out
    assert [line.split()[1] for line in io.StringIO(out) if line.startswith("== ") and " s" in line] == ["a:", "b:", "c:"]
    assert out.endswith("FAILED: b\n")
    assert stages.run({"a": ["a"]}) == 0


@pytest.mark.parametrize(("said", "there"), [
    pytest.param("installed\ninstalled\n", True, id="both"),
    pytest.param("config-files\ninstalled\n", False, id="removed, which dpkg still knows"),
    pytest.param("installed\n", False, id="one of them"),
    pytest.param("", False, id="none"),
])
def test_a_browser_that_was_removed_is_not_there(monkeypatch, said, there):
    monkeypatch.setattr(chromium.subprocess, "run", lambda *_, **__: SimpleNamespace(stdout=said))
    assert chromium.installed() is there
