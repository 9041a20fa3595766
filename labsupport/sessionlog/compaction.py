"""A summary in the place of a range of the surface, as one transaction in an append-only log (chapter 4, §4.10).

    compaction/start      the lock
    compaction/summary    what was written, by whom, and what it covers
    user/message          the summary takes the place of the range: from here on the model reads it
    compaction/end        with an error when the range stayed as it was
"""
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from msgspec import UNSET

from labsupport.errors import CompactionError, EventError
from labsupport.sessionlog.events import Replace
from labsupport.sessionlog.json_text import field
from labsupport.sessionlog.lineage import live_compaction
from labsupport.sessionlog.pruning import PruneConfig, prune_session
from labsupport.sessionlog.ranges import PLUGIN, Range, is_checkpoint, range_between
from labsupport.sessionlog.ranges import choose_range as choose_range
from labsupport.sessionlog.session import Session
from labsupport.sessionlog.storage.writers import flush as flush_writers
from labsupport.sessionlog.summarizers import Summarizer
from labsupport.sessionlog.tokens import context_tokens, estimate_message

Trigger = Literal["pressure", "context-overflow", "manual"]
OPENING = "This is a summary of the earlier conversation. The messages it stands for are no longer shown.\n<summary>"
CLOSING = "</summary>"


_DETAILS = ("maxTokens", "usage", "rawOutput")


@dataclass(frozen=True)
class Compacted:
    """A compaction that took place: the seqs of its events, and of the nodes that the checkpoint stands for now."""

    id: str
    start_seq: int
    summary_seq: int
    checkpoint_seq: int
    end_seq: int
    shadowed_seqs: tuple[int, ...]
    shadowed_tokens: int
    tokens: int
    """What the checkpoint costs, in estimated tokens."""


def open_turn(session: Session) -> Any:
    """The number of the turn that is open, None between turns."""
    last = next((event for event in reversed(session.events) if event.type in ("turn/start", "turn/end")), None)
    return field(last.read(), "turn") if last is not None and last.type == "turn/start" else None


def framed(summary: Sequence[Any]) -> list[Any]:
    """The content of the message that takes the place of a range: *summary* between a tag that opens and one that closes."""
    return [{"type": "text", "text": OPENING}, *summary, {"type": "text", "text": CLOSING}]


def compact(session: Session, start: int, end: int, summarizer: Summarizer, *, turn: Any = UNSET, trigger: Trigger = "manual",
            command_id: str | None = None, flush: Callable[[Session], None] = flush_writers) -> Compacted:
    """Put a summary of the nodes *start* to *end* in their place; the log keeps every one of them.

    CompactionError says by its code where it stopped. Nothing was written: "busy" (another compaction holds the lock), "range"
    (it would part a call from its result, or is none). An end with an error was written and the surface is as it was: "summary"
    (the summarizer failed, or wrote more than it would shadow), "changed" (what it was to shadow is no longer there; with an
    automatic *trigger*, the surface is another one in any way). The surface was replaced, which an append-only log cannot
    undo: "commit" (the end could not be written, so the bracket stays open and is found), "persistence" (a manual compaction
    could not be flushed). Nothing is tried again by itself.

    *turn* is the number of the open turn, None between turns; left out, it is read from the log. Chapter 4, §4.10.
    """
    is_open = open_turn(session)
    if turn is not UNSET and turn != is_open:
        raise EventError("turn", f"{'no turn' if is_open is None else 'another turn'} is open. Nothing was changed")
    if trigger not in get_args(Trigger):
        raise EventError("trigger", f"it is one of {', '.join(get_args(Trigger))}. Nothing was changed")
    lock = live_compaction(session)
    if lock is not None:
        raise CompactionError("busy", f"the compaction that event {lock} started has not ended. Nothing was changed.")
    chosen = range_between(session, start, end)
    return _Transaction(session, chosen, is_open, trigger, command_id).run(summarizer, flush)


class _Transaction:
    """One compaction, from its start to its end."""

    def __init__(self, session: Session, chosen: Range, turn: Any, trigger: Trigger, command_id: str | None) -> None:
        self.session, self.range, self.trigger = session, chosen, trigger
        self.nodes, self.generation = session.surface.nodes, session.surface.replace_generation
        self.start = len(session.events)
        command = {} if command_id is None else {"sourceCommandId": command_id}
        self.named = {"compactionId": f"compaction-{self.start}", **command}
        self.turn = {"turn": turn}

    def run(self, summarizer: Summarizer, flush: Callable[[Session], None]) -> Compacted:
        """Take the lock, ask for the summary, log it, replace, end."""
        try:
            self.session.append("compaction/start", {**self.named, **self.turn, "trigger": self.trigger})
            summary_seq, checkpoint, cost = self._replace(summarizer)
        except CompactionError as error:
            self._fail(error)
            raise
        except Exception as error:
            if len(self.session.events) == self.start:
                raise  # the lock was not taken, so there is nothing to end
            failure = CompactionError("summary", f"the summary could not be logged ({type(error).__name__}). The surface is as "
                                      "it was.")
            self._fail(failure)
            raise failure from error
        except BaseException:  # somebody stops the process, and it may be logged already what was being logged
            self._close()
            raise
        try:
            end = self.session.append("compaction/end", {**self.named, **self.turn}).seq
        except Exception as error:
            raise CompactionError("commit", f"the summary is in place (event {checkpoint}), and the end of the compaction "
                                  f"could not be written ({type(error).__name__}). Event {self.start} stays open until the "
                                  "session is resumed.") from error
        if self.trigger == "manual":
            try:
                flush(self.session)
            except Exception as error:
                raise CompactionError("persistence", f"the compaction is complete in memory, and writing it failed "
                                      f"({type(error).__name__}). What is waiting is written by the next flush.") from error
        return Compacted(self.named["compactionId"], self.start, summary_seq, checkpoint, end, self.range.seqs,
                         self.range.tokens, cost)

    def _close(self) -> None:
        """End what was begun, as what it became: replaced, or as it was."""
        mine = self.session.events[self.start:]
        if any(is_checkpoint(event) and event.surface_op != "append" for event in mine):
            self.session.append("compaction/end", {**self.named, **self.turn})
        elif any(event.type == "compaction/start" for event in mine):
            self._fail(CompactionError("summary", ""))

    def _replace(self, summarizer: Summarizer) -> tuple[int, int, int]:
        """The seqs of the summary and of the checkpoint that stands in the place of the range now, and what that costs."""
        session, seqs = self.session, self.range.seqs
        ends = {"start": self.range.start, "end": self.range.end}
        messages = [message for message in map(session.message, seqs) if message is not None]
        try:
            summary = summarizer.summarize(messages)
        except Exception as error:
            raise CompactionError("summary", f"the summarizer failed ({type(error).__name__}). The surface is as it "
                                  "was.") from error
        content = framed(self._checked(summary.blocks))
        cost = estimate_message({"content": content})
        self._check_unchanged()
        if cost >= self.range.tokens:
            raise CompactionError("summary", f"the summary costs {cost} estimated tokens and would shadow "
                                  f"{self.range.tokens}. The surface is as it was.")
        said = session.append("compaction/summary", {
            **{key: summary.details[key] for key in _DETAILS if key in summary.details},
            **self.named, "summary": list(summary.blocks), "shadowedRange": ends, "shadowedSeqs": list(seqs),
            "shadowedTokenCount": self.range.tokens, "provider": summary.provider, "model": summary.model}).seq
        message = {"id": f"{self.named['compactionId']}-checkpoint", "role": "user", "content": content,
                   "source": {"kind": "plugin", "plugin": PLUGIN, "compactionId": self.named["compactionId"]}}
        checkpoint = session.append("user/message", message, Replace(self.range.start, self.range.end),
                                    [self.start, said, *seqs]).seq
        return said, checkpoint, cost

    def _checked(self, blocks: Any) -> Any:
        """The *blocks* of a summary: some, and none that calls a tool or answers a call."""
        kinds = [field(block, "type") for block in blocks] if isinstance(blocks, (list, tuple)) else []
        if not kinds or not all(type(kind) is str for kind in kinds) or {"tool-call", "tool-result"}.intersection(kinds):
            raise CompactionError("summary", "the summary holds no block, or one that no summary has: a tool call, a result, "
                                  "something without a type. The surface is as it was.")
        texts = [str(field(block, "text") or "") for block in blocks]
        if set(kinds) == {"text"} and not "".join(texts).strip():
            raise CompactionError("summary", "the summary says nothing, so the range would be forgotten. The surface is as it "
                                  "was.")
        return blocks

    def _check_unchanged(self) -> None:
        if open_turn(self.session) != self.turn["turn"]:
            raise CompactionError("changed", "while the summary was written, a turn began or ended. The surface is as that "
                                  "left it.")
        nodes = self.session.surface.nodes
        if self.trigger == "manual":
            try:
                first = nodes.index(self.range.start)
            except ValueError:
                first = len(nodes)
            if nodes[first:first + len(self.range.seqs)] != list(self.range.seqs):
                raise CompactionError("changed", "while the summary was written, a node of the range was replaced. The "
                                      "surface is as that left it.")
        elif nodes != self.nodes or self.session.surface.replace_generation != self.generation:
            raise CompactionError("changed", "while the summary was written, the surface became another one. It is as that "
                                  "left it.")

    def _fail(self, error: CompactionError) -> None:
        """End the bracket, which says that the surface is as it was; the error's code is kept, and no text of anybody's."""
        try:
            self.session.append("compaction/end", {**self.named, **self.turn, "error": {"code": error.code}})
        except Exception as cause:  # noqa: BLE001 - the first failure is the one to tell
            error.add_note(f"The end of the compaction could not be written either ({type(cause).__name__}); event "
                           f"{self.start} stays open.")


def compact_under_pressure(session: Session, summarizer: Summarizer, *, threshold: int, retain_tokens: int,
                           turn: Any = UNSET) -> Compacted | None:
    """Compact when the next request would cost *threshold* tokens or more, and leave a tail of *retain_tokens*; else None.

    What a provider reported counts before what is estimated. After a compaction that failed nothing is tried before a new
    message has come, or every request would ask for the same summary again.
    """
    if context_tokens(session).tokens < threshold or _failed_already(session):
        return None
    chosen = choose_range(session, retain_tokens)
    if chosen is None:
        return None
    return compact(session, chosen.start, chosen.end, summarizer, turn=turn, trigger="pressure")


def compact_after_overflow(session: Session, summarizer: Summarizer, *, prune: PruneConfig | None = None,
                           turn: Any = UNSET) -> Compacted | None:
    """Make room after a request was refused as too long: prune first, then summarise everything that can be, or None."""
    prune_session(session, prune)
    chosen = choose_range(session, 0)
    if chosen is None or _failed_already(session):
        return None
    return compact(session, chosen.start, chosen.end, summarizer, turn=turn, trigger="context-overflow")


def _failed_already(session: Session) -> bool:
    """Whether a compaction has failed since the last event that went on the surface."""
    for event in reversed(session.events):
        if event.surface_op is not UNSET:
            return False
        if event.type == "compaction/end" and field(event.read(), "error") is not None:
            return True
    return False
