"""Responses of runs for Django, served by ASGI."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from typing import Any, Final

from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from jsonrill.eventstream import HEARTBEAT, HEARTBEAT_SECONDS
from jsonrill.ext.event_stream import HEADERS, OPENING, TICK, beginning
from jsonrill.ext.tasks import stop

from .answer import Reply

_END: Final = b""


class DeferredHttpResponse(HttpResponseBase):  # type: ignore[misc]  # Django has no types
    """A response that Django makes when the view has returned; or the view, with `await`.

    Headers and cookies that are set on it are those of the response.
    """

    streaming = True

    def __init__(self, make: Callable[[], Awaitable[Reply]]) -> None:
        super().__init__()
        self._make = make
        del self.headers["content-type"]

    async def render(self) -> HttpResponseBase:
        """Return the response itself; Django calls this."""
        reply = await self._make()
        response: Any
        if reply.source is None:
            response = HttpResponse(reply.body, status=reply.status)
            if not reply.body:
                del response.headers["content-type"]
            sent = reply.headers
        else:
            response = StreamingHttpResponse(with_heartbeats(reply.source, **reply.sending))
            sent = {**HEADERS, **reply.headers}
        for name, value in (*sent.items(), *self.items()):
            response[name] = value
        response.cookies.update(self.cookies)
        return response

    def __await__(self) -> Generator[Any, Any, HttpResponseBase]:
        return self.render().__await__()


async def with_heartbeats(
    source: Any,
    *,
    heartbeat: float = HEARTBEAT_SECONDS,
    retry: int | None = None,
    max_seconds: float = float("inf"),
    stopping: Callable[[], bool] = bool,
    closing_bytes: Callable[[], bytes] = bytes,
    **_: Any,
) -> AsyncIterator[bytes]:
    """Yield the bytes of a source, with heartbeats, since Django sends what is iterated.

    The arguments are those of `ByteStreamResponse`. The source is closed in any case.
    """
    clock = asyncio.get_running_loop().time
    until, prefix = clock() + max_seconds, beginning(retry)
    items, next_one = aiter(source), None
    try:
        yield OPENING
        sent = clock()
        while True:
            if next_one is None:
                next_one = asyncio.ensure_future(anext(items, _END))
            await asyncio.wait({next_one}, timeout=min(TICK, heartbeat / 2))
            over = stopping() or clock() >= until  # also of a source that never pauses
            if next_one.done():
                chunk, next_one = next_one.result(), None
                if chunk is _END:
                    return
                if not over:
                    yield prefix + chunk
                    prefix, sent = b"", clock()
            if over:
                if words := closing_bytes():
                    yield words
                return
            elif clock() - sent >= heartbeat:
                yield HEARTBEAT
                sent = clock()
    finally:
        await stop(next_one)
        await source.aclose()
