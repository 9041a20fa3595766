"""Witnesses of the loop: at each request, what is on disk and what the model is sent; after a failure, what was in memory."""
import os
import traceback
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from labsupport.errors import LabError
from labsupport.miniagent import Message, Model, Tool, ToolCall, load_session, run_agent
from labsupport.workbench.sample_table import table_tools
from labsupport.workbench.sample_talks import Speaker, Talk

Path = str | os.PathLike[str]


@dataclass(frozen=True)
class Seen:
    """One request: the messages in the *file* at that moment, and the messages that were *sent*."""

    file: tuple[Message, ...]
    sent: tuple[Message, ...]


class Witness:
    """Asks *model*, and first writes down what the session file *path* holds and what the model is about to be sent."""

    def __init__(self, model: Model, path: Path) -> None:
        self._model, self._path = model, path
        self.seen: list[Seen] = []

    def stream(self, messages: Sequence[Message], tools: Mapping[str, Tool]) -> Iterable[str | ToolCall]:
        self.seen.append(Seen(tuple(load_session(self._path)), tuple(messages)))
        return self._model.stream(messages, tools)


@dataclass(frozen=True)
class Watched:
    """A talk as its witness saw it: every request, the budget in characters, and the *file* when all was over."""

    seen: tuple[Seen, ...]
    budget: int | None
    file: tuple[Message, ...]


def watch(talk: Talk, path: Path, context_max_chars: int | None = None) -> Watched:
    """Have *talk* with the mini-agent, under a budget; watch every request. The session file *path* is written anew."""
    if os.path.exists(path):
        os.remove(path)
    seen: list[Seen] = []
    for prompt, turns in talk:
        witness = Witness(Speaker(turns), path)
        run_agent(prompt, witness, table_tools(), session_path=path, context_max_chars=context_max_chars)
        seen += witness.seen
    return Watched(tuple(seen), context_max_chars, tuple(load_session(path)))


def memory_of(error: BaseException) -> list[Message]:
    """What `run_agent` had in memory when *error* ended it, taken from where the error left the loop, as a debugger does.

    LabError for an error that did not come out of the loop.
    """
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if frame.f_code is run_agent.__code__ and "history" in frame.f_locals:
            return list(frame.f_locals["history"])
    raise LabError(f"this {type(error).__name__} did not come out of run_agent, so it left no history in memory")
