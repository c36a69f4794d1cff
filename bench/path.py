"""The whole path: what people call, from the source to the value, the call or the bytes.

Each row runs compiled and in pure Python, beside its floor (the cheapest program that makes the
same objects), beside what a user would do instead, and beside `json.loads` of one chunk of a
provider, so that machines can be compared. A figure is the middle one of three rounds; the other
two are its spread. Whether the last value is right is checked in the same run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from statistics import median
from time import process_time
from typing import Any, Final

from . import chunking, path_rows_core, path_rows_events
from . import contestants as who
from .measure import interleaved, settle
from .shapes import pieces, report, text_of

Work = Callable[[], object]
ROUNDS: Final = 3
UNIT: Final = "`json.loads` of one chunk"
BUILDS: Final = {"compiled": who.COMPILED, "pure Python": who.SOURCE}


def costs(budget: float) -> dict[str, Any]:
    """Microseconds a piece of each row, in three rounds, and what is right."""
    text = text_of("20 KB")
    count = len(pieces(text))
    results: dict[str, Any] = {"pieces": count, "rows": {}, "floors": {}, "right": {}}
    for build, place in BUILDS.items():
        if not place.exists():
            continue
        with who.importing("jsonrill", place) as jsonrill:
            works = ours(jsonrill, text)
            results["right"] |= _right(jsonrill, text, works)
            settle()
            results["rows"][build] = rounds(
                works | {UNIT: path_rows_events.unit(text)}, count, budget
            )
            if build == "compiled":
                results["chunker"] = chunker_costs(jsonrill, budget)
    floors = {name: _bound(read, text) for name, read in path_rows_core.floors().items()}
    results["floors"] = rounds(floors | path_rows_events.floors(text), count, budget)
    return results


def ours(jsonrill: Any, text: str) -> dict[str, Work]:
    """All rows of jsonrill for this text."""
    from .models import Report

    core = path_rows_core.rows(jsonrill, Report)
    rows = {name: _bound(read, text) for name, read in core.items()}
    return rows | path_rows_events.rows(jsonrill, text)


def instead(budget: float) -> dict[str, Any]:
    """What others do, for texts of two sizes: most of them parse everything again.

    The first run is checked; one that takes long is the only one.
    """
    results: dict[str, Any] = {}
    for shape in ("2 KB", "20 KB"):
        text = text_of(shape)
        count, wanted = len(pieces(text)), json.loads(text)
        right: dict[str, bool] = {}
        rows: dict[str, list[float]] = {}
        quick: dict[str, Work] = {}
        for name, work in path_rows_events.others(text).items():
            begun = process_time()
            right[name] = work() == wanted
            took = process_time() - begun
            if took < budget / ROUNDS:
                quick[name] = work
            else:
                rows[name] = [1e6 * took / count]
        settle()
        results[shape] = {"rows": rows | rounds(quick, count, budget), "right": right}
    return results


def chunker_costs(jsonrill: Any, budget: float) -> dict[str, Any]:
    """Snapshots in units of `json.loads` of the same texts; the first two bring all before them."""
    results: dict[str, Any] = {}
    for label, size, step in (
        *(("4 KB", 4_000, step) for step in (4, 16, 64)),
        ("20 KB", 20_000, 4),
    ):
        texts = chunking.alike(jsonrill, report(size), step)
        values = [json.loads(one) for one in texts]
        works: dict[str, Work] = {"json.loads": chunking.decoding(texts[2:])}
        for name, series in (("text that begins alike", texts), ("Python values", values)):
            works[name] = chunking.feeding(jsonrill.Chunker, series)
            works[f"{name}, start"] = chunking.feeding(jsonrill.Chunker, series[:2])
        timed = interleaved(works, budget=budget / 4)
        loads = timed["json.loads"].seconds
        results[f"{label}, {step} characters a step"] = {
            "json.loads": 1e6 * loads / len(texts[2:]),
            **{
                name: (timed[name].seconds - timed[f"{name}, start"].seconds) / loads
                for name in ("text that begins alike", "Python values")
            },
        }
    return results


def _bound(read: Callable[[list[str]], object], text: str) -> Work:
    cut = pieces(text)
    return lambda: read(cut)


def rounds(works: dict[str, Work], count: int, budget: float) -> dict[str, list[float]]:
    """Microseconds a piece, the rounds in order of size."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(ROUNDS):
        for name, timing in interleaved(works, budget=budget / ROUNDS, least=1).items():
            times[name].append(1e6 * timing.seconds / count)
    return {name: sorted(costs) for name, costs in times.items()}


def middle(costs: Iterable[float]) -> float:
    return median(costs)


def _right(jsonrill: Any, text: str, works: dict[str, Work]) -> dict[str, bool]:
    """Whether the rows that return a value return the right one."""
    wanted = json.loads(text)
    right = {}
    for name, work in works.items():
        value = work()
        if isinstance(value, list):
            value = path_rows_events.received(jsonrill, value)
        if value is not None:
            right[name] = value == wanted
    return right
