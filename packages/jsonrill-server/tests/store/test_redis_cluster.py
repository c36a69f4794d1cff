"""What only a cluster can do to us: lose a node, move a slot, delete what the list still has."""

from __future__ import annotations

import asyncio
import gc
import random
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from redis.exceptions import ConnectionError

from jsonrill_server.store import (
    LogLost,
    Store,
    StoreError,
    StoreFull,
    StoreUnavailable,
    StreamTaken,
    Turn,
    TurnRefused,
    UnknownStream,
)
from jsonrill_server.store.redis import RedisStore
from support import SLACK, few
from support.redis_cluster import RedisCluster
from support.stores import StoreServers

from .conftest import opened

# When a node is away, redis-py leaves connections to the others to the collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:unclosed transport:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:unclosed Connection:ResourceWarning"),
]


@pytest.fixture
def cluster(store_servers: StoreServers) -> RedisCluster:
    running: RedisCluster = store_servers["redis+cluster"]
    running.empty()
    return running


@pytest.fixture
def url(cluster: RedisCluster) -> str:
    return cluster.url


@pytest.fixture(scope="module")
def another(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisCluster]:
    with RedisCluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture
def victim(another: RedisCluster) -> Iterator[RedisCluster]:
    """A cluster whose nodes are killed and whose slots are moved."""
    another.start()
    another.empty()
    yield another
    gc.collect()  # see `pytestmark`


async def entries(store: Store, stream: str = "s") -> list[bytes]:
    reading = store.read(stream, retry_for=20.0 * SLACK)
    return [entry.data async for batch in reading for entry in batch]


class LosesAnswers:
    """A script that is run, and whose first answers never arrive."""

    def __init__(self, real: Any, times: int = 1) -> None:
        self.real = real
        self.left = times

    async def __call__(self, *arguments: Any, **named: Any) -> Any:
        answer = await self.real(*arguments, **named)
        if self.left:
            self.left -= 1
            raise ConnectionError("lost")
        return answer


class Never:
    """A script that cannot be run."""

    async def __call__(self, *arguments: Any, **named: Any) -> Any:
        raise ConnectionError("down")


def test_a_stream_is_on_one_node_and_streams_are_on_all(url: str, cluster: RedisCluster) -> None:
    async def main() -> None:
        async with opened(url) as store:
            for at in range(60):
                await store.acquire(f"s{at}", "p", lease=60, meta=b"")
                await store.append(f"s{at}", "p", [b"1"])

    asyncio.run(main())
    found: Counter[int] = Counter()
    for node in cluster.nodes:
        keys = {line for line in node.ask("KEYS *:s*:*").decode().split() if line[0] == "j"}
        streams = {key.rpartition(":")[0] for key in keys}
        assert keys == {f"{stream}:{part}" for stream in streams for part in ("head", "log")}
        found[node.port] = len(streams)
    assert sum(found.values()) == 60 and min(found.values()) > 5, found


def test_a_lost_answer_makes_and_adds_nothing_twice(url: str) -> None:
    async def main() -> None:
        async with opened(url, owner_streams=1) as store:
            assert isinstance(store, RedisStore)
            for name in ("_run_find", "_run_swap", "_run_drop"):
                setattr(store, name, LosesAnswers(getattr(store, name), 2))
            assert (await store.acquire("s", "p", lease=60, meta=b"m")).meta == b"m"
            with pytest.raises(StreamTaken):
                await store.acquire("s", "p", lease=60, meta=b"m")
            names = [b"%d" % at for at in range(20)]
            await asyncio.gather(*(store.append("s", "p", [name]) for name in names))
            await store.finalize("s", b"end")
            assert sorted((await entries(store))[:-1]) == sorted(names)

    asyncio.run(main())


@few(1)
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_node_that_restarts_loses_nothing(victim: RedisCluster, how: int) -> None:
    async def main() -> None:
        store = RedisStore(victim.url, retry_for=0.5)
        await store.open()
        names = [f"s{at}" for at in range(12)]
        for name in names:
            await store.acquire(name, "p", lease=60, meta=b"")
            await store.append(name, "p", [b"1"])
        readers = {name: asyncio.create_task(entries(store, name)) for name in names}
        await asyncio.sleep(0.3)
        await asyncio.to_thread(victim.nodes[1].end, how)
        away = 0
        for name in names:
            try:
                await store.append(name, "p", [b"2"], turn=Turn("p", 0, 0))
            except StoreUnavailable:
                away += 1
        assert away > 0
        await asyncio.to_thread(victim.start)
        for name in names:
            async with asyncio.timeout(20 * SLACK):
                while True:
                    try:
                        with suppress(TurnRefused):  # it was written the first time
                            await store.append(name, "p", [b"2"], turn=Turn("p", 0, 0))
                        await store.finalize(name, b"end")
                        break
                    except StoreUnavailable:
                        pass
        for reader in readers.values():
            async with asyncio.timeout(10 * SLACK):
                assert await reader == [b"1", b"2", b"end"]
        await store.close()

    asyncio.run(main())


def test_a_slot_moves_while_it_is_written_to(victim: RedisCluster) -> None:
    async def main() -> None:
        async with opened(victim.url) as store:
            assert isinstance(store, RedisStore)
            await store.acquire("s", "p", lease=60, meta=b"")
            reader = asyncio.create_task(entries(store))
            moving = asyncio.create_task(asyncio.to_thread(_move, victim, store._keys("s", "")[0]))
            for at in range(200):
                await store.append("s", "p", [b"%d" % at])
                await asyncio.sleep(0.005)
            await moving
            await store.append("s", "p", [b"200"])
            await store.finalize("s", b"end")
            assert await reader == [*(b"%d" % at for at in range(201)), b"end"]

    asyncio.run(main())


def _move(cluster: RedisCluster, key: str) -> None:
    """Give the slot of a key to the next node, with all keys in it."""
    slot = int(cluster.nodes[0].ask(f"CLUSTER KEYSLOT {key}")[1:])
    source = cluster.node_of(key)
    target = cluster.nodes[(cluster.nodes.index(source) + 1) % len(cluster.nodes)]
    source_id, target_id = (
        node.ask("CLUSTER MYID").split(b"\r\n")[1].decode() for node in (source, target)
    )
    assert target.ask(f"CLUSTER SETSLOT {slot} IMPORTING {source_id}") == b"+OK\r\n"
    assert source.ask(f"CLUSTER SETSLOT {slot} MIGRATING {target_id}") == b"+OK\r\n"
    while True:
        keys = [
            line.decode()
            for line in source.ask(f"CLUSTER GETKEYSINSLOT {slot} 100").split(b"\r\n")
            if line.startswith(b"jsonrill")
        ]
        if not keys:
            break
        names = " ".join(keys)
        source.ask(f'MIGRATE 127.0.0.1 {target.port} "" 0 1000 KEYS {names}')
    for node in (target, source, *cluster.nodes):
        assert node.ask(f"CLUSTER SETSLOT {slot} NODE {target_id}") == b"+OK\r\n"


def test_a_stream_that_has_a_producer_never_makes_room_and_one_that_is_gone_does(
    url: str, cluster: RedisCluster
) -> None:
    """Also if Redis deleted it, of which the list is not told."""

    async def main() -> None:
        async with opened(url, total_streams=3) as store:
            assert isinstance(store, RedisStore)
            for name in ("live", "gone", "ended"):
                await store.acquire(name, "p", lease=0.3, meta=b"")
            await store.acquire("live", "p", lease=60)
            for key in store._keys("gone", "")[:2]:
                cluster.ask(key, f"DEL {key}")
            await store.finalize("ended", b"")
            await asyncio.sleep(0.4)
            for name in ("a", "b"):
                await store.acquire(name, "p", lease=60, meta=b"")
            assert (await store.status("live")).producer == "p"
            with pytest.raises(UnknownStream):
                await store.status("ended")
            with pytest.raises(StoreFull) as caught:
                await store.acquire("c", "p", lease=60, meta=b"")
            assert caught.value.bound == "total_streams"

    asyncio.run(main())


def test_bounds_hold_when_many_create_and_append_at_once(url: str) -> None:
    async def main() -> None:
        bounds = {"owner_streams": 7, "total_streams": 10, "total_bytes": 150_000}
        async with opened(url, **bounds) as one, opened(url, **bounds) as two:

            async def create(at: int) -> str:
                store = (one, two)[at % 2]
                try:
                    await store.acquire(f"s{at}", "p", lease=60, owner=f"o{at % 3}", meta=b"")
                    for _ in range(10):
                        await store.append(f"s{at}", "p", [b"x" * 1000])
                except StoreFull as full:
                    return full.bound
                return ""

            outcomes = Counter(await asyncio.gather(*(create(at) for at in range(40))))
            # One that is refused has held a place for a moment.
            bounds_met = {"total_streams", "owner_streams"}
            assert 7 <= outcomes[""] + outcomes["total_bytes"] <= 10, outcomes
            assert set(outcomes) <= {"", "total_bytes", *bounds_met}, outcomes

    asyncio.run(main())


def test_the_list_is_never_behind_the_streams(url: str, cluster: RedisCluster) -> None:
    """Whatever happens at once: what is reserved is at least what streams take."""

    async def main() -> None:
        bounds = {"owner_streams": 1000, "total_streams": 25, "total_bytes": 400_000}
        async with opened(url, **bounds) as one, opened(url, **bounds) as two:
            chance = random.Random(3)

            async def live(at: int) -> None:
                store, name = (one, two)[at % 2], f"s{at}"
                try:
                    await store.acquire(name, "p", lease=0.2, owner=f"o{at % 3}", meta=b"")
                    for _ in range(at % 7):
                        await store.append(name, "p", [b"x" * chance.randint(1, 3000)])
                    if at % 4 == 0:
                        await store.delete(name)
                    elif at % 4 < 3:
                        await store.finalize(name, b"end")
                except (StoreFull, UnknownStream):
                    pass

            for round in range(3):
                await asyncio.gather(*(live(at) for at in range(round * 40, round * 40 + 40)))
            assert isinstance(one, RedisStore)
            client, booked = one._client, {}
            for part in one._parts:
                sizes = await client.hgetall(f"{part}:sizes")
                names = {
                    name[1:].decode(): size for name, size in sizes.items() if name[:1] == b"="
                }
                its = {name: int(size.split()[0]) for name, size in names.items()}
                assert int(sizes.get(b"", 0)) == sum(its.values())
                owners = [int(size) for name, size in sizes.items() if name[:1] == b"@"]
                assert sum(owners) == sum(its.values())
                assert {n.decode() for n in await client.zrange(f"{part}:ends", 0, -1)} == set(its)
                booked.update(its)
            for at in range(120):
                found = await one._find(f"s{at}", 0, 0)
                if found.head is not None:
                    assert booked[f"s{at}"] >= found.head.cost

    asyncio.run(main())


def test_an_evicted_log_is_lost(url: str, cluster: RedisCluster) -> None:
    async def main() -> None:
        async with opened(url) as store:
            assert isinstance(store, RedisStore)
            await store.acquire("s", "p", lease=60, meta=b"")
            await store.append("s", "p", [b"1", b"2", b"3"])
            key = store._keys("s", "")[1]
            cluster.ask(key, f"DEL {key}")
            with pytest.raises(LogLost):
                await entries(store)
            with pytest.raises(LogLost):
                await store.append("s", "p", [b"4"])

    asyncio.run(main())


def test_who_writes_the_url_of_the_other_kind_is_told(url: str, tmp_path: Path) -> None:
    async def main() -> None:
        alone = RedisStore(url.replace("+cluster", ""), retry_for=0.5)
        with pytest.raises(StoreError, match=r"write redis\+cluster://"):
            await alone.open()
        await alone.close()

    asyncio.run(main())


def test_a_cluster_that_is_not_there_is_unavailable() -> None:
    async def main() -> None:
        store = RedisStore("redis+cluster://127.0.0.1:1", retry_for=0.5)
        with pytest.raises(StoreUnavailable):
            await store.open()
        await store.close()

    asyncio.run(main())
