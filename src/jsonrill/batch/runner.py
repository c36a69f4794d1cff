"""A run from its inputs to its report, whichever engine does the work.

`run` begins one in a new folder, `resume` goes on with one that was interrupted: what is recorded
as done stays as it is, the rest is done as it would have been.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Final, Literal

from .engines.engine import Engine, Here
from .engines.task import FORMATS, task_of
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
    """How far a run is. Bytes are those of the inputs as they lie there, compressed or not."""

    shards: int
    bytes: int
    shards_done: int = 0
    bytes_done: int = 0
    # Of these, what had been done when this run began.
    bytes_before: int = 0
    streams: int = 0
    quarantined: int = 0
    failed: int = 0
    seconds: float = 0.0

    @property
    def left(self) -> float | None:
        """Seconds until the end, if it goes on like this."""
        now = self.bytes_done - self.bytes_before
        if now <= 0 or self.seconds <= 0:
            return None
        return (self.bytes - self.bytes_done) * self.seconds / now


Tell = Callable[[Progress], object]
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
    form: Literal["auto", "jsonl", "sse"] = "auto",
    shard_bytes: int | None = None,
    tell: Tell = lambda progress: None,
) -> Report:
    """Do a job on all streams in the inputs, and leave rows, quarantine and report in `out`.

    Inputs are paths, folders, patterns, or addresses that fsspec knows; `.gz` and `.zst` are read,
    too. `workers` are processes (all processors; 0: none, in this process), `scheduler` is where a
    Dask cluster is. `tell` is called a few times a second. A run that cannot begin or go on is a
    `BatchError`; Ctrl-C becomes `Interrupted`, and `resume` goes on.
    """
    if format not in FORMATS:
        raise ValueError(f"a format is one of {', '.join(FORMATS)}; not {format!r}")
    Work(job)
    _as_json(job)
    if format == "parquet":
        need_pyarrow()
    given = [inputs] if isinstance(inputs, str | os.PathLike) else inputs
    files = find_files([os.fspath(place) for place in given], form)
    size = shard_size(files) if shard_bytes is None else shard_bytes
    doing = _engine(engine, workers, scheduler)
    folder = folder_at(os.fspath(out))
    _need_free(folder)
    manifest = Manifest(job, files, size, format)
    shards = manifest.shards()
    with folder.locked():
        _need_free(folder)  # another run may have begun and ended meanwhile
        folder.clean()
        folder.prepare()
        manifest.save(folder)
        return _Run(folder, manifest, shards, doing, tell).go()


def resume(
    out: Place,
    *,
    engine: EngineName = "local",
    workers: int | None = None,
    scheduler: str | None = None,
    tell: Tell = lambda progress: None,
) -> Report:
    """Do what is missing of the run in this folder; its job and inputs are in its manifest."""
    folder = folder_at(os.fspath(out))
    manifest = Manifest.load(folder)
    manifest.check_inputs()
    Work(manifest.job)
    doing = _engine(engine, workers, scheduler)
    with folder.locked():
        folder.clean()
        folder.prepare()
        return _Run(folder, manifest, manifest.shards(), doing, tell).go()


def _need_free(folder: Folder) -> None:
    if not folder.is_free():
        raise BatchError(f"{folder.path} is not empty: name a new folder, or resume the run in it")


class _Run:
    """One run, new or resumed, of which some shards may be done."""

    def __init__(
        self,
        folder: Folder,
        manifest: Manifest,
        shards: list[Shard],
        engine: _Engine,
        tell: Tell,
    ) -> None:
        self._folder = folder
        self._manifest = manifest
        self._shards = shards
        self._engine = engine
        self._tell = tell
        self._done = done_of(folder, manifest, shards)
        self._failed: dict[str, str] = {}
        self._before = len(self._done)
        self._progress = self._progress_so_far()

    def go(self) -> Report:
        began = time.monotonic()
        missing = [shard for shard in self._shards if shard.index not in self._done]
        summary_before = self._summary()
        if missing:
            self._folder.remove(QUARANTINED)
            self._work(missing, began)
        report = self._report(summary_before, time.monotonic() - began)
        if not self._failed and self._folder.size(QUARANTINED) is None:
            gather_quarantine(self._folder, self._shards, self._done)
        report.samples = first_quarantined(self._folder)
        self._folder.write("report.json", json.dumps(report.to_json(), indent=1).encode())
        self._folder.write("report.txt", report.to_text().encode())
        self._folder.write("report.html", page(report).encode())
        self._folder.clean()
        return report

    def _work(self, missing: list[Shard], began: float) -> None:
        with ExitStack() as opened:
            opened.callback(self._folder.clean)
            make = self._make_task(opened)
            outcomes = self._engine.engine.run(missing, make)
            opened.callback(outcomes.close)  # type: ignore[attr-defined]
            try:
                self._show(began)  # there is something to resume, before anything is done
                for outcome in outcomes:
                    if outcome is not None:
                        self._take(outcome)
                    self._show(began)
            except KeyboardInterrupt:
                # More may be done than this process has heard of.
                done = len(done_of(self._folder, self._manifest, self._shards))
                raise Interrupted(
                    f"stopped, with {done} of {len(self._shards)} shards done"
                ) from None

    def _make_task(self, opened: ExitStack) -> Any:
        """Tasks leave their marks where this process can see them, if there is such a place."""
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
        progress, summary = self._progress, Summary.from_json(record["summary"])
        progress.shards_done += 1
        progress.bytes_done += shard.size
        progress.streams += summary.streams
        progress.quarantined += summary.bad_lines

    def _progress_so_far(self) -> Progress:
        self._progress = Progress(len(self._shards), sum(shard.size for shard in self._shards))
        for shard in self._shards:
            if shard.index in self._done:
                self._count(shard, self._done[shard.index])
        self._progress.bytes_before = self._progress.bytes_done
        return self._progress

    def _show(self, began: float) -> None:
        progress = self._progress
        whole = progress.bytes_done
        progress.seconds = time.monotonic() - began
        progress.bytes_done = min(progress.bytes, whole + self._engine.engine.running())
        self._tell(progress)
        progress.bytes_done = whole

    def _summary(self) -> Summary:
        total = Summary()
        for shard in self._shards:
            if shard.index in self._done:
                total.merge(Summary.from_json(self._done[shard.index]["summary"]))
        return total

    def _report(self, before: Summary, seconds: float) -> Report:
        total = self._summary()
        return Report(
            self._manifest.job.to_json(),
            self._folder.path,
            total,
            len(self._manifest.files),
            len(self._shards),
            dict(sorted(self._failed.items())),
            seconds,
            self._engine.name,
            self._engine.workers,
            self._before,
            streams_now=total.streams - before.streams,
            bytes_now=total.bytes - before.bytes,
        )


@dataclass(frozen=True)
class _Engine:
    """An engine, and what the report says of it."""

    engine: Engine
    name: str
    workers: int


def _engine(name: str, workers: int | None, scheduler: str | None) -> _Engine:
    count = _processors() if workers is None else workers
    if name not in ENGINES:
        raise ValueError(f"an engine is one of {', '.join(ENGINES)}; not {name!r}")
    if count < 0:
        raise ValueError("there cannot be less than 0 workers")
    if name == "dask":
        from .engines.cluster import Cluster

        # How many there are elsewhere is not ours to know.
        return _Engine(Cluster(scheduler, max(1, count)), name, 0 if scheduler else count)
    if scheduler is not None:
        raise ValueError('a scheduler is for engine="dask"')
    if count == 0:
        return _Engine(Here(), name, 0)
    from .engines.local import Local

    return _Engine(Local(count), name, count)


def _as_json(job: Job) -> None:
    try:
        json.dumps(job.to_json())
    except TypeError as error:
        raise TypeError(
            f'{error}: what workers do is JSON; name a type like "module:Name"'
        ) from error


def _processors() -> int:
    """Those that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
