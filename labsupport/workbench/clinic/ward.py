"""Cases with their complaints: those of the explorer, and those of the exercise."""
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from random import Random

from labsupport.workbench.clinic.cases import Case
from labsupport.workbench.clinic.faults import FAULTS, ROWS, make_case

SEEDS = 5
"""As many good cases are recorded for the explorer, whose patients share them."""


@dataclass(frozen=True)
class Patient:
    """Case *number*: the complaint is that of *row* of the matrix, None where nobody complains. What it has is not shown."""

    number: int
    row: int | None
    has: tuple[str, ...] = field(repr=False)
    seed: int = field(repr=False)

    @cached_property
    def case(self) -> Case:
        """All that can be asked for."""
        return make_case(self.seed, self.has)


@cache
def every_cause() -> tuple[Patient, ...]:
    """A patient for each cause, one who has two that belong to two rows, and one who has nothing."""
    found: list[tuple[int | None, tuple[str, ...]]] = [(fault.row, (name,)) for name, fault in FAULTS.items()]
    found += [(6, ("operation-lost", "client-behind")), (None, ())]
    return tuple(Patient(number, row, has, number % SEEDS) for number, (row, has) in enumerate(found, start=1))


def waiting_room(seed: int) -> list[Patient]:
    """Nine patients, one of each row, in an order and with causes by chance; the same for the same *seed*.

    >>> sorted(patient.row for patient in waiting_room(3))
    [1, 2, 3, 4, 5, 6, 7, 8, 9]
    """
    random = Random(seed)
    rows: Sequence[int] = random.sample(ROWS, len(ROWS))
    return [Patient(number, row, (random.choice([name for name, fault in FAULTS.items() if fault.row == row]),),
                    100 * (seed + 1) + number) for number, row in enumerate(rows, start=1)]
