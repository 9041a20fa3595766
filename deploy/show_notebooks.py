"""One small notebook a lab, for teaching from the front: its question and its explorers. The code they need runs unseen."""
import dis
import re
from pathlib import Path
from types import CodeType

import nbformat

from labsupport.workbench.labs import LABS
from labsupport.workbench.text import Language
from notebooks import build

SHOWN = [lab for lab in LABS if lab.id != "00"]  # the slider of the start page only tests the installation
HIDDEN = "hidden"  # the tag of a cell that runs and is not shown
MINUTES = re.compile(r"^\d+ (分钟。|minutes?\. )")
FOLDED = re.compile(r"(?s)\n*<details>.*?</details>")
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
NOT_HERE = re.compile(r"下一格|单元格|\bcells?\b|Run All|labsupport/")  # there are no cells and no code in sight
SENTENCE = re.compile(r"(?s).+?(?:[。！？]+|[.!?](?=\s|$)|$)\s*")


def explorer_of(cell: nbformat.NotebookNode) -> str:
    """The name of the explorer that the code *cell* shows, or ""."""
    last = cell.source.rstrip().rpartition("\n")[2] if cell.cell_type == "code" else ""
    return last if re.fullmatch(r"\w*explorer", last) else ""


def prose(text: str) -> str:
    """*text* for a class: without what is folded, where links lead, and sentences about cells and code.

    >>> prose("Move it. Move it before you run the next cell.\\n\\nSee [B2](b2.ipynb).\\n\\n<details>no</details>")
    'Move it.\\n\\nSee B2.'
    """
    parts = []
    for part in FOLDED.sub("", LINK.sub(r"\1", text)).split("\n\n"):
        parts.append("".join(one for one in SENTENCE.findall(part) if not NOT_HERE.search(one)).strip())
    return "\n\n".join(filter(None, parts))


def section(cells: list[nbformat.NotebookNode]) -> str:
    """The nearest `##` heading of *cells* and the prose below it that comes after the last code."""
    found: list[str] = []
    for place, cell in reversed(list(enumerate(cells))):
        head, heading, rest = cell.source.rpartition("## ") if cell.cell_type == "markdown" else ("", "", "")
        if heading and not head.endswith("#"):
            after = [cell.cell_type for cell in cells[place:]]
            line, _, below = rest.partition("\n")
            return prose("\n\n".join([f"## {line}", *([] if "code" in after else [below.strip()]), *reversed(found)]))
        if cell.cell_type == "markdown" and all(later.cell_type == "markdown" for later in cells[place:]):
            found.append(cell.source)
    raise ValueError("there is no heading above this explorer")


def names_of(code: str | CodeType) -> tuple[set[str], set[str]]:
    """The global names that *code* makes, and those it reads without having made them itself.

    >>> makes, reads = names_of("log = load(log); print([one.seq for one in log])")
    >>> sorted(makes), sorted(reads)
    (['log'], ['load', 'log', 'print'])
    """
    made, read = set(), set()
    block = compile(code, "cell", "exec") if isinstance(code, str) else code
    for step in dis.get_instructions(block):
        if step.opname == "STORE_NAME":
            made.add(step.argval)
        elif step.opname in ("LOAD_NAME", "LOAD_GLOBAL") and step.argval not in made:
            read.add(step.argval)
        elif isinstance(step.argval, CodeType):  # of a function or a comprehension, which makes no global names
            read |= names_of(step.argval)[1] - made
    return made, read


def needed(cells: list[nbformat.NotebookNode], explorer: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    """Those code *cells* that *explorer* needs: the last that makes a name it reads, and any that goes to a scratch folder.

    With all cells above it, a class would wait for the laws of a lab, on which the picture does not depend. A cell that only
    changes an object is not found; a test compares the picture with the one that is saved in the lab.
    """
    wanted, kept = names_of(explorer.source)[1], []
    for cell in reversed(cells):
        made, read = names_of(cell.source)
        if made & wanted or "scratch" in made | read:
            wanted = wanted - made | read
            kept.insert(0, cell)
    return kept


def notebook(source: Path, lang: Language) -> nbformat.NotebookNode:
    """What is shown of the lab *source*: nothing that is an exercise, and nothing that checks one."""
    lab = next(lab for lab in SHOWN if lab.name == source.stem)
    cells = [cell for cell in build.notebook(source, lang, "learner").cells if "nbgrader" not in cell.metadata]
    title, question = next(cell.source for cell in cells if cell.source.startswith("# ")).split("\n\n")[:2]
    title = title.removeprefix("# ")
    nb = nbformat.v4.new_notebook(metadata={**build.METADATA, "title": f"{lab.id} {title}"})
    nb.cells.append(nbformat.v4.new_markdown_cell(f"# {lab.id} {title}\n\n{prose(MINUTES.sub('', question))}", id="question"))
    for place, explorer in enumerate(cells):
        if not explorer_of(explorer):
            continue
        nb.cells.append(nbformat.v4.new_markdown_cell(section(cells[:place]), id=f"{explorer.id}-question"))
        here = {cell.id for cell in nb.cells}
        for cell in needed([cell for cell in cells[:place] if cell.cell_type == "code"], explorer):
            if cell.id not in here:
                tags = [HIDDEN, *cell.metadata.get("tags", ())]
                nb.cells.append(nbformat.v4.new_code_cell(cell.source, id=cell.id, metadata={"tags": tags}))
        nb.cells.append(nbformat.v4.new_code_cell(explorer.source, id=explorer.id))
    return nb


def make(out: Path, lang: Language) -> list[Path]:
    """Write the notebooks of all labs that have an explorer into *out*, with the language beside them; their paths."""
    out.mkdir(parents=True, exist_ok=True)
    (out / ".lang").write_text(f"{lang}\n", "utf-8", newline="\n")
    made = []
    for lab in SHOWN:
        nb = notebook(build.SOURCES / f"{lab.name}.py", lang)
        if any(map(explorer_of, nb.cells)):
            made.append(out / f"{lab.name}.ipynb")
            made[-1].write_text(nbformat.writes(nb) + "\n", "utf-8", newline="\n")
    for path in set(out.glob("*.ipynb")) - set(made):  # of a lab that is no more
        path.unlink()
    return made
