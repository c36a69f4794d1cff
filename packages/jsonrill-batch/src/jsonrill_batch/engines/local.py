"""The engine for one machine: worker processes, each doing one shard after another.

Workers are programs of their own (`worker.py`), not forks, so that they inherit nothing from this
process but a pipe in each direction. A worker that dies is noticed because its pipe ends.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, Final

from ..errors import BatchError
from ..plan import Shard
from .engine import MakeTask, Outcome, Trials, how_it_ended
from .task import bytes_done

_TICK: Final = 0.2


class Local:
    """Does shards in up to `workers` processes."""

    name = "local"

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._said: SimpleQueue[tuple[_Worker, str | None]] = SimpleQueue()
        self._all: list[_Worker] = []

    def run(self, shards: Sequence[Shard], make: MakeTask) -> Iterator[Outcome | None]:
        trials = Trials(make)
        waiting = deque(shards)
        try:
            while waiting or any(worker.shard for worker in self._all):
                self._give(waiting, trials)
                try:
                    worker, answer = self._said.get(timeout=_TICK)
                except Empty:
                    yield None
                    continue
                shard, worker.shard = worker.shard, None
                if answer is None:
                    outcome = self._buried(worker, shard, trials)
                else:
                    assert shard is not None
                    outcome = trials.finish(shard, json.loads(answer))
                if outcome is not None:
                    yield outcome
                elif shard is not None:
                    waiting.appendleft(shard)
        finally:
            self._end()

    def running(self) -> int:
        return bytes_done(worker.mark for worker in self._all if worker.shard)

    def _give(self, waiting: deque[Shard], trials: Trials) -> None:
        """Hand out shards to idle workers, and start workers while there may be more."""
        while waiting:
            idle = next((worker for worker in self._all if worker.shard is None), None)
            if idle is None:
                if len(self._all) >= self.workers:
                    return
                try:
                    idle = _Worker(self._said)
                except OSError as error:
                    raise BatchError(f"no worker can be started: {error}") from error
                self._all.append(idle)
            idle.give(waiting[0], trials.task(waiting[0]))
            waiting.popleft()

    def _buried(self, worker: _Worker, shard: Shard | None, trials: Trials) -> Outcome | None:
        self._all.remove(worker)
        how = how_it_ended(worker.process.wait())
        worker.close()
        return None if shard is None else trials.death(shard, how, worker.mark)

    def _end(self) -> None:
        for worker in self._all:
            worker.process.kill()
        for worker in self._all:
            worker.process.wait()
            worker.close()
        self._all.clear()


class _Worker:
    """A process, the shard it is doing, and a thread that reads its answers."""

    def __init__(self, answers: SimpleQueue[tuple[_Worker, str | None]]) -> None:
        self.shard: Shard | None = None
        self.mark: str | None = None
        path = os.pathsep.join(place or os.getcwd() for place in sys.path)
        self.process = subprocess.Popen(
            # -P: files in the current folder must not be imported as modules.
            [sys.executable, "-P", "-m", "jsonrill_batch.engines.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
            encoding="utf8",
            # Ctrl-C in a terminal is for this process; it could come before a worker ignores it.
            process_group=0,
        )
        self._thread = Thread(target=self._listen, args=(answers,), daemon=True)
        self._thread.start()

    def give(self, shard: Shard, task: dict[str, Any]) -> None:
        self.shard = shard
        self.mark = task["mark"]
        assert self.process.stdin is not None
        with suppress(OSError):  # it has died: the thread will report that
            self.process.stdin.write(json.dumps(task) + "\n")
            self.process.stdin.flush()

    def _listen(self, answers: SimpleQueue[tuple[_Worker, str | None]]) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            # A line without its end was cut off by the worker's death.
            if line.endswith("\n"):
                answers.put((self, line))
        answers.put((self, None))

    def close(self) -> None:
        self._thread.join()
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                assert pipe is not None
                pipe.close()
