"""Where a flush is needed: the five promises of §4.8.1, the fewest flushes that keep them, and a disk that can be full."""
import errno
import os
from collections.abc import Sequence
from random import Random

from labsupport.own import own_seed
from labsupport.sessionlog import SessionEvent

PROMISES = ("tell-user", "hand-over", "use-summary", "publish-checkpoint", "restart-test")
"""What relies on the log from then on: somebody outside, another process, a later request, a cache, a test."""

EVENTS = ("user/message", "assistant/message", "tool/call", "tool/result", "compaction/end")


def fewest_flushes(run: Sequence[str]) -> list[int]:
    """The places of *run*, a list of events and promises, in front of which to flush: as few as keep every promise.

    >>> fewest_flushes(["tool/call", "tool/result", "tell-user", "hand-over"])
    [2]
    """
    places, waiting = [], False
    for place, entry in enumerate(run):
        if entry not in PROMISES:
            waiting = True
        elif waiting:
            places.append(place)
            waiting = False
    return places


def broken_promise(run: Sequence[str], places: Sequence[int]) -> int | None:
    """The place of the first promise in *run* that something was appended before and not flushed; None when all are kept."""
    waiting = False
    for place, entry in enumerate(run):
        if place in places:
            waiting = False
        if entry not in PROMISES:
            waiting = True
        elif waiting:
            return place
    return None


def random_run(seed: int, most: int = 14) -> list[str]:
    """A run of up to *most* entries, the same for the same *seed*; about one in three is a promise."""
    random = Random(own_seed(seed))

    def pick(words: Sequence[str]) -> str:
        return words[int(len(words) * random.random())]

    return [pick(PROMISES if random.random() < 0.35 else EVENTS) for _ in range(1 + int(most * random.random()))]


class SmallDisk:
    """A disk in memory with *room* for so many events; a write that does not fit raises, as a real one does."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.events: list[SessionEvent] = []

    def write(self, events: Sequence[SessionEvent]) -> None:
        """Keep *events*, all or none."""
        if len(self.events) + len(events) > self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.events += events
