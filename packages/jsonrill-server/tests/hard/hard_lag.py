"""How late the event loop runs under each hostile record at full size, in every format; and how
long many readers wait after a restart.

`pytest -s -o python_files='hard_*.py' tests/hard/hard_lag.py` prints the figures it judges.
"""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from jsonrill_server.runs.options import BadOption
from support import SLACK
from support.hostile import HOSTILE, LAG, MEGABYTE, lag_of
from support.processes import Server

from .catch_up import come_back, publish

# Some take minutes; what they do in a tenth of their size is the same.
SIZES = {"any of": MEGABYTE // 50, "broken documents": MEGABYTE // 4, "branches": MEGABYTE // 4}


@pytest.mark.parametrize("name", HOSTILE)
def test_the_loop_is_never_late(name: str) -> None:
    options, records = HOSTILE[name].make(SIZES.get(name, MEGABYTE))
    late = []
    for view in (*HOSTILE[name].views, None):
        try:
            lag = asyncio.run(lag_of(options, records, view))
        except BadOption:
            continue
        print(
            f"\n{name}, {view}: {lag.worst * 1000:.0f} ms late, took {lag.took:.1f} s,"
            f" {lag.bytes / 1e6:.1f} MB",
            end="",
        )
        if lag.worst >= LAG * SLACK:
            late.append((view, lag))
    assert not late


@pytest.mark.parametrize("query", ["format=text", "format=fragments", "format=updates&send=delta"])
@pytest.mark.parametrize("store", ["sqlite", "redis"])
def test_300_readers_catch_up_together(
    query: str, store: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """A stream of 100 kB in 5 000 records, after a restart: under 2 s for all of them."""
    url = f"sqlite:///{tmp_path}/log.db"
    if store == "redis":
        url = request.getfixturevalue("redis_server").url
    chance = random.Random(1)
    positions = [chance.choice([0, chance.randrange(4000)]) for _ in range(300)]
    with Server(tmp_path, store=url) as server:
        stream = asyncio.run(publish(server, 5000, 20))
        server.kill()
        server.start()
        took, counts = asyncio.run(come_back(server, stream, query, positions))
        print(f"\n{store}, {query}: {took:.2f} s", end="")
        assert took < 2 * SLACK
        if query == "format=text":
            assert counts == [5000 - position for position in positions]
