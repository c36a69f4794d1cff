"""Measure the jsonrill that is imported here, pure or compiled, in the same process as its rivals.

`python -m bench.worker FILE BUDGET` writes {table: {row: {column: number}}} to FILE.
"""

from __future__ import annotations

import io
import json
import sys
import tracemalloc
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import Any, Final

import jsonrill

from .growth import Report, growth
from .measure import Work, compare
from .rivals import Read, installed, instructor
from .texts import PIECE, TEXTS, call_events, chat_events, pieces, report, table

Table = dict[str, dict[str, float | None]]
BIG: Final = report(1_000_000)
DATA: Final = BIG.encode()


def drain(items: Iterable[Any]) -> None:
    deque(items, maxlen=0)


def live(pieces: Sequence[str]) -> None:
    document = jsonrill.Document()
    for piece in pieces:
        document.feed(piece)
        document.live  # noqa: B018


def kept(pieces: Sequence[str]) -> None:
    document = jsonrill.Document()
    for piece in pieces:
        document.feed(piece)
        document.value  # noqa: B018


def values(budget: float) -> Table:
    """Measure a value after each piece: microseconds per piece, by size of the document."""
    reads: dict[str, Read] = {
        "`Document.live`": live,
        "`Document.value`": kept,
        **dict(installed()),
    }
    found: Table = {name: {} for name in reads}
    for size, text in TEXTS.items():
        cut = pieces(text)
        works: dict[str, Work] = {name: partial(read, cut) for name, read in reads.items()}
        for name, seconds in compare(works, budget).items():
            found[name][size] = seconds and seconds / len(cut) * 1e6
    return found


def read_deltas(pieces: Sequence[str]) -> None:
    for update in jsonrill.updates(pieces, send="delta"):
        update.delta  # noqa: B018


def feed_all(calls: Any, events: Iterable[Any]) -> None:
    for event in events:
        calls.feed(event)


def stages(budget: float) -> Table:
    """Measure the functions that people call: microseconds per piece, 20 KB."""
    cut = pieces(TEXTS["20 KB"])
    chat, call = [*chat_events(cut)], [*call_events(cut)]
    works: dict[str, Work] = {
        "`values`": lambda: drain(jsonrill.values(cut)),
        "`values`, typed": lambda: drain(jsonrill.values(cut, Report)),
        "`values`, events": lambda: drain(jsonrill.values(chat)),
        "`values`, repair": lambda: drain(jsonrill.values(cut, repair=True)),
        "`updates`, deltas": lambda: read_deltas(cut),
        "`fragments`": lambda: drain(jsonrill.fragments(cut)),
        "`parts`": lambda: drain(jsonrill.parts(chat)),
        "`ToolCalls.feed`": lambda: feed_all(jsonrill.ToolCalls(), call),
        "`send`": lambda: drain(jsonrill.send(cut)),
    }
    with suppress(ModuleNotFoundError):
        works["instructor, typed"] = partial(instructor(Report), cut)
    seconds = compare(works, budget)
    return {name: {"20 KB": took and took / len(cut) * 1e6} for name, took in seconds.items()}


def whole(budget: float) -> Table:
    """Measure reading a complete text of 1 MB: milliseconds."""
    works: dict[str, Work] = {
        "`loads`": lambda: jsonrill.loads(BIG),
        "json.loads": lambda: json.loads(BIG),
        "`select` of a file": lambda: drain(jsonrill.select(io.BytesIO(DATA), "sections[*]")),
    }
    with suppress(ModuleNotFoundError):
        items = import_module("ijson").items
        works["ijson (C), items of a file"] = lambda: drain(
            items(io.BytesIO(DATA), "sections.item", use_float=True)
        )
    return {name: {"1 MB": took and took * 1e3} for name, took in compare(works, budget).items()}


def chunk(snapshots: Iterable[str]) -> None:
    chunker = jsonrill.Chunker()
    for snapshot in snapshots:
        chunker.feed(snapshot)


def load(snapshots: Iterable[str]) -> None:
    for snapshot in snapshots:
        json.loads(snapshot)


def snapshots(budget: float) -> Table:
    """Measure text snapshots through the chunker: microseconds per snapshot."""
    reads = {"`Chunker.feed`": chunk, "json.loads": load}
    found: Table = {name: {} for name in reads}
    for size in ("2 KB", "20 KB"):
        text = TEXTS[size]
        ends = range(64, len(text), 16 * PIECE)
        shown = [json.dumps(jsonrill.partial(text[:end])) for end in ends]
        works: dict[str, Work] = {name: partial(read, shown) for name, read in reads.items()}
        for name, seconds in compare(works, budget).items():
            found[name][size] = seconds and seconds / len(shown) * 1e6
    return found


# ---- the wire ----


def grown(state: Any, count: int) -> Iterator[Any]:
    """Yield states that grow by a token, each parsed anew."""
    last = (state.get("rows") or state["sections"])[-1]
    for _ in range(count):
        last["tag" if "tag" in last else "body"] += "word "
        yield json.loads(json.dumps(state))


def shared(state: dict[str, Any], count: int) -> Iterator[Any]:
    """Yield states that grow by a token and share the rest."""
    name = "rows" if "rows" in state else "sections"
    for number in range(count):
        *before, last = state[name]
        state = {**state, name: [*before, {**last, "id": number}]}
        yield state


def two_edits(state: Any, count: int) -> Iterator[Any]:
    """Yield states in which a list is edited in two places, each parsed anew."""
    rows = state.get("rows") or state["sections"]
    for number in range(count):
        rows.insert(len(rows) // 4, {"id": -number})
        del rows[-2]
        yield json.loads(json.dumps(state))


def least(work: Callable[[Any], object], items: Iterable[Any]) -> float:
    """Return the microseconds of the fastest call."""
    best = float("inf")
    for item in items:
        start = process_time()
        work(item)
        best = min(best, process_time() - start)
    return best * 1e6


def wire(budget: float) -> Table:
    """Measure sending a changed state and reading its message: microseconds."""
    found: Table = {}
    for size in (20_000, 200_000):
        for kind, make in (("report", json_report), ("short values", table)):
            for name, cost in wire_costs(partial(make, size), 10 + int(20 * budget)).items():
                found.setdefault(name, {})[f"{kind}, {size // 1000} KB"] = cost
    return found


def json_report(size: int) -> Any:
    return json.loads(report(size))


def wire_costs(make: Callable[[], Any], count: int) -> dict[str, float]:
    sender, frozen, edited = jsonrill.Sender(), jsonrill.Sender(frozen=True), jsonrill.Sender()
    costs = {
        "json.dumps": least(json.dumps, grown(make(), count)),
        "`Sender.feed`": least(sender.feed, grown(make(), count)),
        "`Sender.feed`, shared and frozen": least(frozen.feed, shared(make(), count)),
        "`Sender.feed`, two edits": least(edited.feed, two_edits(make(), count)),
        "`Receiver.feed`": receive_cost(make(), count),
    }
    with suppress(ModuleNotFoundError):
        make_patch = import_module("jsonpatch").make_patch
        states = [*grown(make(), 4)]
        pairs = zip(states, states[1:], strict=False)
        costs["jsonpatch.make_patch"] = least(lambda pair: make_patch(*pair), pairs)
    return costs


def receive_cost(state: Any, count: int) -> float:
    """Return the cost of appending to the last element of a list when every value is read."""
    name = "rows" if "rows" in state else "sections"
    key = "tag" if name == "rows" else "body"
    pointer = f"/{name}/{len(state[name]) - 1}/{key}"
    receiver = jsonrill.Receiver()
    receiver.feed({"n": 1, "value": state})

    def messages() -> Iterator[Any]:
        for number in range(2, 20 * count):
            receiver.value  # noqa: B018
            yield [number, ["append", pointer, "word "]]

    return least(receiver.feed, messages())


def memory(budget: float) -> Table:
    """Measure the memory of a value made from 1 MB of text: megabytes."""
    sizes: Table = {}
    for name, make in (("`Document`", built), ("json.loads", lambda: json.loads(BIG))):
        tracemalloc.start()
        kept_alive = make()
        sizes[name] = {"1 MB": tracemalloc.get_traced_memory()[0] / 1e6}
        tracemalloc.stop()
        del kept_alive
    return sizes


def built() -> Any:
    document = jsonrill.Document()
    for piece in pieces(BIG, 64):
        document.feed(piece)
    document.flush()
    return document


TABLES: Final[dict[str, Callable[[float], Table]]] = {
    "values": values,
    "stages": stages,
    "whole": whole,
    "snapshots": snapshots,
    "wire": wire,
    "memory": memory,
    "growth": lambda budget: growth(),
}


def main() -> None:
    file, budget = Path(sys.argv[1]), float(sys.argv[2])
    results: dict[str, Any] = {"compiled": jsonrill.compiled}
    for name in sys.argv[3:] or TABLES:
        print(f"  {name}", flush=True)
        results[name] = TABLES[name](budget)
    file.write_text(json.dumps(results), "utf8")


if __name__ == "__main__":
    main()
