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


def replace_whole(path: Path, data: bytes, draft: Path | None = None) -> None:
    """Put *data* in the place of the file *path*, durable on return. A crash leaves the old one or the new one.

    The *draft* stands beside it, under a name that another thread which makes the same file must not have.
    """
    draft = _draft(path, data, draft)
    try:
        os.replace(draft, path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    fsync_folder(path.parent)


def make_whole(path: Path, data: bytes, draft: Path | None = None) -> None:
    """Make the file *path* with *data*, durable on return; FileExistsError when it is there. A crash leaves no half of it."""
    draft = _draft(path, data, draft)
    try:
        if hasattr(os, "link"):
            os.link(draft, path)  # fails where the name is taken, which rename does not
        else:
            os.rename(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    try:
        fsync_folder(path.parent)
    except BaseException:
        path.unlink()  # it may not be there after a power cut, so it is not there now
        raise


def _draft(path: Path, data: bytes, draft: Path | None) -> Path:
    """A durable file with *data* beside *path*; nothing is left of it when that fails."""
    draft = draft or path.with_name(f"{path.name}.{os.getpid()}.draft")
    draft.unlink(missing_ok=True)
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        try:
            write_all(fd, data)
            os.fsync(fd)
        finally:
            os.close(fd)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    return draft
