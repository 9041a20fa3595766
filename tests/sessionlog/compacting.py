"""What the tests of compaction share: surfaces of every kind, summarizers that misbehave, and the laws of any log."""

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

from labsupport.errors import CompactionError
from labsupport.sessionlog import (
    Session,
    SessionEvent,
    check_compaction,
    estimate_message,
    fold,
    fold_surface,
    pairing_cuts,
    surface_tokens,
)
from labsupport.sessionlog.compaction_report import CompactionReport, compaction_report
from labsupport.sessionlog.lineage import compaction_locks, live_compaction
from labsupport.sessionlog.ranges import legal_cuts
from labsupport.sessionlog.summarizers import Summary
from tests.sessionlog import builders as make
from tests.sessionlog import oracle
from tests.sessionlog.builders import Record

LONG = "words " * 100
"""A text that a short summary is sure to be smaller than."""


class Clock:
    """A clock that stops when it is told to: what comes then cannot be logged."""

    def __init__(self) -> None:
        self.broken = False

    def __call__(self) -> int:
        if self.broken:
            raise OSError("the clock stands still")
        return 1000


class Summarizing:
    """A summarizer that does what it is given with the messages; what that returns is a summary, or its text."""

    def __init__(self, work: Callable[[Sequence[Any]], Any] = lambda messages: "short") -> None:
        self._work = work
        self.asked = 0

    def summarize(self, messages: Sequence[Any]) -> Summary:
        self.asked += 1
        said = self._work(messages)
        return said if isinstance(said, Summary) else Summary([make.text_block(said)], "workbook", "test-1")


def session_of(*records: Record) -> Session:
    session = Session.create("s1")
    for one in records:
        make.append(session, one)
    return session


def talk(*texts: str) -> Session:
    """A session of what a user said, between turns."""
    return session_of(*(make.user(text, f"u{at}") for at, text in enumerate(texts)))


def compaction_end(session: Session) -> Any:
    """The data of the last compaction/end."""
    return next(event for event in reversed(session.events) if event.type == "compaction/end").read()


def report(session: Session) -> CompactionReport:
    """The report of the only compaction of *session*."""
    start, = (event for event in session.events if event.type == "compaction/start")
    return compaction_report(session.events, start.read()["compactionId"])


def refusal(work: Callable[[], object]) -> CompactionError:
    """The refusal of *work*."""
    try:
        done = work()
    except CompactionError as error:
        return error
    raise AssertionError(f"it was not refused: {done}")


# The laws


def accounts(events: Sequence[SessionEvent]) -> list[str]:
    """Sentences about messages that are neither on the surface nor in the place of exactly one later replacement."""
    surface = fold_surface(events)
    shadowed = [seq for one in surface.replacements for seq in one.shadowed_seqs]
    found = [f"{seq} is shadowed twice" for seq in sorted({seq for seq in shadowed if shadowed.count(seq) > 1})]
    for event in events:
        if event.to_json().get("surfaceOp") is not None:
            places = (event.seq in surface.nodes) + (event.seq in shadowed)
            if places != 1:
                found.append(f"{event.seq} has {places} places")
    return found


def lawful(session: Session, compactions: bool = True) -> None:
    """What holds of every log after every event."""
    events, plain = list(session.events), make.plain(session.events)
    assert accounts(events) == []
    assert list(session.surface.nodes) == oracle.surface(plain) == list(fold_surface(events).nodes)
    assert make.same_messages(session) == oracle.derive(plain)
    assert pairing_cuts(events) == legal_cuts(session)
    assert live_compaction(session) == compaction_locks(events).live
    costs = [estimate_message(message) for message in session.derive_messages()]
    assert fold(surface_tokens, events)["tokens"] == sum(costs)
    if compactions:
        assert check_compaction(events) == []


# Surfaces


def calls_of(event: Record) -> list[str]:
    """The ids of the calls in the message of *event*, a record."""
    data = event["data"]
    content = data["message"]["content"] if "message" in data else data["content"]
    return [block["id"] for block in content if block.get("type") == "tool-call"]


def result_of(event: Record) -> str | None:
    """The id of the call that *event*, a record, answers."""
    return event["data"]["message"]["source"]["callId"] if event["type"] == "tool/result" else None


def open_at(session: Session) -> list[int]:
    """For each cut of the surface: calls before it less results before it."""
    counts, plain = [0], make.plain(session.events)
    for seq in session.surface.nodes:
        counts.append(counts[-1] + len(calls_of(plain[seq])) - (result_of(plain[seq]) is not None))
    return counts


@st.composite
def surfaces(draw: st.DrawFn, most: int = 14) -> Session:
    """Sessions with messages of many lengths, calls whose results come late and in any order, and earlier replacements."""
    session = Session.create("s1")
    waiting: list[str] = []
    for _ in range(draw(st.integers(0, most))):
        kind = draw(st.sampled_from(["user", "says", "asks", "result", "result", "replace", "empty", "log-only"]))
        text = "x" * draw(st.sampled_from([0, 1, 40, 400]))
        at = len(session.events)
        if kind == "user":
            make.append(session, make.user(text, f"u{at}"))
        elif kind == "says":
            make.append(session, make.says(text, id=f"a{at}"))
        elif kind == "empty":
            make.append(session, make.record("assistant/message", make.says_data(id=f"a{at}"), surfaceOp="append"))
        elif kind == "log-only":
            make.append(session, make.record("session/title", {"title": text}))
        elif kind == "asks":
            ids = [f"c{at}.{number}" for number in range(draw(st.integers(1, 3)))]
            make.append(session, make.asks(*ids))
            waiting += ids
        elif kind == "result" and waiting:
            make.append(session, make.result(waiting.pop(draw(st.integers(0, len(waiting) - 1))), text))
        elif kind == "replace":
            nodes, cuts = session.surface.nodes, [at for at, count in enumerate(open_at(session)) if not count]
            if len(cuts) > 1:
                first = draw(st.integers(0, len(cuts) - 2))
                last = draw(st.integers(first + 1, len(cuts) - 1))
                shadowed = nodes[cuts[first]:cuts[last]]
                source = draw(st.sampled_from([{"kind": "plugin", "plugin": "edit"}, {"kind": "plugin", "plugin": "compact"}]))
                session.append("user/message", make.user_data("s", f"s{at}", **source),
                               make.replacing(shadowed[0], shadowed[-1]), shadowed)
    return session
