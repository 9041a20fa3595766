"""Lab B6: step through the requests of a log, each drawn as its parts."""
from collections.abc import Sequence
from functools import cache

import ipywidgets as widgets

from labsupport.sessionlog import SessionEvent
from labsupport.workbench.pictures.whole_request import whole_request_picture
from labsupport.workbench.show import Explorer
from labsupport.workbench.text import say
from labsupport.workbench.whole_requests import WholeRequests


def request_explorer(events: Sequence[SessionEvent], *, show_text: bool = False) -> Explorer:
    """One slider, `request`, over the requests of a log, on its first; contents are drawn with *show_text* only."""
    requests = WholeRequests(events)
    count = max(1, len(requests))
    slider = widgets.IntSlider(1, min=1, max=count, description=say("b6_slider"))
    return Explorer(cache(lambda request: whole_request_picture(requests, request, show_text=show_text)), request=slider)
