"""The cost of work in processor time, as a ratio, with tolerance for a busy machine.

`assert_flat` is more precise: it times the same few steps after a little and after a lot of work.
If the work is linear, both take the same time; if it copies or rereads everything before, the
second takes a hundred times as long. `assert_linear` is for work that is done in one call.
"""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable
from itertools import repeat

import pytest

Work = Callable[[], object]

MEASUREMENTS = 12
# In seconds: shorter times are too inexact to compare.
SHORTEST = 1e-5


def seconds(work: Work) -> float:
    """Return the processor time of a run, without Python's garbage collector.

    The collector's cost depends on all objects of this process.
    """
    gc.disable()
    try:
        start = time.process_time()
        work()
        return time.process_time() - start
    finally:
        gc.enable()


def assert_below(bound: float, small: Callable[[], float], large: Callable[[], float]) -> None:
    """Fail if the minimum of `large` stays above `bound` times the minimum of `small`.

    A busy machine makes measurements longer, never shorter: the least of several is the cost.
    """
    ratio = least_small = least_large = math.inf
    for _ in range(MEASUREMENTS):
        least_small = min(least_small, max(small(), SHORTEST))
        least_large = min(least_large, large())
        ratio = least_large / least_small
        if ratio < bound:
            return
    pytest.fail(f"{ratio:.1f} times as long, where less than {bound} is promised")


def assert_flat(
    start: Callable[[int], Work],
    small: int = 1_000,
    large: int = 100_000,
    bound: float = 6,
    steps: int = 20,
) -> None:
    """Assert that a step costs the same, however much work came before it.

    `start(size)` does the work before and returns the step. After a warm-up row, ten rows of steps
    are measured without the worst one: a buffer may double its size once.
    """

    def cost(size: int) -> float:
        step = start(size)

        def row() -> None:
            for _ in repeat(None, steps):
                step()

        row()
        return sum(sorted(seconds(row) for _ in range(10))[:-1])

    assert_below(bound, lambda: cost(small), lambda: cost(large))


def assert_linear(work: Callable[[int], Work], size: int, bound: float = 8) -> None:
    """Assert that four times the size takes less than `bound` times as long (quadratic: 16)."""
    small, large = work(size), work(4 * size)
    small()
    assert_below(bound, lambda: seconds(small), lambda: seconds(large))
