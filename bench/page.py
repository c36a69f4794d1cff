"""The figures as a page: docs/benchmarks.md, and its chart."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final, NamedTuple

from .chart import bars
from .texts import TEXTS

ROOT: Final = Path(__file__).resolve().parent.parent
PAGE: Final = ROOT / "docs" / "benchmarks.md"
CHART: Final = ROOT / "docs" / "benchmarks.svg"
BUILDS: Final = ("compiled", "pure")
# In place of a column: the one with the highest ratio.
WORST: Final = "worst"
RUST: Final = "streaming-json-parser (Rust)"
PACKAGES: Final = (
    *("ijson", "instructor", "jiter", "json-repair", "jsonpatch", "jsonriver", "langchain-core"),
    *("partial-json-parser", "pydantic-core", "streaming-json-parser"),
)
Results = dict[str, dict[str, Any]]


class Goal(NamedTuple):
    """The highest acceptable ratio of two rows of a table, for each build; None: no goal.

    A row is (table, row, column). `factor` is what the other row is multiplied with.
    """

    work: str
    row: tuple[str, str, str]
    other: tuple[str, str, str]
    limits: tuple[float | None, float | None]
    factor: tuple[float, float] = (1, 1)


def _against(row: str, size: str, other: str, *limits: float | None) -> Goal:
    name = other.partition(" (")[0]
    work = f"{row}, {size} ÷ {name}"
    return Goal(work, ("values", row, size), ("values", other, size), limits)  # type: ignore[arg-type]


def _against_before(row: str, limit: float, *ratios: float) -> Goal:
    """Return a goal; `ratios` are 0.3's times divided by the Rust rival's, for each build."""
    rival = ("values", RUST, "20 KB")
    return Goal(f"{row} ÷ jsonrill 0.3", ("stages", row, "20 KB"), rival, (limit, limit), ratios)  # type: ignore[arg-type]


def _sender(work: str, limit: float) -> Goal:
    """Return a goal for the worst of four states."""
    other = ("wire", "json.dumps", WORST)
    return Goal(f"{work} ÷ json.dumps", ("wire", work, WORST), other, (None, limit))


GOALS: Final = (
    _against("`Document.live`", "20 KB", RUST, 0.6, None),
    *(_against("`Document.live`", size, "jiter", 1 / n, 1 / n) for size, n in
      (("2 KB", 2), ("20 KB", 20), ("100 KB", 100))),
    _against_before("`values`", 1.6, 1.56, 6.5),
    _against_before("`updates`, deltas", 1.6, 3.0, 9.3),
    _against_before("`ToolCalls.feed`", 2.5, 7.8, 20.6),
    _against_before("`values`, typed", 3, 5.3, 22.2),
    Goal("`values`, repair ÷ strict", ("stages", "`values`, repair", "20 KB"),
         ("stages", "`values`", "20 KB"), (1.5, 1.5)),
    Goal("`loads`, 1 MB ÷ json.loads", ("whole", "`loads`", "1 MB"),
         ("whole", "json.loads", "1 MB"), (1.5, 1.5)),
    Goal("`select`, 1 MB ÷ ijson (C)", ("whole", "`select` of a file", "1 MB"),
         ("whole", "ijson (C), items of a file", "1 MB"), (1.5, None)),
    *(Goal(f"`Chunker.feed`, {size} ÷ json.loads", ("snapshots", "`Chunker.feed`", size),
           ("snapshots", "json.loads", size), (1.2, None)) for size in ("2 KB", "20 KB")),
    _sender("`Sender.feed`", 1),
    _sender("`Sender.feed`, shared and frozen", 0.2),
    _sender("`Sender.feed`, two edits", 6),
    Goal("memory of a `Document` ÷ json.loads", ("memory", "`Document`", "1 MB"),
         ("memory", "json.loads", "1 MB"), (1.3, 1.3)),
)  # fmt: skip
SYSTEM: Final = (
    ("`jsonrill_batch.rows` ÷ a plain loop", "batch", 1.3),
    ("p99 of 300 readers ÷ a bare ASGI loop", "readers", 3),
)
WEIGHTS: Final = {
    "pure wheel, KB": 200,
    "compiled wheel, KB": 1000,
    "compiling, s of CPU": 40,
    "import and first use, ms": 25,
    "make demo in a fresh clone, s": 15,
}

# Why a goal is missed, after profiling, by the beginning of its row.
REASONS: Final = {
    "`Document.live`": "most of it is Python's calls and the write into the container.",
    "`values` ÷": "one Python driver runs all functions.",
    "`ToolCalls.feed` ÷": "events of all providers become the same statements first.",
    "`values`, typed ÷": "a partial model is built for each piece.",
    "`loads`,": "Python counts the nesting of what the C scanner has read.",
    "`select`,": "each value costs about 3 µs for limits, path and shared keys.",
    "`Chunker.feed`, 2 KB": "a few members are parsed in C faster than compared and written.",
    "pure wheel": "nine tenths of it are code.",
    "import": "two thirds are modules of the standard library.",
}


def number(value: float | None) -> str:
    if value is None:
        return "stopped"
    return f"{value:.0f}" if value >= 100 else f"{value:.2g}" if value < 1 else f"{value:.3g}"


def judged(value: float | None, limit: float | None) -> str:
    if value is None or limit is None:
        return ""
    return number(value) if value <= limit else f"**{number(value)}**"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join(" | ".join(line) for line in lines)


def ratio(figures: dict[str, Any], goal: Goal, factor: float) -> float | None:
    ours, other = (figures[name].get(row, {}) for name, row, _ in (goal.row, goal.other))
    columns = ours if goal.row[2] == WORST else [goal.row[2]]
    pairs = [(ours.get(at), other.get(at)) for at in columns]
    found = [one / two / factor for one, two in pairs if one is not None and two is not None]
    return max(found, default=None)


def goals(results: Results) -> str:
    """Return the table of the goals, and the reasons for those that are missed."""
    rows = []
    for goal in GOALS:
        builds = zip(BUILDS, goal.limits, goal.factor, strict=True)
        cells = [judged(ratio(results[build], goal, by), limit) for build, limit, by in builds]
        limit = next(limit for limit in goal.limits if limit is not None)
        rows.append((goal.work, f"≤ {number(limit)}", *cells))
    slowest = max(results["pure"]["wire"]["`Receiver.feed`"].values())
    rows.append(("`Receiver.feed`, µs", "≤ 10", "", judged(slowest, 10)))
    for work, name, limit in SYSTEM:
        ours, other = results["system"][name].values()
        rows.append((work, f"≤ {limit}", "", judged(ours / other, limit)))
    for name, limit in WEIGHTS.items():
        rows.append((name, f"≤ {limit}", "", judged(results["weight"][name], limit)))
    missed = [work for work, *cells in rows if any(cell.startswith("**") for cell in cells)]
    reasons = [
        f"- {row.strip(' ,÷')}: {reason}"
        for row, reason in REASONS.items()
        if any(work.startswith(row) for work in missed)
    ]
    return "\n".join([table(("work", "goal", "compiled", "pure"), rows), "", *reasons])


def values_rows(results: Results) -> Iterator[list[str]]:
    for build in BUILDS:
        for row in ("`Document.live`", "`Document.value`"):
            cells = results[build]["values"][row]
            yield [f"jsonrill {row}, {build}", *(number(cells.get(size)) for size in TEXTS)]
    for row, cells in results["compiled"]["values"].items():
        if "`" not in row:
            yield [row, *(number(cells.get(size)) for size in TEXTS)]


def stage_rows(results: Results) -> Iterator[list[str]]:
    for row in results["compiled"]["stages"]:
        yield [row, *(number(results[build]["stages"][row]["20 KB"]) for build in BUILDS)]


def growth_rows(results: Results) -> Iterator[list[str]]:
    """Yield what a piece costs at the beginning and late, and the ratio, in both languages."""
    python, javascript = results["pure"]["growth"], results["javascript"].get("growth", {})
    for row, cells in python.items():
        line = [row]
        for figures in (cells, javascript.get(row)):
            first, last = (figures["1 KB"], figures["10 MB"]) if figures else (None, None)
            if first is None or last is None:
                line += ["–", "–", "–"]
            else:
                line += [number(first), number(last), judged(last / first, 1.5)]
        yield line


def page(results: Results) -> str:
    javascript = results["javascript"]
    node_rows = [
        [name, *(number(cells.get(size)) for size in ("2 KB", "20 KB"))]
        for name, cells in javascript.get("rows", {}).items()
    ]
    versions = [f"{name} {version(name)}" for name in PACKAGES]
    versions += [f"{name} {number}" for name, number in javascript.get("versions", {}).items()]
    machine = f"{os.cpu_count()} cores, {platform.system()}, {platform.machine()}"
    return "\n\n".join(
        (
            "# Benchmarks",
            f"{INTRODUCTION} {machine}, Python {platform.python_version()}.",
            "## Goals\n\nRatios, unless a unit is given. **Bold** misses its goal.",
            goals(results),
            VALUES,
            table(["library", *TEXTS], values_rows(results)),
            "## What you call\n\nMicroseconds per piece, 20 KB.",
            table(["function", *BUILDS], stage_rows(results)),
            GROWTH,
            table(["function", *2 * ("1 KB", "10 MB", "ratio")], growth_rows(results)),
            "## JavaScript\n\nMicroseconds per piece, in node.",
            table(["library", "2 KB", "20 KB"], node_rows),
            "## Versions",
            ", ".join(versions) + "\n",
        )
    )


INTRODUCTION: Final = """\
`make bench` measures all libraries in turn in one process and writes this page, so compare ratios.
Each figure is the best processor time of many samples. Texts come in pieces of 4 characters.
*Stopped*: more than 4 s."""
VALUES: Final = """\
## A value after each piece

![Microseconds per piece at 20 KB](benchmarks.svg)

Microseconds per piece, by size of the document. `live` changes with the next piece, as in
streaming-json-parser, ijson and jsonriver; `.value` is safe to keep. jiter and the rows below it
parse the whole text again for each piece. ijson shows only complete strings."""
GROWTH: Final = """\
## Growth

Microseconds for one more piece after 1 KB and after 10 MB: pure Python, then JavaScript. `values`
and `receive` return values that you may keep, so the open list (here 20 000 elements) is copied
each time. `Chunker.feed` and `Sender.feed` compare whole states."""


def chart(results: Results) -> str:
    figures = {
        row[0].replace("`", ""): float(cells)
        for row in values_rows(results)
        if (cells := row[1 + [*TEXTS].index("20 KB")]) != "stopped"
    }
    return bars("Microseconds per piece of 4 characters, document of 20 KB", figures)
