"""Random sessions whose requests are made of named parts that change, for laws: what the model received, beside the log."""
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Any

from labsupport.errors import CompactionError
from labsupport.own import own_seed
from labsupport.sessionlog import Reply, ScriptedModel, Session, prune_session, replay, run_turn
from labsupport.sessionlog.compaction import compact
from labsupport.sessionlog.models import call
from labsupport.sessionlog.prompt import ContextPart, Opener, Prompt, Section, Tools
from labsupport.sessionlog.ranges import legal_cuts
from labsupport.sessionlog.summarizers import ScriptedSummarizer
from labsupport.workbench.random_logs import TOOLS
from labsupport.workbench.received import Received, Receiver

WORDS = ("budget", "预算", "{{who}}", "rule.", "🙂")
SCHEMAS: list[dict[str, Any]] = [{"name": name, "parameters": {"type": "object"}} for name in ("add", "multiply", "pay")]


@dataclass(frozen=True)
class Run:
    """A *session*, and every request that its models *received*, in order."""

    session: Session
    received: tuple[Received, ...]


def random_requests(seed: int) -> Run:
    """Two to six turns, some with another prompt than the one before; the same *seed* gives the same run.

    >>> run = random_requests(1)
    >>> len(run.received) > 1, len(random_requests(1).session.events) == len(run.session.events)
    (True, True)

    Sections come, go and shadow each other, tools are hidden, the dynamic context changes in the middle of a turn, models
    change, long results are pruned, ranges are compacted, streams break, and the session is carried over into another process.
    """
    random = Random(own_seed(seed))
    session = Session.create(f"requests-{seed}")
    received: list[Received] = []
    prompt = _prompt(random)
    for turn in range(random.randint(2, 6)):
        prompt = _prompt(random) if random.random() < 0.5 else prompt
        if random.random() < 0.2:
            session = Session.create(session.id, replay(session.events).events)
        asking = [Reply(_words(random), [_call(random, step, at) for at in range(random.randint(1, 2))])
                  for step in range(random.randint(0, 2))]
        last = Reply("Well,", error=("overloaded", "OVERLOADED")) if random.random() < 0.15 else Reply(_words(random))
        model = Receiver(ScriptedModel([*asking, last]), session)
        run_turn(session, f"{turn} {_words(random)}", model, {**TOOLS, "pay": lambda given: "paid " * 2000},
                 config={"provider": "workbook", "model": random.choice(("scripted-1", "scripted-1", "scripted-2"))},
                 parts=prompt, make_room=lambda session, trigger: _make_room(session, random))
        received += model.received
    return Run(session, tuple(received))


def _prompt(random: Random) -> Prompt:
    texts = {name: _words(random) for name in ("role", "style", "rules")}
    sections = [Section(name, text, random.randint(0, 2), random.choice(("global", "global", "audit")), f"{name}@{len(text)}",
                        complete=random.random() < 0.05 and name == "rules") for name, text in texts.items()]
    sections.append(Section("role", lambda values: f"For {values['who']}.", scope="audit" if sections[0].scope == "global"
                            else "global"))
    hidden = random.choice(("", "pay", "add"))
    context = [ContextPart(name, lambda: random.choice(("", "Monday", "Monday", "Tuesday 星期二")), version="clock@1")
               for name in random.sample(("day", "ward", "week"), random.randint(0, 3))]
    return Prompt(sections, [Tools("tables", SCHEMAS, lambda name: name != hidden, version="tables@1")], context,
                  [Opener("house", "The house rules.")][:random.randint(0, 1)], {"who": random.choice(("Ana", "安娜"))},
                  random.choice(("global", "audit")))


def _make_room(session: Session, random: Random) -> None:
    """Now and then: prune the long results, or compact a range that may be compacted."""
    if random.random() < 0.3:
        prune_session(session)
    cuts: Sequence[bool] = legal_cuts(session)
    legal = [cut for cut, is_legal in enumerate(cuts) if is_legal]
    if len(legal) > 2 and random.random() < 0.3:
        first, last = sorted(random.sample(range(len(legal)), 2))
        nodes = session.surface.nodes
        with suppress(CompactionError):  # the summary may be longer than what it stands for
            compact(session, nodes[legal[first]], nodes[legal[last] - 1], ScriptedSummarizer([_words(random)]),
                    trigger="pressure")


def _words(random: Random) -> str:
    return " ".join(random.choice(WORDS) for _ in range(random.randint(1, 6)))


def _call(random: Random, step: int, at: int) -> Any:
    return call(f"call_{step}_{at}", random.choice(("add", "multiply", "pay", "lost")), "[1, 2]")
