"""The log scrubber of labs B1 and B2."""
from collections.abc import Sequence

import ipywidgets as widgets

from labsupport.sessionlog import SessionEvent
from labsupport.workbench.log_views import LogViews
from labsupport.workbench.pictures.scrubber import scrubber_picture
from labsupport.workbench.show import Explorer
from labsupport.workbench.text import say


def scrubber(events: Sequence[SessionEvent], *, show_text: bool = False) -> Explorer:
    """One slider, `seq`, over the *events* of a log, on the last of them; contents are drawn with *show_text* only."""
    views, last = LogViews(events), max(0, len(events) - 1)
    slider = widgets.IntSlider(last, min=0, max=last, description=say("scrub_slider"))
    return Explorer(lambda seq: scrubber_picture(views, seq, show_text=show_text), seq=slider)
