"""P10: whatever dies, each reader sees each event exactly once, in order, and an end.

Little traffic and one fault each; `hard/` has more, chaos and the documented bounds, and
`runs/test_simulation.py` every order of events.
"""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path

import httpx2
import pytest

from support import few, hard
from support.databases import RedisServer
from support.processes import Events, Server
from support.stores import SERVED, StoreServers
from support.traffic import ALL_IN, Traffic, replicas
from support.upstream import an_upstream


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


@hard
def test_streams_of_a_killed_relay_end_with_an_error(tmp_path: Path, store: str) -> None:
    async def main(servers: list[Server]) -> None:
        http = httpx2.AsyncClient(timeout=60, trust_env=False)
        ask = {"model": "endless", "stream": True, "messages": []}
        async with asyncio.timeout(ALL_IN), http:
            ids = []
            for _ in range(5):
                url = f"{servers[0].url}/v1/chat/completions"
                async with http.stream("POST", url, json=ask) as answer:
                    ids.append(answer.headers["jsonrill-stream"])
                    await anext(answer.aiter_bytes())
            reading = [asyncio.create_task(_numbers(servers[1], stream)) for stream in ids]
            await asyncio.sleep(0.5)
            servers[0].kill()
            for task in reading:
                numbers, code = await task
                assert numbers == list(range(len(numbers))) and len(numbers) > 5
                assert code == "PRODUCER_LOST"

    with an_upstream() as upstream:
        with replicas(tmp_path, store, 2, upstream=f"{upstream.url}/v1") as two:
            asyncio.run(main(two))


async def _numbers(server: Server, stream: str) -> tuple[list[int], str]:
    """What an endless generation counted, and how its stream ended."""
    url = f"{server.url}/v1/streams/{stream}/events?format=raw"
    async with Events(url) as events:
        received = [event async for event in events]
    assert received[-1].type == "CLOSE"
    bodies = [json.loads(event.data) for event in received[:-1]]
    texts = [body["choices"][0]["delta"].get("content") for body in bodies[:-1]]
    return [int(text) for text in texts if text], bodies[-1]["error"]["code"]
