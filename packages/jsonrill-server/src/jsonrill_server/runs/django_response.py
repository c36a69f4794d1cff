"""Responses of runs for Django, served by ASGI."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from starlette.types import Message

from jsonrill_server.event_stream_headers import HEADERS
from jsonrill_server.event_stream_response import ByteStreamResponse
from jsonrill_server.tasks import stop

from .answer import Reply


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
            events = ByteStreamResponse(reply.source, **reply.sending)
            response = StreamingHttpResponse(chunks_of(events))
            sent = {**HEADERS, **reply.headers}
        for name, value in (*sent.items(), *self.items()):
            response[name] = value
        response.cookies.update(self.cookies)
        return response

    def __await__(self) -> Generator[Any, Any, HttpResponseBase]:
        return self.render().__await__()


async def chunks_of(response: ByteStreamResponse) -> AsyncIterator[bytes]:
    """Yield what a response sends, since Django sends what is iterated.

    ConnectionAbortedError if it was cut off: that must not look like the end of the stream.
    """
    chunks: asyncio.Queue[bytes] = asyncio.Queue()

    async def send(message: Message) -> None:
        if body := message.get("body"):
            chunks.put_nowait(body)
            await chunks.join()

    async def receive() -> Message:
        return await asyncio.get_running_loop().create_future()  # type: ignore[no-any-return]

    sending = asyncio.create_task(response({"type": "http", "method": "GET"}, receive, send))
    sending.add_done_callback(lambda _: chunks.put_nowait(b""))
    try:
        while chunk := await chunks.get():
            yield chunk
            chunks.task_done()
        sending.result()
        if response.cut:
            raise ConnectionAbortedError("the reader takes nothing any more")
    finally:
        await stop(sending)
