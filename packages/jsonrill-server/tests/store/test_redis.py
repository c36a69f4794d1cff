"""What only Redis can do to us: take a command and lose the answer, go away, forget."""

from __future__ import annotations

import asyncio
import signal
from typing import Any

import pytest
from redis.exceptions import ConnectionError

from jsonrill_server.store import (
    LogGap,
    LogLost,
    Store,
    StoreError,
    StoreFull,
    StoreUnavailable,
    StreamTaken,
    Turn,
    TurnRefused,
    open_store,
)
from jsonrill_server.store.redis import RedisStore
from support import SLACK, few
from support.redis_server import RedisServer

from .conftest import opened


class LosesAnswers:
    """A script or command that is run, and whose first answers never arrive."""

    def __init__(self, real: Any, times: int = 1, error: type[Exception] = ConnectionError) -> None:
        self.real = real
        self.left = times
        self.error = error

    async def __call__(self, *arguments: Any, **named: Any) -> Any:
        answer = await self.real(*arguments, **named)
        if self.left:
            self.left -= 1
            raise self.error("lost")
        return answer


@pytest.fixture
def url(redis_server: RedisServer) -> str:
    redis_server.empty()
    return redis_server.url


async def entries(store: Store) -> list[bytes]:
    return [entry.data async for batch in store.read("s") for entry in batch]


def test_keys_of_another_version_are_refused(url: str, redis_server: RedisServer) -> None:
    async def main() -> None:
        async with opened(url) as store:
            await store.acquire("s", "p", lease=60, meta=b"")
            assert isinstance(store, RedisStore)
            client = store._client
            assert await client.get("jsonrill:version") == b"2"
            async with opened(url) as other:
                assert (await other.status("s")).producer == "p"
            await client.set("jsonrill:version", 1)  # as 0.2 left it
            refused = open_store(url)
            with pytest.raises(StoreError, match="another version of jsonrill"):
                await refused.open()
            await refused.close()

    asyncio.run(main())


@pytest.mark.parametrize("error", [ConnectionError, OSError, RuntimeError, AttributeError])
def test_a_lost_answer_adds_nothing_twice(url: str, error: type[Exception]) -> None:
    """Whatever the client of Redis raises; with uvloop a closed connection is a RuntimeError."""

    async def main() -> None:
        async with opened(url) as store:
            assert isinstance(store, RedisStore)
            await store.acquire("s", "p", lease=60, meta=b"")
            store._run_swap = LosesAnswers(store._run_swap, 2, error)  # type: ignore[assignment]
            assert await store.append("s", "p", [b"1", b"2"]) == 2
            assert await store.append("s", "p", [b"3"]) == 3
            store._run_swap = LosesAnswers(store._run_swap)  # type: ignore[assignment]
            await store.finalize("s", b"end")
            assert await entries(store) == [b"1", b"2", b"3", b"end"]
            store._client.set = LosesAnswers(store._client.set)  # type: ignore[method-assign]
            assert await store.once("token", 5) is True
            assert await store.once("token", 5) is False

    asyncio.run(main())


def test_a_redis_that_is_away_is_unavailable_after_a_while(tmp_path: Any) -> None:
    async def main(server: RedisServer) -> None:
        store = RedisStore(server.url, retry_for=0.3)
        await store.open()
        await store.acquire("s", "p", lease=60, meta=b"")
        await store.append("s", "p", [b"1"])
        reading = store.read("s")
        assert [entry.data for entry in await anext(reading)] == [b"1"]
        waiting = asyncio.ensure_future(anext(reading))
        await asyncio.to_thread(server.end, 9)
        with pytest.raises(StoreUnavailable):
            await store.append("s", "p", [b"2"], turn=Turn("p", 0, 0))
        assert not waiting.done()
        await asyncio.to_thread(server.start)
        await store.append("s", "p", [b"2"], turn=Turn("p", 0, 0))
        async with asyncio.timeout(5 * SLACK):
            assert [entry.data for entry in await waiting] == [b"2"]
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


def test_concurrent_appends_whose_answers_are_lost_add_once(url: str) -> None:
    """Un-numbered ones too, also if others were written between the two tries."""

    async def main() -> None:
        async with opened(url) as store:
            assert isinstance(store, RedisStore)
            await store.acquire("s", "p", lease=60, meta=b"")
            store._run_swap = LosesAnswers(store._run_swap, 20)  # type: ignore[assignment]
            names = [b"%d" % at for at in range(20)]
            await asyncio.gather(*(store.append("s", "p", [name]) for name in names))
            await store.finalize("s", b"end")
            assert sorted((await entries(store))[:-1]) == sorted(names)

    asyncio.run(main())


def test_a_stream_is_made_once_though_the_answer_is_lost(url: str) -> None:
    """A lost answer leaves no stream behind that nobody knows and that takes a place."""

    async def main() -> None:
        async with opened(url, owner_streams=1) as store:
            assert isinstance(store, RedisStore)
            store._run_swap = LosesAnswers(store._run_swap)  # type: ignore[assignment]
            assert (await store.acquire("s", "p", lease=60, meta=b"m")).meta == b"m"
            with pytest.raises(StreamTaken):
                await store.acquire("s", "p", lease=60, meta=b"m")

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
            redis_server.ask("DEL jsonrill:{0}:s:log")
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


def test_a_trimmed_log_is_lost(url: str, redis_server: RedisServer) -> None:
    async def main() -> None:
        async with opened(url) as store:
            await filled(store)
            redis_server.ask("XTRIM jsonrill:{0}:s:log MAXLEN 1")
            with pytest.raises(LogLost):
                await anext(store.read("s"))

    asyncio.run(main())


def test_a_log_that_was_rolled_back_and_written_again_is_lost(
    url: str, redis_server: RedisServer
) -> None:
    """As after a fail-over to a replica that lagged: those who read the old records are told."""

    async def main() -> None:
        async with opened(url) as store:
            await filled(store)
            old = await store.status("s")
            for key in ("head", "log"):
                redis_server.ask(f"COPY jsonrill:{{0}}:s:{key} kept:{key}")
            await store.append("s", "p", [b"4", b"5"])
            live = store.read("s")
            assert len(await anext(live)) == 5
            mark = (await store.status("s")).mark
            for key in ("head", "log"):
                redis_server.ask(f"COPY kept:{key} jsonrill:{{0}}:s:{key} REPLACE")
            await store.append("s", "p", [b"other", b"5"])
            await store.append("s", "p", [b"6"])
            with pytest.raises(LogLost):
                await anext(live)
            with pytest.raises(LogLost):
                await anext(store.read("s", 5, mark))
            # Who had read no more than what was kept notices nothing.
            batch = await anext(store.read("s", 3, old.mark))
            assert [entry.data for entry in batch] == [b"other", b"5", b"6"]

    asyncio.run(main())


def test_the_same_records_written_again_are_the_same_log(
    url: str, redis_server: RedisServer
) -> None:
    """A producer that numbers its appends repeats what was rolled back; nobody is disturbed."""

    async def main() -> None:
        async with opened(url) as store:
            await filled(store)
            for key in ("head", "log"):
                redis_server.ask(f"COPY jsonrill:{{0}}:s:{key} kept:{key}")
            await store.append("s", "p", [b"4"], turn=Turn("p", 0, 0))
            mark = (await store.status("s")).mark
            for key in ("head", "log"):
                redis_server.ask(f"COPY kept:{key} jsonrill:{{0}}:s:{key} REPLACE")
            with pytest.raises(TurnRefused) as caught:
                await store.append("s", "p", [b"5"], turn=Turn("p", 0, 1))
            assert caught.value.seq == -1
            for seq, record in enumerate((b"4", b"5")):
                await store.append("s", "p", [record], turn=Turn("p", 0, seq))
            assert [entry.data for entry in await anext(store.read("s", 4, mark))] == [b"5"]

    asyncio.run(main())


@few(1)
@pytest.mark.parametrize("pause", ["stopped", "refuses writes"])
def test_leases_count_from_the_return_of_redis(tmp_path: Any, pause: str) -> None:
    """A producer that could not renew its lease for 3 s is not lost when it can again."""

    async def main(server: RedisServer) -> None:
        store, other = RedisStore(server.url), RedisStore(server.url)
        await store.open()
        await other.open()
        await store.acquire("s", "p", lease=1.5, meta=b"")
        await asyncio.sleep(0.7)
        assert server.process is not None
        if pause == "stopped":
            server.process.send_signal(signal.SIGSTOP)
        else:
            server.ask("CONFIG SET min-replicas-to-write 1")
        ending = asyncio.ensure_future(_end_if_lost(other))
        await asyncio.sleep(3)
        if pause == "stopped":
            server.process.send_signal(signal.SIGCONT)
        else:
            server.ask("CONFIG SET min-replicas-to-write 0")
        assert await ending is False
        with pytest.raises(StreamTaken):
            await other.acquire("s", "q", lease=1)
        await store.acquire("s", "p", lease=1.0)
        assert not (await other.status("s")).lost
        # Without a pause a lease runs out as ever.
        await asyncio.sleep(2.2)
        assert await other.finalize("s", b"lost", only_if_lost=True)
        await store.close()
        await other.close()

    with RedisServer(tmp_path) as server:
        asyncio.run(main(server))


async def _end_if_lost(store: RedisStore) -> bool:
    while True:
        try:
            return await store.finalize("s", b"lost", only_if_lost=True)
        except StoreUnavailable:
            continue


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
