"""The published suite on the stores that survive a restart."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.durable import check, outcomes
from support.redis_server import RedisServer


@pytest.mark.parametrize("kind", ["sqlite", "redis"])
def test_every_test_but_those_of_forks_passes(kind: str, npm: Path, tmp_path: Path) -> None:
    if kind == "sqlite":
        check(outcomes(npm, tmp_path, store=f"sqlite:///{tmp_path}/log.db"))
        return
    with RedisServer(tmp_path) as redis:
        check(outcomes(npm, tmp_path, store=redis.url))
