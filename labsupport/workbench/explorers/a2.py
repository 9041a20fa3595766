"""The budget slider of lab A2."""
from collections.abc import Mapping, Sequence
from functools import cache

import ipywidgets as widgets

from labsupport.miniagent import Message
from labsupport.miniagent.units import Rule
from labsupport.workbench.pictures.budget import Measured, budget_picture, slider_end
from labsupport.workbench.show import Explorer
from labsupport.workbench.text import say


def budget_explorer(histories: Mapping[str, Sequence[Message]], show_text: bool = False) -> Explorer:
    """Move a budget over one of *histories* (name → messages), under either rule, with or without the first request pinned.

    Its controls are `history`, `budget`, `rule` and `pin`. The slider ends where the whole history fits, and stands in the
    middle when another history is chosen.
    """
    measured = cache(lambda name: Measured(histories[name]))  # a history is counted when it is first chosen
    names = list(histories)
    history = widgets.Dropdown(options=names, value=names[0], description=say("a2_history"))
    budget = widgets.IntSlider(min=10, max=100, step=10, description=say("a2_budget"), readout_format=",d")
    rules = [(say("a2_rule_closed"), "closed"), (say("a2_rule_chapter"), "chapter")]
    rule = widgets.Dropdown(options=rules, value="closed", description=say("a2_rule"))
    pin = widgets.Checkbox(False, description=say("a2_pin"), indent=False)

    def fit_slider(change: object = None) -> None:
        # First the end, then the value, all of them tens: a slider in the browser answers a value that is not on its scale
        # with one that is, and that answer would arrive last.
        budget.max = slider_end(sum(measured(history.value).costs))
        budget.value = budget.max // 20 * 10

    def draw(history: str, budget: int, rule: Rule, pin: bool) -> str:
        return budget_picture(measured(history), budget, rule, pin, show_text)

    fit_slider()
    history.observe(fit_slider, names="value")  # before the explorer's own, which then draws with the new budget
    return Explorer(draw, history=history, budget=budget, rule=rule, pin=pin)
