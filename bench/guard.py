"""`make bench-guard`: has jsonrill become slower than it was? About a minute, no rivals needed.

Where valgrind is, the rows of the whole path are counted in instructions, which do not depend on
the load: a row fails if it needs more than COUNT_MARGIN of the committed number. The other rows are
timed.

A row is jsonrill's time ÷ that of a fixed piece of work beside it, in turns, so that the speed and
the load of the machine cancel out. It fails if it is more than MARGIN above the committed baseline
in each of three tries. `python -m bench.guard --update` writes the baseline anew.

For pure Python the work beside it is interpreted too, for compiled code it is C: so the ratio
also survives another machine. Another Python has other ratios: one that is not in the baseline is
not judged.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any, Final

from . import chunking, instructions, path_rows_events, recorded
from . import contestants as who
from .measure import interleaved, settle
from .shapes import PIECE, pieces, report

BASELINE: Final = who.ROOT / "bench" / "baseline.json"
MARGIN: Final = 1.25
COUNT_MARGIN: Final = 1.03
TRIES: Final = 3
BUDGET: Final = 0.5
PYTHON: Final = ".".join(map(str, sys.version_info[:2]))

Work = Callable[[], object]


def interpreted() -> Work:
    """Calls, attributes, lists, dicts and strings, as interpreted as jsonrill's own code."""
    text = report(2_000)

    class Counter:
        def __init__(self) -> None:
            self.seen: dict[str, int] = {}
            self.parts: list[str] = []

        def take(self, word: str) -> None:
            if word.isprintable() and '"' not in word:
                self.parts.append(word)
            else:
                self.seen[word] = self.seen.get(word, 0) + 1

    def once() -> None:
        counter = Counter()
        for piece in pieces(text):
            counter.take(piece)
        "".join(counter.parts)

    return once


def in_c() -> Work:
    text = report(2_000)
    words = pieces(text)

    def once() -> None:
        json.loads(text)
        "".join(words).split()
        dict.fromkeys(words)

    return once


def works() -> dict[str, tuple[Work, str]]:
    """Each row's work, and the work that it is held against."""
    small, middle = pieces(report(2_000)), pieces(report(20_000))
    jsonrill = who.PureLive().jsonrill
    snapshots = chunking.snapshots(jsonrill, report(4_000))

    def chunked() -> None:
        chunker = jsonrill.Chunker()
        for snapshot in snapshots:
            chunker.feed(snapshot)

    def updated() -> None:
        updates = jsonrill.PartialStream("REALTIME", send="delta")
        for piece in small:
            for update in updates.feed(piece):
                update.delta  # noqa: B018

    def reading(kind: type[who.Contestant], cut: list[str]) -> Work:
        run = kind().run
        return lambda: run(cut)

    rows: dict[str, tuple[Work, str]] = {
        "live value, 2 KB, pure": (reading(who.PureLive, small), "interpreted"),
        "live value, 20 KB, pure": (reading(who.PureLive, middle), "interpreted"),
        "kept value, 2 KB, pure": (reading(who.PureKept, small), "interpreted"),
        "fragments, 2 KB, pure": (reading(who.PureFragments, small), "interpreted"),
        "100 KB in one piece, pure": (reading(who.PureLive, [report(100_000)]), "in C"),
        "chunker, 4 KB": (chunked, "interpreted"),
        "updates, 2 KB": (updated, "interpreted"),
    }
    if who.COMPILED.exists():
        rows |= {
            "live value, 2 KB, compiled": (reading(who.CompiledLive, small), "in C"),
            "live value, 20 KB, compiled": (reading(who.CompiledLive, middle), "in C"),
            "fragments, 2 KB, compiled": (reading(who.CompiledFragments, small), "in C"),
        }
    return rows


def counted_works() -> dict[str, Work]:
    """The rows of the whole path, with the jsonrill that this process imports."""
    import jsonrill

    from .models import Report

    text, growing = report(2_000), report(4_000)
    small = pieces(text)
    alike, larger = (chunking.alike(jsonrill, growing, step) for step in (PIECE, 64))
    values = [json.loads(one) for one in alike]
    rows = path_rows_events.rows(jsonrill, text)

    def read(**options: Any) -> Work:
        def once() -> None:
            for _ in jsonrill.values(small, **options):
                pass

        return once

    def updated(schema: Any) -> Work:
        def once() -> None:
            updates = jsonrill.PartialStream("REALTIME", send="delta", schema=schema)
            for piece in small:
                for update in updates.feed(piece):
                    update.delta  # noqa: B018

        return once

    return {
        "values()": read(),
        "values(live=True)": read(live=True),
        "values(), pydantic": read(schema=Report),
        "values(repair=True)": read(repair=True),
        "updates, deltas": updated(None),
        "updates, deltas, JSON Schema": updated({"type": "object", "required": ["title"]}),
        "updates, deltas, pydantic": updated(Report),
        "ToolCalls.feed, dicts": rows["`ToolCalls.feed`, dicts"],
        "tool_calls(), bytes": rows["`tool_calls()`, bytes of an event stream"],
        "a compact event for each piece": rows["a compact event for each piece"],
        "chunker, text that begins alike": chunking.feeding(jsonrill.Chunker, alike),
        "chunker, text in steps of 64": chunking.feeding(jsonrill.Chunker, larger),
        "chunker, Python values": chunking.feeding(jsonrill.Chunker, values),
        **counted_wholes(jsonrill),
    }


def counted_wholes(jsonrill: Any) -> dict[str, Work]:
    """What is there as a whole: a text, a file, recorded streams."""
    import jsonrill_batch

    text = report(100_000)
    log, file = recorded.lines()[:100], recorded.file_of_elements(1_000)
    names = ("batch check", "batch values", "select(file)")

    def at_once() -> None:
        jsonrill.loads(text)

    ours = recorded.ours(jsonrill, jsonrill_batch, log, file)
    return {
        "100 KB at once": at_once,
        **dict(zip(names, ours, strict=True)),
    }


def counts() -> dict[str, int]:
    """The instructions of the rows of the whole path, compiled; none if they cannot be counted."""
    if not who.COMPILED.exists() or not instructions.can_count():
        return {}
    places = os.pathsep.join((str(who.COMPILED), str(recorded.BATCH), str(who.ROOT)))
    return instructions.counted(["-m", "bench.guard", "--count"], PYTHONPATH=places)


def judge_counts(baseline: dict[str, int]) -> bool:
    """Print the counts beside the baseline; True if one is over it."""
    over = False
    for row, number in counts().items():
        before = baseline.get(row)
        slower = before is not None and number > before * COUNT_MARGIN
        change = f"{number / before:6.2f}× the baseline" if before else "  not in the baseline"
        print(f"{row:32} {number:12,} instructions  {change}{'  SLOWER' if slower else ''}")
        over = over or slower
    return over


def ratios(rows: dict[str, tuple[Work, str]]) -> dict[str, float]:
    beside = {"interpreted": interpreted(), "in C": in_c()}
    settle()
    timed = interleaved({**beside, **{row: work for row, (work, _) in rows.items()}}, budget=BUDGET)
    return {row: timed[row].seconds / timed[other].seconds for row, (_, other) in rows.items()}


def best_of_tries(limits: dict[str, float]) -> dict[str, float]:
    """The lowest ratio of each row; only rows over their limit are tried again."""
    rows = works()
    best: dict[str, float] = {}
    for _ in range(TRIES):
        over = [row for row in rows if best.get(row, float("inf")) > limits.get(row, 0.0)]
        if not over:
            break
        for row, ratio in ratios({row: rows[row] for row in over}).items():
            best[row] = min(ratio, best.get(row, ratio))
    return best


def main(arguments: list[str]) -> int:
    known: dict[str, Any] = json.loads(BASELINE.read_text("utf8")) if BASELINE.exists() else {}
    if "--count" in arguments:
        instructions.count(counted_works())
        return 0
    if "--update" in arguments:
        if number := counts():
            known.setdefault("instructions", {})[PYTHON] = number
        if "--counts-only" in arguments:
            BASELINE.write_text(json.dumps(known, indent=2) + "\n", "utf8")
            return 0
        known[PYTHON] = {row: round(ratio, 3) for row, ratio in best_of_tries({}).items()}
        BASELINE.write_text(json.dumps(known, indent=2) + "\n", "utf8")
        return 0
    if PYTHON not in known:
        print(f"bench-guard: there is no baseline for Python {PYTHON}, so nothing is judged")
        return 0
    more = judge_counts(known.get("instructions", {}).get(PYTHON, {}))
    baseline: dict[str, float] = known[PYTHON]
    limits = {row: ratio * MARGIN for row, ratio in baseline.items()}
    best = best_of_tries(limits)
    for row, ratio in best.items():
        before = baseline.get(row)
        change = f"{ratio / before:6.2f}× the baseline" if before else "  not in the baseline"
        slower = before is not None and ratio > limits[row]
        print(f"{row:32} {ratio:8.3f}  {change}{'  SLOWER' if slower else ''}")
    return int(more or any(ratio > limits.get(row, ratio) for row, ratio in best.items()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
