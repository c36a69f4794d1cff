"""Relayed answers through a hundred rolling restarts: complete or visibly failed.

`pytest -s tests/hard/hard_relays.py` prints how many were which.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from jsonrill.testing import Upstream
from support.databases import RedisServer
from support.traffic import replicas

from .relays import Relays, provider


def test_a_hundred_rolling_restarts(tmp_path: Path, redis_server: RedisServer) -> None:
    settings = {"grace": 4, "owner_streams": 1000}
    with Upstream(provider()) as upstream:
        url = f"{upstream.url}/v1"
        with replicas(tmp_path, redis_server.url, 3, upstream=url, **settings) as servers:
            relays = Relays(servers)
            asyncio.run(relays.run(loops=10, restarts=100))
            print(f"\n{relays.restarts} restarts: {dict(sorted(relays.outcomes.items()))}")
            assert not [*relays.bad()], relays.histories
            assert all(relays.outcomes[it, "complete"] > 30 for it in ("openai", "ai-sdk"))
            assert all(relays.outcomes[it, "complete"] > 30 for it in ("responses", "messages"))
            # What lives at the upstream is read to its end, whoever dies.
            assert relays.outcomes["background", "resumed"] > 10
            assert not relays.outcomes["background", "failed"]
            assert all("Traceback" not in server.log() for server in servers)
