"""Responses of runs for Django, served by ASGI."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from starlette.responses import Response
from starlette.types import Message

from .log import cancel
from .web import EventResponse


def django_response(response: Response) -> HttpResponseBase:
    """Return the same response for Django."""
    if isinstance(response, EventResponse):
        inner: Any = StreamingHttpResponse(_chunks(response))
    else:
        inner = HttpResponse(response.body, status=response.status_code)
    del inner.headers["content-type"]
    for name, value in response.headers.items():
        inner[name] = value
    return inner


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
