"""What only Redis can do to us: take a command and lose the answer, go away, forget."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from redis.exceptions import ConnectionError

from jsonrill.store import LogGap, Store, StoreFull, StoreUnavailable, open_store
from jsonrill.store.redis import RedisStore
from support import SLACK
from support.redis_server import RedisServer

from .conftest import opened


class LosesAnswers:
    """A script or command that is run, and whose first answers never arrive."""

    def __init__(self, real: Any, times: int = 1) -> None:
        self.real = real
        self.left = times

    async def __call__(self, *arguments: Any, **named: Any) -> Any:
        answer = await self.real(*arguments, **named)
        if self.left:
            self.left -= 1
            raise ConnectionError("lost")
        return answer


@pytest.fixture
def url(redis_server: RedisServer) -> str:
    redis_server.empty()
    return redis_server.url


async def entries(store: Store) -> list[bytes]:
    return [entry.data async for batch in store.read("s") for entry in batch]


def test_a_lost_answer_adds_nothing_twice(url: str) -> None:
    async def main() -> None:
        async with opened(url) as store:
            assert isinstance(store, RedisStore)
            await store.acquire("s", "p", lease=60, meta=b"")
            store._append = LosesAnswers(store._append, 2)  # type: ignore[assignment]
            assert await store.append("s", "p", [b"1", b"2"]) == 2
            assert await store.append("s", "p", [b"3"]) == 3
            store._finalize = LosesAnswers(store._finalize)  # type: ignore[assignment]
            await store.finalize("s", b"end")
            assert await entries(store) == [b"1", b"2", b"3", b"end"]
            store._client.set = LosesAnswers(store._client.set)  # type: ignore[method-assign]
            assert await store.once("token", 5) is True
            assert await store.once("token", 5) is False

    asyncio.run(main())


def test_a_redis_that_is_away_is_unavailable_after_a_while(tmp_path: Any) -> None:
    async def main(server: RedisServer) -> None:
        store = RedisStore(server.url, patience=0.3)
        await store.open()
        await store.acquire("s", "p", lease=60, meta=b"")
        await store.append("s", "p", [b"1"])
        reading = store.read("s")
        assert [entry.data for entry in await anext(reading)] == [b"1"]
        await asyncio.to_thread(server.end, 9)
        with pytest.raises(StoreUnavailable):
            await store.append("s", "p", [b"2"])
        async with asyncio.timeout(20 * SLACK):
            while not await anext(reading):  # empty batches: the wait goes on
                if server.process is not None and server.process.poll() is not None:
                    await asyncio.to_thread(server.start)
                    await store.append("s", "p", [b"2"], first=2)
        await store.close()

    with RedisServer(tmp_path, aof=True) as server:
        asyncio.run(main(server))


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


@pytest.mark.parametrize(
    "url", ["", "memory:x", "sqlite:", "sqlite://", "sqlite:///", "redis:", "ftp://x"]
)
def test_what_is_no_store(url: str) -> None:
    with pytest.raises(ValueError):
        open_store(url)
