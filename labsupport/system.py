"""What both chapters ask of the interpreter and the operating system."""
import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Messages and events hold no cycles; looking for them again and again while many are read costs more than reading them."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def write_all(fd: int, data: bytes) -> None:
    """Write all of *data*: one call, and more only where the system took a part."""
    done = os.write(fd, data)
    while done < len(data):
        done += os.write(fd, data[done:])


def fsync_folder(folder: Path) -> None:
    """Make the names in *folder* durable, where the system lets a folder be opened (Windows does not)."""
    if os.name == "posix":
        fd = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def make_folder(folder: Path) -> None:
    """Make *folder* and what is missing above it, durable on return."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        fsync_folder(folder.parent)
