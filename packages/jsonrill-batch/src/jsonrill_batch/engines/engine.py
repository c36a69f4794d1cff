"""What all engines share: how often a shard is tried, and what happens when workers die.

An engine takes shards and yields the outcome of each. A worker may die at any time (killed, out of
memory, a crash in a validator): its shard is done again. If a worker dies twice at the same line,
that line is taken for the reason: it goes to quarantine, and the shard is done without it.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

from ..plan import Shard
from .task import do_task, read_mark

# A shard fails after this many dead workers, or this many attempts to read its input.
MOST_DEATHS: Final = 5
MOST_READS: Final = 3
# A shard fails if more lines than this kill their worker.
MOST_DEADLY: Final = 50

MakeTask = Callable[[Shard, Mapping[int, str]], dict[str, Any]]
Outcome = dict[str, Any]


class Engine(Protocol):
    """Does shards. `run` yields the outcome of each, and None now and then while it waits."""

    name: str
    # For the report; 0 if the number is not known.
    workers: int

    def run(self, shards: Sequence[Shard], make: MakeTask) -> Iterator[Outcome | None]: ...

    def running(self) -> int:
        """The bytes done of shards that are not done yet."""
        ...


class Here:
    """Does shards in this process, one after the other: to debug, or without processes."""

    name = "local"
    workers = 0

    def run(self, shards: Sequence[Shard], make: MakeTask) -> Iterator[Outcome | None]:
        trials = Trials(make)
        for shard in shards:
            outcome = None
            while outcome is None:
                outcome = trials.finish(shard, do_task(trials.task(shard)))
            yield outcome

    def running(self) -> int:
        return 0


class Trials:
    """Counts the attempts at each shard and decides whether it is tried again."""

    def __init__(self, make: MakeTask) -> None:
        self._make = make
        self._deaths: dict[int, int] = {}
        self._reads: dict[int, int] = {}
        # By shard: the line at which its last worker died, and the lines to skip.
        self._line: dict[int, int] = {}
        self._skip: dict[int, dict[int, str]] = {}

    def task(self, shard: Shard) -> dict[str, Any]:
        """The task for the next attempt."""
        return self._make(shard, self._skip.get(shard.index, {}))

    def finish(self, shard: Shard, outcome: Outcome) -> Outcome | None:
        """The outcome, or None if the shard is to be tried again."""
        if outcome["state"] != "unread":
            return outcome
        reads = self._reads[shard.index] = self._reads.get(shard.index, 0) + 1
        return outcome if reads >= MOST_READS else None

    def death(self, shard: Shard, how: str, mark: str | None) -> Outcome | None:
        """The outcome of a shard whose worker died, or None if it is to be tried again."""
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
    """What an exit code of `subprocess` means, in words."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"
