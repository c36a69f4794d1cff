"""Batch compared with a plain loop, and many readers of one run compared with a bare ASGI loop.

`python -m bench.system FILE BUDGET` writes the figures to FILE.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from starlette.requests import Request

import jsonrill
from jsonrill_batch import Job, rows
from jsonrill_server import Runs

from .measure import Work, compare
from .texts import TEXTS, chat_events, pieces

READERS: Final = 300
PAUSE: Final = 0.02
Send = Callable[[dict[str, Any]], Awaitable[None]]


# ---- batch ----


def batch(budget: float) -> dict[str, float | None]:
    """Return the milliseconds for a log of 20 answers of 2 KB, written as JSON lines."""
    events = [*chat_events(pieces(TEXTS["2 KB"]))]
    log = [json.dumps({"id": str(number), "events": events}) for number in range(20)]
    works: dict[str, Work] = {
        "`jsonrill_batch.rows`": lambda: [json.dumps(row) for row in rows(log, Job("values"))],
        "a plain loop": lambda: [*plain_rows(log)],
    }
    return {name: took and took * 1e3 for name, took in compare(works, budget).items()}


def plain_rows(log: Iterable[str]) -> Iterable[str]:
    for line in log:
        record = json.loads(line)
        yield json.dumps({"id": record["id"], "value": jsonrill.loads(record["events"])})


# ---- readers ----


async def ticks(count: int) -> AsyncIterator[str]:
    """Yield a list of times, piece by piece: each is the time at which it was sent."""
    yield "["
    for _ in range(count):
        await asyncio.sleep(PAUSE)
        yield f"{perf_counter():.6f},"
    yield "0]"


class Watch:
    """Receives the messages of an ASGI response, and notes how late each time in them is."""

    def __init__(self, delays: list[float]) -> None:
        self._delays = delays

    async def send(self, message: dict[str, Any]) -> None:
        now = perf_counter()
        for found in re.findall(rb"(\d+\.\d{6}),", message.get("body", b"")):
            self._delays.append(now - float(found))

    async def receive(self) -> dict[str, Any]:
        await asyncio.Event().wait()  # the client stays
        raise AssertionError


async def read_run(count: int) -> list[float]:
    delays: list[float] = []
    async with Runs("memory:") as runs:
        await runs.start("ticks", ticks(count))

        async def read() -> None:
            watch = Watch(delays)
            scope: dict[str, Any] = {"type": "http", "method": "GET", "headers": []}
            scope |= {"path": "/", "query_string": b"", "server": ("localhost", 80)}
            response = await runs.response(Request(scope), "ticks", format="text")
            await response(scope, watch.receive, watch.send)

        await asyncio.gather(*(read() for _ in range(READERS)))
    return delays


async def read_bare(count: int) -> list[float]:
    """Do the same without a log, ids, resuming, heartbeats or ends."""
    delays: list[float] = []
    events: list[bytes] = []
    changed = asyncio.Condition()

    async def produce() -> None:
        async for text in ticks(count):
            async with changed:
                events.append(b"data: %s\n\n" % json.dumps(text).encode())
                changed.notify_all()

    async def read() -> None:
        watch = Watch(delays)
        for at in range(count + 2):
            async with changed:
                await changed.wait_for(lambda at=at: len(events) > at)  # type: ignore[misc]
            await watch.send({"type": "http.response.body", "body": events[at]})

    await asyncio.gather(produce(), *(read() for _ in range(READERS)))
    return delays


def readers(budget: float) -> dict[str, float | None]:
    """Return the p99 of how late an event is, in milliseconds; the best of two runs."""
    count = 20 + int(100 * budget)
    found: dict[str, float | None] = {}
    for name, work in (("`Runs`", read_run), ("a bare ASGI loop", read_bare)):
        found[name] = min(p99(asyncio.run(work(count))) for _ in range(2)) * 1e3
    return found


def p99(delays: list[float]) -> float:
    return sorted(delays)[int(len(delays) * 0.99)]


def main() -> None:
    file, budget = Path(sys.argv[1]), float(sys.argv[2])
    results = {"batch": batch(budget), "readers": readers(budget)}
    file.write_text(json.dumps(results), "utf8")


if __name__ == "__main__":
    main()
