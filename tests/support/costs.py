"""What work costs, measured small: in processor time, as a ratio, with room for a busy machine.

`is_flat` is the sharper tool: it compares the same few steps after much and after little work. What
is linear takes the same time for them; what copies or reads again all that came before takes a
hundred times as long. `is_linear` is for work that comes in one piece.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from itertools import repeat

import pytest

Work = Callable[[], object]


def seconds(work: Work, best_of: int = 3) -> float:
    """Processor time of the quickest run, without Python's garbage collector.

    What that costs depends on everything else that this process has made.
    """

    def once() -> float:
        gc.disable()
        try:
            start = time.process_time()
            work()
            return time.process_time() - start
        finally:
            gc.enable()

    return min(once() for _ in range(best_of))


def below(bound: float, ratio: Callable[[], float]) -> None:
    """Fail if none of three tries gives a ratio below `bound`."""
    ratios = []
    for _ in range(3):
        ratios.append(ratio())
        if ratios[-1] < bound:
            return
    pytest.fail(f"at best {min(ratios):.1f} times as long, where less than {bound} is promised")


def is_flat(
    start: Callable[[int], Work],
    small: int = 1_000,
    large: int = 100_000,
    bound: float = 6,
    steps: int = 20,
) -> None:
    """A step costs the same however much came before it.

    `start(size)` does as much and returns the step. Ten rows of steps are measured after one that
    is not, and the worst is left out: a buffer may double its size once.
    """

    def cost(size: int) -> float:
        step = start(size)

        def row() -> None:
            for _ in repeat(None, steps):
                step()

        row()
        return sum(sorted(seconds(row, best_of=1) for _ in range(10))[:-1])

    below(bound, lambda: cost(large) / max(cost(small), 1e-6))


def is_linear(work: Callable[[int], Work], size: int, bound: float = 8) -> None:
    """Four times the size takes less than `bound` times as long; quadratic would be sixteen."""
    small, large = work(size), work(4 * size)
    below(bound, lambda: seconds(large, best_of=1) / max(seconds(small, best_of=2), 1e-4))
