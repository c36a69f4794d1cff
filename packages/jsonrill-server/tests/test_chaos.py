"""Real processes that die: each reader sees what was written, once, in order, with an end.

`python packages/jsonrill-server/tests/test_chaos.py KIND FAULTS` prints what went wrong.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import pytest
from chaos import RunChaos
from stores import KINDS, new_server

from support import SLACK, hard
from support.apps import App

SHARED = [kind for kind in KINDS if kind != "memory"]


def chaos(kind: str, folder: Path, *, faults: int, runs: int = 6, size: int = 200) -> RunChaos:
    """Cause failures of replicas and of their store while runs are written and read."""
    with ExitStack() as stack:
        server = None if kind == "sqlite" else stack.enter_context(new_server(kind, folder))
        url = f"sqlite:///{folder}/runs.db" if server is None else server.url
        apps = [stack.enter_context(App(folder, url, RESUME="1", LEASE="1")) for _ in range(3)]
        work = RunChaos(apps, server, runs, size, faults)
        asyncio.run(work.run(60 * SLACK + 10 * faults))
    return work


@pytest.mark.parametrize("kind", SHARED)
def test_readers_of_every_format_survive_faults(kind: str, tmp_path: Path) -> None:
    chaos(kind, tmp_path, faults=3, runs=3, size=60)


@hard
@pytest.mark.parametrize("kind", SHARED)
def test_readers_of_every_format_survive_100_faults(kind: str, tmp_path: Path) -> None:
    chaos(kind, tmp_path, faults=100)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        done = chaos(sys.argv[1], Path(folder), faults=int(sys.argv[2]))
        print(f"{done.readers} readers, {done.reconnects} reconnects, faults: {done.kinds}")
