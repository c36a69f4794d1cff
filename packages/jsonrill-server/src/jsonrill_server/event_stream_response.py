"""An answer that is an event stream, for Starlette, FastAPI, and the routes of the server.

It says so in its headers, begins at once, sends a heartbeat when nothing else comes, notices that
the client has gone or takes nothing any more, and closes its source in every case.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Mapping
from typing import Any, Final

from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from jsonrill import sse
from jsonrill.eventstream import HEARTBEAT, HEARTBEAT_SECONDS, SEND_SECONDS

from .event_stream_headers import HEADERS, OPENING, TICK, beginning
from .tasks import stop

_END: Final = object()


class ByteStreamResponse(Response):
    """Sends bytes that are complete events, as they come.

    `heartbeat` and `send_timeout` are seconds; `max_seconds` ends the connection after that time,
    for the client to resume. `retry` are the milliseconds after which a browser reconnects, give or
    take a quarter. A client that goes away ends it too: the source is closed (`aclose`).
    `closing_bytes` are the bytes to send when this server ends the response before its source has
    ended: for a client that cannot resume, that must not look like the end of a stream.
    """

    def __init__(
        self,
        source: AsyncIterable[bytes],
        status_code: int = 200,
        headers: Mapping[str, str] | None = None,
        media_type: str | None = None,
        background: BackgroundTask | None = None,
        *,
        heartbeat: float = HEARTBEAT_SECONDS,
        send_timeout: float = SEND_SECONDS,
        retry: int | None = None,
        max_seconds: float = float("inf"),
        listen: bool = True,
        stopping: Callable[[], bool] = bool,
        closing_bytes: Callable[[], bytes] = bytes,
    ) -> None:
        self.status_code = status_code
        self.background = background
        lowered = {name.lower(): value for name, value in (headers or {}).items()}
        if media_type is not None:
            lowered.setdefault("content-type", media_type)
        self.init_headers({**HEADERS, **lowered})
        self._source = source
        self._heartbeat = heartbeat
        self._send_timeout = send_timeout
        self._retry = retry
        self._max_seconds = max_seconds
        self._listen = listen
        self._stopping = stopping
        self._closing_bytes = closing_bytes
        self._sending: float | None = None
        self._sent = 0.0
        # What became of it: whether it was read from, how much was sent, whether it was cut off.
        self._begun = False
        self.bytes_sent = 0
        self.cut = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._answer(scope, receive, send)
        finally:
            await self.aclose()
        if self.background is not None:
            await self.background()

    async def aclose(self) -> None:
        """Close the source; a response that is not sent needs no other end."""
        close = getattr(self._source, "aclose", None)
        if close is not None:
            await close()

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = {
            "type": "http.response.start",
            "status": self.status_code,
            "headers": self.raw_headers,
        }
        await send(start)
        if scope["method"] == "HEAD":
            await send({"type": "http.response.body", "body": b""})
            return
        self._sent = asyncio.get_running_loop().time()
        sender = asyncio.create_task(self._send_all(send))
        gone = asyncio.create_task(_gone(receive)) if self._listen else None
        try:
            await self._watch({sender, gone} - {None}, send)
        except TimeoutError:
            self.cut = True
        finally:
            await stop(sender, gone)
        if not sender.cancelled() and (error := sender.exception()) is not None:
            raise error
        if self.cut:
            return
        words = self._closing_bytes() if sender.cancelled() else b""
        try:
            async with asyncio.timeout(self._send_timeout):
                await send({"type": "http.response.body", "body": words})
        except TimeoutError:
            self.cut = True
        except OSError:
            pass  # the client has gone

    async def _send_all(self, send: Send) -> None:
        prefix = beginning(self._retry)
        await self._send(send, OPENING)
        self._begun = True
        async for chunk in self._source:
            if chunk:
                await self._send(send, prefix + chunk if prefix else chunk)
                prefix = b""

    async def _send(self, send: Send, chunk: bytes) -> None:
        clock = asyncio.get_running_loop().time
        self._sending = clock()
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
        self._sending, self._sent = None, clock()
        self.bytes_sent += len(chunk)

    async def _watch(self, tasks: set[Any], send: Send) -> None:
        """Return when all was sent, the client is gone, or has been here long enough.

        TimeoutError if it takes nothing.
        """
        loop = asyncio.get_running_loop()
        until = loop.time() + self._max_seconds
        tick = min(TICK, self._heartbeat / 2, self._send_timeout / 2)
        while not self._stopping() and loop.time() < until:
            if (await asyncio.wait(tasks, timeout=tick, return_when=asyncio.FIRST_COMPLETED))[0]:
                return
            now = loop.time()
            if self._sending is not None:
                if now - self._sending > self._send_timeout:
                    raise TimeoutError
            elif now - self._sent >= self._heartbeat:
                self._sending = self._sent = now
                async with asyncio.timeout(self._send_timeout):
                    await send({"type": "http.response.body", "body": HEARTBEAT, "more_body": True})
                self._sending = None


class EventStreamResponse(ByteStreamResponse):
    """Sends updates, parts, values or texts as server-sent events, and CLOSE at the end: see `sse`.

    The source may be async or not; one that is not is read in threads. If it fails, an ERROR event
    says so. Arguments are those of Starlette's responses; `heartbeat` and `send_timeout` are
    seconds, `retry` milliseconds. When the client leaves, the source is closed.
    """

    def __init__(
        self,
        source: AsyncIterable[Any] | Iterable[Any],
        status_code: int = 200,
        headers: Mapping[str, str] | None = None,
        media_type: str | None = None,
        background: BackgroundTask | None = None,
        *,
        heartbeat: float = HEARTBEAT_SECONDS,
        send_timeout: float = SEND_SECONDS,
        retry: int | None = None,
        max_seconds: float = float("inf"),
    ) -> None:
        super().__init__(
            sse(source) if isinstance(source, AsyncIterable) else _in_threads(sse(source)),
            status_code,
            headers,
            media_type,
            background,
            heartbeat=heartbeat,
            send_timeout=send_timeout,
            retry=retry,
            max_seconds=max_seconds,
        )

    async def aclose(self) -> None:
        # A generator that was never begun does not close what it reads from. So it is begun, and
        # cancelled where it waits first.
        if not self._begun:
            begun = asyncio.ensure_future(anext(aiter(self._source), b""))
            await asyncio.sleep(0)
            await stop(begun)
        await super().aclose()


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _in_threads(source: Iterable[Any]) -> AsyncIterator[Any]:
    """The items of a source that blocks while it waits. It is closed when the loop is left."""
    items = iter(source)
    ended = False
    try:
        while (item := await _in_thread(next, items, _END)) is not _END:
            yield item
        ended = True
    finally:
        close = getattr(items, "close", None) or getattr(source, "close", None)
        if close is not None and not ended:
            await _in_thread(close)


async def _in_thread(work: Callable[..., Any], *arguments: Any) -> Any:
    """Run in a thread. A cancelled task waits for it: a generator that runs cannot be closed."""
    running = asyncio.ensure_future(run_in_threadpool(work, *arguments))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait({running})
        raise
