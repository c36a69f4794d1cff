"""The client for programs that are not async."""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterable, Callable, Generator, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Unpack, overload

from jsonrill.options import ReadOptions, SourceOptions
from jsonrill.partial_stream import Update
from jsonrill.streams.documents import values
from jsonrill.streams.types import Adapter, JsonSchema
from jsonrill.toolcalls import ToolCallUpdate
from jsonrill.wire.fragment import Fragment

from ..runs.options import EventOptions
from .errors import ClientError
from .incoming import EventReading
from .operations import (
    PATIENCE,
    TIMEOUT,
    Core,
    NewStream,
    StreamStatus,
    import_httpx,
    named,
)
from .outgoing import Outbox, bodies, code_of
from .steps import BROKEN, Json, Request, Response, Steps

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")


class Client(Core):
    """A client of jsonrill's server, for programs that are not async.

    `token` is the server's; `producer` names who publishes, by default a name of its own: of two
    clients with the same name the one that began later goes on, and the other is refused. A
    request, and the silence of an event stream, may take `timeout` seconds; whatever fails is tried
    again for `patience` seconds. `transport` is one of httpx2. Threads may share a client.
    """

    def __init__(
        self,
        url: str,
        token: str = "",
        *,
        producer: str = "",
        timeout: float = TIMEOUT,
        patience: float = PATIENCE,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        super().__init__(
            url, token, producer=producer, timeout=timeout, patience=patience, transport=transport
        )
        self._httpx = import_httpx()
        self._http = self._httpx.Client(**self._settings)
        self._lock = threading.Lock()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()

    def shutdown(self) -> None:
        """Close the connections; `with` does it."""
        self._http.close()

    def _send(self, request: Request) -> Response:
        try:
            found = self._http.request(
                request.method,
                self.url + request.path,
                content=request.content,
                headers=dict(request.headers),
            )
        except self._httpx.TransportError as error:
            return Response(error=named(error))
        return Response(found.status_code, found.content, found.headers)

    def _run(self, steps: Steps[T]) -> T:
        """Carry out the steps of an operation."""
        response: Response | None = None
        while True:
            try:
                step = steps.send(response)
            except StopIteration as stop:
                result: T = stop.value
                return result
            response = None
            if isinstance(step, Request):
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
                    code, message = code_of(error)
                    self.fail(stream, code, message)
                raise
            finally:
                sender.stop()
            last = outbox.known.last
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
    ) -> Generator[Update]: ...
    @overload
    def read(
        self,
        stream: str,
        format: Literal["fragments"],
        *,
        after: str = "",
        **options: Unpack[EventOptions],
    ) -> Generator[Fragment]: ...
    @overload
    def read(
        self,
        stream: str,
        format: Literal["chunks"],
        *,
        after: str = "",
        **options: Unpack[EventOptions],
    ) -> Generator[str]: ...
    @overload
    def read(
        self,
        stream: str,
        format: Literal["calls"],
        *,
        after: str = "",
        **options: Unpack[EventOptions],
    ) -> Generator[ToolCallUpdate]: ...
    @overload
    def read(
        self,
        stream: str,
        format: Literal["openai", "ai-sdk", "ag-ui"],
        *,
        after: str = "",
        **options: Unpack[EventOptions],
    ) -> Generator[dict[str, Any]]: ...
    @overload
    def read(
        self, stream: str, format: str, *, after: str = "", **options: Unpack[EventOptions]
    ) -> Generator[Any]: ...
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
        reading: EventReading[Any] = EventReading(format, after)
        self._events(stream, reading, {**options})
        return self._read(stream, reading, {**options})

    def _read(self, stream: str, reading: EventReading[Any], query: Json) -> Iterator[Any]:
        tries = self._tries()
        while True:
            request = self._events(stream, reading, query)
            ended = BROKEN
            try:
                with self._http.stream(
                    request.method, self.url + request.path, headers=dict(request.headers)
                ) as response:
                    if response.status_code != 200:
                        ended = Response(response.status_code, response.read(), response.headers)
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
                ended = Response(error=named(error))
            if reading.is_over(ended, stream):
                break
            time.sleep(tries.wait(ended))
        reading.finish()

    @overload
    def values(
        self, stream: str, schema: type[T] | Adapter[T], **options: Unpack[ReadOptions]
    ) -> Generator[T]: ...
    @overload
    def values(
        self, stream: str, schema: JsonSchema | None = None, **options: Unpack[ReadOptions]
    ) -> Generator[Any]: ...
    def values(self, stream: str, schema: Any = None, **options: Unpack[ReadOptions]) -> Any:
        """Yield the value after each piece that changed it, as `jsonrill.values` does."""
        return values(self.read(stream, "chunks"), schema, **options)


class _Sender:
    """Sends in a thread of its own what is added, so that a source need not wait for each answer.

    What arrives while a request is under way goes into the next one.
    """

    def __init__(self, send: Callable[[], None], outbox: Outbox) -> None:
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
