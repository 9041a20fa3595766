"""Lab B9: kill the process at any moment of the task, and see what log, query state and ledger each know."""
from functools import cache

import ipywidgets as widgets

from labsupport.workbench.invoice_kills import DONE
from labsupport.workbench.invoice_moments import known, moments
from labsupport.workbench.log_views import LogViews
from labsupport.workbench.pictures.business import business_picture
from labsupport.workbench.show import Explorer
from labsupport.workbench.text import say


def business_explorer(*, show_text: bool = False) -> Explorer:
    """A slider, `moment`, over all moments of the session, on the one where the invoice is out and nobody has heard of it;
    and `with_key`, which says whether `send_invoice` takes a key along. Each moment is opened as a new process would do it."""
    sessions = {with_key: moments(with_key) for with_key in (True, False)}
    views = {with_key: LogViews(session.events) for with_key, (session, _) in sessions.items()}
    found = sessions[True][1]
    start = next(at for at, moment in enumerate(found) if moment.point == DONE)

    @cache
    def draw(moment: int, with_key: bool) -> str:
        return business_picture(views[with_key], known(sessions[with_key][1][moment], with_key), with_key, show_text)

    return Explorer(
        draw, moment=widgets.IntSlider(start, min=0, max=len(found) - 1, description=say("b9_slider")),
        with_key=widgets.Dropdown(options=[(say("b9_with_key"), True), (say("b9_without_key"), False)], value=True,
                                  description=say("b9_tool")))
