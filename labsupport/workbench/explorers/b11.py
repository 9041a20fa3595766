"""Lab B11: pick a case, ask for its evidence place by place, and see which causes are left."""
from functools import cache

import ipywidgets as widgets

from labsupport.workbench.clinic import PLACES, diagnose
from labsupport.workbench.clinic.ward import every_cause
from labsupport.workbench.clinic_words import complaint
from labsupport.workbench.pictures.clinic import clinic_picture
from labsupport.workbench.show import Explorer
from labsupport.workbench.text import say


def clinic_explorer() -> Explorer:
    """A menu, `patient`, of one case for each cause, one with two and one without any; and a slider, `asked`, over the places
    in the chapter's order, on none."""
    patients = {patient.number: patient for patient in every_cause()}
    found = cache(lambda number: diagnose(patients[number].case))
    options = [(say("b11_menu_case", number=number, complaint=complaint(patient.row)), number)
               for number, patient in patients.items()]
    return Explorer(
        lambda patient, asked: clinic_picture(patients[patient], found(patient), asked),
        patient=widgets.Dropdown(options=options, value=1, description=say("b11_menu")),
        asked=widgets.IntSlider(0, min=0, max=len(PLACES), description=say("b11_slider")))
