"""Errors of a run; errors in a stream are part of its rows.

BatchError                the run cannot start or continue; the message says why and what to do
├── InputError            an input cannot be read: its shard is tried again, then it fails
├── OutputError           the output cannot be written: the run stops, shards that are done stay
└── Interrupted           the run was stopped
BadRecord                 a line is no stream; it goes to quarantine
Skipped                   a line of an export is about something else; it is counted
"""

from __future__ import annotations

from jsonrill.errors import JsonrillError


class BatchError(JsonrillError):
    """The run cannot start or continue."""


class InputError(BatchError):
    """An input cannot be read."""


class OutputError(BatchError):
    """The output cannot be written."""


class Interrupted(BatchError):
    """The run was stopped; `resume` continues it."""


class BadRecord(JsonrillError):
    """A line cannot be read as a stream. The report counts these by `code`."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Skipped(Exception):
    """A line of a log that is about something else, such as a span; it is counted by this name."""
