"""A state machine over everything that can happen to a log, against a model of plain lists.

The model knows three things: what was logged, how much of it was flushed, and the rules of `oracle`.
"""

import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from labsupport.errors import EventError, LogCorruptError, LosslessError, StaleCursorError, StoreBusyError, SurfaceError
from labsupport.sessionlog import Session, SessionHeader, check_invariants, fold_surface
from labsupport.sessionlog.storage import JsonlStore, barrier, end_of_step, every_event, flush, on_barriers, on_flush
from tests.sessionlog import builders as make
from tests.sessionlog import oracle
from tests.sessionlog.builders import Record
from tests.sessionlog.strategies import texts, unfit_values, values

POLICIES = [every_event, on_barriers, end_of_step, on_flush]
JUNK = [
    b"x",
    b"{",
    b"\n",
    b"null\n",
    b'{"type":"plugin/x"',
    b"\x00" * 40,
    b"\xff\xfe\n",
    b'{"type":"plugin/x","seq":99999,"time":0,"data":0}\n',
]


def read(store: JsonlStore) -> tuple[Any, ...]:
    """What is stored, in the words of `oracle.scan`."""
    try:
        return "whole", make.plain(store.read_from("s1", 0))
    except LogCorruptError as error:
        return "damaged", error.line


class Recording(RuleBasedStateMachine):
    """A session that is recorded, flushed, refused, closed, resumed, and killed at any point."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.places = 0
        self.compression: Any = None
        self.logged: list[Record] = []
        self.durable = 0
        self.turn = self.step = 0  # the ones that are open, or 0
        self.turns = self.steps = 0  # how many there were
        self.asked: list[str] = []
        self.called: list[str] = []

    # What is going on

    @initialize(compression=st.sampled_from([None, "zstd"]), policy=st.sampled_from(POLICIES), wait=st.booleans())
    def start(self, compression: Any, policy: Any, wait: bool) -> None:
        self.compression, self.policy = compression, policy
        self.open_store()
        self.session = Session.create("s1", header=SessionHeader("s1", created_at=1000))
        if wait:
            self.put(make.user("before the store"))
        self.writer: Any = self.store.attach(self.session, policy)

    def open_store(self) -> None:
        self.store = JsonlStore(self.folder / str(self.places), self.compression)

    def put(self, one: Record) -> None:
        event = make.append(self.session, one)
        assert event.seq == len(self.logged)
        self.logged.append({**one, "seq": event.seq, "time": 1000})
        kind = one["type"]
        if hasattr(self, "writer") and (
            self.policy is every_event or (self.policy is end_of_step and kind in ("step/end", "turn/end"))
        ):
            self.durable = len(self.logged)

    @property
    def nodes(self) -> list[int]:
        return oracle.surface(self.logged)

    # The session goes on

    @rule(text=texts)
    def somebody_speaks(self, text: str) -> None:
        self.put(make.user(text, f"u{len(self.logged)}"))

    @rule(data=values)
    def a_plug_in_notes(self, data: Any) -> None:
        self.put(make.record("plugin/x", data, ignorable=True))

    @rule()
    def the_turn_goes_on(self) -> None:
        """The next bracket, request, call or result that a driver would write."""
        if not self.turn:
            self.turn = self.turns = self.turns + 1
            self.steps = 0
            self.put(make.turn_start(self.turn))
        elif not self.step:
            self.step = self.steps = self.steps + 1
            self.put(make.step_start(self.step, self.turn))
        elif self.called:
            self.put(make.result(self.called.pop(), "done", self.step, self.turn))
        elif self.asked:
            self.called.append(self.asked.pop())
            self.put(make.call(self.called[-1], self.step, self.turn))
        else:
            self.put(make.step_end(self.step, self.turn))
            self.step = 0

    @precondition(lambda self: self.step and not self.asked and not self.called)
    @rule(count=st.integers(0, 3), said=st.lists(texts, max_size=4))
    def the_model_answers(self, count: int, said: list[str]) -> None:
        for piece in said:
            self.put(make.chunk(piece, self.step, self.turn))
        ids = [f"c{len(self.logged)}.{at}" for at in range(count)]
        self.put(make.asks(*ids, step=self.step, turn=self.turn) if ids else make.says("ok", self.step, self.turn))
        self.asked = ids[::-1]

    @precondition(lambda self: self.turn and not self.step)
    @rule()
    def the_turn_ends(self) -> None:
        self.put(make.turn_end(self.turn))
        self.turn = 0

    @precondition(lambda self: self.nodes)
    @rule(data=st.data(), text=texts)
    def a_range_is_replaced(self, data: st.DataObject, text: str) -> None:
        nodes = self.nodes
        first = data.draw(st.integers(0, len(nodes) - 1))
        last = data.draw(st.integers(first, len(nodes) - 1))
        self.put(make.user(text, "sum", make.replacing(nodes[first], nodes[last]), sourceEventSeqs=nodes[first : last + 1]))

    @rule(start=st.integers(0, 30), end=st.integers(0, 30), sources=st.lists(st.integers(0, 30), max_size=4))
    def a_replacement_is_tried(self, start: int, end: int, sources: list[int]) -> None:
        nodes = self.nodes
        try:
            made = make.append(self.session, make.user("try", "try", make.replacing(start, end), sourceEventSeqs=sources))
        except SurfaceError:
            return  # the invariants see that nothing changed
        first, last = nodes.index(start), nodes.index(end)
        assert first <= last
        assert {*nodes[first : last + 1]} <= {*sources}
        self.logged.append(made.to_json())
        if self.policy is every_event:
            self.durable = len(self.logged)

    @rule(value=unfit_values)
    def data_that_does_not_fit_is_tried(self, value: Any) -> None:
        with pytest.raises(LosslessError):
            self.session.append("plugin/x", [value, {"no json"}], ignorable=True)
        with pytest.raises((EventError, SurfaceError)):
            self.session.append("plugin/x", 1, surface_op="append")

    # It is made durable

    @rule()
    def a_flush(self) -> None:
        flush(self.session)
        self.durable = len(self.logged)
        assert self.writer.waiting == 0

    @rule()
    def a_barrier(self) -> None:
        barrier(self.session)
        if self.policy is on_barriers:
            self.durable = len(self.logged)

    @rule()
    def somebody_else_wants_to_write(self) -> None:
        other = JsonlStore(self.store.root, self.compression)
        for refused in (lambda: other.attach(self.session), lambda: self.store.attach(self.session)):
            with pytest.raises(StoreBusyError):
                refused()
        if self.durable:
            with pytest.raises(StoreBusyError):
                other.load("s1")

    @rule(behind=st.integers(1, 3))
    def an_old_cursor_is_tried(self, behind: int) -> None:
        if self.durable >= behind:
            with pytest.raises(StaleCursorError):
                self.store.append("s1", make.log(make.user("late"), first=self.durable - behind))

    # It ends, and is opened again

    def resume(self, expected: list[Record]) -> None:
        """Load what is there, which must be *expected* and its closers, and go on with it."""
        if not self.store.path("s1").exists():
            assert not expected
            self.session = Session.create("s1", header=SessionHeader("s1", created_at=1000))
            self.logged, self.durable = [], 0
        else:
            seen = self.store.inspect("s1")
            loaded = self.store.load("s1")
            assert make.plain(seen.events) == make.plain(loaded.events), "what inspect shows is what load commits"
            kept, added = loaded.events[: len(expected)], loaded.events[len(expected) :]
            assert make.plain(kept) == expected
            assert [oracle.told(one) for one in make.plain(added)] == oracle.closers(expected)
            assert check_invariants(loaded.events) == []
            assert self.store.load("s1").repair is None, "a second recovery changes nothing"
            self.session = Session.create("s1", seed=loaded.events, header=loaded.header)
            assert self.session.first_live_seq == len(loaded.events)
            self.logged = make.plain(self.session.events)
            self.durable = len(loaded.events)
        self.turns = sum(one["type"] == "turn/start" for one in self.logged)
        self.turn = self.step = self.steps = 0
        self.asked, self.called = [], []
        self.writer = self.store.attach(self.session, self.policy)

    @rule()
    def it_is_closed_and_resumed(self) -> None:
        self.writer.close()
        self.resume(self.logged)

    def die(self) -> Path:
        """The folder as a process leaves it that is killed now; what it never wrote is gone."""
        left = self.store.root
        self.places += 1
        self.open_store()
        if left.exists():
            shutil.copytree(left, self.store.root, ignore=shutil.ignore_patterns("*.lock"))
        self.writer.close()  # gives back the descriptors; the folder that it writes to is left behind
        return self.store.path("s1")

    @rule()
    def it_is_killed(self) -> None:
        expected = self.logged[: self.durable]
        self.die()
        self.resume(expected)

    @precondition(lambda self: self.durable)
    @rule(junk=st.sampled_from(JUNK), more=st.binary(max_size=5))
    def it_is_killed_while_it_writes(self, junk: bytes, more: bytes) -> None:
        expected = self.logged[: self.durable]
        path = self.die()
        with path.open("ab") as file:
            file.write(junk + more.replace(b"\n", b""))
        self.resume(expected)

    @precondition(lambda self: self.durable and self.compression is None)
    @rule(data=st.data())
    def the_file_is_cut_anywhere(self, data: st.DataObject) -> None:
        durable = self.logged[: self.durable]
        path = self.die()
        whole = path.read_bytes()
        header = whole.index(b"\n") + 1
        size = data.draw(st.integers(header, len(whole)))
        path.write_bytes(whole[:size])
        kept = self.store.read_from("s1", 0)
        assert make.plain(kept) == durable[: len(kept)], "a prefix, and nothing invented"
        self.resume(durable[: len(kept)])

    @precondition(lambda self: self.durable and self.compression is None)
    @rule(data=st.data())
    def a_byte_is_damaged(self, data: st.DataObject) -> None:
        """Read as the strict reference reads it: refused as damage, or a prefix is kept."""
        self.writer.flush()
        whole = self.store.path("s1").read_bytes()
        at = data.draw(st.integers(whole.index(b"\n") + 1, len(whole) - 1))
        with tempfile.TemporaryDirectory() as name:
            spoiled = whole[:at] + bytes([whole[at] ^ data.draw(st.integers(1, 255))]) + whole[at + 1 :]
            store = make.jsonl_file(Path(name), spoiled)
            expected = oracle.scan(spoiled)
            assert read(store) == expected[:2]
            assert store.path("s1").read_bytes() == spoiled
        self.durable = len(self.logged)

    # What always holds

    @invariant()
    def the_log_is_the_model(self) -> None:
        if hasattr(self, "session"):
            assert make.plain(self.session.events) == self.logged
            assert list(self.session.surface.nodes) == self.nodes
            assert make.same_messages(self.session) == oracle.derive(self.logged)

    @invariant()
    def the_store_has_what_was_flushed_and_no_more(self) -> None:
        if hasattr(self, "writer"):
            stored = self.store.read_from("s1", 0) if self.store.path("s1").exists() else []
            assert make.plain(stored) == self.logged[: self.durable]
            assert self.writer.waiting == len(self.logged) - self.durable

    def teardown(self) -> None:
        if hasattr(self, "writer"):
            assert list(fold_surface(self.session.events).nodes) == self.nodes
            assert check_invariants(self.session.events) == []
            self.writer.close()
        shutil.rmtree(self.folder)


class TestRecording(Recording.TestCase):  # type: ignore[misc, name-defined]
    settings = settings(max_examples=60, stateful_step_count=30)
