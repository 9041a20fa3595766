"""Lab B4: cut a log at any byte, and see what recovery keeps, adds and refuses to claim."""
from functools import cache

import ipywidgets as widgets

from labsupport.workbench.copies import handle
from labsupport.workbench.cuts import cut_log
from labsupport.workbench.pictures.truncation import truncation_picture
from labsupport.workbench.pictures.truncation_rows import read_whole
from labsupport.workbench.show import Explorer
from labsupport.workbench.text import say


def truncation_explorer(data: bytes, *, show_text: bool = False) -> Explorer:
    """Two sliders over copies of the log *data*: `lines` that are whole, and `bytes` of the next one.

    At every place the copy is really written, inspected and loaded, in a folder that is gone afterwards.
    """
    whole = read_whole(data)
    last = len(whole.lines)
    lines = widgets.IntSlider(last, min=0, max=last, description=say("b4_lines"), layout={"width": "380px"})
    part = widgets.IntSlider(0, min=0, max=1, description=say("b4_next"), layout={"width": "420px"})

    def fit_part(change: object = None) -> None:
        part.value = 0  # first the value, then the scale: what the browser answers is then on the scale
        left = whole.lines[lines.value].stop - whole.lines[lines.value].start if lines.value < last else 0
        part.max = max(1, left - 1)  # a slider needs room; behind the last line it has nothing to move over
        part.disabled = not left

    @cache
    def draw(lines: int, bytes: int) -> str:
        start = whole.lines[lines - 1].stop if lines else 0
        at = min(start + bytes, len(data))
        return truncation_picture(whole, cut_log(data, at), handle(data[:at]), show_text)

    lines.observe(fit_part, names="value")  # before the explorer's own, which then draws with the new scale
    fit_part()
    return Explorer(draw, lines=lines, bytes=part)
