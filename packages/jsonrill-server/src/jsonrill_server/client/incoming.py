"""What is read: the bytes of an event stream to typed objects, over any number of connections."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final, Generic, TypeVar

from jsonrill.errors import InvalidJSON, InvalidSchema, JsonrillError, LimitExceeded, Truncated
from jsonrill.eventstream import SSEDecoder, SSEEvent, is_done
from jsonrill.partial_stream import Update
from jsonrill.paths import parse_path
from jsonrill.toolcalls import ToolCalls
from jsonrill.wire.reader import WireReader

from .errors import ClientError, StreamCancelled, StreamFailed, Unavailable
from .tries import RETRIED, Json, Request, Response, Tries, checked

T = TypeVar("T")


class EventReading(Generic[T]):
    """The bytes of an event stream → typed objects, over any number of connections."""

    def __init__(self, stream: str, path: str, format: str, after: str, tries: Tries) -> None:
        self.format = format
        self.last_id = after
        # Whether the last event was read, and whether there were events without an id.
        self.closed = False
        self.without_ids = False
        self._stream = stream
        self._path = path
        self._tries = tries
        self._read: Callable[[Any], list[Any]] = _READERS.get(format, lambda: _alone)()
        self._error: ClientError | JsonrillError | None = None

    def request(self) -> Request:
        """The request that opens, or resumes, the event stream."""
        # What was left of an event in the old connection is sent again.
        self._decoder = SSEDecoder()
        # A position, were it the first, says that this reader resumes.
        headers = {"accept": "text/event-stream", "last-event-id": self.last_id or "0"}
        return Request("GET", self._path, None, headers)

    def feed(self, data: bytes) -> Iterator[T]:
        """Yield the objects of these bytes; each counts as received when the next is asked for."""
        for event in self._decoder.feed(data):
            yield from self._event(event)
            if event.id and event.id != self.last_id:
                self.last_id = event.id
                self._tries.reset()
            self.without_ids |= not event.id
            if self.closed:
                return

    def _event(self, event: SSEEvent) -> Iterator[T]:
        if event.type == "CLOSE":
            self.closed = True
        elif not is_done(event.data):
            data = json.loads(event.data)
            if isinstance(data, dict) and data.keys() == {"status", "error"}:
                # Of many documents one may be broken: the first error is raised at the end.
                self._error = self._error or _failure(data["error"])
                self._read = _READERS.get(self.format, lambda: _alone)()
            else:
                yield from self._read(data)

    def body_ended(self) -> None:
        """A response has ended, and was not broken off: without ids that is the end."""
        self.closed |= self.without_ids

    def wait(self, ended: Response) -> float | None:
        """Seconds until the stream is read on; None if that was all.

        Raises the error with which the stream has ended, or because of which it cannot be read on.
        """
        if self.closed or ended.status == 204:
            if self._error is not None:
                raise self._error
            return None
        if not ended.error and ended.status not in RETRIED:
            checked(ended, self._stream)
        if self.without_ids:
            message = (
                f"stream {self._stream}: the connection was lost, and {self.format} has no ids"
            )
            raise Unavailable(f"{message} to resume from: read it again from its beginning")
        return self._tries.wait(ended)


def _alone(data: Any) -> list[Any]:
    return [data]


def _updates() -> Callable[[Any], list[Any]]:
    return lambda data: [Update(**{"index": None, **data})]


class _Fragments:
    """Fragments of one document after another, from any wire form."""

    def __init__(self) -> None:
        self._reader = WireReader()

    def __call__(self, data: Any) -> list[Any]:
        fragments = []
        for item in data:
            if self._reader.complete:
                self._reader = WireReader()
            if (fragment := self._reader.read(item)) is not None:
                fragments.append(fragment)
        return fragments


def _calls() -> Callable[[Any], list[Any]]:
    return ToolCalls(provider="jsonrill").feed


_READERS: Final[dict[str, Callable[[], Callable[[Any], list[Any]]]]] = {
    "updates": _updates,
    "fragments": _Fragments,
    "calls": _calls,
}


def _failure(error: Json) -> JsonrillError:
    """The exception for the error of an ERROR event."""
    code, message = str(error.get("code", "")), str(error.get("message", ""))
    place: Json = {name: error[name] for name in ("offset", "line", "column") if name in error}
    if isinstance(path := error.get("path"), str):
        with suppress(ValueError):
            place["path"] = parse_path(path)
    if code in (InvalidJSON.code, Truncated.code) and "reason" in error:
        return Truncated(message, reason=str(error["reason"]), **place)
    if code == InvalidJSON.code:
        return InvalidJSON(message, **place)
    if code == InvalidSchema.code:
        return InvalidSchema(message, rule=error.get("rule", ""), **place)
    if code == LimitExceeded.code:
        return LimitExceeded(message, limit=error.get("limit", ""), **place)
    if code == "CANCELLED":
        return StreamCancelled(message, code=code)
    return StreamFailed(message or code, code=code, **place)
