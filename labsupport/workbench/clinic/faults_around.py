"""Faults around the log of a case: in what the client shows, in a cache, in the ledger, in an old file."""
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from labsupport.lossless import js_json
from labsupport.outside import Operation
from labsupport.sessionlog import tool_pairing
from labsupport.workbench.clinic.cases import UNITS, VERSION, Case, Flush, client_of
from labsupport.workbench.clinic.faults_in_log import AGAIN


def note_failed_flush(case: Case) -> Case:
    """The record has the flush that failed."""
    return replace(case, flushes=(*case.flushes, Flush(case.client.told_saved, case.flushes[-1].durable, "ENOSPC")))


def send_again(case: Case) -> Case:
    """The ledger has the second one too."""
    if any(operation.id == AGAIN for operation in case.ledger):
        return case
    first = next(operation for operation in case.ledger if operation.kind == "notice")
    return replace(case, ledger=(*case.ledger, replace(first, id=AGAIN)))


def fold_oneself(case: Case) -> Case:
    """The client makes the history itself, from everything that was ever appended."""
    shown = [event.read() for event in case.log if event.surface_op == "append"]
    return _client(case, messages=tuple(str(data.get("message", data)["id"]) for data in shown))


def fall_behind(case: Case) -> Case:
    """What the client shows is right, and of an earlier event: it heard of nothing since."""
    behind = next(event.seq for event in reversed(case.log[:-12]) if event.type == "turn/end")
    old = client_of(case.log, behind, 0)
    shows_own = case.client.messages != client_of(case.log, case.last, 0).messages
    return _client(case, as_of_seq=behind, messages=case.client.messages if shows_own else old.messages,
                   values={key: old.values[key] for key in case.client.values})


def keep_schema(case: Case) -> Case:
    """The client was built for an earlier version of a view, in which calls were a list."""
    calls = case.client.values[tool_pairing.key]["calls"]
    values = {**case.client.values, tool_pairing.key: [{"id": id, **call} for id, call in calls.items()]}
    return _client(case, versions={**case.client.versions, tool_pairing.key: VERSION - 1}, values=values)


def _client(case: Case, **changes: Any) -> Case:
    return replace(case, client=replace(case.client, **changes))


def row(case: Case, at: int, change: Callable[[dict[str, Any]], dict[str, Any] | None]) -> Case:
    """*case* with the row of the unit in place *at* changed, or taken out."""
    key = UNITS[at].key
    made = change(dict(case.cache[key]))
    rest = {name: row for name, row in case.cache.items() if name != key}
    return replace(case, cache=rest if made is None else {**rest, key: made})


def _undone(case: Case) -> Operation:
    """The operation that the deletion of its chat was to take back."""
    wanted = next(receipt for receipt in case.receipts if receipt.undo)
    return next(operation for operation in case.ledger if operation.id in wanted.operations)


def delete_only(case: Case) -> Case:
    """The chat was deleted, and nothing was done about its operation."""
    sent = _undone(case)
    return replace(case, ledger=tuple(replace(one, status="done", compensated_by=None) if one.id == sent.id else one
                                      for one in case.ledger if one.compensates != sent.id))


def compensate_other(case: Case) -> Case:
    """What was taken back is the operation of another chat."""
    sent = _undone(case)
    other = next(id for receipt in case.receipts if not receipt.undo for id in receipt.operations)
    credit = sent.compensated_by

    def changed(one: Operation) -> Operation:
        if one.id == sent.id:
            return replace(one, status="done", compensated_by=None)
        if one.id == other:
            return replace(one, status="compensated", compensated_by=credit)
        return replace(one, compensates=other) if one.id == credit else one

    return replace(case, ledger=tuple(changed(one) for one in case.ledger))


def _archive(case: Case, change: Callable[[list[Any]], Sequence[Any]]) -> Case:
    lines = [json.loads(line) for line in case.archive.splitlines()]
    return replace(case, archive="".join(js_json(line) + "\n" for line in change(lines)).encode())


def of_version(version: int) -> Callable[[Case], Case]:
    return lambda case: _archive(case, lambda lines: [{**lines[0], "version": version}, *lines[1:]])


def with_plugin(case: Case) -> Case:
    """A plug-in logged an event that this program does not know, and that may not be passed over."""
    return _archive(case, lambda lines: [*lines, {
        "type": "ward/closed", "seq": len(lines) - 1, "time": lines[-1]["time"], "data": {}}])
