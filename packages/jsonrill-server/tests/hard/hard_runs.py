"""Runs of an application of one's own under chaos: 40 runs, over 200 readers, every format."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from pathlib import Path

import pytest

from support.apps import App
from support.run_chaos import RunChaos
from support.stores import KINDS, StoreServers


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "memory"])
def test_chaos(tmp_path: Path, store_servers: StoreServers, kind: str) -> None:
    """Replicas are killed, terminated and halted, and so is the server of the store."""
    store = store_servers.url(kind, tmp_path)
    with ExitStack() as stack:
        apps = [stack.enter_context(App(tmp_path, store, RESUME="1", LEASE="3")) for _ in range(3)]
        chaos = RunChaos(apps, store_servers[kind], count=40, size=200, faults=100)
        assert chaos.readers >= 200
        asyncio.run(chaos.run(900))
        print(f"\n{kind}: {chaos.kinds}, {chaos.readers} readers, {chaos.reconnects} connections")
        assert all("Traceback" not in app.log() for app in apps)
