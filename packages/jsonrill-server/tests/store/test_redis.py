"""What only Redis can do to us: take a command and lose the answer, go away, forget."""

from __future__ import annotations

import asyncio

import pytest

from jsonrill_server.store import (
    LogGap,
    LogLost,
    Store,
    StoreFull,
)
from jsonrill_server.store.redis import RedisStore
from support.databases import RedisServer

from .conftest import opened
from .trouble import LosesAnswers


@pytest.fixture
def url(redis_server: RedisServer) -> str:
    redis_server.empty()
    return redis_server.url


async def entries(store: Store) -> list[bytes]:
    return [entry.data async for batch in store.read("s") for entry in batch]


def test_whatever_the_client_raises_nothing_is_added_twice(url: str) -> None:
    """With uvloop a closed connection is a RuntimeError."""

    async def main() -> None:
        async with opened(url) as store:
            assert isinstance(store, RedisStore)
            await store.acquire("s", "p", lease=60, meta=b"")
            for number, error in enumerate((OSError, RuntimeError, AttributeError), 1):
                lost = LosesAnswers(store._run_swap, 2, error)
                store._run_swap = lost  # type: ignore[assignment]
                assert await store.append("s", "p", [b"%d" % number]) == number
            await store.finalize("s", b"end")
            assert await entries(store) == [b"1", b"2", b"3", b"end"]

    asyncio.run(main())


def test_a_redis_that_forgot_is_noticed(url: str, redis_server: RedisServer) -> None:
    async def main() -> None:
        async with opened(url) as store:
            await store.acquire("s", "p", lease=60, meta=b"")
            await store.append("s", "p", [b"1", b"2", b"3"])
            redis_server.ask("FLUSHALL")
            await store.acquire("s", "p", lease=60, meta=b"")
            await store.append("s", "p", [b"1"])
            with pytest.raises(LogGap):
                await anext(store.read("s", 3))

    asyncio.run(main())


async def filled(store: Store) -> None:
    await store.acquire("s", "p", lease=60, meta=b"")
    await store.append("s", "p", [b"1", b"2", b"3"])


def test_an_evicted_log_is_lost(url: str, redis_server: RedisServer) -> None:
    """Redis dropped the log and kept the hash: readers and the producer are told."""

    async def main() -> None:
        async with opened(url) as store:
            await filled(store)
            waiting = store.read("s")
            assert len(await anext(waiting)) == 3
            redis_server.ask("DEL jsonrill:log:s")
            with pytest.raises(LogLost):
                await anext(store.read("s"))
            with pytest.raises(LogLost):
                await store.append("s", "p", [b"4"])
            await store.finalize("s", b"end")
            for after in (0, 2):
                with pytest.raises(LogLost):
                    await anext(store.read("s", after))
            with pytest.raises(LogLost):
                await anext(waiting)

    asyncio.run(main())


def test_a_full_redis_refuses(url: str, redis_server: RedisServer) -> None:
    async def main() -> None:
        async with opened(url) as store:
            await store.acquire("s", "p", lease=60, meta=b"")
            assert redis_server.ask("CONFIG SET maxmemory 1") == b"+OK\r\n"
            try:
                with pytest.raises(StoreFull) as caught:
                    await store.append("s", "p", [b"x" * 1000])
                assert caught.value.bound == "memory"
            finally:
                redis_server.ask("CONFIG SET maxmemory 0")
            assert await store.append("s", "p", [b"x"]) == 1

    asyncio.run(main())
