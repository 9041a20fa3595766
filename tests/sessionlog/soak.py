"""A thousand kills: `python -m tests.sessionlog.soak [--kills N] [--from SEED] [--sqlite]`. Posix only."""

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.sessionlog.kills import Plan, check, kill_once


def soak(kills: int, first: int = 0, sqlite: bool = False) -> Counter[str]:
    """Run the cases of the seeds from *first* on; what became of them. AssertionError names the seed that broke."""
    seen: Counter[str] = Counter()
    for seed in range(first, first + kills):
        plan = Plan.in_a_database(seed) if sqlite else Plan.of(seed)
        with tempfile.TemporaryDirectory() as folder:
            try:
                witness, events = kill_once(Path(folder) / "logs", plan, sqlite=sqlite)
                check(plan, witness, events)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}: {error}") from error
        seen["ended before the kill" if witness.ended else "nothing stored yet" if not events else "recovered"] += 1
        seen["tools that ran"] += len(witness.ran)
    return seen


def main() -> int:
    parser = argparse.ArgumentParser("soak", description=__doc__)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--from", type=int, default=0, dest="first", metavar="SEED")
    parser.add_argument("--sqlite", action="store_true", help="in a database, not in files")
    options = parser.parse_args()
    start = time.monotonic()
    seen = soak(options.kills, options.first, options.sqlite)
    print(", ".join(f"{count} {what}" for what, count in sorted(seen.items())), f"in {time.monotonic() - start:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
