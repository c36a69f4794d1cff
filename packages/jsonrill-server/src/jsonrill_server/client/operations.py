"""The operations of a client as coroutines, the same for `Client` and `AsyncClient`."""

from __future__ import annotations

import json
import math
import secrets
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, fields
from functools import partial
from importlib import import_module
from typing import Any, Final, Literal, Unpack
from urllib.parse import quote

from jsonrill.jsontext import dumps
from jsonrill.options import Input, SourceOptions, modes_text

from ..runs.options import EventOptions, RunOptions
from .carriers import Carrier, checked_header
from .errors import ClientError, Conflict
from .incoming import EventReading
from .outgoing import RENEW, Known, Outbox, Sender, bodies, code_of
from .tries import BROKEN, REMEDIES, RETRIED, Json, Request, Response, Tries, checked

# Seconds that a client waits for an answer, and for which it tries again.
TIMEOUT: Final = 30.0
RETRY_FOR: Final = 60.0
LINES: Final = {"content-type": "application/x-ndjson"}
# Formats of other clients.
Dialect = Literal["openai", "ai-sdk", "ag-ui"]


class NewStream(RunOptions, total=False):
    """Options of a new stream; `lease` is the silence after which its producer counts as lost."""

    lease: float


class ReadingOptions(EventOptions, total=False):
    """Options of a reader; `after` is the id of an event to go on from."""

    after: str


@dataclass(frozen=True, slots=True)
class StreamStatus:
    """The state of a stream: `last` is the number of its records, `bytes` their size.

    `options` are those that were given when it was made.
    """

    id: str
    input: Input
    last: int
    closed: bool
    bytes: int
    many: bool
    options: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_json(cls, answer: dict[str, Any]) -> StreamStatus:
        """What a server says; a newer one may say more."""
        names = {one.name for one in fields(cls)}
        return cls(**{name: value for name, value in answer.items() if name in names})


class Operations:
    """What a client does; a carrier sends its requests and waits."""

    def __init__(self, carrier: Carrier, url: str, producer: str, retry_for: float) -> None:
        if not str(url).startswith(("http://", "https://")):
            raise ValueError(f"the URL of a server begins with http:// or https://, not {url!r}")
        self.url = url.rstrip("/")
        self.producer = checked_header("producer", producer) or secrets.token_hex(8)
        self.retry_for = retry_for
        self._carrier = carrier
        self._broken: type[Exception] = import_module("httpx2").TransportError
        # What is known of the streams that are published to from here, and the last epoch.
        self._known: dict[str, Known] = {}
        self._epoch = 0
        # What two threads or tasks publish to one stream is not numbered twice.
        self._locks: dict[str, Any] = {}

    async def shutdown(self) -> None:
        """Close the connections; `with`, or `async with`, does it."""
        await self._carrier.shutdown()

    async def create(self, **options: Unpack[NewStream]) -> str:
        """Create a stream with these options, and return its id."""
        created = await self._post("/v1/streams", options)
        stream: str = created["id"]
        renew = min(RENEW, options.get("lease", math.inf) / 3)
        self._known[stream] = Known(options.get("input", "text"), 0, self._new_epoch(), renew)
        return stream

    async def publish(
        self, stream: str, source: Any, *, close: bool = False, **options: Unpack[SourceOptions]
    ) -> int:
        """Append what a source yields, as it comes, and return the number of the last record.

        The source is what other functions take: text, a provider's stream, a file, a response. To
        a stream of `text` the text of an answer is published (`tool=`: the arguments of a call), to
        one of `events` the events themselves. With `close` the stream is closed behind it, or
        fails if the source does; the source is closed in any case. `AsyncClient` reads one that
        is not async in a thread.
        """
        # Of two threads that come here at once, `setdefault` gives both the same one.
        async with self._locks.setdefault(stream, self._carrier.lock()):
            outbox = await self._open(stream)
            texts = self._carrier.texts(bodies(source, outbox.input, options), source)
            sender = Sender(self._carrier, outbox, partial(self._append, stream, outbox))
            try:
                async with aclosing(texts):
                    async for body in texts:
                        await sender.add(body)
                await sender.finish()
            except Exception as error:
                if close and not isinstance(error, ClientError):
                    await sender.finish()
                    await self.fail(stream, *code_of(error))
                raise
            finally:
                await sender.stop()
            last = outbox.known.last
        if close:
            await self.close(stream)
        return last

    async def close(self, stream: str) -> StreamStatus:
        """Say that a stream is complete. To say so twice is no error."""
        return await self._end(stream, "close")

    async def fail(
        self, stream: str, code: str = "FAILED", message: str = "the producer failed"
    ) -> StreamStatus:
        """Say that a stream cannot go on; its readers get this error."""
        return await self._end(stream, "fail", {"code": code, "message": message})

    async def cancel(self, stream: str) -> StreamStatus:
        """Say that the rest of a stream is not wanted; a relay stops generating."""
        return await self._end(stream, "cancel")

    async def delete(self, stream: str) -> None:
        """Delete a stream; its readers get an error."""
        await self._call(Request("DELETE", _path(stream)), stream)
        self._forget(stream)

    async def status(self, stream: str) -> StreamStatus:
        """The state of a stream."""
        response = await self._call(Request("GET", _path(stream)), stream)
        return StreamStatus.from_json(json.loads(response.body))

    async def value(self, stream: str) -> Any:
        """The current value of a stream; of one of events a dict with `text` and `calls`."""
        response = await self._call(Request("GET", _path(stream, "/value")), stream)
        answer = json.loads(response.body)
        return answer.get("value", answer)

    def read(
        self, stream: str, format: str, **options: Unpack[ReadingOptions]
    ) -> AsyncGenerator[Any]:
        """Yield what is published, as it comes, as `Client.read` does."""
        after = options.pop("after", "")
        query = {"format": format, **options}
        pairs = [f"{name}={quote(_text(value))}" for name, value in query.items()]
        path = _path(stream, f"/events?{'&'.join(pairs)}")
        return self._read(stream, path, format, after)

    async def _read(self, stream: str, path: str, format: str, after: str) -> AsyncGenerator[Any]:
        tries = Tries(self.url, self.retry_for)
        reading: EventReading[Any] = EventReading(stream, path, format, after, tries)
        wait: float | None = 0.0
        while wait is not None:
            await self._carrier.sleep(wait)
            ended = BROKEN
            try:
                async with self._carrier.stream(**self._asked(reading.request())) as response:
                    async with aclosing(self._carrier.pieces(response)) as pieces:
                        if response.status_code != 200:
                            body = b"".join([data async for data in pieces])
                            ended = Response(response.status_code, body, response.headers)
                        else:
                            async for data in pieces:
                                for item in reading.feed(data):
                                    yield item
                                if reading.closed:
                                    break
                            reading.body_ended()
            except self._broken as error:
                ended = Response(error=_named(error))
            wait = reading.wait(ended)

    def _asked(self, request: Request) -> Json:
        """The arguments with which httpx2 sends a request."""
        asked = request._asdict()
        return {"url": self.url + asked.pop("path"), **asked}

    async def _call(self, request: Request, stream: str = "") -> Response:
        """Send a request that may be repeated, until it is answered."""
        tries = Tries(self.url, self.retry_for)
        while True:
            try:
                reply = await self._carrier.request(**self._asked(request))
                response = Response(reply.status_code, reply.content, reply.headers)
            except self._broken as error:
                response = Response(error=_named(error))
            if not response.error and response.status not in RETRIED:
                again = tries.count > 0
                if again and request.method == "DELETE" and response.status == 404:
                    return Response(204)  # the first try did it
                return checked(response, stream)
            await self._carrier.sleep(tries.wait(response))

    async def _post(self, path: str, value: Any, stream: str = "") -> Json:
        content = None if value is None else dumps(value).encode()
        headers = {"content-type": "application/json"} if content else {}
        response = await self._call(Request("POST", path, content, headers), stream)
        answer: Json = json.loads(response.body)
        return answer

    async def _end(self, stream: str, how: str, value: Any = None) -> StreamStatus:
        status = await self._post(_path(stream, f"/{how}"), value, stream)
        self._forget(stream)
        return StreamStatus.from_json(status)

    def _forget(self, stream: str) -> None:
        self._known.pop(stream, None)
        self._locks.pop(stream, None)

    def _new_epoch(self) -> int:
        """A number that is higher than those of clients that began before, in this process too."""
        self._epoch = max(self._epoch + 1, int(time.time() * 1000))
        return self._epoch

    async def _open(self, stream: str) -> Outbox:
        """An outbox for records of a stream."""
        known = self._known.get(stream)
        if known is None:
            status = await self.status(stream)
            if status.closed:
                message = f"stream {stream}: the stream has ended: {REMEDIES['CLOSED']}"
                raise Conflict(message, code="CLOSED")
            known = Known(status.input, status.last, self._new_epoch())
            self._known[stream] = known
        return Outbox(known)

    async def _append(self, stream: str, outbox: Outbox) -> None:
        """Send what waits in the outbox; nothing, if it is empty, renews the lease."""
        known = outbox.known
        headers = {
            **LINES,
            "producer-id": self.producer,
            "producer-epoch": str(known.epoch),
            "producer-seq": str(known.seq),
        }
        body = b"\n".join(outbox.take())
        # If it fails, its number may have been used: what comes then begins another epoch.
        self._known.pop(stream, None)
        request = Request("POST", _path(stream, "/chunks"), body, headers)
        response = await self._call(request, stream)
        known.last, known.seq = json.loads(response.body)["last"], known.seq + 1
        self._known[stream] = known


def _path(stream: str, rest: str = "") -> str:
    if not stream or type(stream) is not str:
        raise TypeError(f"a stream is named by its id, a text, not {stream!r}")
    return f"/v1/streams/{quote(stream, safe='')}{rest}"


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return modes_text(value)
    return str(int(value)) if isinstance(value, bool) else str(value)


def _named(error: Exception) -> str:
    """The name of an exception and, if it has one, its message."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
