"""A learner runs a cell twice: it has to give the same again, for what it said the first time was explained beside it."""
import build
import nbformat
import pytest
from nbclient import NotebookClient

from tests.notebooks.books import NAMES, code

pytestmark = pytest.mark.slow
AGAIN = "--again"  # no key of a source has two hyphens in a row


def twice(nb):
    """*nb* with every code cell standing there twice."""
    cells = []
    for cell in nb.cells:
        cells.append(cell)
        if cell.cell_type == "code":
            cells.append(nbformat.from_dict(cell | {"id": cell.id + AGAIN}))
    nb.cells = cells
    return nb


def changed(nb, folder):
    """The keys of the cells that gave other outputs the second time, after a run in *folder*."""
    (folder / ".lang").write_text("en\n", "utf-8")
    NotebookClient(nb, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}}, allow_errors=True,
                   store_widget_state=False, coalesce_streams=True, shutdown_kernel="immediate",
                   extra_arguments=["--log-level=ERROR"]).execute()
    build.portable(nb)
    outputs = {cell.id: [output | {"execution_count": None} for output in cell.outputs] for cell in code(nb)}
    return {key for key in outputs if not key.endswith(AGAIN) and outputs[key] != outputs[key + AGAIN]}


@pytest.mark.parametrize("name", NAMES)
def test_a_cell_gives_the_same_when_it_is_run_again(name, tmp_path):
    assert changed(twice(build.notebook(build.SOURCES / f"{name}.py", "en", "learner")), tmp_path) == set()


def test_a_cell_that_adds_to_what_is_there_is_found(tmp_path):
    cells = [nbformat.v4.new_code_cell(source, id=key) for key, source in
             (("start", "seen = []"), ("same", "print(len(seen))"), ("adds", "seen.append(1)\nprint(len(seen))"))]
    assert changed(twice(nbformat.v4.new_notebook(cells=cells, metadata=build.METADATA)), tmp_path) == {"adds"}
