"""An answer that is an event stream, for the server's routes and for your own.

It says so in its headers, begins at once, sends a heartbeat when nothing else comes, notices that
the client has gone or takes nothing any more, and closes its source in every case.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping
from typing import Any, Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from ...eventstream import HEARTBEAT, SSEEncoder
from ...store.tasks import stop

HEADERS: Final = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store, no-transform",
    # Proxies hold back what looks like a page.
    "x-accel-buffering": "no",
    "x-content-type-options": "nosniff",
}
# A comment, so that proxies in between pass the beginning of the response on.
OPENING: Final = b": open\n"
TICK = 1.0


class EventStreamResponse(Response):
    """Sends a stream of bytes that are complete events, or of updates and texts to encode.

    `heartbeat` and `send_timeout` are seconds; `lasts` ends the connection after that time, for the
    client to resume. `retry` are the milliseconds after which a browser reconnects, give or take a
    quarter. A client that goes away ends it too: the source is closed (`aclose`).
    `last_words` are the bytes to send when this server ends the response before its source has
    ended: for a client that cannot resume, that must not look like the end of a stream.
    """

    def __init__(
        self,
        source: AsyncIterable[Any],
        *,
        heartbeat: float = 15.0,
        send_timeout: float = 30.0,
        retry: int | None = None,
        lasts: float = float("inf"),
        headers: Mapping[str, str] | None = None,
        listen: bool = True,
        stopping: Callable[[], bool] = bool,
        last_words: Callable[[], bytes] = bytes,
    ) -> None:
        self.status_code = 200
        self.background = None
        self.init_headers({**HEADERS, **(headers or {})})
        self._source = source
        self._heartbeat = heartbeat
        self._send_timeout = send_timeout
        self._retry = retry
        self._lasts = lasts
        self._listen = listen
        self._stopping = stopping
        self._last_words = last_words
        self._sending: float | None = None
        self._sent = 0.0
        # What became of it: how much was sent, and whether it was cut off.
        self.bytes_sent = 0
        self.cut = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._answer(scope, receive, send)
        finally:
            await self.aclose()

    async def aclose(self) -> None:
        """Close the source; a response that is not sent needs no other end."""
        close = getattr(self._source, "aclose", None)
        if close is not None:
            await close()

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(start)
        if scope["method"] == "HEAD":
            await send({"type": "http.response.body", "body": b""})
            return
        loop = asyncio.get_running_loop()
        self._sent = loop.time()
        sender = asyncio.create_task(self._send_all(send))
        watcher = asyncio.create_task(self._watch(receive, send))
        try:
            await asyncio.wait({sender, watcher}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await stop(sender, watcher)
        for task in (sender, watcher):
            if not task.cancelled() and (error := task.exception()) is not None:
                raise error
        if self.cut:
            return
        words = self._last_words() if sender.cancelled() else b""
        try:
            async with asyncio.timeout(self._send_timeout):
                await send({"type": "http.response.body", "body": words})
        except TimeoutError:
            self.cut = True
        except OSError:
            pass  # the client has gone

    async def _send_all(self, send: Send) -> None:
        # In the first event's own block: alone, some clients take it for an event.
        # Not the same for all: after a restart they would come back at the same moment.
        wait = None if self._retry is None else random.uniform(0.75, 1.25) * self._retry
        prefix = b"" if wait is None else b"retry: %d\n" % wait
        await self._send(send, OPENING)
        async for chunk in _as_bytes(self._source):
            if chunk:
                await self._send(send, prefix + chunk if prefix else chunk)
                prefix = b""

    async def _send(self, send: Send, chunk: bytes) -> None:
        clock = asyncio.get_running_loop().time
        self._sending = clock()
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
        self._sending, self._sent = None, clock()
        self.bytes_sent += len(chunk)

    async def _watch(self, receive: Receive, send: Send) -> None:
        """Ends when the client is gone, takes nothing, or has been here long enough."""
        loop = asyncio.get_running_loop()
        gone = asyncio.create_task(_gone(receive) if self._listen else asyncio.Event().wait())
        until = loop.time() + self._lasts
        tick = min(TICK, self._heartbeat / 2, self._send_timeout / 2)
        try:
            while not gone.done() and not self._stopping() and loop.time() < until:
                await asyncio.wait({gone}, timeout=tick)
                now = loop.time()
                if self._sending is not None:
                    if now - self._sending > self._send_timeout:
                        self.cut = True
                        return
                elif now - self._sent >= self._heartbeat:
                    self._sending = self._sent = now
                    async with asyncio.timeout(self._send_timeout):
                        await send(
                            {"type": "http.response.body", "body": HEARTBEAT, "more_body": True}
                        )
                    self._sending = None
        except TimeoutError:
            self.cut = True
        finally:
            gone.cancel()


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _as_bytes(source: AsyncIterable[Any]) -> AsyncIterator[bytes]:
    """Bytes pass as they are; anything else is encoded, and then the stream ends with CLOSE."""
    encoder: SSEEncoder | None = None
    async for item in source:
        if isinstance(item, bytes):
            yield item
            continue
        encoder = encoder or SSEEncoder()
        yield encoder.feed(item)
    if encoder is not None:
        yield encoder.flush()
