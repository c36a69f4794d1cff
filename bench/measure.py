"""How things are measured. Nothing here knows what.

Time is processor time. Contestants take turns, sample by sample, so that a slow moment of the
machine hits all of them; of each the best sample counts. One that needs too long is stopped.
"""

from __future__ import annotations

import gc
import resource
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from time import process_time
from typing import Any, Final

# A sample shorter than this is repeated until it is this long: clocks have a grain.
SAMPLE: Final = 0.005


class OutOfTime(BaseException):
    """Raised in the middle of a run; not an Exception, so that no parser catches it."""


@dataclass(frozen=True, slots=True)
class Timing:
    """The best of several samples: seconds for one run; or how far it came, or why it failed."""

    seconds: float
    samples: int
    read: float = 1.0  # the share of the text that was read before it was stopped
    failed: str = ""

    def as_json(self, pieces: int) -> dict[str, Any]:
        """With the cost of one piece in microseconds, where all were read."""
        whole = self.read == 1.0 and not self.failed
        return {**asdict(self), "us": self.seconds / pieces * 1e6 if whole else None}


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise OutOfTime in the body after this much processor time."""

    def stop(*_: Any) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def settle() -> None:
    """What is loaded by now is nobody's garbage: no collection during a run walks through it."""
    gc.collect()
    gc.freeze()


def sample(work: Callable[[], object], times: int) -> float:
    start = process_time()
    for _ in range(times):
        work()
    return (process_time() - start) / times


def interleaved(
    works: dict[str, Callable[[], object]], *, budget: float, least: int = 3
) -> dict[str, Timing]:
    """Each work's best sample; all take turns until each has used its budget or 200 turns.

    Every work gets at least `least` turns, however long they are.
    """
    times = {name: _times(work) for name, work in works.items()}
    best = dict.fromkeys(works, float("inf"))
    used = dict.fromkeys(works, 0.0)
    turns = dict.fromkeys(works, 0)
    while waiting := [
        name for name in works if turns[name] < least or (used[name] < budget and turns[name] < 200)
    ]:
        for name in waiting:
            gc.collect(0)
            took = sample(works[name], times[name])
            best[name] = min(best[name], took)
            used[name] += took * times[name]
            turns[name] += 1
    return {name: Timing(best[name], turns[name]) for name in works}


def _times(work: Callable[[], object]) -> int:
    """How often to repeat a work in one sample; also its warm-up."""
    times = 1
    while (took := sample(work, times) * times) < SAMPLE / 2:
        times *= 2
    return max(1, round(times * SAMPLE / took))


def race(
    runs: dict[str, Callable[[Iterable[str]], object]],
    pieces: Sequence[str],
    *,
    budget: float,
    cap: float,
    least: int = 3,
) -> dict[str, Timing]:
    """`interleaved` over pieces of text; who needs longer than `cap` for them is left out of it."""
    timings: dict[str, Timing] = {}
    ready: dict[str, Callable[[], object]] = {}
    for name, run in runs.items():
        tried = trial(run, pieces, cap)
        if tried.failed or tried.read < 1:
            timings[name] = tried
        elif tried.seconds > budget:
            timings[name] = _best([tried, trial(run, pieces, 2 * cap)])
        else:
            ready[name] = lambda run=run: run(pieces)  # type: ignore[misc]
    return {**timings, **interleaved(ready, budget=budget, least=least)}


def _best(timings: list[Timing]) -> Timing:
    return Timing(min(timing.seconds for timing in timings), len(timings))


def trial(run: Callable[[Iterable[str]], object], pieces: Sequence[str], cap: float) -> Timing:
    """One run, stopped after `cap` seconds."""
    source = iter(pieces)
    gc.collect(0)
    start = process_time()
    try:
        with at_most(cap):
            run(source)
    except OutOfTime:
        left = source.__length_hint__()  # type: ignore[attr-defined]  # of a list's iterator
        return Timing(process_time() - start, 1, read=1 - left / len(pieces))
    except Exception as error:
        return Timing(process_time() - start, 1, failed=type(error).__name__)
    return Timing(process_time() - start, 1)


def resident() -> int:
    """The memory that this program has now, in bytes; 0 where the system does not tell."""
    return _status("VmRSS") or 0


def _status(field: str) -> int | None:
    try:
        lines = Path("/proc/self/status").read_text("utf8").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(field)) * 1024
    except (OSError, StopIteration):
        return None


def peak_memory() -> int:
    """The most memory that this program ever had, in bytes.

    On Linux not from getrusage, whose figure a child process inherits from its parent.
    """
    peak = _status("VmHWM")
    if peak is None:
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return peak
