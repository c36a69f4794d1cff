"""The stores that runs are tried with: all there are, empty for every test."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.stores import KINDS, StoreServers


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest, store_servers: StoreServers, tmp_path: Path) -> str:
    return store_servers.url(request.param, tmp_path)
