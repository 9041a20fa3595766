"""Worst loss against cost: which policies are on the frontier, and which are beaten by another in both (lab B7)."""
from collections.abc import Sequence
from math import log10
from typing import NamedTuple

from labsupport.workbench.pictures.base import esc, number, round_ticks
from labsupport.workbench.text import say

WIDTH, HEIGHT = 900, 196
LEFT, RIGHT, TOP, BOTTOM = 70, 760, 24, 156
LINE = 14
"""Pixels from one line of labels to the next."""


class Dot(NamedTuple):
    """A policy: its *name*, its *cost* (above 0), the *worst* loss, and whether it is the *chosen* one."""

    name: str
    cost: float
    worst: int
    chosen: bool = False


class Box(NamedTuple):
    """A rectangle on the chart that is taken."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: "Box") -> bool:
        return self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom


def frontier(dots: Sequence[Dot]) -> list[Dot]:
    """The dots that no other beats, from the cheapest on: none costs and loses as little, and less of one.

    >>> a, b, c = Dot("a", 1, 9), Dot("b", 3, 4), Dot("c", 4, 5)
    >>> [dot.name for dot in frontier([c, b, a])]
    ['a', 'b']
    """
    def beaten(dot: Dot) -> bool:
        return any(one.cost <= dot.cost and one.worst <= dot.worst and (one.cost, one.worst) != (dot.cost, dot.worst)
                   for one in dots)

    return sorted((dot for dot in dots if not beaten(dot)), key=lambda dot: (dot.cost, -dot.worst))


def cost_ticks(least: float, most: float) -> list[float]:
    """Ticks of a logarithmic scale that holds both: 1 and 3 times powers of ten.

    >>> cost_ticks(2, 50)
    [1, 3, 10, 30, 100]
    """
    steps = [digit * 10**power for power in range(-4, 9) for digit in (1, 3)]
    first = max(at for at, step in enumerate(steps) if step <= least or at == 0)
    last = min(at for at, step in enumerate(steps) if step >= most or at == len(steps) - 1)
    return [round(step, 4) for step in steps[first:max(last, first + 1) + 1]]


def chart(dots: Sequence[Dot], timed: bool) -> str:
    """The chart as SVG. Its figures stand in the table above it; the cost is in milliseconds when *timed*, else flushes."""
    best = frontier(dots)
    across = cost_ticks(min(dot.cost for dot in dots), max(dot.cost for dot in dots))
    most = max(1, *(dot.worst for dot in dots))
    up = round_ticks(most, 5)
    first, last = log10(across[0]), log10(across[-1])

    def x(cost: float) -> float:
        return LEFT + (RIGHT - LEFT) * (log10(max(cost, across[0])) - first) / (last - first)

    def y(worst: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * worst / most

    grid = "".join(f'<line x1="{LEFT}" x2="{RIGHT}" y1="{y(tick):.1f}" y2="{y(tick):.1f}" stroke="var(--xp-line)"></line>'
                   f'<text x="{LEFT - 8}" y="{y(tick) + 4:.1f}" text-anchor="end" class="xp-tx">{number(tick)}</text>'
                   for tick in up)
    scale = "".join(f'<text x="{x(tick):.1f}" y="{BOTTOM + 18}" text-anchor="middle" class="xp-tx">{tick:g}</text>'
                    for tick in across)
    titles = (f'<text x="{LEFT}" y="12" class="xp-tx">{esc(say("b7_axis_worst"))}</text>'
              f'<text x="{RIGHT}" y="{BOTTOM + 36}" text-anchor="end" class="xp-tx">'
              f'{esc(say("b7_axis_ms" if timed else "b7_axis_flushes"))}</text>')
    stairs = f"M{x(best[0].cost):.1f},{y(best[0].worst):.1f}" + "".join(
        f" H{x(dot.cost):.1f} V{y(dot.worst):.1f}" for dot in best[1:])
    path = f'<path d="{stairs}" fill="none" stroke="var(--xp-rule)" stroke-width="1.5"></path>'
    taken = [Box(LEFT, 0, LEFT + 130, 16),  # the title of the axis, then the dots
             *(Box(x(dot.cost) - 8, y(dot.worst) - 8, x(dot.cost) + 8, y(dot.worst) + 8) for dot in dots)]
    ink = ""
    for dot in sorted(dots, key=lambda dot: (dot not in best, dot.cost)):
        ink += _dot(dot, x(dot.cost), y(dot.worst), dot in best, taken)
    return (f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" '
            f'style="display:block;max-width:100%;background:var(--xp-paper)" aria-label="{esc(say("b7_chart_label"))}">'
            f'{grid}{scale}{titles}{path}{ink}</svg>')


def _dot(dot: Dot, x: float, y: float, on: bool, taken: list[Box]) -> str:
    """A dot with its label where there is room; what it takes is added to *taken*."""
    words = dot.name if on else say("b7_beaten", policy=dot.name)
    wide = sum(12 if ord(sign) > 0x2E7F else 6.6 for sign in words)
    places = [(x + 10, y - 7, ""), (x - 10, y + 17, "end"), (x + 10, y + 17, ""), (x - 10, y - 7, "end"),
              (x + 10, y - 7 - LINE, ""), (x + 10, y + 17 + LINE, "")]
    boxes = [Box(at - wide if end else at, line - LINE + 3, at if end else at + wide, line + 3) for at, line, end in places]
    free = next((place for place, box in enumerate(boxes) if not any(box.meets(other) for other in taken)
                 and box.bottom <= BOTTOM + 4 and box.top >= 0 and box.left >= LEFT and box.right <= WIDTH), 0)
    taken.append(boxes[free])
    at, line, end = places[free]
    fill = "var(--xp-mark)" if dot.chosen and on else "var(--xp-ink)" if on else "var(--xp-paper)"
    edge = "" if on else f' stroke="var(--xp-{"mark" if dot.chosen else "ink"})" stroke-width="1.5"'
    bold = ' font-weight="600"' if dot.chosen else ""
    anchor = ' text-anchor="end"' if end else ""
    return (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{6 if dot.chosen else 4.5}" fill="{fill}"{edge}></circle>'
            f'<text x="{at:.1f}" y="{line:.1f}" class="xp-tt"{bold}{anchor} '
            f'style="paint-order:stroke;stroke:var(--xp-paper);stroke-width:3px">{esc(words)}</text>')
