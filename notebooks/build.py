"""Build the notebooks of both languages from one source per lab.

    python notebooks/build.py [NAME ...]     the learners' notebooks, run: notebooks/zh and notebooks/en
    python notebooks/build.py --check        say which of them are stale; nothing is run
    python notebooks/build.py --solved OUT   with the solutions in, run: OUT/zh and OUT/en
"""
import argparse
import ast
import asyncio
import json
import os
import re
import sys
from itertools import groupby
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient
from nbformat.validator import iter_validate

from labsupport.workbench.labs import LABS
from labsupport.workbench.text import LANGUAGES, Language, say, speaking

HERE = Path(__file__).resolve().parent
SOURCES = HERE / "sources"
SHAPES = ([("code", None)], [("markdown", "zh"), ("markdown", "en")], [("markdown", None)])
STUB = "pass  # 你的代码 · your code"
SOLUTION = re.compile(r"(?ms)^( *)### BEGIN SOLUTION\n.*?^ *### END SOLUTION$")
HAN = "\u3000-\u303f\u4e00-\u9fff\uff00-\uffef“”"  # what Chinese prose is written with
WRAP = re.compile(rf"(?m)^(?![#|<])(.*[{HAN}])\n(?=[{HAN}])")
HIDDEN = re.compile(r"(?ms)\n?^### BEGIN HIDDEN TESTS\n.*?^### END HIDDEN TESTS$")
MARK = re.compile(r" *### (BEGIN|END) SOLUTION|### (BEGIN|END) HIDDEN TESTS")
LIKE_MARK = re.compile(r"[#＃][\s#＃]*((BEGIN|END)\b|(?i:(begin|end|start|stop)[\W_]*(solution|hidden)"
                       r"|(solution|hidden[\W_]*tests?)[\W_]*(begin|end|start|stop)))")
METADATA = {"kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
            "language_info": {"file_extension": ".py", "mimetype": "text/x-python", "name": "python"}}
VIEW = "application/vnd.jupyter.widget-view+json"
LINKS_FIRST, LINKS_LAST = "links", "links-end"


def load(source: Path) -> list[nbformat.NotebookNode]:
    """The cells of *source*. A key is used once: for a code cell, for prose in zh then en, or for prose in both."""
    try:
        cells, seen = jupytext.reads(source.read_text("utf-8"), fmt="py:percent").cells, {LINKS_FIRST, LINKS_LAST}
    except (OSError, UnicodeDecodeError) as error:
        raise SystemExit(f"{source.name} cannot be read as UTF-8 text: {error}") from None
    for key, group in groupby(cells, lambda cell: cell.metadata.get("title")):
        shape = [(cell.cell_type, cell.metadata.get("lang")) for cell in group]
        if key in seen or shape not in SHAPES or not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", key or ""):
            raise SystemExit(f"{source.name}, cell {key!r}: {shape} is not one code cell, or zh then en, with a key of its own")
        seen.add(key)
    return cells


def links(name: str, lang: Language) -> tuple[str, str]:
    """The links above and below the lab *name*: its twin in the other language, the start page, its neighbours."""
    if name not in [lab.name for lab in LABS]:
        raise SystemExit(f"{name}.py is not in the list of labs: add it to labsupport/workbench/labs.py")
    with speaking(lang):
        first, last = [say("twin", name=name)], []
        if name != LABS[0].name:
            first.append(say("nav_start"))
        place = [lab.name for lab in LABS].index(name)
        for key, near in (("nav_before", place - 1), ("nav_next", place + 1)):
            if 0 <= near < len(LABS):
                lab = LABS[near]
                last.append(say(key, id=lab.id, title=lab.title, name=lab.name))
        return " · ".join(first), " · ".join([*last, *first])


def notebook(source: Path, lang: Language, edition: str) -> nbformat.NotebookNode:
    """The notebook of *source* in *lang*, not run. A cell's key is its id, the same in both languages."""
    nb = nbformat.v4.new_notebook(metadata=METADATA)
    first, last = links(source.stem, lang)
    nb.cells.append(nbformat.v4.new_markdown_cell(first, id=LINKS_FIRST))
    for cell in load(source):
        if cell.metadata.get("lang") not in (None, lang):
            continue
        key, code, points = cell.metadata["title"], cell.source, cell.metadata.get("points")
        for line in code.splitlines():
            if LIKE_MARK.search(line) and not MARK.fullmatch(line):
                raise SystemExit(f"{source.name}, cell {key!r}: {line.strip()!r} looks like a marker and is none, so it would "
                                 "leak; markers are ### BEGIN SOLUTION and ### BEGIN HIDDEN TESTS, and END, alone on a line")
        if cell.cell_type == "markdown":
            code = WRAP.sub(r"\1", code)  # a line break inside a Chinese paragraph would show as a space
        meta = {"tags": cell.metadata["tags"]} if "tags" in cell.metadata else {}
        if points or SOLUTION.search(code):  # in the learners' edition too: it can be handed in as it is
            meta["nbgrader"] = {"grade": bool(points), "grade_id": key, "locked": bool(points), "schema_version": 3,
                                "solution": not points, "task": False} | ({"points": points} if points else {})
        if edition == "learner":
            code = HIDDEN.sub("", SOLUTION.sub(rf"\g<1>{STUB}", code))
            if re.search("### (BEGIN|END) ", code):
                raise SystemExit(f"{source.name}, cell {key!r}: a solution or hidden test is not closed, so it would leak")
        new = nbformat.v4.new_code_cell if cell.cell_type == "code" else nbformat.v4.new_markdown_cell
        nb.cells.append(new(code, id=key, metadata=meta))
    nb.cells.append(nbformat.v4.new_markdown_cell(last, id=LINKS_LAST))
    return nb


def portable(nb: nbformat.NotebookNode) -> None:
    """Keep in the notebook that was run what is the same on every machine."""
    nb.metadata = nbformat.from_dict(METADATA)  # the kernel had put in its version of Python
    for output in (output for cell in nb.cells for output in cell.get("outputs", ())):
        if output.output_type == "error":  # a traceback names files of this machine, and nbval does not compare it
            output.traceback = [f"{output.ename}: {output.evalue}"]
        output.get("data", {}).pop(VIEW, None)  # dead without this kernel, it would hide the picture


async def make(nb: nbformat.NotebookNode, path: Path, gate: asyncio.Semaphore) -> None:
    """Run *nb* in the folder of *path*, where a file `.lang` tells which words to use, and save it there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    (path.parent / ".lang").write_text(f"{path.parent.name}\n", "utf-8", newline="\n")
    client = NotebookClient(nb, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}},
                            record_timing=False, store_widget_state=False, coalesce_streams=True, shutdown_kernel="immediate",
                            extra_arguments=["--log-level=ERROR"])  # the kernel warns about TCP on the loopback interface
    async with gate:
        await client.async_execute()
    portable(nb)
    path.write_text(nbformat.writes(nb) + "\n", "utf-8", newline="\n")


def shows(cell: nbformat.NotebookNode) -> bool:
    """Whether *cell* has an output when it is run: it ends in an expression, as cells do here, or it is to fail."""
    if "raises-exception" in cell.metadata.get("tags", ()):
        return True
    try:
        return isinstance(ast.parse(cell.source).body[-1], ast.Expr)
    except (SyntaxError, IndexError):  # with IPython's own % and !, or empty
        return False


def stale(path: Path, fresh: nbformat.NotebookNode) -> str:
    """Why the notebook at *path* is not *fresh* with outputs; empty when it is."""
    if not path.exists():
        return "it is missing"
    try:
        text = path.read_text("utf-8")
        data = json.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        return f"it cannot be read as a notebook: {error}"
    if not isinstance(data, dict) or data.get("nbformat") != 4 or any(iter_validate(data, version=4)):
        return "it is no notebook of format 4"
    built = nbformat.reads(text, as_version=4)
    if [cell.id for cell in built.cells] != [cell.id for cell in fresh.cells]:
        return "its cells are others"
    for old, new in zip(built.cells, fresh.cells, strict=True):
        if (old.cell_type, old.source, old.metadata) != (new.cell_type, new.source, new.metadata):
            return f"cell {new.id!r} differs"
        if new.cell_type == "code" and old.execution_count is None:
            return f"cell {new.id!r} was not run"
        if new.cell_type == "code" and not old.outputs and shows(new):
            return f"cell {new.id!r} ends in something to show, and no output is saved: it was stripped, or there is none"
    return "" if built.metadata == fresh.metadata else "its metadata differ"


async def build(fresh: dict[Path, nbformat.NotebookNode]) -> dict[Path, object]:
    """Make every notebook, two kernels a core at a time; what went wrong with each, if anything."""
    gate = asyncio.Semaphore(2 * (os.cpu_count() or 1))
    results = await asyncio.gather(*(make(nb, path, gate) for path, nb in fresh.items()), return_exceptions=True)
    return dict(zip(fresh, results, strict=True))


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--solved", type=Path, metavar="OUT")
    args = parser.parse_args(argv)
    edition, out = ("solved", args.solved) if args.solved else ("learner", HERE)
    sources = [SOURCES / f"{name}.py" for name in args.names] or sorted(SOURCES.glob("*.py"))
    missing = [source.stem for source in sources if not source.is_file()]
    if missing:
        print(f"no source for {', '.join(missing)}; there are {', '.join(path.stem for path in sorted(SOURCES.glob('*.py')))}")
        return 2
    fresh = {out / lang / f"{source.stem}.ipynb": notebook(source, lang, edition) for lang in LANGUAGES for source in sources}
    if args.check:
        faults: dict[Path, object] = {path: stale(path, nb) for path, nb in fresh.items()}
        if not args.names:
            faults |= {path: "it has no source" for path in sorted(out.glob("*/*.ipynb")) if path not in fresh}
    else:
        faults = asyncio.run(build(fresh))
    for path, fault in faults.items():
        if fault:
            print(f"{path.relative_to(out)}: {fault}")
    if args.solved and not any(faults.values()):
        print(out.resolve())
    return 1 if any(faults.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
