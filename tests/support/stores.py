"""Every kind of store with the server that it needs, started once and emptied for each test."""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from jsonrill_server.store import KINDS as _KINDS
from jsonrill_server.store import Bounds, Store, open_store
from jsonrill_server.tasks import stop
from support.databases import SYNCED, PostgresServer, RedisServer

# The schemes of URLs, one for each kind of store.
KINDS = tuple(_KINDS)
# Those that have a server, which can die.
SERVED = tuple(kind for kind in KINDS if kind not in ("memory", "sqlite"))


class StoreServer(Protocol):
    """The server of a store, as tests see it."""

    name: str

    @property
    def url(self) -> str: ...
    def start(self) -> None: ...
    def end(self, how: int = ...) -> None:
        """End it, with SIGKILL or politely."""

    def send(self, how: int) -> None:
        """Send a signal to all its processes: SIGSTOP, SIGCONT."""

    def empty(self) -> None: ...
    def cpu(self) -> float:
        """Seconds of processor time that it has used."""


def new_server(kind: str, folder: Path, **settings: Any) -> Any:
    """A server of a kind, not yet started, that has what it had when it is started again."""
    if kind == "postgresql":
        return PostgresServer(**settings)
    return RedisServer(folder, aof=True, options=SYNCED)


class StoreServers:
    """`servers[kind]` is running; None for a store without a server."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._running: dict[str, Any] = {}

    def __getitem__(self, kind: str) -> Any:
        if kind not in SERVED:
            return None
        if kind not in self._running:
            folder = self._stack.enter_context(tempfile.TemporaryDirectory())
            server = new_server(kind, Path(folder))
            self._running[kind] = self._stack.enter_context(server)
        return self._running[kind]

    def url(self, kind: str, folder: Path) -> str:
        """The URL of an empty store; a file is made in `folder`."""
        if kind == "memory":
            return "memory:"
        if kind == "sqlite":
            return f"sqlite:///{folder}/log.db"
        self[kind].empty()
        return str(self[kind].url)

    def close(self) -> None:
        self._stack.close()


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
    bounds = Bounds(owner_streams=10**6, total_streams=10**6, stream_entries=10**8)
    store = open_store(url, bounds)
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
