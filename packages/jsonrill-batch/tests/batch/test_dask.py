"""The same on Dask: a cluster of its own, one that runs already, and workers that are lost."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from jsonrill_batch import BatchError, Job, resume, run
from support import hard

from . import logs
from .logs import done, log, quarantine, results, rows, sample

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

CHECK = Job(kind="check")


@pytest.fixture(scope="module")
def streams(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample(tmp_path_factory.mktemp("logs") / "streams.jsonl", 1500)


@pytest.fixture(scope="module")
def whole(streams: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    out = tmp_path_factory.mktemp("whole") / "out"
    run(CHECK, [str(streams)], str(out), workers=0, shard_bytes=100_000)
    return results(out)


def workers_of(pid: int) -> list[int]:
    """The processes of Dask below this one that do the work."""
    return [child for child in logs.descendants(pid) if "spawn_main" in logs.name_of(child)]


@hard
def test_a_lost_worker_and_a_killed_run_change_nothing(
    streams: Path, whole: dict[str, bytes], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    args = ["check", streams, "--out", out, "--shard-size", "100kB", "--workers", 2]
    process = logs.start(*args, "--engine", "dask")
    logs.wait_for(lambda: done(out) >= 1 or process.poll() is not None)
    logs.kill(workers_of(process.pid)[0])
    logs.wait_for(lambda: done(out) >= 5 or process.poll() is not None)
    assert process.poll() is None, process.communicate()
    workers = workers_of(process.pid)
    logs.kill(process.pid)
    process.communicate()
    logs.wait_for(lambda: not any(map(logs.is_alive, workers)))
    # On with another engine: the manifest is the same.
    again = logs.batch("resume", out, "--workers", 1)
    assert again.returncode == 1, again.stderr
    assert results(out) == whole
    assert json.loads((out / "report.json").read_text())["run"]["resumed_shards"] >= 5


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """A cluster that runs before and after what it is asked to do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", logs.ENV["PYTHONPATH"])
        # A task that killed one worker is given up at once: starting workers is what takes time.
        with (
            dask.config.set({"distributed.scheduler.allowed-failures": 0}),
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0"
            ) as local,
        ):
            yield local.scheduler_address


def test_a_cluster_that_runs_makes_the_same(
    streams: Path, whole: dict[str, bytes], tmp_path: Path, cluster: str
) -> None:
    out = tmp_path / "out"
    report = run(
        CHECK,
        [str(streams)],
        str(out),
        engine="dask",
        scheduler=cluster,
        shard_bytes=100_000,
    )
    assert results(out) == whole and report.engine == "dask"
    (out / "rows" / "part-00001.jsonl").unlink()
    assert resume(str(out), engine="dask", scheduler=cluster).resumed == 15
    assert results(out) == whole


@hard
def test_a_line_that_kills_workers_of_dask_is_put_aside(tmp_path: Path, cluster: str) -> None:
    pytest.importorskip("pydantic")
    texts = [{"id": city, "text": json.dumps({"city": city})} for city in ("Faro", "Atlantis")]
    path = log(tmp_path / "a.jsonl", *texts, texts[0])
    job = Job(kind="check", schema="batch.models:Deadly")
    report = run(job, [str(path)], str(tmp_path / "out"), engine="dask", scheduler=cluster)
    assert [row["id"] for row in rows(tmp_path / "out")] == ["Faro", "Faro"]
    assert [bad["code"] for bad in quarantine(tmp_path / "out")] == ["DEADLY"]
    assert not report.failed


def test_a_cluster_without_workers_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jsonrill_batch.engines.cluster.WORKERLESS", 0.5)
    path = log(tmp_path / "a.jsonl", '{"text": "1"}')
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0") as empty,
        pytest.raises(BatchError, match=r"no worker for 0\.5 seconds"),
    ):
        address = empty.scheduler_address
        run(CHECK, [str(path)], str(tmp_path / "out"), engine="dask", scheduler=address)
    assert resume(str(tmp_path / "out"), workers=0).ok


def test_a_scheduler_that_is_not_there_is_told(tmp_path: Path) -> None:
    path = log(tmp_path / "a.jsonl", '{"text": "1"}')
    address = "tcp://127.0.0.1:1"
    with (
        pytest.MonkeyPatch.context() as patch,
        pytest.raises(BatchError, match=f"no Dask scheduler at {address}"),
    ):
        patch.setattr("jsonrill_batch.engines.cluster.TIMEOUT", "1s")
        run(CHECK, [str(path)], str(tmp_path / "out"), engine="dask", scheduler=address)
    assert resume(str(tmp_path / "out"), workers=0).ok


def test_without_dask_it_is_told_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = log(tmp_path / "a.jsonl", '{"text": "1"}')
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(BatchError, match=r"pip install 'jsonrill\[batch\]'"):
        run(CHECK, [str(path)], str(tmp_path / "out"), engine="dask")
