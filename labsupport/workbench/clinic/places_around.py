"""What stands around the log of a case: watermarks and caches, what the client shows, and the world outside."""
from collections import defaultdict
from collections.abc import Iterator

from labsupport.lossless import js_json
from labsupport.sessionlog import fold, to_json
from labsupport.sessionlog.json_text import field, same_json
from labsupport.workbench.clinic.cases import UNITS, Case, message_ids
from labsupport.workbench.clinic.clues import Clue, existing

# Projection watermark

def watermark(case: Case) -> Iterator[Clue]:
    """Of which event, and of which version of the views, are the client and the cache?"""
    shown, last = case.client, case.last
    behind = shown.as_of_seq < last
    yield Clue("watermark", "b11_behind" if behind else "b11_up_to_date", {"seq": shown.as_of_seq, "last": last},
               existing(shown.as_of_seq, last), "client-behind" if behind else "")
    for unit in UNITS:
        version, row = shown.versions.get(unit.key), case.cache.get(unit.key)
        if version != unit.state_version:
            yield Clue("watermark", "b11_schema", {"key": unit.key, "shown": version, "now": unit.state_version}, (),
                       "client-schema")
        if row is None:
            yield Clue("watermark", "b11_no_row", {"key": unit.key}, (), "cache-missing")
        elif row["ver"] != unit.state_version:
            yield Clue("watermark", "b11_old_row", {"key": unit.key, "ver": row["ver"], "now": unit.state_version},
                       existing(row["seq"]), "cache-version")
        elif row["seq"] > last:
            yield Clue("watermark", "b11_row_beyond", {"key": unit.key, "seq": row["seq"], "last": last},
                       existing(row["seq"], last), "cache-beyond")
        else:
            yield Clue("watermark", "b11_row", {"key": unit.key, "ver": row["ver"], "seq": row["seq"]}, existing(row["seq"]))


# Client

def client(case: Case) -> Iterator[Clue]:
    """Is what the client shows what the log gives as of the event that it names, for the views that it was built for?"""
    shown = case.client
    known = case.log[:shown.as_of_seq + 1]
    ours, theirs = message_ids(known), shown.messages
    other = [unit.key for unit in UNITS if shown.versions.get(unit.key) == unit.state_version
             and not same_json(to_json(shown.values.get(unit.key)), to_json(fold(unit, known)))]
    values = {"shown": len(theirs), "derived": len(ours), "seq": shown.as_of_seq, "views": len(other)}
    if ours == theirs and not other:
        yield Clue("client", "b11_same", values, existing(shown.as_of_seq))
    else:
        yield Clue("client", "b11_folds", values, existing(_first_difference(case, ours, theirs)), "client-folds")


def _first_difference(case: Case, ours: tuple[str, ...], theirs: tuple[str, ...]) -> int:
    """The event of the first message that the client shows otherwise; its watermark where the messages are the same."""
    at = next((at for at, (one, other) in enumerate(zip(ours, theirs, strict=False)) if one != other),
              min(len(ours), len(theirs)))
    wanted = (*theirs[at:at + 1], *ours[at:at + 1])
    for event in case.log:
        data = event.read() if event.surface_op == "append" or field(event.read(), "id") in wanted else None
        if data is not None and field(data.get("message", data), "id") in wanted:
            return event.seq
    return case.client.as_of_seq


# Outside

def outside(case: Case) -> Iterator[Clue]:
    """What was really done, was anything done twice, and was it taken back where that was wanted?"""
    yield Clue("outside", "b11_operations", {"n": len(case.ledger)})
    alike = defaultdict(list)
    for operation in case.ledger:
        if operation.payload is not None and operation.status == "done":
            alike[operation.kind, js_json(operation.payload)].append(operation.id)
    for ids in alike.values():
        if len(ids) > 1:
            yield Clue("outside", "b11_twice", {"ids": " ".join(ids)})
    by_id = {operation.id: operation for operation in case.ledger}
    stays = {id for receipt in case.receipts if not receipt.undo for id in receipt.operations}
    wanted = [id for receipt in case.receipts if receipt.undo for id in receipt.operations]
    for id in wanted:
        found = by_id.get(id)
        if found is None:
            yield Clue("outside", "b11_unknown_operation", {"id": id})
        elif found.status == "compensated":
            yield Clue("outside", "b11_taken_back", {"id": id, "by": found.compensated_by})
        else:
            strays = [one for one in case.ledger if one.compensates in stays]
            values = {"id": id, "by": strays[0].id if strays else "", "other": strays[0].compensates if strays else ""}
            yield Clue("outside", "b11_other_taken_back" if strays else "b11_not_taken_back", values, (),
                       "other-compensated" if strays else "deleted-only")
