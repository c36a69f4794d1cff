"""The records of a log and their bytes: text, a snapshot, an event, or the end and its reason."""

from __future__ import annotations

import json
import logging
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, NamedTuple

from jsonrill.errors import JsonrillError, stream_error

log = logging.getLogger("jsonrill_server")

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


# ---- why a source failed: readers never see the text of its exception ----

BUSY: Final = "the provider received too many requests: ask again later"
KEY: Final = "the provider refused the server's key: asking again does not help"
REQUEST: Final = "the provider refused the request: asking again does not help"
TIMED_OUT: Final = End("error", "SOURCE_TIMEOUT", "the provider did not answer in time: ask again")
FAILED: Final = End("error", "SOURCE_FAILED", "the source failed: asking again may help")
BY_STATUS: Final = {
    **dict.fromkeys((400, 404, 413, 422), End("error", "SOURCE_REFUSED", REQUEST)),
    **dict.fromkeys((401, 403), End("error", "UNAUTHORIZED", KEY)),
    **dict.fromkeys((408, 504), TIMED_OUT),
    429: End("error", "RATE_LIMITED", BUSY),
}


def end_of_error(error: BaseException) -> End:
    """Return the end of a run whose source raised this; the exception itself is only logged."""
    if isinstance(error, JsonrillError):
        problem = stream_error(error)
        return End("error", problem["code"], problem["message"])
    log.error("the source of a run failed", exc_info=error)
    end = next((BY_STATUS[status] for status in _statuses(error) if status in BY_STATUS), FAILED)
    is_late = any("Timeout" in kind.__name__ for kind in type(error).__mro__)
    return TIMED_OUT if is_late and end is FAILED else end


def _statuses(error: BaseException) -> list[Any]:
    """Return the attributes in which a provider's exception, or its cause, may have a status."""
    objects = (error, getattr(error, "response", None), error.__cause__)
    names = ("status_code", "status", "code")
    statuses = [getattr(item, name, None) for item in objects for name in names]
    return [status for status in statuses if isinstance(status, int)]
