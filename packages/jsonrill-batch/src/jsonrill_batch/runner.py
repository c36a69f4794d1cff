"""Runs a job from its inputs to its report, on any engine.

`run` starts in a new folder; `resume` continues a run that was interrupted: shards whose record
says that they are done are kept, the others are done as they would have been.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from .engines.engine import Engine, Here, MakeTask
from .engines.task import ROWS, task_of
from .errors import BatchError, Interrupted, OutputError
from .job import Job
from .manifest import QUARANTINED, Manifest, done_of, first_quarantined, gather_quarantine
from .operations import Work
from .output.folder import TEMPORARY, Folder, Remote, folder_at
from .output.page import page
from .output.parquet import need_pyarrow
from .output.report import Report
from .output.summary import Summary
from .plan import Shard, find_files, shard_size

EngineName = Literal["local", "dask"]
ENGINES: Final = ("local", "dask")


@dataclass
class Progress:
    """How far a run is. Bytes are those of the input files, compressed or not."""

    shards: int
    bytes: int
    shards_done: int = 0
    bytes_done: int = 0
    # Those of shards that an earlier run had done.
    bytes_before: int = 0
    streams: int = 0
    quarantined: int = 0
    failed: int = 0
    seconds: float = 0.0

    @property
    def left(self) -> float | None:
        """Seconds until the end at this speed; None if that is not known yet."""
        now = self.bytes_done - self.bytes_before
        if now <= 0 or self.seconds <= 0:
            return None
        return (self.bytes - self.bytes_done) * self.seconds / now


OnProgress = Callable[[Progress], object]
Place = str | os.PathLike[str]


def run(
    job: Job,
    inputs: Place | Iterable[Place],
    out: Place,
    *,
    engine: EngineName = "local",
    workers: int | None = None,
    scheduler: str | None = None,
    format: Literal["jsonl", "parquet"] = "jsonl",
    input_format: Literal["auto", "jsonl", "sse"] = "auto",
    shard_bytes: int | None = None,
    on_progress: OnProgress = lambda progress: None,
) -> Report:
    """Run a job on all streams in the inputs; write rows, quarantine and report into `out`.

    Inputs are paths, folders, patterns, or URLs that fsspec knows; `.gz` is
    decompressed. `workers` is the number of processes (default: one for each processor; 0 works
    in this process), `scheduler` the address of a Dask cluster. `on_progress` is called with a
    `Progress` a few times a second. A run that cannot start or continue raises `BatchError`;
    Ctrl-C raises `Interrupted`, and `resume` continues the run.
    """
    if format not in ROWS:
        raise ValueError(f"format is one of {', '.join(ROWS)}, not {format!r}")
    Work(job)
    _as_json(job)
    if format == "parquet":
        need_pyarrow()
    places = [inputs] if isinstance(inputs, str | os.PathLike) else inputs
    files = find_files([os.fspath(place) for place in places], input_format)
    size = shard_size(files) if shard_bytes is None else shard_bytes
    doing = _engine(engine, workers, scheduler)
    folder = folder_at(os.fspath(out))
    _need_free(folder)
    manifest = Manifest(job, files, size, format)
    manifest.shards()  # a size that it refuses must not leave a folder behind
    with folder.locked():
        _need_free(folder)  # another run may have used it meanwhile
        folder.clean()
        folder.prepare()
        manifest.save(folder)
        return _Run(folder, manifest, doing, on_progress).go()


def resume(
    out: Place,
    *,
    engine: EngineName = "local",
    workers: int | None = None,
    scheduler: str | None = None,
    on_progress: OnProgress = lambda progress: None,
) -> Report:
    """Continue the run in this folder, whose manifest has its job and its inputs."""
    folder = folder_at(os.fspath(out))
    manifest = Manifest.load(folder)
    manifest.check_inputs()
    Work(manifest.job)
    doing = _engine(engine, workers, scheduler)
    with folder.locked():
        folder.clean()
        folder.prepare()
        return _Run(folder, manifest, doing, on_progress).go()


def _need_free(folder: Folder) -> None:
    if not folder.is_free():
        raise BatchError(f"{folder.path} is not empty: name a new folder, or resume the run in it")


class _Run:
    """One run, new or resumed; some of its shards may be done already."""

    def __init__(
        self, folder: Folder, manifest: Manifest, engine: Engine, on_progress: OnProgress
    ) -> None:
        self._folder = folder
        self._manifest = manifest
        self._shards = manifest.shards()
        self._engine = engine
        self._on_progress = on_progress
        self._failed: dict[str, str] = {}
        self._total = Summary()
        self._progress = Progress(len(self._shards), sum(shard.size for shard in self._shards))
        self._done = done_of(folder, manifest, self._shards)
        for index, record in self._done.items():
            self._count(self._shards[index], record)
        self._progress.bytes_before = self._progress.bytes_done
        self._report = Report(
            manifest.job.to_json(),
            folder.path,
            self._total,
            len(manifest.files),
            len(self._shards),
            engine=engine.name,
            workers=engine.workers,
            resumed=len(self._done),
        )

    def go(self) -> Report:
        """Do the shards that are missing, and write the report; `Interrupted` at any moment."""
        try:
            return self._go()
        except KeyboardInterrupt:
            # Workers may have done more than this process has heard of.
            done = len(done_of(self._folder, self._manifest, self._shards))
            raise Interrupted(f"stopped, with {done} of {len(self._shards)} shards done") from None

    def _go(self) -> Report:
        began, report, folder = time.monotonic(), self._report, self._folder
        streams, size = self._total.streams, self._total.bytes
        missing = [shard for shard in self._shards if shard.index not in self._done]
        if missing:
            folder.remove(QUARANTINED)
            self._work(missing, began)
        report.failed = dict(sorted(self._failed.items()))
        report.seconds = time.monotonic() - began
        report.streams_now = self._total.streams - streams
        report.bytes_now = self._total.bytes - size
        if not self._failed and folder.size(QUARANTINED) is None:
            gather_quarantine(folder, self._shards, self._done)
        report.samples = first_quarantined(folder)
        folder.write("report.json", json.dumps(report.to_json(), indent=1).encode())
        folder.write("report.txt", report.to_text().encode())
        folder.write("report.html", page(report).encode())
        folder.clean()
        return report

    def _work(self, missing: list[Shard], began: float) -> None:
        with ExitStack() as opened:
            opened.callback(self._folder.clean)
            make = self._make_task(opened)
            outcomes = self._engine.run(missing, make)
            opened.callback(outcomes.close)  # type: ignore[attr-defined]
            self._show(began)  # the run can be resumed even before a shard is done
            for outcome in outcomes:
                if outcome is not None:
                    self._take(outcome)
                self._show(began)

    def _make_task(self, opened: ExitStack) -> MakeTask:
        """A function that makes tasks, with mark files where this process can read them."""
        manifest, folder = self._manifest, self._folder
        if not isinstance(folder, Remote):
            marks = os.path.join(folder.path, TEMPORARY)
        elif self._engine.name == "local":
            marks = opened.enter_context(tempfile.TemporaryDirectory())
        else:
            marks = ""

        def make(shard: Shard, skip: Mapping[int, str]) -> dict[str, Any]:
            mark = os.path.join(marks, f"{shard.name}.mark") if marks else None
            return task_of(shard, manifest.job, folder.path, manifest.format, skip, mark)

        return make

    def _take(self, outcome: dict[str, Any]) -> None:
        shard = self._shards[outcome["index"]]
        if outcome["state"] == "unwritten":
            done = f"{len(self._done)} of {len(self._shards)} shards are done"
            raise OutputError(f"cannot write: {outcome['message']} ({done})")
        if outcome["state"] != "done":
            self._failed[shard.name] = outcome["message"]
            self._progress.failed += 1
            return
        self._done[shard.index] = outcome["record"]
        self._count(shard, outcome["record"])

    def _count(self, shard: Shard, record: dict[str, Any]) -> None:
        self._total.merge(Summary.from_json(record["summary"]))
        self._progress.shards_done += 1
        self._progress.bytes_done += shard.size
        self._progress.streams = self._total.streams
        self._progress.quarantined = self._total.bad_lines

    def _show(self, began: float) -> None:
        """Report the progress, with the bytes that workers have done of unfinished shards."""
        progress = self._progress
        done = min(progress.bytes, progress.bytes_done + self._engine.running())
        self._on_progress(replace(progress, bytes_done=done, seconds=time.monotonic() - began))


def _engine(name: str, workers: int | None, scheduler: str | None) -> Engine:
    count = _processors() if workers is None else workers
    if name not in ENGINES:
        raise ValueError(f"engine is one of {', '.join(ENGINES)}, not {name!r}")
    if count < 0:
        raise ValueError(f"workers is a whole number from 0 up, not {count}")
    if name == "dask":
        from .engines.cluster import Cluster

        return Cluster(scheduler, max(1, count))
    if scheduler is not None:
        raise ValueError('scheduler is for engine="dask"')
    if count == 0:
        return Here()
    from .engines.local import Local

    return Local(count)


def _as_json(job: Job) -> None:
    try:
        json.dumps(job.to_json())
    except TypeError as error:
        raise TypeError(
            f'{error}: a job must be JSON; name a pydantic type as "module:Name"'
        ) from error


def _processors() -> int:
    """The number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
