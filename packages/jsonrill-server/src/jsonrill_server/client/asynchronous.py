"""The client for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress
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
from .outgoing import Outbox, bodies, in_loop
from .steps import BROKEN, Request, Response, Steps, Tries

if TYPE_CHECKING:
    import httpx2  # noqa: F401, which sees no names in texts

T = TypeVar("T")


class AsyncClient(
    Core[
        "httpx2.AsyncBaseTransport",
        AsyncGenerator[Update],
        AsyncGenerator[Fragment],
        AsyncGenerator[str],
        AsyncGenerator[ToolCallUpdate],
        AsyncGenerator[dict[str, Any]],
        AsyncGenerator[Any],
    ]
):
    """A client of jsonrill's server for asyncio; arguments and methods are those of `Client`."""

    _kind = "AsyncClient"

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.shutdown()

    async def shutdown(self) -> None:
        """Close the connections; `async with` does it."""
        await self._http.aclose()

    async def _send(self, request: Request) -> Response:
        try:
            reply = await self._http.request(**self._asked(request))
        except self._httpx.TransportError as error:
            return Response(error=named(error))
        return Response(reply.status_code, reply.content, reply.headers)

    async def _run(self, steps: Steps[T]) -> T:
        response: Response | None = None
        while True:
            try:
                step = steps.send(response)
            except StopIteration as stop:
                result: T = stop.value
                return result
            response = None
            if isinstance(step, Request):
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
            texts = in_loop(bodies(source, outbox.input, options), source)
            sender = _AsyncSender(lambda: self._run(self._append(stream, outbox)), outbox)
            try:
                async with aclosing(texts):
                    async for body in texts:
                        await sender.add(body)
                await sender.finish()
            except Exception as error:
                if close and not isinstance(error, ClientError):
                    await sender.finish()
                    await self._run(self._failed(stream, error))
                raise
            finally:
                await sender.stop()
            last = outbox.known.last
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

    async def _read(self, begin: Callable[[Tries], EventReading[Any]]) -> AsyncGenerator[Any]:
        reading = begin(self._tries())
        wait: float | None = 0.0
        while wait is not None:
            await asyncio.sleep(wait)
            ended = BROKEN
            try:
                async with self._http.stream(**self._asked(reading.request())) as response:
                    if response.status_code != 200:
                        body = await response.aread()
                        ended = Response(response.status_code, body, response.headers)
                    else:
                        async for data in response.aiter_bytes():
                            for item in reading.feed(data):
                                yield item
                            if reading.closed:
                                break
                        reading.body_ended()
            except self._httpx.TransportError as error:
                ended = Response(error=named(error))
            wait = reading.wait(ended)

    @overload
    def values(
        self, stream: str, schema: type[T] | Adapter[T], **options: Unpack[ReadOptions]
    ) -> AsyncGenerator[T]: ...
    @overload
    def values(
        self, stream: str, schema: JsonSchema | None = None, **options: Unpack[ReadOptions]
    ) -> AsyncGenerator[Any]: ...
    def values(self, stream: str, schema: Any = None, **options: Unpack[ReadOptions]) -> Any:
        """Yield the value after each piece that changed it, as `jsonrill.values` does."""
        return values(self.read(stream, "chunks"), schema, **options)


class _AsyncSender:
    """As that of `Client`, with a task instead of a thread."""

    def __init__(self, send: Callable[[], Awaitable[None]], outbox: Outbox) -> None:
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
