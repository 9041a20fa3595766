"""From an older version of the format to the one that is read here: pure steps, record by record, into a new file (§4.8.3)."""
import io
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labsupport.errors import LogCorruptError, LogFormatError, StoredLogError
from labsupport.sessionlog.header import LOG_VERSION
from labsupport.sessionlog.json_text import field, write_data
from labsupport.sessionlog.storage.files import is_taken, open_plain
from labsupport.sessionlog.storage.scan import Scan, scan_file
from labsupport.strict_json import read_json
from labsupport.system import make_whole

Record = dict[str, Any]


@dataclass(frozen=True)
class UpgradeStep:
    """How a log of *version* becomes one of the next: its header and each of its records, changed by pure functions.

    One record becomes one record, so that what other events cite stays where it is; what means nothing any more is marked
    ignorable.
    """

    version: int
    header: Callable[[Record], Record]
    record: Callable[[Record], Record]


class UpgradeChain:
    """The steps that lead to the version read here, by the version that they begin with.

    >>> chain = UpgradeChain([UpgradeStep(-1, lambda header: header, lambda old: {**old, "time": 0})])
    >>> chain.path_from(-1)[0].version
    -1
    >>> chain.path_from(-2)
    Traceback (most recent call last):
    labsupport.errors.LogFormatError: line 1: no step leads from version -2 of the format to -1. The log is whole; ...
    """

    def __init__(self, steps: Iterable[UpgradeStep] = ()) -> None:
        self._steps: dict[int, UpgradeStep] = {}
        for step in steps:
            self.register(step)

    def register(self, step: UpgradeStep) -> None:
        """Add *step*; ValueError for a version that has one, or that is not older than the one read here."""
        if step.version >= LOG_VERSION or step.version in self._steps:
            raise ValueError(f"there is no room for a step from version {step.version}")
        self._steps[step.version] = step

    def path_from(self, version: int, path: Path | None = None) -> list[UpgradeStep]:
        """The steps from *version* to the one read here, in order; LogFormatError where one is missing."""
        if version > LOG_VERSION:
            raise LogFormatError(f"version {version} of the format is newer than {LOG_VERSION}, the one read here, and there "
                                 "is no way back. The log is whole: open it with a newer version of this library.", version,
                                 path)
        for at in range(version, LOG_VERSION):
            if at not in self._steps:
                raise LogFormatError(f"no step leads from version {at} of the format to {at + 1}. The log is whole; register "
                                     "the step, or upgrade it with a version of this library that has it.", version, path)
        return [self._steps[at] for at in range(version, LOG_VERSION)]

    def upgrade(self, source: str | os.PathLike[str], target: str | os.PathLike[str]) -> Scan:
        """Write the JSONL log *source* to the new file *target* in the version read here; *source* stays as it is.

        The result is scanned before it is written, so a step that makes no log of it is refused: LogCorruptError. So is a
        source with a torn or damaged line, for a version that is not read here is not repaired here either.
        """
        old, new = Path(source), Path(target)
        if is_taken(new):
            raise StoredLogError("there is a file of this name. Nothing was written.", new)
        with os.fdopen(open_plain(old, os.O_RDONLY), "rb") as file:
            lines = list(file)
        header, *records = [_record(old, number, line) for number, line in enumerate(lines, 1)] or [{}]
        version = field(header, "version")
        if type(version) is not int:
            raise LogCorruptError("the header names no version. Nothing was changed.", old, 1)
        for step in self.path_from(version, old):
            header = {**step.header(header), "version": step.version + 1}
            records = [step.record(record) for record in records]
        data = b"".join(write_data(record, stored=True) + b"\n" for record in (header, *records))
        scan = scan_file(io.BytesIO(data), new)
        if scan.torn is not None:
            raise LogCorruptError(f"the steps made no log of it: {scan.torn.why}. Nothing was written.", new, scan.torn.line)
        make_whole(new, data)
        return scan


def _record(path: Path, number: int, line: bytes) -> Record:
    try:
        record = read_json(line)
        if isinstance(record, dict) and line.endswith(b"\n"):
            return record
        why = "it is no whole record"
    except ValueError as error:
        why = str(error)
    raise LogCorruptError(f"this record cannot be upgraded ({why}). Nothing was changed; the library that wrote the log can "
                          "repair it.", path, number)
