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
from .shapes import ABOUT, FAMILY, PIECE, SHAPES
from .targets import COMPILED, JITER, PURE, RUST, cost, crossing, targets

Results = dict[str, Any]

INTERPRETED: Final = {who.StreamingJsonParserPure.name, who.JsonRiver.name, who.IjsonPython.name}
REPARSERS: Final = {who.Instructor.name, *(kind.name for kind in sections.REPARSERS)}
CHART: Final = "benchmarks/values.svg"


def write(results: Results, docs: Path) -> None:
    (docs / "benchmarks.md").write_text(page(results), "utf8")
    (docs / CHART).write_text(chart(results["results"]), "utf8")


def page(results: Results) -> str:
    figures = results["results"]
    parts = [
        opening(results),
        goals(figures),
        losses(figures),
        values(figures),
        correctness(figures),
        whole_path(figures),
        drop_ins(figures),
        load(figures),
        javascript(figures),
        data(results),
    ]
    return "\n\n".join(filled(part.strip()) for part in parts if part) + "\n"


def headline(figures: Results) -> str:
    """What README.md says; a test holds it to these results."""
    ours, pure = (
        cost(figures, "values", "20 KB", COMPILED),
        cost(figures, "values", "20 KB", PURE),
    )
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
    ours += [name for name in rows if name.startswith("jsonrill `.value`")]
    rivals = [name for name in rows if not name.startswith("jsonrill,")]
    rivals = [name for name in rivals if not name.startswith("jsonrill `")]
    return ours + sorted(rivals, key=lambda name: rows[name]["us"] or float("inf"))


# ---- the parts of the page ----


def opening(results: Results) -> str:
    machine, budget, cap = results["machine"], results["budget"], results["cap"]
    return f"""
# Benchmarks

What jsonrill costs beside others, as its authors chose to measure it. So run it yourself, better on
texts of your own: `make bench` installs the rivals, measures for about a quarter of an hour, prints
every goal with its rival, those that were missed first, and writes this page and
[all figures](benchmarks/results.json). Rivals used badly are bugs.

Processor time. The contestants take turns in one process; of each the best sample counts
({budget:g} seconds each). What needs more than {cap:g} s for one text is stopped, and how far it
came is shown. A text comes in pieces of {PIECE} characters, about a token, and after each the value
is in the caller's hand. {machine["cores"]} cores, {machine["system"]}, {machine["architecture"]},
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
    if not rows:
        return f"## Goals\n\nAll {len(every)} were reached."
    return f"""
## Goals

{len(every) - len(rows)} of {len(every)} were reached. Not reached:

{table(GOAL, [row[:5] for row in rows])}
"""


def values(figures: Results) -> str:
    if "values" not in figures:
        return ""
    shapes = merged(figures)
    names = contestants(shapes)
    rows = [[name, *(cell(shapes.get(shape, {}).get(name)) for shape in FAMILY)] for name in names]
    return f"""
## A value after each piece

![The cost of a piece against the size of the document]({CHART})

Microseconds for one piece of {PIECE} characters, by size of the document:

{table(("", *FAMILY), rows)}

`jsonrill` is `Document.live`, which changes with the next piece, as the values of rivals that keep
state do; `.value` is safe to keep. Those from jiter on parse all the text again for each piece.

{stale(figures)}- ijson shows a string when it has ended.
"""


def whole_path(figures: Results) -> str:
    if "path" not in figures:
        return ""
    results = figures["path"]
    builds = results["rows"]
    names = [name for name in next(iter(builds.values())) if name != path.UNIT]

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

{table(("", *builds, "floor"), rows)}
{_snapshots(figures)}
"""


def _snapshots(figures: Results) -> str:
    if "chunker" not in figures:
        return ""
    ratios = {
        size: costs["chunker"] / costs["json.loads"] for size, costs in figures["chunker"].items()
    }
    told = ", ".join(f"{ratio:.2f}× at {size}" for size, ratio in ratios.items())
    return f"""
A snapshot costs the chunker, in pure Python, this many times what `json.loads` of it does: {told}.
Each has {PIECE} characters more than the one before, and its keys in another order.
"""


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
    return f"""- {RUST}: {100 * shown:.0f} % of the text of an open string is in its value before
  it ends. Fed but not looked at, jsonrill takes {", ".join(ratios)} of its time.
"""


def losses(figures: Results) -> str:
    if "values" not in figures:
        return ""
    rows = []
    for shape, results in merged(figures).items():
        for ours, rivals in ((COMPILED, results), (PURE, INTERPRETED | REPARSERS)):
            own = results.get(ours, {}).get("us")
            for name, row in results.items():
                if name in rivals and not name.startswith("jsonrill") and own and row["us"]:
                    if row["us"] < own:
                        times = f"{own / row['us']:.2f}×"
                        rows.append((shape, ours, number(own), name, number(row["us"]), times))
    header = ("shape", "ours", "µs", "rival", "µs", "ratio")
    return f"""
## Rows we lose

Every rival that was faster with one of the [texts](#texts-and-versions): compiled jsonrill beside
all of them, pure Python beside those in pure Python and those that parse everything again. Also
faster: jiter with texts {_below(crossing(figures, COMPILED))} characters
({_below(crossing(figures, PURE)).removeprefix("shorter ")} in pure Python), and `json.loads`,
orjson and jiter with a text that is complete.

{table(header, rows) if rows else "None in this run."}
"""


def correctness(figures: Results) -> str:
    correctness = figures.get("correctness")
    if not correctness:
        return ""
    faults = ("raised", "retracted", "invented", "false number")
    rows = [
        (
            name,
            str(sum(result[fault] for fault in faults)),
            str(result["wrong at the end"]),
            f"{100 * result['open']:.0f} %",
            str(len(result["accepted"])),
            "read" if isinstance(result["deep"], int) else str(result["deep"]),
        )
        for name, result in correctness.items()
    ]
    prefixes = next(iter(correctness.values()))["prefixes"]
    header = ("", "wrong", "wrong at the end", "open text shown", "bad accepted", "30 000 brackets")
    return f"""
## Right, besides fast

What each shows for {prefixes} prefixes of {len(TEXTS)} texts. *Wrong*: an error, something that
goes again or that the final value does not have. *At the end*: not the value of `json.loads`.
*Bad*: of {len(BAD)} texts that are not JSON. Last: 30 000 times `[` at once.

{table(header, rows)}
"""


# Kinds of texts of the drop-ins that are in the results alone.
_LEFT_OUT: Final = ("2 KB, at once", "20 KB, at once", "58 B, growing by 4", "2 KB, growing by 4")


# The ways to call them, and how a row of the table names them.
_WAYS: Final = {
    "drop-in": "",
    "shared": ", shared",
    "compiled, shared": ", shared, compiled",
}


def drop_ins(figures: Results) -> str:
    if "drop_ins" not in figures:
        return ""
    costs = figures["drop_ins"]["costs"]
    kinds = [kind for kind in next(iter(costs.values())) if kind not in _LEFT_OUT]
    rows = [
        [f"{name}{label}", *(_beside_original(of.get(kind, {}), way) for kind in kinds)]
        for name, of in costs.items()
        for way, label in _WAYS.items()
        if way == "drop-in" or (name == "jiter" and way in next(iter(of.values())))
    ]
    return f"""
## Drop-ins

The [drop-ins](coming-from.md#one-import), in pure Python but for one row: microseconds a call, and
how many times as fast as the original that is, of one text at once, and of a text that grows by
pieces of that many characters. *Shared* is with `share=True`. What programs of others take with
them is in the figures.

{table(("", *kinds), rows)}
"""


def _beside_original(row: Results, way: str) -> str:
    """Microseconds of the drop-in, and how many times the original's time that saves."""
    ours, theirs = (row.get(name, {}).get("us") for name in (way, "original"))
    gain = f" ({number(theirs / ours)}×)" if ours and theirs else ""
    return f"{cell(row.get(way))}{gain}"


def load(figures: Results) -> str:
    if "load" not in figures:
        return ""
    results = figures["load"]
    shown = {readers: of for readers, of in results["readers"].items() if int(readers) >= 300}
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

How late events arrive, pure Python, wall time: from when an event was due at the publisher to when
its bytes are with the reader, {results["offered"]:,.0f} events a second in all; milliseconds, p50
and p99, and the memory of a reader. The bare ASGI loop and sse-starlette have no publisher.

{table(("readers", *names), rows)}

The relay adds {added["p50"]:.1f} ms (p50) and {added["p99"]:.1f} ms (p99).
"""


def javascript(figures: Results) -> str:
    if "javascript" not in figures:
        return ""
    results = figures["javascript"]
    shapes = results["node"]
    speed = [
        [name, *(cell(shapes[shape]["rows"].get(name)) for shape in FAMILY)]
        for name in shapes["58 B"]["rows"]
    ]
    worst = max((_beside(shapes[shape]["rows"]), shape) for shape in SHAPES)
    versions = ", ".join(f"{name} {one}" for name, one in sorted(results["versions"].items()))
    return f"""
## JavaScript

The npm package beside others, in node: microseconds for one piece of {PIECE} characters. `values()`
and jsonriver wait for each piece, the others are fed in a plain loop. partial-json is called with
all the text so far; `jsonrill/partial-json` is the [drop-in](coming-from.md#one-import) for it.

{table(("", *FAMILY), speed)}

`Document.live` takes {worst[0]:.2f}× the time of the fastest rival where it is slowest beside one
({worst[1]}). {versions}. What a page loads is on
[the page of the package](javascript.md#size-and-speed).
"""


def _beside(rows: dict[str, Any]) -> float:
    """The time of `Document.live` in units of the fastest rival."""
    rivals = [row["us"] for name, row in rows.items() if "jsonrill" not in name and row["us"]]
    return float(rows["jsonrill `Document.live`"]["us"] / min(rivals))


def data(results: Results) -> str:
    versions: dict[str, str] = {}
    for installed in results["versions"].values():
        versions = {**installed, **versions}
    longer = [shape for shape, about in ABOUT.items() if about == "the same, longer"]
    told = {shape: about for shape, about in ABOUT.items() if shape not in longer}
    texts = "; ".join(f"*{shape}*: {about}" for shape, about in told.items())
    pinned = ", ".join(f"{name} {version}" for name, version in sorted(versions.items()))
    older = results["versions"].get("instructor", {}).get("jiter")
    note = f" instructor runs with jiter {older}, in an environment of its own." if older else ""
    return f"""
## Texts and versions

`bench/shapes.py` makes them with fixed seeds. {texts}. {", ".join(longer)}: as 2 KB.

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
