"""What the hub starts for each learner: their copy of the notebooks, then their own JupyterLab.

It runs with the learner's rights: wherever links in their home lead, it writes nothing that they could not write themselves.
"""
import os
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"


def provide(source: Path, folder: Path) -> list[Path]:
    """Copy to *folder* the notebooks in *source* that it lacks, and give the copies. A notebook that is there is never touched;
    one that the learner deletes or renames comes back fresh with the next start."""
    copies = []
    for original in sorted(path for lang in ("zh", "en") for path in (source / lang).glob("*.ipynb")):
        copy = folder / original.relative_to(source)
        if not os.path.lexists(copy):
            copy.parent.mkdir(parents=True, exist_ok=True)
            part = copy.with_suffix(".part")
            shutil.copyfile(original, part)
            part.replace(copy)  # whole, or not there
            copies.append(copy)
    return copies


def trust(notebooks: list[Path]) -> None:
    """Sign *notebooks*, so that JupyterLab shows their saved pictures; a notebook from elsewhere stays untrusted."""
    import nbformat
    from nbformat.sign import NotebookNotary

    notary = NotebookNotary()
    for path in notebooks:
        notary.sign(nbformat.read(path, 4))


def main() -> None:
    folder = Path(os.environ["JUPYTERHUB_ROOT_DIR"]).expanduser()
    folder.mkdir(exist_ok=True)
    try:
        trust(provide(ROOT / "notebooks", folder / "notebooks"))
    except OSError as error:  # a full disk, say: only in their own JupyterLab can the learner make room
        print(f"Not all notebooks could be copied: {error}", file=sys.stderr)
    os.environ["JUPYTER_RUNTIME_DIR"] = tempfile.mkdtemp(prefix="jupyter-")  # of sockets, whose paths must be short
    os.execv(sys.executable, [
        sys.executable, "-P", "-m", "jupyterhub.singleuser",  # -P: a file tornado.py in the learner's home is not imported
        f"--config={DEPLOY / 'jupyter_server_config.py'}",
        f"--LabApp.app_settings_dir={DEPLOY / 'jupyterlab' / os.environ['WORKBOOK_LANG']}", *sys.argv[1:]])


if __name__ == "__main__":
    main()
