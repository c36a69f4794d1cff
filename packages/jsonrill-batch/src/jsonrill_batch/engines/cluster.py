"""The engine for many machines: the same tasks on Dask, on its own cluster or a running one.

Workers need jsonrill installed and must see the inputs and the folder under the same paths: on a
shared file system, or at URLs such as s3://. Dask notices lost workers and does their shards
elsewhere; a shard that Dask gives up is tried again by the same rules as on one machine.
"""

from __future__ import annotations

import signal
import time
import uuid
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from threading import current_thread, main_thread
from typing import Any, Final

from ..errors import BatchError
from ..plan import Shard
from .engine import MakeTask, Outcome, Trials
from .task import bytes_done, do_task

_TICK: Final = 0.5
# How long a scheduler may take to answer.
TIMEOUT = "10s"
# Seconds that a cluster may have no worker, while lost ones are started again.
WORKERLESS = 120.0
# Shards that are submitted ahead, for each thread of a worker.
_AHEAD: Final = 2


class Cluster:
    """Does shards on the Dask cluster at `scheduler`, or on one of `workers` processes here."""

    name = "dask"

    def __init__(self, scheduler: str | None = None, workers: int = 1) -> None:
        try:
            import distributed
        except ModuleNotFoundError as missing:
            raise BatchError("Dask needs an extra: pip install 'jsonrill[batch]'") from missing
        self._dask: Any = distributed
        self._scheduler = scheduler
        self._count = workers
        # How many workers a running cluster has can change at any time.
        self.workers = 0 if scheduler else workers
        self.client: Any = None
        # By future: its shard and its mark file.
        self._doing: dict[Any, tuple[Shard, str | None]] = {}

    def run(self, shards: Sequence[Shard], make: MakeTask) -> Iterator[Outcome | None]:
        with ExitStack() as opened:
            self.client = self._connected(opened)
            yield from self._run(shards, make)

    def running(self) -> int:
        return bytes_done(mark for _, mark in self._doing.values())

    def _connected(self, opened: ExitStack) -> Any:
        try:
            if self._scheduler is None:
                with _ignoring_interrupts():
                    cluster = self._dask.LocalCluster(
                        n_workers=self._count,
                        threads_per_worker=1,
                        processes=True,
                        dashboard_address="127.0.0.1:0",
                    )
                return opened.enter_context(self._dask.Client(opened.enter_context(cluster)))
            return opened.enter_context(self._dask.Client(self._scheduler, timeout=TIMEOUT))
        except (OSError, TimeoutError, ValueError) as error:
            where = self._scheduler or "a cluster on this machine"
            raise BatchError(f"no Dask scheduler at {where}: {error}") from error

    def _run(self, shards: Sequence[Shard], make: MakeTask) -> Iterator[Outcome | None]:
        trials = Trials(make)
        waiting, doing = deque(shards), self._doing
        had_workers = time.monotonic()
        while waiting or doing:
            threads = sum(map(int, self.client.nthreads().values()))
            if threads:
                had_workers = time.monotonic()
            elif time.monotonic() - had_workers > WORKERLESS:
                raise BatchError(
                    f"the Dask cluster has had no worker for {WORKERLESS:g} seconds;"
                    " start some and continue with jsonrill batch resume"
                )
            while waiting and len(doing) < max(2, _AHEAD * threads):
                shard = waiting.popleft()
                task = trials.task(shard)
                doing[self._submit(shard, task)] = shard, task["mark"]
            for future in self._finished(list(doing)):
                shard, mark = doing.pop(future)
                outcome = self._outcome(future, shard, trials, mark)
                if outcome is None:
                    waiting.appendleft(shard)
                else:
                    yield outcome
            yield None

    def _submit(self, shard: Shard, task: dict[str, Any]) -> Any:
        key = f"jsonrill-{shard.name}-{uuid.uuid4().hex[:8]}"
        return self.client.submit(do_task, task, key=key, pure=False)

    def _finished(self, futures: list[Any]) -> list[Any]:
        try:
            self._dask.wait(futures, timeout=_TICK, return_when="FIRST_COMPLETED")
        except TimeoutError:
            pass
        except (OSError, RuntimeError) as error:
            raise BatchError(f"the Dask scheduler is gone: {error}") from error
        if self.client.status not in ("running", "connecting"):
            raise BatchError("the Dask scheduler is gone")
        return [future for future in futures if future.done()]

    def _outcome(
        self, future: Any, shard: Shard, trials: Trials, mark: str | None
    ) -> Outcome | None:
        if future.status == "finished":
            return trials.finish(shard, future.result())
        if future.status in ("lost", "cancelled"):
            return None
        error = future.exception()
        if isinstance(error, self._dask.scheduler.KilledWorker):
            return trials.death(shard, "was lost", mark)
        message = f"{type(error).__name__}: {error}"
        return {"index": shard.index, "state": "broken", "message": message}


@contextmanager
def _ignoring_interrupts() -> Iterator[None]:
    """Processes that are started in this block ignore Ctrl-C; this process ends them."""
    if current_thread() is not main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
