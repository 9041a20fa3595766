"""Lab A3: step through the requests that the model saw, beside the file."""
import ipywidgets as widgets

from labsupport.errors import LabError
from labsupport.workbench.pictures.requests import requests_picture
from labsupport.workbench.show import Explorer
from labsupport.workbench.text import say
from labsupport.workbench.witness import Watched


def requests_explorer(watched: Watched, *, show_text: bool = False) -> Explorer:
    """One slider over the requests of *watched*, on its first request; contents are drawn with *show_text* only.

    LabError when the model was never asked: there is nothing to step through.
    """
    if not watched.seen:
        raise LabError("the model was never asked, so there is no request to step through: watch a talk with a question in it")
    slider = widgets.IntSlider(1, min=1, max=len(watched.seen), description=say("a3_slider"))
    return Explorer(lambda request: requests_picture(watched, request, show_text=show_text), request=slider)
