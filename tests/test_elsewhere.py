"""A learner's function in a new process: made anew from its cell, with nothing that was only in memory."""
import linecache
import os
from itertools import count
from pathlib import Path

import pytest

from labsupport.errors import LabError
from labsupport.workbench.checks.base import refusal
from labsupport.workbench.elsewhere import call_elsewhere, packed

CELLS = count()


def cell(source, name="f", known=True, **others):
    """What the cell *source* defines as *name*, in a notebook that has *others* as well; *known* says whether its text is."""
    file = f"<cell {next(CELLS)}>"
    if known:
        linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    others["__name__"] = "__main__"
    exec(compile(source, file, "exec"), others)
    return others[name]


def answer(function, *arguments):
    return function(*arguments)


def there(function, *arguments, folder, hash_seed=1, days=0):
    return call_elsewhere(answer, function, *arguments, folder=folder, hash_seed=hash_seed, days=days)


@pytest.mark.parametrize("source", [
    pytest.param("def f(x):\n    return x + 1", id="def"),
    pytest.param("f = lambda x, by=1: x + by", id="lambda"),
    pytest.param("import math\ndef f(x):\n    return math.floor(x + 1.5)", id="module"),
    pytest.param("from math import floor as low\ndef f(x):\n    return low(x + 1.5)", id="name of a module"),
    pytest.param("BY = 1\ndef plus(x):\n    return x + BY\ndef f(x):\n    return [plus(y) for y in [x]][0]", id="helper"),
    pytest.param("def even(x):\n    return x if x == 8 else odd(x + 1)\ndef odd(x):\n    return even(x)\ndef f(x):\n"
                 "    return even(x)", id="helpers of each other"),
    pytest.param("def plus(by):\n    def add(x):\n        return x + by\n    return add\nf = plus(1)", id="closure"),
    pytest.param("from datetime import date\ndef f(x):\n    return x + 1 if date.today() else x", id="date"),
    pytest.param("def f(x):\n    print('not the answer')\n    return x + 1", id="prints"),
])
@pytest.mark.parametrize("known", [True, False])
def test_the_function_does_there_what_it_does_here(tmp_path, source, known):
    assert there(cell(source, known=known), 7, folder=tmp_path) == 8


@pytest.mark.parametrize("source", [
    pytest.param("from functools import partial\ndef plus(by, x):\n    return x + by\nf = partial(plus, 1)", id="partial"),
    pytest.param("class Plus:\n    def __call__(self, x):\n        return x + 1\nf = Plus()", id="instance"),
    pytest.param("from functools import wraps\ndef twice(g):\n    @wraps(g)\n    def inner(x):\n        return g(g(x))\n"
                 "    return inner\n@twice\ndef f(x):\n    return x + 0.5", id="decorated"),
    pytest.param("from threading import Lock\nLOCK = Lock()\ndef f(x):\n    with LOCK:\n        return x + 1", id="lock"),
])
def test_what_cannot_be_carried_is_made_anew_from_its_cell(tmp_path, source):
    assert there(cell(source), 7, folder=tmp_path) == 8


def test_its_own_name_comes_before_that_of_a_loop():
    source = "each = None\ndef f(x):\n    return x + 1\nfor each in (f,):\n    each(1)\n"
    name, steps = packed(cell(source))
    assert (name, [made for _, made, _ in steps]) == ("f", ["f"])


def test_what_another_cell_defines_goes_along(tmp_path):
    plus = cell("def plus(x):\n    return x + BY\n", name="plus", BY=1)
    source = "def f(x):\n    return plus(x) + len(WORDS)\n"
    scope = plus.__globals__
    scope["WORDS"] = ["one"]
    exec(compile(source, "<later>", "exec"), scope)
    assert there(scope["f"], 7, folder=tmp_path) == 9


@pytest.mark.parametrize("source", [
    pytest.param("from uuid import uuid4\nRUN = uuid4().hex\ndef f():\n    return RUN", id="at the top"),
    pytest.param("from uuid import uuid4\nKEYS = {}\ndef f():\n    return KEYS.setdefault(1, uuid4().hex)", id="in a dict"),
    pytest.param("from uuid import uuid4\ndef f(keys={}):\n    return keys.setdefault(1, uuid4().hex)", id="in a default"),
    pytest.param("import os\ndef f():\n    return os.getpid()", id="the process"),
])
def test_what_was_only_in_memory_is_not_there(tmp_path, source):
    function = cell(source)
    here = function()
    assert function() == here
    assert there(function, folder=tmp_path) != here


def test_hash_begins_from_another_seed(tmp_path):
    function = cell("def f(x):\n    return hash(x)")
    one, two, again = (there(function, "INV-7", folder=tmp_path, hash_seed=seed) for seed in (1, 2, 1))
    assert one == again != two


@pytest.mark.parametrize("now", [
    "time.time()", "time.time_ns() / 1e9", "time.mktime(time.localtime())", "datetime.now().timestamp()",
    "datetime.now(timezone.utc).timestamp()", "datetime.today().timestamp()",
    "datetime.combine(date.today(), datetime.min.time()).timestamp()",
    "time.mktime(time.strptime(time.strftime('%Y-%m-%d'), '%Y-%m-%d'))"])
def test_its_wall_clock_is_ahead(tmp_path, now):
    function = cell(f"import time\nfrom datetime import date, datetime, timezone\ndef f():\n    return {now}\n")
    here = function()
    assert 8.4 < (there(function, folder=tmp_path, days=9) - here) / 86_400 < 10.1  # a day may begin or change its length


def test_it_works_in_the_folder(tmp_path):
    assert there(cell("import os\ndef f():\n    return os.getcwd()"), folder=tmp_path) == os.path.realpath(tmp_path)


def test_a_name_that_did_not_come_along_is_missing_when_it_is_called(tmp_path):
    with Path(__file__).open(encoding="utf-8") as stream:
        function = cell("def f():\n    return STREAM", known=False, STREAM=stream)
        assert call_elsewhere(refusal, function, folder=tmp_path, hash_seed=1) == "NameError"


def test_what_no_process_can_make_is_refused(tmp_path):
    with pytest.raises(LabError, match="def"):
        there(len, "abc", folder=tmp_path)


def test_a_process_that_ends_before_it_answers_is_no_answer(tmp_path):
    with pytest.raises(LabError, match="code 3"):
        there(cell("import os\ndef f():\n    os._exit(3)"), folder=tmp_path)
