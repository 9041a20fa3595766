"""What a reader would see if one view of two were made by an `apply` that waits (chapter 4, §4.7, thinking question 4).

No registry takes such a unit. Here the two views are kept by hand, in an event loop of their own.
"""
import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from labsupport.sessionlog import SessionEvent, tool_pairing, turn_status
from labsupport.sessionlog.folding import State


class Read(NamedTuple):
    """What was read behind event *seq*: the open *step*, of watermark *seq*, and the *calls*, of watermark *calls_seq*."""

    seq: int
    type: str
    step: Any
    calls: tuple[str, ...]
    calls_seq: int


def read_at_once(events: Sequence[SessionEvent]) -> list[Read]:
    """Both views behind every event, as they are."""
    return [Read(event.seq, event.type, step, calls, event.seq)
            for event, step, calls in zip(events, _steps(events), _calls(events), strict=True)]


def read_while_waiting(events: Sequence[SessionEvent]) -> list[Read]:
    """Both views behind every event, when the one of the calls asks somebody outside and goes on with the answer.

    >>> from labsupport.workbench.log_samples import load
    >>> [(read.step, read.calls) for read in read_while_waiting(load("two_step").events)[21:24]]
    [(1, ('requested',)), (None, ('started',)), (2, ('succeeded',))]
    """
    with ThreadPoolExecutor(1) as apart:  # a notebook has a loop already, and a second one does not run in its thread
        return apart.submit(asyncio.run, _read_while_waiting(events)).result()


async def _read_while_waiting(events: Sequence[SessionEvent]) -> list[Read]:
    steps, reads, calls, applied = _steps(events), list[Read](), _calls(events), [-1]

    async def apply(seq: int) -> None:
        await asyncio.sleep(0)  # the question is out; whoever is ready goes on
        applied.append(seq)

    running = []
    for event, step in zip(events, steps, strict=True):
        running.append(asyncio.create_task(apply(event.seq)))
        reads.append(Read(event.seq, event.type, step, calls[applied[-1]] if applied[-1] >= 0 else (), applied[-1]))
        await asyncio.sleep(0)
    await asyncio.gather(*running)
    return reads


def _steps(events: Sequence[SessionEvent]) -> list[Any]:
    """The step that is open behind each event."""
    return [state["step"] for state in _states(turn_status, events)]


def _calls(events: Sequence[SessionEvent]) -> list[tuple[str, ...]]:
    """The status of each call of the turn behind each event."""
    return [tuple(call["status"] for call in state["calls"].values()) for state in _states(tool_pairing, events)]


def _states(unit: Any, events: Sequence[SessionEvent]) -> list[State]:
    states, state = list[State](), unit.init()
    for event in events:
        state = unit.apply(state, event) if event.type in unit.event_types else state
        states.append(state)
    return states
