"""What is read: the bytes of an event stream to typed objects, over any number of connections."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final, Generic, TypeVar

from jsonrill.errors import InvalidJSON, InvalidSchema, JsonrillError, LimitExceeded
from jsonrill.eventstream import SSEDecoder, SSEEvent, is_done
from jsonrill.partial_stream import Update
from jsonrill.paths import parse_path
from jsonrill.toolcalls import ToolCalls
from jsonrill.wire.reader import WireReader

from .errors import ClientError, StreamCancelled, StreamFailed, Unavailable
from .steps import RETRIED, Json, Response, checked

T = TypeVar("T")


class EventReading(Generic[T]):
    """The bytes of an event stream → typed objects, over any number of connections."""

    def __init__(self, format: str, after: str = "") -> None:
        self.format = format
        self.last_id = after
        # Whether the last event was read, and whether there were events without an id.
        self.closed = False
        self.without_ids = False
        self._decoder = SSEDecoder()
        self._read: Callable[[Any], list[Any]] = _READERS.get(format, lambda: _alone)()
        self._error: ClientError | JsonrillError | None = None

    def connected(self) -> None:
        """A new connection begins: what was left of an event in the old one is sent again."""
        self._decoder = SSEDecoder()

    def feed(self, data: bytes) -> Iterator[T]:
        """Yield the objects of these bytes; each counts as received when the next is asked for."""
        for event in self._decoder.feed(data):
            yield from self._event(event)
            self.last_id = event.id or self.last_id
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

    def finish(self) -> None:
        """Raise the error with which the stream has ended, if it has."""
        if self._error is not None:
            raise self._error

    def body_ended(self) -> None:
        """A response has ended, and was not broken off: without ids that is the end."""
        self.closed |= self.without_ids

    def is_over(self, response: Response, stream: str) -> bool:
        """True if nothing more comes; raises if that is because of an error."""
        if self.closed or response.status == 204:
            return True
        if not response.error and response.status not in RETRIED:
            checked(response, stream)
        if self.without_ids:
            message = f"stream {stream}: the connection was lost, and {self.format} has no ids"
            raise Unavailable(f"{message} to resume from: read it again from its beginning")
        return False


def _alone(data: Any) -> list[Any]:
    return [data]


def _updates() -> Callable[[Any], list[Any]]:
    return lambda data: [Update(**{"index": None, **data})]


class _Fragments:
    """Fragments of one document after another, from any wire form."""

    def __init__(self) -> None:
        self._reader = WireReader()

    def __call__(self, data: Any) -> list[Any]:
        found = []
        for item in data:
            if self._reader.complete:
                self._reader = WireReader()
            if (fragment := self._reader.read(item)) is not None:
                found.append(fragment)
        return found


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
    if code == InvalidJSON.code:
        return InvalidJSON(message, **place)
    if code == InvalidSchema.code:
        return InvalidSchema(message, rule=error.get("rule", ""), **place)
    if code == LimitExceeded.code:
        return LimitExceeded(message, limit=error.get("limit", ""), **place)
    if code == "CANCELLED":
        return StreamCancelled(message, code=code)
    return StreamFailed(message or code, code=code, **place)
