"""What the long proofs share. `make hard` collects them, `make test` does not."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.databases import RedisServer


@pytest.fixture(scope="module")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with RedisServer(tmp_path_factory.mktemp("redis"), aof=True) as running:
        yield running
