"""Does one shard: reads its lines, writes its rows, and leaves its record in the folder.

Every engine calls `do_task`, in whatever process it runs. A task is JSON, and so is its outcome.
The record is written last: a shard without one is not done.
"""

from __future__ import annotations

import json
import struct
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from mmap import mmap
from typing import Any, Final

from ..errors import BadRecord, InputError, OutputError
from ..input.line import Line
from ..input.lines import Segment, read_segment
from ..job import Job
from ..output.folder import DONE, PARTS, QUARANTINE, Folder, folder_at
from ..output.parquet import parquet_rows
from ..plan import Shard
from ..shard import Write, process_lines

_MARK: Final = struct.Struct("<qq")


def task_of(
    shard: Shard,
    job: Job,
    out: str,
    format: str,
    skip: Mapping[int, str] | None = None,
    mark: str | None = None,
) -> dict[str, Any]:
    """The task of a shard, as JSON.

    `skip` maps lines of the shard, counted from 0, that must not be read to the reason; `mark` is
    a file in which the worker notes how far it is.
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
    """Do a shard and return its outcome, whose `state` is one of

    done; unread (an input cannot be read now: try again); unwritten (the output cannot be written:
    stop the run); broken (anything else).
    """
    index = task["index"]
    try:
        return {"index": index, "state": "done", "record": _do(task)}
    except InputError as error:
        return {"index": index, "state": "unread", "message": str(error)}
    except OutputError as error:
        return {"index": index, "state": "unwritten", "message": str(error)}
    except Exception as error:  # an engine that gets an exception would try forever
        return {"index": index, "state": "broken", "message": f"{type(error).__name__}: {error}"}


def _do(task: Mapping[str, Any]) -> dict[str, Any]:
    began = time.perf_counter()
    segments = [Segment(*segment) for segment in task["segments"]]
    shard = Shard(task["index"], tuple(segments))
    job = Job.from_json(task["job"])
    folder = folder_at(task["out"])
    part, quarantine = files_of(shard.name, task["format"])
    with marked(task["mark"]) as mark:
        lines = _lines(segments, job, mark)
        if task["skip"]:
            lines = _skipping(lines, task["skip"])
        with ExitStack() as files:
            write = files.enter_context(ROWS[task["format"]](folder, part, job.kind))
            # Most shards have no bad line: the file is made with the first one.
            bad: list[Write] = []

            def put_aside(text: str) -> None:
                if not bad:
                    bad.append(files.enter_context(_jsonl(folder, quarantine, job.kind)))
                bad[0](text)

            summary = process_lines(lines, job, write, put_aside)
    record = {
        "shard": shard.name,
        "part": folder.size(part),
        "quarantine": folder.size(quarantine) if bad else None,
        "summary": summary.to_json(),
        "seconds": round(time.perf_counter() - began, 3),
    }
    folder.write(f"{DONE}/{shard.name}.json", json.dumps(record).encode())
    return record


def files_of(name: str, format: str) -> tuple[str, str]:
    """The names of the files with the rows and with the quarantine of a shard."""
    return f"{PARTS}/{name}.{format}", f"{QUARANTINE}/{name}.jsonl"


def _lines(segments: list[Segment], job: Job, mark: Callable[[int, int], None]) -> Iterator[Line]:
    """The lines of all segments; before each is yielded, `mark` notes which one it is."""
    count, before = 0, 0
    for segment in segments:
        for at, line in read_segment(segment, job.max_line, job.keep):
            mark(count, before + at)
            yield line
            count += 1
        before += segment.end - segment.start
    mark(-1, before)


def _skipping(lines: Iterator[Line], skip: Mapping[str, str]) -> Iterator[Line]:
    for count, line in enumerate(lines):
        why = skip.get(str(count))
        yield line if why is None else line._replace(fault=BadRecord("DEADLY", why))


@contextmanager
def marked(path: str | None) -> Iterator[Callable[[int, int], None]]:
    """A function that notes line and byte in the mark file, for the case that the process dies."""
    if path is None:
        yield lambda line, done: None
        return
    try:
        with open(path, "w+b", buffering=0) as file:
            file.write(bytes(_MARK.size))  # so that the disk has room for it
            noted = mmap(file.fileno(), _MARK.size)
    except OSError as error:
        raise OutputError(f"{path}: {error.strerror or error}") from error
    # Memory that is the file: what is noted stays when the process dies, and needs no system call.
    # Assigned, because `pack_into` sets zeros first: a reader or a death in between would see them.
    with noted:

        def mark(line: int, done: int) -> None:
            noted[:] = _MARK.pack(line, done)

        yield mark


def bytes_done(marks: Iterable[str | None]) -> int:
    """The sum of the bytes that workers have noted in these mark files."""
    places = [read_mark(mark) for mark in marks if mark is not None]
    return sum(place[1] for place in places if place is not None)


def read_mark(path: str) -> tuple[int, int] | None:
    """The line a worker is at, counted from 0 (-1: none), and the bytes done before it."""
    try:
        with open(path, "rb") as file:
            line, done = _MARK.unpack(file.read(_MARK.size))
    except (OSError, struct.error):
        return None
    return line, done


@contextmanager
def _jsonl(folder: Folder, name: str, kind: str) -> Iterator[Write]:
    with folder.create(name) as file:
        yield lambda text: file.write(text.encode() + b"\n")


@contextmanager
def _parquet(folder: Folder, name: str, kind: str) -> Iterator[Write]:
    with folder.create(name) as file, parquet_rows(file, kind) as write:
        yield write


ROWS: Final = {"jsonl": _jsonl, "parquet": _parquet}
