"""Partitions on Dask: `run`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from logging import CRITICAL
from pathlib import Path
from typing import Any, Final

from dask.system import CPU_COUNT
from distributed import Client, KilledWorker, LocalCluster, as_completed

from .errors import BatchError
from .folder import Folder
from .job import Job
from .output import write_partition
from .partition import SIZE, Partition, partitions
from .reader import Reader
from .summary import Summary

# How often the workers of a partition may be killed without a line that kills them.
_ATTEMPTS: Final = 10


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
) -> Summary:
    """Do a job for files, and write a file of rows for each partition into the folder `out`.

    Partitions run in local processes, or on the Dask cluster whose `scheduler` has this address.
    Partitions whose rows are there are skipped. `on_progress` gets the number of bytes that are
    done and of all bytes. `BatchError` if the run cannot start, or cannot do all partitions.
    """
    if scheduler is not None and workers is not None:
        raise ValueError("workers is for local processes: leave out workers or scheduler")
    Reader(job)  # raises if an option is wrong
    plan = partitions(inputs, partition_size)
    folder = Folder(Path(out), job, parquet)
    missing = [partition for partition in plan if not folder.has(partition)]
    total = sum(partition.size for partition in plan)
    done = total - sum(partition.size for partition in missing)
    on_progress(done, total)
    failures = []
    try:
        for partition, result in _execute(missing, job, folder, scheduler, workers):
            if isinstance(result, Summary):
                folder.add(partition, result)
            else:
                failures.append(f"{partition.path}: {result!r}")
            done += partition.size
            on_progress(done, total)
    finally:
        folder.close()
    if failures:
        raise BatchError(f"{len(failures)} of {len(plan)} partitions failed; {failures[0]}")
    summary = Summary()
    for partition in plan:
        summary.merge(folder.summary(partition))
    return summary


def _execute(
    missing: list[Partition], job: Job, folder: Folder, scheduler: str | None, workers: int | None
) -> Iterator[tuple[Partition, Summary | BaseException]]:
    """Yield each partition with its summary, or with the exception that made it fail."""
    if not missing:
        return
    with _connect(scheduler, workers) as client:
        tasks = {_submit(client, it, job, folder.output(it)): it for it in missing}
        suspects = []
        for task in as_completed(tasks):
            error = task.exception()
            if isinstance(error, KilledWorker):
                suspects.append(tasks[task])
            else:
                yield tasks[task], error or task.result()
        # Dask blames all tasks of a worker for its death. So that only the guilty line is blamed,
        # the suspects run one after another.
        for partition in suspects:
            yield partition, _execute_suspect(client, partition, job, folder)


@contextmanager
def _connect(scheduler: str | None, workers: int | None) -> Iterator[Client]:
    if scheduler is not None:
        with Client(scheduler) as client:
            yield client
        return
    count = workers or CPU_COUNT
    with LocalCluster(
        n_workers=0, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=CRITICAL
    ) as cluster:
        # A worker that is killed while it starts is not restarted otherwise.
        cluster.adapt(minimum=count, maximum=count)
        with Client(cluster) as client:
            yield client


def _submit(client: Client, partition: Partition, job: Job, *options: Any) -> Any:
    return client.submit(write_partition, partition, job, *options, pure=False)


def _execute_suspect(
    client: Client, partition: Partition, job: Job, folder: Folder
) -> Summary | BaseException:
    """Write a partition whose workers were killed, without the lines that kill workers.

    A marker says which line was read last. The line is deadly if workers die of it alone, too.
    """
    marker = folder.path / f".{partition.name}.marker.tmp"
    deadly: frozenset[int] = frozenset()
    attempts = 0
    while True:
        task = _submit(client, partition, job, folder.output(partition), deadly, str(marker))
        error = task.exception()
        if not isinstance(error, KilledWorker):
            result: Summary | BaseException = error or task.result()
            return result
        offset = int(marker.read_text())
        line = replace(partition, start=offset, end=offset + 1)
        if isinstance(_submit(client, line, job, None).exception(), KilledWorker):
            deadly |= {offset}
        else:
            attempts += 1
            if attempts == _ATTEMPTS:
                return error
