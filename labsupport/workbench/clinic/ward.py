"""Cases with their complaints: those of the explorer, and those of the exercise."""
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from random import Random

from labsupport.workbench.clinic.cases import Case
from labsupport.workbench.clinic.clues import PLACES
from labsupport.workbench.clinic.faults import FAULTS, ROWS, make_case

SEEDS = 5
"""As many good cases are recorded for the explorer, whose patients share them."""

BYSTANDERS = 2
"""As many cases of the exercise have a second cause, which does not explain the complaint."""


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
    """Nine patients, one of each row, in an order and with causes by chance, and one with a complaint for which there is no
    evidence; the same for the same *seed*.

    >>> [patient.has for patient in waiting_room(3) if len(patient.has) != 1]
    [('history-only', 'cache-missing'), ('scope-changed', 'client-schema'), ()]

    Some of the nine have a second cause as well, of another row and found before their own.
    """
    random = Random(seed)
    rows: Sequence[int] = random.sample(ROWS, len(ROWS))
    causes = [random.choice([name for name, fault in FAULTS.items() if fault.row == row]) for row in rows]
    has: list[tuple[str, ...]] = [(cause,) for cause in causes]
    for at in random.sample([at for at, cause in enumerate(causes) if _before(cause)], BYSTANDERS):
        has[at] = (random.choice(_before(causes[at])), causes[at])
    found = [*zip(rows, has, strict=True), (random.choice(ROWS), ())]
    return [Patient(number, row, has, 100 * (seed + 1) + number) for number, (row, has) in enumerate(found, start=1)]


def _before(cause: str) -> list[str]:
    """The causes of other rows that are found in an earlier place than *cause*."""
    own = FAULTS[cause]
    return [name for name, fault in FAULTS.items()
            if fault.row != own.row and PLACES.index(fault.place) < PLACES.index(own.place)]
