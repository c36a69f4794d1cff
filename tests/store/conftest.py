"""A Redis server of the tests' own, on loopback, and each kind of store, fresh for every test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from jsonrill.store import Bounds, Store, open_store
from support.redis_server import RedisServer

KINDS = ("memory", "sqlite", "redis")
Open = Callable[..., object]


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with RedisServer(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "memory":
        return "memory:"
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/log.db"
    server: RedisServer = request.getfixturevalue("redis_server")
    server.empty()
    return server.url


@asynccontextmanager
async def opened(url: str, **bounds: float) -> AsyncIterator[Store]:
    store = open_store(url, Bounds(**bounds))  # type: ignore[arg-type]
    await store.open()
    try:
        yield store
    finally:
        await store.close()
