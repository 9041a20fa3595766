"""Running what a student handed in: whatever it does, every exercise gets its grade.

A cell that never ends or that kills its kernel is passed over, and the notebook is run once more from its start without it:
what was right before and after it still counts. After a few such cells, or when the time of a notebook is up, the rest is not
run.

A check is believed when it says itself, in our own words, that the answer is correct: that its cell raised nothing is not
enough. It is imported anew before it is asked, so a name that the student gave to something else is no check. But it runs in
one process with the answer, and an answer that is written to deceive it, by changing the library in memory or by looking
at the cases on the stack, can do so. Whoever reads the answers sees that; no program does.
"""
import ast
import re
from copy import deepcopy
from pathlib import Path
from subprocess import DEVNULL
from time import monotonic
from typing import Any

import nbformat
from jupyter_core.utils import run_sync
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbgrader.preprocessors import Execute
from traitlets import Integer

from labsupport.classroom.apart import apart, untouched
from labsupport.classroom.restore import released
from labsupport.workbench.text import language, say, vocabulary

IDEA, TIMED_OUT, DIED, PASSED_OVER = "idea", "timed_out", "died", "passed_over"
FATES = {TIMED_OUT: "class_timed_out", DIED: "class_died", PASSED_OVER: "class_passed_over"}
CORRECT = "check_correct"
CHECKS = "labsupport.workbench.checks"
PATIENCE = 10
"""Seconds for a question to the kernel."""
OVERHEAD = 300
"""Characters that an output takes beside its own."""


class LabExecute(Execute):  # type: ignore[misc]  # nbgrader has no types
    """nbgrader's preprocessor, for code that may do anything.

    Each check cell keeps, in its metadata `lab.idea`, the key of the sentence that the check said (`Verdict.key`): one of
    our own keys, so never a word of the student. A cell that was passed over keeps its fate in `lab.fate`.
    """

    timeout = Integer(60, allow_none=True, help="seconds for a cell").tag(config=True)
    restarts = Integer(3, help="how many cells are passed over before the rest is not run").tag(config=True)
    total = Integer(900, help="seconds for a notebook, after which the rest is not run").tag(config=True)
    most = Integer(1_000_000, help="as many characters of a cell's output are kept").tag(config=True)
    memory = Integer(4_000_000_000, help="bytes that the kernel may take, where the system can hold it to that; 0 for all"
                     ).tag(config=True)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.interrupt_on_timeout = False  # code may catch the interruption and go on: the kernel is killed
        self.shutdown_kernel = "immediate"
        self.extra_arguments = ["--log-level=ERROR", "--InteractiveShellApp.ignore_cwd=True"]
        self._fates: dict[int, str] = {}

    def preprocess(self, nb: Any, resources: Any, km: Any = None) -> tuple[Any, Any]:
        self._fates, self._end = {}, monotonic() + self.total
        self._imports = check_imports(released(resources))
        folder = Path(resources["metadata"]["path"])
        with untouched(Path(), folder):
            while True:
                copy, self._at = deepcopy(nb), -1
                try:
                    with apart(folder, language(Path())) as self._place:
                        done, resources = super().preprocess(copy, resources, km)
                except CellTimeoutError:
                    fate = TIMED_OUT
                except DeadKernelError:
                    fate = DIED
                else:
                    for cell in done.cells:
                        _quiet(cell)
                    return done, resources
                if self._at in self._fates:  # no cell is to blame twice: the kernel itself does not start
                    raise RuntimeError("no kernel could be started")
                self._fates[self._at] = fate
                if len(self._fates) > self.restarts:
                    self._fates |= dict.fromkeys(range(self._at + 1, len(nb.cells)), PASSED_OVER)

    def start_new_kernel(self, **kwargs: Any) -> None:
        self._unlimited = True
        work, names = self._place
        quiet = dict.fromkeys(("stdout", "stderr"), DEVNULL)  # what goes past the notebook is not for the terminal
        super().start_new_kernel(**kwargs | {"cwd": str(work), "env": names} | quiet)

    def preprocess_cell(self, cell: Any, resources: Any, index: int) -> tuple[Any, Any]:
        self._at, self._room = index, self.most
        if cell.cell_type != "code":
            return cell, resources
        cell.metadata.pop("lab", None)  # only what is found here counts
        if monotonic() > self._end:
            self._fates.setdefault(index, PASSED_OVER)
        if index in self._fates:
            fate = self._fates[index]
            _fail(cell, fate, say(FATES[fate], seconds=self.timeout))
            cell.metadata["lab"] = {"fate": fate}
            return cell, resources
        if self._unlimited and self.memory:
            self._ask(f"(r := __import__('resource')).setrlimit(r.RLIMIT_AS, ({self.memory}, {self.memory}))")
            self._unlimited = False
        check = cell.metadata.get("nbgrader", {}).get("grade")
        if check:
            self._ask("globals().pop('verdict', None)", self._imports)  # that of another exercise
        cell, resources = super().preprocess_cell(cell, resources, index)
        if check:
            found = idea(self._ask("verdict.key"))
            cell.outputs = [one for one in cell.outputs if one.output_type != "execute_result"]  # for nbgrader it is points
            cell.metadata["lab"] = {IDEA: found}
            if found != CORRECT and not any(output.output_type == "error" for output in cell.outputs):
                _fail(cell, "AssertionError", say(found or "class_no_verdict"))
        return cell, resources

    def process_message(self, msg: Any, cell: Any, cell_index: int) -> Any:
        """A message of the kernel; of a flood only the beginning, as all of it would fill the memory before the time is up."""
        if msg["msg_type"] != "status":
            self._room -= OVERHEAD + len(str(msg["content"]))
            if self._room < 0:
                return None
        return super().process_message(msg, cell, cell_index)

    def _ask(self, expression: str, code: str = "") -> str:
        """What *expression* is in the kernel after *code*, as Python writes it; empty where it cannot be had."""
        async def ask() -> Any:
            return await self.kc.execute(code, silent=True, user_expressions={"it": expression}, reply=True,
                                         timeout=min(PATIENCE, self.timeout or PATIENCE))

        try:
            reply = run_sync(ask)()
        except TimeoutError:  # busy with something that was left running, or with the answer itself
            raise CellTimeoutError from None
        except RuntimeError:
            raise DeadKernelError from None
        found = reply["content"].get("user_expressions", {}).get("it", {})
        return str(found.get("data", {}).get("text/plain", ""))


def check_imports(nb: Any) -> str:
    """The lines of the notebook *nb* that import checks."""
    trees = [ast.parse(cell.source) for cell in nb.cells if cell.cell_type == "code" and CHECKS in cell.source]
    return "\n".join(ast.unparse(node) for tree in trees for node in tree.body
                     if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(CHECKS))


def idea(written: str) -> str:
    """The key of ours that Python *written* as a string; empty for anything else.

    >>> idea("'check_correct'"), idea("'ha ha'")
    ('check_correct', '')
    """
    found = re.fullmatch(r"'(\w{1,80})'", written, re.ASCII)
    return found[1] if found and found[1] in vocabulary() else ""


def _quiet(cell: Any) -> None:
    """Warnings on standard error are no wrong answer, which nbgrader takes them for."""
    for output in cell.get("outputs", ()):
        if output.output_type == "stream":
            output.name = "stdout"


def _fail(cell: Any, name: str, words: str) -> None:
    """Let *cell* have raised an error of that *name*, with *words*."""
    error = {"output_type": "error", "ename": name, "evalue": words, "traceback": [words]}
    cell.outputs = [*(cell.outputs if name == "AssertionError" else []), nbformat.from_dict(error)]
