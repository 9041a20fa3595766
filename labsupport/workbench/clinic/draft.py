"""A log that is being changed: events as plain JSON, numbered anew when they are taken, with all that cites them."""
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from labsupport.sessionlog import SessionEvent
from labsupport.sessionlog.json_text import field
from labsupport.sessionlog.recovery import answered_call
from labsupport.workbench.clinic.cases import Flush
from labsupport.workbench.clinic.good import Good

Event = dict[str, Any]


@dataclass
class Draft:
    """The *events* of a *good* case, to be changed, and its flush record. *lost* counts events that did not reach the disk.

    An event that is put in between has a seq between those of its neighbours until `take` numbers all of them.
    """

    good: Good
    events: list[Event]
    flushes: list[Flush]
    lost: int = 0

    @classmethod
    def of(cls, good: Good) -> "Draft":
        """A draft that is still as the good case."""
        return cls(good, [event.to_json() for event in good.events], list(good.flushes))

    def find(self, type: str, *, after: float = -1, where: Callable[[Event], bool] = lambda event: True) -> Event:
        """The first event of *type* behind seq *after* for which *where* holds."""
        return next(event for event in self.events if event["type"] == type and event["seq"] > after and where(event))

    def last(self, type: str) -> Event:
        """The last event of *type*."""
        return next(event for event in reversed(self.events) if event["type"] == type)

    def result(self, call_id: str) -> Event:
        """The result of call *call_id*."""
        return self.find("tool/result", where=lambda event: answered_call(event["data"]) == call_id)

    def drop(self, *gone: Event) -> None:
        """Take events out."""
        self.events = [event for event in self.events if not any(event is one for one in gone)]

    def insert(self, before: float, *added: Event) -> None:
        """Put *added* right before the event of seq *before*."""
        at = next(at for at, event in enumerate(self.events) if event["seq"] == before)
        for place, event in enumerate(added, start=1):
            event["seq"] = before - 1 + place / (len(added) + 1)
        self.events[at:at] = added

    @property
    def fork_end(self) -> int:
        """The seq of the end-seed with which the fork begins to live."""
        return int(self.find("session/end-seed")["seq"])

    @property
    def resume_end(self) -> int:
        """The seq of the end-seed with which it was resumed."""
        return int(self.find("session/end-seed", after=self.fork_end)["seq"])

    def take(self) -> tuple[tuple[SessionEvent, ...], tuple[Flush, ...], int | None]:
        """The events numbered from 0, the flush record for them, and the length of the seed: all that cites follows."""
        new = {event["seq"]: at for at, event in enumerate(self.events)}
        old = sorted(new)

        def moved(seq: int) -> int:  # to itself, or to the last event before it that is left
            return bisect_right(old, seq) - 1

        events = tuple(SessionEvent.from_json(_renumbered(event, new)) for event in self.events)
        flushes = tuple(replace(flush, asked=moved(flush.asked), durable=moved(flush.durable)) for flush in self.flushes)
        length = self.good.header.seed_length
        return events, flushes, None if length is None else moved(length - 1) + 1


def _renumbered(event: Event, new: dict[float, int]) -> Event:
    made = {**event, "seq": new[event["seq"]]}
    if isinstance(event.get("surfaceOp"), dict):
        made["surfaceOp"] = {**event["surfaceOp"], **{end: new[event["surfaceOp"][end]] for end in ("start", "end")}}
    if "sourceEventSeqs" in event:
        made["sourceEventSeqs"] = [new[seq] for seq in event["sourceEventSeqs"] if seq in new]
    if field(event["data"], "shadowedSeqs"):
        seqs = [new[seq] for seq in event["data"]["shadowedSeqs"] if seq in new]
        made["data"] = {**event["data"], "shadowedSeqs": seqs, "shadowedRange": {"start": seqs[0], "end": seqs[-1]}}
    return made
