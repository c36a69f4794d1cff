"""The stores that runs are tried with: all there are, empty for every test."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.stores import KINDS, StoreServers


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest, store_servers: StoreServers, tmp_path: Path) -> str:
    return store_servers.url(request.param, tmp_path)


@pytest.fixture(params=[kind for kind in KINDS if kind != "memory"])
def shared(request: pytest.FixtureRequest, store_servers: StoreServers, tmp_path: Path) -> str:
    """The URL of a store that processes share."""
    return store_servers.url(request.param, tmp_path)
