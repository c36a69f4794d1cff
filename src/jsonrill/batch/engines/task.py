"""One shard done: its lines read, its rows written, its record left in the folder.

This is what every engine calls, wherever it runs. A task is JSON, so is what comes back; nothing in
here knows who asked. The record is written last, so that a shard is done or it is not.
"""

from __future__ import annotations

import json
import os
import struct
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from typing import IO, Any, Final

from ..errors import BadRecord, InputError, OutputError
from ..input.line import Line
from ..input.lines import Segment, read_segment
from ..job import Job
from ..output.folder import DONE, QUARANTINE, Folder, folder_at
from ..plan import Shard
from ..shard import Write, process_shard

FORMATS: Final = ("jsonl", "parquet")
_MARK: Final = struct.Struct("<qq")


def task_of(
    shard: Shard,
    job: Job,
    out: str,
    format: str,
    skip: Mapping[int, str] | None = None,
    mark: str | None = None,
) -> dict[str, Any]:
    """All that somebody needs to know to do a shard.

    `skip` has the lines of the shard, counted from 0, that are not to be looked at, and why;
    `mark` is a file for how far it has come.
    """
    return {
        "index": shard.index,
        "segments": [list(segment) for segment in shard.segments],
        "job": job.to_json(),
        "out": out,
        "format": format,
        "skip": {str(line): why for line, why in (skip or {}).items()},
        "mark": mark,
    }


def do_task(task: Mapping[str, Any]) -> dict[str, Any]:
    """Do a shard. What comes back has a `state`.

    done; unread (an input, now: try again); unwritten (stop, or it happens again); or broken.
    """
    index = task["index"]
    try:
        return {"index": index, "state": "done", "record": _do(task)}
    except InputError as error:
        return {"index": index, "state": "unread", "message": str(error)}
    except OutputError as error:
        return {"index": index, "state": "unwritten", "message": str(error)}
    except Exception as error:  # an engine that sees an exception would try for ever
        return {"index": index, "state": "broken", "message": f"{type(error).__name__}: {error}"}


def _do(task: Mapping[str, Any]) -> dict[str, Any]:
    began = time.perf_counter()
    segments = [Segment(*segment) for segment in task["segments"]]
    shard = Shard(task["index"], tuple(segments))
    job = Job.from_json(task["job"])
    folder = folder_at(task["out"])
    part, quarantine = files_of(shard.name, task["format"])
    with _marked(task["mark"]) as mark:
        lines = _skipping(_lines(segments, job, mark), task["skip"])
        with ExitStack() as files:
            write = files.enter_context(ROWS[task["format"]](folder, part))
            later = _Later(folder, quarantine, files)
            summary = process_shard(lines, job, write, later)
    record = {
        "shard": shard.name,
        "part": folder.size(part),
        "quarantine": folder.size(quarantine) if later.used else None,
        "summary": summary.to_json(),
        "seconds": round(time.perf_counter() - began, 3),
    }
    folder.write(f"{DONE}/{shard.name}.json", json.dumps(record).encode())
    return record


def files_of(name: str, format: str) -> tuple[str, str]:
    """Where the rows of a shard are, and its quarantine."""
    return f"{name}.{format}", f"{QUARANTINE}/{name}.jsonl"


def _lines(segments: list[Segment], job: Job, mark: Callable[[int, int], None]) -> Iterator[Line]:
    """The lines of all segments; before each is handed over, the mark tells which one it is."""
    count, before = 0, 0
    for segment in segments:
        at = 0

        def seen(here: int) -> None:
            nonlocal at
            at = here

        for line in read_segment(segment, job.max_line, job.keep, seen):
            mark(count, before + at)
            yield line
            count += 1
        before += segment.end - segment.start
    mark(-1, before)


def _skipping(lines: Iterator[Line], skip: Mapping[str, str]) -> Iterator[Line]:
    if not skip:
        yield from lines
        return
    for count, line in enumerate(lines):
        why = skip.get(str(count))
        yield line if why is None else line._replace(fault=BadRecord("DEADLY", why))


@contextmanager
def _marked(path: str | None) -> Iterator[Callable[[int, int], None]]:
    """A file that says at which line and byte of the shard the process is, should it die."""
    if path is None:
        yield lambda line, done: None
        return
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    except OSError as error:
        raise OutputError(f"{path}: {error.strerror or error}") from error

    def mark(line: int, done: int) -> None:
        with suppress(OSError):  # a full disk is told by the rows
            write(file, _MARK.pack(line, done), 0)

    write = getattr(os, "pwrite", _write_at)
    try:
        yield mark
    finally:
        os.close(file)


def _write_at(file: int, data: bytes, place: int) -> int:
    """As `os.pwrite`, which not every system has."""
    os.lseek(file, place, os.SEEK_SET)
    return os.write(file, data)


def read_mark(path: str) -> tuple[int, int] | None:
    """The line, counted from 0 (-1: none), and how many bytes were done before it."""
    try:
        with open(path, "rb") as file:
            line, done = _MARK.unpack(file.read(_MARK.size))
    except (OSError, struct.error):
        return None
    return line, done


class _Later:
    """A file of lines that is made when the first line comes."""

    def __init__(self, folder: Folder, name: str, files: ExitStack) -> None:
        self.used = False
        self._make = folder.create
        self._name = name
        self._files = files
        self._file: IO[bytes] | None = None

    def __call__(self, text: str) -> None:
        if self._file is None:
            self.used = True
            self._file = self._files.enter_context(self._make(self._name))
        self._file.write(text.encode() + b"\n")


@contextmanager
def _jsonl(folder: Folder, name: str) -> Iterator[Write]:
    with folder.create(name) as file:
        yield lambda text: file.write(text.encode() + b"\n")


@contextmanager
def _parquet(folder: Folder, name: str) -> Iterator[Write]:
    from ..output.parquet import Rows

    with folder.create(name) as file, Rows(file) as rows:
        yield rows.write


Rows = Callable[[Folder, str], AbstractContextManager[Write]]
ROWS: Final[dict[str, Rows]] = {"jsonl": _jsonl, "parquet": _parquet}
