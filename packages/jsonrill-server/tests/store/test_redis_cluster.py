"""What only a cluster can do to us: lose a node, move a slot, delete what the list still has."""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from jsonrill_server.store import (
    Store,
    StoreError,
    StoreFull,
    UnknownStream,
)
from jsonrill_server.store.redis import RedisStore
from support import SLACK, hard
from support.databases import RedisCluster
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


def test_a_stream_is_on_one_node_and_streams_are_on_all(url: str, cluster: RedisCluster) -> None:
    async def main() -> None:
        async with opened(url) as store:
            for at in range(60):
                await store.acquire(f"s{at}", "p", lease=60, meta=b"")
                await store.append(f"s{at}", "p", [b"1"])

    asyncio.run(main())
    counts: Counter[int] = Counter()
    for node in cluster.nodes:
        keys = {line for line in node.ask("KEYS *:s*:*").decode().split() if line[0] == "j"}
        streams = {key.rpartition(":")[0] for key in keys}
        assert keys == {f"{stream}:{part}" for stream in streams for part in ("head", "log")}
        counts[node.port] = len(streams)
    assert sum(counts.values()) == 60 and min(counts.values()) > 5, counts


@hard
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


def test_who_writes_the_url_of_the_other_kind_is_told(url: str, tmp_path: Path) -> None:
    async def main() -> None:
        alone = RedisStore(url.replace("+cluster", ""), retry_for=0.5)
        with pytest.raises(StoreError, match=r"write redis\+cluster://"):
            await alone.open()
        await alone.close()

    asyncio.run(main())
