"""The client of the server: publish a stream, and read it with resume, sync or async.

A request is a generator of steps (`_Request`, or seconds to wait), which knows how often and how
long to try; `Client` and `AsyncClient` only carry the steps out. What is published is numbered, so
that a request whose answer was lost can be repeated: each record is stored once. What is read has
ids, so that a reader whose connection broke goes on after the last event that it has.
"""

from __future__ import annotations

import asyncio
import json
import math
import random
import secrets
import threading
import time
from codecs import getincrementaldecoder
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterator,
    Mapping,
)
from contextlib import aclosing, closing, suppress
from dataclasses import dataclass
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Generic,
    Literal,
    NamedTuple,
    TypeVar,
    Unpack,
    overload,
)
from urllib.parse import quote

from .errors import InvalidJSON, InvalidSchema, JsonrillError, LimitExceeded
from .eventstream import DONE, SSEDecoder, SSEEvent
from .jsontext import dumps
from .options import Input, ReadOptions, SourceOptions
from .partial_stream import Update
from .paths import parse_path
from .runs.elements import records
from .runs.options import EventOptions, RunOptions
from .runs.threads import in_thread
from .sources import Reading
from .streams import END, Adapter, JsonSchema, drive, values
from .toolcalls import ToolCalls, ToolCallUpdate
from .wire.fragment import Fragment
from .wire.reader import WireReader

if TYPE_CHECKING:
    import httpx2

__all__ = [
    "AsyncClient",
    "Client",
    "ClientError",
    "Conflict",
    "Refused",
    "StreamCancelled",
    "StreamFailed",
    "StreamNotFound",
    "StreamStatus",
    "Unauthorized",
    "Unavailable",
]

T = TypeVar("T")
Json = dict[str, Any]
# What the server answers when another try may succeed.
RETRIED: Final = (408, 425, 429, 500, 502, 503, 504)
# Seconds between tries: twice as many each time, up to the longest, and not the same for all.
FIRST_WAIT: Final = 0.1
LONGEST_WAIT: Final = 5.0
# What one request carries, and what may wait for the next one before the source waits, too.
BATCH_RECORDS: Final = 500
BATCH_BYTES: Final = 1 << 18
WAITING_BYTES: Final = 1 << 20
# Seconds after which a producer whose source is silent renews its lease, if that is not short.
RENEW: Final = 20.0
# Characters of one record of text; a record has at most a megabyte, unless the server is told so.
LONGEST_TEXT: Final = 1 << 16
# Seconds without a write after which another producer may have written: a lease is no shorter.
PAUSE: Final = 1.0
LINES: Final = {"content-type": "application/x-ndjson"}


class ClientError(JsonrillError):
    """A request failed, or a stream did; `status` is that of the response, if there was one."""

    code = "CLIENT"
    _fields = (*JsonrillError._fields, "status")

    def __init__(
        self, message: str = "", *, code: str = "", status: int | None = None, **place: Any
    ) -> None:
        super().__init__(message, **place)
        self.code = code or type(self).code
        self.status = status


class Unavailable(ClientError):
    """The server could not be reached, or could not answer, for as long as the client tries."""

    code = "UNAVAILABLE"


class Unauthorized(ClientError):
    """The token is missing or wrong (401), or does not allow this (403)."""


class StreamNotFound(ClientError, LookupError):
    """There is no such stream, or it belongs to another token."""


class Conflict(ClientError):
    """The stream has ended (`CLOSED`), has another producer (`TAKEN`), or lacks records (`GAP`)."""


class Refused(ClientError, ValueError):
    """The server does not take this request: an option, a record, or a position is wrong."""


class StreamFailed(ClientError):
    """The stream that was read ended with an error; `code` is the producer's or the server's."""


class StreamCancelled(StreamFailed):
    """The stream that was read was cancelled."""


class NewStream(RunOptions, total=False):
    """Options of a new stream; `lease` is the silence after which its producer counts as lost."""

    lease: float


@dataclass(frozen=True, slots=True)
class StreamStatus:
    """The state of a stream: `last` is the number of its records, `bytes` their size."""

    id: str
    input: Input
    last: int
    closed: bool
    bytes: int
    many: bool


class _Request(NamedTuple):
    method: str
    path: str
    content: bytes | None = None
    headers: Mapping[str, str] = {}


class _Known(NamedTuple):
    """What a stream takes, the number of its last record, and when that was written.

    `renew` is how often a producer whose source is silent renews its lease, in seconds.
    """

    input: Input
    last: int
    at: float
    renew: float = RENEW


class _Response(NamedTuple):
    """A response, or no response: then `error` says why."""

    status: int = 0
    body: bytes = b""
    headers: Mapping[str, str] = {}
    error: str = ""


BROKEN: Final = _Response(error="the connection ended before the stream did")
# What an operation is made of, and what it returns.
Steps = Generator["_Request | float", "_Response | None", T]


class _Tries:
    """How long to wait before the next try; raises when it is time to give up."""

    def __init__(self, url: str, patience: float) -> None:
        self._url = url
        self._patience = patience
        self.reset()
        self._progress = False

    def reset(self) -> None:
        """Something was achieved: the patience begins anew, and the next try is made at once."""
        self.count = 0
        self._until = time.monotonic() + self._patience
        self._progress = True

    def wait(self, failure: _Response) -> float:
        """Seconds until the next try; raises Unavailable if that is too late."""
        if self._progress:
            self._progress = False
            return 0.0
        wait = min(LONGEST_WAIT, FIRST_WAIT * 2.0**self.count) * random.uniform(0.75, 1.25)
        with suppress(ValueError):
            wait = max(wait, float(failure.headers.get("retry-after", "")))
        self.count += 1
        if time.monotonic() + wait > self._until:
            raise self._given_up(failure)
        return wait

    def _given_up(self, failure: _Response) -> ClientError:
        seconds = f"{self._patience:g} s"
        if failure.error:
            return Unavailable(
                f"{self._url} could not be reached for {seconds} ({failure.error}): is the server"
                " running there? `patience=` is how long the client tries"
            )
        found = _problem(failure)
        return Unavailable(
            f"{self._url} answered {failure.status} for {seconds}: {found['message']}",
            code=found["code"],
            status=failure.status,
        )


def _problem(response: _Response) -> Json:
    """Code and message of an error response, of our server or another."""
    with suppress(ValueError, TypeError, LookupError):
        error = json.loads(response.body)["error"]
        return {**error, "code": str(error["code"]), "message": str(error["message"])}
    return {"code": f"HTTP_{response.status}", "message": "it is no answer of jsonrill's server"}


def _checked(response: _Response, stream: str = "") -> _Response:
    """The response; raises the error that it is."""
    if response.status < 300:
        return response
    problem = _problem(response)
    code, said = problem["code"], problem["message"]
    kind, remedy = _KINDS.get(response.status, (Refused, ""))
    message = f"{said}: {remedy}" if remedy else said
    if code in _REMEDIES:
        message = f"{said}: {_REMEDIES[code]}"
    if stream:
        message = f"stream {stream}: {message}"
    raise kind(message, code=code, status=response.status)


_KINDS: Final[dict[int, tuple[type[ClientError], str]]] = {
    401: (Unauthorized, "pass Client(url, token=…)"),
    403: (Unauthorized, "the server does not let this client do it"),
    404: (StreamNotFound, "it was deleted, has expired, or belongs to another token"),
    409: (Conflict, ""),
    410: (Conflict, ""),
}
_REMEDIES: Final = {
    "CLOSED": "create another one",
    "TAKEN": "wait until its lease has run out, or pass Client(url, producer=…) with its name",
    "GAP": "records before these are missing, publish them first",
    "NOT_FOUND": "is this the URL of jsonrill's server?",
}


class _Core:
    """What both clients have in common: operations as steps."""

    def __init__(
        self,
        url: str,
        token: str = "",
        *,
        producer: str = "",
        timeout: float = 30.0,
        patience: float = 60.0,
        transport: Any = None,
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise ValueError(f"the URL of a server begins with http:// or https://, not {url!r}")
        self.url = url.rstrip("/")
        self.producer = producer or secrets.token_hex(8)
        self.patience = patience
        headers = {"accept-encoding": "identity"}
        if token:
            headers["authorization"] = f"Bearer {token}"
        self._settings = {"headers": headers, "timeout": timeout, "transport": transport}
        # What is known of the streams that are published to from here.
        self._known: dict[str, _Known] = {}
        self._locks: dict[str, Any] = {}

    def _path(self, stream: str, rest: str = "") -> str:
        if not stream or type(stream) is not str:
            raise TypeError(f"a stream is named by its id, a text, not {stream!r}")
        return f"/v1/streams/{quote(stream, safe='')}{rest}"

    def _tries(self) -> _Tries:
        return _Tries(self.url, self.patience)

    def _call(self, request: _Request, stream: str = "") -> Steps[_Response]:
        """A request that may be repeated, until it is answered."""
        tries = self._tries()
        while True:
            response = yield request
            assert response is not None
            if not response.error and response.status not in RETRIED:
                again = tries.count > 0
                if again and request.method == "DELETE" and response.status == 404:
                    return _Response(204)  # the first try did it
                return _checked(response, stream)
            yield tries.wait(response)

    def _post(self, path: str, value: Any, stream: str = "") -> Steps[Json]:
        content = None if value is None else dumps(value).encode()
        headers = {"content-type": "application/json"} if content else {}
        response = yield from self._call(_Request("POST", path, content, headers), stream)
        found: Json = json.loads(response.body)
        return found

    def _create(self, options: Json) -> Steps[str]:
        made = yield from self._post("/v1/streams", options)
        stream: str = made["id"]
        renew = min(RENEW, options.get("lease", math.inf) / 3)
        self._known[stream] = _Known(options.get("input", "text"), 0, time.monotonic(), renew)
        return stream

    def _end(self, stream: str, how: str, value: Any = None) -> Steps[StreamStatus]:
        found = yield from self._post(self._path(stream, f"/{how}"), value, stream)
        self._forget(stream)
        return StreamStatus(**found)

    def _delete(self, stream: str) -> Steps[None]:
        yield from self._call(_Request("DELETE", self._path(stream)), stream)
        self._forget(stream)

    def _forget(self, stream: str) -> None:
        self._known.pop(stream, None)
        self._locks.pop(stream, None)

    def _get(self, stream: str, rest: str = "") -> Steps[Json]:
        response = yield from self._call(_Request("GET", self._path(stream, rest)), stream)
        found: Json = json.loads(response.body)
        return found

    def _status(self, stream: str) -> Steps[StreamStatus]:
        found = yield from self._get(stream)
        return StreamStatus(**found)

    def _value(self, stream: str) -> Steps[Any]:
        found = yield from self._get(stream, "/value")
        return found.get("value", found)

    def _open(self, stream: str) -> Steps[_Outbox]:
        """An outbox for records, numbered from the one after the last.

        After a pause, in which the lease may have run out, it looks whether others have written.
        """
        known = self._known.get(stream)
        if known is None or time.monotonic() > known.at + PAUSE:
            status = yield from self._status(stream)
            if status.closed:
                message = f"stream {stream}: the stream has ended: {_REMEDIES['CLOSED']}"
                raise Conflict(message, code="CLOSED")
            if known is not None and status.last != known.last:
                raise self._taken(stream)
            renew = RENEW if known is None else known.renew
            known = _Known(status.input, status.last, time.monotonic(), renew)
            self._known[stream] = known
        return _Outbox(known)

    def _taken(self, stream: str) -> Conflict:
        self._known.pop(stream, None)
        message = f"stream {stream}: another producer has written to it"
        return Conflict(f"{message}: {_REMEDIES['TAKEN']}", code="TAKEN")

    def _append(self, stream: str, outbox: _Outbox) -> Steps[None]:
        """Send what waits in the outbox; nothing, if it is empty, renews the lease."""
        first, lines = outbox.first, outbox.take()
        headers = {**LINES, "jsonrill-producer": self.producer, "jsonrill-seq": str(first)}
        request = _Request("POST", self._path(stream, "/chunks"), b"\n".join(lines), headers)
        response = yield from self._call(request, stream)
        last = json.loads(response.body)["last"]
        if last != outbox.first - 1:
            raise self._taken(stream)
        self._known[stream] = _Known(outbox.input, last, time.monotonic(), outbox.renew)

    def _events(self, stream: str, reading: _Reading[Any], query: Json) -> _Request:
        """The request that opens, or resumes, an event stream."""
        asked = {"format": reading.format, **query}
        pairs = [f"{name}={quote(_text(value))}" for name, value in asked.items()]
        path = self._path(stream, f"/events?{'&'.join(pairs)}")
        # A position, were it the first, says that this reader resumes.
        headers = {"accept": "text/event-stream", "last-event-id": reading.last_id or "0"}
        return _Request("GET", path, None, headers)


def _text(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


class _Outbox:
    """Lines of records that wait to be sent, and the number of the first.

    One thread may add lines while another takes them.
    """

    def __init__(self, known: _Known) -> None:
        self.input = known.input
        self.renew = known.renew
        self.first = known.last + 1
        self.size = 0
        self._lines: list[bytes] = []
        self._lock = threading.Lock()

    def __bool__(self) -> bool:
        return bool(self._lines)

    @property
    def full(self) -> bool:
        return self.size >= WAITING_BYTES

    def add(self, body: str) -> None:
        line = _line(self.input, body)
        with self._lock:
            self._lines.append(line)
            self.size += len(line)

    def take(self) -> list[bytes]:
        """The lines of one request, which count as written."""
        with self._lock:
            count, size = 0, 0
            for line in self._lines[:BATCH_RECORDS]:
                if count and size + len(line) > BATCH_BYTES:
                    break
                count, size = count + 1, size + len(line)
            taken, self._lines = self._lines[:count], self._lines[count:]
            self.size -= size
            self.first += count
        return taken


class _Reading(Generic[T]):
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
        elif not event.data.startswith(DONE):
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

    def is_over(self, response: _Response, stream: str) -> bool:
        """True if nothing more comes; raises if that is because of an error."""
        if self.closed or response.status == 204:
            return True
        if not response.error and response.status not in RETRIED:
            _checked(response, stream)
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


def _httpx() -> Any:
    try:
        import httpx2
    except ImportError as error:
        raise ImportError(
            "the client of the server needs httpx2: install jsonrill[client]"
        ) from error
    return httpx2


def _named(error: Exception) -> str:
    """The name of an exception and, if it has one, its message."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _line(input: Input, body: str) -> bytes:
    """A record as a line of NDJSON."""
    return (dumps(body) if input == "text" else body.replace("\n", " ").replace("\r", " ")).encode()


def bodies(source: Any, input: Input, options: SourceOptions) -> Any:
    """The bodies of the records of a source, sync or async as it is."""
    if input == "text":
        return drive(_TextBodies(), source, reading=Reading(**options))
    if named := options.keys() - {"sse"}:
        raise TypeError(f"{named.pop()} is for a stream of text: this one has {input}")
    return drive(_bodies, records(source, input, sse=options.get("sse", False)))


def _bodies(record: Any) -> Iterator[str]:
    if record is not END:
        yield record.body


class _TextBodies:
    """Pieces of text or bytes → texts that are not too large for one record."""

    def __init__(self) -> None:
        self._utf8: Any = getincrementaldecoder("utf-8")("replace")

    def __call__(self, piece: Any) -> Iterator[str]:
        if piece is END:
            piece = self._utf8.decode(b"", True)
        elif not isinstance(piece, str):
            piece = self._utf8.decode(bytes(piece))
        for at in range(0, len(piece), LONGEST_TEXT):
            yield piece[at : at + LONGEST_TEXT]


async def _in_loop(found: Any, source: Any) -> AsyncGenerator[str]:
    """The same for the event loop: what is not async is read in a thread."""
    if isinstance(found, AsyncIterable):
        async with aclosing(found):  # type: ignore[type-var]
            async for body in found:
                yield body
        return
    async with aclosing(in_thread(found, getattr(source, "close", None))) as batches:
        async for batch in batches:
            for body in batch:
                yield body


def _code_of(error: BaseException) -> tuple[str, str]:
    """What readers are told when a source has failed: details only if they are about the data."""
    if isinstance(error, JsonrillError):
        return error.code, error.message
    return "SOURCE_FAILED", "the source failed"


class Client(_Core):
    """A client of jsonrill's server, for programs that are not async.

    `token` is the server's; `producer` names who publishes (at most one producer may write to a
    stream), by default a name of its own. A request, and the silence of an event stream, may take
    `timeout` seconds; whatever fails is tried again for `patience` seconds. `transport` is one of
    httpx2. Threads may share a client.
    """

    def __init__(
        self,
        url: str,
        token: str = "",
        *,
        producer: str = "",
        timeout: float = 30.0,
        patience: float = 60.0,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        super().__init__(
            url, token, producer=producer, timeout=timeout, patience=patience, transport=transport
        )
        self._httpx = _httpx()
        self._http = self._httpx.Client(**self._settings)
        self._lock = threading.Lock()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()

    def shutdown(self) -> None:
        """Close the connections; `with` does it."""
        self._http.close()

    def _send(self, request: _Request) -> _Response:
        try:
            found = self._http.request(
                request.method,
                self.url + request.path,
                content=request.content,
                headers=dict(request.headers),
            )
        except self._httpx.TransportError as error:
            return _Response(error=_named(error))
        return _Response(found.status_code, found.content, found.headers)

    def _run(self, steps: Steps[T]) -> T:
        """Carry out the steps of an operation."""
        response: _Response | None = None
        while True:
            try:
                step = steps.send(response)
            except StopIteration as stop:
                result: T = stop.value
                return result
            response = None
            if isinstance(step, _Request):
                response = self._send(step)
            else:
                time.sleep(step)

    def create(self, **options: Unpack[NewStream]) -> str:
        """Create a stream with these options, and return its id."""
        return self._run(self._create({**options}))

    def publish(
        self, stream: str, source: Any, *, close: bool = False, **options: Unpack[SourceOptions]
    ) -> int:
        """Append what a source yields, as it comes, and return the number of the last record.

        The source is what other functions take: text, a provider's stream, a file, a response. To
        a stream of `text` the text of an answer is published (`tool=`: the arguments of a call), to
        one of `events` the events themselves. With `close` the stream is closed behind it, or
        fails if the source does; the source is closed in any case.
        """
        with self._lock_of(stream):
            outbox = self._run(self._open(stream))
            found = bodies(source, outbox.input, options)
            if isinstance(found, AsyncIterable):
                raise TypeError("an async source is published by AsyncClient")
            sender = _Sender(lambda: self._run(self._append(stream, outbox)), outbox)
            try:
                with closing(found):
                    for body in found:
                        sender.add(body)
                sender.finish()
            except Exception as error:
                if close and not isinstance(error, ClientError):
                    sender.finish()
                    code, message = _code_of(error)
                    self.fail(stream, code, message)
                raise
            finally:
                sender.stop()
            last = outbox.first - 1
        if close:
            self.close(stream)
        return last

    def _lock_of(self, stream: str) -> threading.Lock:
        """The lock of a stream: what two threads publish is not numbered twice."""
        with self._lock:
            found: threading.Lock = self._locks.setdefault(stream, threading.Lock())
            return found

    def close(self, stream: str) -> StreamStatus:
        """Say that a stream is complete. To say so twice is no error."""
        return self._run(self._end(stream, "close"))

    def fail(
        self, stream: str, code: str = "FAILED", message: str = "the producer failed"
    ) -> StreamStatus:
        """Say that a stream cannot go on; its readers get this error."""
        return self._run(self._end(stream, "fail", {"code": code, "message": message}))

    def cancel(self, stream: str) -> StreamStatus:
        """Say that the rest of a stream is not wanted; a relay stops generating."""
        return self._run(self._end(stream, "cancel"))

    def delete(self, stream: str) -> None:
        """Delete a stream; its readers get an error."""
        self._run(self._delete(stream))

    def status(self, stream: str) -> StreamStatus:
        """The state of a stream."""
        return self._run(self._status(stream))

    def value(self, stream: str) -> Any:
        """The current value of a stream; of one of events a dict with `text` and `calls`."""
        return self._run(self._value(stream))

    @overload
    def read(
        self,
        stream: str,
        format: Literal["updates"] = "updates",
        *,
        after: str = "",
        **options: Unpack[EventOptions],
    ) -> Iterator[Update]: ...
    @overload
    def read(
        self,
        stream: str,
        format: Literal["fragments"],
        *,
        after: str = "",
        **options: Unpack[EventOptions],
    ) -> Iterator[Fragment]: ...
    @overload
    def read(
        self,
        stream: str,
        format: Literal["chunks"],
        *,
        after: str = "",
        **options: Unpack[EventOptions],
    ) -> Iterator[str]: ...
    @overload
    def read(
        self,
        stream: str,
        format: Literal["calls"],
        *,
        after: str = "",
        **options: Unpack[EventOptions],
    ) -> Iterator[ToolCallUpdate]: ...
    @overload
    def read(
        self,
        stream: str,
        format: Literal["openai", "ai-sdk", "ag-ui"],
        *,
        after: str = "",
        **options: Unpack[EventOptions],
    ) -> Iterator[dict[str, Any]]: ...
    @overload
    def read(
        self, stream: str, format: str, *, after: str = "", **options: Unpack[EventOptions]
    ) -> Iterator[Any]: ...
    def read(
        self,
        stream: str,
        format: str = "updates",
        *,
        after: str = "",
        **options: Unpack[EventOptions],
    ) -> Any:
        """Yield what is published, as it comes, in this format, to the end of the stream.

        `updates` are `Update`s, `fragments` `Fragment`s, `chunks` pieces of the text, `calls`
        `ToolCallUpdate`s, `raw` the records themselves; events of other clients (`openai`,
        `ai-sdk`, `ag-ui`) are dicts. A connection that breaks is resumed after the last event:
        nothing is missing, and nothing comes twice. `after` is the id of an event to go on from.
        A stream that did not end well raises `StreamFailed` behind its last event.
        """
        reading: _Reading[Any] = _Reading(format, after)
        self._events(stream, reading, {**options})
        return self._read(stream, reading, {**options})

    def _read(self, stream: str, reading: _Reading[Any], query: Json) -> Iterator[Any]:
        tries = self._tries()
        while True:
            request = self._events(stream, reading, query)
            ended = BROKEN
            try:
                with self._http.stream(
                    request.method, self.url + request.path, headers=dict(request.headers)
                ) as response:
                    if response.status_code != 200:
                        ended = _Response(response.status_code, response.read(), response.headers)
                    else:
                        reading.connected()
                        for data in response.iter_bytes():
                            known = reading.last_id
                            yield from reading.feed(data)
                            if reading.last_id != known:
                                tries.reset()
                            if reading.closed:
                                break
                        reading.body_ended()
            except self._httpx.TransportError as error:
                ended = _Response(error=_named(error))
            if reading.is_over(ended, stream):
                break
            time.sleep(tries.wait(ended))
        reading.finish()

    @overload
    def values(
        self, stream: str, schema: type[T] | Adapter[T], **options: Unpack[ReadOptions]
    ) -> Iterator[T]: ...
    @overload
    def values(
        self, stream: str, schema: JsonSchema | None = None, **options: Unpack[ReadOptions]
    ) -> Iterator[Any]: ...
    def values(self, stream: str, schema: Any = None, **options: Unpack[ReadOptions]) -> Any:
        """Yield the value after each piece that changed it, as `jsonrill.values` does."""
        return values(self.read(stream, "chunks"), schema, **options)


class _Sender:
    """Sends in a thread of its own what is added, so that a source need not wait for each answer.

    What arrives while a request is under way goes into the next one.
    """

    def __init__(self, send: Callable[[], None], outbox: _Outbox) -> None:
        self._send = send
        self._outbox = outbox
        self._changed = threading.Condition()
        self._ended = False
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="jsonrill-publish", daemon=True)
        self._thread.start()

    def add(self, body: str) -> None:
        """Send a record soon; raises what sending an earlier one has failed with."""
        self._outbox.add(body)
        with self._changed:
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._failure or not self._outbox.full)
        self._check()

    def finish(self) -> None:
        """Return when everything is sent; raises what sending has failed with."""
        self.stop()
        self._check()

    def stop(self) -> None:
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        self._thread.join()

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        try:
            while True:
                with self._changed:
                    self._changed.wait_for(lambda: self._outbox or self._ended, self._outbox.renew)
                    if self._ended and not self._outbox:
                        return
                self._send()
                with self._changed:
                    self._changed.notify_all()
        except Exception as error:
            with self._changed:
                self._failure = error
                self._changed.notify_all()


class AsyncClient(_Core):
    """A client of jsonrill's server for asyncio; arguments and methods are those of `Client`."""

    def __init__(
        self,
        url: str,
        token: str = "",
        *,
        producer: str = "",
        timeout: float = 30.0,
        patience: float = 60.0,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        super().__init__(
            url, token, producer=producer, timeout=timeout, patience=patience, transport=transport
        )
        self._httpx = _httpx()
        self._http = self._httpx.AsyncClient(**self._settings)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.shutdown()

    async def shutdown(self) -> None:
        """Close the connections; `async with` does it."""
        await self._http.aclose()

    async def _send(self, request: _Request) -> _Response:
        try:
            found = await self._http.request(
                request.method,
                self.url + request.path,
                content=request.content,
                headers=dict(request.headers),
            )
        except self._httpx.TransportError as error:
            return _Response(error=_named(error))
        return _Response(found.status_code, found.content, found.headers)

    async def _run(self, steps: Steps[T]) -> T:
        response: _Response | None = None
        while True:
            try:
                step = steps.send(response)
            except StopIteration as stop:
                result: T = stop.value
                return result
            response = None
            if isinstance(step, _Request):
                response = await self._send(step)
            else:
                await asyncio.sleep(step)

    async def create(self, **options: Unpack[NewStream]) -> str:
        """Create a stream with these options, and return its id."""
        return await self._run(self._create({**options}))

    async def publish(
        self, stream: str, source: Any, *, close: bool = False, **options: Unpack[SourceOptions]
    ) -> int:
        """Append what a source yields, as `Client.publish` does.

        A source that is not async is read in threads.
        """
        async with self._locks.setdefault(stream, asyncio.Lock()):
            outbox = await self._run(self._open(stream))
            found = _in_loop(bodies(source, outbox.input, options), source)
            sender = _AsyncSender(lambda: self._run(self._append(stream, outbox)), outbox)
            try:
                async with aclosing(found):
                    async for body in found:
                        await sender.add(body)
                await sender.finish()
            except Exception as error:
                if close and not isinstance(error, ClientError):
                    await sender.finish()
                    code, message = _code_of(error)
                    await self.fail(stream, code, message)
                raise
            finally:
                await sender.stop()
            last = outbox.first - 1
        if close:
            await self.close(stream)
        return last

    async def close(self, stream: str) -> StreamStatus:
        """Say that a stream is complete. To say so twice is no error."""
        return await self._run(self._end(stream, "close"))

    async def fail(
        self, stream: str, code: str = "FAILED", message: str = "the producer failed"
    ) -> StreamStatus:
        """Say that a stream cannot go on; its readers get this error."""
        return await self._run(self._end(stream, "fail", {"code": code, "message": message}))

    async def cancel(self, stream: str) -> StreamStatus:
        """Say that the rest of a stream is not wanted; a relay stops generating."""
        return await self._run(self._end(stream, "cancel"))

    async def delete(self, stream: str) -> None:
        """Delete a stream; its readers get an error."""
        await self._run(self._delete(stream))

    async def status(self, stream: str) -> StreamStatus:
        """The state of a stream."""
        return await self._run(self._status(stream))

    async def value(self, stream: str) -> Any:
        """The current value of a stream; of one of events a dict with `text` and `calls`."""
        return await self._run(self._value(stream))

    @overload
    def read(
        self,
        stream: str,
        format: Literal["updates"] = "updates",
        *,
        after: str = "",
        **options: Unpack[EventOptions],
    ) -> AsyncIterator[Update]: ...
    @overload
    def read(
        self,
        stream: str,
        format: Literal["fragments"],
        *,
        after: str = "",
        **options: Unpack[EventOptions],
    ) -> AsyncIterator[Fragment]: ...
    @overload
    def read(
        self,
        stream: str,
        format: Literal["chunks"],
        *,
        after: str = "",
        **options: Unpack[EventOptions],
    ) -> AsyncIterator[str]: ...
    @overload
    def read(
        self,
        stream: str,
        format: Literal["calls"],
        *,
        after: str = "",
        **options: Unpack[EventOptions],
    ) -> AsyncIterator[ToolCallUpdate]: ...
    @overload
    def read(
        self,
        stream: str,
        format: Literal["openai", "ai-sdk", "ag-ui"],
        *,
        after: str = "",
        **options: Unpack[EventOptions],
    ) -> AsyncIterator[dict[str, Any]]: ...
    @overload
    def read(
        self, stream: str, format: str, *, after: str = "", **options: Unpack[EventOptions]
    ) -> AsyncIterator[Any]: ...
    def read(
        self,
        stream: str,
        format: str = "updates",
        *,
        after: str = "",
        **options: Unpack[EventOptions],
    ) -> Any:
        """Yield what is published, as it comes, as `Client.read` does."""
        reading: _Reading[Any] = _Reading(format, after)
        self._events(stream, reading, {**options})
        return self._read(stream, reading, {**options})

    async def _read(self, stream: str, reading: _Reading[Any], query: Json) -> AsyncGenerator[Any]:
        tries = self._tries()
        while True:
            request = self._events(stream, reading, query)
            ended = BROKEN
            try:
                async with self._http.stream(
                    request.method, self.url + request.path, headers=dict(request.headers)
                ) as response:
                    if response.status_code != 200:
                        body = await response.aread()
                        ended = _Response(response.status_code, body, response.headers)
                    else:
                        reading.connected()
                        async for data in response.aiter_bytes():
                            known = reading.last_id
                            for item in reading.feed(data):
                                yield item
                            if reading.last_id != known:
                                tries.reset()
                            if reading.closed:
                                break
                        reading.body_ended()
            except self._httpx.TransportError as error:
                ended = _Response(error=_named(error))
            if reading.is_over(ended, stream):
                break
            await asyncio.sleep(tries.wait(ended))
        reading.finish()

    @overload
    def values(
        self, stream: str, schema: type[T] | Adapter[T], **options: Unpack[ReadOptions]
    ) -> AsyncIterator[T]: ...
    @overload
    def values(
        self, stream: str, schema: JsonSchema | None = None, **options: Unpack[ReadOptions]
    ) -> AsyncIterator[Any]: ...
    def values(self, stream: str, schema: Any = None, **options: Unpack[ReadOptions]) -> Any:
        """Yield the value after each piece that changed it, as `jsonrill.values` does."""
        return values(self.read(stream, "chunks"), schema, **options)


class _AsyncSender:
    """As `_Sender`, with a task instead of a thread."""

    def __init__(self, send: Callable[[], Awaitable[None]], outbox: _Outbox) -> None:
        self._send = send
        self._outbox = outbox
        self._wanted, self._sent = asyncio.Event(), asyncio.Event()
        self._ended = False
        self._task = asyncio.create_task(self._run())

    async def add(self, body: str) -> None:
        self._outbox.add(body)
        self._wanted.set()
        while self._outbox.full and not self._task.done():
            self._sent.clear()
            await asyncio.wait(
                {self._task, waiting := asyncio.ensure_future(self._sent.wait())},
                return_when=asyncio.FIRST_COMPLETED,
            )
            waiting.cancel()
        if self._task.done():
            self._task.result()

    async def finish(self) -> None:
        """Return when everything is sent; raises what sending has failed with."""
        self._ended = True
        self._wanted.set()
        await self._task

    async def stop(self) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await self._task

    async def _run(self) -> None:
        while True:
            self._wanted.clear()
            if not self._outbox and not self._ended:
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._outbox.renew):
                        await self._wanted.wait()
            if self._ended and not self._outbox:
                return
            await self._send()
            self._sent.set()
