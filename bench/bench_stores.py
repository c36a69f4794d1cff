"""The stores beside each other in one run, with real servers on this machine that it starts itself.

Each is used as it is by default: PostgreSQL flushes each commit to the disk, Redis and SQLite may
lose the last second when the machine fails. A record has 60 bytes. Measured are

  alone     one producer that appends one record after the other, each after the last was confirmed
  traffic     50 producers at once, each with a stream of its own
  readers   2000 open streams with a reader each, 100 records a second in all: the time from the
            call of append to the reader, who has a store of its own, as in another process; and
            the cores that this kept busy, here and in the store's server

Run: python bench/bench_stores.py [--seconds 10] [--streams 2000] [--kinds redis,postgresql]
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
for folder in (*ROOT.glob("packages/*/src"), ROOT / "tests"):
    sys.path.insert(0, str(folder))

from jsonrill_server.store import Store, Turn  # noqa: E402
from support.stores import KINDS, SERVED, Figures, Load, measured, new_server, opened  # noqa: E402  # noqa: E402

RECORD = b"x" * 60
WRITERS = 50


class Writes(NamedTuple):
    """Appends a second, and seconds until one was confirmed."""

    rate: float
    p50: float
    p99: float


async def write(store: Store, producers: int, seconds: float) -> Writes:
    names = [f"{producers}-{at}" for at in range(producers)]
    for name in names:
        await store.acquire(name, "p", lease=600, owner="o", meta=b"{}")
    took: list[float] = []
    begun = time.perf_counter()

    async def produce(name: str) -> None:
        turn = Turn("p", 0, 0)
        while time.perf_counter() - begun < seconds:
            before = time.perf_counter()
            await store.append(name, "p", [RECORD], turn=turn, lease=600)
            turn = turn._replace(seq=turn.seq + 1)
            took.append(time.perf_counter() - before)

    await asyncio.gather(*map(produce, names))
    took.sort()
    rate = len(took) / (time.perf_counter() - begun)
    return Writes(rate, took[len(took) // 2], took[len(took) * 99 // 100])


async def writes(url: str, seconds: float) -> tuple[Writes, Writes]:
    async with opened(url) as store:
        return await write(store, 1, seconds), await write(store, WRITERS, seconds)


def measure(kind: str, seconds: float, streams: int) -> tuple[Writes, Writes, Figures]:
    with tempfile.TemporaryDirectory() as folder:
        load = Load(streams, 100, seconds)
        if kind not in SERVED:
            url = "memory:" if kind == "memory" else f"sqlite:///{folder}/log.db"
            return *asyncio.run(writes(url, seconds)), measured(url, load)
        settings: dict[str, Any] = {"fsync": "on"} if kind == "postgresql" else {}
        with new_server(kind, Path(folder), **settings) as server:
            both = asyncio.run(writes(server.url, seconds))
            server.empty()
            return *both, measured(server.url, load, server)


def ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--streams", type=int, default=2000)
    parser.add_argument("--kinds", default=",".join(KINDS))
    chosen = parser.parse_args()
    print(
        "| store | alone: writes/s, p50, p99 | traffic: writes/s, p99 | readers: p50, p99 |", end=""
    )
    print(" cores |\n| --- | --- | --- | --- | --- |")
    for kind in chosen.kinds.split(","):
        alone, traffic, readers = measure(kind, chosen.seconds, chosen.streams)
        print(
            f"| `{kind}` | {alone.rate:,.0f}, {ms(alone.p50)} ms, {ms(alone.p99)} ms"
            f" | {traffic.rate:,.0f}, {ms(traffic.p99)} ms"
            f" | {ms(readers.p50)} ms, {ms(readers.p99)} ms"
            f" | {readers.process_core:.2f} and {readers.server_core:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
