"""What can happen to a store that has a server: one text for every kind.

Answers are lost, the server restarts or halts, records are lost or rolled back, many come at once.
What only one kind can do is in the file of that kind.
"""

from __future__ import annotations

import asyncio
import gc
import re
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import metadata
from pathlib import Path
from typing import Any

import pytest

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
    open_store,
)
from support import SLACK, few, hard
from support.databases import RedisServer
from support.stores import SERVED, StoreServers, new_server

from .conftest import opened
from .trouble import trouble_of

# When a node is away, redis-py leaves connections to the others to the collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:unclosed transport:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:unclosed Connection:ResourceWarning"),
]
served = pytest.mark.parametrize("kind", SERVED)
with_a_file = pytest.mark.parametrize("kind", (*SERVED, "sqlite"))
NAMES = [f"s{at}" for at in range(12)]


@pytest.fixture
def url(kind: str, store_servers: StoreServers, tmp_path: Path) -> str:
    return store_servers.url(kind, tmp_path)


@pytest.fixture
def trouble(kind: str, store_servers: StoreServers, tmp_path: Path) -> Any:
    return trouble_of(kind, store_servers[kind], tmp_path)


@pytest.fixture(scope="module")
def victims(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    running: dict[str, Any] = {}
    yield running
    for server in running.values():
        server.__exit__(None, None, None)


@pytest.fixture
def victim(
    kind: str, victims: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    """A server that is killed and halted, started once for all tests of a kind."""
    if kind not in victims:
        victims[kind] = new_server(kind, tmp_path_factory.mktemp("victim"))
        victims[kind].start()
    victims[kind].empty()
    yield victims[kind]
    gc.collect()  # see `pytestmark`


def patient(url: str, retry_for: float) -> Store:
    """A store that gives up after so many seconds."""
    store = open_store(url)
    store.retry_for = retry_for
    return store


async def entries(store: Store, stream: str = "s") -> list[bytes]:
    reading = store.read(stream, retry_for=20.0 * SLACK)
    return [entry.data async for batch in reading for entry in batch]


async def filled(store: Store) -> None:
    await store.acquire("s", "p", lease=60, meta=b"")
    await store.append("s", "p", [b"1", b"2", b"3"])


@served
def test_a_lost_answer_makes_and_adds_nothing_twice(url: str, trouble: Any) -> None:
    """Un-numbered appends, too, also if others were written between the two tries."""

    async def main() -> None:
        async with opened(url, owner_streams=1) as store:
            trouble.lose_answers(store, 1)
            assert (await store.acquire("s", "p", lease=60, meta=b"m")).meta == b"m"
            with pytest.raises(StreamTaken):
                await store.acquire("s", "p", lease=60, meta=b"m")
            trouble.lose_answers(store, 2)
            assert await store.append("s", "p", [b"1", b"2"]) == 2
            trouble.lose_answers(store, 20)
            names = [b"%d" % at for at in range(20)]
            await asyncio.gather(*(store.append("s", "p", [name]) for name in names))
            trouble.lose_answers(store, 1)
            await store.finalize("s", b"end")
            first, second, *written, last = await entries(store)
            assert [first, second, last] == [b"1", b"2", b"end"]
            assert sorted(written) == sorted(names)

    asyncio.run(main())


@few(1)
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
@served
def test_a_restart_is_unavailable_for_a_while_and_loses_nothing(victim: Any, how: int) -> None:
    async def main() -> None:
        store = patient(victim.url, 0.5)
        await store.open()
        for name in NAMES:
            await store.acquire(name, "p", lease=600, meta=b"")
            await store.append(name, "p", [b"1"])
        readers = {name: asyncio.create_task(entries(store, name)) for name in NAMES}
        await asyncio.to_thread(victim.end, how)

        async def write(name: str) -> bool:
            try:
                with suppress(TurnRefused):  # it was written the first time
                    await store.append(name, "p", [b"2"], turn=Turn("p", 0, 0))
                await store.finalize(name, b"end")
            except StoreUnavailable:
                return False
            return True

        written = await asyncio.gather(*map(write, NAMES))
        left = [name for name, done in zip(NAMES, written, strict=True) if not done]
        assert left
        assert not any(readers[name].done() for name in left)
        await asyncio.to_thread(victim.start)
        async with asyncio.timeout(30 * SLACK):
            for name in left:
                while not await write(name):
                    pass
            for reader in readers.values():
                assert await reader == [b"1", b"2", b"end"]
        await store.close()

    asyncio.run(main())


@hard
@served
def test_a_halted_server_is_unavailable_and_blocks_nothing_else(victim: Any) -> None:
    """When it goes on, what was under way is there once."""

    async def main() -> None:
        store = patient(victim.url, 1.0)
        await store.open()
        await store.acquire("s", "p", lease=600, meta=b"")
        victim.send(signal.SIGSTOP)
        try:
            turns = 0
            adding = asyncio.create_task(store.append("s", "p", [b"1"], turn=Turn("p", 0, 0)))
            while not adding.done():
                await asyncio.sleep(0.01)
                turns += 1
            with pytest.raises(StoreUnavailable):
                await adding
            assert turns > 2
            store.retry_for = 30 * SLACK
            waiting = [
                asyncio.create_task(store.append("s", "p", [b"%d" % at])) for at in range(2, 30)
            ]
            await asyncio.sleep(0.2)
            assert not any(task.done() for task in waiting)
        finally:
            victim.send(signal.SIGCONT)
        await asyncio.gather(*waiting)
        with suppress(TurnRefused):  # the server may have read the first one before it went on
            await store.append("s", "p", [b"1"], turn=Turn("p", 0, 0))
        await store.finalize("s", b"end")
        assert sorted(int(data) for data in (await entries(store))[:-1]) == list(range(1, 30))
        await store.close()

    asyncio.run(main())


@hard
@pytest.mark.parametrize(
    "kind, pause",
    [
        ("redis", "halted"),
        pytest.param("redis", "refuses writes", marks=hard),
        ("postgresql", "halted"),
    ],
)
def test_leases_count_from_the_return_of_the_server(victim: Any, pause: str) -> None:
    """A producer that could not renew its lease for as long is not lost when it can again."""

    def halt(begins: bool) -> None:
        if pause == "halted":
            victim.send(signal.SIGSTOP if begins else signal.SIGCONT)
        else:
            assert isinstance(victim, RedisServer)
            victim.ask(f"CONFIG SET min-replicas-to-write {int(begins)}")

    async def end_if_lost(store: Store) -> bool:
        while True:
            try:
                return await store.finalize("s", b"lost", only_if_lost=True)
            except StoreUnavailable:
                continue

    async def main() -> None:
        async with opened(victim.url) as store, opened(victim.url) as other:
            await store.acquire("s", "p", lease=2.0, meta=b"")
            await asyncio.sleep(0.5)
            halt(True)
            ending = asyncio.ensure_future(end_if_lost(other))
            await asyncio.sleep(3)
            halt(False)
            assert await ending is False
            with pytest.raises(StreamTaken):
                await other.acquire("s", "q", lease=1)
            await store.acquire("s", "p", lease=1.0)
            # Without a pause a lease runs out as ever.
            async with asyncio.timeout(20 * SLACK):
                while not await other.finalize("s", b"lost", only_if_lost=True):
                    await asyncio.sleep(0.1)

    asyncio.run(main())


@few(1)
@served
def test_bounds_hold_when_many_create_at_once(url: str) -> None:
    async def main() -> None:
        bounds = {"owner_streams": 7, "total_streams": 10}
        async with opened(url, **bounds) as one, opened(url, **bounds) as two:

            async def create(at: int) -> str:
                store = (one, two)[at % 2]
                try:
                    await store.acquire(f"s{at}", "p", lease=600, owner=f"o{at % 3}", meta=b"")
                except StoreFull as full:
                    return full.bound
                return ""

            outcomes = Counter(await asyncio.gather(*(create(at) for at in range(40))))
            # One that is refused has held a place for a moment.
            assert 7 <= outcomes[""] <= 10, outcomes
            assert set(outcomes) <= {"", "total_streams", "owner_streams"}, outcomes

    asyncio.run(main())


@hard
@served
def test_the_list_has_every_stream(url: str, trouble: Any) -> None:
    """After creating, appending, closing, deleting and evicting at once."""

    async def main() -> None:
        bounds = {"owner_streams": 1000, "total_streams": 25}
        async with opened(url, **bounds) as one, opened(url, **bounds) as two:

            async def live(at: int) -> None:
                store, name = (one, two)[at % 2], f"s{at}"
                try:
                    await store.acquire(name, "p", lease=0.2, owner=f"o{at % 3}", meta=b"")
                    for _ in range(at % 7):
                        await store.append(name, "p", [b"x" * (at * 97 % 3000)])
                    if at % 4 == 0:
                        await store.delete(name)
                    elif at % 4 < 3:
                        await store.finalize(name, b"end")
                except (StoreFull, UnknownStream):
                    pass

            for first in (0, 40, 80):
                await asyncio.gather(*(live(at) for at in range(first, first + 40)))
            await trouble.check_list(one, [f"s{at}" for at in range(120)])

    asyncio.run(main())


@few(4)
@pytest.mark.parametrize("lost", [1, 2])
@with_a_file
def test_a_lost_record_is_noticed(url: str, trouble: Any, lost: int) -> None:
    async def main() -> None:
        async with opened(url) as store:
            await filled(store)
            trouble.lose_a_record(store, lost)
            with pytest.raises(LogLost):
                await entries(store)

    asyncio.run(main())


@served
def test_a_log_that_was_rolled_back_and_written_again_is_lost(url: str, trouble: Any) -> None:
    """As after a fail-over to a replica that lagged: those who read the old records are told."""

    async def main() -> None:
        async with opened(url) as store:
            await filled(store)
            old = await store.status("s")
            trouble.keep(store)
            await store.append("s", "p", [b"4", b"5"])
            live = store.read("s")
            assert len(await anext(live)) == 5
            mark = (await store.status("s")).mark
            trouble.roll_back(store)
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


@served
def test_the_same_records_written_again_are_the_same_log(url: str, trouble: Any) -> None:
    """A producer that numbers its appends repeats what was rolled back; nobody is disturbed."""

    async def main() -> None:
        async with opened(url) as store:
            await filled(store)
            trouble.keep(store)
            await store.append("s", "p", [b"4"], turn=Turn("p", 0, 0))
            mark = (await store.status("s")).mark
            trouble.roll_back(store)
            with pytest.raises(TurnRefused) as caught:
                await store.append("s", "p", [b"5"], turn=Turn("p", 0, 1))
            assert caught.value.seq == -1
            for seq, record in enumerate((b"4", b"5")):
                await store.append("s", "p", [record], turn=Turn("p", 0, seq))
            assert [entry.data for entry in await anext(store.read("s", 4, mark))] == [b"5"]

    asyncio.run(main())


@with_a_file
def test_data_of_another_version_are_refused(url: str, trouble: Any) -> None:
    async def main() -> None:
        async with opened(url) as store:
            await filled(store)
            async with opened(url) as other:
                assert (await other.status("s")).producer == "p"
            await trouble.make_older(store)
            refused = open_store(url)
            with pytest.raises(StoreError, match="another version of jsonrill"):
                await refused.open()
            await refused.close()

    asyncio.run(main())


@pytest.mark.parametrize("kind", SERVED)
def test_a_store_that_is_not_there_is_unavailable_and_says_why(kind: str) -> None:
    async def main() -> None:
        store = patient(f"{kind}://secret:password@127.0.0.1:1/0", 0.3)
        with pytest.raises(StoreUnavailable) as caught:
            await store.open()
        assert "password" not in str(caught.value)
        await store.close()

    asyncio.run(main())


@pytest.mark.parametrize(
    "url",
    [
        *("", "memory:x", "sqlite:", "sqlite://", "sqlite:///", "redis:", "ftp://x"),
        *("postgresql:x", "postgresql://h?no_such_option=1", "postgres:/h"),
    ],
)
def test_what_is_not_the_url_of_a_store(url: str) -> None:
    with pytest.raises(ValueError):
        open_store(url)


@pytest.mark.parametrize("kind", SERVED)
def test_a_store_without_its_driver_names_an_extra_that_exists(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("redis", "redis.asyncio", "psycopg"):
        monkeypatch.setitem(sys.modules, name, None)
    for name in ("redis", "postgres"):
        monkeypatch.delitem(sys.modules, f"jsonrill_server.store.{name}", raising=False)
    with pytest.raises(ValueError, match="pip install") as caught:
        open_store(f"{kind}://host/0")
    [extra] = re.findall(r"'jsonrill-server\[(\w+)\]'", str(caught.value))
    assert extra in (metadata("jsonrill-server").get_all("Provides-Extra") or ())
