"""Responses of runs for Django, served by ASGI."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from starlette.responses import Response
from starlette.types import Message

from .log import cancel
from .web import EventResponse


class DeferredHttpResponse(HttpResponseBase):  # type: ignore[misc]  # Django has no types
    """A response that Django makes when the view has returned; or the view, with `await`.

    Headers and cookies that you set on it are sent with the response.
    """

    streaming = True

    def __init__(self, make: Callable[[], Awaitable[Response]], headers: Any = None) -> None:
        super().__init__(headers=headers)
        self._make = make
        del self.headers["content-type"]

    async def render(self) -> HttpResponseBase:
        """Return the response itself; Django calls this."""
        inner = await self._make()
        if isinstance(inner, EventResponse):
            response: Any = StreamingHttpResponse(_chunks(inner))
        else:
            response = HttpResponse(inner.body, status=inner.status_code)
        del response.headers["content-type"]
        for name, value in (*inner.headers.items(), *self.items()):
            response[name] = value
        response.cookies.update(self.cookies)
        return response

    def __await__(self) -> Generator[Any, Any, HttpResponseBase]:
        return self.render().__await__()


async def _chunks(response: EventResponse) -> AsyncIterator[bytes]:
    """Yield what a response sends, since Django sends what is iterated."""
    chunks: asyncio.Queue[bytes] = asyncio.Queue()

    async def send(message: Message) -> None:
        if body := message.get("body"):
            chunks.put_nowait(body)
            await chunks.join()

    async def receive() -> Message:
        return await asyncio.get_running_loop().create_future()  # type: ignore[no-any-return]

    sending = asyncio.create_task(response({"type": "http"}, receive, send))
    sending.add_done_callback(lambda _: chunks.put_nowait(b""))
    try:
        while chunk := await chunks.get():
            yield chunk
            chunks.task_done()
        sending.result()
    finally:
        await cancel(sending)
