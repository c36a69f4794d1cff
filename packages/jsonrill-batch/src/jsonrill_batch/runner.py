"""Partitions on Dask: `run`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from logging import CRITICAL
from pathlib import Path
from typing import Any, Final

from dask.system import CPU_COUNT
from distributed import Client, KilledWorker, LocalCluster, as_completed

from .job import BatchError, Job
from .output import Output
from .partition import SIZE, Partition, partitions
from .reader import Reader

_CHECK_SECONDS: Final = 10


def run(
    inputs: Iterable[str | Path],
    out: str | Path,
    job: Job,
    scheduler: str | None = None,
    *,
    workers: int | None = None,
    parquet: bool = False,
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
    found = [(partition, output.counts(partition)) for partition in plan]
    done = [counts for _, counts in found if counts is not None]
    missing = [partition for partition, counts in found if counts is None]
    on_progress(len(done), len(plan))
    try:
        for counts in _execute(output, missing, scheduler, workers):
            done.append(counts)
            on_progress(len(done), len(plan))
    finally:
        output.remove_temporary()
    return sum(done, Counter())


def _execute(
    output: Output, missing: list[Partition], scheduler: str | None, workers: int | None
) -> Iterator[Counter[str]]:
    """Write the missing partitions, and yield the counts of each."""
    if not missing:
        return
    suspects = []
    with _connect(scheduler, workers or CPU_COUNT) as client:
        tasks = {client.submit(output.write, item, pure=False): item for item in missing}
        for task in _completed(client, set(tasks), workers or CPU_COUNT):
            try:
                yield task.result()
            except KilledWorker:
                suspects.append(tasks[task])
            except Exception as error:
                raise BatchError(f"{tasks[task].path}: {error}") from error
    # Dask blames all tasks of a worker for its death, so most suspects are harmless.
    for partition in suspects:
        yield output.write(partition, guarded=True)


@contextmanager
def _connect(scheduler: str | None, workers: int) -> Iterator[Client]:
    if scheduler is not None:
        with Client(scheduler) as client:
            yield client
        return
    options = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with LocalCluster(n_workers=0, silence_logs=CRITICAL, **options) as cluster:
        cluster.scale(workers)
        with Client(cluster) as client:
            yield client


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
