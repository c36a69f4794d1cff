"""Read lines in a child process, for partitions with lines that kill the process."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from multiprocessing import get_context
from pickle import dumps, loads
from typing import Final

from .job import Job
from .reader import Reader, Row

# A process may also be killed while it reads a harmless line.
_ATTEMPTS: Final = 3


class GuardedReader:
    """A `Reader` that returns an error row for a line that kills each process that reads it."""

    def __init__(self, job: Job) -> None:
        self._job = dumps(job)
        self._start()

    def read(self, line: bytes) -> Row:
        """Return the row of a line."""
        for _ in range(_ATTEMPTS):
            try:
                return self._pool.submit(_read, self._job, line).result()
            except BrokenProcessPool:
                self._start()
        error = {"code": "WORKER_KILLED", "message": "each process that read this line died"}
        return {"id": None, "status": "invalid", "error": error}

    def _start(self) -> None:
        """Start a process and wait until it can read."""
        while True:
            self._pool = ProcessPoolExecutor(1, get_context("spawn"))
            try:
                self._pool.submit(os.getpid).result()
                return
            except BrokenProcessPool:
                continue


def _read(job: bytes, line: bytes) -> Row:
    return _reader(job).read(line)


@lru_cache(maxsize=1)
def _reader(job: bytes) -> Reader:
    return Reader(loads(job))
