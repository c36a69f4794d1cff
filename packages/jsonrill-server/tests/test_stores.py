"""The same tests for every store: memory, SQLite, Redis and PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

import pytest
from stores import KINDS, StoreServers

from jsonrill_server.log import (
    FORMAT,
    Fenced,
    Head,
    Lost,
    NewLog,
    Row,
    State,
    Store,
    StoreError,
    StoreFull,
    Write,
    open_store,
)
from support import SLACK

Test = Callable[[Store, Store], Coroutine[Any, Any, None]]


@pytest.fixture(scope="module")
def store_servers() -> Iterator[StoreServers]:
    """Yield the servers that stores need; each is started when a test first uses it."""
    servers = StoreServers()
    yield servers
    servers.close()


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest, store_servers: StoreServers, tmp_path: Path) -> str:
    return store_servers.url(request.param, tmp_path)


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Store]:
    store = open_store(url)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


def on_two(test: Test) -> Callable[[str], None]:
    """Run a test with two connections to the same store, as two processes have them."""

    @wraps(test)
    def run(url: str) -> None:
        async def work() -> None:
            async with opened(url) as here, opened(url) as there:
                await test(here, here if url == "memory:" else there)

        asyncio.run(work())

    del run.__wrapped__  # type: ignore[attr-defined]
    return run


async def created(store: Store, key: str = "k", lease: float = 60.0, **about: Any) -> Head:
    head = await store.create(key, NewLog("{}", **about), lease)
    assert head is not None
    return head


async def texts(store: Store, key: str = "k", after: int = 0) -> list[tuple[int, bytes]]:
    _, rows = await store.read(key, after)
    return [(row.seq, row.data) for row in rows]


@on_two
async def test_records_are_read_in_order_by_every_process(here: Store, there: Store) -> None:
    head = await created(here)
    assert (head.last, head.state, head.meta, head.size) == (0, State.OPEN, "{}", 0)
    second = await here.append("k", head, 60, [b"a", b"\xff\x00"])
    third = await here.append("k", second, 60, [b"c"])
    now, rows = await there.read("k", 0)
    assert now is not None and (now.log, now.last, now.size) == (head.log, 3, 4)
    assert (third.log, third.epoch, third.last, third.size) == (now.log, now.epoch, 3, 4)
    assert rows == [
        Row(1, head.epoch, b"a"),
        Row(2, head.epoch, b"\xff\x00"),
        Row(3, head.epoch, b"c"),
    ]
    assert await texts(there, after=2) == [(3, b"c")]
    assert (await there.read("k", 0, 2))[1] == rows[:2]
    assert await there.read("other", 0) == (None, [])


@on_two
async def test_a_repeated_append_is_recognised(here: Store, there: Store) -> None:
    head = await created(here)
    for _ in range(2):
        end = await here.append("k", head, 60, [b"a", b"b"], State.ENDING)
        assert (end.last, end.state) == (2, State.ENDING)
    assert await texts(there) == [(1, b"a"), (2, b"b")]


@on_two
async def test_a_writer_that_was_replaced_is_refused(here: Store, there: Store) -> None:
    first = await created(here)
    second = await there.claim("k", 60)
    assert second is not None and second.epoch > first.epoch and second.log == first.log
    with pytest.raises(Fenced):
        await here.append("k", first, 60, [b"late"])
    assert await here.claim("k", 60, epoch=first.epoch) is None
    await there.append("k", second, 60, [b"a"])
    assert await texts(here) == [(1, b"a")]


@on_two
async def test_a_write_renews_the_lease(here: Store, there: Store) -> None:
    head = await created(here, lease=60)
    assert 50 < head.left <= 60
    await here.append("k", head, 0.05)
    await asyncio.sleep(0.1)
    now, _ = await there.read("k", 0)
    assert now is not None and now.left < 0
    claimed = await there.claim("k", 60, epoch=head.epoch)
    assert claimed is not None and 50 < claimed.left <= 60


@on_two
async def test_a_log_may_be_claimed_and_ended_in_one_write(here: Store, there: Store) -> None:
    head = await created(here)
    end = Write(head, 60, [b"end"], State.ENDING, head.epoch + 1)
    now = await here.append("k", head, 60, [b"a"])
    assert await there.try_write("k", end) is None  # it would be the second record
    ended = await there.try_write("k", replace(end, head=now))
    assert ended is not None and (ended.last, ended.state) == (2, State.ENDING)
    assert (await here.read("k", 1))[1] == [Row(2, head.epoch + 1, b"end")]
    with pytest.raises(Fenced):
        await here.append("k", now, 60, [b"late"])


@on_two
async def test_of_many_claims_one_succeeds(here: Store, there: Store) -> None:
    epoch = (await created(here)).epoch
    claims = [store.claim("k", 60, epoch=epoch) for store in (here, there) * 5]
    heads = await asyncio.gather(*claims)
    assert len([head for head in heads if head is not None]) == 1


@on_two
async def test_creating_a_log_twice_gives_the_same_one(here: Store, there: Store) -> None:
    new = NewLog("meta")
    first = await here.create("k", new, 60)
    second = await there.create("k", new, 60)
    assert first and second and (first.log, first.epoch) == (second.log, second.epoch)
    assert await there.create("k", NewLog("meta", replaces="another"), 60) is None


@on_two
async def test_an_ended_log_takes_no_records_and_may_be_replaced(here: Store, there: Store) -> None:
    head = await created(here)
    old = await here.append("k", head, 60, [b"a"], State.ENDED)
    with pytest.raises(Fenced):
        await here.append("k", replace(head, last=1), 60, [b"b"])
    assert await there.claim("k", 60) is None
    assert await there.create("k", NewLog("n"), 60) is None
    new = await there.create("k", NewLog("n", replaces=old.log), 60)
    assert new is not None and new.log != old.log and new.epoch != old.epoch
    assert await texts(here) == []
    assert await there.create("k", NewLog("n", replaces=old.log), 60) is None


@on_two
async def test_a_log_that_is_ending_is_due_until_it_has_ended(here: Store, there: Store) -> None:
    head = await created(here)
    ending = await here.append("k", head, 0.0, [b"end"], State.ENDING)
    await asyncio.sleep(0.01)
    assert await there.expire() == ["k"]
    with pytest.raises(Fenced):
        await here.append("k", replace(head, last=1), 60, [b"more"])
    assert await there.claim("k", 60) is None
    claimed = await there.claim("k", 60, state=State.ENDING, epoch=ending.epoch)
    assert claimed is not None and claimed.state == State.ENDING
    await there.append("k", claimed, 0.0, [], State.ENDED)
    assert await there.expire() == []


@on_two
async def test_an_append_after_a_record_that_is_not_there_is_refused(
    here: Store, there: Store
) -> None:
    head = await created(here)
    with pytest.raises(Lost):
        await here.append("k", replace(head, last=3), 60, [b"d"])
    await there.delete("k")
    with pytest.raises(Lost):
        await here.append("k", head, 60, [b"a"])
    assert await here.read("k", 0) == (None, [])


@on_two
async def test_an_owner_makes_room_at_its_own_expense_only(here: Store, there: Store) -> None:
    other = await created(here, "theirs", owner="other")
    await here.append("theirs", other, 0, [b"x"], State.ENDED)
    for at in range(3):
        head = await created(here, f"k{at}", owner="me", most=3)
        if at < 2:
            await here.append(f"k{at}", head, 0, [b"x"], State.ENDED)
            await asyncio.sleep(0.01)
    assert await there.create("k2", NewLog("{}", "me", most=3), 60) is None
    assert await texts(here, "k0") == [(1, b"x")]
    await created(there, "k3", owner="me", most=3)
    await created(there, "k4", owner="me", most=3)
    assert await texts(here, "k0") == await texts(here, "k1") == []
    with pytest.raises(StoreFull):
        await created(there, "k5", owner="me", most=3)
    assert await texts(here, "theirs") == [(1, b"x")]


@on_two
async def test_an_unused_log_expires(here: Store, there: Store) -> None:
    head = await created(here, "short", lease=0.0, keep=0.5)
    await here.append("short", head, 0.0, [b"x"])
    await created(here, "long", lease=0.0)
    await asyncio.sleep(0.7)
    assert await there.expire() == ["long"]
    assert await here.read("short", 0) == (None, [])


@on_two
async def test_readers_in_every_process_are_woken(here: Store, there: Store) -> None:
    head = await created(here)
    with here.signals.listen("k") as near, there.signals.listen("k") as far:
        async with asyncio.timeout(5 * SLACK):
            # Connections that announce changes may take a moment to open.
            while not (near.is_set() and far.is_set()):
                head = await here.append("k", head, 60, [b"a"])
                await asyncio.sleep(0.02)
            for signal in (near, far):
                signal.clear()
            await here.append("k", head, 60, [b"b"])
            for signal in (near, far):
                await signal.wait()
    assert not here.signals.listening


@on_two
async def test_writers_of_one_log_never_mix(here: Store, there: Store) -> None:
    """Writers that claim by force: each record follows the one its writer knew."""
    await created(here)

    async def write(store: Store, name: str) -> None:
        for number in range(10):
            while True:
                head = await store.claim("k", 60)
                assert head is not None
                try:
                    await store.append("k", head, 60, [f"{name}{number}".encode()])
                    break
                except Fenced:
                    continue

    await asyncio.gather(write(here, "a"), write(there, "b"), write(here, "c"))
    found = [data.decode() for _, data in await texts(there)]
    assert len(found) == 30
    for name in "abc":
        assert [item for item in found if item[0] == name] == [f"{name}{at}" for at in range(10)]


@on_two
async def test_a_store_says_that_it_takes_writes(here: Store, there: Store) -> None:
    await here.probe()
    await there.probe()


def test_a_store_of_another_format_is_refused_with_the_remedy(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work() -> None:
        async with opened(url):
            pass
        monkeypatch.setattr("jsonrill_server.log.FORMAT", FORMAT + 1)
        store = open_store(url)
        message = f"format {FORMAT} and not {FORMAT + 1}: (use another database|name another file)"
        with pytest.raises(StoreError, match=message):
            await store.open()
        await store.close()

    if url != "memory:":
        asyncio.run(work())


def test_a_full_redis_is_reported_and_can_be_read(
    store_servers: StoreServers, tmp_path: Path
) -> None:
    async def work() -> None:
        async with opened(store_servers.url("redis", tmp_path)) as store:
            head = await created(store)
            store_servers["redis"].ask("CONFIG SET maxmemory 1")
            for write in (
                store.probe(),
                store.append("k", head, 60, [b"a"]),
                created(store, "other"),
            ):
                with pytest.raises(StoreFull, match="the memory of Redis is full"):
                    await write
            assert await texts(store) == []
            store_servers["redis"].ask("CONFIG SET maxmemory 0")
            await store.append("k", head, 60, [b"a"])
            assert await texts(store) == [(1, b"a")]

    try:
        asyncio.run(work())
    finally:
        store_servers["redis"].ask("CONFIG SET maxmemory 0")


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "file:///x",
        "memory://x",
        "sqlite:x",
        "sqlite:///",
        "redis://a@b@c",
        "redis://h:x",
        "redis://u:p#w@h",
        "postgresql:x",
    ],
)
def test_a_wrong_url_is_refused_with_the_forms(wrong: str) -> None:
    with pytest.raises(ValueError, match="a store is memory:"):
        open_store(wrong)
