"""Several processes that write one session file at the same time."""
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor

from labsupport.miniagent import UserMessage, append_session


def append_from_processes(path: str | os.PathLike[str], processes: int, each: int) -> None:
    """Let *processes* writers append *each* messages to *path* at the same time; writer w says "w:0", "w:1" …

    In which order the writers get their turns is not known; each one's own lines stay in order. To start a process takes
    longer than to write: a second or two.
    """
    fresh = multiprocessing.get_context("spawn")  # a forked child would inherit the notebook's sockets and threads
    with ProcessPoolExecutor(processes, fresh) as pool:
        for done in [pool.submit(_write, os.fspath(path), writer, each) for writer in range(processes)]:
            done.result()


def _write(path: str, writer: int, each: int) -> None:
    for number in range(each):
        append_session(path, UserMessage(f"{writer}:{number}"))
