"""The budget slider of lab A2."""
from collections.abc import Mapping, Sequence
from functools import cache

import ipywidgets as widgets

from labsupport.errors import ContextSerializationError, LabError
from labsupport.miniagent import Message
from labsupport.miniagent.units import Rule
from labsupport.workbench.pictures.budget import Measured, budget_picture, slider_end, slider_step
from labsupport.workbench.show import Explorer
from labsupport.workbench.text import say


def budget_explorer(histories: Mapping[str, Sequence[Message]], show_text: bool = False) -> Explorer:
    """Move a budget over one of *histories* (name → messages), under either rule, the first user message pinned or not.

    Its controls are `history`, `budget`, `rule` and `pin`. The slider ends where the whole history fits, and stands in the
    middle when another history is chosen. LabError without a history.
    """
    if not histories:
        raise LabError('there is no history to show: give at least one, {"a name": messages}')
    measured = cache(lambda name: Measured(histories[name]))  # a history is counted when it is first chosen
    names = list(histories)
    history = widgets.Dropdown(options=names, value=names[0], description=say("a2_history"))
    budget = widgets.IntSlider(min=10, max=100, step=10, description=say("a2_budget"), readout_format=",d",
                               layout={"height": "28px"})
    rules = [(say("a2_rule_closed"), "closed"), (say("a2_rule_chapter"), "chapter")]
    rule = widgets.Dropdown(options=rules, value="closed", description=say("a2_rule"))
    pin = widgets.Checkbox(False, description=say("a2_pin"), indent=False)

    def fit_slider(change: object = None) -> None:
        try:
            end = slider_end(sum(measured(history.value).costs))
        except ContextSerializationError:
            end = slider_end(0)  # the picture says which message has no length
        step = slider_step(end)
        # All of it in one message, on the steps, and the scale before the value: the browser takes a message key by key, and
        # answers a value that is not on the scale it has by then with one that is, which would arrive last.
        with budget.hold_sync():
            budget.min = 1  # below every end, so that the two can be set one after the other
            budget.max, budget.min, budget.step = end, step, step
            budget.value = end // step // 2 * step
            budget.send_state(["max", "min", "step", "value"])  # what hold_sync sends afterwards has no order, and no news
        # The browser's slider goes on using the scale that it was made with for the keys Home and End. Turning it makes it
        # anew; its fixed height keeps the page still meanwhile.
        budget.orientation = "vertical"
        budget.orientation = "horizontal"

    def draw(history: str, budget: int, rule: Rule, pin: bool) -> str:
        return budget_picture(measured(history), budget, rule, pin, show_text)

    fit_slider()
    history.observe(fit_slider, names="value")  # before the explorer's own, which then draws with the new budget
    return Explorer(draw, history=history, budget=budget, rule=rule, pin=pin)
