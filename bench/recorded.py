"""What is there as a whole: recorded streams and large files, beside a plain loop and ijson.

Microseconds a stream, or of a file, in three rounds that take turns with the rival's.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from random import Random
from typing import Any, Final

from . import contestants as who
from .measure import settle
from .path import BUILDS, rounds

Work = Callable[[], object]
BATCH: Final = who.ROOT / "packages" / "jsonrill-batch" / "src"
STREAMS: Final = 1000
ELEMENTS: Final = 20_000
SCHEMA: Final = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "price": {"type": "number"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["title", "price"],
}
# Of each row the rival, and how many times its time is allowed: compiled, and in pure Python.
GOALS: Final = {
    "`batch check` with a schema, short streams": ("`json.loads` and jsonschema-rs", 1.3, 1.3),
    "`batch values`, short streams": ("`json.loads` and `json.dumps`", 1.3, 1.3),
    '`select(file, "items[*].id")`, 3.5 MB': ("ijson, C", 1.0, 3.0),
}


def lines() -> list[bytes]:
    """Short streams, each cut into pieces of a few characters."""
    chance = Random(1)
    written = []
    for at in range(STREAMS):
        city = chance.choice(["Rome", "Paris", "Oslo"])
        price = chance.randrange(1000) / 10
        text = json.dumps({"title": f"A trip to {city}", "price": price, "tags": ["sun", "sea"]})
        chunks = []
        while text:
            size = chance.randrange(2, 8)
            chunks.append(text[:size])
            text = text[size:]
        written.append(json.dumps({"id": f"s{at}", "chunks": chunks}).encode() + b"\n")
    return written


def file_of_elements(count: int = ELEMENTS) -> bytes:
    item = {"tags": ["a", "b"], "nested": {"x": 1, "y": [1, 2, 3]}, "text": "some words " * 5}
    items = [{"id": at, "name": f"item {at}", "price": at * 1.5, **item} for at in range(count)]
    return json.dumps({"meta": {"v": 1}, "items": items}).encode()


def by_hand(log: list[bytes], valid: Callable[[Any], bool] | None) -> Work:
    """The loop that one writes for a log that is all good."""

    def once() -> None:
        out = io.StringIO()
        for line in log:
            record = json.loads(line)
            text = "".join(record["chunks"])
            value = json.loads(text)
            row = {"id": record["id"], "value": value}
            if valid is not None:
                row = {"id": record["id"], "ok": valid(value), "characters": len(text)}
            out.write(json.dumps(row) + "\n")

    return once


def rivals(log: list[bytes], file: bytes) -> list[Work]:
    """The rivals' works, in the order of `GOALS`."""
    import ijson  # type: ignore[import-not-found,unused-ignore]
    from jsonschema_rs import validator_for

    def found() -> None:
        for _ in ijson.items(io.BytesIO(file), "items.item.id"):
            pass

    valid = validator_for(SCHEMA).is_valid
    return [by_hand(log, valid), by_hand(log, None), found]


def ours(jsonrill: Any, batch: Any, log: list[bytes], file: bytes) -> list[Work]:
    def shard(**options: Any) -> Work:
        job = batch.Job(**options)
        return lambda: batch.process_shard(log, job, io.StringIO().write)

    def selected() -> None:
        for _ in jsonrill.select(io.BytesIO(file), "items[*].id"):
            pass

    return [shard(kind="check", schema=SCHEMA), shard(kind="values"), selected]


def costs(budget: float) -> dict[str, Any]:
    """Of each build: microseconds of our rows and of their rivals, in rounds."""
    inputs = lines(), file_of_elements()
    theirs = dict(zip(GOALS, rivals(*inputs), strict=True))
    results: dict[str, Any] = {}
    for build, place in BUILDS.items():
        if not place.exists():
            continue
        with who.importing("jsonrill", place) as jsonrill:
            with who.importing("jsonrill_batch", BATCH) as batch:
                works = dict(zip(GOALS, ours(jsonrill, batch, *inputs), strict=True))
                settle()
                timed = rounds(
                    {**works, **{f"rival {name}": work for name, work in theirs.items()}}, 1, budget
                )
        results[build] = {
            name: {"ours": timed[name], "rival": timed[f"rival {name}"]} for name in GOALS
        }
    return results
