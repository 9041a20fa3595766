"""Lab B6's session: the front desk of a clinic, whose requests are made of named parts that change while it works."""
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from labsupport.own import own_number
from labsupport.sessionlog import Reply, ScriptedModel, Session, run_turn
from labsupport.sessionlog.compaction import compact
from labsupport.sessionlog.models import call
from labsupport.sessionlog.prompt import ContextPart, Opener, Prompt, Section, Tools
from labsupport.sessionlog.stream import Block
from labsupport.sessionlog.summarizers import ScriptedSummarizer
from labsupport.sessionlog.tools import Tool
from labsupport.workbench.received import Received, Receiver

PHONE = f"555-{own_number(142, 99):04}"
"""A caller's number: said once, and then in every request until a compaction takes it off the surface."""

SECTIONS = (
    Section("role", "You are the front desk of {{clinic}}.", version="role.md@3"),
    Section("style", "Answer in one sentence.", order=10, version="style.md@1"),
    Section("role", "You audit the front desk of {{clinic}}; you change nothing.", scope="audit", version="audit.md@2"),
)
SCHEMAS: tuple[dict[str, Any], ...] = (
    {"name": "free_slots", "description": "The free slots of a day.", "parameters": {"type": "object"}},
    {"name": "book_slot", "description": "Book a slot.", "parameters": {"type": "object"}},
)
RULES = Opener("house-rules", "House rules: no diagnosis, no discount, every booking by its id.", version="rules.md@2")


@dataclass
class Desk:
    """The world around the desk: which *day* it is, how many people are *waiting*, if *booking* is open, what is *booked*."""

    day: str = "Monday"
    waiting: int = 3
    booking: bool = False
    booked: list[str] = field(default_factory=list)

    def prompt(self, scope: str = "global") -> Prompt:
        """The parts of its requests; those that look at the world do so before every request.

        >>> Desk().prompt().compose().system
        'You are the front desk of the harbour clinic.\\n\\nAnswer in one sentence.'
        """
        calendar = Tools("calendar", SCHEMAS, lambda name: self.booking or name != "book_slot", version="calendar.py@7")
        context = [ContextPart("today", lambda: f"Today is {self.day}.", version="clock"),
                   ContextPart("waiting-room", lambda: f"{self.waiting} people are waiting.", version="sensor@4")]
        return Prompt(SECTIONS, [calendar], context, [RULES], {"clinic": "the harbour clinic"}, scope)

    def tools(self) -> dict[str, Tool]:
        """What the tools do; one of them books."""
        def book_slot(given: Any) -> str:
            self.booked.append(given["time"])
            return f"{given['time']} is booked, booking b-{len(self.booked):03}"

        return {"free_slots": lambda given: "09:30, 10:15, 16:40", "book_slot": book_slot}


def tool_call(id: str, name: str, **given: str) -> Block:
    """A call of the tool *name*."""
    return call(id, name, json.dumps(given))


def ask(session: Session, desk: Desk, said: str, *replies: Reply, prompt: Prompt | None = None, model: str = "scripted-1",
        **options: Any) -> list[Received]:
    """One turn at the *desk*; what the model received, in order. *options* as `run_turn` has them."""
    receiver = Receiver(ScriptedModel(replies or [Reply("Gladly.", size=400)]), session)
    run_turn(session, said, receiver, desk.tools(), config={"provider": "workbook", "model": model},
             parts=prompt or desk.prompt(), **options)
    return receiver.received


def summarise(session: Session, text: str, start: int = 0, stop: int | None = None) -> None:
    """Put the summary *text* in the place of the nodes of *session* from *start* to before *stop*, counted on its surface."""
    nodes = session.surface.nodes[start:stop]
    compact(session, nodes[0], nodes[-1], ScriptedSummarizer([text]))


@dataclass(frozen=True)
class Recorded:
    """The *session* of a day at the *desk*, and all that its models *received*."""

    session: Session
    received: Sequence[Received]
    desk: Desk


def record() -> Recorded:
    """A day at the desk: six turns, two compactions between them, eight requests; the same every time.

    >>> day = record()
    >>> len(day.received), day.desk.booked
    (8, ['09:30'])
    """
    desk, session, received = Desk(), Session.create("desk"), list[Received]()

    def turn(said: str, *replies: Reply, **options: Any) -> None:
        received.extend(ask(session, desk, said, *replies, **options))

    turn(f"Is there a slot on Tuesday? My number is {PHONE}.",
         Reply(calls=[tool_call("c1", "free_slots", day="Tuesday")], size=400),
         Reply("On Tuesday 09:30, 10:15 and 16:40 are free.", size=400))
    turn("谢谢，我想一想。", Reply("好的，不着急。", size=400))
    desk.day, desk.booking = "Tuesday", True
    turn("09:30, please.", Reply(calls=[tool_call("c2", "book_slot", time="09:30")], size=400),
         Reply("09:30 is booked as b-001.", size=400))
    summarise(session, "A caller asked for Tuesday.", stop=8)
    turn("How long will it take?", Reply("About ten minutes.", size=400))
    turn("Were the rules kept?", Reply("Yes: one booking, by its id b-001.", size=400), prompt=desk.prompt("audit"),
         model="scripted-2")
    summarise(session, "09:30 was booked, b-001.", start=1, stop=5)
    turn("See you tomorrow.", Reply("See you tomorrow.", size=400))
    return Recorded(session, tuple(received), desk)
