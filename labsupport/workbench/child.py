"""A process that says where it stands, waits there, and is killed from outside: nothing in it gets a chance to tidy up."""
import json
import os
import subprocess
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from threading import Timer
from typing import Any

import labsupport
from labsupport.errors import LabError

PATIENCE = 120
"""Seconds after which a process that says nothing is given up."""


def last_words(module: str, *arguments: str, point: int) -> Any:
    """Start `python -m module arguments…`, wait until it stands at *point* and says so, kill it; what it said.

    LabError when it ends by itself before that.
    """
    package = str(Path(labsupport.__path__[0]).parent)
    paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
    process = subprocess.Popen([sys.executable, "-m", module, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)})
    with process:  # it closes the pipes and waits for the end
        alarm = Timer(PATIENCE, process.kill)
        alarm.start()
        try:
            report = process.stdout.readline() if process.stdout else b""
        finally:
            alarm.cancel()
            process.kill()
        complaint = process.stderr.read() if process.stderr else b""
    if not report:
        why = (complaint.decode("utf-8", "replace").strip() or "it said nothing").splitlines()[-1]
        raise LabError(f"the recording ended by itself before point {point}: {why}")
    return json.loads(report)


def stop_at(number: int, report: Callable[..., object]) -> Callable[..., None]:
    """In the process that will be killed: what its recording calls at every point; at point *number* it says the report.

    *report* makes that of what the recording tells at the point.
    """
    points = count()

    def stop(*told: object) -> None:
        if next(points) == number:
            say_and_wait(report(*told))

    return stop


def say_and_wait(report: object) -> None:
    """In the process that will be killed: say *report* and do nothing more."""
    print(json.dumps(report), flush=True)
    sys.stdin.read()  # until it is killed; or until nobody is there any more
    os._exit(1)
