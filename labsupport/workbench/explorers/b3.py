"""Lab B3: one watermark, and several views as of it."""
from collections.abc import Iterable, Sequence

import ipywidgets as widgets

from labsupport.sessionlog import SessionEvent, Unit, session_stats, surface_tokens, tool_pairing, turn_status
from labsupport.workbench.log_views import LogViews
from labsupport.workbench.pictures.watermarks import watermarks_picture
from labsupport.workbench.show import Explorer
from labsupport.workbench.text import say
from labsupport.workbench.watermarks import UnitViews

UNITS = (turn_status, tool_pairing, session_stats, surface_tokens)


def watermark_explorer(events: Sequence[SessionEvent], units: Iterable[Unit] = UNITS, *, show_text: bool = False) -> Explorer:
    """One slider, `seq`, over the *events* of a log, with the views of *units* as of it; your own units too."""
    log, views, last = LogViews(events), UnitViews(units, events), max(0, len(events) - 1)
    slider = widgets.IntSlider(last, min=0, max=last, description=say("b3_slider"))
    return Explorer(lambda seq: watermarks_picture(log, views, seq, show_text=show_text), seq=slider)
