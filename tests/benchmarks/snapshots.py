"""A snapshot after one more event, on a short log and on a long one: it costs the units, whatever the length."""
from labsupport.sessionlog import (
    ProjectionRegistry,
    Session,
    session_stats,
    surface_tokens,
    todo,
    tool_pairing,
    turn_status,
)
from tests.benchmarks import logs
from tests.benchmarks.table import Row, beside
from tests.benchmarks.turns import Side, by_turns

UNITS = (turn_status, tool_pairing, session_stats, todo, surface_tokens)


def rows(short: int, long: int, rounds: int) -> list[Row]:
    """One row: *long* events beside *short* ones. A round is one turn, so that every kind of event comes up."""
    times = by_turns(rounds, *(_growing(count, rounds) for count in (short, long)))
    less, more = (min(side) / logs.TURN for side in times)
    return [beside(f"append and snapshot, {len(UNITS)} units, {long:,} events", more, f"the same, {short:,} events", less,
                   at_most=1.5)]


def _growing(count: int, rounds: int) -> Side:
    """What logs the next turn behind *count* events, with a snapshot after each event."""
    session, registry = Session.create(logs.ID, clock=logs.clock()), ProjectionRegistry(UNITS)
    turns = logs.blocks(count // logs.TURN + rounds + 1, logs.TURN)
    for turn in turns[:-rounds - 1]:
        for record in turn:
            logs.append(session, record)
    registry.follow(session)

    def go_on(number: int) -> None:
        for record in turns[number - rounds - 1]:
            logs.append(session, record)
            registry.snapshot(session)

    return go_on
