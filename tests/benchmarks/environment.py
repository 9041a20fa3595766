"""Where the peers live: an environment of their own, and a process in it that measures their side."""
import gc
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SCRATCH = ROOT / ".benchmarks"
VENV = ROOT / ".venv-peers"
PINS = Path(__file__).with_name("requirements-peers.txt")


def timed(work: Callable[..., object], *arguments: object) -> float:
    """The seconds that *work* takes, after a clean-up, so that no side pays for the other's garbage."""
    gc.collect()
    start = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - start


def ready() -> Path | None:
    """The Python of the peers' environment, which is made when it is missing or old; None when that fails."""
    python = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp, digest = VENV / "peers.txt", hashlib.sha256(PINS.read_bytes()).hexdigest()
    if python.exists() and stamp.exists() and stamp.read_text("utf-8") == digest:
        return python
    print(f"Making {VENV.name}, the peers' environment …", file=sys.stderr, flush=True)
    for command in ([getattr(sys, "_base_executable", sys.executable), "-m", "venv", "--clear", str(VENV)],
                    [str(python), "-m", "pip", "install", "-qq", "--disable-pip-version-check", "-r", str(PINS)]):
        if subprocess.run(command, stdout=sys.stderr, check=False).returncode:
            print("That failed; the peers are left out.", file=sys.stderr, flush=True)
            return None
    stamp.write_text(digest, "utf-8")
    return python


class Worker:
    """A process that runs a module of this package with *python* and answers one line of JSON with one."""

    def __init__(self, python: Path | str, module: str) -> None:
        env = dict(os.environ, LANGSMITH_TRACING="false")
        self._process = subprocess.Popen([str(python), "-m", f"tests.benchmarks.{module}"], cwd=ROOT, env=env,
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")

    def ask(self, do: str, **values: Any) -> Any:
        """What the process answers; RuntimeError when it ended instead (it said why on stderr)."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"do": do, **values}) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the process ended while it was asked to {do}")
        return json.loads(answer)

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *error: object) -> None:
        self._process.communicate()  # closes its input, which ends it


def serve(jobs: dict[str, Callable[..., Any]]) -> None:
    """Answer on standard output what standard input asks for, until it ends; what *jobs* print goes to standard error."""
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps(jobs[asked.pop("do")](**asked)), file=answers, flush=True)
