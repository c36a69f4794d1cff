"""Every store keeps the same promises: one suite, with a real server where a store needs one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from jsonrill_server.store import (
    Entry,
    LogClosed,
    LogGap,
    LogLost,
    MemoryStore,
    Store,
    StoreFull,
    StoreUnavailable,
    StreamTaken,
    Tail,
    Turn,
    TurnRefused,
    UnknownStream,
)
from support import SLACK, few, hard
from support.stores import Load, measured

from .conftest import opened

LONG = 60.0


def run(work: Callable[[Store], Awaitable[Any]], url: str, **bounds: float) -> Any:
    async def main() -> Any:
        async with asyncio.timeout(20 * SLACK), opened(url, **bounds) as store:
            return await work(store)

    return asyncio.run(main())


async def make(store: Store, stream: str = "s", lease: float = LONG, owner: str = "o") -> None:
    await store.acquire(stream, "p", lease=lease, owner=owner, meta=b'{"a":1}')


async def until(answer: Callable[[], Awaitable[bool]]) -> None:
    """Ask again until the answer is yes; who waits too long is ended by `run`."""
    while not await answer():
        await asyncio.sleep(0.01)


async def until_lost(store: Store, stream: str) -> None:
    """Give the lease of `p` up, and wait until it has run out."""
    await store.acquire(stream, "p", lease=0.01)

    async def lost() -> bool:
        return (await store.status(stream)).lost

    await until(lost)


async def until_gone(store: Store, stream: str) -> None:
    async def gone() -> bool:
        try:
            await store.status(stream)
        except UnknownStream:
            return True
        return False

    await until(gone)


async def used(store: Store, stream: str, use: Callable[[], Awaitable[Any]]) -> None:
    """A use begins the time anew after which a stream is deleted."""
    left = (await store.status(stream)).expires
    latest = time.monotonic() + left

    async def is_later() -> bool:
        await use()
        asked = time.monotonic()
        return asked + (await store.status(stream)).expires > latest

    await until(is_later)


async def all_of(store: Store, stream: str = "s", after: int = 0) -> list[Entry]:
    return [entry async for batch in store.read(stream, after) for entry in batch]


def test_a_new_stream_is_empty_and_open(url: str) -> None:
    async def work(store: Store) -> None:
        await make(store)
        status = await store.status("s")
        assert (status.owner, status.meta, status.last, status.size) == ("o", b'{"a":1}', 0, 0)
        assert (status.closed, status.producer, status.lost) == (False, "p", False)
        assert LONG - 5 < status.lease <= LONG

    run(work, url)


def test_a_store_may_be_closed_twice(url: str) -> None:
    async def work(store: Store) -> None:
        await make(store)
        await store.close()  # and by `run` once more

    run(work, url)


def test_records_are_numbered_from_one_and_bytes_stay_as_they_are(url: str) -> None:
    records = [b"", b"\x00\xff\r\n", "é{}".encode(), b"x" * 70_000]

    async def work(store: Store) -> None:
        await make(store)
        assert await store.append("s", "p", records[:2]) == 2
        assert await store.append("s", "p", records[2:]) == 4
        assert await store.finalize("s", b"end")
        expected = [(at, data, False) for at, data in enumerate(records, 1)]
        entries = await all_of(store)
        assert [entry[:3] for entry in entries] == [*expected, (5, b"end", True)]
        assert (await store.status("s")).size == sum(map(len, records)) + 3

    run(work, url)


@pytest.mark.parametrize("after", range(5))
def test_reading_starts_after_any_position(url: str, after: int) -> None:
    async def work(store: Store) -> None:
        await make(store)
        await store.append("s", "p", [b"1", b"2", b"3"])
        await store.finalize("s", b"")
        assert [entry.seq for entry in await all_of(store, after=after)] == [
            seq for seq in range(1, 5) if seq > after
        ]

    run(work, url)


def test_more_than_one_batch_is_read_in_order(url: str) -> None:
    async def work(store: Store) -> None:
        await make(store)
        for part in range(3):
            await store.append("s", "p", [b"%d" % at for at in range(part * 700, part * 700 + 700)])
        await store.finalize("s", b"end")
        entries = await all_of(store)
        assert [entry.data for entry in entries[:-1]] == [b"%d" % at for at in range(2100)]
        assert [entry.seq for entry in entries] == list(range(1, 2102))

    run(work, url)


def test_a_waiting_reader_gets_what_comes_and_the_end(url: str) -> None:
    async def work(store: Store) -> None:
        await make(store)
        readers = [asyncio.create_task(all_of(store)) for _ in range(3)]
        await asyncio.sleep(0.05)
        for at in range(20):
            await store.append("s", "p", [b"%d" % at])
            if at % 5 == 0:
                await asyncio.sleep(0.01)
        late = asyncio.create_task(all_of(store, after=15))
        await store.finalize("s", b"end")
        for reader in readers:
            assert [entry.seq for entry in await reader] == list(range(1, 22))
        assert [entry.seq for entry in await late] == list(range(16, 22))

    run(work, url)


def test_a_waiting_reader_is_woken(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Store, "check_every", 1000.0)

    async def work(store: Store) -> None:
        for name in ("a", "b"):
            await make(store, name)
        waiting = asyncio.ensure_future(anext(store.read("a")))
        await asyncio.sleep(0.1)
        # A second stream is waited for while the first one blocks.
        waiting_too = asyncio.ensure_future(anext(store.read("b")))
        await asyncio.sleep(0.05)
        await store.append("b", "p", [b"x"])
        assert [entry.data for entry in await waiting_too] == [b"x"]
        waiting.cancel()

    run(work, url)


@few(2)
def test_readers_of_many_streams_do_not_mix(url: str) -> None:
    async def work(store: Store) -> None:
        names = [f"s{at}" for at in range(15)]
        for name in names:
            await make(store, name)
        readers = {name: asyncio.create_task(all_of(store, name)) for name in names}
        for at in range(10):
            await asyncio.gather(
                *(store.append(name, "p", [f"{name} {at}".encode()]) for name in names)
            )
        for name in names:
            await store.finalize(name, b"")
        for name, reader in readers.items():
            expected = [f"{name} {at}".encode() for at in range(10)] + [b""]
            assert [entry.data for entry in await reader] == expected

    run(work, url)


def test_many_at_once_lose_and_repeat_nothing(url: str) -> None:
    async def work(store: Store) -> None:
        await make(store)
        await asyncio.gather(*(store.append("s", "p", [b"%d" % at]) for at in range(100)))
        await store.finalize("s", b"end")
        entries = await all_of(store)
        assert [entry.seq for entry in entries] == list(range(1, 102))
        assert sorted(int(entry.data) for entry in entries[:-1]) == list(range(100))

    run(work, url)


def test_a_stream_has_one_end(url: str) -> None:
    async def work(store: Store) -> None:
        await make(store)
        ends = await asyncio.gather(*(store.finalize("s", b"%d" % at) for at in range(5)))
        assert sorted(ends) == [False] * 4 + [True]
        assert len(await all_of(store)) == 1
        with pytest.raises(LogClosed):
            await store.append("s", "p", [b"late"])
        with pytest.raises(LogClosed):
            await store.acquire("s", "p", lease=LONG)
        assert (await store.status("s")).closed
        assert await all_of(store, after=1) == []

    run(work, url)


def test_one_producer_at_a_time(url: str) -> None:
    async def work(store: Store) -> None:
        await make(store)
        with pytest.raises(StreamTaken):
            await store.acquire("s", "q", lease=LONG)
        with pytest.raises(StreamTaken):
            await store.append("s", "q", [b"x"])
        await until_lost(store, "s")
        await store.acquire("s", "q", lease=LONG)
        with pytest.raises(StreamTaken):
            await store.append("s", "p", [b"x"])
        assert await store.append("s", "q", [b"y"]) == 1
        assert not (await store.status("s")).lost

    run(work, url)


def test_an_append_may_renew_the_lease(url: str) -> None:
    async def work(store: Store) -> None:
        await make(store, lease=0.2)
        await store.append("s", "p", [b"x"], lease=LONG)
        assert (await store.status("s")).lease > 1
        with pytest.raises(StreamTaken):
            await store.append("s", "q", [b"x"], lease=LONG)
        await until_lost(store, "s")
        await store.append("s", "q", [], lease=LONG)
        assert (await store.status("s")).producer == "q"

    run(work, url)


def test_a_lost_stream_is_ended_by_anybody_once(url: str) -> None:
    async def work(store: Store) -> None:
        await make(store)
        assert not await store.finalize("s", b"lost", only_if_lost=True)
        await until_lost(store, "s")
        ends = [store.finalize("s", b"lost", only_if_lost=True) for _ in range(4)]
        assert sorted(await asyncio.gather(*ends)) == [False] * 3 + [True]
        assert [entry.data for entry in await all_of(store)] == [b"lost"]

    run(work, url)


def test_an_id_is_given_once(url: str) -> None:
    async def work(store: Store) -> None:
        await make(store)
        with pytest.raises(StreamTaken):
            await make(store)
        await store.finalize("s", b"")
        with pytest.raises(StreamTaken):
            await make(store)

    run(work, url)


def test_a_stream_that_has_ended_may_be_replaced_and_no_other(url: str) -> None:
    async def work(store: Store) -> None:
        await make(store)
        await store.append("s", "p", [b"1", b"2"])
        reader = store.read("s")
        assert [entry.data for entry in await anext(reader)] == [b"1", b"2"]
        with pytest.raises(StreamTaken):
            await store.acquire("s", "q", lease=LONG, owner="o", meta=b"{}", replace=True)
        await store.finalize("s", b"")
        with pytest.raises(StreamTaken):
            await store.acquire("s", "q", lease=LONG, owner="o", meta=b"{}")
        status = await store.acquire("s", "q", lease=LONG, owner="o", meta=b"{}", replace=True)
        assert (status.last, status.size, status.producer, status.closed) == (0, 0, "q", False)
        await store.append("s", "q", [b"3"])
        # One that read the log before it was replaced is told, whether it saw its end or not.
        with pytest.raises(LogLost):
            assert (await anext(reader))[-1].final
            raise LogLost("had its end before")
        await store.finalize("s", b"end")
        assert [entry.data for entry in await all_of(store)] == [b"3", b"end"]

    run(work, url)


def test_of_many_who_replace_a_stream_one_does(url: str) -> None:
    async def work(store: Store) -> None:
        await make(store)
        await store.finalize("s", b"")

        async def replace(name: str) -> bool:
            try:
                await store.acquire("s", name, lease=LONG, meta=b"{}", replace=True)
            except StreamTaken:
                return False
            return True

        done = await asyncio.gather(*[replace(f"p{at}") for at in range(20)])
        assert done.count(True) == 1
        assert (await store.status("s")).producer == f"p{done.index(True)}"

    run(work, url)


def test_what_is_not_there_is_unknown(url: str) -> None:
    async def work(store: Store) -> None:
        with pytest.raises(UnknownStream):
            await store.status("s")
        with pytest.raises(UnknownStream):
            await store.append("s", "p", [b""])
        with pytest.raises(UnknownStream):
            await store.finalize("s", b"")
        with pytest.raises(UnknownStream):
            await store.acquire("s", "p", lease=LONG)
        with pytest.raises(UnknownStream):
            await all_of(store)
        await store.delete("s")

    run(work, url)


def test_a_deleted_stream_is_gone_for_its_readers_too(url: str) -> None:
    async def work(store: Store) -> None:
        await make(store)
        await store.append("s", "p", [b"1"])
        reading = store.read("s")
        assert [entry.data for entry in await anext(reading)] == [b"1"]
        waiting = asyncio.ensure_future(anext(reading))
        await asyncio.sleep(0.05)
        await store.delete("s")
        with pytest.raises(UnknownStream):
            await waiting
        await make(store)
        assert (await store.status("s")).last == 0

    run(work, url)


def test_a_position_past_the_end_is_a_gap(url: str) -> None:
    async def work(store: Store) -> None:
        await make(store)
        await store.append("s", "p", [b"1"])
        with pytest.raises(LogGap):
            await all_of(store, after=2)

    run(work, url)


@pytest.mark.parametrize("bound, value", [("stream_entries", 3), ("stream_bytes", 30)])
def test_a_stream_has_bounds_and_still_gets_its_end(url: str, bound: str, value: int) -> None:
    async def work(store: Store) -> None:
        await make(store)
        await store.append("s", "p", [b"x" * 10] * 3)
        with pytest.raises(StoreFull) as caught:
            await store.append("s", "p", [b"x"])
        assert caught.value.bound == bound
        assert await store.finalize("s", b"end")
        assert len(await all_of(store)) == 4

    run(work, url, **{bound: value})


def test_an_owner_has_so_many_open_streams(url: str) -> None:
    async def work(store: Store) -> None:
        await make(store, "a")
        await make(store, "b")
        with pytest.raises(StoreFull) as caught:
            await make(store, "c")
        assert caught.value.bound == "owner_streams"
        await make(store, "c", owner="another")
        await store.finalize("a", b"")
        await make(store, "d")
        await store.delete("b")
        await make(store, "e")

    run(work, url, owner_streams=2)


@pytest.mark.parametrize("kept", ["open", "closed"])
def test_old_streams_are_forgotten(url: str, kept: str) -> None:
    async def work(store: Store) -> None:
        await make(store, "open")
        await make(store, "closed")
        await store.finalize("closed", b"")
        await until_gone(store, "closed" if kept == "open" else "open")
        if kept == "open":
            await used(store, "open", lambda: store.append("open", "p", [b"x"]))
        else:
            assert (await store.status("closed")).closed

    keep = {"keep_open": LONG, "keep_closed": LONG}
    run(work, url, **{**keep, "keep_closed" if kept == "open" else "keep_open": 0.2})


def test_closing_the_store_ends_waiting_readers(url: str) -> None:
    async def main() -> None:
        async with opened(url) as store:
            await make(store)
            waiting = asyncio.create_task(all_of(store))
            await asyncio.sleep(0.05)
        async with asyncio.timeout(5 * SLACK):
            assert await waiting == []

    asyncio.run(main())


def test_a_reader_that_falls_far_behind_misses_nothing(url: str) -> None:
    async def work(store: Store) -> None:
        await make(store)
        reading = store.read("s")
        await store.append("s", "p", [b"first"])
        assert [entry.data for entry in await anext(reading)] == [b"first"]
        waiting = asyncio.ensure_future(anext(reading))
        await asyncio.sleep(0.05)
        for part in range(30):
            await store.append("s", "p", [b"%d" % at for at in range(part * 100, part * 100 + 100)])
        await store.finalize("s", b"end")
        await asyncio.sleep(0.1)
        entries = [*(await waiting), *[entry async for batch in reading for entry in batch]]
        assert [entry.seq for entry in entries] == list(range(2, 3003))
        assert [int(entry.data) for entry in entries[:-1]] == list(range(3000))

    run(work, url)


def test_a_reader_that_leaves_disturbs_nobody(url: str) -> None:
    async def work(store: Store) -> None:
        await make(store)
        gone = [asyncio.create_task(all_of(store)) for _ in range(3)]
        stays = asyncio.create_task(all_of(store))
        await asyncio.sleep(0.05)
        for task in gone:
            task.cancel()
        await asyncio.sleep(0)
        await store.append("s", "p", [b"1"])
        await store.finalize("s", b"")
        assert len(await stays) == 2

    run(work, url)


def test_a_producer_may_be_named_later(url: str) -> None:
    """Whoever has a name takes a stream over from somebody without one, and keeps it."""

    async def work(store: Store) -> None:
        await store.acquire("s", "", lease=LONG, meta=b"")
        await store.append("s", "", [b"1"], lease=LONG)
        await store.append("s", "p", [b"2"], lease=LONG)
        with pytest.raises(StreamTaken):
            await store.append("s", "", [b"x"], lease=LONG)
        with pytest.raises(StreamTaken):
            await store.acquire("s", "q", lease=LONG)
        assert (await store.status("s")).producer == "p"
        await store.acquire("t", "", lease=LONG, meta=b"")
        assert (await store.acquire("t", "q", lease=LONG)).producer == "q"

    run(work, url)


def test_ended_streams_make_room_the_oldest_first(url: str) -> None:
    async def work(store: Store) -> None:
        for name in ("a", "b", "c"):
            await make(store, name)
        with pytest.raises(StoreFull) as caught:
            await make(store, "d")
        assert caught.value.bound == "total_streams"
        await store.finalize("b", b"")
        await asyncio.sleep(0.01)
        await store.finalize("a", b"")
        await make(store, "d")
        with pytest.raises(UnknownStream):
            await store.status("b")
        await make(store, "e", owner="another")
        with pytest.raises(UnknownStream):
            await store.status("a")
        assert (await store.status("c")).producer == "p"

    run(work, url, total_streams=3)


def test_abandoned_streams_lose_their_place(url: str) -> None:
    """A stream whose producer is lost counts for nobody; when the producer returns, it does."""

    async def work(store: Store) -> None:
        await make(store, "a")
        await make(store, "b")
        with pytest.raises(StoreFull):
            await make(store, "c")
        await until_lost(store, "a")
        await make(store, "c")
        assert (await store.status("a")).lost
        with pytest.raises(StoreFull) as caught:
            await make(store, "d")
        assert caught.value.bound == "owner_streams"
        await make(store, "d", owner="another")
        with pytest.raises(UnknownStream):
            await store.status("a")

    run(work, url, owner_streams=2, total_streams=3)


async def marks(store: Store) -> list[int]:
    return [entry.mark for entry in await all_of(store)]


def test_marks_tell_logs_apart(url: str) -> None:
    """Two logs have the same mark only where all records up to there are the same ones."""

    async def work(store: Store) -> None:
        logs = []
        for data in (b"1", b"1", b"0"):
            await make(store)
            await store.append("s", "p", [data, b"2"])
            await store.append("s", "p", [b"3"])
            assert (await store.status("s")).mark == [
                entry.mark async for entry in _until(store, 3)
            ][-1]
            await store.finalize("s", b"end")
            logs.append(await marks(store))
            assert (await store.status("s")).mark == logs[-1][-1]
            await store.delete("s")
        assert len({mark for log in logs for mark in log}) == 12

    run(work, url)


async def _until(store: Store, seq: int) -> AsyncIterator[Entry]:
    async for batch in store.read("s"):
        for entry in batch:
            yield entry
        if batch[-1].seq == seq:
            return


def test_a_reader_that_comes_back_is_told_that_the_log_is_another(url: str) -> None:
    async def work(store: Store) -> None:
        await make(store)
        await store.append("s", "p", [b"1", b"2"])
        mark = (await store.status("s")).mark
        await store.append("s", "p", [b"3"])
        await store.finalize("s", b"end")
        entries = [entry async for batch in store.read("s", 2, mark) for entry in batch]
        assert [entry.data for entry in entries] == [b"3", b"end"]
        await store.delete("s")
        await make(store)
        await store.append("s", "p", [b"1"])
        with pytest.raises(LogLost):  # it is too short
            await anext(store.read("s", 2, mark))
        await store.append("s", "p", [b"2", b"3"])
        with pytest.raises(LogLost):  # it is long enough, but another one
            await anext(store.read("s", 2, mark))

    run(work, url)


@hard
def test_many_waiting_readers_are_woken_by_name(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small version of `hard/hard_stores.py`: each is woken, long before it looks by itself."""
    monkeypatch.setattr(Store, "check_every", 1000.0)
    measured(url, Load(streams=200, rate=400, seconds=0.5))


# ---- numbered requests, ends that are appended, streams with a life of their own ----


async def refused(store: Store, turn: Turn, **more: Any) -> tuple[int, int]:
    """Return the last accepted request of the producer whose request is refused."""
    before = await store.status("s")
    with pytest.raises(TurnRefused) as caught:
        await store.write("s", "", [b"refused"], turn=turn, **more)
    after = await store.status("s")
    assert (after.last, after.mark, after.size) == (before.last, before.mark, before.size)
    assert caught.value.tail == Tail(before.last, before.mark)
    assert caught.value.closed == before.closed
    return caught.value.epoch, caught.value.seq


async def shared(store: Store, stream: str = "s", lease: float = LONG, **more: Any) -> None:
    """Create a stream that anybody may write to."""
    await store.acquire(stream, "", lease=lease, owner="o", meta=b"{}", **more)


def test_requests_of_a_producer_are_taken_in_turn(url: str) -> None:
    async def work(store: Store) -> None:
        await shared(store)
        assert await refused(store, Turn("a", 0, 1)) == (-1, -1)
        assert await refused(store, Turn("a", 3, 1)) == (-1, -1)
        for seq in range(3):
            tail = await store.write("s", "", [b"a%d" % seq], turn=Turn("a", 0, seq))
            status = await store.status("s")
            assert tail == Tail(seq + 1, status.mark) == Tail(status.last, status.mark)
        assert await refused(store, Turn("a", 0, 0)) == (0, 2)
        assert await refused(store, Turn("a", 0, 2)) == (0, 2)
        assert await refused(store, Turn("a", 0, 4)) == (0, 2)
        # Another one has numbers of its own; names may have any characters.
        await store.write("s", "", [b"b0"], turn=Turn("b é\n:", 7, 0))
        assert await refused(store, Turn("b é\n:", 7, 0)) == (7, 0)
        assert await refused(store, Turn("a", 0, 2)) == (0, 2)

    run(work, url)


def test_a_higher_epoch_shuts_out_the_lower_ones(url: str) -> None:
    highest = 2**53 - 1

    async def work(store: Store) -> None:
        await shared(store)
        await store.write("s", "", [b"1"], turn=Turn("a", 0, 0))
        assert await refused(store, Turn("a", 2, 1)) == (0, 0)
        await store.write("s", "", [b"2"], turn=Turn("a", 2, 0))
        assert await refused(store, Turn("a", 0, 1)) == (2, 0)
        assert await refused(store, Turn("a", 1, 0)) == (2, 0)
        await store.write("s", "", [b"3"], turn=Turn("a", highest, 0))
        await store.write("s", "", [b"4"], turn=Turn("a", highest, 1))
        assert await refused(store, Turn("a", highest, 1)) == (highest, 1)
        assert await refused(store, Turn("a", highest - 1, 0)) == (highest, 1)
        assert [entry.data async for entry in _until(store, 4)] == [b"1", b"2", b"3", b"4"]

    run(work, url)


def test_a_request_that_is_sent_many_times_at_once_is_written_once(url: str) -> None:
    async def work(store: Store) -> None:
        await shared(store)

        async def send(seq: int) -> int:
            while True:
                try:
                    await store.write("s", "", [b"%d" % seq], turn=Turn("a", 0, seq))
                    return 1
                except TurnRefused as refusal:
                    if seq <= refusal.seq:
                        return 0
                await asyncio.sleep(0)

        done = await asyncio.gather(*(send(seq) for seq in range(10) for _ in range(4)))
        assert sum(done) == 10
        written = [entry.data async for entry in _until(store, 10)]
        assert written == [b"%d" % seq for seq in range(10)]

    run(work, url)


def test_what_is_refused_for_another_reason_is_no_turn(url: str) -> None:
    async def work(store: Store) -> None:
        await shared(store)
        with pytest.raises(StoreFull):
            await store.write("s", "", [b"x" * 200], turn=Turn("a", 0, 0))
        await store.write("s", "", [b"x"], turn=Turn("a", 0, 0))
        assert await refused(store, Turn("a", 0, 0)) == (0, 0)

    run(work, url, stream_bytes=100)


def test_turns_and_their_end_survive_a_restart(url: str) -> None:
    async def first(store: Store) -> None:
        await shared(store)
        await store.write("s", "", [b"1"], turn=Turn("a", 4, 0))

    async def second(store: Store) -> None:
        assert await refused(store, Turn("a", 4, 0)) == (4, 0)
        await store.write("s", "", [b"2"], turn=Turn("a", 4, 1), end=b"end")

    async def third(store: Store) -> None:
        assert await refused(store, Turn("a", 4, 1)) == (4, 1)
        assert [entry.data for entry in await all_of(store)] == [b"1", b"2", b"end"]

    for work in (first, second, third) if url != "memory:" else ():
        run(work, url)


def test_a_closed_stream_still_knows_its_producers(url: str) -> None:
    async def work(store: Store) -> None:
        await shared(store)
        tail = await store.write("s", "", [b"1", b"2"], turn=Turn("a", 1, 0), end=b"end")
        assert tail.last == 3
        status = await store.status("s")
        assert (status.closed, status.lost, status.last, status.size) == (True, False, 3, 5)
        assert await refused(store, Turn("a", 1, 0), end=b"other") == (1, 0)
        assert await refused(store, Turn("a", 0, 1)) == (1, 0)
        with pytest.raises(LogClosed):
            await store.write("s", "", [b"3"], turn=Turn("a", 1, 1))
        with pytest.raises(LogClosed):
            await store.write("s", "", [b"3"], turn=Turn("b", 0, 0))
        entries = await all_of(store)
        assert [(entry.data, entry.final) for entry in entries] == [
            (b"1", False),
            (b"2", False),
            (b"end", True),
        ]

    run(work, url)


def test_an_end_is_appended_with_the_last_records_or_alone(url: str) -> None:
    async def work(store: Store) -> None:
        for records in ([b"1", b"2"], []):
            await make(store)
            waiting = asyncio.create_task(all_of(store))
            await asyncio.sleep(0.02)
            tail = await store.write("s", "p", records, turn=Turn("p", 0, 0), end=b"end")
            assert tail.last == len(records) + 1
            # A repeated call changes nothing.
            assert await refused(store, Turn("p", 0, 0), end=b"end") == (0, 0)
            assert [entry.data for entry in await waiting] == [*records, b"end"]
            assert not await store.finalize("s", b"another")
            with pytest.raises(LogClosed):
                await store.write("s", "p", [b"3"], end=b"end")
            await store.delete("s")

    run(work, url)


def test_a_producer_claims_a_log_without_writing_to_it(url: str) -> None:
    """What an earlier claim still sends is refused, also if the lease is free again."""

    async def work(store: Store) -> None:
        await make(store)
        await store.append("s", "p", [b"1"], turn=Turn("run", 0, 0))
        await store.acquire("s", "p", lease=0.01)
        await asyncio.sleep(0.05)
        await store.acquire("s", "q", lease=LONG)
        tail = await store.write("s", "q", (), turn=Turn("run", 1, 0), lease=LONG)
        assert tail.last == 1 and (await store.status("s")).producer == "q"
        await store.acquire("s", "q", lease=0.01)
        await asyncio.sleep(0.05)
        for end in (None, b"end"):
            with pytest.raises(TurnRefused) as caught:
                await store.write("s", "p", [b"2"], turn=Turn("run", 0, 1), end=end, lease=LONG)
            assert caught.value.epoch == 1
        await store.write("s", "q", [b"3"], turn=Turn("run", 1, 1), end=b"end")
        assert [entry.data for entry in await all_of(store)] == [b"1", b"3", b"end"]

    run(work, url)


def test_a_claim_is_to_one_log_not_to_the_next_one_of_that_name(url: str) -> None:
    """Also if the new log's producer is lost: the old one's first number would fit it."""

    async def work(store: Store) -> None:
        await make(store)
        await store.finalize("s", b"cancelled")
        await store.acquire("s", "q", lease=0.01, meta=b"another", replace=True)
        await asyncio.sleep(0.05)
        for end in (None, b"end"):
            with pytest.raises(StreamTaken):
                await store.write("s", "p", [b"1"], turn=Turn("old", 0, 0), end=end, lease=LONG)
        status = await store.status("s")
        assert (status.producer, status.last, status.closed) == ("q", 0, False)

    run(work, url)


def test_numbered_producers_are_bounded(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jsonrill_server.store.base.TURNS", 3)

    async def work(store: Store) -> None:
        await shared(store)
        for name in "abc":
            await store.write("s", "", [b"x"], turn=Turn(name, 0, 0))
        with pytest.raises(StoreFull) as caught:
            await store.write("s", "", [b"x"], turn=Turn("d", 0, 0))
        assert caught.value.bound == "stream_producers"
        await store.write("s", "", [b"x"], turn=Turn("a", 0, 1))

    run(work, url)


def test_a_store_waits_without_turning(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """While nothing happens, the loop turns at most some hundred times a second."""

    async def work(store: Store) -> None:
        await make(store)
        reading = asyncio.create_task(all_of(store))
        await asyncio.sleep(0.2)
        loop: Any = asyncio.get_running_loop()
        turns, turn = 0, loop._run_once

        def counted() -> None:
            nonlocal turns
            turns += 1
            turn()

        monkeypatch.setattr(loop, "_run_once", counted)
        await asyncio.sleep(0.4)
        assert turns < 400
        await store.finalize("s", b"end")
        await reading

    run(work, url)


def test_any_text_is_a_name(url: str) -> None:
    async def main() -> None:
        async with opened(url) as here, opened(url) as second:
            # Stores in memory share nothing.
            there = here if url == "memory:" else second
            for name in ("", "\0", "é\n'\"%s {}", "x" * 5000, "x" * 4999 + "é"):
                await there.acquire(name, name, lease=60, owner=name, meta=b"\0")
                status = await here.status(name)
                assert (status.owner, status.producer, status.meta) == (name, name, b"\0")
                waiting = asyncio.ensure_future(anext(here.read(name)))
                await there.append(name, name, [b"1"], turn=Turn(name, 0, 0))
                async with asyncio.timeout(10 * SLACK):
                    assert [entry.data for entry in await waiting] == [b"1"]
                await here.delete(name)
                with pytest.raises(UnknownStream):
                    await there.status(name)

    asyncio.run(main())


class Counted(MemoryStore):
    """A store that counts what it is asked, and can be away."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.is_away = False

    async def _find(self, *call: Any) -> Any:
        self.asked.append("find")
        return await super()._find(*call)

    async def _swap(self, *call: Any) -> Any:
        self.asked.append("swap")
        if self.is_away:
            raise StoreUnavailable("away")
        return await super()._swap(*call)


def test_who_writes_need_not_look_and_a_new_producer_looks_first() -> None:
    async def work() -> None:
        store = Counted()
        await make(store, "s")
        store.asked.clear()
        for _ in range(5):
            await store.append("s", "p", [b"x"])
        assert "find" not in store.asked
        await store.acquire("s", "p", lease=0.0)
        store.asked.clear()
        await store.acquire("s", "q", lease=LONG)
        assert store.asked[:2] == ["find", "swap"]
        # A store that says nothing of it does not try again.
        store.asked.clear()
        store.is_away = True
        with pytest.raises(StoreUnavailable):
            await store.append("s", "q", [b"x"])
        assert store.asked.count("swap") == 1

    asyncio.run(work())
