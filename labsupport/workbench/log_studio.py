"""Where sample logs are recorded: a session with a seeded clock, its store, and the loop around a scripted model."""
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from labsupport.sessionlog import Session, SessionEvent, SessionHeader
from labsupport.sessionlog.driver import TurnOutcome, run_turn
from labsupport.sessionlog.models import Reply, ScriptedModel
from labsupport.sessionlog.storage import JsonlStore, barrier, on_barriers
from labsupport.sessionlog.tokens import count_tokens
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

PRUNED = "\n\n[... tool result middle pruned ...]\n\n"


class Studio:
    """The recording of session *name* in *folder*; the same *seed* makes the same bytes. *header* has its other fields."""

    def __init__(self, folder: Path, name: str, seed: int = 4, **header: Any) -> None:
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
                 "barrier": barrier}
        return run_turn(self.session, prompt, model, timed, **{**usual, **options})

    def restart(self) -> None:
        """What a new process does: load the log, which repairs it, and go on with it."""
        self.writer.close()
        loaded = self.store.load(self.session.id)
        self.clock.wait(60_000, 90_000)
        self.session = Session.create(loaded.header.id, seed=loaded.events, header=loaded.header, clock=self.clock)
        self.writer = self.store.attach(self.session, on_barriers)
        self._count = usage_counter()

    def find(self, type: str) -> SessionEvent:
        """The latest event of *type*."""
        return next(event for event in reversed(self.session.events) if event.type == type)

    def prune(self, seq: int, head: int = 4096, tail: int = 1024) -> None:
        """Put a copy of result *seq* in its place of which the middle is gone; the log keeps the whole one."""
        data = self.session.events[seq].read()
        block = data["message"]["content"][0]
        text = block["content"][0]["text"]
        note = {"shadowedRange": {"start": seq, "end": seq}, "shadowedSeqs": [seq], "shadowedTokenCount": count_tokens(text)}
        self.session.append("compaction/prune", note)
        block["content"][0]["text"] = text[:head] + PRUNED + text[-tail:]
        self.session.append("tool/result", data, {"op": "replace", "start": seq, "end": seq}, [seq])

    def compact(self, nodes: Sequence[int], summary: str) -> None:
        """Put *summary* in the place of *nodes*, neighbours on the surface, as somebody does between turns by a command."""
        made = {"compactionId": f"compaction-{len(self.session.events)}"}
        start = self.session.append("compaction/start", {**made, "turn": None, "trigger": "manual"}).seq
        ends = {"start": nodes[0], "end": nodes[-1]}
        said = [self.session.events[seq].read() for seq in nodes]
        told = self.session.append("compaction/summary", {
            **made, "summary": [{"type": "text", "text": summary}], "shadowedRange": ends, "shadowedSeqs": list(nodes),
            "shadowedTokenCount": sum(count_tokens(str(data)) for data in said), **CONFIG}).seq
        framed = f"What was said before, in short:\n<summary>\n{summary}\n</summary>"
        message = {"content": [{"type": "text", "text": framed}], "source": {"kind": "plugin", "plugin": "compact", **made},
                   "role": "user", "id": f"m{len(self.session.events)}"}
        self.session.append("user/message", message, {"op": "replace", **ends}, [start, told, *nodes])
        self.session.append("compaction/end", {**made, "turn": None})
