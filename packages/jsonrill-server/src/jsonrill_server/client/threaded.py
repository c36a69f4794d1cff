"""The client for programs that are not async."""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterable, Callable, Generator
from contextlib import closing
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, overload

from jsonrill.options import ReadOptions, SourceOptions
from jsonrill.partial_stream import Update
from jsonrill.streams.documents import values
from jsonrill.streams.types import Adapter, JsonSchema
from jsonrill.toolcalls import ToolCallUpdate
from jsonrill.wire.fragment import Fragment

from .errors import ClientError
from .incoming import EventReading
from .operations import Core, NewStream, StreamStatus, named
from .outgoing import Outbox, bodies
from .steps import BROKEN, Request, Response, Steps, Tries

if TYPE_CHECKING:
    import httpx2  # noqa: F401, which sees no names in texts

T = TypeVar("T")


class Client(
    Core[
        "httpx2.BaseTransport",
        Generator[Update],
        Generator[Fragment],
        Generator[str],
        Generator[ToolCallUpdate],
        Generator[dict[str, Any]],
        Generator[Any],
    ]
):
    """A client of jsonrill's server, for programs that are not async.

    `token` is the server's; `producer` names who publishes, by default a name of its own: of two
    clients with the same name the one that began later goes on, and the other is refused. A
    request, and the silence of an event stream, may take `timeout` seconds; whatever fails is tried
    again for `retry_for` seconds. `transport` is one of httpx2. Threads may share a client.
    """

    _kind = "Client"

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()

    def shutdown(self) -> None:
        """Close the connections; `with` does it."""
        self._http.close()

    def _send(self, request: Request) -> Response:
        try:
            reply = self._http.request(**self._asked(request))
        except self._httpx.TransportError as error:
            return Response(error=named(error))
        return Response(reply.status_code, reply.content, reply.headers)

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
            texts = bodies(source, outbox.input, options)
            if isinstance(texts, AsyncIterable):
                raise TypeError("an async source is published by AsyncClient")
            sender = _Sender(lambda: self._run(self._append(stream, outbox)), outbox)
            try:
                with closing(texts):
                    for body in texts:
                        sender.add(body)
                sender.finish()
            except Exception as error:
                if close and not isinstance(error, ClientError):
                    sender.finish()
                    self._run(self._failed(stream, error))
                raise
            finally:
                sender.stop()
            last = outbox.known.last
        if close:
            self.close(stream)
        return last

    def _lock_of(self, stream: str) -> threading.Lock:
        """The lock of a stream: what two threads publish is not numbered twice."""
        # Of two threads that come here at once, `setdefault` gives both the same one.
        lock: threading.Lock = self._locks.setdefault(stream, threading.Lock())
        return lock

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

    def _read(self, begin: Callable[[Tries], EventReading[Any]]) -> Generator[Any]:
        reading = begin(self._tries())
        wait: float | None = 0.0
        while wait is not None:
            time.sleep(wait)
            ended = BROKEN
            try:
                with self._http.stream(**self._asked(reading.request())) as response:
                    if response.status_code != 200:
                        body = response.read()
                        ended = Response(response.status_code, body, response.headers)
                    else:
                        for data in response.iter_bytes():
                            yield from reading.feed(data)
                            if reading.closed:
                                break
                        reading.body_ended()
            except self._httpx.TransportError as error:
                ended = Response(error=named(error))
            wait = reading.wait(ended)

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
