"""Random sessions that are compacted again and again, for laws: by hand and automatically, with summarizers that fail."""
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from msgspec import UNSET

from labsupport.errors import CompactionError
from labsupport.sessionlog import Reply, ScriptedModel, Session, SessionEvent, run_turn
from labsupport.sessionlog.compaction import Trigger, compact
from labsupport.sessionlog.models import call
from labsupport.sessionlog.ranges import legal_cuts
from labsupport.sessionlog.summarizers import ExtractiveSummarizer, FailingSummarizer, ScriptedSummarizer, Summarizer
from labsupport.workbench.compactions import WhileWriting
from labsupport.workbench.random_logs import CONFIG, TOOLS

WORDS = ("never", "op_17", "INV-3", "预算", "line", "🙂", "please.")


@dataclass(frozen=True)
class Trial:
    """A *session* with its compactions; of each of them how the log was *before*, and what came of it: "made", or a code."""

    session: Session
    before: tuple[Sequence[SessionEvent], ...]
    outcomes: tuple[str, ...]


def random_compactions(seed: int) -> Trial:
    """Up to six turns with calls, and after each a compaction of any legal range; the same *seed* gives the same session.

    >>> random_compactions(1).outcomes == random_compactions(1).outcomes
    True
    """
    random = Random(seed)
    session = Session.create(f"random-{seed}")
    before, outcomes = [], []
    for turn in range(2 + int(5 * random.random())):
        asking = [Reply(_words(random), [_call(step, at) for at in range(1 + int(2 * random.random()))])
                  for step in range(int(3 * random.random()))]
        run_turn(session, f"{turn} {_words(random)}", ScriptedModel([*asking, Reply(_words(random))]), TOOLS, config=CONFIG)
        before.append(session.events)
        outcomes.append(_compact(session, random))
    return Trial(session, tuple(before), tuple(outcomes))


def _compact(session: Session, random: Random) -> str:
    nodes = session.surface.nodes
    legal = [cut for cut, is_legal in enumerate(legal_cuts(session)) if is_legal]
    first = legal[int((len(legal) - 1) * random.random() ** 3)]
    later = [cut for cut in legal if cut > first]
    last = later[int(len(later) * random.random() ** 2)] - 1
    trigger: Trigger = "manual" if random.random() < 0.5 else "pressure"
    return outcome(compact, session, nodes[first], nodes[last], _summarizer(session, random), trigger=trigger)


def outcome(function: Callable[..., object], *arguments: Any, **options: Any) -> str:
    """The code with which *function*, a compaction, was refused; "made" when it was not."""
    try:
        function(*arguments, **options)
    except CompactionError as error:
        return error.code
    return "made"


def _summarizer(session: Session, random: Random) -> Summarizer:
    if random.random() < 0.15:
        return FailingSummarizer()
    inner = ExtractiveSummarizer(limit=300) if random.random() < 0.5 else ScriptedSummarizer([_words(random)])
    return WhileWriting(session, _words(random), inner) if random.random() < 0.3 else inner


def _words(random: Random) -> str:
    return " ".join(WORDS[int(len(WORDS) * random.random())] for _ in range(1 + int(120 * random.random())))


def _call(step: int, at: int) -> Any:
    return call(f"call_{step}_{at}", "add", "[1, 2]")


def accounted(session: Session) -> bool:
    """Whether every event that ever came onto the surface is on it once, or was taken off it by one recorded replacement."""
    shadowed = [seq for replacement in session.surface.replacements for seq in replacement.shadowed_seqs]
    came = [event.seq for event in session.events if event.surface_op is not UNSET]
    return sorted([*session.surface.nodes, *shadowed]) == came
