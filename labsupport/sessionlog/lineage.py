"""Resume, fork and replay: three ways to go on from a log, and what each of them may do (chapter 4, §4.11 and §4.9.1).

    resume   the whole log, the same id, written on
    fork     a prefix of it, another id, the source unchanged
    replay   any events, no store, no tool
"""
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol
from weakref import WeakKeyDictionary

from labsupport.errors import DetachedSessionError, ForkError
from labsupport.sessionlog.events import SessionEvent
from labsupport.sessionlog.header import SessionHeader
from labsupport.sessionlog.session import Clock, Session


class Loads(Protocol):
    """The part of a store that a resume needs."""

    def load(self, id: str) -> Any:
        """A log, repaired, whose `session(clock)` goes on with it."""


def resume(store: Loads, id: str, clock: Clock | None = None) -> Session:
    """The session *id* of *store*, repaired and ready to go on; `store.attach(session)` then writes what it logs.

    Its events end in a `session/end-seed`, and `first_live_seq` is the seq of that marker, so that what came before can be
    told from what this process does. What the store refuses comes through: StoreBusyError while the session is live elsewhere,
    LogCorruptError, LogFormatError, UnknownEventError.
    """
    session: Session = store.load(id).session(clock)
    return session


def fork(session: Session, boundary: int | None = None, child_id: str | None = None, clock: Clock | None = None) -> Session:
    """A new session that begins with the events of *session* up to and with seq *boundary*, by default all of them.

    >>> source = Session.create("s1")
    >>> for type, data in (("turn/start", {"turn": 1}), ("turn/end", {"turn": 1, "reason": {"kind": "completed"}})):
    ...     _ = source.append(type, data)
    >>> child = fork(source)
    >>> child.id, child.header.parent_session, child.header.seed_length, [event.type for event in child.events]
    ('s1-fork-2', 's1', 2, ['turn/start', 'turn/end', 'session/end-seed'])

    Inside a turn there is no fork: some calls would have results in the parent alone.

    >>> fork(source, 0)
    Traceback (most recent call last):
    labsupport.errors.ForkError: event 0 lies inside a turn, and a fork takes whole turns. There is no boundary before it; ...

    The child has the history, the depth, the preset and the folder of *session*, and none of its permissions: it logs a
    request header of its own. The source does not change. *child_id* is made of the source's id and the length of the seed
    when it is not given. Chapter 4, §4.11.
    """
    events = session.events
    at = len(events) - 1 if boundary is None else boundary
    if type(at) is not int or not (0 <= at < len(events) or (boundary is None and at == -1)):
        last = f"the last one is {len(events) - 1}" if events else "the log is empty"
        raise ForkError(f"there is no event {at} to fork after; {last}", boundary, last_boundary(events))
    if at >= 0 and _behind(events[:at + 1]) == "turn/start":
        last_legal = last_boundary(events[:at])
        where = ("There is no boundary before it; wait for the turn's end" if last_legal is None else
                 f"The last boundary before it is {last_legal}")
        raise ForkError(f"event {at} lies inside a turn, and a fork takes whole turns. {where}.", at, last_legal)
    source = session.header
    child_id = f"{session.id}-fork-{at + 1}" if child_id is None else child_id
    if child_id == session.id:
        raise ForkError("a fork has an id of its own; on the same id a session is resumed", at, at)
    now = clock() if clock is not None else events[at].time if at >= 0 else source.created_at
    header = SessionHeader(child_id, created_at=max(0, now), cwd=source.cwd, parent_session=session.id, seed_length=at + 1,
                           delegation_depth=source.delegation_depth, agent_preset=source.agent_preset)
    return session.branch(header, at + 1, clock)


def boundaries(events: Iterable[SessionEvent]) -> list[int]:
    """The seqs behind which a fork may begin: those that leave no turn open.

    >>> session = Session.create("s1")
    >>> for type in ("session/title", "turn/start", "turn/end", "session/title"):
    ...     _ = session.append(type, {"turn": 1})
    >>> boundaries(session.events)
    [0, 2, 3]
    """
    legal, inside = [], False
    for event in events:
        if event.type in _TURNS:
            inside = event.type == "turn/start"
        if not inside:
            legal.append(event.seq)
    return legal


_TURNS = ("turn/start", "turn/end")


def last_boundary(events: Iterable[SessionEvent]) -> int | None:
    """The last seq of *events* at which no turn is open; None where there is none."""
    kept = list(events)
    while kept and _behind(kept) == "turn/start":
        while kept.pop().type != "turn/start":
            pass
    return kept[-1].seq if kept else None


def _behind(events: list[SessionEvent]) -> str:
    """The type of the last turn boundary in *events*."""
    return next((event.type for event in reversed(events) if event.type in _TURNS), "")


def replay(events: Iterable[SessionEvent], header: SessionHeader | None = None) -> Session:
    """A detached session with *events*: for looking and for tests. No store attaches it, and `run_turn` refuses it.

    >>> again = replay([])
    >>> [event.type for event in again.events], again.detached
    (['session/end-seed'], True)

    It derives and folds what the original does; nothing that the original did in the world is done again. Chapter 4, §4.11.
    """
    header = SessionHeader("replay") if header is None else header
    session = Session.create(header.id, events, header)
    session.detached = True
    return session


def check_attached(session: Session) -> None:
    """DetachedSessionError where *session* is a replay."""
    if session.detached:
        raise DetachedSessionError("this session is a replay: it writes to no store and runs no tool. Resume the session to go "
                                   "on with it, or fork it to try something else.")


def delegate(session: Session, child_id: str, agent_preset: str | None = None, max_depth: int = 3,
             clock: Clock | None = None) -> Session:
    """An empty session for a sub-agent of *session*, one level deeper; ForkError beyond *max_depth*.

    >>> child = delegate(Session.create("s1"), "s1-research")
    >>> child.header.origin, child.header.parent_session, child.header.delegation_depth
    ('subagent', 's1', 1)
    """
    depth = session.header.delegation_depth + 1
    if depth > max_depth:
        raise ForkError(f"a sub-agent here would stand at depth {depth}, and {max_depth} is the limit. Let this session do the "
                        "work itself.")
    if child_id == session.id:
        raise ForkError("a sub-agent has an id of its own")
    now = clock() if clock is not None else session.events[-1].time if session.events else session.header.created_at
    header = SessionHeader(child_id, created_at=max(0, now), cwd=session.header.cwd, parent_session=session.id,
                           origin="subagent", delegation_depth=depth, agent_preset=agent_preset)
    return Session.create(child_id, header=header, clock=clock)


@dataclass(frozen=True)
class CompactionLocks:
    """Compactions that were started and not ended: the *live* one holds the lock, *stale* ones were left by dead processes."""

    live: int | None
    stale: tuple[int, ...]


def compaction_locks(events: Iterable[SessionEvent]) -> CompactionLocks:
    """The seqs of the `compaction/start` events in *events* whose compaction did not end.

    An end-seed ends the life of the process before it, and so a lock that this process left behind. Chapter 4, §4.9.1.
    """
    live: int | None = None
    stale: list[int] = []
    for event in events:
        if event.type not in _LOCKS:
            continue
        if event.type == "session/end-seed" and live is not None:
            stale.append(live)
        live = event.seq if event.type == "compaction/start" else None
    return CompactionLocks(live, tuple(stale))


_LOCKS = frozenset({"compaction/start", "compaction/end", "session/end-seed"})


def live_compaction(session: Session) -> int | None:
    """The seq of the `compaction/start` that holds the lock of *session* now. Each event is looked at once."""
    looked, live = _looked.get(session, (0, None))
    for event in session.events[looked:]:
        if event.type in _LOCKS:
            live = event.seq if event.type == "compaction/start" else None
    _looked[session] = (len(session.events), live)
    return live


_looked: WeakKeyDictionary[Session, tuple[int, int | None]] = WeakKeyDictionary()
