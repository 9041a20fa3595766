"""Measure what is fast and what is right, beside other libraries in the same run: `python3 lab.py bench`."""
import argparse
import platform
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks import append, compaction, environment, lineage, load, moves, open_log, pairs, snapshots, stores, trim
from tests.benchmarks.table import Row, drawn


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    trim: tuple[int, ...] = (1_000, 10_000, 100_000)
    load: int = 100_000_000
    steps: int = 200
    flushed: int = 500
    synced: int = 25
    rounds: int = 5
    append_rounds: int = 20
    events: int = 1_000_000
    open_rounds: int = 3
    commits: int = 400
    groups: int = 200
    reads: int = 10
    lineage: int = 54_978
    lineage_rounds: int = 15
    snapshots: tuple[int, int] = (1_000, 100_000)
    snapshot_rounds: int = 20
    surfaces: tuple[int, ...] = (1_000, 10_000, 100_000)
    transaction: int = 10_000
    compaction_rounds: int = 7
    moves: int = 60


QUICK = Sizes(trim=(100, 1_000), load=500_000, steps=40, flushed=50, synced=5, rounds=1, append_rounds=2, events=3_300,
              open_rounds=1, commits=5, groups=2, reads=1, lineage=3_300, lineage_rounds=1, snapshots=(330, 3_300),
              snapshot_rounds=2, surfaces=(200, 2_000), transaction=400, compaction_rounds=2, moves=2)


def measure(sizes: Sizes, python: Path | None) -> list[Row]:
    """Every row; without *python*, the one that has the peers, their side stays empty."""
    environment.SCRATCH.mkdir(exist_ok=True)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=environment.SCRATCH)))
        peers = stack.enter_context(environment.Worker(python, "peers")) if python else None
        rows, here = [], sys.executable
        for name, part in (("pairs", lambda: pairs.rows(folder, sizes.steps, peers)),
                           ("append", lambda: append.rows(folder, sizes.flushed, sizes.synced, sizes.append_rounds)),
                           ("load", lambda: load.rows(folder, sizes.load, sizes.rounds, python)),
                           ("open", lambda: open_log.rows(folder, sizes.events, sizes.open_rounds, python, here)),
                           ("stores", lambda: stores.rows(folder, sizes.commits, sizes.groups, sizes.reads, python)),
                           ("lineage", lambda: lineage.rows(folder, sizes.lineage, sizes.lineage_rounds, python, here)),
                           ("snapshots", lambda: snapshots.rows(*sizes.snapshots, sizes.snapshot_rounds)),
                           ("compaction", lambda: compaction.rows(sizes.surfaces, sizes.transaction, sizes.compaction_rounds)),
                           ("moves", lambda: moves.rows(sizes.moves)),
                           ("trim", lambda: trim.rows(folder, sizes.trim, sizes.rounds, peers))):
            print(f"{name} …", file=sys.stderr, flush=True)
            rows += part()
        return rows


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser("lab.py bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes: to see that it runs, not how fast")
    parser.add_argument("--no-peers", action="store_true", help="measure our side only; needs no network")
    parser.add_argument("--strict", action="store_true", help="fail when a target is missed or could not be measured")
    options = parser.parse_args(arguments)
    rows = measure(QUICK if options.quick else Sizes(), None if options.no_peers else environment.ready())
    print(f"Python {platform.python_version()}, {platform.system()} {platform.machine()}\n\n{drawn(rows)}\n")
    missed = [row.subject for row in rows if row.missed]
    print(f"{len(missed)} of {sum(bool(row.target) for row in rows)} targets not met." if missed else "Every target is met.")
    return 1 if missed and options.strict else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
