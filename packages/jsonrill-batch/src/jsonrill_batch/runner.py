"""Partitions on Dask: `run`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from logging import CRITICAL
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

from dask.system import CPU_COUNT
from distributed import Client, KilledWorker, as_completed

from .output import SIZE, BatchError, Output, Partition, partitions
from .reader import Job, Reader, Row

# Seconds between checks for workers that were not restarted.
_CHECK_SECONDS: Final = 10
# A process may also be killed while it starts, or while it reads a harmless line.
_ATTEMPTS: Final = 5


def run(
    inputs: Iterable[str | Path],
    out: str | Path,
    job: Job,
    scheduler: str | None = None,
    workers: int | None = None,
    parquet: bool = False,
    *,
    partition_size: int = SIZE,
    on_progress: Callable[[int, int], object] = lambda done, total: None,
) -> Counter[str]:
    """Do a job for files, and write a file of rows for each partition into the folder `out`.

    Partitions run in local processes, or on the Dask cluster whose `scheduler` has this address.
    Partitions that are done are skipped. `on_progress` gets the number of partitions that are done
    and of all partitions. `BatchError` if the run cannot start, or cannot write a partition.

    Return the counts of all rows: `streams`, `complete`, `cut`, `invalid`, `invalid: CODE`,
    `repairs: RULE`, `tokens: NAME`, and the `milliseconds` that workers took.
    """
    if scheduler is not None and workers is not None:
        raise ValueError("workers is for local processes: leave out workers or scheduler")
    Reader(job)  # raises if an option is wrong
    plan = partitions(inputs, partition_size)
    output = Output(Path(out).absolute(), job, "parquet" if parquet else "jsonl")
    output.prepare()
    total: Counter[str] = Counter()
    on_progress(0, len(plan))
    try:
        work = _execute(output, plan, scheduler, workers or CPU_COUNT)
        for done, counts in enumerate(work, 1):
            total += counts
            on_progress(done, len(plan))
    finally:
        output.remove_temporary()
    return total


def _execute(
    output: Output, plan: list[Partition], scheduler: str | None, workers: int
) -> Iterator[Counter[str]]:
    """Write the partitions that are missing, and yield the counts of each partition."""
    missing, suspects = [], []
    for partition in plan:
        if (counts := output.counts(partition)) is None:
            missing.append(partition)
        else:
            yield counts
    if not missing:
        return
    with _connect(scheduler, workers) as client:
        tasks = {client.submit(output.write, item, pure=False): item for item in missing}
        for task in _completed(client, set(tasks), workers):
            try:
                yield task.result()
            except KilledWorker:
                suspects.append(tasks[task])
            except Exception as error:
                raise BatchError(f"{tasks[task].path}: {error}") from error
    # Dask blames all tasks of a worker for its death, so most suspects are harmless.
    for partition in suspects:
        yield output.write(partition, GuardedReader(output.job).read)


def _connect(scheduler: str | None, workers: int) -> Client:
    if scheduler is not None:
        return Client(scheduler)
    options = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    client = Client(n_workers=0, silence_logs=CRITICAL, **options)
    client.cluster.scale(workers)  # type: ignore[union-attr]  # does not wait for them
    return client


def _completed(client: Client, tasks: set[Any], workers: int) -> Iterator[Any]:
    """Yield the tasks as they complete."""
    while tasks:
        try:
            for task in as_completed(tasks, timeout=_CHECK_SECONDS):
                tasks.discard(task)
                yield task
        except TimeoutError:
            # Dask does not restart a local worker that was killed while it started.
            if client.cluster is not None and not client.scheduler_info()["workers"]:
                client.cluster.scale(0)
                client.cluster.scale(workers)


# ---- lines that kill their worker ----


class GuardedReader:
    """Reads lines in a child process. A line that kills each process that reads it is an error."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._pool = ProcessPoolExecutor(1, get_context("spawn"))

    def read(self, line: bytes) -> Row:
        """Return the row of a line."""
        for _ in range(_ATTEMPTS):
            try:
                return self._pool.submit(_read, self._job, line).result()
            except BrokenProcessPool:
                self._pool = ProcessPoolExecutor(1, get_context("spawn"))
        error = {"code": "WORKER_KILLED", "message": "each process that read this line died"}
        return {"id": None, "status": "invalid", "error": error}


def _read(job: Job, line: bytes) -> Row:
    return Reader(job).read(line)
