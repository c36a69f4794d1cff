"""What goes wrong in a batch, apart from the streams themselves.

BatchError                the run cannot begin or go on; the message says why and what to do
├── InputError            an input cannot be read (now): its shard is tried again, then failed
├── OutputError           what was made cannot be written: the run stops, what is done stays
└── Interrupted           somebody wanted it to stop
BadRecord                 a line that is no stream; it goes to the quarantine
"""

from __future__ import annotations

from ..errors import JsonrillError


class BatchError(JsonrillError):
    """The run cannot begin or go on."""


class InputError(BatchError):
    """An input cannot be read."""


class OutputError(BatchError):
    """What was made cannot be written."""


class Interrupted(BatchError):
    """The run was asked to stop; `--resume` goes on."""


class BadRecord(JsonrillError):
    """A line that cannot be read as a stream. `code` is what the report counts."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
