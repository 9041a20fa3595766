"""A learner's function in a new process, as after a restart: what its own process keeps in memory stays behind.

    python -m labsupport.workbench.elsewhere     the new process, which reads from stdin what to do

A function of a notebook is in no module that another process could import. So the statements that it needs are taken from its
cell and run anew; where their source is not known, its compiled code goes over.
"""
import ast
import builtins
import datetime
import inspect
import linecache
import marshal
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dis import get_instructions
from functools import partial
from importlib import import_module
from pathlib import Path
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

import labsupport
from labsupport.errors import LabError
from labsupport.workbench.child import PATIENCE

CELL = "notebook_cell"
"""The module in which the function is made anew."""


def call_elsewhere(job: Callable[..., Any], function: Callable[..., Any], *arguments: Any, folder: str | Path, hash_seed: int,
                   days: int = 0) -> Any:
    """What *job*, a function of a module, gives for *function* and *arguments* in a new process, which works in *folder*.

    Its hash() begins from *hash_seed*, and its wall clock is *days* ahead. Arguments and answer are pickled. What is missing
    there is a NameError when *function* is called. LabError for a function that cannot be taken along, and for a process that
    ends before it answers.
    """
    paths = [str(Path(labsupport.__path__[0]).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONHASHSEED": str(hash_seed)}
    try:
        done = subprocess.run([sys.executable, "-m", __name__], env=environment, cwd=folder, capture_output=True,
                              input=pickle.dumps((job, packed(function), arguments, days)), timeout=PATIENCE, check=True)
    except subprocess.TimeoutExpired:
        raise LabError(f"the new process gave no answer for {PATIENCE} seconds") from None
    except subprocess.CalledProcessError as error:
        raise LabError(f"the new process ended with code {error.returncode}, before it answered") from None
    return pickle.loads(done.stdout)


# What goes along

Step = tuple[str, str, bytes]
"""How a name comes to be: "run" its statement, import the "module", load the "value", or make the "function" of its code."""


def packed(function: Callable[..., Any]) -> tuple[str, list[Step]]:
    """The name of *function*, and the steps that make it anew, what it needs first. What cannot go along is left out."""
    root = inspect.unwrap(function.func if isinstance(function, partial) else function)
    inner = root if isinstance(root, FunctionType) else type(root).__call__
    if not isinstance(inner, FunctionType):
        raise LabError("a new process cannot make this function; define it with def")
    scope, called = inner.__globals__, getattr(function, "__name__", "")  # its own name first: a loop may have given it others
    name = called if scope.get(called) is function else next((name for name, value in scope.items() if value is function), None)
    steps: list[Step] = []
    seen: set[str] = set()

    def take(code: CodeType) -> None:
        for other in _reads(code):
            if other in scope and other not in seen:
                seen.add(other)
                bring(other, scope[other])

    def bring(name: str, value: Any) -> None:
        own = isinstance(value, FunctionType) and value.__globals__ is scope
        made = [code for code in _statements((value if own else inner).__code__.co_filename) if name in _binds(code)]
        for code in made:
            take(code)
            steps.append(("run", name, marshal.dumps(code)))
        if made:
            return
        if isinstance(value, ModuleType):
            steps.append(("module", name, value.__name__.encode()))
        elif own:
            take(value.__code__)
            inside = [cell.cell_contents for cell in value.__closure__ or ()]
            steps.append(("function", name, _pickled(
                (marshal.dumps(value.__code__), value.__defaults__, value.__kwdefaults__, inside))))
        else:
            steps.append(("value", name, _pickled(value)))

    seen.add(name or "function")
    bring(name or "function", function)
    return name or "function", steps


def _pickled(value: Any) -> bytes:
    try:
        return pickle.dumps(value)
    except Exception:  # noqa: BLE001  whatever refuses to be written is missing in the new process
        return b""


def _statements(file: str) -> Iterator[CodeType]:
    """The statements of a cell, or of a file, each compiled by itself; none where its text is not known."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return
    for statement in tree.body:
        yield compile(ast.Module([statement], []), file, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)


def _binds(code: CodeType) -> set[str]:
    return {step.argval for step in get_instructions(code) if step.opname == "STORE_NAME"}


def _reads(code: CodeType) -> Iterator[str]:
    """The global names that *code* looks up, and all code inside it."""
    for step in get_instructions(code):
        if step.opname.startswith("LOAD") and ("GLOBAL" in step.opname or "NAME" in step.opname):
            yield step.argval
    for inside in code.co_consts:
        if isinstance(inside, CodeType):
            yield from _reads(inside)


# In the new process

def opened(name: str, steps: list[Step]) -> Any:
    """The function *name*, made anew by *steps*."""
    module = sys.modules[CELL] = ModuleType(CELL)
    scope = vars(module)
    scope["__builtins__"] = builtins  # which exec would put there, and a function made of its code would not
    for kind, made, data in steps:
        try:
            if kind == "run":
                exec(marshal.loads(data), scope)
            elif kind == "module":
                scope[made] = import_module(data.decode())
            elif kind == "value":
                scope[made] = pickle.loads(data)
            else:
                scope[made] = _function(data, scope)
        except (EOFError, AttributeError, ImportError):
            continue  # it did not come along; whoever looks for it gets a NameError
    return scope[name] if name in scope else _missing(name)


def _function(data: bytes, scope: dict[str, Any]) -> FunctionType:
    code, defaults, by_name, inside = pickle.loads(data)
    made = FunctionType(marshal.loads(code), scope, None, defaults, tuple(map(CellType, inside)))
    made.__kwdefaults__ = by_name
    return made


def _missing(name: str) -> Any:
    raise NameError(f"name '{name}' is not defined")


def set_ahead(days: int) -> None:
    """Let the wall clock of this process be *days* ahead, for whoever looks at it from now on."""
    real, local, world, form = time.time, time.localtime, time.gmtime, time.strftime

    def ahead() -> float:
        return real() + days * 86_400

    class DateTime(datetime.datetime):
        """Today comes from time.time, but now does not."""

        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> Any:
            return cls.fromtimestamp(ahead(), tz)

        @classmethod
        def utcnow(cls) -> Any:
            return cls.now(datetime.UTC).replace(tzinfo=None)

    patched: dict[Any, dict[str, Any]] = {
        time: {"time": ahead, "time_ns": lambda: int(ahead() * 1e9),
               "localtime": lambda at=None: local(ahead() if at is None else at),
               "gmtime": lambda at=None: world(ahead() if at is None else at),
               "strftime": lambda how, at=None: form(how, local(ahead()) if at is None else at)},
        datetime: {"datetime": DateTime}}
    for module, names in patched.items():
        for name, value in names.items():
            setattr(module, name, value)


def main() -> None:
    """Do the job, and say what came of it; what the function prints goes another way."""
    answer = os.dup(1)
    os.dup2(2, 1)
    job, (name, steps), arguments, days = pickle.load(sys.stdin.buffer)
    set_ahead(days)
    with os.fdopen(answer, "wb") as pipe:
        pickle.dump(job(lambda *given: opened(name, steps)(*given), *arguments), pipe)


if __name__ == "__main__":
    main()
