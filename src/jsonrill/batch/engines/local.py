"""The engine for one machine: worker processes, each doing one shard after another.

They are programs of their own (`worker.py`) and not forks, so that nothing of this process is in
them; a pipe each way is all they share. One that dies is noticed by the end of its pipe.
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
from .task import read_mark

_TICK: Final = 0.2


class Local:
    """Up to `workers` processes."""

    def __init__(self, workers: int) -> None:
        self._count = workers
        self._said: SimpleQueue[tuple[_Worker, str | None]] = SimpleQueue()
        self._all: list[_Worker] = []

    def run(self, shards: Sequence[Shard], make: MakeTask) -> Iterator[Outcome | None]:
        trials = Trials(make)
        waiting = deque(shards)
        try:
            while waiting or any(worker.shard for worker in self._all):
                self._give(waiting, trials)
                try:
                    worker, said = self._said.get(timeout=_TICK)
                except Empty:
                    yield None
                    continue
                shard, worker.shard = worker.shard, None
                if said is None:
                    outcome = self._buried(worker, shard, trials)
                else:
                    assert shard is not None
                    outcome = trials.judge(shard, json.loads(said))
                if outcome is not None:
                    yield outcome
                elif shard is not None:
                    waiting.appendleft(shard)
        finally:
            self._end()

    def running(self) -> int:
        done = 0
        for worker in self._all:
            place = read_mark(worker.mark) if worker.shard and worker.mark else None
            done += place[1] if place is not None else 0
        return done

    def _give(self, waiting: deque[Shard], trials: Trials) -> None:
        """Work for those who have none."""
        while waiting:
            idle = next((worker for worker in self._all if worker.shard is None), None)
            if idle is None:
                if len(self._all) >= self._count:
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
    """A process, the shard that it has, and a thread that waits for what it says."""

    def __init__(self, said: SimpleQueue[tuple[_Worker, str | None]]) -> None:
        self.shard: Shard | None = None
        self.mark: str | None = None
        path = os.pathsep.join(place or os.getcwd() for place in sys.path)
        self.process = subprocess.Popen(
            # -P: a file in the folder where somebody stands must not be taken for a module.
            [sys.executable, "-P", "-m", "jsonrill.batch.engines.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
            encoding="utf8",
            # A terminal's Ctrl-C is for us, and may come before a worker knows that.
            process_group=0,
        )
        self._thread = Thread(target=self._listen, args=(said,), daemon=True)
        self._thread.start()

    def give(self, shard: Shard, task: dict[str, Any]) -> None:
        self.shard = shard
        self.mark = task["mark"]
        assert self.process.stdin is not None
        with suppress(OSError):  # it has died: the thread tells
            self.process.stdin.write(json.dumps(task) + "\n")
            self.process.stdin.flush()

    def _listen(self, said: SimpleQueue[tuple[_Worker, str | None]]) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            # What a dying worker had not written to its end is not said.
            if line.endswith("\n"):
                said.put((self, line))
        said.put((self, None))

    def close(self) -> None:
        self._thread.join()
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                assert pipe is not None
                pipe.close()
