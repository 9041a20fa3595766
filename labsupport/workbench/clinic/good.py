"""A good case from a seed: a session that is compacted, forked, interrupted and resumed, with all that belongs to it."""
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from labsupport.lossless import js_json
from labsupport.outside import Ledger, Operation
from labsupport.own import own_seed
from labsupport.sessionlog import (
    Reply,
    ScriptedModel,
    Session,
    SessionEvent,
    SessionHeader,
    fork,
    interrupted_turn_closers,
    run_turn,
)
from labsupport.sessionlog.compaction import compact
from labsupport.sessionlog.models import call
from labsupport.sessionlog.prompt import ContextPart, Prompt, Section, Tools
from labsupport.sessionlog.summarizers import ScriptedSummarizer
from labsupport.workbench.clinic.cases import Flush, Provider, Receipt

START = 1_772_442_000_000
CONFIG = {"provider": "workbook", "model": "scripted-1"}
PEOPLE = ("Harbour", "Nanshan Lab", "Wren Textiles", "Lantern Print")
MATTERS = ("the audit is on Monday", "the delivery is late", "the price list is new", "the ward is closed")
RULES = ("Never write to {who} before noon.", "Never name a patient to {who}.", "Never promise {who} a discount.")
GRANTS = {"office": ("look_up", "send_notice", "delete_rows"), "desk": ("look_up", "send_notice")}
"""The scopes of parent and child, and the tools that the permission provider grants to each."""
RULE_SECTION, CONTEXT_PART = "limits", "ward"


@dataclass(frozen=True)
class Good:
    """The parts of a good case, and what its summary says: the *rule* of a user, and what was *done* about a *notice*."""

    header: SessionHeader
    events: tuple[SessionEvent, ...]
    flushes: tuple[Flush, ...]
    provider: Provider
    ledger: tuple[Operation, ...]
    receipts: tuple[Receipt, ...]
    archive: bytes
    notice: str
    rule: str
    done: str


@lru_cache(64)
def record(seed: int) -> Good:
    """Record it: the same *seed* gives the same case.

    >>> len(record(1).events) == len(record(1).events), record(1).header.parent_session
    (True, 'chat-1')
    """
    with TemporaryDirectory() as folder, Ledger(Path(folder) / "ledger.db", lambda: START) as ledger:
        return _Recording(Random(own_seed(seed)), ledger).run(seed)


class _Recording:
    def __init__(self, random: Random, ledger: Ledger) -> None:
        self.random, self.ledger = random, ledger
        self.flushes: list[Flush] = []
        self.calls = count(1)
        self.stopped = self.busy = False

    def run(self, seed: int) -> Good:
        random, times = self.random, count(START, 7)
        who, other = random.sample(PEOPLE, 2)
        matter, rule, notice = random.choice(MATTERS), random.choice(RULES).format(who=other), f"N-{random.randint(10, 99)}"
        receipts = self._earlier_chats()
        session = Session.create(f"chat-{seed}", clock=lambda: next(times))
        parent = self._prompt("office", "open", 1)
        send = {"notice": notice, "to": who, "text": matter}
        self._ask(session, f"Tell {who} that {matter}.", [self._calls("send_notice", send), f"{who} was told."], parent)
        operation = self.ledger.operations("notice")[-1].id
        self._ask(session, f"{rule} It matters.", ["Understood."], parent)
        for _ in range(random.randint(1, 3)):
            self._look(session, parent)
        nodes = session.surface.nodes
        done = f"Notice {notice} to {who} was sent: send_notice, operation {operation}, done."
        compact(session, nodes[0], nodes[-1], ScriptedSummarizer([f"{rule} {done}"]))
        for _ in range(random.randint(0, 1)):
            self._look(session, parent)
        child = fork(session, child_id=f"chat-{seed}-b", clock=lambda: next(times))
        self.flushes = [Flush(len(child.events) - 1, len(child.events) - 1)]
        desk = self._prompt("desk", random.choice(("open", "busy")), 1)
        self._look(child, desk)
        self._die(child, desk)
        again = Session.create(child.id, [*child.events, *interrupted_turn_closers(child.events)], child.header,
                               lambda: next(times))
        self._saved(again)
        self._ask(again, f"Does {who} know of {notice}? If not, tell them.", [f"They do, by {operation}."],
                  self._prompt("desk", "closed", 2))
        self._saved(again)
        self._ask(again, "Note that this is settled.", ["Noted."], self._prompt("desk", "closed", 2))
        self._saved(again)
        return Good(again.header, tuple(again.events), tuple(self.flushes), Provider("desk", GRANTS["desk"], (CONTEXT_PART,)),
                    tuple(self.ledger.operations()), receipts, _archive(seed, random), notice, rule, done)

    def _prompt(self, scope: str, ward: str, version: int) -> Prompt:
        """The parts of the requests of one scope. The ward has nothing to say before the notice went out."""
        schemas = [{"name": name, "parameters": {"type": "object"}} for name in GRANTS["office"]]
        return Prompt(
            [Section("role", f"You work at the {scope}. These are the rules of version {version}.", version=f"role@{version}"),
             Section(RULE_SECTION, "Ask before you spend anything.", 1, scope, f"limits@{version}")],
            [Tools("house", schemas, lambda name: name in GRANTS[scope], scope, "tools@1")],
            [ContextPart(CONTEXT_PART, lambda: f"The ward is {ward}." if self.busy else "")], scope=scope)

    def _earlier_chats(self) -> tuple[Receipt, ...]:
        """Two chats that are gone: what one did was taken back, as was asked; what the other did was to stay."""
        sent = self.ledger.send("invoice", {"invoice": f"INV-{self.random.randint(2000, 2999)}"})
        self.ledger.compensate(sent.id, "credit note")
        kept = self.ledger.send("invoice", {"invoice": f"INV-{self.random.randint(3000, 3999)}"})
        return Receipt("chat-old-1", (sent.id,), undo=True), Receipt("chat-old-2", (kept.id,), undo=False)

    def _calls(self, name: str, given: Any) -> Reply:
        return Reply(calls=[call(f"c{next(self.calls)}", name, json.dumps(given))], size=400)

    def _look(self, session: Session, prompt: Prompt) -> None:
        """A turn that looks something up, once or twice."""
        asking = [self._calls("look_up", {"page": self.random.randint(1, 9)}) for _ in range(self.random.randint(1, 2))]
        self._ask(session, f"What stands on page {self.random.randint(1, 9)}?", [*asking, "Nothing that is new."], prompt)

    def _die(self, session: Session, prompt: Prompt) -> None:
        """A turn that ends inside its tool, with the process."""
        self.stopped = True
        with suppress(KeyboardInterrupt):
            self._ask(session, "And the page after it?", [self._calls("look_up", {"page": 7})], prompt)
        self.stopped = False

    def _ask(self, session: Session, words: str, replies: Sequence[Reply | str], prompt: Prompt) -> None:
        def send_notice(given: Any) -> str:
            sent, self.busy = self.ledger.send("notice", given), True
            return json.dumps({"operationId": sent.id, "status": sent.status})

        def look_up(given: Any) -> str:
            if self.stopped:
                raise KeyboardInterrupt
            return f"page {given['page']}: " + "an ordinary line; " * 30

        model = ScriptedModel([Reply(reply, size=400) if isinstance(reply, str) else reply for reply in replies])
        run_turn(session, words, model, {"send_notice": send_notice, "look_up": look_up}, config=CONFIG, parts=prompt,
                 barrier=self._saved)

    def _saved(self, session: Session) -> None:
        seq = len(session.events) - 1
        self.flushes.append(Flush(seq, seq))


def _archive(seed: int, random: Random) -> bytes:
    """An old file, of one or two turns."""
    session = Session.create(f"chat-{seed}-old", clock=lambda: START)
    for _ in range(random.randint(1, 2)):
        run_turn(session, "An old question?", ScriptedModel([Reply("An old answer.")]), {}, config=CONFIG)
    header = {"type": "session", **session.header.to_json()}
    return "".join(js_json(line) + "\n" for line in (header, *(event.to_json() for event in session.events))).encode()
