"""The sessions that may hold the same as another one: its forks and its sub-agents (chapter 4, §4.13)."""
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from labsupport.sessionlog.header import SessionHeader


@dataclass(frozen=True)
class Kin:
    """The session *id*, made from *parent*: a "fork" has its first *events* events, a "subagent" what it was told."""

    id: str
    kind: Literal["fork", "subagent"]
    parent: str
    events: int


def kin_of(headers: Iterable[SessionHeader], id: str) -> list[Kin]:
    """Every session among *headers* (a store's `list()`) that was made from *id*, or from one that was, nearest first.

    >>> fork = SessionHeader("s2", parent_session="s1", seed_length=7)
    >>> helper = SessionHeader("s3", parent_session="s2", origin="subagent", delegation_depth=1)
    >>> [(kin.id, kin.kind, kin.events) for kin in kin_of([helper, fork], "s1")]
    [('s2', 'fork', 7), ('s3', 'subagent', 0)]

    No log is read. A session that was copied by hand, or whose parent was deleted with its header, is not found.
    """
    there, found, parents = list(headers), list[Kin](), [id]
    while parents:
        parent = parents.pop(0)
        for header in there:
            if header.parent_session == parent and header.id not in {id, *(kin.id for kin in found)}:
                kind: Literal["fork", "subagent"] = "subagent" if header.origin == "subagent" else "fork"
                found.append(Kin(header.id, kind, parent, header.seed_length or 0))
                parents.append(header.id)
    return found
