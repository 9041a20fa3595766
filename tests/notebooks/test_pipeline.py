"""What nbval lets pass: stale or unrun notebooks, other code in another language, dead widgets, paths of a machine.

Each check is a function that returns sentences; it must find nothing in what is built, and something in a planted fault.
"""
import re
from copy import deepcopy

import build
import nbformat
import pytest

from labsupport.workbench.labs import LABS
from tests.notebooks.books import NAMES, PATHS, SOURCES, code, halves, name_of, picture_links, read

BITMAPS = {"image/png", "image/jpeg"}
TAGS = {"raises-exception"}  # the only tag; nbval's own tags would switch it off
MACHINE = re.compile(r"/(home|root|tmp|Users|site-packages|work)/|[A-Z]:\\\\| at 0x[0-9a-f]+|\b[0-9.]+ ?(ms|µs|毫秒)\b")


def unfit(nb):
    """Why the saved outputs of *nb* are not fit to be compared by nbval and read anywhere."""
    found = []
    for number, cell in enumerate(code(nb), start=1):
        tags, outputs = set(cell.metadata.get("tags", ())), cell.outputs
        if cell.execution_count != number:
            found.append(f"{cell.id} was not run, or not in order; nbval would not compare it")
        if tags - TAGS:
            found.append(f"{cell.id} has the tags {tags - TAGS}")
        if ("raises-exception" in tags) != any(output.output_type == "error" for output in outputs):
            found.append(f"{cell.id} raises and is not tagged, or is tagged and does not raise")
        for output in outputs:
            data = output.get("data", {})
            found += [f"{cell.id} saves a warning"] if output.get("name") == "stderr" else []
            found += [f"{cell.id} saves a widget that is dead"] if build.VIEW in data else []
            found += [f"{cell.id} saves {mime}, which nbval does not compare" for mime in sorted(data.keys() & BITMAPS)]
            found += [f"{cell.id} names something of this machine"] if MACHINE.search(str(output)) else []
    return found


def differing(zh, en):
    """The code cells that are not the same in both languages."""
    left, right = ({cell.id: (cell.source, cell.metadata) for cell in code(nb)} for nb in (zh, en))
    return sorted(key for key in left.keys() | right.keys() if left.get(key) != right.get(key))


def unmatched(source):
    """The prose cells whose halves differ in their headings, in the code they name or in how much they fold."""
    shapes = {key: {lang: (re.findall(r"(?m)^#+", text), sorted(re.findall(r"`[^`\n]+`", text)), text.count("<details>"))
                    for lang, text in both.items()} for key, both in halves(source).items()}
    return [key for key, shape in shapes.items() if shape["zh"] != shape["en"]]


def dead_links(nb, lang):
    """The links of *nb* that lead nowhere."""
    return [link for link in picture_links(nb) if not (build.HERE / lang / link).exists()]


def test_every_lab_has_a_source_and_every_source_both_notebooks():
    assert sorted(lab.name for lab in LABS) == NAMES
    assert [name_of(path) for path in PATHS] == sorted(f"{lang}/{name}" for lang in build.LANGUAGES for name in NAMES)


@pytest.mark.parametrize("path", PATHS, ids=name_of)
def test_it_is_what_its_source_says(path):
    source = build.SOURCES / f"{path.stem}.py"
    assert build.stale(path, build.notebook(source, path.parent.name, "learner")) == ""


@pytest.mark.parametrize("path", PATHS, ids=name_of)
def test_its_outputs_are_fit(path):
    assert unfit(nbformat.read(path, as_version=4)) == []


@pytest.mark.parametrize("path", PATHS, ids=name_of)
def test_its_folder_says_its_language(path):
    assert (path.parent / ".lang").read_text("utf-8") == f"{path.parent.name}\n"


@pytest.mark.parametrize("name", NAMES)
def test_code_is_the_same_in_both_languages(name):
    assert differing(read("zh", name), read("en", name)) == []


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_both_halves_of_prose_have_the_same_headings_and_name_the_same_code(source):
    assert unmatched(source) == []


@pytest.mark.parametrize("path", PATHS, ids=name_of)
def test_the_first_cell_links_the_twin_and_every_link_leads_somewhere(path):
    nb = nbformat.read(path, as_version=4)
    twin = {"zh": "en", "en": "zh"}[path.parent.name]
    assert f"](../{twin}/{path.name})" in nb.cells[0].source
    assert dead_links(nb, path.parent.name) == []


@pytest.mark.parametrize("lang", build.LANGUAGES)
def test_links_lead_through_all_labs_in_order(lang):
    """From the start page, "next" comes past every lab."""
    seen = [LABS[0].name]
    while following := re.search(r"(?:下一个：|next: )\[[^\]]*\]\(([^)]*)\.ipynb\)", read(lang, seen[-1]).cells[-1].source):
        seen.append(following[1])
    assert seen == [lab.name for lab in LABS]


@pytest.mark.parametrize(("cell", "change", "sentence"), [
    ("slider-moved", {"execution_count": None, "outputs": []}, "was not run"),
    ("break-it", {"outputs": []}, "does not raise"),
    ("slider-moved", {"metadata": {"tags": ["nbval-ignore-output"]}}, "has the tags"),
    ("guess", {"outputs": [nbformat.v4.new_output("stream", name="stderr", text="Warning")]}, "saves a warning"),
    ("slider-explorer", {"outputs": [nbformat.v4.new_output("display_data", {build.VIEW: {}})]}, "is dead"),
    ("slider-explorer", {"outputs": [nbformat.v4.new_output("display_data", {"image/png": ""})]}, "does not compare"),
    ("guess", {"outputs": [nbformat.v4.new_output("stream", text="/home/demo/labs")]}, "this machine"),
    ("guess", {"outputs": [nbformat.v4.new_output("stream", text="took 12.5 ms")]}, "this machine"),
])
def test_a_planted_fault_is_found(cell, change, sentence):
    nb = read("zh", "00_start_here")
    next(found for found in nb.cells if found.id == cell).update(nbformat.from_dict(change))
    assert any(found.startswith(cell) and sentence in found for found in unfit(nb))


def test_other_code_in_zh_is_found():
    en = read("en", "00_start_here")
    zh = deepcopy(en)
    code(zh)[0].source += "  # 说明"
    assert differing(zh, en) == ["self-test"]


def test_a_stale_notebook_is_found():
    source, path = build.SOURCES / "00_start_here.py", build.HERE / "zh" / "00_start_here.ipynb"
    fresh = build.notebook(source, "zh", "learner")
    fresh.cells[1].source += "！"
    assert build.stale(path, fresh) == "cell 'question' differs"
    assert build.stale(path.with_name("other.ipynb"), fresh) == "it is missing"


@pytest.mark.parametrize(("text", "sentence"), [
    pytest.param("", "cannot be read as a notebook", id="empty"),
    pytest.param("{", "cannot be read as a notebook", id="no JSON"),
    pytest.param("[]", "no notebook", id="no object"),
    pytest.param('{"cells": 5, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}', "no notebook", id="no cells"),
    pytest.param('{"worksheets": [], "metadata": {}, "nbformat": 3, "nbformat_minor": 0}', "no notebook", id="an old one"),
    pytest.param("\xff", "cannot be read as a notebook", id="no UTF-8"),
    pytest.param(None, "cannot be read as a notebook", id="a folder"),
])
def test_what_is_no_notebook_gets_a_sentence(tmp_path, text, sentence):
    path = tmp_path / "a.ipynb"
    if text is None:
        path.mkdir()
    else:
        path.write_text(text, "latin-1")
    assert sentence in build.stale(path, build.notebook(build.SOURCES / "00_start_here.py", "zh", "learner"))


@pytest.mark.parametrize("path", PATHS, ids=name_of)
def test_stripped_outputs_are_found(tmp_path, path):
    """All outputs of a cell that ends in something to show, or is to fail, while its number says that it was run."""
    fresh = build.notebook(build.SOURCES / f"{path.stem}.py", path.parent.name, "learner")
    nb = nbformat.read(path, as_version=4)
    first = next(cell for cell in code(nb) if cell.outputs and build.shows(cell))
    for cell in code(nb):
        cell.outputs = []
    nbformat.write(nb, tmp_path / "a.ipynb")
    assert build.stale(tmp_path / "a.ipynb", fresh).startswith(f"cell {first.id!r} ends in something to show")


@pytest.mark.parametrize(("source", "tags", "shown"), [
    ("1 + 1", [], True), ("x = 1", [], False), ("", [], False), ("%time x", [], False),
    ("x = 1 / 0", ["raises-exception"], True),
])
def test_which_cells_show_something(source, tags, shown):
    assert build.shows(nbformat.v4.new_code_cell(source, metadata={"tags": tags})) is shown


def test_unlike_halves_are_found(tmp_path):
    text = '# %% a [markdown] lang="zh"\n# 见 `trim`\n\n# %% a [markdown] lang="en"\n# see `trims`\n'
    (tmp_path / "lab.py").write_text(text, "utf-8")
    assert unmatched(tmp_path / "lab.py") == ["a"]


def test_a_dead_link_is_found():
    nb = read("en", "00_start_here")
    nb.cells[1].source += " [B1](b1_two_steps.ipynb)"
    assert "b1_two_steps.ipynb" in dead_links(nb, "en")


NEAR_MARKS = [
    ("# BEGIN SOLUTION", "# END SOLUTION"), ("### begin solution", "### end solution"), ("#Begin Solution", "#End Solution"),
    ("###BEGIN SOLUTION", "###END SOLUTION"), ("### BEGIN_SOLUTION", "### END_SOLUTION"), ("＃ BEGIN SOLUTION", "x = 2"),
    ("### BEGIN SOLUTIONS", "### END SOLUTIONS"), ("### BEGIN  SOLUTION", "### END  SOLUTION"),
    ("### SOLUTION BEGIN", "### SOLUTION END"), ("### BEGIN SOLUTION ", "### END SOLUTION "),
    ("y = 2  # BEGIN SOLUTION", "y = 3  # END SOLUTION"), ("### BEGIN SOLUTON", "### END SOLUTON"),
    ("# BEGIN HIDDEN TESTS", "# END HIDDEN TESTS"), ("### begin hidden tests", "### end hidden tests"),
    ("### BEGIN HIDDEN TEST", "### END HIDDEN TEST"), ("    ### BEGIN HIDDEN TESTS", "    ### END HIDDEN TESTS"),
]


@pytest.mark.parametrize(("text", "sentence"), [
    ('# %% a [markdown] lang="zh"\n# 甲\n\n# %% b\n1\n', "zh then en"),
    ('# %% a [markdown] lang="en"\n# A\n\n# %% a [markdown] lang="zh"\n# 甲\n', "zh then en"),
    ("# %% a\n1\n\n# %% b\n2\n\n# %% a\n3\n", "a key of its own"),
    ("# %% links\n1\n", "a key of its own"),
    ("# %%\n1\n", "a key of its own"),
    ("# %% a\n### BEGIN SOLUTION\nx = 1\n", "would leak"),
    *((f"# %% a\n{begin}\nx = 1\n{end}\n", "looks like a marker") for begin, end in NEAR_MARKS),
])
def test_a_broken_source_is_refused(tmp_path, text, sentence):
    (tmp_path / "00_start_here.py").write_text(text, "utf-8")
    with pytest.raises(SystemExit, match=sentence):
        build.notebook(tmp_path / "00_start_here.py", "zh", "learner")


@pytest.mark.parametrize("comment", ["# Begin at the end:", "# the solution of the chapter", "# hidden by the budget"])
def test_a_comment_is_no_marker(tmp_path, comment):
    (tmp_path / "00_start_here.py").write_text(f"# %% a\n{comment}\nx = 1\n", "utf-8")
    assert comment in build.notebook(tmp_path / "00_start_here.py", "zh", "learner").cells[1].source


def test_a_source_that_is_no_utf8_is_refused(tmp_path):
    (tmp_path / "00_start_here.py").write_bytes("# %% a\n# 你好\n".encode("gbk"))
    with pytest.raises(SystemExit, match=r"00_start_here\.py cannot be read as UTF-8"):
        build.notebook(tmp_path / "00_start_here.py", "zh", "learner")


def test_a_wrapped_chinese_paragraph_gets_no_spaces(tmp_path):
    """Each line break between two Chinese characters goes; those that mean something stay."""
    prose = ["# 标题", "第一行，", "第二行", "第三行 `x`", "英文 word", "", "- 项目一", "- 项目二"]
    zh, en = '# %% a [markdown] lang="zh"', '# %% a [markdown] lang="en"'
    text = "\n".join([zh, *(f"# {line}" for line in prose), "", en, "# # A"])
    (tmp_path / "00_start_here.py").write_text(text, "utf-8")
    cell = build.notebook(tmp_path / "00_start_here.py", "zh", "learner").cells[1]
    assert cell.source.splitlines() == ["# 标题", "第一行，第二行第三行 `x`", "英文 word", "", "- 项目一", "- 项目二"]


def test_a_source_that_is_not_in_the_list_of_labs_is_refused(tmp_path):
    (tmp_path / "z9_lost.py").write_text("# %% a\n1\n", "utf-8")
    with pytest.raises(SystemExit, match="not in the list of labs"):
        build.notebook(tmp_path / "z9_lost.py", "zh", "learner")


def test_an_unknown_name_is_answered_with_the_names_there_are(capsys):
    assert build.main(["a9_nothing"]) == 2
    assert "00_start_here" in capsys.readouterr().out
