"""Random sessions for laws: turns with calls whose ids come again, empty answers, and replacements anywhere on the surface."""
from random import Random
from typing import Any

from labsupport.own import own_seed
from labsupport.sessionlog import Session
from labsupport.sessionlog.driver import run_turn
from labsupport.sessionlog.models import Reply, ScriptedModel, call
from labsupport.sessionlog.tools import Tool

CONFIG = {"provider": "workbook", "model": "scripted-1"}
TOOLS: dict[str, Tool] = {"add": lambda numbers: str(sum(numbers))}


def random_log(seed: int) -> Session:
    """A session of one to four turns, recorded by the loop; the same *seed* gives the same events.

    >>> random_log(3).events[0].type, len(random_log(3).events) == len(random_log(3).events)
    ('turn/start', True)

    The ids of calls begin anew in every turn, some answers are empty, some calls fail, and between turns a message may take the
    place of any run of nodes.
    """
    random = Random(own_seed(seed))
    session = Session.create(f"random-{seed}")
    for turn in range(random.randint(1, 4)):
        asking = [Reply(random.choice(("", "I look.")), _calls(random, step)) for step in range(random.randint(0, 2))]
        model = ScriptedModel([*asking, Reply(random.choice(("", "Done.", "It is 3.")))])
        run_turn(session, f"question {turn}", model, TOOLS, config=CONFIG)
        if random.random() < 0.5:
            _replace(session, random)
    return session


def _calls(random: Random, step: int) -> list[Any]:
    names = [random.choice(("add", "add", "multiply")) for _ in range(random.randint(1, 2))]  # there is no tool to multiply
    return [call(f"call_{step}_{at}", name, "[1, 2]") for at, name in enumerate(names)]


def _replace(session: Session, random: Random) -> None:
    """Put a message in the place of a run of nodes."""
    nodes = session.surface.nodes
    first = random.randrange(len(nodes))
    shadowed = nodes[first:random.randint(first, len(nodes) - 1) + 1]
    summary = {"id": f"m{len(session.events)}", "role": "user", "source": {"kind": "plugin", "plugin": "workbook"},
               "content": [{"type": "text", "text": f"{len(shadowed)} messages in short"}]}
    session.append("user/message", summary, {"op": "replace", "start": shadowed[0], "end": shadowed[-1]}, shadowed)
