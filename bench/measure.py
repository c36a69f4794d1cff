"""Measure processor time: candidates take turns, and the best sample of each counts.

Turns make a slow moment of the machine hit all candidates alike.
"""

from __future__ import annotations

import gc
import signal
from collections.abc import Callable
from time import process_time
from typing import Any, Final

SAMPLE: Final = 0.05  # seconds; shorter work is repeated, because the clock is coarse
CAP: Final = 4.0  # seconds after which a candidate is stopped

Work = Callable[[], object]


class OutOfTime(BaseException):
    """Stops a candidate; not an Exception, so that no parser catches it."""


def stop(*_: Any) -> None:
    raise OutOfTime


def sample(work: Work, times: int) -> float:
    """Return the seconds of one run, measured over `times` runs."""
    gc.collect(0)
    start = process_time()
    for _ in range(times):
        work()
    return (process_time() - start) / times


def first_run(work: Work) -> float | None:
    """Return the seconds of one run, None if it was stopped after `CAP` seconds."""
    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, CAP)
    try:
        return sample(work, 1)
    except OutOfTime:
        return None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def repetitions(work: Work) -> int:
    """Return how often to run work in one sample."""
    times = 1
    while sample(work, times) * times < SAMPLE:
        times *= 2
    return times


def compare(works: dict[str, Work], budget: float) -> dict[str, float | None]:
    """Return the seconds of one run of each work, None for one that was stopped.

    Work that takes longer than the budget is run once.
    """
    gc.collect()
    gc.freeze()
    best = {name: first_run(work) for name, work in works.items()}
    short = [name for name, seconds in best.items() if seconds is not None and seconds < budget]
    times = {name: repetitions(works[name]) for name in short}
    used = dict.fromkeys(short, 0.0)
    best |= dict.fromkeys(short, float("inf"))
    for turn in range(200):
        for name in short:
            if turn < 3 or used[name] < budget:
                seconds = sample(works[name], times[name])
                best[name] = min(best[name] or seconds, seconds)
                used[name] += seconds * times[name]
    return best
