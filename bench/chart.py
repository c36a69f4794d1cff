"""Results → an SVG: the cost of a piece against the size of the document, both logarithmic."""

from __future__ import annotations

from html import escape
from math import floor, log10
from typing import Final, NamedTuple

WIDTH, HEIGHT = 860, 560
LEFT, RIGHT, TOP, BOTTOM = 70, 250, 50, 50
GAP: Final = 15  # between two labels

STYLE: Final = """
text { font: 12px system-ui, sans-serif; fill: #333 } .title { font-size: 15px; font-weight: 600 }
.grid { stroke: #ddd; stroke-width: 1 } path { fill: none; stroke-linejoin: round }
.ours { stroke: #0b7a4b; stroke-width: 3 } .rival { stroke: #8a8f98; stroke-width: 1.5 }
.rust { stroke: #b4541a; stroke-width: 1.5 } text.ours { stroke: none; fill: #0b7a4b;
font-weight: 600 } text.rust { stroke: none; fill: #b4541a } text.rival { stroke: none }
circle { stroke: none } circle.ours { fill: #0b7a4b } circle.rival { fill: #8a8f98 }
circle.rust { fill: #b4541a } .back { fill: #fff }
@media (prefers-color-scheme: dark) { text { fill: #ccc } .grid { stroke: #444 } .back { fill:
#16181c } .ours { stroke: #37c48a } text.ours, circle.ours { fill: #37c48a; stroke: none } .rust {
stroke: #f0935a } text.rust, circle.rust { fill: #f0935a; stroke: none } }
"""


class Line(NamedTuple):
    name: str
    style: str  # "ours", "rust" or "rival"
    points: list[tuple[float, float]]  # size, microseconds


class Scale(NamedTuple):
    """Logarithmic, from a range of values to a range of pixels."""

    low: float
    high: float
    first: float
    last: float

    def __call__(self, value: float) -> float:
        share = (log10(value) - log10(self.low)) / (log10(self.high) - log10(self.low))
        return self.first + share * (self.last - self.first)

    def decades(self) -> list[float]:
        return [10.0**n for n in range(floor(log10(self.low)) + 1, floor(log10(self.high)) + 1)]


def svg(title: str, lines: list[Line]) -> str:
    lines = [line for line in lines if line.points]
    sizes = [size for line in lines for size, _ in line.points]
    costs = [cost for line in lines for _, cost in line.points]
    across = Scale(min(sizes) * 0.8, max(sizes) * 1.2, LEFT, WIDTH - RIGHT)
    up = Scale(min(costs) * 0.7, max(costs) * 1.4, HEIGHT - BOTTOM, TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>{escape(title)}</title><style>{STYLE}</style>",
        f'<rect class="back" width="{WIDTH}" height="{HEIGHT}"/>',
        f'<text class="title" x="{LEFT}" y="24">{escape(title)}</text>',
        *_axes(across, up),
        *(_drawn(line, across, up) for line in lines),
        *_labels(lines, across, up),
        "</svg>\n",
    ]
    return "\n".join(parts)


def _axes(across: Scale, up: Scale) -> list[str]:
    parts = []
    for size in across.decades():
        x = across(size)
        parts.append(f'<path class="grid" d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}"/>')
        label = f"{size / 1e6:g} MB" if size >= 1e6 else f"{size / 1e3:g} KB"
        label = f"{size:g} B" if size < 1e3 else label
        parts.append(f'<text x="{x:.1f}" y="{HEIGHT - 28}" text-anchor="middle">{label}</text>')
    for cost in up.decades():
        y = up(cost)
        parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
        label = f"{cost / 1e3:g} ms" if cost >= 1e3 else f"{cost:g} µs"
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{label}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(
        f'<text x="{middle}" y="{HEIGHT - 8}" text-anchor="middle">size of the document</text>'
    )
    return parts


def _drawn(line: Line, across: Scale, up: Scale) -> str:
    places = [(across(size), up(cost)) for size, cost in line.points]
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    dots = "".join(
        f'<circle class="{line.style}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in places
    )
    return f'<path class="{line.style}" d="M{path}"/>{dots}'


def _labels(lines: list[Line], across: Scale, up: Scale) -> list[str]:
    """Each line's name at its right end; those that end at one size are kept apart."""
    ends: dict[float, list[tuple[float, Line]]] = {}
    for line in lines:
        size, cost = line.points[-1]
        ends.setdefault(round(across(size)), []).append((up(cost), line))
    parts = []
    for x, ended in ends.items():
        below = float(HEIGHT - BOTTOM + GAP)
        for y, line in sorted(ended, key=lambda end: -end[0]):
            below = min(y + 4, below - GAP)
            parts.append(
                f'<text class="{line.style}" x="{x + 8}" y="{below:.1f}">{escape(line.name)}</text>'
            )
    return parts
