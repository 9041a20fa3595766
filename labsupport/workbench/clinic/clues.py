"""What a look at one place gives: clues with their seqs, and for some of them the cause that they prove."""
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Place = Literal["events", "surface", "prompt", "watermark", "client", "outside"]
PLACES: tuple[Place, ...] = ("events", "surface", "prompt", "watermark", "client", "outside")
"""The chapter's order of looking: durable raw events, surface, request header and prompt, projection watermark, client. The
world outside is asked last: it is another authority, and it needs the ids that the log gave."""


@dataclass(frozen=True)
class Clue:
    """Something that stands in *place*: the *key* of its words, the *values* in them, and the *seqs* that it was read from.

    *cause* is the name of the fault that it proves, empty for one that proves none. Values are numbers, ids and names of the
    format, never what a message says.
    """

    place: Place
    key: str
    values: Mapping[str, Any] = field(default_factory=dict)
    seqs: tuple[int, ...] = ()
    cause: str = ""


def existing(*seqs: int) -> tuple[int, ...]:
    """The *seqs* that an event can have: -1, the place before the first event, is none.

    >>> existing(-1, 4)
    (4,)
    """
    return tuple(seq for seq in seqs if seq >= 0)
