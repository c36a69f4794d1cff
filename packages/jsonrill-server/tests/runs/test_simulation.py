"""Runs in simulated time: every reader gets each event once, in order, and an end that is true.

A schedule is a number; `python -m support.simulation NUMBER` repeats it and prints its smallest
form. What a number stands for changes with the generator; a mistake that a schedule has found
stays in `support/simulation/mistakes.py`, where it must be found again.
"""

from __future__ import annotations

import pytest

from support.simulation import Violation, seeded, simulate
from support.simulation.mistakes import MISTAKES

SCHEDULES = 200


@pytest.mark.parametrize("tens", range(SCHEDULES // 10))
def test_promises_hold_in_every_schedule(tens: int) -> None:
    for seed in range(10 * tens, 10 * tens + 10):
        simulate(seeded(seed))


def test_a_start_goes_on_with_no_run_after_its_process_was_told_to_stop() -> None:
    """As rare as one in 100 000 schedules, so that its number is kept."""
    simulate(seeded(424602360549))


def test_a_process_that_was_cut_off_does_not_write_to_the_run_that_took_the_place_of_its_own() -> (
    None
):
    """One in a million: the other run's process has to be lost in that moment, too."""
    simulate(seeded(888744522238))


def test_a_schedule_is_the_same_each_time() -> None:
    for seed in range(20):
        first, second = simulate(seeded(seed)), simulate(seeded(seed))
        assert (first.now, first.steps) == (second.now, second.steps)


@pytest.mark.parametrize("mistake", [*MISTAKES][:4])
def test_mistakes_are_found(mistake: str) -> None:
    """The checker sees what it is there for; `hard_simulation.py` tries the others, too."""
    with MISTAKES[mistake](), pytest.raises(Violation):
        for seed in range(3000):
            simulate(seeded(seed))
