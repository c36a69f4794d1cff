"""P10: whatever dies, each reader sees each event exactly once, in order, and an end.

Publishers and readers are ordinary clients: a publisher numbers its records and repeats a request
that failed, a reader comes back with the last id it has, both at any replica that answers. The
bounds that the documentation states are the limits here.
"""

from __future__ import annotations

import asyncio
import json
import random
import signal
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from jsonrill.eventstream import SSEEvent
from redis_server import RedisServer
from support import HARDER

from .processes import Events, Server

LINES = {"content-type": "application/x-ndjson"}
ALL_IN = 60.0 * (1 if HARDER == 1 else 4)
# After a producer is lost: its lease, and the time between two looks of two kinds.
LOST_IN = 3.0 + 5.0


class Crowd:
    """Publishers and readers of many streams, and a record of how it went."""

    def __init__(self, replicas: list[Server], streams: int, records: int, seed: int = 1) -> None:
        self.replicas = replicas
        self.chance = random.Random(seed)
        self.records = {
            number: [self._record(number, at, records) for at in range(records)]
            for number in range(streams)
        }
        self.ids: dict[int, str] = {}
        self.reconnects = 0
        self.longest_gap = 0.0
        self.written = 0
        # How many cuts of its own making a reader suffers on the way.
        self.cuts = 4

    @staticmethod
    def _record(number: int, at: int, records: int) -> str:
        element = json.dumps({"stream": number, "at": at, "text": "é" * (at % 9)})
        return ("[" if at == 0 else ",") + element + ("]" if at == records - 1 else "")

    def replica(self) -> Server:
        alive = [one for one in self.replicas if one.process and one.process.poll() is None]
        return self.chance.choice(alive or self.replicas)

    async def run(
        self, *, meanwhile: Callable[[], Coroutine[Any, Any, None]] | None = None
    ) -> None:
        async with asyncio.timeout(ALL_IN), httpx2.AsyncClient(timeout=10, trust_env=False) as http:
            for number in self.records:
                answer = await http.post(f"{self.replica().url}/v1/streams", json={})
                self.ids[number] = answer.json()["id"]
            async with asyncio.TaskGroup() as group:
                for number in self.records:
                    group.create_task(self._publish(http, number))
                    group.create_task(self._read(number, "format=chunks", self._same_text))
                    if number % 4 == 0:
                        group.create_task(self._read(number, "mode=one-by-one", self._same_updates))
                if meanwhile is not None:
                    group.create_task(meanwhile())

    async def half_written(self) -> None:
        half = sum(map(len, self.records.values())) / 2
        while self.written < half:
            await asyncio.sleep(0.01)

    async def _publish(self, http: httpx2.AsyncClient, number: int) -> None:
        at, records = 0, self.records[number]
        while at < len(records):
            size = self.chance.randint(1, 6)
            body = "".join(json.dumps(record) + "\n" for record in records[at : at + size])
            headers = {**LINES, "producer-seq": str(at + 1)}
            path = f"/v1/streams/{self.ids[number]}/chunks"
            await self._until_done(http, path, body, headers)
            at += size
            self.written += size
        await self._until_done(http, f"/v1/streams/{self.ids[number]}/close", "", {})

    async def _until_done(
        self, http: httpx2.AsyncClient, path: str, body: str, headers: dict[str, str]
    ) -> None:
        while True:
            try:
                url = f"{self.replica().url}{path}"
                answer = await http.post(url, content=body, headers=headers)
                if answer.status_code == 200:
                    return
                assert answer.status_code == 503, answer.text
            except httpx2.TransportError:
                pass
            await asyncio.sleep(0.05)

    async def _read(self, number: int, query: str, check: Callable[[int, list[str]], None]) -> None:
        seen: list[str] = []
        last, moved = "", time.monotonic()
        cuts = self.cuts
        while True:
            url = f"{self.replica().url}/v1/streams/{self.ids[number]}/events?{query}"
            limit = self.chance.randint(0, 120) if cuts else 10**9
            cuts -= cuts > 0
            try:
                async with Events(url, headers={"last-event-id": last} if last else {}) as events:
                    if events.status == 204:
                        break
                    assert events.status in (200, 503), events.status
                    async for event in events if events.status == 200 else _nothing():
                        self.longest_gap = max(self.longest_gap, time.monotonic() - moved)
                        moved = time.monotonic()
                        last = event.id
                        seen.append("CLOSE" if event.type == "CLOSE" else event.data)
                        limit -= 1
                        if limit < 0:
                            break
            except (OSError, asyncio.IncompleteReadError):
                await asyncio.sleep(0.05)
            self.reconnects += 1
        assert seen.pop() == "CLOSE"
        check(number, seen)

    def _same_text(self, number: int, seen: list[str]) -> None:
        assert [json.loads(data) for data in seen] == self.records[number]

    def _same_updates(self, number: int, seen: list[str]) -> None:
        updates = [json.loads(data) for data in seen]
        assert [update["index"] for update in updates] == list(range(len(self.records[number])))
        assert [update["data"] for update in updates] == json.loads("".join(self.records[number]))


async def _nothing() -> AsyncIterator[SSEEvent]:
    return
    yield


@contextmanager
def replicas(
    folder: Path, store: str, count: int = 3, **settings: object
) -> Iterator[list[Server]]:
    with ExitStack() as stack:
        started = []
        for number in range(count):
            (folder / str(number)).mkdir()
            server = Server(folder / str(number), store=store, heartbeat=1, **settings)
            started.append(stack.enter_context(server))
        yield started


@pytest.fixture
def store(redis_server: RedisServer) -> str:
    redis_server.empty()
    return redis_server.url


def test_readers_cut_at_random_resume_anywhere(tmp_path: Path, store: str) -> None:
    with replicas(tmp_path, store) as servers:
        crowd = Crowd(servers, 20, 300 * (1 if HARDER == 1 else 5))
        asyncio.run(crowd.run())
        assert crowd.reconnects >= 20 * crowd.cuts
        assert crowd.longest_gap < 5
        assert all("Traceback" not in server.log() for server in servers)


def test_a_killed_replica_is_replaced_by_the_others(tmp_path: Path, store: str) -> None:
    with replicas(tmp_path, store) as servers:
        crowd = Crowd(servers, 10, 150, seed=2)

        async def kill() -> None:
            await crowd.half_written()
            servers[0].kill()

        asyncio.run(crowd.run(meanwhile=kill))
        assert crowd.longest_gap < 5


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_restart_of_redis_loses_nothing(
    tmp_path: Path, redis_server: RedisServer, store: str, how: int
) -> None:
    with replicas(tmp_path, store, 2) as servers:
        crowd = Crowd(servers, 8, 120, seed=3)

        async def restart() -> None:
            await crowd.half_written()
            await asyncio.to_thread(redis_server.end, how)
            await asyncio.sleep(0.5)
            await asyncio.to_thread(redis_server.start)

        asyncio.run(crowd.run(meanwhile=restart))
        assert crowd.longest_gap < 10


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_restart_of_a_server_on_sqlite_loses_nothing(tmp_path: Path, how: int) -> None:
    with replicas(tmp_path, f"sqlite:///{tmp_path}/log.db", 1) as servers:
        crowd = Crowd(servers, 8, 120, seed=4)

        async def restart() -> None:
            await crowd.half_written()
            await asyncio.to_thread(servers[0].end, how)
            await asyncio.to_thread(servers[0].start)

        asyncio.run(crowd.run(meanwhile=restart))
        assert crowd.longest_gap < 15


def test_streams_of_a_killed_relay_end_with_an_error(tmp_path: Path, store: str) -> None:
    from .upstream import Upstream

    async def main(servers: list[Server]) -> None:
        http = httpx2.AsyncClient(timeout=20, trust_env=False)
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
            killed = time.monotonic()
            for task in reading:
                numbers, code = await task
                assert numbers == list(range(len(numbers))) and len(numbers) > 5
                assert code == "PRODUCER_LOST"
            assert time.monotonic() - killed < LOST_IN

    with Upstream(tmp_path) as upstream, replicas(tmp_path, store, 2, upstream=upstream.url) as two:
        asyncio.run(main(two))


async def _numbers(server: Server, stream: str) -> tuple[list[int], str]:
    """What an endless generation counted, and how its stream ended."""
    url = f"{server.url}/v1/streams/{stream}/events?format=raw"
    async with Events(url) as events:
        found = [event async for event in events]
    assert found[-1].type == "CLOSE"
    bodies = [json.loads(event.data) for event in found[:-1]]
    texts = [body["choices"][0]["delta"].get("content") for body in bodies[:-1]]
    return [int(text) for text in texts if text], bodies[-1]["error"]["code"]
