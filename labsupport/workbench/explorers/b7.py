"""Lab B7: where a process is killed, under which policy, and what that costs on this disk."""
import ipywidgets as widgets

from labsupport.workbench.flush_measure import Measured, measure
from labsupport.workbench.flush_runs import all_runs
from labsupport.workbench.log_views import LogViews
from labsupport.workbench.pictures.flush import NAMES, NOT_MEASURED, flush_picture, policy_words
from labsupport.workbench.show import Action, Explorer
from labsupport.workbench.store_trials import STORES
from labsupport.workbench.text import say


def flush_explorer() -> Explorer:
    """A slider `killed`, menus `policy` and `store`, and a button `measure`, without which nothing is timed.

    What was measured is kept for each store until the cell is run again.
    """
    runs = all_runs()
    views, last = LogViews(runs[0].events), len(runs[0].events)
    slider = widgets.SelectionSlider(options=[(_moment(at), at) for at in runs[0].moments], value=last * 3 // 4,
                                     description=say("b7_killed"), layout={"width": "400px"})
    policy = widgets.Dropdown(options=[(policy_words(name), name) for name in NAMES], value="on_barriers",
                              description=say("b7_policy"))
    store = widgets.Dropdown(options=STORES, description=say("b7_store"))
    button = Action(lambda: {**(button.value or {}), store.value: measure(store.value)}, say("b7_measure"), say("b7_measuring"))

    def draw(killed: float, policy: str, store: str, measure: dict[str, Measured] | None) -> str:
        return flush_picture(runs, views, killed, policy, store, (measure or {}).get(store, NOT_MEASURED))

    return Explorer(draw, killed=slider, policy=policy, store=store, measure=button)


def _moment(killed: float) -> str:
    """As the slider shows it: how many events were appended, and the sign for a tool that runs."""
    return f"{int(killed)}" if killed == int(killed) else f"{int(killed)} ▸"
