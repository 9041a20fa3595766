"""Still and Explorer: one output, three forms."""
import gc

import ipywidgets as widgets
import nbformat
import pytest

from labsupport.errors import ContextBudgetError
from labsupport.workbench.pictures.base import (
    Column,
    css,
    page,
    table,
    td,
    tr,
)
from labsupport.workbench.show import Explorer, Still
from labsupport.workbench.text import speaking

VIEW = "application/vnd.jupyter.widget-view+json"


def draw(budget, rule="closed"):
    if budget < 10:
        raise ContextBudgetError("the newest unit needs 10 characters", budget, 10)
    return page("budget", f"a budget of **{budget}**, {rule}", table([Column("unit", 40)], [tr(td("1"))]))


def explorer():
    return Explorer(draw, budget=widgets.IntSlider(50, description="预算（字符）"),
                    rule=widgets.Dropdown(options=["closed", "chapter"], description="rule"))


# Still

def test_a_page_is_html_beside_its_sentence():
    bundle = Still(draw(50))._repr_mimebundle_()
    assert list(bundle) == ["text/html", "text/plain"]
    assert bundle["text/plain"] == "a budget of 50, closed"


def test_an_svg_is_an_svg_beside_its_label():
    bundle = Still('<svg xmlns="http://www.w3.org/2000/svg" aria-label="2 &lt; 3"></svg>')._repr_mimebundle_()
    assert list(bundle) == ["image/svg+xml", "text/plain"]
    assert bundle["text/plain"] == "2 < 3"


@pytest.mark.parametrize("picture", ["<table></table>", "<svg></svg>", ""])
def test_a_picture_without_a_sentence_is_refused(picture):
    with pytest.raises(ValueError, match="no sentence"):
        Still(picture)


def test_a_strict_export_shows_no_stylesheet():
    """nbconvert with `--sanitize-html` prints the tags it does not know: words and figures are there, the styles are not."""
    exporters = pytest.importorskip("nbconvert")
    cell = nbformat.v4.new_code_cell("x", outputs=[nbformat.v4.new_output("display_data", Still(draw(50))._repr_mimebundle_())])
    nb = nbformat.v4.new_notebook(cells=[cell])
    body = exporters.HTMLExporter(sanitize_html=True).from_notebook_node(nb)[0]
    shown = body[body.index('data-mime-type="text/html"'):]
    assert "--xp-" not in shown
    assert "<strong>50</strong>" in shown
    assert css() in exporters.HTMLExporter().from_notebook_node(nb)[0]


# Explorer

def test_it_shows_widget_picture_and_sentence():
    shown = explorer()
    bundle = shown._repr_mimebundle_()
    assert {VIEW, "text/html", "text/plain"} <= set(bundle)
    assert repr(shown) == bundle["text/plain"] == "a budget of 50, closed"


def test_every_control_moves_the_picture_and_the_still_is_read_from_the_widget():
    shown = explorer()
    shown.budget.value = 80
    shown.rule.value = "chapter"
    assert repr(shown.still) == "a budget of 80, chapter"
    shown.figure.value = page("other", "what the screen shows")
    assert repr(shown.still) == "what the screen shows"


def test_one_of_our_errors_becomes_a_sentence_that_is_read_out():
    shown = explorer()
    height = shown.still.picture.count("\n")
    for lang, word in (("zh", "错误："), ("en", "Error: ")):
        with speaking(lang):
            shown.budget.value = 60
            shown.budget.value = 5
        assert 'role="alert"' in shown.still.picture
        assert repr(shown.still) == f"{word}the newest unit needs 10 characters"
    shown.budget.value = 50
    assert shown.still.picture.count("\n") == height


def test_another_error_is_raised():
    with pytest.raises(ZeroDivisionError):
        Explorer(lambda budget: str(1 // budget), budget=widgets.IntSlider(0))


def test_running_the_cell_again_leaves_one_observer():
    """As a kernel does it: the same source twice in the same namespace; then one move draws once."""
    calls, space = [], {"Explorer": Explorer, "widgets": widgets}
    space["draw"] = lambda budget: calls.append(budget) or draw(50 + budget)
    cell = "explorer = Explorer(draw, budget=widgets.IntSlider(1))"
    for _ in range(3):
        exec(cell, space)
    gc.collect()
    calls.clear()
    space["explorer"].budget.value = 7
    assert calls == [7]


def test_an_unknown_control_is_named_with_those_there_are():
    with pytest.raises(AttributeError, match=r"no control 'bugdet'; it has budget, rule"):
        _ = explorer().bugdet


def test_buttons_step_through_a_menu_and_stay_at_its_ends():
    """In JupyterLab the keys of a focused menu go to the notebook; tests/browser holds that the buttons do not need them."""
    shown = explorer()
    menu, back, on = shown.view.children[0].children[1].children
    assert menu is shown.rule
    assert menu.tabbable is False
    seen = []
    for button in (on, on, back, back):
        button.click()
        seen.append(repr(shown.still).split()[-1])
    assert seen == ["chapter", "chapter", "closed", "closed"]
    assert back.tooltip != on.tooltip


def test_labels_are_not_cut_and_controls_stand_in_one_row():
    shown = explorer()
    row = shown.view.children[0]
    assert row.layout.flex_flow == "row wrap"
    assert [control.style.description_width for control in shown.controls.values()] == ["initial", "initial"]
    assert shown.budget.continuous_update
