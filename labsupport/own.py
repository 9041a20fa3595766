"""Whose data a lab works on: the workbook's, or those of one student of a class, whose ids, numbers and faults differ.

A file `.student` in the working folder, or in the nearest folder above, names a student's seed and the folder of their data.
It is read once, when a kernel starts; the seed is 0 where there is none, and everything is then as in the book.
"""
import json
import os
from pathlib import Path
from random import Random

from labsupport.errors import LabError

FILE = ".student"
WORKBOOK = Path(__file__).resolve().parents[1] / "data"
LETTERS = "abcdefghjkmnpqrstuvwxyz"  # without those that look like digits


def student(folder: Path) -> tuple[int, Path]:
    """The seed and the data of the student whose *folder* it is; 0 and the workbook's data where no `.student` is found.

    `.student` holds {"seed": 17, "data": "data"}, the folder seen from where the file is. LabError when it holds anything
    else, or when there is no such folder.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     (Path(folder) / "mine").mkdir()
    ...     written = (Path(folder) / FILE).write_text('{"seed": 17, "data": "mine"}')
    ...     seed, data = student(Path(folder))
    >>> seed, data.name
    (17, 'mine')
    """
    for place in (folder, *folder.parents):
        file = place / FILE
        if os.path.lexists(file):
            try:
                said = json.loads(file.read_text("utf-8-sig"))
                seed, data = said["seed"], (place / said["data"]).resolve()
            except (OSError, ValueError, TypeError, KeyError, RecursionError):
                seed, data = None, place
            if type(seed) is not int or seed < 1:
                raise LabError(f'{file} does not say {{"seed": a whole number from 1 on, "data": a folder}}. '
                               "Get it anew from your instructor, or delete it to work on the workbook's own data.")
            if not data.is_dir():
                raise LabError(f"{file} says that your data are in {data}, and there is no such folder. Unpack what your "
                               "instructor gave you once more, or delete .student to work on the workbook's own data.")
            return seed, data
    return 0, WORKBOOK


def mark(folder: Path, seed: int, data: str | Path) -> None:
    """Say in *folder* whose it is: the seed, and where the *data* are, seen from there."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE).write_text(json.dumps({"seed": seed, "data": str(data)}) + "\n", "utf-8")


def _here() -> tuple[int, Path]:
    try:
        return student(Path.cwd())
    except FileNotFoundError:  # the working folder was removed
        return 0, WORKBOOK


SEED, DATA = _here()


def own_seed(usual: int, seed: int = SEED) -> int:
    """A seed for a generator: *usual* in the book, another for each student.

    >>> own_seed(34, seed=0), own_seed(34, seed=17) != own_seed(34, seed=18)
    (34, True)
    """
    return usual if seed == 0 else own_random(f"seed {usual}", seed).randrange(1, 2**31)


def own_id(name: str, seed: int = SEED) -> str:
    """The id *name* as it is in the book; for a student it goes on with three letters, and ids that differ stay different.

    >>> own_id("call_1", seed=0), own_id("call_1", seed=17)
    ('call_1', 'call_1bnk')
    """
    return name if seed == 0 else name + "".join(own_random(f"id {name}", seed).choices(LETTERS, k=3))


def own_number(usual: int, spread: int, seed: int = SEED) -> int:
    """*usual* in the book; for a student a number that differs from it by *spread* at the most.

    >>> own_number(120, 20, seed=0), abs(own_number(120, 20, seed=17) - 120) <= 20
    (120, True)
    """
    return usual if seed == 0 else usual + own_random(f"number {usual} {spread}", seed).randint(-spread, spread)


def own_random(what: str, seed: int = SEED) -> Random:
    """A generator for the choice called *what*: the same for the same student.

    >>> own_random("cut", seed=17).random() == own_random("cut", seed=17).random()
    True
    """
    return Random(f"{seed} {what}")
