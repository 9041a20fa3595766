"""Lab A1: pick a line, break it, see the verdict."""
import os
from pathlib import Path

import ipywidgets as widgets

from labsupport.miniagent import load_session
from labsupport.workbench.breakage import BREAKAGES, break_line, split_lines
from labsupport.workbench.pictures.base import page
from labsupport.workbench.pictures.line import line_picture
from labsupport.workbench.show import Explorer
from labsupport.workbench.text import say


def line_explorer(path: str | os.PathLike[str]) -> Explorer:
    """A slider for the line of the session file *path* and a menu of breakages: `line`, `breakage`.

    The file is only read. It should be good, and short enough to see; else it raises as load_session does.
    """
    load_session(path)
    lines = split_lines(Path(path).read_bytes())
    line = widgets.IntSlider(1, min=1, max=max(1, len(lines)), description=say("a1_line"), layout={"width": "280px"})
    breakage = widgets.Dropdown(options=[(say(known.words), name) for name, known in BREAKAGES.items()],
                                description=say("a1_breakage"))

    def draw(line: int, breakage: str) -> str:
        if not lines:
            return page(say("a1_label"), say("a1_no_lines"), alert=True)
        return line_picture(break_line(lines, line, breakage))

    return Explorer(draw, line=line, breakage=breakage)
