"""The figures that jsonrill sets out to reach, and whether a run reached them.

Each function reads the results of a run and gives rows; a section that was not run gives none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import exp, log
from statistics import median
from typing import Any, Final, NamedTuple

from . import contestants as who

Results = dict[str, Any]

COMPILED: Final = who.CompiledLive.name
PURE: Final = who.PureLive.name
RUST: Final = who.StreamingJsonParser.name
JITER: Final = who.Jiter.name
SIZES: Final = ("2 KB", "20 KB", "100 KB")


class Target(NamedTuple):
    """One line of the table: what, the two figures, what came of them, and what was wanted."""

    work: str
    ours: str
    theirs: str
    reached: str
    wanted: str
    met: bool


def targets(results: Results) -> list[Target]:
    makers: tuple[Callable[[Results], Iterator[Target]], ...]
    makers = (against_jiter, against_pure, flat, kept, compiled, tiny, deep, fragments, whole)
    makers += (
        chunker,
        written,
        wire,
        server,
        recorded,
        scaled,
        snapshots,
        javascript,
        readers,
    )
    return [row for maker in makers for row in maker(results)]


def cost(results: Results, section: str, shape: str, name: str) -> float | None:
    """Microseconds a piece; None where it was not measured or did not come to its end."""
    row = results.get(section, {}).get(shape, {}).get("rows", {}).get(name)
    return row["us"] if row else None


def faster(work: str, ours: float | None, theirs: float | None, rival: str, least: float) -> Target:
    """Ours is to be `least` times as fast."""
    if ours is None or theirs is None:
        return Target(work, _us(ours), f"{_us(theirs)} {rival}", "–", f"≥ {least:g}×", False)
    times = theirs / ours
    return Target(
        work, _us(ours), f"{_us(theirs)} {rival}", f"{times:.3g}×", f"≥ {least:g}×", times >= least
    )


def within(work: str, ours: float | None, theirs: float | None, rival: str, most: float) -> Target:
    """Ours is to take at most `most` times as long."""
    if ours is None or theirs is None:
        return Target(work, _us(ours), f"{_us(theirs)} {rival}", "–", f"≤ {most:g}×", False)
    times = ours / theirs
    return Target(
        work, _us(ours), f"{_us(theirs)} {rival}", f"{times:.2f}×", f"≤ {most:g}×", times <= most
    )


def _us(cost: float | None) -> str:
    if cost is None:
        return "–"
    return f"{cost / 1e3:.3g} ms" if cost >= 1e3 else f"{cost:.3g} µs"


def against_jiter(results: Results) -> Iterator[Target]:
    if "values" not in results:
        return
    for shape, least in zip(SIZES, (3, 30, 150), strict=True):
        ours, theirs = (cost(results, "values", shape, name) for name in (PURE, JITER))
        yield faster(f"{shape}, live value, pure Python", ours, theirs, "jiter", least)
    size = crossing(results, PURE)
    if size is not None:
        work = "from this size on faster than jiter, pure Python"
        yield Target(work, f"{size:.0f} B", "", "", "≤ 300 B", size <= 300)


def crossing(results: Results, name: str) -> float | None:
    """The size from which on jsonrill is faster than jiter; 0 where it always is.

    The last crossing, on a line between the two nearest sizes in logarithms.
    """
    rows = results.get("crossover", {}).get("rows", {})
    if not rows:
        return None
    sizes = [int(size) for size in rows]
    gaps = [log(rows[str(size)][name]["us"] / rows[str(size)][JITER]["us"]) for size in sizes]
    if gaps[-1] > 0:
        return float("inf")
    for at in range(len(sizes) - 1, 0, -1):
        if gaps[at - 1] > 0:
            share = gaps[at - 1] / (gaps[at - 1] - gaps[at])
            return exp(log(sizes[at - 1]) + share * log(sizes[at] / sizes[at - 1]))
    return 0.0


def against_pure(results: Results) -> Iterator[Target]:
    if "values" not in results:
        return
    for rival in (who.StreamingJsonParserPure.name, who.JsonRiver.name):
        ratios = {
            shape: theirs / ours
            for shape in results["values"]
            if (theirs := cost(results, "values", shape, rival))
            and (ours := cost(results, "values", shape, PURE))
        }
        worst = min(ratios, key=lambda shape: ratios[shape])
        ours, theirs = (cost(results, "values", worst, name) for name in (PURE, rival))
        yield faster(f"every shape, pure Python; worst: {worst}", ours, theirs, rival, 1)


def flat(results: Results) -> Iterator[Target]:
    growth = results.get("growth")
    if not growth:
        return
    for name in (PURE, COMPILED):
        costs = {size: cost(results, "growth", size, name) for size in growth}
        known = {size: us for size, us in costs.items() if us is not None}
        least, most = min(known.values()), max(known.values())
        work = f"cost of a piece, {next(iter(growth))} to {list(growth)[-1]}, {name.split(', ')[1]}"
        spread = most / least
        yield Target(
            work, f"{_us(least)} to {_us(most)}", "", f"{spread:.2f}×", "≤ 1.3×", spread <= 1.3
        )


def kept(results: Results) -> Iterator[Target]:
    if "values" not in results:
        return
    for shape, least in zip(SIZES, (1, 10, 50), strict=True):
        ours = cost(results, "values", shape, who.PureKept.name)
        theirs = cost(results, "values", shape, JITER)
        yield faster(f"{shape}, `.value`, pure Python", ours, theirs, "jiter", least)


def compiled(results: Results) -> Iterator[Target]:
    if "values" not in results:
        return
    for shape in SIZES:
        ours, theirs = (cost(results, "values", shape, name) for name in (COMPILED, RUST))
        yield within(f"{shape}, live value, compiled", ours, theirs, RUST, 0.5)


def tiny(results: Results) -> Iterator[Target]:
    if "values" not in results:
        return
    ours, theirs = (cost(results, "values", "58 B", name) for name in (COMPILED, JITER))
    yield within("58 B, live value, compiled", ours, theirs, "jiter", 1.0)


def deep(results: Results) -> Iterator[Target]:
    correctness = results.get("correctness")
    if not correctness:
        return
    ours = str(correctness[COMPILED]["deep"])
    theirs = f"{RUST}: {correctness[RUST]['deep']}" if RUST in correctness else ""
    work = "30 000 open brackets in one piece, compiled"
    yield Target(work, ours, theirs, "", "a documented error", ours == "LimitExceeded")


def fragments(results: Results) -> Iterator[Target]:
    for shape in results.get("fragments", {}):
        names = (who.CompiledFragments.name, RUST)
        ours, theirs = (cost(results, "fragments", shape, name) for name in names)
        yield within(f"{shape}, fragments, compiled", ours, theirs, f"{RUST}, values", 1.0)


def whole(results: Results) -> Iterator[Target]:
    if "whole" not in results:
        return
    loads = cost(results, "whole", "one piece", who.Loads.name)
    for name, most in ((PURE, 1.15), (COMPILED, 1.15)):
        ours = cost(results, "whole", "one piece", name)
        yield within(f"1 MB in one piece, {name.split(', ')[1]}", ours, loads, "json.loads", most)


def chunker(results: Results) -> Iterator[Target]:
    for size, costs in results.get("chunker", {}).items():
        if size in ("4 KB", "20 KB"):
            ours, loads = costs["chunker"], costs["json.loads"]
            yield within(f"chunker, {size} snapshots", ours, loads, "json.loads", 1.5)


def recorded(results: Results) -> Iterator[Target]:
    from .recorded import GOALS

    for build, rows in results.get("recorded", {}).items():
        for name, (rival, compiled, pure) in GOALS.items():
            ours, theirs = rows[name]["ours"], rows[name]["rival"]
            most = compiled if build == "compiled" else pure
            row = within(f"{name}, {build}", median(ours), median(theirs), rival, most)
            yield row._replace(ours=f"{row.ours} ({_us(ours[0])} to {_us(ours[-1])})")


# Of the whole path, compiled: microseconds on a machine that reads one chunk of a provider in 2.27.
SCALED: Final = {
    "`values()`, pydantic": 1.6,
    "updates, deltas, pydantic": 1.4,
    "`tool_calls()`, bytes of an event stream": 4.0,
}
CHUNK: Final = 2.27


def scaled(results: Results) -> Iterator[Target]:
    rows = results.get("path", {}).get("rows", {}).get("compiled", {})
    for name, most in SCALED.items():
        if name in rows:
            unit = median(rows["`json.loads` of one chunk"]) / CHUNK
            least, ours, largest = (us / unit for us in rows[name])
            shown = f"{_us(ours)} ({_us(least)} to {_us(largest)})"
            yield Target(f"{name}, scaled", shown, "", "", f"≤ {most:g} µs", ours <= most)


def snapshots(results: Results) -> Iterator[Target]:
    costs = results.get("path", {}).get("chunker", {}).get("4 KB, 64 characters a step")
    if costs:
        ours = costs["text that begins alike"]
        loads = f"{_us(costs['json.loads'])} json.loads"
        work = "chunker, 4 KB snapshots in steps of 64"
        yield Target(work, "", loads, f"{ours:.2f}×", "≤ 0.5×", ours <= 0.5)


# In JavaScript: the rows that lose, and who is faster. The last one makes the same promise.
KEPT: Final = ("1 MB", "deep nesting")
IN_NODE: Final = ("jsonriver", "@streamparser/json", "jsonriver, each value cloned")


def javascript(results: Results) -> Iterator[Target]:
    shapes = results.get("javascript", {}).get("node", {})
    for shape in KEPT:
        rows = shapes.get(shape, {}).get("rows", {})
        for rival in IN_NODE:
            if row := rows.get(rival):
                ours = rows["jsonrill `values()`"]["us"]
                if row["us"] is not None:
                    yield within(f"`values()` in node, {shape}", ours, row["us"], rival, 1.0)


def readers(results: Results) -> Iterator[Target]:
    for count, figures in results.get("load", {}).get("readers", {}).items():
        if count == "3000" and "bare" in figures:
            for share in ("p50", "p99"):
                ours, bare = (1e6 * figures[who][share] for who in ("jsonrill", "bare"))
                yield within(f"{count} readers, {share}", ours, bare, "a bare ASGI loop", 2)
                if "fan-out" in figures:  # which has as many events to send at the same moment
                    least, rival = 1e6 * figures["fan-out"][share], "one that sends to all at once"
                    yield within(f"{count} readers, {share}", ours, least, rival, 2)


def written(results: Results) -> Iterator[Target]:
    by_way = results.get("written", {})
    for name, counts in by_way.items():
        whole, streams = counts["whole"], counts["streams"]
        work = f"chunker, streams that end equal to the last snapshot, {name}"
        share = f"{100 * whole / streams:.0f} %"
        yield Target(work, f"{whole} of {streams}", "", share, "100 %", whole == streams)
    for name, most in (("default", 4), ("eager", 0.2)):
        if counts := by_way.get(name, {}):
            if "snapshots" not in counts:
                continue
            late, total = counts["withheld"], counts["snapshots"]
            work = f"chunker, snapshots with text withheld, recorded streams, {name}"
            share = 100 * late / total
            met = share <= most
            yield Target(work, f"{late} of {total}", "", f"{share:.2g} %", f"≤ {most:g} %", met)


def server(results: Results) -> Iterator[Target]:
    section = results.get("server", {})
    for offered, rates in section.get("rates", {}).items():
        ours, bare = rates["jsonrill"], rates["bare"]
        work = f"SSE to {section['readers']} readers, {int(offered):,} events a second offered"
        yield Target(
            work,
            f"{ours:,.0f} a second",
            f"{bare:,.0f} a second, a bare ASGI loop",
            f"{ours / bare:.2f}×",
            "≥ 0.9×",
            ours >= 0.9 * bare,
        )


def wire(results: Results) -> Iterator[Target]:
    wanted = {
        "compact fragments, an event for each token": 5,
        "compact fragments, coalesced to 64 characters": 2,
    }
    for shape, ways in results.get("wire", {}).items():
        for way, most in wanted.items():
            theirs = f"{ways['the tokens themselves']:.2f}× the tokens themselves"
            met = ways[way] <= most
            yield Target(
                f"bytes on the wire ÷ text, {shape}, {way}",
                f"{ways[way]:.2f}×",
                theirs,
                f"{ways[way]:.2f}×",
                f"≤ {most}×",
                met,
            )
