"""`run` and the command: files in, a folder of rows out, whatever happens to workers."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import pyarrow.parquet
import pytest
from distributed import Client, LocalCluster
from typer.testing import CliRunner

from jsonrill.cli.commands import app
from jsonrill_batch import BatchError, Job, run, runner

from . import logs

CHECK = Job("check", logs.SCHEMA)
SIZE = 50_000


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """Yield the address of a cluster that many tests use, since starting one takes seconds."""
    with LocalCluster(n_workers=1, dashboard_address="127.0.0.1:0") as cluster:
        yield cluster.scheduler_address


def names(out: Path) -> list[str]:
    return sorted(file.name for file in out.iterdir())


def test_rows_are_those_of_a_plain_loop(tmp_path: Path) -> None:
    files = [logs.write_log(tmp_path / f"{seed}.jsonl", 200, seed) for seed in range(2)]
    progress: list[tuple[int, int]] = []

    def show(done: int, total: int) -> None:
        progress.append((done, total))

    counts = run(files, tmp_path / "out", CHECK, None, 2, partition_size=SIZE, on_progress=show)
    expected = logs.expected_rows(files, CHECK)
    assert logs.written_rows(tmp_path / "out") == expected
    assert counts["streams"] == 400
    for status in ("complete", "cut", "invalid"):
        assert counts[status] == sum(row["status"] == status for row in expected)
    assert progress[0][0] == 0 and progress[-1][0] == progress[-1][1] > 2


def test_a_local_worker_that_died_while_it_started_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def connect(scheduler: str | None, workers: int) -> Client:
        return Client(n_workers=0, threads_per_worker=1, dashboard_address="127.0.0.1:0")

    monkeypatch.setattr(runner, "_connect", connect)
    monkeypatch.setattr(runner, "_CHECK_SECONDS", 5)
    log = logs.write_log(tmp_path / "a.jsonl", 5)
    assert run([log], tmp_path / "out", CHECK, None, 1)["streams"] == 5


def test_the_work_goes_to_the_named_scheduler(tmp_path: Path) -> None:
    log = logs.write_log(tmp_path / "a.jsonl", 2)
    quick = dask.config.set({"distributed.comm.timeouts.connect": "1s"})
    with quick, pytest.raises(OSError, match="connect to tcp://127.0.0.1:1"):
        run([log], tmp_path / "out", CHECK, "tcp://127.0.0.1:1")


def test_a_second_run_skips_what_is_done(tmp_path: Path, scheduler: str) -> None:
    first, out = logs.write_log(tmp_path / "a.jsonl", 20), tmp_path / "out"
    counts = run([first], out, CHECK, scheduler)
    (rows,) = out.glob("*.jsonl")
    written = rows.stat().st_mtime_ns
    assert run([first], out, CHECK, scheduler) == counts
    second = logs.write_log(tmp_path / "b.jsonl", 10)
    assert run([tmp_path / "*.jsonl"], out, CHECK, scheduler)["streams"] == 30
    assert rows.stat().st_mtime_ns == written
    logs.write_log(first, 25)
    assert run([first, second], out, CHECK, scheduler)["streams"] == 35


def test_rows_of_different_jobs_are_not_mixed(tmp_path: Path, scheduler: str) -> None:
    log = logs.write_log(tmp_path / "a.jsonl", 3)
    run([log], tmp_path / "out", CHECK, scheduler)
    with pytest.raises(BatchError, match="another job"):
        run([log], tmp_path / "out", Job("values"), scheduler)
    with pytest.raises(BatchError, match="not the output of a batch"):
        run([log], tmp_path, CHECK, scheduler)
    with pytest.raises(BatchError, match="no such file"):
        run([tmp_path / "b.jsonl"], tmp_path / "new", CHECK, scheduler)


def test_compressed_logs_are_read_up_to_the_damage(tmp_path: Path, scheduler: str) -> None:
    log = logs.write_log(tmp_path / "a.jsonl", 50)
    packed = gzip.compress(log.read_bytes())
    (tmp_path / "b.jsonl.gz").write_bytes(packed)
    assert run([tmp_path / "b.jsonl.gz"], tmp_path / "out", CHECK, scheduler)["streams"] == 50
    (tmp_path / "c.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    run([tmp_path / "c.jsonl.gz"], tmp_path / "half", CHECK, scheduler)
    rows = logs.written_rows(tmp_path / "half")
    assert 5 < len(rows) < 50
    assert rows[:-1] == logs.expected_rows([log], CHECK)[: len(rows) - 1]
    assert rows[-1]["error"]["code"] == "DAMAGED_FILE"


def test_a_line_that_kills_workers_is_a_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [json.dumps({"id": number, "text": "[1]"}) for number in range(100)]
    lines[30] = lines[70] = logs.DEADLY
    log = tmp_path / "a.jsonl"
    log.write_text("\n".join(lines) + "\n")
    with logs.deadly_lines(tmp_path, monkeypatch):
        counts = run([log], tmp_path / "out", Job("values"), workers=1)
    rows = logs.written_rows(tmp_path / "out")
    assert [row["id"] for row in rows if row["status"] == "complete"] == [
        number for number in range(100) if number not in (30, 70)
    ]
    for number in (30, 70):
        assert rows[number]["error"]["code"] == "WORKER_KILLED"
        assert rows[number]["id"] == f"{log}@{len(''.join(lines[:number])) + number}"
    assert counts["invalid: WORKER_KILLED"] == 2
    assert not list((tmp_path / "out").rglob("*.tmp"))


def test_a_failed_write_leaves_no_half_file(tmp_path: Path, scheduler: str) -> None:
    log = logs.write_log(tmp_path / "a.jsonl", 20)
    out = tmp_path / "out"
    run([log], out, CHECK, scheduler)
    (rows,) = out.glob("*.jsonl")
    rows.unlink()
    rows.mkdir()
    (rows / "in the way").touch()
    os.utime(log)
    with pytest.raises(BatchError, match="a.jsonl: .*directory"):
        run([log], out, CHECK, scheduler)
    assert names(out) == sorted([".done", rows.name, "job.json"])


def test_parquet_has_columns_for_the_error_and_json_text(tmp_path: Path, scheduler: str) -> None:
    log = tmp_path / "a.jsonl"
    texts = ['{"a": [1e400, "\\ud800"]}', '{"a": [1}', "{'a': 1}"]
    log.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    out = tmp_path / "out"
    counts = run([log], out, Job("values", repair=True), scheduler, parquet=True)
    assert (counts["complete"], counts["repairs: quotes"]) == (2, 1)
    first, second, third = pyarrow.parquet.read_table(next(out.glob("*.parquet"))).to_pylist()
    assert (first["id"], first["value"]) == (f"{log}@0", '{"a":[1e999,"\\ud800"]}')
    assert (second["code"], second["path"], second["offset"]) == ("INVALID_JSON", "root.a", 8)
    assert json.loads(third["repairs"])[0]["rule"] == "quotes"


def command(*arguments: Any) -> Any:
    return CliRunner().invoke(app, ["batch", *map(str, arguments)])


def test_the_command_shows_a_table_or_json(tmp_path: Path, scheduler: str) -> None:
    log = tmp_path / "a.jsonl"
    log.write_text('{"text": "[1]"}\n{"text": "[1"}\n')
    shown = command("values", log, "--out", tmp_path / "out", "--scheduler", scheduler)
    assert shown.exit_code == 1, shown.output
    assert [line.split()[1:4:2] for line in shown.stdout.splitlines() if "cut" in line] == [
        ["cut", "1"]
    ]
    again = command("values", log, "--out", tmp_path / "out", "--scheduler", scheduler, "--json")
    assert json.loads(again.stdout)["cut"] == 1


@pytest.mark.parametrize(
    "arguments, code, message",
    [
        (["values", "missing.jsonl"], 3, "missing.jsonl: no such file"),
        (["updates", ".", "--mode", "NONE"], 2, "mode"),
        (["check", ".", "--schema", "missing.json"], 2, "missing.json"),
        (["values", ".", "--workers", 2, "--scheduler", "tcp://a:1"], 2, "leave out"),
    ],
)
def test_the_command_says_what_is_wrong(
    tmp_path: Path, arguments: list[Any], code: int, message: str
) -> None:
    shown = command(*arguments, "--out", tmp_path / "out")
    assert shown.exit_code == code
    assert message in shown.stderr
