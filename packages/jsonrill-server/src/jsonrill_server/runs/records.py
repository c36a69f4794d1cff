"""What one record of a stream's log says, and how it is written as bytes.

A record is a piece of text, a snapshot, or a provider's event (both as JSON text); the last one
says how the stream ended. Only this file knows the bytes; the store does not read them. A stream
that anything may be written to has bytes that are no text, too.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, Literal, NamedTuple

from jsonrill.options import Input

from ..store import Entry

Reason = Literal["closed", "cancelled", "error"]

_MARKS: Final[dict[Input, bytes]] = {"text": b"t", "snapshots": b"s", "events": b"e"}
_INPUTS: Final = {mark: name for name, mark in _MARKS.items()}
_BYTES: Final = b"b"


class Record(NamedTuple):
    """One piece of what was published: plain text, or the JSON text of a snapshot or event."""

    input: Input
    body: str


class NotText(Record):
    """Bytes that are not UTF-8; their body is for people."""


class Started(Record):
    """A tool is run once this is in the log."""


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
# than its lease; or it goes on when a person has decided.
REPLACED: Final = End("closed", "REPLACED", "another producer has gone on with this stream")
WAITING: Final = End("closed", "WAITING", "a person has to decide")
RELAY_STOPPED: Final = End(
    "error",
    "RELAY_STOPPED",
    "the server was stopped before the end of the answer: it is safe to ask again",
)


def to_bytes(record: Record) -> bytes:
    # Half a surrogate pair may be all that a piece of text holds.
    return _MARKS[record.input] + record.body.encode("utf-8", "surrogatepass")


def raw_record(data: bytes) -> bytes:
    """A record of bytes, which are text if they are UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return _BYTES + data
    return _MARKS["text"] + data


def raw_bytes(entry: Entry) -> bytes:
    """The bytes that were published in a record that is not the final one."""
    return entry.data[1:]


def from_entry(entry: Entry) -> Record | End:
    if entry.final:
        stored = json.loads(entry.data)
        # A later version may know more of an end.
        return End(**{it.name: stored[it.name] for it in fields(End) if it.name in stored})
    if entry.data[:1] == _BYTES:
        return NotText("text", entry.data[1:].decode("utf-8", "replace"))
    return Record(_INPUTS[entry.data[:1]], entry.data[1:].decode("utf-8", "surrogatepass"))
