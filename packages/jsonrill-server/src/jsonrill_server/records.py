"""The records of a log and their bytes: text, a snapshot, an event, or the end."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Final, Literal, NamedTuple

Input = Literal["text", "snapshots", "events"]
Status = Literal["complete", "length", "filtered", "refused", "stopped", "error", "lost"]
_MARKS: Final[dict[Input, bytes]] = {"text": b"t", "snapshots": b"s", "events": b"e"}
_INPUTS: Final = {mark: name for name, mark in _MARKS.items()}
_END: Final = b"x"
# Seconds of work before yielding to the event loop.
SLICE: Final = 0.005


class Record(NamedTuple):
    """A piece of text, or the JSON text of a snapshot or an event."""

    input: Input
    body: str


@dataclass(frozen=True, slots=True)
class End:
    """How a log ended. With a code, it is an error for readers."""

    status: Status
    code: str = ""
    message: str = ""

    @property
    def error(self) -> dict[str, str] | None:
        return {"code": self.code, "message": self.message} if self.code else None


AGAIN: Final = "start it again, unless one of its tools has changed something"
COMPLETE: Final = End("complete")
CANCELLED: Final = End("stopped", "CANCELLED", "the stream was cancelled")
PRODUCER_LOST: Final = End("lost", "PRODUCER_LOST", f"the writer of this stream is gone: {AGAIN}")
PRODUCER_STOPPED: Final = End(
    "error", "PRODUCER_STOPPED", f"the writer of this stream was stopped: {AGAIN}"
)
LOG_LOST: Final = End("error", "LOG_LOST", "the store has lost records of this stream")
GONE: Final = End("error", "GONE", "the stream was deleted, or is too old")
UNAVAILABLE: Final = End("error", "UNAVAILABLE", "the store does not answer: read the stream again")


def to_bytes(item: Record | End) -> bytes:
    if isinstance(item, End):
        return _END + json.dumps(asdict(item)).encode()
    # A piece of text may hold one half of a surrogate pair.
    return _MARKS[item.input] + item.body.encode("utf-8", "surrogatepass")


def from_bytes(data: bytes) -> Record | End:
    if data[:1] == _END:
        stored = json.loads(data[1:])
        return End(stored["status"], stored["code"], stored["message"])
    return Record(_INPUTS[data[:1]], data[1:].decode("utf-8", "surrogatepass"))
