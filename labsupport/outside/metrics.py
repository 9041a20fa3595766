"""What a figure means: definitions of metrics, each found by its id and its version (chapter 4, §4.12)."""
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from labsupport.errors import MetricMissingError, OutsideCorruptError, OutsideFileError, OutsideFormatError
from labsupport.frozen import FrozenDict
from labsupport.strict_json import read_json

FORMAT = 1

_Text = Annotated[str, msgspec.Meta(min_length=1)]


class Metric(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One version of a definition. It stays as it is: another meaning is another version.

    *formula* says how often each column of a table counts; *words* say the same to people.
    """

    id: _Text
    version: Annotated[int, msgspec.Meta(ge=1)]
    name: _Text
    formula: Annotated[dict[_Text, int], msgspec.Meta(min_length=1)]
    words: _Text
    status: Literal["draft", "active", "retired"]

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "formula", FrozenDict(self.formula))

    def value(self, rows: Iterable[Mapping[str, str]]) -> int:
        """The metric over *rows* of a table, whose cells are text.

        >>> first_pass = Metric("tests", 2, "Tests", {"count": 1, "repeats": -1}, "without repeats", "active")
        >>> first_pass.value([{"count": "12", "repeats": "2"}, {"count": "5", "repeats": "0"}])
        15
        """
        return sum(weight * int(row[column]) for row in rows for column, weight in self.formula.items())


class Metrics:
    """The definitions in the JSON file at *path*, as they are now.

    >>> metrics = Metrics(Path(__file__).parents[2] / "data" / "metrics.json")
    >>> metrics.get("tests", 2).words
    'tests without their repeats'

    Without a version you get the one that is active, which may be another one tomorrow; so what relies on a definition keeps
    its version:

    >>> metrics.active("tests").version, [metric.version for metric in metrics.versions("tests")]
    (2, [1, 2, 3])

    OutsideFileError for a file that cannot be read, OutsideFormatError for a newer one, OutsideCorruptError for one that is
    none, or that says two things: a version twice, or two active ones. Chapter 4, §4.12.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._found = {(metric.id, metric.version): metric for metric in _read(self.path)}

    def get(self, id: str, version: int) -> Metric:
        """This version of the definition, active or not. Raises MetricMissingError, which names the versions there are."""
        versions = tuple(metric.version for metric in self.versions(id))
        if (id, version) not in self._found or type(version) is not int:
            known = ", ".join(map(str, versions))
            raise MetricMissingError(f"the metric {id!r} has no version {version}; it has {known}.", id, version, versions)
        return self._found[id, version]

    def active(self, id: str) -> Metric:
        """The version that holds now. MetricMissingError where none does."""
        found = next((metric for metric in self.versions(id) if metric.status == "active"), None)
        if found is None:
            raise MetricMissingError(
                f"no version of the metric {id!r} is active; versions({id!r}) has what there is.", id, None,
                tuple(metric.version for metric in self.versions(id)))
        return found

    def versions(self, id: str) -> list[Metric]:
        """All versions of the metric, oldest first. MetricMissingError where there are none."""
        found = [metric for (other, _), metric in sorted(self._found.items()) if other == id]
        if not found:
            known = tuple(sorted({other for other, _ in self._found}))
            near = get_close_matches(str(id), known, 1) or known
            raise MetricMissingError(f"no metric is called {str(id)[:40]!r}; there is {', '.join(near)}.", id, None, known)
        return found


def _read(path: Path) -> list[Metric]:
    try:
        stored = read_json(path.read_bytes())
    except OSError as error:
        raise OutsideFileError(f"it cannot be read ({type(error).__name__}).", path) from None
    except ValueError:
        raise OutsideCorruptError("this is not JSON, so nobody can say what a figure means; restore a backup.", path) from None
    version = stored.get("format") if isinstance(stored, dict) else None
    if type(version) is int and version > FORMAT:
        raise OutsideFormatError(f"format {version} was written by a newer version of this program; upgrade it.", path, version)
    try:
        found = msgspec.convert(stored, _File, strict=True).metrics
    except msgspec.ValidationError as error:
        raise OutsideCorruptError(f"this is no file of definitions ({error}).", path) from None
    versions = [(metric.id, metric.version) for metric in found]
    active = [metric.id for metric in found if metric.status == "active"]
    if len(versions) > len(set(versions)) or len(active) > len(set(active)):
        raise OutsideCorruptError("one version stands there twice, or two of one metric are active: which of them holds, "
                                  "somebody has to decide.", path)
    return found


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: Literal[1]
    metrics: list[Metric]
