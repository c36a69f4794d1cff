"""A producer: coalesced writes, in order, and an end whatever happens to its source.

Time is simulated, so that what is written when is exact.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Any

import pytest

from jsonrill_server.runs.claim import Claim
from jsonrill_server.runs.failures import FAILED
from jsonrill_server.runs.hub import Hub
from jsonrill_server.runs.options import StreamOptions
from jsonrill_server.runs.producer import MOST_CHARACTERS, Failed, produce
from jsonrill_server.runs.records import CANCELLED, CLOSED, End, Record, from_entry
from jsonrill_server.runs.settings import Settings
from jsonrill_server.store import MemoryStore, StoreUnavailable, Tail
from support.simulation import SimulatedLoop, in_simulated_time

LEASE = 30.0


class Paced(MemoryStore):
    """A store that notes when each write came, and of how many records."""

    write_every = 0.025

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[tuple[float, int]] = []
        self.down = False

    async def write(self, stream: str, producer: str, records: Sequence[bytes], **how: Any) -> Tail:
        if self.down:
            raise StoreUnavailable("down")
        if records:  # the end alone is not counted
            self.writes.append((asyncio.get_running_loop().time(), len(records)))
        return await super().write(stream, producer, records, **how)


def run(work: Callable[[Hub, Paced, Claim], Awaitable[None]], store: Paced | None = None) -> None:
    async def main(_: SimulatedLoop) -> None:
        kept = store or Paced()
        hub = Hub(Settings(grace=0), kept)
        await hub.open()
        options = StreamOptions()
        stream = await hub.create("o", options, "p", LEASE)
        try:
            await work(hub, kept, Claim(hub, stream, "p", LEASE, options))
        finally:
            await hub.close()

    in_simulated_time(main)


def halt(seconds: float) -> None:
    """Let time pass in which nothing runs, as in a process that is halted."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, SimulatedLoop)
    loop.now += seconds


async def texts(*texts: str | float) -> AsyncGenerator[list[Record]]:
    """Yields texts, and waits where there is a number."""
    for text in texts:
        if isinstance(text, str):
            yield [Record("text", text)]
        else:
            await asyncio.sleep(text)


async def log_of(hub: Hub, stream: str) -> tuple[list[str], End]:
    entries = [from_entry(entry) async for batch in hub.store.read(stream) for entry in batch]
    end = entries.pop()
    assert isinstance(end, End)
    return [it.body for it in entries if isinstance(it, Record)], end


def test_the_first_record_is_written_at_once_and_the_next_ones_together() -> None:
    async def work(hub: Hub, store: Paced, claim: Claim) -> None:
        pieces = [str(at) for at in range(40)]
        paced = [it for piece in pieces for it in (piece, 0.002)]
        assert await produce(claim, texts(*paced)) == CLOSED
        assert await log_of(hub, claim.stream) == (pieces, CLOSED)
        (began, first), *_ = store.writes
        assert first == 1 and sum(count for _, count in store.writes) == 40
        # The last piece came after 78 ms.
        after = [at - began for at, _ in store.writes]
        assert after == pytest.approx([0, 0.025, 0.05, 0.075, 0.1])

    run(work)


def test_after_a_pause_a_record_is_written_at_once_again() -> None:
    async def work(hub: Hub, store: Paced, claim: Claim) -> None:
        sent: list[float] = []

        async def source() -> AsyncGenerator[list[Record]]:
            for text in "abcdef":
                sent.append(asyncio.get_running_loop().time())
                yield [Record("text", text)]
                await asyncio.sleep(0.1)

        await produce(claim, source())
        assert store.writes == [(at, 1) for at in sent]

    run(work)


def test_a_store_in_memory_is_written_to_record_by_record() -> None:
    class Memory(Paced):
        write_every = MemoryStore.write_every

    async def work(hub: Hub, store: Paced, claim: Claim) -> None:
        await produce(claim, texts(*"abcdef"))
        assert [count for _, count in store.writes] == [1] * 6

    run(work, Memory())


@pytest.mark.parametrize(
    "error, end",
    [
        (OSError("secret"), FAILED),
        (Failed(End("error", "X", "why")), End("error", "X", "why")),
    ],
)
def test_a_source_that_raises_ends_the_run_after_what_it_yielded(error: Any, end: End) -> None:
    async def work(hub: Hub, store: Paced, claim: Claim) -> None:
        async def source() -> AsyncGenerator[list[Record]]:
            yield [Record("text", "a")]
            yield [Record("text", "b")]
            raise error

        assert await produce(claim, source()) == end
        assert await log_of(hub, claim.stream) == (["a", "b"], end)

    run(work)


def test_a_run_that_is_closed_elsewhere_closes_its_source() -> None:
    async def work(hub: Hub, store: Paced, claim: Claim) -> None:
        closed = asyncio.Event()

        async def source() -> AsyncGenerator[list[Record]]:
            try:
                yield [Record("text", "a")]
                await asyncio.Event().wait()
            finally:
                closed.set()

        claim.lease = 0.6
        running = asyncio.create_task(produce(claim, source()))
        await asyncio.sleep(0.1)
        await hub.end(claim.stream, CANCELLED)
        assert await running is None and closed.is_set()
        assert await log_of(hub, claim.stream) == (["a"], CANCELLED)

    run(work)


@pytest.mark.parametrize("resumable", [False, True])
def test_a_producer_that_is_stopped_says_so_or_gives_its_lease_back(resumable: bool) -> None:
    async def work(hub: Hub, store: Paced, claim: Claim) -> None:
        stopped = None if resumable else End("error", "PRODUCER_LOST", "stopped")
        source = texts("a", LEASE)
        running = asyncio.create_task(produce(claim, source, stopped=stopped))
        await asyncio.sleep(0.1)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        if stopped is not None:
            assert await log_of(hub, claim.stream) == (["a"], stopped)
        else:
            assert (await store.status(claim.stream)).lost
            assert (await Claim.take(hub, claim.stream, "q", LEASE)).last == 1

    run(work)


def test_a_producer_that_was_halted_and_replaced_writes_nothing_more() -> None:
    """The other one took over, wrote, and left: the lease is free again, and yet."""

    async def work(hub: Hub, store: Paced, claim: Claim) -> None:
        async def source() -> AsyncGenerator[list[Record]]:
            yield [Record("text", "a")]
            await asyncio.sleep(0.05)
            halt(0.4)
            other = await Claim.take(hub, claim.stream, "q", 0.01)
            await other.append([Record("text", "other")])
            halt(0.02)
            yield [Record("text", "b")]
            yield [Record("text", "c")]

        claim.lease = 0.3
        assert await produce(claim, source()) is None
        await hub.end(claim.stream)
        assert await log_of(hub, claim.stream) == (["a", "other"], CLOSED)

    run(work)


def test_what_comes_while_the_store_is_down_is_written_when_it_is_back() -> None:
    async def work(hub: Hub, store: Paced, claim: Claim) -> None:
        store.down = True
        asyncio.get_running_loop().call_later(0.3, setattr, store, "down", False)
        assert await produce(claim, texts(*"abcdef")) == CLOSED
        assert (await log_of(hub, claim.stream))[0] == [*"abcdef"]

    run(work)


def test_a_source_waits_for_a_store_that_is_slower() -> None:
    async def work(hub: Hub, store: Paced, claim: Claim) -> None:
        store.down = True
        yielded = 0

        async def source() -> AsyncGenerator[list[Record]]:
            nonlocal yielded
            for _ in range(100):
                yielded += 1
                yield [Record("text", "x" * 100_000)]

        running = asyncio.create_task(produce(claim, source()))
        await asyncio.sleep(0.2)
        assert yielded == MOST_CHARACTERS // 100_000 + 1
        store.down = False
        assert await running == CLOSED
        assert len((await log_of(hub, claim.stream))[0]) == 100

    run(work)
