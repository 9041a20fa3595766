"""A state machine: talk, turns, calls, compactions that go well or wrong in every way, pruning, kills and resumes.

The session is written to a real store. A kill drops it in the middle of whatever is going on; what was flushed is all that a
resume finds. The laws hold after every step.
"""

import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from labsupport.errors import CompactionError
from labsupport.sessionlog import PruneConfig, Session, SessionHeader, check_compaction, check_invariants, replay, resume
from labsupport.sessionlog.compaction import compact, compact_after_overflow, compact_under_pressure, open_turn
from labsupport.sessionlog.compaction_report import compaction_ids, compaction_report
from labsupport.sessionlog.lineage import compaction_locks, live_compaction
from labsupport.sessionlog.pruning import prune_session
from labsupport.sessionlog.ranges import choose_range, legal_cuts
from labsupport.sessionlog.storage import barrier, every_event, flush, on_barriers, on_flush
from labsupport.sessionlog.summarizers import Summary
from tests.sessionlog import builders as make
from tests.sessionlog import oracle
from tests.sessionlog.builders import Record
from tests.sessionlog.compacting import LONG, Clock, Summarizing, lawful, open_at
from tests.sessionlog.stores import named

SMALL = PruneConfig(60, 12, 5)
TRIGGERS = st.sampled_from(["manual", "pressure", "context-overflow"])
POLICIES = st.sampled_from([every_event, on_barriers, on_flush])
WORDS = st.sampled_from([LONG, LONG + "预算 🙂", LONG * 3, "hi", "\ud83d" * 500, ""])


def raising(error: BaseException) -> Any:
    def work(messages: Any) -> str:
        raise error
    return work


WRONG: dict[str, Any] = {
    "it times out": raising(TimeoutError()),
    "it recurses": raising(RecursionError()),
    "it is interrupted": raising(KeyboardInterrupt()),
    "it is too long": lambda messages: LONG * 50,
    "it is no JSON": lambda messages: Summary([{"type": "x", "n": float("inf")}], "w", "m"),
    "its details are no JSON": lambda messages: Summary([make.text_block("s")], "w", "m", {"usage": {1}}),
}


class Killed(BaseException):
    """The process is gone."""


class Compacting(RuleBasedStateMachine):
    """One session, its store, and what may happen to both."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.lives = 0
        self.asked: list[str] = []
        self.called: list[str] = []
        self.step = self.steps = 0
        self.history: list[Record] = []

    @initialize(kind=st.sampled_from(["plain", "sqlite"]), policy=POLICIES)
    def start(self, kind: str, policy: Any) -> None:
        self.kind, self.policy = named(kind), policy
        self.store = self.kind.open(self.folder / "0")
        self.clock = Clock()
        self.session = Session.create("s1", header=SessionHeader("s1", created_at=1000), clock=self.clock)
        self.writer = self.store.attach(self.session, policy)
        for _ in range(2):
            self.somebody_speaks([LONG, LONG])
            self.a_turn_with_tools([LONG, "done"], ends=True)
        self.writer.flush()

    def put(self, one: Record) -> int:
        return make.append(self.session, one).seq

    @property
    def turn(self) -> int:
        return open_turn(self.session) or 0

    @property
    def is_free(self) -> bool:
        return live_compaction(self.session) is None

    # The session goes on

    @rule(said=st.lists(WORDS, min_size=1, max_size=4))
    def somebody_speaks(self, said: list[str]) -> None:
        for text in said:
            self.put(make.user(text, f"u{len(self.session.events)}"))

    @precondition(lambda self: self.is_free and not self.turn)
    @rule(texts=st.lists(WORDS, min_size=1, max_size=3), ends=st.booleans())
    def a_turn_with_tools(self, texts: list[str], ends: bool) -> None:
        """A turn of one step with a call for each of the *texts*, which are the results."""
        self.a_turn_starts()
        self.the_model_answers(len(texts), "")
        while self.asked or self.called:
            self.a_tool_works(texts[len(self.asked) - 1], last=True)
        self.the_step_ends()
        if ends:
            self.the_turn_ends()

    @precondition(lambda self: self.is_free)
    @rule()
    def a_turn_starts(self) -> None:
        if not self.turn:
            turns = sum(event.type == "turn/start" for event in self.session.events)
            self.put(make.turn_start(turns + 1))
            self.steps = self.step = 0

    @precondition(lambda self: self.turn)
    @rule(calls=st.integers(0, 3), text=WORDS)
    def the_model_answers(self, calls: int, text: str) -> None:
        if not self.step:
            self.step = self.steps = self.steps + 1
            self.put(make.step_start(self.step, self.turn))
        if self.asked or self.called:
            return
        ids = [f"c{len(self.session.events)}.{at}" for at in range(calls)]
        self.put(make.asks(*ids, step=self.step, turn=self.turn) if ids else make.says(text, self.step, self.turn))
        self.asked = ids

    @precondition(lambda self: self.asked or self.called)
    @rule(text=WORDS, last=st.booleans())
    def a_tool_works(self, text: str, last: bool) -> None:
        """The next call starts, or one that started has its result; the results may come in another order."""
        if self.asked and not (self.called and last):
            self.called.append(self.asked.pop(0))
            self.put(make.call(self.called[-1], self.step, self.turn))
        else:
            self.put(make.result(self.called.pop(-1 if last else 0), text, self.step, self.turn))

    @precondition(lambda self: self.step and not self.asked and not self.called)
    @rule()
    def the_step_ends(self) -> None:
        self.put(make.step_end(self.step, self.turn))
        self.step = 0

    @precondition(lambda self: self.turn and not self.step and self.is_free)
    @rule()
    def the_turn_ends(self) -> None:
        self.put(make.turn_end(self.turn))

    # It is compacted

    def range(self, data: st.DataObject) -> tuple[int, int] | None:
        """The ends of a legal range, drawn; None where the surface has none."""
        cuts = [at for at, waiting in enumerate(open_at(self.session)) if not waiting]
        if len(cuts) < 2:
            return None
        first = data.draw(st.integers(0, len(cuts) - 2))
        last = len(cuts) - 1 - data.draw(st.integers(0, len(cuts) - 2 - first))
        nodes = self.session.surface.nodes
        return nodes[cuts[first]], nodes[cuts[last] - 1]

    def attempt(self, data: st.DataObject, trigger: str, work: Any, codes: Sequence[str], fails: bool = True,
                **more: Any) -> None:
        """Compact a legal range with *work* as the summarizer: it *fails* for sure, or may fail, with one of the *codes*."""
        ends = self.range(data)
        if ends is None:
            return
        events, was_free, code = len(self.session.events), self.is_free, ""
        try:
            made = compact(self.session, *ends, Summarizing(work), trigger=trigger, **more)
        except CompactionError as error:
            code = error.code
        if not was_free:
            assert (code, len(self.session.events)) == ("busy", events)
            return
        if not code:
            assert not fails
            assert made.tokens < made.shadowed_tokens
            assert made.checkpoint_seq in self.session.surface.nodes
            return
        assert code in codes
        told = compaction_report(self.session.events, compaction_ids(self.session.events)[-1])
        assert told.state.value["state"] == {"commit": "open and replaced", "persistence": "replaced"}.get(code, "failed")
        assert (live_compaction(self.session) is not None) == (code == "commit")

    @rule(data=st.data(), trigger=TRIGGERS)
    def a_compaction_is_asked_for(self, data: st.DataObject, trigger: str) -> None:
        self.attempt(data, trigger, lambda messages: "short", ["summary"], fails=False)

    @rule(data=st.data(), trigger=TRIGGERS, how=st.sampled_from(sorted(WRONG)))
    def the_summarizer_fails(self, data: st.DataObject, trigger: str, how: str) -> None:
        before = list(self.session.surface.nodes)
        with suppress(KeyboardInterrupt):
            self.attempt(data, trigger, WRONG[how], ["summary"])
        assert list(self.session.surface.nodes) == before

    @rule(data=st.data(), trigger=TRIGGERS)
    def a_message_comes_meanwhile(self, data: st.DataObject, trigger: str) -> None:
        late: list[int] = []

        def work(messages: Any) -> str:
            late.append(self.put(make.user("late", f"late{len(self.session.events)}")))
            return "short"

        self.attempt(data, trigger, work, ["summary"] if trigger == "manual" else ["changed"], fails=trigger != "manual")
        assert set(late) <= set(self.session.surface.nodes), "it stays"

    @rule(data=st.data(), trigger=TRIGGERS)
    def a_node_is_replaced_meanwhile(self, data: st.DataObject, trigger: str) -> None:
        def work(messages: Any) -> str:
            plain = make.plain(self.session.events)
            seq = next((seq for seq in self.session.surface.nodes if plain[seq]["type"] == "user/message"), None)
            if seq is not None:
                self.put(make.user("edit", f"e{len(plain)}", make.replacing(seq, seq), sourceEventSeqs=[seq]))
            return "short"

        self.attempt(data, trigger, work, ["summary", "changed"], fails=False)

    @rule(data=st.data(), trigger=TRIGGERS)
    def another_is_asked_for_meanwhile(self, data: st.DataObject, trigger: str) -> None:
        codes: list[str] = []

        def work(messages: Any) -> str:
            nodes = self.session.surface.nodes
            with pytest.raises(CompactionError) as refused:
                compact(self.session, nodes[0], nodes[-1], Summarizing())
            codes.append(refused.value.code)
            return "short"

        self.attempt(data, trigger, work, ["summary"], fails=False)
        assert codes in ([], ["busy"])

    @rule(data=st.data(), trigger=TRIGGERS)
    def the_end_cannot_be_written(self, data: st.DataObject, trigger: str) -> None:
        def stop_clock(event: Any) -> None:
            self.clock.broken = event.type == "user/message"

        stop = self.session.observe(stop_clock)
        self.attempt(data, trigger, lambda messages: "short", ["summary", "commit"])
        stop()
        self.clock.broken = False

    @rule(data=st.data())
    def the_flush_fails(self, data: st.DataObject) -> None:
        def fail(session: Session) -> None:
            raise OSError("disk full")

        self.attempt(data, "manual", lambda messages: "short", ["summary", "persistence"], flush=fail)

    @rule(retain=st.integers(0, 400), threshold=st.integers(1, 600))
    def there_is_pressure(self, retain: int, threshold: int) -> None:
        was_free, chosen = self.is_free, choose_range(self.session, retain)
        made, code = None, ""
        try:
            made = compact_under_pressure(self.session, Summarizing(), threshold=threshold, retain_tokens=retain)
        except CompactionError as error:
            code = error.code
        assert code in ("", "summary" if was_free else "busy")
        if code == "summary":
            assert compact_under_pressure(self.session, Summarizing(), threshold=1, retain_tokens=retain) is None
        assert made is None or made.shadowed_seqs == chosen.seqs

    @precondition(lambda self: self.turn and self.is_free)
    @rule()
    def a_request_was_too_long(self) -> None:
        with suppress(CompactionError):
            compact_after_overflow(self.session, Summarizing(), prune=SMALL)
        assert prune_session(self.session, SMALL) == []

    @precondition(lambda self: self.turn)
    @rule()
    def long_results_are_pruned(self) -> None:
        prune_session(self.session, SMALL)
        length = len(self.session.events)
        assert prune_session(self.session, SMALL) == []
        assert len(self.session.events) == length

    @rule(start=st.integers(-1, 60), end=st.integers(-1, 60))
    def any_two_numbers_are_tried(self, start: int, end: int) -> None:
        nodes, counts = list(self.session.surface.nodes), open_at(self.session)
        places = [nodes.index(seq) for seq in (start, end) if seq in nodes]
        if len(places) == 2 and places[0] <= places[1] and not counts[places[0]] and not counts[places[1] + 1]:
            return
        length = len(self.session.events)
        with pytest.raises(CompactionError) as refused:
            compact(self.session, start, end, Summarizing())
        assert refused.value.code in ("range", "busy")
        assert len(self.session.events) == length

    # It is stored, and its process dies

    @rule()
    def a_flush(self) -> None:
        flush(self.session)
        assert make.plain(self.store.read_from("s1", 0) if len(self.session.events) else []) == make.plain(self.session.events)

    @rule()
    def a_barrier(self) -> None:
        barrier(self.session)

    def next_life(self) -> None:
        """Resume what the store in the folder has; what it has is a beginning of what was logged."""
        self.clock = Clock()
        held = self.kind.held(self.folder / str(self.lives))
        stored = make.plain(self.store.read_from("s1", 0)) if held else []
        assert stored == make.plain(self.session.events)[:len(stored)]
        if stored:
            self.session = resume(self.store, "s1", self.clock)
            assert make.plain(self.session.events)[:len(stored)] == stored
        else:
            self.session = Session.create("s1", header=SessionHeader("s1", created_at=1000), clock=self.clock)
        self.history = []
        self.asked, self.called, self.step, self.steps = [], [], 0, 0
        self.writer = self.store.attach(self.session, self.policy)
        assert live_compaction(self.session) is None, "what a dead process held is stale"

    def die(self) -> None:
        """Leave the folder as it is now, and let the old process write elsewhere."""
        left = self.folder / str(self.lives)
        self.lives += 1
        if left.exists():
            shutil.copytree(left, self.folder / str(self.lives), ignore=shutil.ignore_patterns("*.lock", "*.locks"))
        else:
            (self.folder / str(self.lives)).mkdir()
        self.writer.close()
        if hasattr(self.store, "close"):
            self.store.close()
        self.store = self.kind.open(self.folder / str(self.lives))

    @rule()
    def it_is_closed_and_resumed(self) -> None:
        self.writer.close()
        self.next_life()

    @rule()
    def it_is_killed(self) -> None:
        self.die()
        self.next_life()

    @rule(data=st.data(), trigger=TRIGGERS, at=st.sampled_from([
        "compaction/start", "summarizer", "compaction/summary", "user/message", "compaction/end"]), flushed=st.booleans())
    def it_is_killed_inside_a_compaction(self, data: st.DataObject, trigger: str, at: str, flushed: bool) -> None:
        def killed(event: Any) -> None:
            if event.type == at:
                if flushed:
                    self.writer.flush()
                self.die()
                raise Killed

        def work(messages: Any) -> str:
            if at == "summarizer":
                self.die()
                raise Killed
            return "short"

        ends, lives = self.range(data), self.lives
        if ends is None or not self.is_free:
            return
        stop = self.session.observe(killed)
        with suppress(Killed, CompactionError):
            compact(self.session, *ends, Summarizing(work), trigger=trigger)
        stop()
        if self.lives > lives:
            self.next_life()

    # What always holds

    @invariant()
    def the_laws(self) -> None:
        if hasattr(self, "session"):
            lawful(self.session)
            plain = make.plain(self.session.events)
            assert plain[:len(self.history)] == self.history, "nothing leaves the log, and nothing in it changes"
            self.history = plain
            assert legal_cuts(self.session)[0] is True
            if not self.turn:
                assert legal_cuts(self.session)[-1] is True

    def teardown(self) -> None:
        if hasattr(self, "session"):
            events = list(self.session.events)
            assert check_invariants(events) == check_compaction(events) == []
            again = replay(events)
            assert make.same_messages(again) == make.same_messages(self.session) == oracle.derive(make.plain(events))
            for id in compaction_ids(events):
                assert compaction_report(again.events, id).nodes == compaction_report(events, id).nodes
            locks = compaction_locks(again.events)
            assert locks.live is None
            self.writer.close()
        shutil.rmtree(self.folder)


class TestCompacting(Compacting.TestCase):  # type: ignore[misc, name-defined]
    settings = settings(max_examples=60, stateful_step_count=30)
