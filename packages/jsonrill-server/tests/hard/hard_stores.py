"""Stores under load, longer than the ordinary suite can wait.

`pytest -s tests/hard/hard_stores.py` prints the figures it judges.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from support.stores import KINDS, Load, StoreServers, measured


@pytest.mark.parametrize("kind", KINDS)
def test_two_thousand_open_streams_at_a_hundred_records_a_second(
    kind: str, store_servers: StoreServers, tmp_path: Path
) -> None:
    """p99 from append to reader under 20 ms, with under 30 % of a core for the server; a write to
    the disk takes longer."""
    load = Load(streams=2000, rate=100, seconds=20)
    figures = measured(store_servers.url(kind, tmp_path), load, store_servers[kind])
    print(f"\n{kind}: {figures}")
    assert figures.p99 < (0.2 if kind == "postgresql" else 0.020)
    assert figures.worst < 2  # nobody waits for the next look
    assert figures.server_core < 0.30
