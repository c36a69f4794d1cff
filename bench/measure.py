"""Measure processor time: candidates take turns, and the best sample of each counts.

Turns make a slow moment of the machine hit all candidates alike.
"""

from __future__ import annotations

import gc
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import process_time
from typing import Any, Final

SAMPLE: Final = 0.005  # seconds; shorter work is repeated, because clocks have a resolution
CAP: Final = 8.0  # seconds after which a candidate is stopped

Work = Callable[[], object]


class OutOfTime(BaseException):
    """Stops a candidate; not an Exception, so that no parser catches it."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def sample(work: Work, times: int) -> float:
    """Return the seconds of one run, measured over `times` runs."""
    gc.collect(0)
    start = process_time()
    for _ in range(times):
        work()
    return (process_time() - start) / times


def repetitions(work: Work) -> int | None:
    """Return how often to run work in one sample, None if one run takes longer than `CAP`."""
    try:
        with time_limit(CAP):
            work()
            return max(1, round(SAMPLE / max(sample(work, 1), 1e-7)))
    except OutOfTime:
        return None


def compare(works: dict[str, Work], budget: float) -> dict[str, float | None]:
    """Return the seconds of one run of each work, None for one that was stopped."""
    gc.collect()
    gc.freeze()
    times = {name: repetitions(work) for name, work in works.items()}
    best = {name: float("inf") for name, count in times.items() if count is not None}
    used = dict.fromkeys(best, 0.0)
    for turn in range(200):
        active = [name for name in best if turn < 3 or used[name] < budget]
        for name in active:
            seconds = sample(works[name], count := times[name] or 1)
            best[name] = min(best[name], seconds)
            used[name] += seconds * count
    return {name: best.get(name) for name in works}
