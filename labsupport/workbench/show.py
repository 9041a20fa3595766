"""Pictures in a notebook: a still one, or one that sliders move. One output holds the widget, the picture and a sentence.

A picture is one string: a page of HTML tables from `pictures.base.page`, or an SVG that starts with `<svg`. Which of the
forms a reader gets depends on the place:

- JupyterLab after a run, and Voilà: the live widget.
- JupyterLab opening a saved notebook that it trusts, and nbconvert: the picture with its styles.
- JupyterLab without trust, and pages that strip styles: HTML keeps its tables, their words and their links, which is why a
  table has to read well with every style gone; of an SVG only the sentence is left.
- nbconvert with `--sanitize-html`: an SVG stays; in HTML, pandas' tables too, half of the tags are printed as text. The words
  are there and no stylesheet is, but it is no page to hand out: use `jupyter nbconvert --to html` without that option.

So a picture whose figures matter is a table; a chart whose figures stand in a table or in its sentence may be an SVG.
"""
import re
from collections.abc import Callable
from html import unescape
from typing import Any

import ipywidgets as widgets
from traitlets import Any as AnyValue

from labsupport.errors import LabError
from labsupport.workbench.pictures.base import page
from labsupport.workbench.text import say

Bundle = dict[str, Any]


def sentence_of(picture: str) -> str:
    """The sentence of *picture*: of a page its first paragraph `xp-say`, of an SVG its `aria-label`.

    >>> sentence_of('<div class="xp"><p class="xp-say" role="status"><strong>2</strong> units &amp; a half</p></div>')
    '2 units & a half'

    A picture without one raises ValueError: it would be silent where pictures cannot be seen.
    """
    pattern = r'<svg[^>]*? aria-label="([^"]*)"' if picture.startswith("<svg") else r'<p class="xp-say[^>]*>(.*?)</p>'
    found = re.search(pattern, picture, re.DOTALL)
    if found is None:
        raise ValueError("this picture has no sentence: build it with page(label, sentence, …), or give the svg an aria-label")
    return unescape(re.sub(r"<[^>]*>", "", found[1]))


class Still:
    """A *picture* as a cell's result; where it cannot be drawn, its sentence.

    >>> Still('<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="two units stay"></svg>')
    two units stay
    """

    def __init__(self, picture: str) -> None:
        self.picture = picture
        self.sentence = sentence_of(picture)

    def __repr__(self) -> str:
        return self.sentence

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Bundle:
        mime = "image/svg+xml" if self.picture.startswith("<svg") else "text/html"
        return {mime: self.picture, "text/plain": self.sentence}


class Action(widgets.Button):  # type: ignore[misc]  # ipywidgets has no types
    """A button as a control: its `value` is what the last press gave, and None before the first.

    >>> press = Action(lambda: 3, "Measure", busy="Measuring")
    >>> press.click()
    >>> press.value, press.description, press.disabled
    (3, 'Measure', False)
    """

    value = AnyValue()

    def __init__(self, work: Callable[[], object], words: str, busy: str) -> None:
        super().__init__(description=words)
        self._work, self._words, self._busy = work, words, busy
        self.on_click(self._press)

    def _press(self, button: object) -> None:
        self.disabled, self.description = True, self._busy
        try:
            self.value = self._work()
        finally:
            self.disabled, self.description = False, self._words


class Explorer:
    """A picture drawn again whenever one of its *controls* moves.

    `Explorer(draw, budget=slider)` calls `draw(budget=…)`; `explorer.budget.value = 80` moves the slider, and
    `explorer.still` is what the screen then shows, read back from the widget. One of our own errors raised by *draw*
    becomes a sentence in the picture; any other error is a fault and is raised. Make the controls where the explorer is
    made: then running the cell again leaves one observer.
    """

    def __init__(self, draw: Callable[..., str], **controls: Any) -> None:
        self.draw, self.controls = draw, controls
        self.figure = widgets.HTML()
        self.view = widgets.VBox([_in_one_row([_reachable(control) for control in controls.values()]), self.figure])
        for control in controls.values():
            control.observe(self._show, names="value")
        self._show()

    def _show(self, change: object = None) -> None:
        try:
            self.figure.value = self.draw(**{name: control.value for name, control in self.controls.items()})
        except LabError as error:
            self.figure.value = page(say("picture_failed"), str(error).replace("*", "∗"), alert=True)  # no bold of theirs

    def __getattr__(self, name: str) -> Any:
        controls = self.__dict__.get("controls", {})
        if name not in controls:
            raise AttributeError(f"this explorer has no control {name!r}; it has {', '.join(controls)}")
        return controls[name]

    @property
    def still(self) -> Still:
        """What the screen shows now, as a picture that needs no kernel."""
        return Still(str(self.figure.value))

    def __repr__(self) -> str:
        return repr(self.still)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Bundle:
        view: Bundle = self.view._repr_mimebundle_()
        return view | self.still._repr_mimebundle_()


def _reachable(control: Any) -> Any:
    """*control* with its whole label and its width; a menu between two buttons, for the keyboard.

    In a menu that has the focus, arrows and letters are not its own: JupyterLab takes them for the notebook, moves to another
    cell or inserts one. So Tab passes the menu by and stops at the buttons, where Space goes one entry back or on.
    """
    if hasattr(control.style, "description_width"):
        control.style.description_width = "initial"
    if control.layout.width is None:
        control.layout.width = "480px" if isinstance(control, widgets.IntSlider | widgets.IntRangeSlider) else "auto"
    control.layout.max_width = "100%"
    if not isinstance(control, widgets.Dropdown):
        return control
    control.tabbable = False
    steps = [_step(control, by, sign, say(words, menu=control.description))
             for by, sign, words in ((-1, "‹", "menu_back"), (1, "›", "menu_on"))]
    return widgets.HBox([control, *steps], layout=widgets.Layout(align_items="center"))


def _step(menu: Any, by: int, sign: str, words: str) -> Any:
    """A button that moves *menu* by one entry, and stays where it is at its ends."""
    button = widgets.Button(description=sign, tooltip=words, layout=widgets.Layout(width="28px"))
    button.on_click(lambda _: setattr(menu, "index", min(max(menu.index + by, 0), len(menu.options) - 1)))
    return button


def _in_one_row(controls: list[Any]) -> Any:
    """The *controls* side by side; a narrow window wraps them."""
    return widgets.HBox(controls, layout=widgets.Layout(flex_flow="row wrap", grid_gap="4px 20px", align_items="center"))
