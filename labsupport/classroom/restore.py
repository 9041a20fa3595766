"""Putting back what a student's notebook has lost: cells that count, and nbgrader's marks on them."""
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.preprocessors import NbGraderPreprocessor


class RestoreCells(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader has no types
    """Every exercise and every check of the released notebook is there again; one that was deleted comes back at the end.

    An exercise comes back as the stub, so it was not started, and its check fails, as it did on the student's own screen. A
    cell that kept its id and lost its metadata, as some editors have it, gets the metadata back.
    """

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        names = resources["nbgrader"]
        released = nbformat.read(Path("release", names["assignment"], f"{names['notebook']}.ipynb"), as_version=4)
        marked = {cell.metadata.nbgrader.grade_id: cell for cell in released.cells if "nbgrader" in cell.metadata}
        for cell in nb.cells:
            if "nbgrader" in cell.metadata or cell.cell_type != "code":
                continue
            original = next((one for one in marked.values() if one.id == cell.get("id")), None)
            if original is not None:
                cell.metadata["nbgrader"] = original.metadata.nbgrader
        there = {cell.metadata.get("nbgrader", {}).get("grade_id") for cell in nb.cells}
        nb.cells += [cell for id, cell in marked.items() if id not in there]
        return nb, resources
