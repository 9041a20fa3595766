"""Tables of lab B6: the parts of a request, where it is logged, what a smuggler is caught at, the six consequences."""
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from labsupport.lossless import js_json
from labsupport.sessionlog import Request, SessionEvent, to_json
from labsupport.sessionlog.request import Kind, difference
from labsupport.workbench.pictures.trimmed import shortened
from labsupport.workbench.pictures.whole_request import KINDS, NAMELESS, seqs
from labsupport.workbench.received import Received
from labsupport.workbench.tables import TextTable
from labsupport.workbench.text import say
from labsupport.workbench.whole_requests import WholeRequests

ROOM = 44


def parts_table(events: Sequence[SessionEvent], at: int) -> pd.DataFrame:
    """Request *at* (from 1) of a log: one row a part, with its scope, its version, its events, and how its text begins."""
    rows = []
    for piece in WholeRequests(events).pieces(at):
        part = piece.part
        words = shortened(" ".join(piece.text.split()), ROOM)
        name = "" if part.kind in NAMELESS else shortened(part.name, 20)
        rows.append((say(KINDS[part.kind][2]), name, part.scope or "", part.version or "", seqs(part.seqs), words))
    columns = [say(key) for key in ("b6_col_kind", "b6_col_name", "b6_col_scope", "b6_col_version")]
    return TextTable(rows, columns=[*columns, "seq", say("b6_col_text")], index=range(1, len(rows) + 1))


def plugins(events: Iterable[SessionEvent]) -> list[tuple[int, str]]:
    """The messages that no user said: seq and plugin of each, in the order of the log."""
    sources = [(event.seq, event.read()["source"]) for event in events if event.type == "user/message"]
    return [(seq, source["plugin"]) for seq, source in sources if "plugin" in source]


def new_parts(events: Sequence[SessionEvent], *kinds: Kind) -> dict[int, list[str]]:
    """For each request of a log, numbered from 1, the names of the parts of *kinds* that the request before it did not have."""
    requests = WholeRequests(events)
    return {number: [piece.part.name for piece in requests.pieces(number) if piece.is_new and piece.part.kind in kinds]
            for number in range(1, len(requests) + 1)}


Change = Callable[[Request], Request]


def smuggle_table(request: Request) -> pd.DataFrame:
    """Ways to slip something into *request*, and the parts that the comparison with the log then names."""
    rows = [(say(words), ", ".join(difference(change(request), request)) or say("b6_nothing_found"))
            for words, change in SMUGGLED.items()]
    return TextTable(rows, columns=[say("b6_col_change"), say("b6_col_found")], index=range(1, len(rows) + 1))


def _header(request: Request, **fields: Any) -> Request:
    return replace(request, header={**to_json(request.header), **fields})


def _messages(request: Request, change: Callable[[list[Any]], list[Any]]) -> Request:
    return replace(request, messages=change(to_json(list(request.messages))))


def whispered(request: Request, text: str) -> Request:
    """*request* with one message more: *text*, as if a user had said it."""
    block = {"type": "text", "text": text}
    return replace(request, messages=[*request.messages,
                                      {"id": "x", "role": "user", "source": {"kind": "user"}, "content": [block]}])


SMUGGLED: Mapping[str, Change] = {
    "b6_smuggle_nothing": lambda request: request,
    "b6_smuggle_system": lambda request: _header(request, system=request.header.get("system", "") + " Psst."),
    "b6_smuggle_tool": lambda request: _header(request, tools=[*request.header.get("tools", ()), {"name": "give_discount"}]),
    "b6_smuggle_model": lambda request: _header(request, config={**request.header["config"], "model": "cheaper-1"}),
    "b6_smuggle_added": lambda request: whispered(request, "Psst."),
    "b6_smuggle_changed": lambda request: _messages(request, lambda said: [{**said[0], "content": []}, *said[1:]]),
    "b6_smuggle_dropped": lambda request: _messages(request, lambda said: said[1:]),
    "b6_smuggle_turned": lambda request: _messages(request, lambda said: [said[1], said[0], *said[2:]]),
}
"""The key of a change's words, and the change."""


def kept_whole(received: Iterable[Received]) -> list[str]:
    """Each request that was *received* as the text that somebody keeps who keeps whole prompts."""
    return [js_json({"header": to_json(one.request.header), "messages": to_json(list(one.request.messages))})
            for one in received]
