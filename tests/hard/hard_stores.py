"""Stores under load, longer than the ordinary suite can wait.

`pytest -s tests/hard/hard_stores.py` prints the figures it judges.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from support.redis_server import RedisServer
from support.store_load import Load, measured


@pytest.mark.parametrize("kind", ["memory", "sqlite", "redis"])
def test_two_thousand_open_streams_at_a_hundred_records_a_second(kind: str, tmp_path: Path) -> None:
    """p99 from append to reader under 20 ms, with under 30 % of a Redis core."""
    load = Load(streams=2000, rate=100, seconds=20)
    if kind == "redis":
        with RedisServer(tmp_path) as server:
            figures = measured(server.url, load, server)
            assert figures.redis_core < 0.30
    else:
        figures = measured("memory:" if kind == "memory" else f"sqlite:///{tmp_path}/log.db", load)
    print(f"\n{kind}: {figures}")
    assert figures.p99 < 0.020
