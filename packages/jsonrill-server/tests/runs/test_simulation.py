"""Runs in simulated time: every reader gets each event once, in order, and an end that is true.

A schedule is a number; `python -m support.simulation NUMBER` repeats it and prints its smallest
form. What a number stands for changes with the generator, so the ones below are looked for again
when that changes.
"""

from __future__ import annotations

import pytest

from support.simulation import Violation, seeded, simulate
from support.simulation.mistakes import MISTAKES

SCHEDULES = 100
# Each broke a promise before its cause was removed: an end that the store did not take was told as
# written, a run that could not be looked at was called cancelled; `on_end` was told of a lost run
# without its events by a process that was being stopped.
ONCE_BROKEN = (20, 109, 244, 357, 130211678796)


@pytest.mark.parametrize("tens", range(SCHEDULES // 10))
def test_promises_hold_in_every_schedule(tens: int) -> None:
    for seed in range(10 * tens, 10 * tens + 10):
        simulate(seeded(seed))


@pytest.mark.parametrize("seed", ONCE_BROKEN)
def test_what_was_broken_once(seed: int) -> None:
    simulate(seeded(seed))


def test_a_schedule_is_the_same_each_time() -> None:
    for seed in range(5):
        first, second = simulate(seeded(seed)), simulate(seeded(seed))
        assert (first.now, first.steps) == (second.now, second.steps)


@pytest.mark.parametrize(
    "mistake", ["a write that nobody waits for", "a lost producer that nobody ends"]
)
def test_mistakes_are_found(mistake: str) -> None:
    """The checker sees what it is there for; `hard_simulation.py` tries the others."""
    with MISTAKES[mistake](), pytest.raises(Violation):
        for seed in range(200):
            simulate(seeded(seed))
