"""Where sample logs are recorded: a session with a seeded clock, its store, and the loop around a scripted model."""
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from labsupport.own import own_id, own_seed
from labsupport.sessionlog import Session, SessionEvent, SessionHeader
from labsupport.sessionlog.compaction import compact
from labsupport.sessionlog.driver import TurnOutcome, run_turn
from labsupport.sessionlog.lineage import resume
from labsupport.sessionlog.models import Reply, ScriptedModel
from labsupport.sessionlog.storage import JsonlStore, barrier, on_barriers
from labsupport.sessionlog.summarizers import ScriptedSummarizer
from labsupport.sessionlog.tools import Tool
from labsupport.workbench.log_task import (
    CONFIG,
    CONTEXT_WINDOW,
    SCHEMAS,
    SYSTEM,
    TOOLS,
    SampleClock,
    SlowModel,
    slow,
    usage_counter,
)


class Studio:
    """The recording of session *name* in *folder*; the same *seed* makes the same bytes. *header* has its other fields."""

    def __init__(self, folder: Path, name: str, seed: int = own_seed(4), **header: Any) -> None:
        self.clock = SampleClock(seed)
        self.store = JsonlStore(folder, pack=True)
        self.session = Session.create(name, header=SessionHeader(name, created_at=self.clock.now, **header), clock=self.clock)
        self.writer = self.store.attach(self.session, on_barriers)
        self._count = usage_counter()

    def ask(self, prompt: str, replies: Sequence[Reply], tools: Mapping[str, Tool] = TOOLS, **options: Any) -> TurnOutcome:
        """One turn: *prompt* in, *replies* from the model; *options* as `run_turn` has them."""
        model = SlowModel(ScriptedModel(replies, self._count), self.clock)
        timed = {name: slow(tool, self.clock) for name, tool in tools.items()}
        usual = {"config": CONFIG, "system": SYSTEM, "tool_schemas": SCHEMAS, "context_window": CONTEXT_WINDOW,
                 "barrier": barrier, "new_id": lambda: own_id(f"m{len(self.session.events)}")}
        return run_turn(self.session, prompt, model, timed, **{**usual, **options})

    def restart(self) -> None:
        """What a new process does: load the log, which repairs it, and go on with it."""
        self.writer.close()
        self.clock.wait(60_000, 90_000)
        self.session = resume(self.store, self.session.id, self.clock)
        self.writer = self.store.attach(self.session, on_barriers)
        self._count = usage_counter()

    def find(self, type: str) -> SessionEvent:
        """The latest event of *type*."""
        return next(event for event in reversed(self.session.events) if event.type == type)

    def compact(self, nodes: Sequence[int], summary: str) -> None:
        """Put *summary* in the place of *nodes*, neighbours on the surface, as somebody does between turns by a command."""
        compact(self.session, nodes[0], nodes[-1], ScriptedSummarizer([summary], CONFIG["provider"], CONFIG["model"]))
