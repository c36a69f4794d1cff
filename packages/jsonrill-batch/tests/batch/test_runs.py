"""Runs: the same result whoever does them, however often they are killed, whatever happens."""

from __future__ import annotations

import errno
import gzip
import json
import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from jsonrill_batch import (
    BatchError,
    InputError,
    Interrupted,
    Job,
    OutputError,
    Progress,
    Report,
    process_shard,
    resume,
    run,
)
from jsonrill_batch.engines import local
from jsonrill_batch.engines.engine import Trials
from jsonrill_batch.engines.task import read_mark
from jsonrill_batch.output.folder import Folder
from jsonrill_batch.plan import Shard
from support import hard

from . import logs
from .logs import done, log, quarantine, results, rows, sample

CHECK = Job(kind="check")
VALUES = Job(kind="values")
GOOD = '{"id": 1, "text": "[1, 2]"}'


def shards(out: Path) -> int:
    return len(list(out.glob("rows/part-*")))


@pytest.fixture(scope="module")
def streams(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample(tmp_path_factory.mktemp("logs") / "streams.jsonl", 1500)


@pytest.fixture(scope="module")
def whole(streams: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What an undisturbed run in one process makes of them."""
    out = tmp_path_factory.mktemp("whole") / "out"
    report = run(CHECK, [str(streams)], str(out), workers=0, shard_bytes=100_000)
    assert report.summary.streams == 1500 and shards(out) == 16
    return results(out)


def test_any_number_of_workers_makes_the_same(
    streams: Path, whole: dict[str, bytes], tmp_path: Path
) -> None:
    report = run(CHECK, [str(streams)], str(tmp_path / "o"), workers=2, shard_bytes=100_000)
    assert results(tmp_path / "o") == whole
    assert report.summary.streams == 1500 and not report.failed
    assert sorted(os.listdir(tmp_path / "o"))[:3] == ["done", "lock", "manifest.json"]
    assert not (tmp_path / "o" / "tmp").exists()


def test_rows_are_in_the_order_of_the_lines(whole: dict[str, bytes]) -> None:
    parts = b"".join(whole[name] for name in sorted(whole))
    ids = [json.loads(line)["id"] for line in parts.splitlines()]
    assert ids == [f"s{number}" for number in range(1500)]


def attempt(out: Path, args: list[object], killed: bool) -> subprocess.Popen[str]:
    """Begin or go on, kill a worker on the way and, perhaps, the run itself a little later."""
    before = done(out)
    process = logs.start(*args, "--workers", 2)

    def more(shards: int) -> None:
        logs.wait_for(lambda: done(out) > before + shards or process.poll() is not None)

    more(0)
    workers = logs.children(process.pid)
    assert workers, process.communicate()
    logs.kill(workers[0])
    if killed:
        more(2)
        workers = logs.children(process.pid)
        logs.kill(process.pid)
        logs.wait_for(lambda: not any(map(logs.is_alive, workers)))
    return process


@hard
def test_killed_workers_and_runs_change_nothing(
    streams: Path, whole: dict[str, bytes], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    args: list[object] = ["check", streams, "--out", out, "--shard-size", "100kB"]
    for _ in range(2):
        attempt(out, args, killed=True).communicate()
        assert not (out / "report.json").exists() and done(out) < 16
        args = ["resume", out]
    process = attempt(out, args, killed=False)
    _, wrong = process.communicate()
    assert process.returncode == 1, wrong  # some streams are broken, and this is a check
    assert results(out) == whole and not (out / "tmp").exists()
    report = json.loads((out / "report.json").read_text())
    assert report["summary"]["streams"] == 1500 and report["run"]["resumed_shards"] > 0


def test_a_finished_run_is_not_done_again(streams: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    bad = log(tmp_path / "bad.jsonl", "nonsense", GOOD)
    inputs = [str(streams), str(bad)]
    run(CHECK, inputs, str(out), workers=0, shard_bytes=100_000)
    first, times = results(out), {part: part.stat().st_mtime_ns for part in out.glob("rows/part-*")}
    report = resume(str(out), workers=0)
    assert report.resumed == report.shards and report.summary.streams == 1501
    assert {part: part.stat().st_mtime_ns for part in out.glob("rows/part-*")} == times
    # What is missing is done, and what was put together is put together again.
    (out / "rows" / "part-00002.jsonl").unlink()
    (out / "rows" / "part-00004.jsonl").write_text("half")
    assert not report.failed and results(out) != first
    report = resume(str(out), workers=0)
    assert results(out) == first and len(quarantine(out)) == 1
    assert not list((out / "quarantine").iterdir())
    # The quarantine of the other shard was put together before, so that one was done again.
    assert report.resumed == report.shards - 3


def test_a_line_that_kills_its_worker_is_put_aside(tmp_path: Path) -> None:
    pytest.importorskip("pydantic")
    cities = ["Faro", "Atlantis", "Porto", "Braga", "Atlantis"]
    texts = [{"id": city, "text": json.dumps({"city": city})} for city in cities]
    path = log(tmp_path / "a.jsonl", *texts)
    other = log(tmp_path / "b.jsonl", *texts[2:4])
    job = Job(kind="check", schema="batch.models:Deadly")
    inputs = [str(path), str(other)]
    report = run(job, inputs, str(tmp_path / "out"), workers=2, shard_bytes=path.stat().st_size)
    assert [row["id"] for row in rows(tmp_path / "out")] == ["Faro", "Porto", "Braga"] + [
        "Porto",
        "Braga",
    ]
    quarantined = quarantine(tmp_path / "out")
    assert [(bad["code"], bad["line"]) for bad in quarantined] == [("DEADLY", 2), ("DEADLY", 5)]
    assert "killed by SIGKILL" in quarantined[0]["message"] and "Atlantis" in quarantined[0]["text"]
    assert not report.failed and not report.ok


def test_a_shard_whose_workers_never_start_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = log(tmp_path / "a.jsonl", GOOD)
    popen = subprocess.Popen

    def dead(command: list[str], **options: Any) -> Any:
        return popen(["sh", "-c", "exit 3"], **options)

    monkeypatch.setattr(subprocess, "Popen", dead)
    report = run(VALUES, [str(path)], str(tmp_path / "out"), workers=1)
    assert "exit code 3" in report.failed["part-00000"] and not report.ok
    monkeypatch.undo()
    assert resume(str(tmp_path / "out"), workers=1).ok


def test_a_damaged_archive_loses_nothing_else(tmp_path: Path) -> None:
    good = log(tmp_path / "a.jsonl", *[GOOD] * 10)
    data = gzip.compress(b"".join(b'{"text": "%d"}\n' % number for number in range(5000)))
    (tmp_path / "b.jsonl.gz").write_bytes(data[: len(data) // 2])
    inputs = [str(tmp_path / "b.jsonl.gz"), str(good)]
    report = run(VALUES, inputs, str(tmp_path / "out"), workers=0)
    (bad,) = quarantine(tmp_path / "out")
    assert (bad["code"], bad["file"]) == ("DAMAGED_FILE", inputs[0])
    assert bad["line"] == report.summary.streams - 10 + 1
    kept = rows(tmp_path / "out")
    assert len(kept) > 1000 and [row["value"] for row in kept[:3]] == [0, 1, 2]
    assert [row["id"] for row in kept[-10:]] == [1] * 10


def test_a_cut_line_and_a_huge_one_lose_nothing_else(tmp_path: Path) -> None:
    size = 100 * 2**20
    with open(tmp_path / "a.jsonl", "wb") as file:
        file.write(GOOD.encode() + b"\n" + b'{"id": 2, "te')
        # A hole instead of a hundred megabytes on the disk.
        file.seek(size, os.SEEK_CUR)
        file.write(b"\n" + GOOD.encode() + b"\n" + GOOD[:10].encode())
    report = run(VALUES, [str(tmp_path / "a.jsonl")], str(tmp_path / "out"), workers=0)
    long, cut = quarantine(tmp_path / "out")
    assert (long["code"], long["line"], long["offset"]) == ("TOO_LONG", 2, len(GOOD) + 1)
    assert long["size"] == size + 14 and long["cut"] and len(long["text"]) == 64 * 2**10
    assert (cut["code"], cut["line"], cut["text"]) == ("NOT_JSON", 4, GOOD[:10])
    assert cut["offset"] == 2 * len(GOOD) + 2 + size + 14
    assert report.summary.streams == 2 and report.shards > 10


def test_line_numbers_are_those_of_the_file(tmp_path: Path) -> None:
    lines = [GOOD if number % 7 else f"bad {number}" for number in range(1, 300)]
    path = log(tmp_path / "a.jsonl", *lines)
    run(VALUES, [str(path)], str(tmp_path / "out"), workers=0, shard_bytes=500)
    quarantined = quarantine(tmp_path / "out")
    assert [bad["line"] for bad in quarantined] == list(range(7, 300, 7))
    assert all(bad["text"] == f"bad {bad['line']}" for bad in quarantined)
    assert list((tmp_path / "out" / "quarantine").iterdir()) == []


def test_a_missing_file_is_told_before_anything_is_done(tmp_path: Path) -> None:
    path = log(tmp_path / "a.jsonl", GOOD)
    with pytest.raises(InputError, match=r"gone\.jsonl: No such file"):
        run(VALUES, [str(path), "gone.jsonl"], str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_a_file_that_goes_away_fails_its_shard_alone(tmp_path: Path) -> None:
    paths = [str(log(tmp_path / f"{name}.jsonl", *[GOOD] * 5)) for name in "abc"]
    kept = Path(paths[1]).read_bytes()
    stamp = os.stat(paths[1])

    def vanish(progress: Progress) -> None:
        if os.path.exists(paths[1]):
            os.unlink(paths[1])

    out = str(tmp_path / "out")
    report = run(VALUES, paths, out, workers=0, shard_bytes=150, on_progress=vanish)
    assert list(report.failed) == ["part-00001"] and "No such file" in report.failed["part-00001"]
    assert report.summary.streams == 10 and "FAILED" in report.to_text()
    with pytest.raises(InputError, match="have changed since the run was started: .*No such file"):
        resume(out)
    Path(paths[1]).write_bytes(kept)
    with pytest.raises(InputError, match=r"b\.jsonl has changed.*another folder"):
        resume(out)
    os.utime(paths[1], ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    report = resume(out, workers=0)
    assert report.ok and report.summary.streams == 15 and report.resumed == 2


def test_a_folder_that_cannot_be_written_to_is_told_before_any_work(tmp_path: Path) -> None:
    path = log(tmp_path / "a.jsonl", GOOD)
    with pytest.raises(OutputError, match="Not a directory"):
        run(VALUES, [str(path)], str(path / "out"))
    with pytest.raises(OutputError, match=r"/proc/out"):
        run(VALUES, [str(path)], "/proc/out")


def test_a_read_only_folder_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = log(tmp_path / "a.jsonl", GOOD)

    def refuse(*args: object, **options: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "makedirs", refuse)
    with pytest.raises(OutputError, match="out: Read-only file system"):
        run(VALUES, [str(path)], str(tmp_path / "out"))


def test_a_full_disk_stops_the_run_and_keeps_what_is_done(
    streams: Path, whole: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    sync = os.fsync

    def full(file: int) -> None:
        if done(out) >= 5 and "part-00005" in os.readlink(f"/proc/self/fd/{file}"):
            raise OSError(errno.ENOSPC, "No space left on device")
        sync(file)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match=r"No space left on device \(5 of 16 shards are done\)"):
        run(CHECK, [str(streams)], str(out), workers=0, shard_bytes=100_000)
    assert shards(out) == 5 and not list((out / "tmp").glob("*part-00005.jsonl*"))
    monkeypatch.undo()
    assert resume(str(out), workers=0).resumed == 5
    assert results(out) == whole


def test_ctrl_c_stops_and_can_be_resumed(
    streams: Path, whole: dict[str, bytes], tmp_path: Path
) -> None:
    out = str(tmp_path / "out")

    def stop(progress: Progress) -> None:
        if progress.shards_done == 3:
            raise KeyboardInterrupt

    for workers in (0, 2):
        with pytest.raises(Interrupted, match=r"[0-9]+ of 16 shards done"):
            if workers:
                resume(out, workers=workers, on_progress=lambda progress: stop(Progress(0, 0, 3)))
            else:
                run(CHECK, [str(streams)], out, workers=0, shard_bytes=100_000, on_progress=stop)
        assert not (tmp_path / "out" / "tmp").exists()
    resume(out, workers=0)
    assert results(tmp_path / "out") == whole


def test_progress_counts_up_to_the_end(
    streams: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[int, int, float]] = []
    # A shard of this size is read before a person's eye would see it.
    monkeypatch.setattr(local, "_TICK", 0.001)

    def tell(progress: Progress) -> None:
        seen.append((progress.bytes_done, progress.streams, progress.left or 0.0))

    size = streams.stat().st_size
    run(CHECK, [str(streams)], str(tmp_path / "o"), workers=1, shard_bytes=size, on_progress=tell)
    assert seen[-1][:2] == (size, 1500)
    assert [step[0] for step in seen] == sorted(step[0] for step in seen)
    # Within a shard, too.
    assert any(0 < step[0] < size and step[2] > 0 for step in seen)


def test_the_time_left_is_that_of_the_speed_of_this_run() -> None:
    assert Progress(4, 100, bytes_done=25, seconds=1.0).left == 3.0
    assert Progress(4, 100, bytes_done=25, bytes_before=20, seconds=1.0).left == 15.0
    assert Progress(4, 100, bytes_done=20, bytes_before=20, seconds=1.0).left is None


MARKING = """
import itertools, sys
from jsonrill_batch.engines.task import marked
with marked(sys.argv[1]) as mark:
    mark(0, 0)
    print("marked", flush=True)
    for count in itertools.count(1):
        mark(count, count)
"""


def test_a_mark_never_goes_back_while_it_is_read(tmp_path: Path) -> None:
    path = str(tmp_path / "mark")
    with subprocess.Popen([sys.executable, "-c", MARKING, path], stdout=subprocess.PIPE) as worker:
        try:
            assert worker.stdout is not None and worker.stdout.readline()
            marks = [read_mark(path) for _ in range(3000)]
        finally:
            worker.kill()
    done = [mark[1] for mark in marks if mark is not None]
    assert len(done) == len(marks) and done == sorted(done) and done[0] < done[-1]


def test_a_folder_belongs_to_one_run(tmp_path: Path) -> None:
    path = log(tmp_path / "a.jsonl", GOOD)
    out = str(tmp_path / "out")
    with Folder(out).locked():
        with pytest.raises(BatchError, match="another run"):
            run(VALUES, [str(path)], out)
    run(VALUES, [str(path)], out, workers=0)
    with pytest.raises(BatchError, match="is not empty"):
        run(VALUES, [str(path)], out)
    with pytest.raises(BatchError, match=r"has no manifest\.json"):
        resume(str(tmp_path))
    (tmp_path / "out" / "manifest.json").write_text("{}")
    with pytest.raises(BatchError, match="cannot be read"):
        resume(out)
    (tmp_path / "out" / "manifest.json").write_text('{"version": 99}')
    with pytest.raises(BatchError, match="another version"):
        resume(out)


def test_what_a_run_left_that_never_began_is_in_nobodys_way(tmp_path: Path) -> None:
    path = log(tmp_path / "a.jsonl", GOOD)
    (tmp_path / "out" / "tmp").mkdir(parents=True)
    (tmp_path / "out" / "tmp" / "manifest.json.host-1").write_text("half")
    (tmp_path / "out" / "lock").touch()  # which is made before anything else
    assert run(VALUES, [str(path)], str(tmp_path / "out"), workers=0).ok


def test_the_rows_are_a_folder_that_is_one_table(tmp_path: Path) -> None:
    """As pandas.read_parquet and DuckDB read it: every file in it, all with the same columns."""
    dataset = pytest.importorskip("pyarrow.dataset")
    pytest.importorskip("jsonschema_rs")
    texts = ['{"city": "Faro"}', '{"city": 1}', '{"days": [{"city": 2}]}', '{"city": ', "[1"]
    lines: list[Any] = [
        {"id": number, "chunks": [text[:5], text[5:]], "times": [0.5, 1.5], "start": 0}
        for number, text in enumerate(texts)
    ]
    city = {"properties": {"city": {"type": "string"}}}
    schema = {**city, "properties": {**city["properties"], "days": {"items": city}}}
    files = [logs.log(tmp_path / f"{n}.jsonl", *lines[n::2], "nonsense") for n in range(2)]
    job = Job(kind="check", schema=schema)
    report = run(job, files, tmp_path / "out", workers=0, format="parquet", shard_bytes=1)
    table = dataset.dataset(tmp_path / "out" / "rows").to_table().sort_by("id").to_pydict()
    assert table["ok"] == [True, False, False, False, False]
    invalid = "INVALID_SCHEMA"
    assert table["code"] == [None, invalid, invalid, "TRUNCATED", "TRUNCATED"]
    assert table["path"][1:3] == ["root.city", "root.days[0].city"]
    assert table["rule"] == [None, "type", "type", None, None]
    assert table["offset"] == [None, 9, 19, 9, 2]
    assert table["characters"] == [*map(len, texts)] and table["pieces"] == [2] * 5
    assert table["first_seconds"][0] == 1.5 and table["last_pieces"][0] == 2
    assert json.loads(table["row"][1])["error"]["message"]
    assert report.summary.breaks["root.days[*].city"] == {"type": 1}
    assert report.summary.worst(1) == [("root.city", "TRUNCATED", 1)]


@pytest.mark.parametrize("kind", ["values", "updates", "fragments", "chunks", "calls"])
def test_parquet_of_every_job_has_the_columns_of_errors(kind: str, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    call = {"index": 0, "id": "c", "function": {"name": "go", "arguments": '{"a" 1}'}}
    line = {
        "chunks": {"snapshots": [{"a": "x"}, {"a": "y"}]},
        "calls": {"events": [{"choices": [{"delta": {"tool_calls": [call]}}]}]},
    }.get(kind, {"text": '{"a" 1}'})
    files = [logs.log(tmp_path / "a.jsonl", line)]
    report = run(Job(kind=kind), files, tmp_path / "out", workers=0, format="parquet")
    table = parquet.read_table(tmp_path / "out" / "rows").to_pylist()
    assert table[-1]["ok"] is False and table[-1]["code"] and table[-1]["path"] == "root.a"
    if kind in ("updates", "fragments"):
        assert [row["seq"] for row in table] == [json.loads(row["row"])["seq"] for row in table]
    label = "go: root.a" if kind == "calls" else "root.a"
    assert list(report.summary.breaks) == [label] and not report.ok


def test_parquet_has_the_same_rows(streams: Path, whole: dict[str, bytes], tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    outputs = []
    for name, workers in (("a", 0), ("b", 2)):
        out = tmp_path / name
        run(
            CHECK,
            [str(streams)],
            str(out),
            workers=workers,
            format="parquet",
            shard_bytes=100_000,
        )
        outputs.append(results(out))
    assert outputs[0] == outputs[1] and len(outputs[0]) == 16
    table = parquet.read_table(tmp_path / "a" / "rows" / "part-00002.parquet").to_pydict()
    wanted = whole["part-00002.jsonl"].decode().splitlines()
    assert table["row"] == wanted
    errors = [json.loads(row).get("error", {}) for row in wanted]
    assert table["code"] == [error.get("code") for error in errors]
    assert any(table["code"]) and table["id"][0] == json.loads(wanted[0])["id"]


def test_a_folder_may_be_at_an_address(
    streams: Path, whole: dict[str, bytes], tmp_path: Path
) -> None:
    pytest.importorskip("fsspec")
    out = f"file://{tmp_path}/out"
    bad = log(tmp_path / "bad.jsonl", "nonsense")
    run(CHECK, [str(streams), str(bad)], out, workers=2, shard_bytes=100_000)
    files = results(tmp_path / "out")
    assert files.pop("quarantine.jsonl") and files.pop("part-00016.jsonl") == b""
    assert files == whole
    with pytest.raises(BatchError, match="is not empty"):
        run(CHECK, [str(streams)], out)
    (tmp_path / "out" / "rows" / "part-00001.jsonl").unlink()
    assert resume(out, workers=1).resumed == 15
    files = results(tmp_path / "out")
    assert len(quarantine(tmp_path / "out")) == 1 and files["part-00001.jsonl"]


def test_event_streams_as_they_came_are_read(tmp_path: Path) -> None:
    def event(text: str) -> str:
        call = {"index": 0, "function": {"arguments": text}}
        return "data: " + json.dumps({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})

    stream = "\n\n".join([event('{"city": '), event('"Faro"}'), "data: [DONE]"]) + "\n\n"
    (tmp_path / "a.sse").write_text(stream * 3)
    (tmp_path / "b.sse").write_text(stream)
    report = run(Job(kind="calls"), [str(tmp_path / "*.sse")], str(tmp_path / "out"), workers=0)
    assert report.summary.streams == 4 and report.shards == 1
    streams = rows(tmp_path / "out")
    assert [row["calls"][0]["args"] for row in streams] == [{"city": "Faro"}] * 4
    assert [row["id"][-7:] for row in streams] == ["a.sse#1", "a.sse#2", "a.sse#3", "b.sse#1"]


def test_a_worker_ends_when_nobody_waits_for_it(tmp_path: Path) -> None:
    worker = subprocess.Popen(
        [logs.COMMAND[0], "-m", "jsonrill_batch.engines.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=logs.ENV,
    )
    assert worker.stdin is not None and worker.stdout is not None
    worker.stdin.close()
    assert worker.wait(60) == 0
    worker.stdout.close()


def test_a_report_is_ok_or_not(tmp_path: Path) -> None:
    def ended(job: Job, *records: str) -> Report:
        path = log(tmp_path / "a.jsonl", *records)
        out = tmp_path / f"out{len(list(tmp_path.iterdir()))}"
        return run(job, [str(path)], str(out), workers=0)

    broken = '{"text": "[1"}'
    assert ended(VALUES, GOOD).ok and ended(CHECK, GOOD).ok
    assert not ended(VALUES, GOOD, broken).ok and not ended(CHECK, GOOD, broken).ok
    assert not ended(VALUES, GOOD, "nonsense").ok


def test_a_type_is_named_for_workers(tmp_path: Path) -> None:
    pydantic = pytest.importorskip("pydantic")
    path = log(tmp_path / "a.jsonl", GOOD)
    job = Job(kind="check", schema=pydantic.TypeAdapter(list[int]))
    with pytest.raises(TypeError, match="module:Name"):
        run(job, [str(path)], str(tmp_path / "out"))
    # In one process it may be the type itself.
    assert process_shard([GOOD], job).ok == 1


def test_names_that_are_no_text_are_read(tmp_path: Path) -> None:
    path = log(tmp_path / "a\udcff\x1b.jsonl", GOOD, "nonsense")
    report = run(VALUES, [str(path)], str(tmp_path / "out"), workers=1)
    assert report.summary.streams == 1 and quarantine(tmp_path / "out")[0]["file"] == str(path)


def test_deaths_are_counted_to_an_end(tmp_path: Path) -> None:
    shard = Shard(0, ())
    mark = tmp_path / "mark"

    def lives(lines: list[int]) -> int:
        """How many workers such a shard may cost."""
        trials = Trials(lambda shard, skip: {"skip": skip})
        for number, line in enumerate(lines, start=1):
            mark.write_bytes(struct.pack("<qq", line, 0))
            if trials.death(shard, "was lost", str(mark)) is not None:
                return number
        raise AssertionError("it goes on for ever")

    assert lives(list(range(100))) == 5  # never at the same line
    assert lives([7] * 100) == 2 + 5  # at one that is left out already
    assert lives([-1] * 100) == 5  # at none
    assert lives([line for line in range(100) for _ in range(2)]) == 2 * 51  # at all of them


def test_an_input_that_cannot_be_read_is_tried_three_times_and_nothing_else_is() -> None:
    shard, trials = Shard(0, ()), Trials(lambda shard, skip: {"skip": skip})
    unread = {"index": 0, "state": "unread", "message": "away"}
    assert [trials.finish(shard, unread) for _ in range(3)] == [None, None, unread]
    for state in ("done", "unwritten", "broken"):
        outcome = {"index": 1, "state": state}
        assert trials.finish(Shard(1, ()), outcome) is outcome


def test_of_many_inputs_that_have_changed_five_are_named(tmp_path: Path) -> None:
    paths = [log(tmp_path / f"{number}.jsonl", GOOD) for number in range(7)]
    out = str(tmp_path / "out")
    run(CHECK, [*map(str, paths)], out, workers=0)
    for path in paths[:5]:
        log(path, GOOD, GOOD)
    with pytest.raises(InputError, match=r"4\.jsonl has changed\. Put"):
        resume(out)
    log(paths[5], GOOD, GOOD)
    with pytest.raises(InputError, match=r"4\.jsonl has changed; and 1 more\. Put"):
        resume(out)


def test_what_somebody_keeps_in_a_folder_stays(tmp_path: Path) -> None:
    path, kept = log(tmp_path / "a.jsonl", GOOD), tmp_path / "out" / "tmp" / "precious"
    kept.parent.mkdir(parents=True)
    kept.write_text("of somebody")
    with pytest.raises(BatchError, match="is not empty"):
        run(CHECK, [str(path)], str(tmp_path / "out"), workers=0)
    assert kept.read_text() == "of somebody"


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="pipe is not a regular file"):
        run(CHECK, [str(tmp_path / "pipe")], str(tmp_path / "out"), workers=0)


def test_a_file_where_somebody_stands_is_no_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = log(tmp_path / "a.jsonl", GOOD)
    log(tmp_path / "queue.py", "raise SystemExit(3)")
    monkeypatch.chdir(tmp_path)
    assert run(CHECK, [str(path)], "out", workers=1).ok


def test_a_long_quarantine_is_put_together_line_by_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = log(tmp_path / "a.jsonl", *["x" * 100] * 500)
    read = Folder.read

    def small(self: Folder, name: str) -> bytes | None:
        content = read(self, name)
        assert content is None or len(content) < 10_000, f"{name} was read at once"
        return content

    monkeypatch.setattr(Folder, "read", small)
    run(CHECK, [str(path)], str(tmp_path / "out"), workers=0)
    assert [row["line"] for row in quarantine(tmp_path / "out")] == list(range(1, 501))


def test_who_looks_on_is_told_at_once(tmp_path: Path) -> None:
    path, seen = log(tmp_path / "a.jsonl", GOOD), list[int]()
    out = str(tmp_path / "out")
    run(CHECK, [str(path)], out, workers=0, on_progress=lambda now: seen.append(now.shards_done))
    assert seen == [0, 1]


def test_ctrl_c_does_not_reach_workers(streams: Path, tmp_path: Path) -> None:
    groups: set[int] = set()

    def tell(progress: Progress) -> None:
        for child in logs.children(os.getpid()):
            if "jsonrill_batch.engines.worker" in logs.name_of(child):
                groups.add(os.getpgid(child))

    run(CHECK, [str(streams)], str(tmp_path / "out"), workers=1, on_progress=tell)
    assert groups and os.getpgid(0) not in groups


def test_what_a_run_made_is_not_read_by_the_next(tmp_path: Path) -> None:
    log(tmp_path / "a.jsonl", {"snapshots": [[1], [1, 2]]})
    for out in ("first", "second"):
        report = run(Job(kind="chunks"), [str(tmp_path)], str(tmp_path / out), workers=0)
        assert report.files == 1 and report.ok


def test_paths_may_be_paths_and_one_is_enough(tmp_path: Path) -> None:
    path = log(tmp_path / "a.jsonl", GOOD)
    forms: list[Any] = [path, str(path), [path, str(path)]]
    for number, inputs in enumerate(forms):
        out = tmp_path / f"out{number}"
        assert run(CHECK, inputs, out, workers=0).summary.streams == 1
        assert resume(out, workers=0).resumed == 1


def test_that_no_worker_can_be_started_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nothing"))
    with pytest.raises(BatchError, match="no worker can be started.*No such file"):
        run(CHECK, log(tmp_path / "a.jsonl", GOOD), tmp_path / "out", workers=1)


def test_what_a_driver_says_of_a_folder_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = pytest.importorskip("fsspec.implementations.memory").MemoryFileSystem

    def refuse(self: Any, path: str, **more: Any) -> bool:
        raise RuntimeError("no credentials")

    monkeypatch.setattr(memory, "exists", refuse)
    with pytest.raises(OutputError, match="memory://out: RuntimeError: no credentials"):
        run(CHECK, log(tmp_path / "a.jsonl", GOOD), "memory://out", workers=0)
