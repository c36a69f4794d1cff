"""A response that is an event stream, for Starlette and FastAPI.

It sends a heartbeat while the source is silent, and closes the source when the client leaves.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterable, Mapping
from typing import Any, Final

from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from .eventstream import HEARTBEAT, HEARTBEAT_SECONDS
from .streams import sse

HEADERS: Final = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store, no-transform",
    # Proxies hold back what looks like a page.
    "x-accel-buffering": "no",
    "x-content-type-options": "nosniff",
}
_END: Final = object()


class EventStreamResponse(StreamingResponse):
    """Sends updates, parts, values or texts as server-sent events, and CLOSE at the end: see `sse`.

    The source may be async or not; one that is not is read in threads. If it fails, an ERROR event
    says so. `heartbeat` is in seconds, `retry` in milliseconds.
    """

    def __init__(
        self,
        source: AsyncIterable[Any] | Iterable[Any],
        status_code: int = 200,
        headers: Mapping[str, str] | None = None,
        background: BackgroundTask | None = None,
        *,
        heartbeat: float = HEARTBEAT_SECONDS,
        retry: int | None = None,
    ) -> None:
        events = sse(source, retry=retry)
        self._events: AsyncGenerator[bytes] = (
            events if isinstance(events, AsyncGenerator) else _in_threads(events)
        )
        given = {name.lower(): value for name, value in (headers or {}).items()}
        body = _with_heartbeats(self._events, heartbeat)
        super().__init__(body, status_code, {**HEADERS, **given}, background=background)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._events.aclose()


async def _with_heartbeats(events: AsyncGenerator[bytes], seconds: float) -> AsyncIterator[bytes]:
    """Yield the events; a comment at once, for proxies, and one in every silence."""
    yield b": open\n"
    while True:
        next_event = asyncio.ensure_future(anext(events, b""))
        try:
            while not (await asyncio.wait({next_event}, timeout=seconds))[0]:
                yield HEARTBEAT
        finally:
            if not next_event.done():
                next_event.cancel()
                await asyncio.wait({next_event})
        event = next_event.result()
        if not event:
            return
        yield event


async def _in_threads(items: Any) -> AsyncGenerator[bytes]:
    """Yield the items of a generator that blocks; it is closed when the loop is left."""
    try:
        while (item := await _in_thread(next, items, _END)) is not _END:
            yield item
    finally:
        await _in_thread(items.close)


async def _in_thread(work: Any, *arguments: Any) -> Any:
    """Run in a thread. A cancelled task waits for it: a running generator cannot be closed."""
    running = asyncio.ensure_future(run_in_threadpool(work, *arguments))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait({running})
        raise
