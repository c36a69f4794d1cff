"""Whatever Redis answers, to whichever command: tasks go on, and every reader gets an end."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from jsonrill.eventstream import SSEDecoder, SSEEvent
from jsonrill_server.runs.claim import Claim

from jsonrill_server.runs.hub import Hub  # isort: skip
from jsonrill_server.runs.options import StreamOptions, ViewOptions
from jsonrill_server.runs.positions import START
from jsonrill_server.runs.records import Record
from jsonrill_server.runs.settings import Settings
from jsonrill_server.store import MemoryStore, StoreUnavailable, Tail
from jsonrill_server.store.postgres import PostgresStore
from jsonrill_server.store.redis import RedisStore
from support import SLACK, few, hard
from support.databases import PostgresServer, RedisServer
from support.proxies import COMMANDS, ERRORS, Faults

# On a busy machine a lease is not renewed in time that has the second of `make hard`.
LEASE = 1.0 if SLACK == 1 else 3.0
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
    hub = Hub(Settings(owner_streams=10**6, grace=0.1), RedisStore(url))
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
        async with healthy.renewing(stream, "p", LEASE):
            await healthy.append(stream, "p", ONE)
            reading = asyncio.create_task(read(hub, stream, began))
            await asyncio.wait_for(began.wait(), 20 * SLACK)
            lost, faults.fault = loop.time(), (command, error)
        try:
            async with asyncio.timeout((LEASE + 15) * SLACK):
                end = end_of(await reading)
        except TimeoutError:
            return f"{name}: no end"
        took = loop.time() - lost
        if end not in ("PRODUCER_LOST", "UNAVAILABLE") or (took > LEASE + 5 and SLACK == 1):
            return f"{name}: {end} after {took:.1f} s"
        # And afterwards everything is as before.
        faults.fault = None
        stream = await healthy.create("o", StreamOptions(), "p", 0.2)
        async with asyncio.timeout(16 * SLACK):
            while (end := end_of(await read(hub, stream))) != "PRODUCER_LOST":
                # On a busy machine Redis may have been silent for too long.
                if end != "UNAVAILABLE" or SLACK == 1:
                    return f"{name}: then {end}"
        counted = "jsonrill_store_errors_total{" in hub.metrics.to_text()
        if faults.met and not counted and error != "SILENCE":
            return f"{name}: not counted"
    return ""


REFUSALS = {
    "no replicas": ("CONFIG SET min-replicas-to-write 1", "CONFIG SET min-replicas-to-write 0"),
    "out of memory": ("CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0"),
}


async def read_while_refused(hub: Hub, producer: Hub, refuse: Callable[[], object]) -> str:
    """How a reader ends whose store takes no writes from now on, and after how many seconds."""
    began = asyncio.Event()
    stream = await producer.create("o", StreamOptions(), "p", LEASE)
    await producer.append(stream, "p", ONE)
    reading = asyncio.create_task(read(hub, stream, began))
    # A second reader that comes later must not prolong the wait of the first.
    async with producer.renewing(stream, "p", LEASE):
        await asyncio.wait_for(began.wait(), 20 * SLACK)
        await asyncio.to_thread(refuse)
        lost = time.monotonic()
        others = []
        while not reading.done():
            assert time.monotonic() - lost < (LEASE + 5) * SLACK, "no end"
            others.append(asyncio.create_task(read(hub, stream)))
            await asyncio.sleep(1)
    ends = [end_of(events) for events in await asyncio.gather(reading, *others)]
    return " ".join({*ends})


@few(1)
@pytest.mark.parametrize("how", REFUSALS)
def test_readers_of_a_store_that_refuses_writes_get_an_end(how: str, redis: RedisServer) -> None:
    """It answers what is read, and says that no lease has run out."""

    async def main() -> None:
        async with AsyncExitStack() as stack:
            hub, producer = await hub_on(stack, redis.url), await hub_on(stack, redis.url)
            refuse, allow = REFUSALS[how]
            stack.callback(redis.ask, allow)
            assert await read_while_refused(hub, producer, partial(redis.ask, refuse)) == (
                "UNAVAILABLE"
            )

    asyncio.run(main())


@hard
def test_readers_of_a_database_that_is_read_only_get_an_end() -> None:
    with PostgresServer() as server:

        def set_to(value: str) -> None:
            server.ask(f"ALTER SYSTEM SET default_transaction_read_only = {value}")
            server.ask("SELECT pg_reload_conf()")

        async def main() -> None:
            async with AsyncExitStack() as stack:
                hubs = [Hub(Settings(grace=0.1), PostgresStore(server.url)) for _ in range(2)]
                for hub in hubs:
                    await hub.open()
                    stack.push_async_callback(hub.close)
                assert (
                    await read_while_refused(hubs[0], hubs[1], partial(set_to, "on"))
                    == "UNAVAILABLE"
                )

        asyncio.run(main())


class Refuses(MemoryStore):
    """A store that cannot be reached for a while."""

    left = 5

    async def write(self, *arguments: Any, **named: Any) -> Tail:
        self.left -= 1
        if self.left == 2:  # this time it is written, and the answer is lost
            await super().write(*arguments, **named)
        if self.left > 0:
            raise StoreUnavailable("away")
        return await super().write(*arguments, **named)


def test_what_the_store_cannot_take_is_held_if_it_has_a_number() -> None:
    async def main() -> None:
        hub = Hub(Settings(), Refuses())
        await hub.open()
        options = StreamOptions()
        stream = await hub.create("o", options, "p", 60)
        with pytest.raises(StoreUnavailable):
            await hub.append(stream, "p", ONE, hold=10)
        await Claim(hub, stream, "p", 60, options).append(ONE, hold=10)
        assert (await hub.store.status(stream)).last == 1
        assert hub.metrics.get("store_errors_total", task="append") == 3
        await hub.close()

    asyncio.run(main())


def test_a_store_that_cannot_be_opened_is_tried_again(tmp_path: Path) -> None:
    async def main(server: RedisServer) -> None:
        hub = Hub(Settings(), RedisStore(server.url, retry_for=0.2))
        with pytest.raises(StoreUnavailable):
            await hub.open()
        await asyncio.to_thread(server.start)
        await hub.open()
        assert await hub.create("o", StreamOptions(), "p", 60)
        await hub.close()

    server = RedisServer(tmp_path)
    try:
        asyncio.run(main(server))
    finally:
        server.end()


@hard
@pytest.mark.parametrize("command", COMMANDS)
def test_every_reader_gets_an_end_whatever_redis_answers(command: str, redis: RedisServer) -> None:
    """Under each error to each command; in `make hard` within 5 s of the producer's loss."""

    async def main() -> list[str]:
        async with AsyncExitStack() as stack:
            healthy = await hub_on(stack, redis.url)
            cases = [faulty(redis, healthy, command, error) for error in ERRORS]
            return [wrong for wrong in await asyncio.gather(*cases) if wrong]

    assert asyncio.run(main()) == []
