"""As many schedules as fit into the time, each with a number that was not tried before."""

from __future__ import annotations

import os
import secrets
import time

import pytest

from support.simulation import Violation, seeded, simulate
from support.simulation.mistakes import MISTAKES

SECONDS = float(os.environ.get("TEST_SIMULATED", 900))


def test_new_schedules() -> None:
    first = secrets.randbits(40)
    until, count = time.monotonic() + SECONDS, 0
    broken: list[str] = []
    while time.monotonic() < until and len(broken) < 10:
        try:
            simulate(seeded(first + count))
        except Violation as violation:
            broken.append(str(violation))
        count += 1
    print(f"\n{count} schedules from {first}, {count / SECONDS:.0f} a second")
    assert not broken, broken


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_found(mistake: str) -> None:
    with MISTAKES[mistake](), pytest.raises(Violation):
        for seed in range(5000):
            simulate(seeded(seed))
