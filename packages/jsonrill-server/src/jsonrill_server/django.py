"""Responses of runs for Django, served by ASGI."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from starlette.responses import Response

from .web import EventResponse


def django_response(response: Response) -> HttpResponseBase:
    """Return the same response for Django, which notices clients that leave, but not slow ones."""
    if isinstance(response, EventResponse):
        inner: Any = StreamingHttpResponse(response.pieces())
    else:
        inner = HttpResponse(response.body, status=response.status_code)
    del inner.headers["content-type"]
    for name, value in response.headers.items():
        inner[name] = value
    return inner
