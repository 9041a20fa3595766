"""Lab B8's memory: what goes in, and one of its own for every cell, so that a cell gives the same when it is run again."""
import atexit
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from labsupport.outside import Fact, Memory
from labsupport.sessionlog import Session
from labsupport.workbench.pictures.scrubber_cells import message_text

OWNER = "ana"


def user_said(session: Session) -> list[tuple[int, str]]:
    """The seq and words of what the user said in *session* itself; a fork's seed was said in another."""
    own = session.events[session.header.seed_length or 0:]
    return [(event.seq, message_text(event.read())) for event in own
            if event.type == "user/message" and event.data["source"]["kind"] == "user"]


def remembered(*facts: Fact, readers: tuple[str, ...] = ()) -> Memory:
    """A new memory in which `OWNER` has *facts*, and lets *readers* in; its folder goes away with the process.

    >>> from labsupport.outside import Evidence
    >>> memory = remembered(Fact("language", "zh", Evidence("monday", (2,))))
    >>> memory.read("language", reader=OWNER).value
    'zh'
    >>> memory.close()
    """
    folder = TemporaryDirectory(prefix="memory-", ignore_cleanup_errors=True)
    times = count(1)
    memory = Memory(Path(folder.name) / "memory.db", clock=lambda: next(times))
    atexit.register(folder.cleanup)
    atexit.register(memory.close)  # which comes first, for what is registered last is called first
    for fact in facts:
        memory.remember(fact, OWNER, readers)
    return memory
