"""What the flushes of lab B7's session cost on this disk, under each policy: measured with a real store, never saved."""
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import labsupport
from labsupport.errors import LabError
from labsupport.workbench.flush_runs import POLICIES, new_session, play, policy_of
from labsupport.workbench.store_trials import open_store

ROUNDS = 5


@dataclass(frozen=True)
class Measured:
    """Milliseconds that all flushes of the session took: policy → the median of some rounds; or what *failed*."""

    ms: Mapping[str, float] = field(default_factory=dict)
    failed: str = ""


def measure(store: str, rounds: int = ROUNDS) -> Measured:
    """Record the session under every policy, *rounds* times, with a real *store* on the learner's disk.

    A disk that fails and a learner who interrupts become words in the answer; what was measured until then is dropped.
    """
    try:
        with TemporaryDirectory(prefix="measure-", dir=_place(), ignore_cleanup_errors=True) as folder:
            _one_session(store, Path(folder) / "first", "on_barriers")  # what only the first run pays
            spent: dict[str, list[float]] = {policy: [] for policy in POLICIES}
            for number in range(rounds):
                for policy, times in spent.items():
                    times.append(sum(_one_session(store, Path(folder) / f"{policy}-{number}", policy)))
    except KeyboardInterrupt:
        return Measured(failed="KeyboardInterrupt")
    except OSError as error:
        return Measured(failed=f"{type(error).__name__}: {error.strerror}")
    except LabError as error:
        return Measured(failed=type(error).__name__)
    return Measured({policy: median(times) for policy, times in spent.items()})


def _place() -> Path | None:
    """The workbook's own folder for what it need not keep, on the learner's disk; else the system's, which may be memory."""
    folder = Path(labsupport.__path__[0]).parent / ".lab"
    return folder if folder.is_dir() and os.access(folder, os.W_OK) else None


def _one_session(name: str, folder: Path, policy: str) -> list[float]:
    """How long each flush of the session took, in milliseconds."""
    session, times = new_session(), list[float]()
    with open_store(name, folder) as store:
        writer = store.attach(session, policy_of(policy, session))
        flush = writer.flush

        def timed() -> None:
            waiting, started = writer.waiting, perf_counter()
            flush()
            if waiting:
                times.append(1000 * (perf_counter() - started))

        writer.flush = timed
        play(session)
        writer.close()
    return times
