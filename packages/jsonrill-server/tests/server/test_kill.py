"""P10: whatever dies, each reader sees each event exactly once, in order, and an end.

Little traffic and one fault each; `hard/` has more, chaos and the documented bounds, and
`runs/test_simulation.py` every order of events.
"""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import pytest

from support import few, hard
from support.databases import RedisServer
from support.stores import SERVED, StoreServers
from support.traffic import Traffic, replicas


@pytest.fixture
def store(redis_server: RedisServer) -> str:
    redis_server.empty()
    return redis_server.url


@hard
def test_readers_cut_at_random_resume_anywhere(tmp_path: Path, store: str) -> None:
    with replicas(tmp_path, store, 2) as servers:
        traffic = Traffic(servers, 8, 80)
        asyncio.run(traffic.run())
        assert traffic.reconnects >= 8 * traffic.cuts
        assert traffic.waited_less_than(5)
        assert all("Traceback" not in server.log() for server in servers)


@hard
def test_a_killed_replica_is_replaced_by_the_others(tmp_path: Path, store: str) -> None:
    with replicas(tmp_path, store, 2) as servers:
        traffic = Traffic(servers, 6, 60, seed=2)

        async def kill() -> None:
            await traffic.written_to(0.5)
            servers[0].kill()

        asyncio.run(traffic.run(meanwhile=kill))
        assert traffic.waited_less_than(5)


@few(1)
@pytest.mark.parametrize("kind", SERVED)
def test_a_restart_of_the_store_loses_nothing(
    tmp_path: Path, store_servers: StoreServers, kind: str
) -> None:
    """Of one node, where it has several."""
    url, database = store_servers.url(kind, tmp_path), store_servers[kind]
    with replicas(tmp_path, url, 1) as servers:
        traffic = Traffic(servers, 5, 60, seed=3)

        async def restart() -> None:
            await traffic.written_to(0.5)
            await asyncio.to_thread(database.end, signal.SIGKILL)
            await asyncio.sleep(0.5)
            await asyncio.to_thread(database.start)

        asyncio.run(traffic.run(meanwhile=restart))
        assert traffic.waited_less_than(10)


@hard
def test_a_restart_of_a_server_on_sqlite_loses_nothing(tmp_path: Path) -> None:
    with replicas(tmp_path, f"sqlite:///{tmp_path}/log.db", 1) as servers:
        traffic = Traffic(servers, 5, 60, seed=4)

        async def restart() -> None:
            await traffic.written_to(0.5)
            await asyncio.to_thread(servers[0].end, signal.SIGKILL)
            await asyncio.to_thread(servers[0].start)

        asyncio.run(traffic.run(meanwhile=restart))
        assert traffic.waited_less_than(15)
