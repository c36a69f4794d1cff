"""Many open streams with one reader each, a few records a second: how long until they are read.

Readers have a store of their own, as in another process, unless it is in memory.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

from jsonrill.ext.tasks import stop
from jsonrill_server.store import Bounds, Store, open_store
from support.stores import StoreServer


class Load(NamedTuple):
    streams: int
    rate: float
    seconds: float


class Figures(NamedTuple):
    """Seconds from the call of append to the reader's batch; cores that were busy."""

    p50: float
    p99: float
    worst: float
    process_core: float
    server_core: float

    def __str__(self) -> str:
        return (
            f"p50 {self.p50 * 1000:.1f} ms, p99 {self.p99 * 1000:.1f} ms,"
            f" worst {self.worst * 1000:.1f} ms, process {self.process_core:.0%} of a core,"
            f" the server {self.server_core:.0%}"
        )


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Store]:
    """A store that no load of a test fills."""
    many = {"owner_streams": 10**6, "total_streams": 10**6, "stream_entries": 10**8}
    store = open_store(url, Bounds(**many, owner_bytes=10**12, total_bytes=10**12))
    await store.open()
    try:
        yield store
    finally:
        await store.close()


def measured(url: str, load: Load, server: StoreServer | None = None) -> Figures:
    async def main() -> Figures:
        async with opened(url) as here, opened(url) as there:
            return await _loaded(here, here if url == "memory:" else there, load, server)

    return asyncio.run(main())


async def _loaded(
    store: Store, elsewhere: Store, load: Load, server: StoreServer | None
) -> Figures:
    names = [f"s{at}" for at in range(load.streams)]
    for name in names:
        await store.acquire(name, "p", lease=600, owner="o", meta=b"{}")
    late: list[float] = []
    readers = [asyncio.create_task(_read(elsewhere, name, late)) for name in names]
    await asyncio.sleep(1 + load.streams / 400)
    chance = random.Random(1)
    begun, cpu = time.perf_counter(), time.process_time()
    server_cpu = _cpu_of(server)
    wanted = int(load.rate * load.seconds)
    writing: set[asyncio.Task[int]] = set()
    for at in range(wanted):
        await asyncio.sleep(max(0, begun + at / load.rate - time.perf_counter()))
        data = repr(time.perf_counter()).encode()
        task = asyncio.create_task(store.append(chance.choice(names), "p", [data]))
        writing.add(task)
        task.add_done_callback(writing.discard)
    took = time.perf_counter() - begun
    cpu, server_cpu = time.process_time() - cpu, _cpu_of(server) - server_cpu
    async with asyncio.timeout(60):
        while len(late) < wanted:
            await asyncio.sleep(0.05)
    await stop(*readers)
    late.sort()
    p50, p99 = late[len(late) // 2], late[len(late) * 99 // 100]
    return Figures(p50, p99, late[-1], cpu / took, server_cpu / took)


async def _read(store: Store, name: str, late: list[float]) -> None:
    async for batch in store.read(name):
        now = time.perf_counter()
        late.extend(now - float(entry.data) for entry in batch)


def _cpu_of(server: StoreServer | None) -> float:
    return 0.0 if server is None else server.cpu()
