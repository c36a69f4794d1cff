"""What one record of a stream's log says, and how it is written as bytes.

A record is a piece of text, a snapshot, or a provider's event (both as JSON text); the last one
says how the stream ended. Only this file knows the bytes; the store does not read them.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, Literal, NamedTuple

from ..store import Entry

Input = Literal["text", "snapshots", "events"]
Reason = Literal["closed", "cancelled", "error"]

_MARKS: Final[dict[Input, bytes]] = {"text": b"t", "snapshots": b"s", "events": b"e"}
_INPUTS: Final = {mark: name for name, mark in _MARKS.items()}


class Record(NamedTuple):
    """One piece of what was published: plain text, or the JSON text of a snapshot or event."""

    input: Input
    body: str


@dataclass(frozen=True, slots=True)
class End:
    """How a stream ended; an end that is an error has a code and a message for readers.

    It has no place in the document: what a publisher says of its failure cannot mark any. `line` is
    that of a request's body that could not be read.
    """

    reason: Reason
    code: str = ""
    message: str = ""
    line: int | None = None

    def error(self) -> dict[str, Any]:
        """The `error` of the last event."""
        fields = {"code": self.code, "message": self.message, "line": self.line}
        return {name: value for name, value in fields.items() if value is not None}

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self)).encode()


CLOSED: Final = End("closed")
CANCELLED: Final = End("cancelled", "CANCELLED", "the stream was cancelled")
# Its lease ran out; it was told to stop.
LOST: Final = End(
    "error",
    "PRODUCER_LOST",
    "the program that wrote this is gone: ask again, unless a tool of it has changed things",
)
STOPPED: Final = End(
    "error",
    "PRODUCER_STOPPED",
    "the program that wrote this was stopped: ask again, unless a tool of it has changed things",
)
LOG_LOST: Final = End("error", "LOG_LOST", "the store lost records of this stream")
UNWRITTEN: Final = End(
    "error",
    "UNAVAILABLE",
    "the store took no more of this: ask again, unless a tool of it has changed things",
)
# Nothing is written to the log: another producer has it, because this one was halted for longer
# than its lease; or the next process goes on with it.
REPLACED: Final = End("closed", "REPLACED", "another producer has gone on with this stream")
HANDED_OVER: Final = End("closed", "HANDED_OVER", "the next process goes on with this stream")


def to_bytes(record: Record) -> bytes:
    # Half a surrogate pair may be all that a piece of text holds.
    return _MARKS[record.input] + record.body.encode("utf-8", "surrogatepass")


def from_entry(entry: Entry) -> Record | End:
    if entry.final:
        stored = json.loads(entry.data)
        # A later version may know more of an end.
        return End(**{it.name: stored[it.name] for it in fields(End) if it.name in stored})
    return Record(_INPUTS[entry.data[:1]], entry.data[1:].decode("utf-8", "surrogatepass"))
