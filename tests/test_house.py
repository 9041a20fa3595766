"""How the house is built: imports point one way, pure modules read nothing, no file names the machine it was written on.

Each check is a function that returns sentences; it must find nothing in the project, and something in a planted fault.
"""
import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PARTS = {  # what each part may import of the others; "base" are the modules at the top: errors, frozen, lossless …
    "base": {"base"},
    "miniagent": {"base", "miniagent"},
    "sessionlog": {"base", "sessionlog"},
    "outside": {"base", "outside"},
    "workbench": {"base", "miniagent", "sessionlog", "outside", "workbench"},
    "classroom": {"base", "workbench", "classroom"},
}
SCREEN = {"IPython", "ipywidgets", "matplotlib", "nbformat", "pandas"}  # for the workbench alone
PURE = ("frozen.py", "lossless.py", "strict_json.py", "miniagent/context.py", "miniagent/messages.py", "miniagent/units.py")
WORLD = {"asyncio", "datetime", "fcntl", "glob", "io", "os", "pathlib", "portalocker", "random", "secrets", "shutil", "socket",
         "sqlite3", "subprocess", "sys", "tempfile", "threading", "time", "urllib", "uuid"}
READS = {"open", "input", "print"}
MACHINE = re.compile(
    r"(?<![\w.~-])/(?:work|root|tmp)\b(?!\.)|/home/(?!demo\b|user\b|learner\b)\w|/Users/(?!demo\b|user\b|learner\b)\w|\.\./shared"
    r"|\bpypi\.org|pythonhosted\.org|registry\.npmjs|deb\.debian\.org|index-url")
ALLOWED = {".ci/run": ("../shared",)}  # CI alone may look beside the checkout


def part_of(name: str) -> str:
    """The part that a module such as "labsupport.miniagent.session" belongs to."""
    second = name.split(".")[1] if "." in name else "base"
    return second if second in PARTS else "base"


def imports(tree: ast.AST, package: str) -> Iterator[str]:
    """The full names that *tree*, a module in *package*, imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[:len(package.split(".")) - node.level + 1] if node.level else []
            source = ".".join([*above, *filter(None, [node.module])])
            yield from (f"{source}.{alias.name}" for alias in node.names) if source == "labsupport" else [source]


def faults(path: str, source: str) -> list[str]:
    """What is wrong with the module at *path*, seen from the folder labsupport."""
    folders = path.removesuffix(".py").split("/")
    part, found = part_of(".".join(["labsupport", *folders])) if len(folders) > 1 else "base", []
    tree = ast.parse(source)
    for name in imports(tree, ".".join(["labsupport", *folders[:-1]])):
        top = name.split(".")[0]
        if top == "labsupport" and part_of(name) not in PARTS[part]:
            found.append(f"{path}: {part} imports {name}, against the arrows")
        if top in SCREEN and part not in ("workbench", "classroom"):
            found.append(f"{path}: {part} imports {name}, which is for the workbench")
        if path in PURE and top in WORLD:
            found.append(f"{path}: a pure module imports {name}")
    for node in ast.walk(tree):
        if path in PURE and isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in READS:
            found.append(f"{path}: a pure module calls {node.func.id}()")
    return found


def places(path: str, text: str) -> list[str]:
    """The lines of the file at *path* that name a machine, or a host that packages come from."""
    return [f"{path}:{number}: {hit[0]}" for number, line in enumerate(text.split("\n"), start=1)
            for hit in MACHINE.finditer(line) if hit[0] not in ALLOWED.get(path, ())]


def project_files() -> list[str]:
    """The files that are, or would be, in the repository."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    return [name for name in listed if name and name != "tests/test_house.py" and (ROOT / name).is_file()]


def test_imports_point_one_way_and_pure_modules_read_nothing():
    modules = sorted((ROOT / "labsupport").rglob("*.py"))
    assert len(modules) > 10
    named = {path.relative_to(ROOT / "labsupport").as_posix(): path.read_text("utf-8") for path in modules}
    assert [found for path, source in named.items() for found in faults(path, source)] == []


def test_every_pure_module_is_there():
    assert [name for name in PURE if not (ROOT / "labsupport" / name).is_file()] == []


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="git alone tells which files are the project's")
def test_no_file_names_a_machine():
    found = []
    for name in project_files():
        data = (ROOT / name).read_bytes()
        if b"\0" not in data:  # a picture is not read
            found += places(name, data.decode("utf-8", "replace"))
    assert found == []


@pytest.mark.parametrize(("path", "source", "sentence"), [
    ("errors.py", "import labsupport.miniagent", "base imports labsupport.miniagent"),
    ("frozen.py", "from labsupport import sessionlog", "base imports labsupport.sessionlog"),
    ("miniagent/session.py", "from labsupport.sessionlog.tokens import count", "miniagent imports labsupport.sessionlog"),
    ("miniagent/session.py", "from ..workbench import show", "miniagent imports labsupport.workbench"),
    ("sessionlog/tokens.py", "def f():\n    from labsupport.miniagent import agent", "sessionlog imports labsupport.miniagent"),
    ("outside/ledger.py", "import labsupport.sessionlog.events", "outside imports labsupport.sessionlog"),
    ("outside/memory.py", "from ..sessionlog import Session", "outside imports labsupport.sessionlog"),
    ("outside/memory.py", "from labsupport import miniagent", "outside imports labsupport.miniagent"),
    ("sessionlog/lineage.py", "from labsupport.outside import Memory", "sessionlog imports labsupport.outside"),
    ("miniagent/agent.py", "from labsupport.outside.memory import Memory", "miniagent imports labsupport.outside"),
    ("outside/memory.py", "import pandas", "for the workbench"),
    ("outside/deep/inner.py", "from ipywidgets import HTML", "for the workbench"),
    ("miniagent/agent.py", "import pandas as pd", "for the workbench"),
    ("sessionlog/deep/inner.py", "from IPython.display import HTML", "for the workbench"),
    ("lossless.py", "import ipywidgets", "for the workbench"),
    ("miniagent/context.py", "from time import monotonic", "a pure module imports time"),
    ("miniagent/context.py", "import os.path", "a pure module imports os.path"),
    ("lossless.py", "def f():\n    import random", "a pure module imports random"),
    ("frozen.py", "text = open('a').read()", "a pure module calls open()"),
])
def test_a_planted_import_is_found(path, source, sentence):
    assert [found for found in faults(path, source) if sentence in found]


@pytest.mark.parametrize(("path", "source"), [
    ("workbench/tables.py", "import pandas\nfrom labsupport.miniagent import load_session\nfrom labsupport import sessionlog"),
    ("miniagent/context.py", "from labsupport import errors\nfrom .messages import Message\nfrom ..lossless import js_json"),
    ("miniagent/session.py", "import os\nimport portalocker"),
    ("outside/memory.py", "import sqlite3\nfrom labsupport.errors import OutsideError\nfrom .extraction import Fact"),
    ("workbench/checks/b8.py", "from labsupport.outside import Memory"),
])
def test_a_right_import_is_let_through(path, source):
    assert faults(path, source) == []


@pytest.mark.parametrize(("line", "named"), [
    ('path = "|work|main|lab.py"', "|work"), ("cd |root", "|root"), ("File '|tmp|bash|x.py'", "|tmp"),
    ("|home|alice|labs", "|home|a"), ("|Users|alice|labs", "|Users|a"), ("pip install --index-url x", "index-url"),
    ("see ..|shared|spec", "..|shared"), ("from https:||pypi.org|simple", "pypi.org"),
])
def test_a_planted_place_is_found(line, named):
    """In *line* and *named* | stands for /, so that no place of a machine is written here either."""
    assert places("notes.md", f"first\n{line}\n".replace("|", "/")) == [f"notes.md:2: {named}".replace("|", "/")]


@pytest.mark.parametrize("line", ["/home/demo/session.jsonl", "a/work/b", "docs/tmp/x", "~/tmp", "root / 'labs'"])
def test_a_harmless_place_is_let_through(line):
    assert places("notes.md", line) == []


def test_ci_alone_may_look_beside_the_checkout():
    assert places(".ci/run", "if [ -d ../shared ]; then") == []
    assert places("lab.py", "../shared") == ["lab.py:1: ../shared"]
