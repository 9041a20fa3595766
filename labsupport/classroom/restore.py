"""Making a student's notebook whole again before it is graded: cells that count are there, and nothing else has marks."""
from copy import deepcopy
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_raw_cell
from nbgrader.preprocessors import NbGraderPreprocessor

MAKE = {"code": new_code_cell, "markdown": new_markdown_cell}


class RestoreCells(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader has no types
    """The released notebook with the cells of the student: of each cell only its type and its source are taken.

    nbgrader's marks, tags, outputs and times that were handed in count for nothing. Exercises and checks are known by their
    cell's id, or else by nbgrader's, and get their marks from the release; of copies the last one counts, as it saw everything
    before it. One that was deleted comes back at the end: an exercise as the stub, so it was not started, and its check
    fails, as it did on the student's own screen.
    """

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        whole = released(resources)
        marked = {cell.metadata.nbgrader.grade_id: cell for cell in whole.cells if "nbgrader" in cell.metadata}
        ids = {cell.id: name for name, cell in marked.items()}
        names = [_name(cell, ids) for cell in nb.cells]
        last = {name: at for at, name in enumerate(names) if name is not None}
        cells = [_restored(marked[name], cell) if name is not None and last[name] == at else _plain(cell, at)
                 for at, (cell, name) in enumerate(zip(nb.cells, names, strict=True))]
        whole.cells = cells + [cell for name, cell in marked.items() if name not in last]
        return whole, resources


def released(resources: Any) -> Any:
    """The released notebook of the submission that nbgrader works on; the working folder is the course."""
    names = resources["nbgrader"]
    return nbformat.read(Path("release", names["assignment"], f"{names['notebook']}.ipynb"), as_version=4)


def _name(cell: Any, ids: dict[str, str]) -> str | None:
    """Which exercise or check *cell* is; None for any other."""
    if not isinstance(cell, dict):
        return None
    id, metadata = cell.get("id"), cell.get("metadata")
    marks = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    noted = marks.get("grade_id") if isinstance(marks, dict) else None
    return ids.get(id) if isinstance(id, str) and id in ids else noted if noted in ids.values() else None


def _restored(original: Any, cell: Any) -> Any:
    """The *original* cell, with the student's source where that is the exercise."""
    cell_now = deepcopy(original)
    if original.metadata.nbgrader.solution:
        cell_now.source = _source(cell)
    return cell_now


def _plain(cell: Any, at: int) -> Any:
    kind = cell.get("cell_type") if isinstance(cell, dict) else None
    return MAKE.get(kind if isinstance(kind, str) else "", new_raw_cell)(_source(cell), id=f"cell-{at}")


def _source(cell: Any) -> str:
    source = cell.get("source") if isinstance(cell, dict) else None
    return source if isinstance(source, str) else ""
