"""What the checks give to the answers and say to them, as JSON on the last line; in a student's folder, with their cases.

    cd FOLDER && python -m tests.classroom.verdicts
"""
import ast
import json
import re
from collections.abc import Mapping, Sequence
from types import FunctionType

from labsupport.sessionlog import SessionEvent
from labsupport.workbench.text import speaking
from tests.notebooks.books import LABS_WITH_EXERCISES
from tests.notebooks.test_answers import cells_of, exercises_of, imports, verdict, wrong_answers


def verdicts():
    """By exercise what its answer is *given*, and what is *said* to all that are recorded."""
    return {"given": {exercise: given(exercise) for exercise in exercises()},
            "said": {exercise: said(exercise) for exercise in exercises()}}


def exercises():
    return [f"{name}/{key}" for name in LABS_WITH_EXERCISES for key in exercises_of(name)]


@speaking("en")
def said(exercise):
    """The key and the sentence that the check says to the answer, to the stub, and to every wrong answer."""
    name, key = exercise.split("/")
    answers = [cells_of(name, edition)[key].source for edition in ("solved", "learner")]
    found = [verdict(name, key, source) for source in (*answers, *(source for source, _ in wrong_answers(name)[key]))]
    return [(one.key, str(one)) for one in found]


@speaking("en")
def given(exercise):
    """The arguments with which the check calls the functions of the answer, written out, call by call."""
    name, key = exercise.split("/")
    cells, namespace, calls = cells_of(name, "solved"), {}, []

    def watched(function):
        def watch(*arguments):
            calls.append([written(argument) for argument in arguments])
            return function(*arguments)

        return watch

    exec(imports(cells), namespace)
    exec(cells[key].source, namespace)
    for step in ast.parse(cells[key].source).body:
        if isinstance(step, ast.FunctionDef):
            namespace[step.name] = watched(namespace[step.name])
    exec(cells_of(name, "learner")[f"{key}-check"].source, namespace)
    return calls


def written(value):
    """*value* as JSON; of a function what it returns, of an object what Python writes, without its address."""
    if isinstance(value, SessionEvent):
        return value.to_json()
    if isinstance(value, FunctionType):
        return written(value())
    if isinstance(value, Mapping):
        return {str(name): written(part) for name, part in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [written(part) for part in value]
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))


if __name__ == "__main__":
    print(json.dumps(verdicts()))
