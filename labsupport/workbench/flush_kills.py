"""Lab B7's session in a real process that is killed, and what a new process finds; and the same for every moment of a run.

    python -m labsupport.workbench.flush_kills FOLDER POLICY NUMBER     record, stop at point NUMBER, wait to be killed

A moment is behind an event, before, in the middle of or after a write, or at the end: all is recorded ("played"), a last
flush has returned ("flushed").
"""
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from labsupport.errors import LabError
from labsupport.own import own_seed
from labsupport.sessionlog import SessionEvent
from labsupport.sessionlog.storage import JsonlStore, flush
from labsupport.workbench.child import last_words, stop_at
from labsupport.workbench.flush_runs import ID, POLICIES, SCRIPT, Ask, new_session, play, policy_of, random_script
from labsupport.workbench.mail_task import Point, slow_writes

Stop = Callable[[Point, Sequence[SessionEvent], int], None]
"""Called at every moment, with the events that were appended and how many of them a returned flush has covered."""

PLAYED, FLUSHED = Point("played"), Point("flushed")


def record(folder: Path, policy: str, stop: Stop, script: Sequence[Ask] = SCRIPT) -> None:
    """Record *script* in *folder* under *policy*; *stop* is called at every moment."""
    session = new_session()

    def at(kind: str, name: str = "", number: int = 0) -> None:
        handed_over = len(session.events) - (kind == "event")  # the writer does not know of this one yet
        stop(Point(kind, name, number), session.events, handed_over - writer.waiting)

    session.observe(lambda event: at("event", event.type, event.seq))  # before the writer, which may flush
    writer = JsonlStore(folder).attach(session, policy_of(policy, session))
    with slow_writes(at):
        play(session, script)
        at("played")
        flush(session)
        at("flushed")
        writer.close()


@dataclass(frozen=True)
class Death:
    """A process that was killed at *point*: what it had *appended*, what a returned flush *covered*, what was *found* after."""

    policy: str
    point: Point
    appended: int
    covered: int
    found: int


def new_process_finds(folder: str | Path) -> list[SessionEvent]:
    """The events that are on the disk in *folder*, for somebody who has nothing else; recovery's closers are left out."""
    store = JsonlStore(folder)
    if not store.path(ID).exists():
        return []
    log = store.inspect(ID)
    return log.events[:len(log.events) - len(log.repair.added)] if log.repair else log.events


def moments(policy: str) -> list[Point]:
    """All moments of the recording under *policy*, in order."""
    found: list[Point] = []
    with TemporaryDirectory() as folder:
        record(Path(folder), policy, lambda point, events, covered: found.append(point))
    return found


def kill_at(policy: str, point: Point) -> Death:
    """Record under *policy* in a process of its own, kill it at *point*, and look at the disk from this process."""
    found = moments(policy)
    if point not in found:
        raise LabError(f"under {policy} the recording has no moment {point}; it has {len(found)} others")
    number = found.index(point)
    with TemporaryDirectory() as folder:
        said = last_words(__name__, folder, policy, str(number), point=number)
        return Death(policy, point, said["appended"], said["covered"], len(new_process_finds(folder)))


def random_deaths(seed: int, count: int) -> list[Death]:
    """*count* kills, the policies in turn, at moments picked by *seed*."""
    random, names = Random(own_seed(seed)), list(POLICIES)
    deaths = []
    for at in range(count):
        policy = names[at % len(names)]
        choices = moments(policy)
        deaths.append(kill_at(policy, choices[int(len(choices) * random.random())]))
    return deaths


@dataclass(frozen=True)
class Look:
    """What lay on the disk at one moment of a run: how many events were *found*, and whether they are a *prefix*."""

    appended: int
    covered: int
    found: int
    prefix: bool

    @property
    def holds(self) -> bool:
        """Whether the law does: a prefix, and at least what a returned flush covered."""
        return self.prefix and self.covered <= self.found <= self.appended


def looks(seed: int, policies: Iterable[str] = POLICIES) -> list[Look]:
    """A random session of *seed* under each of *policies*, with a look at the disk at each of its moments.

    What lies there is what a kill at that moment would leave.
    """
    found: list[Look] = []
    for policy in policies:
        with TemporaryDirectory() as folder:
            found += _looks(Path(folder), policy, random_script(seed))
    return found


def _looks(folder: Path, policy: str, script: Sequence[Ask]) -> list[Look]:
    seen: list[Look] = []
    read: dict[int, list[SessionEvent]] = {}  # the file only grows, so its size tells what is in it
    path = JsonlStore(folder).path(ID)

    def look(point: Point, events: Sequence[SessionEvent], covered: int) -> None:
        size = path.stat().st_size if path.exists() else 0
        if size not in read:
            read[size] = new_process_finds(folder)
        there = read[size]
        seen.append(Look(len(events), covered, len(there), list(events[:len(there)]) == there))

    record(folder, policy, look, script)
    return seen


def main() -> None:
    """The process that will be killed."""
    folder, policy, number = sys.argv[1:]
    stop = stop_at(int(number), lambda point, events, covered: {"appended": len(events), "covered": covered})
    record(Path(folder), policy, stop)


if __name__ == "__main__":
    main()
