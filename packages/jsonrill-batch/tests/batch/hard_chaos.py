"""150 000 streams while workers are killed: the rows are those of a plain loop."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from jsonrill_batch import Job, run

from . import logs

SIZE = 8 * 2**20


@pytest.mark.parametrize("where", ["local", "cluster"])
def test_rows_are_those_of_a_plain_loop_though_workers_are_killed(
    tmp_path: Path, where: str
) -> None:
    files = [logs.write_log(tmp_path / f"{seed}.jsonl", 50_000, seed) for seed in range(3)]
    out, job = tmp_path / "out", Job("values", logs.SCHEMA)
    if where == "local":
        with logs.random_kills(os.getpid(), every=2.0) as killed:
            summary = run(files, out, job, workers=2, partition_size=SIZE)
    else:
        with logs.loopback_cluster(2) as (scheduler, parent):
            with logs.random_kills(parent, every=2.0) as killed:
                summary = run(files, out, job, scheduler, partition_size=SIZE)
    assert killed
    assert summary.streams == 150_000
    assert logs.written_rows(out) == logs.expected_rows(files, job)
    assert not list(out.glob(".*"))
    before = {file: file.stat().st_mtime_ns for file in out.glob("*.jsonl")}
    assert run(files, out, job, partition_size=SIZE) == summary
    assert before == {file: file.stat().st_mtime_ns for file in out.glob("*.jsonl")}
