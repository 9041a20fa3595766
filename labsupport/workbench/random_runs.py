"""Random runs of the mini-agent for laws: what each left on disk and in memory, and what its model saw."""
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from labsupport.errors import ContextBudgetError
from labsupport.miniagent import Message, ScriptedModel, ToolCall, load_session, run_agent
from labsupport.own import own_seed
from labsupport.workbench.witness import Seen, Witness

WORDS = ("budget", "预算", "line", "行", "🙂")


@dataclass(frozen=True)
class Trial:
    """A session of a few runs under one *budget*, and whether the budget *stopped* the last of them."""

    budget: int | None
    seen: tuple[Seen, ...]
    disk: tuple[Message, ...]
    memory: tuple[Message, ...]
    """What the last run that came to its end had in memory; what was on disk at that moment is in *disk_then*."""
    disk_then: tuple[Message, ...]
    stopped: bool


def random_trial(seed: int, budget: int | None = None) -> Trial:
    """One to three runs on one file: questions, rounds of calls and results of random length, the same for the same *seed*.

    The *budget* changes nothing in what is said, so two trials of one seed differ only by what it does.
    """
    random = Random(own_seed(seed))
    scripts = [(_words(random), [_turn(random, f"{run}.{turn}") for turn in range(int(4 * random.random()))])
               for run in range(1 + int(3 * random.random()))]
    seen: list[Seen] = []
    memory: list[Message] = []
    disk_then: list[Message] = []
    stopped = False
    with TemporaryDirectory() as folder:
        path = Path(folder) / "session.jsonl"
        for prompt, turns in scripts:
            witness = Witness(ScriptedModel([*turns, [_words(Random(seed))]]), path)
            try:
                run = run_agent(prompt, witness, {"repeat": lambda given: str(given)}, session_path=path,
                                context_max_chars=budget)
            except ContextBudgetError:
                stopped = True
                break
            finally:
                seen += witness.seen
            memory, disk_then = run.messages, load_session(path)
        return Trial(budget, tuple(seen), tuple(load_session(path)), tuple(memory), tuple(disk_then), stopped)


def _turn(random: Random, name: str) -> list[str | ToolCall]:
    """One to three calls, now and then of a tool that is not there."""
    return [ToolCall(f"{name}.{number}", "repeat" if random.random() < 0.9 else "lost", _words(random))
            for number in range(1 + int(3 * random.random()))]


def _words(random: Random) -> str:
    return " ".join(WORDS[int(len(WORDS) * random.random())] for _ in range(1 + int(30 * random.random())))
