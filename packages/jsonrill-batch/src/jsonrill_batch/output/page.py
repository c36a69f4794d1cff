"""The report as one HTML page: no network, no script, light or dark as the reader's system is.

Everything that comes from a log (codes, names, messages) is escaped, and the page's policy forbids
it to load anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from .report import (
    UNITS,
    Report,
    by_count,
    counted,
    duration,
    number,
    printable,
    share,
    shortened,
    shown,
    size,
    where,
)
from .summary import Spread

_STYLE: Final = """
:root{color-scheme:light dark;--ink:#1d2430;--dim:#5b6675;--line:#d9dee6;--back:#fff;--card:#f6f8fa;
--bar:#2f6fd0;--good:#1f8a4c;--bad:#c23b31}
@media(prefers-color-scheme:dark){:root{--ink:#e6eaf0;--dim:#9aa5b4;--line:#333c49;--back:#12161c;
--card:#1a2029;--bar:#6aa2f5;--good:#4fbf7f;--bad:#ef7a70}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:60rem;padding:2rem 1.25rem 4rem;background:var(--back);
color:var(--ink);font:16px/1.5 system-ui,sans-serif}
h1{font-size:1.6rem;margin:0 0 .25rem}h2{font-size:1.1rem;margin:2.25rem 0 .75rem}
p{margin:.25rem 0;color:var(--dim)}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));gap:.75rem;margin-top:1.5rem}
.card{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.75rem 1rem}
.card b{display:block;font-size:1.35rem;font-variant-numeric:tabular-nums}
.card span{color:var(--dim);font-size:.85rem}
figure{margin:0 0 1.5rem;background:var(--card);border:1px solid var(--line);border-radius:.5rem;
padding:1rem}
figcaption{font-size:.9rem;color:var(--dim);margin-bottom:.5rem}
figure{overflow-x:auto}svg{display:block;width:100%;min-width:38rem;height:auto}
svg text{font:12px system-ui,sans-serif;fill:var(--dim)}
.bar{fill:var(--bar)}.good{fill:var(--good)}.bad{fill:var(--bad)}
.axis{stroke:var(--line);stroke-width:1}
table{border-collapse:collapse;width:100%;font-size:.95rem}
th,td{text-align:left;padding:.35rem .75rem .35rem 0;border-bottom:1px solid var(--line);
vertical-align:top;min-width:7.5rem;overflow-wrap:anywhere}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
"""
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"
_WIDTH: Final = 880
_HEIGHT: Final = 180


def page(report: Report) -> str:
    """The HTML text of the page."""
    return "\n".join(_parts(report)) + "\n"


def _parts(report: Report) -> Iterator[str]:
    total = report.summary
    kind = escape(report.job["kind"])
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{kind}: {number(total.streams)} streams</title>"
    yield f"<style>{_STYLE}</style>\n</head>\n<body>\n<main>"
    yield f"<h1>{kind}: {number(total.streams)} streams</h1>"
    yield f"<p>{_about(report)}</p>"
    yield _cards(report)
    outcomes = [("ok", total.ok, "good")]
    outcomes += [(code, count, "bad") for code, count in by_count(total.errors)]
    yield _breakdown("Results of the streams", outcomes, total.streams)
    worst = [
        (f"{shortened(path, 44)} · {rule}", count, "bad") for path, rule, count in total.worst(15)
    ]
    if worst:
        title = "Which field and rule breaks most often"
        yield _breakdown(title, worst, total.streams, labels=400)
    if total.quarantined:
        lines = [(code, count, "bad") for code, count in by_count(total.quarantined)]
        yield _breakdown("Lines in quarantine", lines, total.lines)
        rows = [(where(bad), bad["code"], bad["message"]) for bad in report.samples]
        yield _table("First lines in quarantine", ("where", "code", "why"), rows)
    if total.repairs:
        rules = [(rule, count, "bar") for rule, count in by_count(total.repairs)]
        yield _breakdown("Repairs", rules, 0)
    yield from _waits("Until the first value", total.first)
    yield from _waits("Until the last change", total.last)
    if report.failed:
        yield _table("Shards that failed", ("shard", "why"), list(report.failed.items()))
    yield "</main>\n</body>\n</html>"


def _about(report: Report) -> str:
    parts = [
        f"{counted(report.files, 'file')}, {size(report.summary.bytes)}",
        f"{counted(report.shards, 'shard')} in {duration(report.seconds)}",
        report.engine + (f", {counted(report.workers, 'worker')}" if report.workers else ""),
    ]
    if report.resumed:
        parts.append(f"{counted(report.resumed, 'shard')} done before")
    return escape(" · ".join(parts))


def _cards(report: Report) -> str:
    total = report.summary
    cards = [
        ("streams", number(total.streams)),
        (f"without an error{share(total.ok, total.streams)}", number(total.ok)),
        ("rows written", number(total.rows)),
        ("lines in quarantine", number(total.bad_lines)),
        ("streams per second", number(round(report.rate))),
    ]
    if total.after_error:
        cards.append(("characters after an error", number(total.after_error)))
    shown = "".join(
        f'<div class="card"><b>{escape(value)}</b><span>{escape(name)}</span></div>'
        for name, value in cards
    )
    return f'<div class="cards">{shown}</div>'


def _breakdown(title: str, bars: list[tuple[str, int, str]], whole: int, labels: int = 200) -> str:
    """A bar for each code, with its count; the names have `labels` of the width."""
    widest = _WIDTH - labels - 260
    most = max((count for _, count, _ in bars), default=0) or 1
    rows = []
    for place, (name, count, colour) in enumerate(bars):
        top = place * 30
        width = max(2.0, widest * count / most) if count else 0
        label = f"{number(count)}{share(count, whole)}"
        rows.append(
            f'<text x="0" y="{top + 19}">{escape(printable(name))}</text>'
            f'<rect class="{colour}" x="{labels}" y="{top + 4}" width="{width:.1f}" height="20"'
            f' rx="3"/><text x="{labels + 10 + width:.1f}" y="{top + 19}">{escape(label)}</text>'
        )
    svg = _svg(title, 30 * len(bars), "".join(rows))
    return f"<h2>{escape(title)}</h2>\n<figure>{svg}</figure>"


def _waits(title: str, spreads: dict[str, Spread]) -> Iterator[str]:
    if spreads:
        yield f"<h2>{escape(title)}</h2>"
    for unit in UNITS:
        if unit in spreads:
            words = f"{shown(spreads[unit], unit)} (logarithmic scale)"
            caption = f"<figcaption>{escape(words)}</figcaption>"
            yield f"<figure>{caption}{_histogram(f'{title}, {unit}', spreads[unit])}</figure>"


def _histogram(title: str, spread: Spread) -> str:
    """A histogram: how many streams took how long, on a logarithmic scale."""
    bars = list(spread.bars())
    most = max(count for _, _, count in bars)
    step = _WIDTH / max(len(bars), 12)
    drawn = []
    for place, (start, end, count) in enumerate(bars):
        height = (_HEIGHT - 24) * count / most
        label = f"{start:g} to {end:g}: {number(count)}"
        drawn.append(
            f'<rect class="bar" x="{place * step + 0.5:.1f}" y="{_HEIGHT - 20 - height:.1f}"'
            f' width="{max(step - 1, 1):.1f}" height="{height:.1f}"><title>{label}</title></rect>'
        )
    floor = _HEIGHT - 20
    drawn.append(f'<line class="axis" x1="0" y1="{floor}" x2="{_WIDTH}" y2="{floor}"/>')
    every = max(1, -(-len(bars) // 8))
    for place in range(0, len(bars), every):
        drawn.append(f'<text x="{place * step:.1f}" y="{_HEIGHT - 4}">{bars[place][0]:g}</text>')
    return _svg(title, _HEIGHT, "".join(drawn))


def _svg(title: str, height: int, content: str) -> str:
    box = f"0 0 {_WIDTH} {height}"
    return f'<svg viewBox="{box}" role="img" aria-label="{escape(title)}">{content}</svg>'


def _table(title: str, names: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    if not rows:
        return ""
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(printable(cell))}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return f"<h2>{escape(title)}</h2>\n<table><tr>{head}</tr>{body}</table>"
