"""`total_bytes` is what a store really takes: within 1.5 times, whatever the records are like."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from jsonrill_server.store import Store, StoreFull
from support import HARDER, few
from support.stores import StoreServers

from .conftest import opened

BOUND = 2 << 20
# Records of a stream, and bytes of a record.
SHAPES = {
    "tiny": (2000, 4),
    "token": (300, 30),
    "short": (3, 100),
    "none": (0, 0),
    "large": (4, 20_000),
}


async def fill(store: Store, records: int, size: int) -> None:
    """Streams of open producers, so that none makes room, until the store takes no more."""
    at = 0
    try:
        while True:
            at += 1
            stream = f"{at:024d}"
            await store.acquire(stream, "p" * 16, lease=600, owner="owner", meta=b"x" * 200)
            for first in range(0, records, 500):
                batch = [b"%0*d" % (size, n) for n in range(first, min(first + 500, records))]
                await store.append(stream, "p" * 16, batch)
    except StoreFull as full:
        assert full.bound == "total_bytes"


@few(1)
@pytest.mark.parametrize("shape", SHAPES if HARDER else ["token"])
def test_the_bound_is_what_the_store_takes(
    url: str, shape: str, tmp_path: Path, store_servers: StoreServers
) -> None:
    """`make hard` tries the other shapes."""
    real = 0

    async def main() -> None:
        nonlocal real
        many = {"owner_streams": 10**6, "total_streams": 10**6, "owner_bytes": 10**12}
        async with opened(url, **many, total_bytes=BOUND) as store:
            before = measure()
            await fill(store, *SHAPES[shape])
            real = measure() - before

    with _measuring(url, store_servers) as measure:
        asyncio.run(main())
    if url.startswith("sqlite"):  # its journal is gone only now
        real = (tmp_path / "log.db").stat().st_size
    assert BOUND / 1.5 < real < BOUND * 1.5, f"{real / BOUND:.2f} times the bound"


@contextmanager
def _measuring(url: str, servers: StoreServers) -> Iterator[Callable[[], int]]:
    """A function that returns the bytes which the store takes now."""
    kind = url.partition(":")[0]
    if kind == "memory":
        tracemalloc.start()
        try:
            yield _traced
        finally:
            tracemalloc.stop()
    elif kind == "sqlite":
        yield lambda: 0
    elif kind == "postgresql":
        query = "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND"
        ask = partial(servers[kind].ask, f"{query} relnamespace = 'jsonrill'::regnamespace")
        yield lambda: int(ask())
    else:
        yield servers[kind].memory


def _traced() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]
