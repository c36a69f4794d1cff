"""Publishers and readers of many streams, who come back whatever dies, and how it went.

A publisher numbers its records and repeats a request that failed, a reader comes back with the last
id it has, both at any replica that answers.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2

from jsonrill.eventstream import SSEEvent
from support import SLACK, numbered
from support.processes import Events, Server

LINES = {"content-type": "application/x-ndjson"}
ALL_IN = 240.0


class Traffic:
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
                    group.create_task(self._read(number, "format=text", self._same_text))
                    if number % 4 == 0:
                        group.create_task(self._read(number, "mode=one-by-one", self._same_updates))
                if meanwhile is not None:
                    group.create_task(meanwhile())

    async def written_to(self, share: float) -> None:
        """Waits until this share of all records is written."""
        whole = sum(map(len, self.records.values()))
        while self.written < share * whole:
            await asyncio.sleep(0.01)

    def waited_less_than(self, seconds: float) -> bool:
        """Did no reader wait longer for its next event than the documentation says? On a machine
        that may be busy, nobody can say."""
        return SLACK > 1 or self.longest_gap < seconds

    async def _publish(self, http: httpx2.AsyncClient, number: int) -> None:
        at, seq, records = 0, 0, self.records[number]
        while at < len(records):
            size = self.chance.randint(1, 6)
            body = "".join(json.dumps(record) + "\n" for record in records[at : at + size])
            headers = {**LINES, **numbered(seq)}
            path = f"/v1/streams/{self.ids[number]}/events"
            await self._until_done(http, path, body, headers)
            at, seq = at + size, seq + 1
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
            limit = (
                self.chance.randint(0, len(self.records[number]) // (self.cuts + 2))
                if cuts
                else 10**9
            )
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
