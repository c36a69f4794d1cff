"""Measure the jsonrill that is imported here, pure or compiled, in the same process as its rivals.

`python -m bench.worker FILE BUDGET` writes {table: {row: {column: microseconds}}} to FILE.
"""

from __future__ import annotations

import io
import json
import sys
from collections import deque
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel

import jsonrill

from .measure import Work, compare
from .rivals import Read, installed
from .texts import PIECE, TEXTS, pieces, report

Table = dict[str, dict[str, float | None]]
BIG: Final = report(1_000_000)
DATA: Final = BIG.encode()


class Report(BaseModel):
    title: str
    sections: list[dict[str, Any]]
    count: int


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
    """A value after each piece: microseconds per piece, by size of the document."""
    reads: dict[str, Read] = {
        "`Document.live`": live,
        "`Document.value`": kept,
        **dict(installed()),
    }
    table: Table = {name: {} for name in reads}
    for size, text in TEXTS.items():
        cut = pieces(text)
        works: dict[str, Work] = {name: partial(read, cut) for name, read in reads.items()}
        for name, seconds in compare(works, budget).items():
            table[name][size] = seconds and seconds / len(cut) * 1e6
    return table


def stages(budget: float) -> Table:
    """What people call: microseconds per piece, 20 KB."""
    cut = pieces(TEXTS["20 KB"])
    events = [
        {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": piece}}]}
        for piece in cut
    ]
    works: dict[str, Work] = {
        "`values(pieces)`": lambda: drain(jsonrill.values(cut)),
        "`values(pieces, Model)`": lambda: drain(jsonrill.values(cut, Report)),
        "`values(events)`": lambda: drain(jsonrill.values(events)),
        "`fragments(pieces)`": lambda: drain(jsonrill.fragments(cut)),
        '`updates(pieces, send="delta")`': lambda: [
            update.delta for update in jsonrill.updates(cut, send="delta")
        ],
        "`parts(events)`": lambda: drain(jsonrill.parts(events)),
        "`values(pieces, repair=True)`": lambda: drain(jsonrill.values(cut, repair=True)),
    }
    seconds = compare(works, budget)
    return {name: {"20 KB": took and took / len(cut) * 1e6} for name, took in seconds.items()}


def whole(budget: float) -> Table:
    """A complete text of 1 MB: milliseconds."""
    works: dict[str, Work] = {
        "`loads`": lambda: jsonrill.loads(BIG),
        "`json.loads`": lambda: json.loads(BIG),
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
    """A snapshot to the chunker, as text: microseconds per snapshot."""
    reads = {"`Chunker.feed`": chunk, "`json.loads`": load}
    table: Table = {name: {} for name in reads}
    for size in ("2 KB", "20 KB"):
        text = TEXTS[size]
        ends = range(64, len(text), 16 * PIECE)
        shown = [json.dumps(jsonrill.partial(text[:end])) for end in ends]
        works: dict[str, Work] = {name: partial(read, shown) for name, read in reads.items()}
        for name, seconds in compare(works, budget).items():
            table[name][size] = seconds and seconds / len(shown) * 1e6
    return table


TABLES: Final = (values, stages, whole, snapshots)


def main() -> None:
    file, budget = Path(sys.argv[1]), float(sys.argv[2])
    results: dict[str, Any] = {"compiled": jsonrill.compiled}
    for table in TABLES:
        print(f"  {table.__name__}", flush=True)
        results[table.__name__] = table(budget)
    file.write_text(json.dumps(results), "utf8")


if __name__ == "__main__":
    main()
