"""P10 under much traffic: chaos, rolling restarts, and the bounds that the documentation states."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from support.databases import RedisServer
from support.processes import Server
from support.stores import SERVED, StoreServers
from support.traffic import Traffic, replicas

from .chaos import Chaos


def hold(servers: list[Server], traffic: Traffic, gap: float) -> None:
    assert traffic.waited_less_than(gap), traffic.longest_gap
    assert all("Traceback" not in server.log() for server in servers)


@pytest.fixture
def store(redis_server: RedisServer) -> str:
    redis_server.empty()
    return redis_server.url


def test_readers_cut_at_random_resume_anywhere(tmp_path: Path, store: str) -> None:
    with replicas(tmp_path, store) as servers:
        traffic = Traffic(servers, 20, 1500)
        traffic.cuts = 20
        asyncio.run(traffic.run())
        assert traffic.reconnects >= 20 * traffic.cuts
        hold(servers, traffic, 5)


def test_a_killed_replica_is_replaced_by_the_others(tmp_path: Path, store: str) -> None:
    with replicas(tmp_path, store) as servers:
        traffic = Traffic(servers, 20, 300, seed=2)

        async def kill() -> None:
            await traffic.written_to(0.5)
            servers[0].kill()

        asyncio.run(traffic.run(meanwhile=kill))
        hold(servers, traffic, 5)


def again(traffic: Traffic, shares: list[float], what: Callable[[], Awaitable[object]]) -> None:
    """Runs the traffic, and does something to the servers at each of these shares of it."""

    async def meanwhile() -> None:
        for share in shares:
            await traffic.written_to(share)
            await what()

    asyncio.run(traffic.run(meanwhile=meanwhile))


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_rolling_restarts_of_all_replicas_lose_nothing(
    tmp_path: Path, store: str, how: int
) -> None:
    with replicas(tmp_path, store) as servers:
        traffic = Traffic(servers, 12, 300, seed=5)

        async def one_after_the_other() -> None:
            for server in servers:
                await asyncio.to_thread(server.end, how)
                await asyncio.to_thread(server.start)

        again(traffic, [0.2, 0.5, 0.8], one_after_the_other)
        hold(servers, traffic, 10)


@pytest.mark.parametrize("kind", SERVED)
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_restarts_of_the_store_lose_nothing(
    tmp_path: Path, store_servers: StoreServers, kind: str, how: int
) -> None:
    url, database = store_servers.url(kind, tmp_path), store_servers[kind]
    with replicas(tmp_path, url, 2) as servers:
        traffic = Traffic(servers, 8, 300, seed=3)

        async def restart() -> None:
            await asyncio.to_thread(database.end, how)
            await asyncio.sleep(0.5)
            await asyncio.to_thread(database.start)

        again(traffic, [0.3, 0.6], restart)
        hold(servers, traffic, 10)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_restarts_of_a_server_on_sqlite_lose_nothing(tmp_path: Path, how: int) -> None:
    with replicas(tmp_path, f"sqlite:///{tmp_path}/log.db", 1) as servers:
        traffic = Traffic(servers, 8, 300, seed=4)

        async def restart() -> None:
            await asyncio.to_thread(servers[0].end, how)
            await asyncio.to_thread(servers[0].start)

        again(traffic, [0.2, 0.4, 0.6, 0.8], restart)
        hold(servers, traffic, 15)


@pytest.mark.parametrize("kind", SERVED)
def test_chaos(tmp_path: Path, store_servers: StoreServers, kind: str) -> None:
    """100 faults: replicas are killed, terminated and halted, and so is the server of the store, or
    one node of it; over 200 readers in every format lose nothing, see nothing twice, get an end."""
    with replicas(tmp_path, store_servers.url(kind, tmp_path)) as servers:
        chaos = Chaos(servers, store_servers[kind], streams=33, records=400, faults=100)
        assert sum(len(chaos.formats(number)) for number in chaos.records) >= 200
        asyncio.run(chaos.run_all(600))
        print(f"\n{kind}: {chaos.kinds}, {chaos.reconnects} connections")
        assert all("Traceback" not in server.log() for server in servers)


@pytest.mark.parametrize("kind", ["sqlite", "redis", "postgresql"])
def test_chaos_with_large_streams(tmp_path: Path, store_servers: StoreServers, kind: str) -> None:
    """Each stream is over 5 MB in every format, five times what a view keeps of it, so that whoever
    comes back waits for a view that is far behind; every reader gets to its end."""
    url = store_servers.url(kind, tmp_path)
    with replicas(tmp_path, url) as servers:
        server = store_servers[kind]
        chaos = Chaos(servers, server, streams=6, records=500, faults=30, padding=11_000)
        asyncio.run(chaos.run_all(900))
        readers = sum(len(chaos.formats(number)) for number in chaos.records)
        print(f"\n{kind}: {chaos.kinds}, {readers} readers, {chaos.reconnects} connections")
        assert min(chaos.sizes.values()) > 5_000_000
        assert all("Traceback" not in server.log() for server in servers)
