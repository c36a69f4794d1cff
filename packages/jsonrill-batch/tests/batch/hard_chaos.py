"""150 000 streams while workers are killed: the rows equal a plain loop's."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import psutil
import pytest
from distributed import LocalCluster

from jsonrill_batch import Job, run

from . import logs

SIZE = 8 * 2**20


@contextmanager
def random_kills(cluster: LocalCluster, every: float) -> Iterator[list[int]]:
    """Kill a random worker now and then; return the ids of the dead ones.

    Dask gives up a worker that is killed while it starts, so the cluster is filled again.
    """
    stopped, killed = Event(), []

    def kill() -> None:
        while not stopped.wait(random.uniform(0, 2 * every)):
            children = psutil.Process(os.getpid()).children(recursive=True)
            workers = [child for child in children if _is_worker(child)]
            if not cluster.scheduler_info["workers"]:
                cluster.scale(0)
                cluster.scale(2)
            elif workers:
                worker = random.choice(workers)
                worker.send_signal(signal.SIGKILL)
                killed.append(worker.pid)

    thread = Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        stopped.set()
        thread.join()


def _is_worker(process: psutil.Process) -> bool:
    try:
        return "spawn_main" in " ".join(process.cmdline())
    except psutil.Error:
        return False


@pytest.mark.parametrize("where", ["local", "cluster"])
def test_rows_equal_a_plain_loop_when_workers_are_killed(tmp_path: Path, where: str) -> None:
    files = [logs.write_log(tmp_path / f"{seed}.jsonl", 50_000, seed) for seed in range(3)]
    out, job = tmp_path / "out", Job("values", logs.SCHEMA)
    with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0"
    ) as cluster:
        place = cluster.scheduler_address if where == "cluster" else None
        with random_kills(cluster, every=4.0) as killed:
            counts = run(files, out, job, place, partition_size=SIZE)
    assert killed
    assert counts["streams"] == 150_000
    assert logs.written_rows(out) == logs.expected_rows(files, job)
    assert not list(out.rglob("*.tmp"))
    before = {file: file.stat().st_mtime_ns for file in out.glob("*.jsonl")}
    again = run(files, out, job, partition_size=SIZE)
    assert again | {"milliseconds": 0} == counts | {"milliseconds": 0}
    assert before == {file: file.stat().st_mtime_ns for file in out.glob("*.jsonl")}
