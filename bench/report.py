"""Results → docs/benchmarks.md and its chart. Every figure on the page comes from the results."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from . import contestants as who
from . import path, sections
from .chart import Line, svg
from .prefixes import BAD, TEXTS
from .shapes import FAMILY, PIECE, SHAPES
from .targets import COMPILED, JITER, PURE, RUST, cost, crossing, targets

Results = dict[str, Any]

INTERPRETED: Final = {who.StreamingJsonParserPure.name, who.JsonRiver.name, who.IjsonPython.name}
REPARSERS: Final = {who.Instructor.name, *(kind.name for kind in sections.REPARSERS)}
# What the table about JavaScript has.
IN_NODE: Final = {"jsonriver (npm)", "@streamparser/json (npm)"}
CHART: Final = "benchmarks/values.svg"


def write(results: Results, docs: Path) -> None:
    (docs / "benchmarks.md").write_text(page(results), "utf8")
    (docs / CHART).write_text(chart(results["results"]), "utf8")


def page(results: Results) -> str:
    figures = results["results"]
    parts = [
        opening(results),
        goals(figures),
        values(figures),
        whole_path(figures),
        load(figures),
        javascript(figures),
        data(results),
    ]
    return "\n\n".join(filled(part.strip()) for part in parts if part) + "\n"


def headline(figures: Results) -> str:
    """What README.md says; a test holds it to these results."""
    ours, pure = cost(figures, "values", "20 KB", COMPILED), cost(figures, "values", "20 KB", PURE)
    small, large = (cost(figures, "values", size, JITER) for size in ("2 KB", "100 KB"))
    assert ours and pure and small and large
    return f"""
`Document.feed` with a piece of {PIECE} characters and a look at `Document.live` cost
{number(ours)} µs compiled and {number(pure)} µs in pure Python at 20 KB, and hardly more at 10 MB;
`jiter.from_json` with all the text so far costs {number(small)} µs at 2 KB and {number(large)} µs
at 100 KB. Where it loses: jiter is faster on documents {_below(crossing(figures, COMPILED))}
characters, or {_below(crossing(figures, PURE)).removeprefix("shorter ")} in pure Python, and
`json.loads` on a text that is already complete.
"""


def _below(size: float | None) -> str:
    return f"shorter than {size or 0:.0f}"


# ---- cells and tables ----


def filled(text: str) -> str:
    """Paragraphs and the points of lists in full lines; the rest as it is."""
    blocks = re.split(r"\n\n|\n(?=- )", text)
    done = [block if block[0] in "#|`!" else _filled(block) for block in blocks]
    return re.sub(r"\n\n(?=- )", "\n", "\n\n".join(done)).replace(":\n- ", ":\n\n- ")


def _filled(block: str) -> str:
    indent = "  " if block.startswith("- ") else ""
    return textwrap.fill(
        " ".join(block.split()),
        100,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def number(value: float) -> str:
    """Three figures that mean something, no exponents."""
    if value >= 100:
        return f"{value:,.0f}".replace(",", " ")
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def cell(row: dict[str, Any] | None) -> str:
    """The cost of a piece; how far it came before it was stopped; how it failed."""
    if row is None:
        return "–"
    if row["failed"]:
        return f"raises {row['failed']}"
    if row["read"] < 1:
        return f"stopped at {100 * row['read']:.0f} %"
    return number(row["us"])


def merged(figures: Results) -> Results:
    """The values of all environments in one; ours are those of the first."""
    shapes: Results = {}
    for section in ("node", "instructor", "values"):
        for shape, result in figures.get(section, {}).items():
            shapes.setdefault(shape, {}).update(result["rows"])
    return shapes


def contestants(shapes: Results) -> list[str]:
    """Their names: ours first, then the quickest at 20 KB first."""
    rows = shapes.get("20 KB", {})
    ours = [name for name in rows if name.startswith("jsonrill,") and "looked" not in name]
    ours += [name for name in rows if name == who.CompiledKept.name]
    rivals = [name for name in rows if not name.startswith("jsonrill,")]
    rivals = [name for name in rivals if not name.startswith("jsonrill `")]
    return ours + sorted(rivals, key=lambda name: rows[name]["us"] or float("inf"))


# ---- the parts of the page ----


def opening(results: Results) -> str:
    machine, budget, cap = results["machine"], results["budget"], results["cap"]
    return f"""
# Benchmarks

What jsonrill costs beside others, as its authors chose to measure it. Run it yourself, better on
texts of your own: `make bench` installs the rivals, measures for a quarter of an hour and writes
this page and [all figures](benchmarks/results.json). It is processor time of contestants that take
turns in one process, the best sample of {budget:g} seconds; what needs more than {cap:g} s for one
text is stopped. A text comes in pieces of {PIECE} characters, and after each the value is in the
caller's hand. {machine["cores"]} cores, {machine["system"]}, {machine["architecture"]},
{machine["python"]}; a shared machine, so read the ratios.
"""


GOAL: Final = ("work", "jsonrill", "beside it", "ratio", "wanted")


def all_goals(figures: Results) -> str:
    """Every goal with its rival of the same run, those that were missed first."""
    every = sorted(targets(figures), key=lambda row: row.met)
    return table(("", *GOAL), [("" if row.met else "missed", *row[:5]) for row in every])


def goals(figures: Results) -> str:
    """Only what was missed: the others are in the tables of their sections, or in the results."""
    every = targets(figures)
    rows = [row for row in every if not row.met]
    of_work: dict[str, tuple[str, ...]] = {row.work: () for row in rows}
    for row in sorted(rows, key=lambda row: (len(row.reached), row.reached)):
        of_work[row.work] = row[:5]  # of several rivals the fastest
    missed = f"Not reached:\n\n{table(GOAL, of_work.values())}" if rows else ""
    return f"""
## Goals

{len(every) - len(rows)} of {len(every)} were reached. {missed}

{losses(figures)}
"""


def losses(figures: Results) -> str:
    """Every rival that was faster than jsonrill with one of the texts."""
    if "values" not in figures:
        return ""
    faster = []
    for shape, results in merged(figures).items():
        for ours, rivals in ((COMPILED, results), (PURE, INTERPRETED | REPARSERS)):
            own = results.get(ours, {}).get("us")
            for name, row in results.items():
                if name in rivals and not name.startswith("jsonrill") and own and row["us"]:
                    if row["us"] < own:
                        kind = ours.removeprefix("jsonrill, ")
                        faster.append(f"{name} ({shape}, {kind}: {own / row['us']:.2f}×)")
    return f"""
Faster than compiled jsonrill with one of the [texts](#texts-and-versions), or in pure Python or
parsing all again and faster than it is in pure Python: {"; ".join(faster) or "none"}. And jiter
with texts {_below(crossing(figures, COMPILED))} characters
({_below(crossing(figures, PURE)).removeprefix("shorter ")} in pure Python), and `json.loads`,
orjson and jiter with a text that is complete.
"""


def values(figures: Results) -> str:
    if "values" not in figures:
        return ""
    shapes, shown_wrong = merged(figures), figures.get("correctness", {})
    rows = [
        [
            name,
            *(cell(shapes.get(shape, {}).get(name)) for shape in FAMILY),
            *right(shown_wrong, name),
        ]
        for name in contestants(shapes)
        if name not in IN_NODE
    ]
    return f"""
## A value after each piece

![The cost of a piece against the size of the document]({CHART})

Microseconds for one piece of {PIECE} characters, by size of the document; how many of
{max((one["prefixes"] for one in shown_wrong.values()), default=0)} prefixes of {len(TEXTS)} texts
are shown wrong (an error, something that goes again or that the value of `json.loads` does not
have); how many of {len(BAD)} texts that are not JSON are taken; what comes of 30 000 times `[`.

{table(("", *FAMILY, "wrong", "bad", "brackets"), rows)}

The first rows are `Document.live`, which changes with the next piece, as the values of rivals that
keep state do; `.value` is safe to keep. From jiter on all the text is parsed again for each piece.
ijson shows a string when it has ended. {stale(figures)}
"""


def right(shown_wrong: Results, name: str) -> tuple[str, str, str]:
    """What this contestant shows that is wrong, and what it does with what is not JSON."""
    result = shown_wrong.get(name.replace(" `.value`", ""))
    if not result:
        return "–", "–", "–"
    faults = ("raised", "retracted", "invented", "false number")
    wrong, ended = sum(result[fault] for fault in faults), result["wrong at the end"]
    deep = "read" if isinstance(result["deep"], int) else str(result["deep"])
    return f"{wrong}" + f", {ended} at the end" * (ended > 0), str(len(result["accepted"])), deep


def whole_path(figures: Results) -> str:
    if "path" not in figures:
        return ""
    results = figures["path"]
    builds = results["rows"]
    elsewhere = (path.UNIT, "`Document.live`")
    names = [name for name in next(iter(builds.values())) if name not in elsewhere]

    def shown(costs: Sequence[float] | None) -> str:
        if costs is None:
            return "–"
        return number(path.middle(costs))

    rows = [
        (
            name,
            *(shown(build.get(name)) for build in builds.values()),
            shown(results["floors"].get(name)),
        )
        for name in names
    ]
    return f"""
## The whole path

What people call, from the source to the value, the call or the bytes: microseconds for one piece of
{PIECE} characters, 20 KB. The *floor* is the cheapest Python program that makes the same objects.
{_snapshots(figures)}

{table(("", *builds, "floor"), rows)}
"""


def _snapshots(figures: Results) -> str:
    ratios = {
        size: costs["chunker"] / costs["json.loads"]
        for size, costs in figures.get("chunker", {}).items()
    }
    told = ", ".join(f"{ratio:.2f}× at {size}" for size, ratio in ratios.items())
    return f"A snapshot costs the chunker, in pure Python, {told} of `json.loads`." if told else ""


def stale(figures: Results) -> str:
    """The fastest rival's strings do not grow while they are open; said only if a run saw it."""
    shown = figures.get("correctness", {}).get(RUST, {}).get("open")
    unread = who.CompiledUnread.name
    if shown is None or shown > 0.5:
        return ""
    ratios = [
        f"{ours / theirs:.2f}× at {shape}"
        for shape in ("2 KB", "20 KB", "100 KB")
        if (ours := cost(figures, "values", shape, unread))
        and (theirs := cost(figures, "values", shape, RUST))
    ]
    return f"""{RUST}, has {100 * shown:.0f} % of the text of an open string in its value; fed but
not looked at, jsonrill takes {", ".join(ratios)} of its time.
"""


def load(figures: Results) -> str:
    if "load" not in figures:
        return ""
    results = figures["load"]
    shown = {readers: of for readers, of in results["readers"].items() if int(readers) >= 3000}
    names = list(next(iter(shown.values())))

    def late(one: Results) -> str:
        shares = (f"{1000 * one[share]:.1f}" for share in ("p50", "p99"))
        return f"{', '.join(shares)}, {one['memory'] / 1024:.0f} KiB"

    rows = [
        (number(int(readers)), *(late(of[name]) for name in names)) for readers, of in shown.items()
    ]
    relay = results["relay"]
    added = {
        share: 1000 * (relay["relay"][share] - relay["upstream"][share]) for share in ("p50", "p99")
    }
    return f"""
## One server, many readers

How late events arrive, pure Python, wall time from when an event was due at the publisher to when
its bytes are with the reader, {results["offered"]:,.0f} events a second in all: milliseconds, p50
and p99, and the memory of a reader. The bare ASGI loop and sse-starlette have no publisher. The
relay adds {added["p50"]:.1f} ms (p50) and {added["p99"]:.1f} ms (p99).

{table(("readers", *names), rows)}
"""


def javascript(figures: Results) -> str:
    if "javascript" not in figures:
        return ""
    results = figures["javascript"]
    shapes = results["node"]
    shown = (*FAMILY, "deep nesting")
    speed = [
        [name, *(cell(shapes[shape]["rows"].get(name)) for shape in shown)]
        for name in shapes["58 B"]["rows"]
    ]
    worst = max((_beside(shapes[shape]["rows"]), shape) for shape in SHAPES)
    versions = ", ".join(f"{name} {one}" for name, one in sorted(results["versions"].items()))
    return f"""
## JavaScript

The npm package beside others, in node: microseconds for one piece of {PIECE} characters. `values()`
and jsonriver wait for each piece, the others are fed in a plain loop. partial-json is called with
all the text so far.

They do not promise the same. A value of `values()` or `Document.value` never changes. `live` and
jsonriver have one object that changes with the next piece; who keeps it clones it, as in the row
that says so. @streamparser/json tells the innermost value, before it is in those around it. So
`values()` does more, a copy of what is open, which is much in a long list and in deep nesting:
[what it costs](design.md#values-that-are-safe-to-keep).

{table(("", *shown), speed)}

`Document.live` takes {worst[0]:.2f}× the time of the fastest rival where it is slowest beside one
({worst[1]}). {versions}. What a page loads is on
[the page of the package](javascript.md#size-and-speed).
{results.get("note", "")}
"""


def _beside(rows: dict[str, Any]) -> float:
    """The time of `Document.live` in units of the fastest rival."""
    rivals = [row["us"] for name, row in rows.items() if "jsonrill" not in name and row["us"]]
    return float(rows["jsonrill `Document.live`"]["us"] / min(rivals))


def data(results: Results) -> str:
    versions: dict[str, str] = {}
    for installed in results["versions"].values():
        versions = {**installed, **versions}
    pinned = ", ".join(f"{name} {version}" for name, version in sorted(versions.items()))
    older = results["versions"].get("instructor", {}).get("jiter")
    note = f" instructor runs with jiter {older}, in an environment of its own." if older else ""
    return f"""
## Texts and versions

`bench/shapes.py` has the texts, made with fixed seeds.

{pinned}.{note}
"""


def chart(figures: Results) -> str:
    shapes = merged(figures)
    sizes = {shape: figures["values"][shape]["characters"] for shape in FAMILY}
    lines = []
    for name in contestants(shapes):
        if name.startswith("jsonrill `"):
            continue
        style = "ours" if name.startswith("jsonrill,") else "rust" if name == RUST else "rival"
        points = [
            (sizes[shape], row["us"])
            for shape in FAMILY
            if (row := shapes.get(shape, {}).get(name)) and row["us"]
        ]
        lines.append(Line(name, style, points))
    return svg(f"One piece of {PIECE} characters, the value looked at after it", lines)
