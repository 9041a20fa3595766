"""The parts of a lab report: seqs, numbers, counts, and names of the format."""
from collections.abc import Iterable, Sequence
from typing import Any

from labsupport.errors import LabError
from labsupport.sessionlog import SessionEvent, derive_event_message, estimate_message, fold_surface
from labsupport.sessionlog.json_text import field
from labsupport.sessionlog.query_state import QUERY_STATE
from labsupport.sessionlog.recovery import answered_call
from labsupport.sessionlog.request import REQUEST_SOURCES, difference, rebuild_request, request_seqs
from labsupport.workbench.received import Received

OTHER = "(other)"
"""Stands for every name that is not the format's own."""
REASONS = frozenset({"completed", "aborted", "blocked", "error", "max-tokens", "interrupted"})


# Names: the format's own, or OTHER

def name_of(event: SessionEvent) -> str:
    """The type of *event*, when it is one that this project writes."""
    return event.type if event.type in _OWN else OTHER


_OWN = {
    "user/message", "assistant/message", "tool/result", "turn/start", "turn/end", "step/start", "step/end",
    "assistant/chunk", "tool/call", "todo/write", "request/header", "request/context", "session/end-seed",
    "session/title", "compaction/start", "compaction/summary", "compaction/end", "compaction/prune",
    "agent-preset/selected", "permission/preset", "approval/asked", "approval/decided",
    REQUEST_SOURCES, QUERY_STATE}


def reason_of(event: SessionEvent) -> str:
    """Why a turn ended."""
    kind = field(field(event.read(), "reason"), "kind")
    return kind if type(kind) is str and kind in REASONS else OTHER


def _number(value: Any) -> int | None:
    return value if type(value) is int else None


# Parts

_HEADER = frozenset({"header.config", "header.system", "header.tools", "header.adapterDefaults"})


def event_rows(log: Sequence[SessionEvent]) -> list[dict[str, Any]]:
    """A row for each event; a run of chunks is one."""
    rows: list[dict[str, Any]] = []
    for event in log:
        data = event.read()
        row = {"seqs": [event.seq, event.seq], "type": name_of(event), "turn": _number(field(data, "turn")),
               "step": _number(field(data, "step")), "sources": list(event.source_event_seqs or ())}
        last = rows[-1] if rows else None
        if (last is not None and row["type"] == "assistant/chunk" and last["seqs"][1] == event.seq - 1
                and all(last[name] == row[name] for name in ("type", "turn", "step"))):
            last["seqs"][1] = event.seq
        else:
            rows.append(row)
    return rows


def pairing(log: Sequence[SessionEvent]) -> dict[str, Any]:
    """Each tool/call with the first result that answers it, by its source, or by its id within the turn."""
    calls: dict[int, str] = {}
    pairs: list[list[int]] = []
    alone: list[int] = []
    for event in log:
        data = event.read()
        if event.type == "tool/call":
            calls[event.seq] = str(field(data, "callId"))
        elif event.type == "tool/result" and event.surface_op == "append":
            cited = [seq for seq in event.source_event_seqs or () if seq in calls]
            named = [seq for seq, call_id in calls.items() if call_id == answered_call(data)]
            found = (cited or named)[-1:]
            if found:
                pairs.append([found[0], event.seq])
                calls.pop(found[0])
            else:
                alone.append(event.seq)
    return {"calls": len(pairs) + len(calls), "pairs": pairs, "unanswered": sorted(calls), "withoutCall": alone}


def surface(log: Sequence[SessionEvent]) -> dict[str, Any]:
    """The surface at the end, and the figures before and after each replacement."""
    try:
        return _figures(log)
    except LabError as error:
        refused = {"nodes": 0, "tokens": 0, "replacements": 0, "refused": type(error).__name__}
        return {"surface": refused, "figures": []}


def _figures(log: Sequence[SessionEvent]) -> dict[str, Any]:
    folded, figures = fold_surface(log), []
    for one in folded.replacements:
        before, after = (list(fold_surface(log[:seq]).nodes) for seq in (one.seq, one.seq + 1))
        figures.append({"seq": one.seq, "events": [one.seq, one.seq + 1], "nodes": [len(before), len(after)],
                        "tokens": [_tokens(log, before), _tokens(log, after)], "shadowed": list(one.shadowed_seqs)})
    nodes = list(folded.nodes)
    return {"surface": {"nodes": len(nodes), "tokens": _tokens(log, nodes), "replacements": len(figures)}, "figures": figures}


def _tokens(log: Sequence[SessionEvent], nodes: Iterable[int]) -> int:
    """By the fixed estimate."""
    messages = (derive_event_message(log[seq]) for seq in nodes)
    return sum(estimate_message(message) for message in messages if message is not None)


def requests(log: Sequence[SessionEvent], received: Sequence[Received]) -> list[dict[str, Any]]:
    """Which requests can be rebuilt, and whether they are what was *received*."""
    sent = {one.seq: one.request for one in received}
    rows = []
    for seq in request_seqs(log):
        row: dict[str, Any] = {"seq": seq, "rebuilds": True}
        try:
            rebuilt = rebuild_request(log, seq)
            row.update(header=rebuilt.header_seq, sources=rebuilt.sources_seq, messages=list(rebuilt.message_seqs))
            if seq in sent:
                parts = difference(sent[seq], rebuilt.request)
                row["differs"] = [part if part.startswith("message ") or part in _HEADER else OTHER for part in parts]
        except LabError as error:
            row.update(rebuilds=False, refused=type(error).__name__)
        rows.append(row)
    return rows
