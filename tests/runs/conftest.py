"""The stores that runs are tried with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.redis_server import RedisServer


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with RedisServer(tmp_path_factory.mktemp("redis"), aof=True) as server:
        yield server


@pytest.fixture(params=("memory", "sqlite", "redis"))
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "memory":
        return "memory:"
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/log.db"
    server: RedisServer = request.getfixturevalue("redis_server")
    server.empty()
    return server.url
