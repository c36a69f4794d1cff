"""The store of the simulation answers as the real ones do: the same calls, the same results."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from jsonrill_server.store import Store, StoreError, Turn
from support import SLACK, tries
from support.simulation import with_simulated_store
from support.simulation.store import KINDS
from support.stores import StoreServers

from .conftest import opened

CALLS = 80
SCENARIOS = tries(6)
LONG = 600.0


async def transcript(store: Store, seed: int) -> list[str]:
    """What random calls return, all but times and marks."""
    draw, lines = random.Random(seed), []
    for _ in range(CALLS):
        name, call = _call(store, draw)
        try:
            result = await call()
        except StoreError as error:
            result = type(error).__name__
        lines.append(f"{name}: {result}")
    return lines


def _call(store: Store, draw: random.Random) -> tuple[str, Callable[[], Awaitable[Any]]]:
    stream, producer = draw.choice("st"), draw.choice("pq")
    records = [b"%d" % draw.randrange(9) for _ in range(draw.randrange(4))]
    turn = draw.choice([None, None, Turn("a", 0, 0), Turn("a", 0, 1), Turn("a", 1, 0)])
    end = draw.choice([None, None, None, b"end"])
    flag = draw.random() < 0.5
    after = draw.randrange(4)

    async def create() -> object:
        status = await store.acquire(stream, producer, lease=LONG, meta=b"m", replace=flag)
        return (status.last, status.size, status.closed, status.producer)

    async def write() -> object:
        return (await store.write(stream, producer, records, turn=turn, end=end)).last

    async def lose() -> object:
        """The lease runs out."""
        await store.acquire(stream, producer, lease=0.01)
        while not (await store.status(stream)).lost:
            await asyncio.sleep(0.01)
        return "lost"

    async def status() -> object:
        current = await store.status(stream)
        return (
            current.meta,
            current.last,
            current.size,
            current.closed,
            current.producer,
            current.lost,
        )

    async def peek() -> object:
        peeked = await store.peek(stream, after)
        entries = [(entry.seq, entry.data, entry.final) for entry in peeked.entries]
        return (peeked.last, peeked.closed, entries)

    calls: list[tuple[str, int, Callable[[], Awaitable[Any]]]] = [
        ("create", 3, create),
        ("write", 6, write),
        ("renew", 2, lambda: _done(store.acquire(stream, producer, lease=LONG))),
        ("lose", 1, lose),
        ("finalize", 1, lambda: store.finalize(stream, b"closed", only_if_lost=flag)),
        ("status", 3, status),
        ("peek", 3, peek),
        ("delete", 1, lambda: _done(store.delete(stream))),
        ("probe", 1, lambda: _done(store.probe())),
    ]
    [(name, _, call)] = draw.choices(calls, [weight for _, weight, _ in calls])
    return f"{name} {stream} {producer} {records} {turn} {end!r} {flag} {after}", call


async def _done(work: Awaitable[object]) -> str:
    await work
    return "done"


@pytest.mark.parametrize("kind", KINDS)
def test_the_simulated_store_answers_as_the_real_one(
    kind: str, tmp_path: Path, store_servers: StoreServers
) -> None:
    async def real(url: str, seed: int) -> list[str]:
        async with asyncio.timeout(20 * SLACK), opened(url) as store:
            return await transcript(store, seed)

    for seed in range(SCENARIOS):
        folder = tmp_path / str(seed)
        folder.mkdir()
        answers = asyncio.run(real(store_servers.url(kind, folder), seed))
        assert with_simulated_store(kind, lambda store, seed=seed: transcript(store, seed)) == (  # type: ignore[misc]
            answers
        )
        assert len({line.partition(": ")[2] for line in answers}) > 10
