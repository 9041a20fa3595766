"""What stands in the log of a case: its events, its surface, and what its requests were composed of."""
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from labsupport.errors import LogFormatError, StoredLogError, UnknownEventError
from labsupport.sessionlog import SessionEvent, check_compaction, check_invariants
from labsupport.sessionlog.events import Replace
from labsupport.sessionlog.json_text import field
from labsupport.sessionlog.prompt import DYNAMIC_CONTEXT
from labsupport.sessionlog.quality import check_summary
from labsupport.sessionlog.recovery import answered_call, blocks
from labsupport.sessionlog.request import rebuild_request, request_seqs
from labsupport.sessionlog.storage import scan_log
from labsupport.sessionlog.storage.contract import check_types
from labsupport.sessionlog.surface import Surface, fold_surface
from labsupport.workbench.clinic.cases import Case
from labsupport.workbench.clinic.clues import Clue, existing

# Durable raw events

def events(case: Case) -> Iterator[Clue]:
    """Can the files be opened, did everything come to the disk that was promised, and do the events relate as they must?"""
    yield from _archive(case)
    yield from _flushes(case)
    problems = [*check_invariants(case.log), *check_compaction(case.log)]
    yield Clue("events", "b11_problems", {"n": len(problems), "events": len(case.log)}, tuple(one.seq for one in problems[:3]))
    yield from _protocol(case.log)


def _archive(case: Case) -> Iterator[Clue]:
    try:
        found = scan_log(case.archive)
        check_types(found.events)
    except LogFormatError as error:
        older = isinstance(error.version, int) and error.version < 0
        yield Clue("events", "b11_archive_older" if older else "b11_archive_newer", {"version": error.version}, (),
                   "no-upgrade" if older else "newer-format")
    except UnknownEventError as error:
        yield Clue("events", "b11_archive_unknown", {"type": error.type, "seq": error.seq}, (error.seq,),
                   "unknown-event")
    except StoredLogError as error:  # damage is no row of the matrix
        yield Clue("events", "b11_archive_damaged", {"line": error.line})
    else:
        yield Clue("events", "b11_archive_opens", {"version": found.header.version, "n": len(found.events)})


def _flushes(case: Case) -> Iterator[Clue]:
    told, last = case.client.told_saved, case.last
    asked = [flush for flush in case.flushes if flush.asked >= told]
    failed = [flush for flush in asked if flush.error]
    durable = max((flush.durable for flush in case.flushes), default=-1)
    if told <= last:
        yield Clue("events", "b11_saved", {"told": told, "durable": durable, "last": last}, existing(told))
    elif failed and durable < told:
        values = {"told": told, "asked": failed[-1].asked, "error": failed[-1].error, "last": last}
        yield Clue("events", "b11_flush_failed", values, existing(failed[-1].asked, last), "flush-failed")
    elif not asked:
        before = max((flush.asked for flush in case.flushes), default=-1)
        yield Clue("events", "b11_no_flush", {"told": told, "asked": before, "last": last}, existing(before, last), "no-flush")
    else:
        yield Clue("events", "b11_saved_and_gone", {"told": told, "durable": durable, "last": last})


def _protocol(log: Sequence[SessionEvent]) -> Iterator[Clue]:
    """Each call and its result; and a turn that is still open where another process went on."""
    turn: int | None = None
    calls: dict[str, int] = {}
    early: dict[str, int] = {}
    late: dict[str, tuple[int, int]] = {}  # a call that its step left open, and the end of that step
    for event in log:
        if event.type in ("turn/start", "turn/end"):
            yield from _filtered(late)
            turn = event.seq if event.type == "turn/start" else None
            calls, early, late = {}, {}, {}
        elif event.type == "session/end-seed" and turn is not None:
            yield Clue("events", "b11_tail", {"start": turn, "seed": event.seq}, (turn, event.seq), "tail-not-repaired")
        elif event.type == "tool/call":
            call_id = str(event.read()["callId"])
            if call_id in early:
                seqs = (early.pop(call_id), event.seq)
                yield Clue("events", "b11_order", {"result": seqs[0], "call": seqs[1]}, seqs, "order-broken")
            else:
                calls[call_id] = event.seq
        elif event.type == "tool/result" and not isinstance(event.surface_op, Replace):
            data = event.read()
            call_id = answered_call(data)
            if call_id in late:
                _, end = late.pop(call_id)
                yield Clue("events", "b11_late", {"result": event.seq, "end": end}, (end, event.seq), "order-broken")
            elif calls.pop(call_id, None) is None and field(data, "error") is None:
                early[call_id] = event.seq
        elif event.type == "step/end":
            late.update({call_id: (call, event.seq) for call_id, call in calls.items()})
            calls = {}
    yield from _filtered(late)


def _filtered(late: Mapping[str, tuple[int, int]]) -> Iterator[Clue]:
    """Calls that got no result before their turn was over."""
    for call, end in late.values():
        yield Clue("events", "b11_no_result", {"call": call, "end": end}, (call, end), "result-filtered")


# Surface

def surface(case: Case) -> Iterator[Clue]:
    """Do calls and results stand together, what did each compaction take and keep, and is the dynamic context there?"""
    folded = fold_surface(case.log)
    yield Clue("surface", "b11_nodes", {"n": len(folded.nodes), "k": len(folded.replacements)})
    yield from _pairs(case.log, folded)
    yield from _summaries(case.log, folded)
    yield from _context(case)


def _pairs(log: Sequence[SessionEvent], folded: Surface) -> Iterator[Clue]:
    """Calls and results of which one is on the surface, and the other was taken off it."""
    taken = {seq: one.seq for one in folded.replacements for seq in one.shadowed_seqs}
    calls: dict[Any, int] = {}
    results: dict[Any, int] = {}
    for event in log:
        data = event.read()
        if event.type == "assistant/message":
            calls.update({(data["turn"], data["step"], block["id"]): event.seq for block in blocks(data["message"])
                          if block.get("type") == "tool-call"})
        elif event.type == "tool/result" and not isinstance(event.surface_op, Replace):
            results[data.get("turn"), data.get("step"), answered_call(data)] = event.seq
    for key, call in calls.items():
        result = results.get(key)
        while result in taken and log[taken[result]].type == "tool/result":
            result = taken[result]  # a rewrite, as pruning makes one, stands for it
        if result is not None and (call in taken) != (result in taken):
            by = taken[result if result in taken else call]
            yield Clue("surface", "b11_split" if result in taken else "b11_split_call",
                       {"call": call, "result": result, "by": by}, (call, result, by), "range-split")


def _summaries(log: Sequence[SessionEvent], folded: Surface) -> Iterator[Clue]:
    """What each compaction shadowed, and what its summary should say and does not."""
    cited = {seq for one in folded.replacements for seq in log[one.seq].source_event_seqs or ()}
    for event in log:
        if event.type != "compaction/summary" or event.seq not in cited:  # one that failed took nothing off the surface
            continue
        data = event.read()
        values = {"seq": event.seq, "n": len(data["shadowedSeqs"]), **data["shadowedRange"]}
        yield Clue("surface", "b11_range", values, (event.seq,))
        for lost in check_summary(log[:event.seq], data["shadowedSeqs"], data["summary"]):
            rule, operation = lost.check == "constraints", lost.check == "outcomes" and " " not in lost.what  # "pay failed"
            if lost.seq is not None and lost.change == "missing" and (rule or operation):
                yield Clue("surface", "b11_rule_lost" if rule else "b11_operation_lost",
                           {"said": lost.seq, "seq": event.seq, "what": lost.what}, (lost.seq, event.seq),
                           "rule-lost" if rule else "operation-lost")


def _context(case: Case) -> Iterator[Clue]:
    """The parts of the dynamic context that have something to say, against the latest snapshot that the model reads."""
    asked = next(reversed(request_seqs(case.log)), None)
    if asked is None:
        return
    on_surface = fold_surface(case.log[:asked + 1]).nodes
    snapshots = {event.seq: [part["name"] for part in event.read()["source"]["sections"]] for event in case.log[:asked + 1]
                 if event.type == "user/message" and event.read()["source"].get("plugin") == DYNAMIC_CONTEXT}
    seen = [seq for seq in snapshots if seq in on_surface]
    shown = snapshots[seen[-1]] if seen else []
    for name in case.provider.context:
        if name in shown:
            yield Clue("surface", "b11_context", {"name": name, "seq": seen[-1], "asked": asked}, (seen[-1], asked))
        else:
            last = max((seq for seq, names in snapshots.items() if name in names), default=None)
            yield Clue("surface", "b11_no_context", {"name": name, "seq": "–" if last is None else last, "asked": asked},
                       (asked,) if last is None else (last, asked), "context-not-logged")


# Request header and prompt

def prompt(case: Case) -> Iterator[Clue]:
    """What a fork first asked with, and what was asked with after the last resume, against what the permission provider grants.

    What was granted in lives before the last one, nobody says any more.
    """
    provider, log, header = case.provider, case.log, case.header
    yield Clue("prompt", "b11_granted", {"scope": provider.scope, "tools": len(provider.tools)})
    born = 0 if header.parent_session is None else header.seed_length or 0
    own = [seq for seq in request_seqs(log) if seq >= born]
    if born and own:
        yield _first_of_fork(case, own[0], born)
    end = max((event.seq for event in log if event.type == "session/end-seed" and event.seq > born), default=None)
    if end is not None:
        before, after = [seq for seq in own if seq < end], [seq for seq in own if seq > end]
        if before and after:
            yield _first_of_resume(case, before[-1], after[0])


def _first_of_fork(case: Case, asked: int, born: int) -> Clue:
    request = rebuild_request(case.log, asked)
    tools = [str(field(tool, "name")) for tool in request.header.get("tools", ())]
    scope = None if request.sources_seq is None else case.log[request.sources_seq].read()["scope"]
    values = {"header": request.header_seq, "asked": asked, "scope": "–" if scope is None else scope,
              "more": len(set(tools) - set(case.provider.tools))}
    inherited, seqs = request.header_seq < born, (request.header_seq, asked)
    if values["more"] or scope not in (None, case.provider.scope):
        return Clue("prompt", "b11_history_only" if inherited else "b11_scope_kept", values, seqs,
                    "history-only" if inherited else "scope-kept")
    if scope is None:
        return Clue("prompt", "b11_fork_no_sources", values, seqs)
    return Clue("prompt", "b11_fork_shared" if inherited else "b11_fork_header", values, seqs)


def _first_of_resume(case: Case, before: int, after: int) -> Clue:
    first, second = rebuild_request(case.log, before), rebuild_request(case.log, after)
    if first.sources_seq is None or second.sources_seq is None:
        return Clue("prompt", "b11_no_sources", {"before": before, "after": after}, (before, after))
    made = [case.log[seq].read() for seq in (first.sources_seq, second.sources_seq)]
    lost = [section["name"] for section in made[0]["sections"]
            if section["name"] not in {other["name"] for other in made[1]["sections"]}]
    seqs = (first.sources_seq, second.sources_seq)
    values = {"before": seqs[0], "after": seqs[1], "scope": made[1]["scope"], "lost": " ".join(lost) or "–"}
    if made[1]["scope"] != case.provider.scope:
        return Clue("prompt", "b11_scope_changed", values, seqs, "scope-changed")
    return Clue("prompt", "b11_resume_header", values, seqs)
