"""One row for each thing that is measured, and the table that they make."""
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """What *ours* is beside something else; *ok* is None where there is no target, or where it could not be measured."""

    subject: str
    ours: str
    beside: str = ""
    ratio: str = ""
    target: str = ""
    ok: bool | None = None

    @property
    def missed(self) -> bool:
        """Whether there is a target and it was not shown to be met."""
        return bool(self.target) and not self.ok


def seconds(value: float) -> str:
    """*value* seconds, for people.

    >>> seconds(2.5), seconds(0.0123), seconds(0.0000046)
    ('2.50 s', '12.3 ms', '4.6 µs')
    """
    if value >= 1:
        return f"{value:.2f} s"
    return f"{value * 1e3:.1f} ms" if value >= 1e-3 else f"{value * 1e6:.1f} µs"


def megabytes(value: float) -> str:
    return f"{value / 1e6:.0f} MB"


def a_second(value: float) -> str:
    return f"{value:,.0f}/s"


def beside(subject: str, ours: float, name: str, base: float | None, *, show: Callable[[float], str] = seconds,
           at_most: float | None = None, at_least: float | None = None, faster: float | None = None,
           ratio: float | None = None) -> Row:
    """*ours* beside *base*, the figure of *name*; None where that could not be measured. *ratio* where it was taken otherwise.

    The target, if there is one: *ours* is *at_most* or *at_least* so many times *base*, or *faster* so many times.

    >>> beside("trim", 0.012, "json", 0.010, at_most=1.5)
    Row(subject='trim', ours='12.0 ms', beside='json: 10.0 ms', ratio='1.20 ×', target='≤ 1.5 ×', ok=True)
    >>> beside("trim", 0.1, "a peer", 0.5, faster=10).ok
    False
    """
    word = " faster" if faster else ""
    limit = at_most or at_least or faster
    target = "" if limit is None else f"{'≤' if at_most else '≥'} {limit:g} ×{word}"
    if base is None:
        return Row(subject, show(ours), f"{name}: not measured", "", target)
    if ratio is None:
        ratio = base / ours if faster else ours / base
    ok = None if limit is None else ratio <= limit if at_most else ratio >= limit
    return Row(subject, show(ours), f"{name}: {show(base)}", f"{ratio:.2f} ×{word}", target, ok)


def drawn(rows: list[Row]) -> str:
    """*rows* as text, which is a table of Markdown as well."""
    verdict = {True: "yes", False: "NO", None: ""}
    cells = [("subject", "ours", "beside", "ratio", "target", "ok"), *(
        (row.subject, row.ours, row.beside, row.ratio, row.target,
         "?" if row.target and row.ok is None else verdict[row.ok]) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in cells]
    return "\n".join([lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]])
