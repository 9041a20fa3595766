"""Running what a student handed in: whatever it does, every exercise gets its grade.

A cell that never ends or that kills its kernel is passed over, and the notebook is run once more from its start without it:
what was right before and after it still counts. After a few such cells the rest is not run.
"""
import re
from copy import deepcopy
from typing import Any

import nbformat
from jupyter_core.utils import run_sync
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbgrader.preprocessors import Execute
from traitlets import Integer

from labsupport.workbench.text import say, vocabulary

IDEA, TIMED_OUT, DIED, PASSED_OVER = "idea", "timed_out", "died", "passed_over"
FATES = {TIMED_OUT: "class_timed_out", DIED: "class_died", PASSED_OVER: "class_passed_over"}


class LabExecute(Execute):  # type: ignore[misc]  # nbgrader has no types
    """nbgrader's preprocessor, for code that may do anything.

    Each check cell keeps, in its metadata `lab.idea`, the key of the sentence that the check said (`Verdict.key`): one of
    our own keys, so never a word of the student. A cell that was passed over keeps its fate in `lab.fate`.
    """

    restarts = Integer(3, help="how many cells are passed over before the rest is not run").tag(config=True)
    most = Integer(1_000_000, help="as many characters of a cell's output are kept").tag(config=True)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.interrupt_on_timeout = False  # code may catch the interruption and go on: the kernel is killed
        self.shutdown_kernel = "immediate"
        self.extra_arguments = ["--log-level=ERROR"]
        self._fates: dict[int, str] = {}
        self._at = 0

    def preprocess(self, nb: Any, resources: Any, km: Any = None) -> tuple[Any, Any]:
        self._fates = {}
        while True:
            copy = deepcopy(nb)
            try:
                done, resources = super().preprocess(copy, resources, km)
            except CellTimeoutError:
                fate = TIMED_OUT
            except DeadKernelError:
                fate = DIED
            else:
                for cell in done.cells:
                    _quiet(cell)
                return done, resources
            self._fates[self._at] = fate
            if len(self._fates) > self.restarts:
                self._fates |= dict.fromkeys(range(self._at + 1, len(nb.cells)), PASSED_OVER)

    def preprocess_cell(self, cell: Any, resources: Any, index: int) -> tuple[Any, Any]:
        self._at, self._room = index, self.most
        if cell.cell_type != "code":
            return cell, resources
        cell.metadata.pop("lab", None)  # only what is found here counts
        if index in self._fates:
            fate = self._fates[index]
            words = say(FATES[fate], seconds=self.timeout)
            error = {"output_type": "error", "ename": fate, "evalue": words, "traceback": [words]}
            cell.outputs = [nbformat.from_dict(error)]
            cell.metadata["lab"] = {"fate": fate}
            return cell, resources
        check = cell.metadata.get("nbgrader", {}).get("grade")
        if check:
            self._ask("globals().pop('verdict', None)")  # that of another exercise
        cell, resources = super().preprocess_cell(cell, resources, index)
        if check:
            cell.metadata["lab"] = {IDEA: idea(self._ask("verdict.key"))}
        return cell, resources

    def output(self, outs: list[Any], msg: Any, display_id: str, cell_index: int) -> Any:
        """An output of a cell; of a flood only the beginning, since all of it would fill the memory before the time is up."""
        self._room -= len(str(msg["content"].get("text", "")))
        return super().output(outs, msg, display_id, cell_index) if self._room > 0 else None

    def _ask(self, expression: str) -> str:
        """What *expression* is in the kernel, as Python writes it; empty where it cannot be had."""
        async def ask() -> Any:
            return await self.kc.execute("", silent=True, user_expressions={"it": expression}, reply=True, timeout=10)

        try:
            reply = run_sync(ask)()
        except (TimeoutError, RuntimeError):  # busy with something that was left running, or gone
            return ""
        found = reply["content"].get("user_expressions", {}).get("it", {})
        return str(found.get("data", {}).get("text/plain", ""))


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
