"""Whatever Redis answers, to whichever command: tasks go on, and every reader gets an end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import AsyncExitStack

import pytest

from jsonrill.eventstream import SSEDecoder, SSEEvent
from jsonrill.server import Config

from jsonrill.runs.hub import Hub  # isort: skip
from jsonrill.runs.options import StreamOptions, ViewOptions
from jsonrill.runs.positions import START
from jsonrill.runs.records import Record
from jsonrill.store.redis import RedisStore
from redis_server import RedisServer
from store.faults import COMMANDS, ERRORS, Faults

LEASE = 1.0
ONE = [Record("text", "[1")]


@pytest.fixture(scope="module")
def redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with RedisServer(tmp_path_factory.mktemp("redis")) as server:
        yield server


async def read(hub: Hub, stream: str, began: asyncio.Event | None = None) -> list[SSEEvent]:
    decoder, events = SSEDecoder(), []
    status = await hub.status(stream)
    async with hub.reader(stream, status, ViewOptions(format="raw"), START) as reader:
        async for chunk in reader.chunks():
            events += decoder.feed(chunk)
            if began is not None:
                began.set()
    return events


def end_of(events: list[SSEEvent]) -> str:
    assert events[-1].type == "CLOSE"
    return str(json.loads(events[-2].data)["error"]["code"])


async def hub_on(stack: AsyncExitStack, url: str) -> Hub:
    hub = Hub(Config(owner_streams=10**6, grace=0.1), RedisStore(url))
    await hub.open()
    stack.push_async_callback(hub.close)
    return hub


async def faulty(server: RedisServer, healthy: Hub, command: str, error: str) -> str:
    """What went wrong in this case; nothing is the right answer."""
    name = f"{error} to {command}"
    loop = asyncio.get_running_loop()
    async with AsyncExitStack() as stack:
        faults = await stack.enter_async_context(Faults(server))
        hub = await hub_on(stack, faults.url)
        began = asyncio.Event()
        stream = await healthy.create("o", StreamOptions(), "p", LEASE)
        await healthy.append(stream, "p", ONE)
        reading = asyncio.create_task(read(hub, stream, began))
        await asyncio.wait_for(began.wait(), 20)
        await healthy.store.acquire(stream, "p", lease=LEASE)
        lost, faults.fault = loop.time(), (command, error)
        try:
            async with asyncio.timeout(LEASE + 15):
                end = end_of(await reading)
        except TimeoutError:
            return f"{name}: no end"
        took = loop.time() - lost
        if end not in ("PRODUCER_LOST", "UNAVAILABLE") or took > LEASE + 5:
            return f"{name}: {end} after {took:.1f} s"
        # And afterwards everything is as before.
        faults.fault = None
        stream = await healthy.create("o", StreamOptions(), "p", LEASE)
        async with asyncio.timeout(LEASE + 15):
            if (end := end_of(await read(hub, stream))) != "PRODUCER_LOST":
                return f"{name}: then {end}"
        counted = "jsonrill_store_errors_total{" in hub.metrics.to_text()
        if faults.met and not counted and error != "SILENCE":
            return f"{name}: not counted"
    return ""


@pytest.mark.parametrize("command", COMMANDS)
def test_every_reader_gets_an_end_whatever_redis_answers(command: str, redis: RedisServer) -> None:
    """Within lease + 5 s of the producer's loss, under each error to each command."""

    async def main() -> list[str]:
        async with AsyncExitStack() as stack:
            healthy = await hub_on(stack, redis.url)
            cases = [faulty(redis, healthy, command, error) for error in ERRORS]
            return [wrong for wrong in await asyncio.gather(*cases) if wrong]

    assert asyncio.run(main()) == []
