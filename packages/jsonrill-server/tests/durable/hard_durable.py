"""The Durable Streams front keeps what the published suite of that protocol asks for."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.stores import StoreServers

from .published_tests import check, outcomes


@pytest.mark.parametrize("kind", ["memory", "sqlite", "redis"])
def test_every_test_but_those_of_forks_passes(
    kind: str, npm: Path, store_servers: StoreServers, tmp_path: Path
) -> None:
    check(outcomes(npm, tmp_path, store=store_servers.url(kind, tmp_path)))
