"""As many schedules as fit into the time, each with a number that was not tried before."""

from __future__ import annotations

import gc
import itertools
import os
import secrets
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from support.simulation import Violation, seeded, simulate
from support.simulation.mistakes import MISTAKES

SECONDS = float(os.environ.get("TEST_SIMULATED", 900))


def test_new_schedules() -> None:
    processes = os.cpu_count() or 1
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        results = list(pool.map(_schedules_from, [secrets.randbits(40) for _ in range(processes)]))
    count = sum(count for count, _ in results)
    print(f"\n{count} schedules, {count / SECONDS:.0f} a second in {processes} processes")
    assert not [violation for _, broken in results for violation in broken]


def _schedules_from(first: int) -> tuple[int, list[str]]:
    """Run schedules while there is time; returns how many, and what was broken."""
    until, count = time.monotonic() + SECONDS, 0
    broken: list[str] = []
    # What was imported is not garbage of a schedule; a schedule leaves little, so that looking for
    # it seldom saves a third of the time.
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    while time.monotonic() < until and len(broken) < 10:
        try:
            simulate(seeded(first + count))
        except Violation as violation:
            broken.append(str(violation))
        count += 1
    return count, broken


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_found_within_a_minute(mistake: str) -> None:
    until = time.process_time() + 60.0
    with MISTAKES[mistake](), pytest.raises(Violation):
        for seed in itertools.count():
            assert time.process_time() < until
            simulate(seeded(seed))
