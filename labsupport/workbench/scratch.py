"""A folder to write in, so that a lab can break files without touching the samples."""
import atexit
import os
import shutil
import tempfile
from pathlib import Path

from labsupport.own import DATA, SEED, mark
from labsupport.workbench.samples import path
from labsupport.workbench.text import language


def scratch(*names: str) -> list[str]:
    """Work in a new folder from here on, with copies of the sample sessions *names*; the names of the files in it.

    Paths in a lab are then short and relative. The folder goes away with the kernel. LabError for an unknown sample.
    """
    sources = [path(name) for name in names]
    folder = Path(tempfile.mkdtemp(prefix="lab-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    (folder / ".lang").write_text(language(), "utf-8")
    if SEED:  # the processes that a lab starts there are the student's as well
        mark(folder, SEED, DATA)
    for source in sources:
        shutil.copy(source, folder)
    os.chdir(folder)
    return [source.name for source in sources]


def fresh(name: str) -> str:
    """*name*, where neither file nor folder stands any more: a cell that writes there gives the same when it is run again."""
    shutil.rmtree(name) if Path(name).is_dir() else Path(name).unlink(missing_ok=True)
    return name
