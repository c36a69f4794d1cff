"""What engines have in common: how often a shard is tried, and what becomes of one that kills.

An engine takes shards and hands out what came of each. A worker may die at any time (killed, out of
memory, a crash in a validator): its shard is done again. If it dies twice at the same line, that
line is the reason: it is put into quarantine, and the shard is done without it.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

from ..plan import Shard
from .task import do_task, read_mark

# How often a shard may lose its worker, or not find its input, before it is given up.
MOST_DEATHS: Final = 5
MOST_READS: Final = 3
# How many lines of a shard may be put aside because they kill.
MOST_DEADLY: Final = 50

MakeTask = Callable[[Shard, Mapping[int, str]], dict[str, Any]]
Outcome = dict[str, Any]


class Engine(Protocol):
    """Does shards. `run` yields what came of each, and None when some time has passed."""

    def run(self, shards: Sequence[Shard], make: MakeTask) -> Iterator[Outcome | None]: ...

    def running(self) -> int:
        """Bytes done of shards that are not finished."""
        ...


class Here:
    """In this process, one after the other: to debug, and where no processes can be started."""

    def run(self, shards: Sequence[Shard], make: MakeTask) -> Iterator[Outcome | None]:
        trials = Trials(make)
        for shard in shards:
            outcome = None
            while outcome is None:
                outcome = trials.judge(shard, do_task(trials.task(shard)))
            yield outcome

    def running(self) -> int:
        return 0


class Trials:
    """What was tried with each shard."""

    def __init__(self, make: MakeTask) -> None:
        self._make = make
        self._deaths: dict[int, int] = {}
        self._reads: dict[int, int] = {}
        # The line at which the worker of a shard died last, and those that are left out.
        self._line: dict[int, int] = {}
        self._skip: dict[int, dict[int, str]] = {}

    def task(self, shard: Shard) -> dict[str, Any]:
        """What to do next with this shard."""
        return self._make(shard, self._skip.get(shard.index, {}))

    def judge(self, shard: Shard, outcome: Outcome) -> Outcome | None:
        """What came of it, or None to try once more."""
        if outcome["state"] != "unread":
            return outcome
        reads = self._reads[shard.index] = self._reads.get(shard.index, 0) + 1
        return outcome if reads >= MOST_READS else None

    def death(self, shard: Shard, how: str, mark: str | None) -> Outcome | None:
        """Its worker died. What is there to tell, or None to try once more?"""
        index = shard.index
        place = read_mark(mark) if mark is not None else None
        line = -1 if place is None else place[0]
        skip = self._skip.setdefault(index, {})
        if line >= 0 and self._line.get(index) == line and line not in skip:
            skip[line] = f"twice a worker {how} while it read this line"
            self._deaths[index] = 0
            return None if len(skip) <= MOST_DEADLY else _given_up(index, MOST_DEADLY, how)
        self._line[index] = line
        self._deaths[index] = self._deaths.get(index, 0) + 1
        return None if self._deaths[index] < MOST_DEATHS else _given_up(index, MOST_DEATHS, how)


def _given_up(index: int, deaths: int, how: str) -> Outcome:
    message = f"more than {deaths - 1} workers died of it; the last one {how}"
    return {"index": index, "state": "broken", "message": message}


def how_it_ended(code: int) -> str:
    """Of an exit code, as `subprocess` gives it."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"
