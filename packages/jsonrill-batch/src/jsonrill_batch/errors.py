"""What stops a run, and what is wrong with a line beyond the errors of the library."""

from __future__ import annotations

from jsonrill import JsonrillError


class BatchError(Exception):
    """The run cannot start or cannot be finished."""


class BadLine(JsonrillError):
    """The line does not have the form of a stream."""

    code = "BAD_LINE"


class RequestFailed(JsonrillError):
    """The line is about a request that has no answer."""

    code = "REQUEST_FAILED"


class ReaderFailed(JsonrillError):
    """Reading the line raised an unexpected exception."""

    code = "READER_FAILED"


class DamagedFile(JsonrillError):
    """The file cannot be read beyond this point."""

    code = "DAMAGED_FILE"


class WorkerKilled(JsonrillError):
    """Each worker that read the line died."""

    code = "WORKER_KILLED"
