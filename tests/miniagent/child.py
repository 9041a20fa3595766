"""Python in a process of its own, for what a test must not do to itself: limits, other users, being killed."""
import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

ROOT = Path(__file__).parents[2]
HEAD = """
import errno, json, os, sys, time
from pathlib import Path
from labsupport.errors import *
from labsupport.miniagent import *
path = Path(sys.argv[1])

def attempt(action, *args, **options):
    try:
        return {"gave": repr(action(*args, **options))}
    except Exception as error:
        return {"raised": type(error).__name__, "errno": errno.errorcode.get(getattr(error, "errno", None)), "says": str(error)}
"""


def start(code: str, *arguments: object, before: tuple[str, ...] = ()) -> "subprocess.Popen[str]":
    """Start *code* behind `HEAD`; the first of *arguments* is its `path`, and *before* a command that starts Python."""
    return subprocess.Popen([*before, sys.executable, "-c", HEAD + dedent(code), *map(str, arguments)], cwd=ROOT,
                            encoding="utf-8",
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONIOENCODING": "utf-8"})


def finish(process: "subprocess.Popen[str]") -> str:
    """What *process* wrote; its standard error is shown when it fails."""
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out


def facts(code: str, *arguments: object, before: tuple[str, ...] = ()) -> Any:
    """The JSON that *code* prints."""
    return json.loads(finish(start(code, *arguments, before=before)))
