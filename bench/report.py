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
from .prefixes import BAD, GOOD, TEXTS
from .shapes import ABOUT, FAMILY, PIECE, SHAPES
from .targets import COMPILED, JITER, PURE, RUST, cost, crossing, targets

Results = dict[str, Any]

OTHERS: Final = tuple(shape for shape in SHAPES if shape not in FAMILY)
INTERPRETED: Final = {who.StreamingJsonParserPure.name, who.JsonRiver.name, who.IjsonPython.name}
REPARSERS: Final = {who.Instructor.name, *(kind.name for kind in sections.REPARSERS)}
CHART: Final = "benchmarks/values.svg"


def write(results: Results, docs: Path) -> None:
    (docs / "benchmarks.md").write_text(page(results), "utf8")
    (docs / CHART).write_text(chart(results["results"]), "utf8")


def page(results: Results) -> str:
    found = results["results"]
    parts = [
        opening(results),
        goals(found),
        missed(found),
        whole_path(found),
        values(found),
        losses(found),
        tiny(found),
        correctness(found),
        drop_ins(found),
        growth(found),
        spine(found),
        fragments(found),
        whole(found),
        updates(found),
        chunker(found),
        wire(found),
        server(found),
        load(found),
        javascript(found),
        memory(found),
        data(results),
    ]
    return "\n\n".join(filled(part.strip()) for part in parts if part) + "\n"


def headline(found: Results) -> str:
    """What README.md says; a test holds it to these results."""
    ours, pure = cost(found, "values", "20 KB", COMPILED), cost(found, "values", "20 KB", PURE)
    small, large = (cost(found, "values", size, JITER) for size in ("2 KB", "100 KB"))
    assert ours and pure and small and large
    return f"""
`Document.feed` with a piece of {PIECE} characters and a look at `Document.live` cost
{number(ours)} µs compiled and {number(pure)} µs in pure Python at 20 KB, and hardly more at 10 MB;
`jiter.from_json` with all the text so far costs {number(small)} µs at 2 KB and {number(large)} µs
at 100 KB. Where it loses: jiter is faster on documents {_below(crossing(found, COMPILED))}
characters, or {_below(crossing(found, PURE)).removeprefix("shorter ")} in pure Python, and
`json.loads` on a text that is already complete.
"""


def _below(size: float | None) -> str:
    return f"shorter than {size or 0:.0f}"


def _from(size: float | None) -> str:
    if not size:
        return "at every size measured"
    if size == float("inf"):
        return "at no size measured"
    return f"from {size:.0f} characters on"


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


def merged(found: Results) -> Results:
    """The values of all environments in one; ours are those of the first."""
    shapes: Results = {}
    for section in ("node", "instructor", "values"):
        for shape, result in found.get(section, {}).items():
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

**Do not trust this page.** The people who wrote jsonrill also chose what is measured here, wrote
the adaptors of the rivals, and have spent more time on their own code than on that of others. Run
it yourself, better still on texts of your own:

```console
$ make bench
```

It installs the rivals into `.venv`, measures for about ten minutes and writes this page,
its chart and [all figures as JSON](benchmarks/results.json). A rival that is used badly here is a
bug; please say so.

How: processor time, not wall time. The contestants take turns, sample by sample, in one process,
so that a slow moment of the machine hits all of them; of each the best sample counts ({budget:g}
seconds each, up to 200 samples). Every ratio is of two figures of one run. What needs more than
{cap:g} s for one text is stopped, and how far it came is shown. A text comes in pieces of {PIECE}
characters, about a token; after each piece the value is in the caller's hand.

Where: {machine["cores"]} cores, {machine["system"]}, {machine["architecture"]},
{machine["python"]}; a shared machine, so read the ratios, not the digits. Versions and texts are
[at the end](#texts-and-versions).
"""


def goals(found: Results) -> str:
    rows = [
        (row.work, row.ours, row.theirs, row.reached, row.wanted, "yes" if row.met else "**no**")
        for row in targets(found)
    ]
    missed = sum(row[-1] != "yes" for row in rows)
    return f"""
## What was to be reached

{len(rows) - missed} of {len(rows)} reached.

{table(("work", "jsonrill", "beside it", "ratio", "wanted", "reached"), rows)}
"""


# Why a row is missed and what was tried, by the beginning of its name. Said where it is missed.
WHY: Final = {
    "2 KB, live value, pure": (
        "Of a piece's time in pure Python a third is two calls by the caller and the test that it "
        "is plain text, a fifth is adding it to the open string, the rest goes to the one piece in "
        "three that ends or opens something, at about 270 bytecodes each. Tried: telling text by a "
        "pattern (slower than three tests in C), all states in one method (1 %), the live value "
        "as an attribute (10 %, kept), no call for plain text (12 %, kept), fewer calls where "
        "something ends or opens (6 %, kept, and not yet in these figures)."
    ),
    "from this size on": (
        "Arguments of tool calls are mostly structure, which costs twice as much as prose, while "
        "parsing 300 bytes again takes native code half a microsecond. To move it, two Python "
        "calls and about 200 bytecodes a piece would have to cost less than that: it is what the "
        "compiled modules are for."
    ),
    "cost of a piece": (
        "The first thousand characters of the text are nearly all prose, the cheapest there is: "
        "at 100 KB, of which that is no more so, a piece costs 1.16× as much. From there to 10 MB "
        "it is 1.09×, for memory that is not near and for Python's collector, which walks through "
        "all objects. With the collector off all of it was 1.2×; the rivals grow in the same way."
    ),
    "58 B, live value, compiled": (
        "Making three objects and the two calls a piece are nearly all there is; tried: lists and "
        "dicts made when first needed (a third of the making)."
    ),
    "chunker,": (
        "A snapshot that only extends the open text costs its decoding and a comparison in C. One "
        "that opens or closes something is validated level by level in Python, about 15 µs."
    ),
}


def missed(found: Results) -> str:
    rows = [row.work for row in targets(found) if not row.met]
    said = {
        reason: next(row for row in rows if row.startswith(start))
        for start, reason in WHY.items()
        if any(row.startswith(start) for row in rows)
    }
    if not said:
        return ""
    points = "\n".join(f"- *{row}*: {reason}" for reason, row in said.items())
    return f"""
### Where it was not reached

Why, and what was tried:

{points}
"""


def values(found: Results) -> str:
    if "values" not in found:
        return ""
    shapes = merged(found)
    names = contestants(shapes)

    def rows(columns: Sequence[str]) -> list[list[str]]:
        return [
            [name, *(cell(shapes.get(shape, {}).get(name)) for shape in columns)] for name in names
        ]

    return f"""
## A value after each piece

![The cost of a piece against the size of the document]({CHART})

Microseconds for one piece of {PIECE} characters, by size of the document:

{table(("", *FAMILY), rows(FAMILY))}

By shape:

{table(("", *OTHERS), rows(OTHERS))}

`jsonrill` is `Document.live`, a value that changes with the next piece; the rivals that keep state
hand out such a value too. `.value` is safe to keep: the open containers are copied at each look.

What differs, besides speed:

{stale(found)}- ijson shows a string when it has ended, never before.
- jiter, pydantic_core, partial-json-parser, langchain-core, json_repair, instructor and `ai` parse
  all the text again for each piece: twice the text is four times the work.
- instructor gives pydantic models, and is measured where its model fits the text.
- The figures of node include the threads that compile and collect for it.
"""


# What is to be reached, in µs where `json.loads` of a chunk takes 2.1 µs; by row.
PATH_WANTED: Final = {
    "`values()`": 0.8,
    "`values(live=True)`": 0.3,
    "updates, deltas": 1.0,
    "updates, deltas, pydantic": 1.6,
    "updates, deltas, JSON Schema": 1.6,
    "`ToolCalls.feed`, dicts": 2.0,
    "a compact event for each piece": 0.9,
}
PATH_UNIT: Final = 2.1


def whole_path(found: Results) -> str:
    if "path" not in found:
        return ""
    results = found["path"]
    builds = results["rows"]
    names = [name for name in next(iter(builds.values())) if name != path.UNIT]
    best = builds.get("compiled") or next(iter(builds.values()))
    unit = path.middle(best[path.UNIT])

    def shown(costs: Sequence[float] | None) -> str:
        if costs is None:
            return "–"
        return f"{number(path.middle(costs))} ({number(costs[0])}–{number(costs[-1])})"

    def wanted(name: str) -> str:
        most = PATH_WANTED.get(name)
        if most is None:
            return "–"
        reached = path.middle(best[name]) / unit * PATH_UNIT
        return f"≤ {most:g}: {number(reached)}{'' if reached <= most else ', **no**'}"

    right = results["right"]
    rows = [
        (
            name,
            *(shown(build.get(name)) for build in builds.values()),
            shown(results["floors"].get(name)),
            wanted(name),
            {True: "yes", False: "**no**", None: ""}[right.get(name)],
        )
        for name in names
    ]
    header = ("", *builds, "floor", f"wanted at {PATH_UNIT} µs", "right at the end")
    return f"""
## The whole path

What people call, from the source to the value, the call or the bytes: microseconds for one piece of
{PIECE} characters, 20 KB; the middle one of three rounds, and the spread. The *floor* is the
cheapest Python program that makes the same objects. So that machines can be compared: {path.UNIT},
which arrives for each piece, takes {shown(best[path.UNIT])} µs here; the goals were set where it
takes {PATH_UNIT} µs, and *wanted* has the figure for such a machine.

{table(header, rows)}

{_instead(found)}

{_path_chunker(results)}
"""


def _instead(found: Results) -> str:
    """What others do; instructor is in an environment of its own."""
    other = found.get("path_instructor", {}).get("instead", {})
    shapes = found["path"]["instead"]
    names = {
        name: None for one in (shapes, other) for shape in one.values() for name in shape["rows"]
    }

    def shown(name: str, shape: str) -> str:
        for one in (shapes, other):
            if name in one.get(shape, {}).get("rows", {}):
                right = one[shape]["right"][name]
                cost = number(path.middle(one[shape]["rows"][name]))
                return cost if right else f"{cost}, wrong at the end"
        return "–"

    rows = [(name, *(shown(name, shape) for shape in shapes)) for name in names]
    return f"""
What a user would do instead, microseconds a piece. All of them parse or copy what they had before,
so that the cost of a piece grows with the text:

{table(("", *shapes), rows)}
""".strip()


def _path_chunker(results: Results) -> str:
    if "chunker" not in results:
        return ""
    names = ("text that begins alike", "Python values")
    rows = [
        (label, number(costs["json.loads"]), *(f"{costs[name]:.2f}×" for name in names))
        for label, costs in results["chunker"].items()
    ]
    return f"""
Snapshots to text, compiled, in units of `json.loads` of the same texts (wanted: ≤ 0.4× for text
that begins like the one before, ≤ 1× for Python values):

{table(("", "`json.loads`, µs", *names), rows)}
""".strip()


def stale(found: Results) -> str:
    """The fastest rival's strings do not grow while they are open; said only if a run saw it."""
    shown = found.get("correctness", {}).get(RUST, {}).get("open")
    unread = who.CompiledUnread.name
    if shown is None or shown > 0.5:
        return ""
    ratios = [
        f"{ours / theirs:.2f}× at {shape}"
        for shape in ("2 KB", "20 KB", "100 KB")
        if (ours := cost(found, "values", shape, unread))
        and (theirs := cost(found, "values", shape, RUST))
    ]
    return f"""- {RUST}: the text of an open string is not in its value until the string ends
  ({100 * shown:.0f} % of the characters of a string were visible when they arrived), so it does
  less than is asked here. Fed but not looked at, which still puts every character into the value,
  jsonrill takes {", ".join(ratios)} of its time.
"""


def losses(found: Results) -> str:
    if "values" not in found:
        return ""
    rows = []
    for shape, results in merged(found).items():
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

Every rival that was faster in the tables above. Compiled jsonrill is held against all of them,
pure Python against rivals in pure Python and those that parse everything again; native code that
keeps state, and node, are faster than it nearly everywhere.

{table(header, rows) if rows else "None in this run."}
"""


def tiny(found: Results) -> str:
    if "crossover" not in found:
        return ""
    rows = found["crossover"]["rows"]
    shown = [size for at, size in enumerate(rows) if at % 3 == 0 or int(size) < 100]
    body = table(
        ("characters", COMPILED, PURE, JITER),
        [[size, *(number(rows[size][name]["us"]) for name in (COMPILED, PURE, JITER))]
         for size in shown],
    )  # fmt: skip
    making = found["crossover"]["making"]
    said = {name: _from(crossing(found, name)) for name in (COMPILED, PURE)}
    return f"""
## Tiny documents

Parsing everything again costs little while there is little. jsonrill is faster than jiter
{said[COMPILED]} compiled, {said[PURE]} in pure Python. Microseconds a piece, arguments of a tool
call with more and more fields:

{body}

A `Document` has to be made first: {number(1e6 * making[COMPILED])} µs compiled,
{number(1e6 * making[PURE])} µs in pure Python, which a document of 15 pieces feels. Beyond that it
is the fixed cost of two calls a piece, `feed` and the look, that decides here: to move the
crossing further down, they would have to cost less than native code needs for the whole text.
"""


def correctness(found: Results) -> str:
    judged = found.get("correctness")
    if not judged:
        return ""
    counts = ("raised", "retracted", "invented", "false number", "wrong at the end")
    rows = [
        (
            name,
            *(str(result[count]) for count in counts),
            f"{100 * result['open']:.0f} %",
            f"{len(result['accepted'])} of {len(BAD)}",
            f"{len(result['refused'])} of {len(GOOD)}",
            "read" if isinstance(result["deep"], int) else str(result["deep"]),
        )
        for name, result in judged.items()
    ]
    bad = ", ".join(f"`{text}`" for text in BAD)
    good = ", ".join(f"`{text}`" for text in GOOD)
    prefixes = next(iter(judged.values()))["prefixes"]
    header = (
        "",
        *counts,
        "open text shown",
        "bad texts accepted",
        "odd texts refused",
        "30 000 brackets",
    )
    return f"""
## Right, besides fast

What each shows for every prefix of {len(TEXTS)} texts, {prefixes} in all. *Raised*: an error
though the text so far is fine. *Retracted*: what was there at the prefix before is gone.
*Invented*: a key, element, text or literal that the final value does not have. *False number*: one
that is not the final one. *Wrong at the end*: texts whose last value is not that of `json.loads`,
types included.

{table(header, rows)}

Bad texts, which no continuation can make JSON: {bad}. Odd ones, which `json.loads` takes: {good}.
The last column is {30_000:,} times `[` in one piece, in a process of its own.
""".replace("30,000", "30 000")


def drop_ins(found: Results) -> str:
    if "drop_ins" not in found:
        return ""
    ways = ("original", "drop-in", "shared")
    rows = [
        [f"{name}, {kind}", *(cell(row.get(way)) for way in ways), _gain(row)]
        for name, kinds in found["drop_ins"]["costs"].items()
        for kind, row in kinds.items()
    ]
    others = found.get("drop_ins_instructor", {}).get("programs", {})
    programs = [
        [name, *(f"{row[way]:.2f}" for way in (*ways, "nothing"))]
        for name, row in {**found["drop_ins"]["programs"], **others}.items()
    ]
    return f"""
## Drop-ins

The [drop-ins](coming-from.md#one-import), in pure Python, beside their originals: microseconds a
call, of one text at once, and of a text that grows by pieces of that many characters. The values
are new objects at each call, as the originals' are; *shared* is with `share=True`. *Gain* is the
original's time over the drop-in's. Where jiter and pydantic_core read a text themselves, the
drop-in adds the fraction of a microsecond that a call of Python takes.

{table(("", *ways, "gain"), rows)}

Processor seconds of programs of others for a tool call of 100 KB, in pieces of that many
characters, with `compat.install`. *Nothing* is the same program with a parser that does nothing:
that part of the time is not the parser's.

{table(("", *ways, "nothing"), programs)}
"""


def _gain(row: Results) -> str:
    times = [row.get(way, {}).get("us") for way in ("original", "drop-in")]
    return f"{times[0] / times[1]:.1f}×" if all(times) else ""


def growth(found: Results) -> str:
    if "growth" not in found:
        return ""
    sizes = list(found["growth"])
    names = list(found["growth"][sizes[0]]["rows"])
    rows = [
        [name, *(cell(found["growth"][size]["rows"].get(name)) for size in sizes)] for name in names
    ]
    return f"""
## Growth with size

Microseconds a piece; flat is what should be seen. Those that parse everything again are left out.

{table(("", *sizes), rows)}
"""


def spine(found: Results) -> str:
    if "spine" not in found:
        return ""
    names = [who.CompiledLive.name, who.CompiledKept.name, who.PureLive.name, who.PureKept.name]
    rows = [
        [label, *(cell(result["rows"].get(name)) for name in names)]
        for label, result in found["spine"].items()
    ]
    return f"""
## What a value that is safe to keep costs

`.value` copies the open containers, each once a look, and nothing that is finished. So its price
is that of the open spine. A string of 4 000 characters grows; around it:

{table(("", *names), rows)}
"""


def fragments(found: Results) -> str:
    if "fragments" not in found:
        return ""
    shapes = list(found["fragments"])
    names = list(found["fragments"][shapes[0]]["rows"])
    rows = [
        [name, *(cell(found["fragments"][shape]["rows"].get(name)) for shape in shapes)]
        for name in names
    ]
    return f"""
## Fragments

Microseconds a piece for `Parser.feed`, beside the values of the fastest rival, which has no such
events.

{table(("", *shapes), rows)}
"""


def whole(found: Results) -> str:
    if "whole" not in found:
        return ""
    ways = list(found["whole"])
    names = list(found["whole"][ways[0]]["rows"])

    def milliseconds(row: dict[str, Any] | None) -> str:
        return "–" if row is None else number(1e3 * row["seconds"])

    rows = [
        [name, *(milliseconds(found["whole"][way]["rows"].get(name)) for way in ways)]
        for name in names
    ]
    return f"""
## A whole document at once

1 MB, milliseconds. This is not what jsonrill is for: who has all the text has `json.loads` or
orjson.

{table(("", *ways), rows)}
"""


def updates(found: Results) -> str:
    if "updates" not in found:
        return ""
    shapes = list(found["updates"])
    names = list(found["updates"][shapes[0]]["rows"])
    rows = [
        [name, *(cell(found["updates"][shape]["rows"].get(name)) for shape in shapes)]
        for name in names
    ]
    return f"""
## Updates

Microseconds a piece, pure Python, the whole document being one entity. Reading the data of an
update costs as much as the open containers in it, reading the delta as much as is new.

{table(("", *shapes), rows)}
"""


def chunker(found: Results) -> str:
    if "chunker" not in found:
        return ""
    sizes = found["chunker"]
    names = {name: None for costs in sizes.values() for name in costs}

    def shown(costs: dict[str, float], name: str) -> str:
        if name not in costs:
            return "–"
        step = name.removeprefix("chunker") if name.startswith("chunker,") else ""
        loads = costs[f"json.loads{step}"]
        return f"{number(costs[name])} ({costs[name] / loads:.2f}×)"

    rows = [
        [name, *(shown(costs, name) for costs in sizes.values())]
        for name in names
        if not name.startswith("json.loads,")
    ]
    return f"""
## Snapshots to text

Microseconds a snapshot of this size, and in units of `json.loads` of the same snapshots. Each has
{PIECE} characters more than the one before, or as many as the row says, and its keys in another
order. *Given values*: the snapshots are Python values already, so that nothing is decoded. *The
flat way*: flatten every snapshot, compare the flat maps, which is what comes to mind first.

{table(("", *sizes), rows)}

A snapshot that only extends the open text costs its decoding and one comparison; the larger the
steps, the more of them open and close something, and that is validated in Python.
"""


def wire(found: Results) -> str:
    if "wire" not in found:
        return ""
    shapes = list(found["wire"])
    rows = [
        [way, *(f"{found['wire'][shape][way]:.2f}×" for shape in shapes)]
        for way in found["wire"][shapes[0]]
    ]
    return f"""
## Bytes on the wire

Bytes sent ÷ bytes of text, server-sent events with their framing but without `id:` lines, for
tokens of {PIECE} characters.

{table(("", *shapes), rows)}
"""


def server(found: Results) -> str:
    if "server" not in found:
        return ""
    readers, rates = found["server"]["readers"], found["server"]["rates"]
    rows = [
        (number(int(offered)), *(number(rate[name]) for name in ("jsonrill", "bare")))
        for offered, rate in rates.items()
    ]
    used = ", ".join(f"{name} {one}" for name, one in found["server"]["versions"].items())
    return f"""
## One server, many readers

Events a second that one process delivers to {readers} readers on loopback, pure Python, best round;
beside it an ASGI loop that does nothing but send the same bytes. Wall time: the readers run on the
same machine. What a reader missed goes out to it in one piece, so jsonrill can be ahead where the
machine cannot keep up. {used}.

{table(("offered", "jsonrill", "a bare loop"), rows)}
"""


def load(found: Results) -> str:
    if "load" not in found:
        return ""
    results = found["load"]
    rows = [
        (
            f"{int(readers):,}".replace(",", " "),
            name,
            number(one["rate"]),
            *(f"{1000 * one[share]:.1f} ms" for share in ("p50", "p99")),
            f"{one['memory'] / 1024:.0f} KiB",
        )
        for readers, servers in results["readers"].items()
        for name, one in servers.items()
    ]
    relay = results["relay"]
    added = {
        share: 1000 * (relay["relay"][share] - relay["upstream"][share]) for share in ("p50", "p99")
    }
    return f"""
### From publishing to reading

How late events arrive, pure Python, by the number of readers of one process: {results["seconds"]:g}
seconds each, up to {results["offered"]:,.0f} events a second offered to all readers together, and
at most 200 to one. The time is that from when an event was due at the publisher to when its bytes
are with the reader, on the same machine, which is what limits the last rows. Beside it a bare ASGI
loop and sse-starlette, which make the events themselves and need no publisher. They have a timer
for each reader, so that their events are spread over time; ours sends one event to a thousand
readers of a stream at once in the last row.

{table(("readers", "server", "events a second", "p50", "p99", "memory a reader"), rows)}

A stream of 2 KB without readers takes {results["stream"] / 1024:.1f} KiB. The relay adds
{added["p50"]:.1f} ms (p50) and {added["p99"]:.1f} ms (p99) to an event of an upstream.
"""


def javascript(found: Results) -> str:
    if "javascript" not in found:
        return ""
    results = found["javascript"]

    def speed(where: str) -> str:
        shapes = results[where]
        names = list(shapes["58 B"]["rows"])
        rows = [
            [name, *(cell(shapes[shape]["rows"].get(name)) for shape in SHAPES)] for name in names
        ]
        worst = max((_beside(shapes[shape]["rows"]), shape) for shape in SHAPES)
        return f"""
{table(("", *SHAPES), rows)}

`Document.live` takes {worst[0]:.2f}× the time of the fastest rival where it is slowest beside one,
{worst[1]}.
""".strip()

    counts = ("raised", "retracted", "invented", "false number", "wrong at the end")
    right = [
        (
            name,
            *(str(result[count]) for count in counts),
            f"{len(result['accepted'])} of {len(BAD)}",
        )
        for name, result in results["correctness"].items()
    ]
    sizes = [
        (name, *(f"{size[kind] / 1000:.1f} kB" for kind in ("minified", "gzip")))
        for name, size in results["sizes"].items()
    ]
    browser = (
        f"""
In Chromium {results["versions"]["chromium"]}, wall time, which is rougher:

{speed("chromium")}
"""
        if "chromium" in results
        else ""
    )
    versions = ", ".join(f"{name} {one}" for name, one in sorted(results["versions"].items()))
    return f"""
## JavaScript

The npm package beside jsonriver, @streamparser/json and partial-json, which parses everything
again. Microseconds for one piece of {PIECE} characters, the value in hand after each. `Document`,
@streamparser/json and partial-json are fed in a plain loop; `values()` and jsonriver wait for each
piece, as they must. `value` and `values()` give values that are safe to keep, the others one that
changes. Each row has {results["budget"]:g} s here and is stopped after {results["cap"]:g} s for
one text. In node:

{speed("node")}
{browser}
What each shows for every prefix, checked as [above](#right-besides-fast), against `JSON.parse`:

{table(("", *counts, "bad texts accepted"), right)}

What a page loads, by esbuild:

{table(("", "minified", "compressed"), sizes)}

{versions}.
"""


def _beside(rows: dict[str, Any]) -> float:
    """The time of `Document.live` in units of the fastest rival."""
    rivals = [row["us"] for name, row in rows.items() if "jsonrill" not in name and row["us"]]
    return float(rows["jsonrill `Document.live`"]["us"] / min(rivals))


def memory(found: Results) -> str:
    if "memory" not in found:
        return ""

    def size(value: int | str) -> str:
        return f"{value / 1e6:.1f} MB" if isinstance(value, int) else value

    streamed = [(name, size(most)) for name, most in found["memory"]["streamed"].items()]
    kept = [(name, size(most)) for name, most in found["memory"]["kept"].items()]
    return f"""
## Memory

The most a fresh process had, above what it had before. 1 MB of text in pieces of {PIECE}
characters, the value looked at after each (`json.loads`: the text at once, so the value alone):

{table(("", "peak"), streamed)}

Every value of 20 KB kept, one for each piece:

{table(("", "peak"), kept)}
"""


def data(results: Results) -> str:
    versions: dict[str, str] = {}
    for found in results["versions"].values():
        versions = {**found, **versions}
    rows = [(f"*{shape}*", about) for shape, about in ABOUT.items()]
    texts = "\n".join(f"- {shape}: {about}" for shape, about in rows)
    pinned = ", ".join(f"{name} {version}" for name, version in sorted(versions.items()))
    older = results["versions"].get("instructor", {}).get("jiter")
    note = f" instructor runs with jiter {older}, in an environment of its own." if older else ""
    return f"""
## Texts and versions

All texts are made by `bench/shapes.py` with fixed seeds:

{texts}

{pinned}.{note}
"""


def chart(found: Results) -> str:
    shapes = merged(found)
    sizes = {shape: found["values"][shape]["characters"] for shape in FAMILY}
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
