"""Responses of runs for Django, served by ASGI."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from .event_stream import HEADERS, Reply, with_heartbeats


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
