"""What Binder finds: it builds from the folder .binder, and opens the start page by a link."""
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from nbformat import read
from nbformat.sign import NotebookNotary
from packaging.specifiers import SpecifierSet

from lab import ROOT

BINDER = ROOT / ".binder"
PAGES = ["docs/hub.md", "docs/hub.zh.md"]


def test_there_is_one_folder_for_binder_and_nothing_that_it_would_prefer():
    assert not (ROOT / "binder").exists()
    assert sorted(path.name for path in BINDER.iterdir()) == ["postBuild", "requirements.txt", "runtime.txt"]


def test_it_installs_what_the_workbook_needs():
    """The path after `-r` is seen from the file that says it; that after `-e` from where pip runs, the workbook's folder."""
    lines = [line for line in (BINDER / "requirements.txt").read_text("utf-8").splitlines() if not line.startswith("#")]
    assert lines == ["-r ../requirements.txt", "notebook"]
    inner = (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    assert {"-c constraints.txt", "-e ."} <= set(inner)
    assert "\nnotebook==" in (ROOT / "constraints.txt").read_text("utf-8")


def test_its_python_is_one_that_the_workbook_allows():
    name, _, version = (BINDER / "runtime.txt").read_text("utf-8").strip().partition("-")
    allowed = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["requires-python"]
    assert name == "python"
    assert re.fullmatch(r"3\.\d+", version)
    assert f"{version}.0" in SpecifierSet(allowed)


@pytest.mark.skipif(sys.platform == "win32", reason="Binder runs Linux")
def test_the_last_step_trusts_the_notebooks_and_sets_up_jupyterlab(tmp_path):
    """It runs here as in the image, with another home and another place for settings."""
    prefix = tmp_path / "prefix"
    (prefix / "etc" / "jupyter").mkdir(parents=True)
    env = dict(os.environ, HOME=str(tmp_path), NB_PYTHON_PREFIX=str(prefix), JUPYTER_DATA_DIR=str(tmp_path / "data"),
               PATH=str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"])
    subprocess.run([BINDER / "postBuild"], cwd=ROOT, env=env, check=True, capture_output=True)
    notary = NotebookNotary(data_dir=str(tmp_path / "data"))
    for lang in ("zh", "en"):
        assert notary.check_signature(read(ROOT / "notebooks" / lang / "00_start_here.ipynb", 4))
    settings = prefix / "share" / "jupyter" / "lab" / "settings"
    for original in (ROOT / "deploy" / "jupyterlab" / "zh").iterdir():
        assert (settings / original.name).read_bytes() == original.read_bytes()
    config = "jupyter_server_config.py"
    assert (prefix / "etc" / "jupyter" / config).read_bytes() == (ROOT / "deploy" / config).read_bytes()


@pytest.mark.parametrize("page", PAGES)
def test_the_link_opens_a_start_page_that_is_there(page):
    links = re.findall(r"/v2/gh/OWNER/REPO/HEAD\?urlpath=lab/tree/(\S+\.ipynb)", (ROOT / page).read_text("utf-8"))
    assert sorted(links) == ["notebooks/en/00_start_here.ipynb", "notebooks/zh/00_start_here.ipynb"]
    assert all((ROOT / link).is_file() for link in links)
