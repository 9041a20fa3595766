"""Writing behind a live session: when what was appended becomes durable (chapter 4, §4.8.1)."""
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from labsupport.errors import StoredLogError
from labsupport.sessionlog.events import SessionEvent
from labsupport.sessionlog.session import Session


@dataclass(frozen=True)
class Policy:
    """When a writer makes durable what it holds: after an event that is *due*, and, with *barriers*, where the loop asks.

    `flush` and `close` write under every policy.
    """

    name: str
    due: Callable[[SessionEvent], bool]
    barriers: bool = False


every_event = Policy("every event", lambda event: True)
on_barriers = Policy("before each request and tool", lambda event: False, barriers=True)
end_of_step = Policy("end of step", lambda event: event.type in ("step/end", "turn/end"))
end_of_turn = Policy("end of turn", lambda event: event.type == "turn/end")
on_flush = Policy("flush and close only", lambda event: False)


def every_ms(interval: int, clock: Callable[[], int]) -> Policy:
    """Write with the first event that comes *interval* milliseconds or more after the last write, by *clock*."""
    last = clock()

    def due(event: SessionEvent) -> bool:
        nonlocal last
        now = clock()
        if now - last < interval:
            return False
        last = now
        return True

    return Policy(f"every {interval} ms", due)


class Writer:
    """What one store still has to write of one session. A write that fails keeps its events for the next try."""

    def __init__(self, session: Session, stored: int, policy: Policy, write: Callable[[Sequence[SessionEvent]], None],
                 release: Callable[[], None]) -> None:
        self.policy = policy
        self._write, self._release = write, release
        self._waiting: list[SessionEvent] = session.events[stored:]
        self._stop = session.observe(self._see)
        self._session = session
        _writers.setdefault(session, []).append(self)

    @property
    def waiting(self) -> int:
        """How many events are not durable yet."""
        return len(self._waiting)

    def _see(self, event: SessionEvent) -> None:
        self._waiting.append(event)
        if self.policy.due(event):
            self.flush()

    def flush(self) -> None:
        """Make durable what was appended so far; what the store raises comes through, and nothing is lost."""
        if self._waiting:
            self._write(self._waiting)
            self._waiting = []

    def close(self) -> None:
        """Write what is left, and let another writer in, also when that fails. A second call does nothing."""
        try:
            self.flush()
        finally:
            self._stop()
            self._release()
            if self in _writers.get(self._session, ()):
                _writers[self._session].remove(self)
                _left_at[self._session] = len(self._session.events)


_writers: WeakKeyDictionary[Session, list[Writer]] = WeakKeyDictionary()
_left_at: WeakKeyDictionary[Session, int] = WeakKeyDictionary()  # how many events there were when a writer was closed


def flush(session: Session) -> None:
    """Return when every writer of *session* has made durable what was appended before; then the first failure is raised.

    StoredLogError when its last writer was closed and events came since: nobody writes them. A session that never had a writer
    is one in memory, and there is nothing to do.
    """
    writers = _writers.get(session, [])
    missed = len(session.events) - _left_at.get(session, len(session.events))
    if missed and not writers:
        raise StoredLogError(f"the writer of session {session.id!r} was closed, and {missed} events came since. They are in "
                             "memory alone: attach a store again, then flush.")
    _flush_all(writers)


def barrier(session: Session) -> None:
    """As `flush`, for the writers whose policy lets the loop say when."""
    _flush_all([writer for writer in _writers.get(session, []) if writer.policy.barriers])


def _flush_all(writers: Sequence[Writer]) -> None:
    failures: list[Exception] = []
    for writer in tuple(writers):
        try:
            writer.flush()
        except Exception as error:  # noqa: BLE001 - the others are served first, then the first failure is raised
            failures.append(error)
    if failures:
        raise failures[0]
