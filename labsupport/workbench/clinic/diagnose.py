"""The diagnosis of a case: look in the chapter's order, and name a cause only where a clue proves it (chapter 4, §4.14)."""
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from labsupport.workbench.clinic import places, places_around
from labsupport.workbench.clinic.cases import Case
from labsupport.workbench.clinic.clues import PLACES, Clue, Place

_LOOKS: dict[Place, Callable[[Case], Iterator[Clue]]] = {
    "events": places.events, "surface": places.surface, "prompt": places.prompt, "watermark": places_around.watermark,
    "client": places_around.client, "outside": places_around.outside}


def evidence(case: Case, place: Place) -> list[Clue]:
    """What stands in one *place* of *case*; KeyError for a place that is none of PLACES."""
    return list(_LOOKS[place](case))


@dataclass(frozen=True)
class Diagnosis:
    """All *clues* of a case, in the order in which they were looked for."""

    clues: tuple[Clue, ...]

    @property
    def findings(self) -> tuple[Clue, ...]:
        """The clues that prove a cause, one a cause: the first."""
        first: dict[str, Clue] = {}
        for clue in self.clues:
            if clue.cause:
                first.setdefault(clue.cause, clue)
        return tuple(first.values())

    @property
    def causes(self) -> tuple[str, ...]:
        """The names of the causes that were found."""
        return tuple(clue.cause for clue in self.findings)


def diagnose(case: Case, order: Iterable[Place] = PLACES) -> Diagnosis:
    """Look at every place of *case*, in *order*; what is not proven is not said.

    >>> from labsupport.workbench.clinic import make_case
    >>> [(clue.cause, clue.place) for clue in diagnose(make_case(1, ["rule-lost", "no-flush"])).findings]
    [('no-flush', 'events'), ('rule-lost', 'surface')]
    >>> diagnose(make_case(1)).findings
    ()

    It is not told what the complaint is. A symptom, such as an operation that is in the ledger twice, is a clue and no cause.
    Chapter 4, §4.14.
    """
    return Diagnosis(tuple(clue for place in order for clue in evidence(case, place)))
