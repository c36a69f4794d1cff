"""Responses of runs for Starlette and FastAPI, and for the routes of the server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import Any

from starlette.background import BackgroundTask
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from jsonrill_server.event_stream_response import ByteStreamResponse

from .answer import Reply


class DeferredResponse(Response):
    """A response that is made when it is sent; or before, with `await`.

    Headers, cookies and the background task that are set on it are those of the response.
    """

    def __init__(self, make: Callable[[], Awaitable[Reply]]) -> None:
        self._make = make
        self.status_code = 200
        self.background: BackgroundTask | None = None
        self.init_headers({})

    async def ready(self) -> Response:
        """Return the response itself."""
        response = response_of(await self._make())
        response.background = self.background
        response.raw_headers += self.raw_headers
        return response

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (await self.ready())(scope, receive, send)

    def __await__(self) -> Generator[Any, Any, Response]:
        return self.ready().__await__()


def response_of(reply: Reply) -> Response:
    """The response for a reader's request."""
    if reply.source is None:
        return Response(reply.body, reply.status, dict(reply.headers))
    response = ByteStreamResponse(reply.source, headers=reply.headers, **reply.sending)
    reply.source.response = response
    return response
