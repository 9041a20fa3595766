"""Lab B8: fork a session behind any of its events, and see the child, or why there is none."""
from functools import cache

import ipywidgets as widgets

from labsupport.errors import ForkError
from labsupport.sessionlog import Session, fork
from labsupport.sessionlog.lineage import boundaries
from labsupport.workbench.log_views import LogViews
from labsupport.workbench.pictures.fork import Outcome, fork_picture
from labsupport.workbench.show import Explorer
from labsupport.workbench.text import say


def fork_explorer(session: Session, *, show_text: bool = False) -> Explorer:
    """One slider, `boundary`, over the events of *session*, on the last of them; at every place it is really forked."""
    views, legal = LogViews(session.events), frozenset(boundaries(session.events))
    last = max(0, len(views.events) - 1)

    @cache
    def draw(boundary: int) -> str:
        return fork_picture(views, legal, session.header, boundary, _forked(session, boundary), show_text)

    return Explorer(draw, boundary=widgets.IntSlider(last, min=0, max=last, description=say("b8_slider")))


def _forked(session: Session, boundary: int) -> Outcome:
    try:
        return fork(session, boundary)
    except ForkError as error:
        return error
