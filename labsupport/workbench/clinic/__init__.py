"""The clinic: cases in which something is wrong, and the order in which to look (chapter 4, §4.14).

    cases.py     what belongs to a case; good.py: one in which nothing is wrong, from a seed
    faults.py    what can go wrong, by name; draft.py: how a log is changed
    places.py    what stands in the log, places_around.py: around it; diagnose.py: all of it, in order
"""
from labsupport.workbench.clinic.cases import Case
from labsupport.workbench.clinic.clues import PLACES, Clue, Place
from labsupport.workbench.clinic.diagnose import Diagnosis, diagnose, evidence
from labsupport.workbench.clinic.faults import FAULTS, ROWS, Fault, make_case

__all__ = ["FAULTS", "PLACES", "ROWS", "Case", "Clue", "Diagnosis", "Fault", "Place", "diagnose", "evidence", "make_case"]
