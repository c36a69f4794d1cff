"""A server of each kind, shared by the tests of a module that need no other."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest

from support.databases import RedisServer
from support.processes import Server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    settings = {"heartbeat": 0.4, "owner_streams": 10_000, "record_bytes": 65_536}
    with Server(tmp_path_factory.mktemp("server"), **settings) as running:
        yield running


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=server.url, timeout=60, trust_env=False) as http:
        yield http


@pytest.fixture(scope="module")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with RedisServer(tmp_path_factory.mktemp("redis"), aof=True) as running:
        yield running
