"""A bar chart as SVG, with a logarithmic axis."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from math import ceil, floor, log10

WIDTH, ROW, LABEL, TOP = 720, 24, 240, 34
STYLE = """text { font: 13px system-ui, sans-serif; fill: currentColor }
svg { color: #333 } .ours { fill: #0a7d55 } .others { fill: #8aa0b4 } line { stroke: #8884 }
@media (prefers-color-scheme: dark) { svg { color: #ddd } }"""


def bars(title: str, figures: Mapping[str, float], ours: str = "jsonrill") -> str:
    """Return the chart of these figures; the bars whose names begin with `ours` stand out."""
    low, high = floor(log10(min(figures.values()))), ceil(log10(max(figures.values())))
    scale = (WIDTH - LABEL - 70) / (high - low)
    height = TOP + ROW * len(figures) + 24
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
        f"<title>{escape(title)}</title><style>{STYLE}</style>",
        f'<text x="4" y="20">{escape(title)}</text>',
    ]
    for power in range(low, high + 1):
        x = LABEL + (power - low) * scale
        parts.append(f'<line x1="{x:.0f}" x2="{x:.0f}" y1="{TOP}" y2="{height - 20}"/>')
        parts.append(f'<text x="{x - 8:.0f}" y="{height - 4}">{10**power:g}</text>')
    for number, (name, figure) in enumerate(figures.items()):
        y = TOP + ROW * number
        width = (log10(figure) - low) * scale
        kind = "ours" if name.startswith(ours) else "others"
        parts.append(f'<text x="4" y="{y + 16}">{escape(name)}</text>')
        parts.append(
            f'<rect class="{kind}" x="{LABEL}" y="{y + 3}" width="{width:.1f}" height="{ROW - 7}"/>'
        )
        parts.append(f'<text x="{LABEL + width + 6:.0f}" y="{y + 16}">{figure:.3g}</text>')
    return "\n".join([*parts, "</svg>", ""])
