"""Each kind of store, empty for every test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from jsonrill_server.store import Bounds, Store, open_store
from support import SLACK
from support.databases import RedisServer
from support.stores import KINDS, StoreServers


@pytest.fixture(scope="session")
def redis_server(store_servers: StoreServers) -> RedisServer:
    server: RedisServer = store_servers["redis"]
    return server


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest, store_servers: StoreServers, tmp_path: Path) -> str:
    return store_servers.url(request.param, tmp_path)


@asynccontextmanager
async def opened(url: str, **bounds: float) -> AsyncIterator[Store]:
    store = open_store(url, Bounds(**bounds))  # type: ignore[arg-type]
    # On a busy machine many calls at once are answered later than in the seconds that users wait.
    store.retry_for *= SLACK
    await store.open()
    try:
        yield store
    finally:
        await store.close()
