"""The APIs that are relayed, and how each reports an error."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ..access.permissions import hub_of
from ..problems import KNOWN, problem_of
from ..runs.hub import Hub
from .upstream import UpstreamFailed

log = logging.getLogger("jsonrill_server")
Json = dict[str, Any]
Handler = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Api:
    """`path` is that of its requests, `provider` reads its events, `format` shows them."""

    name: str
    path: str
    provider: str
    format: str
    error: Callable[[int, str, str], Json]


def openai_error(status: int, message: str, code: str) -> Json:
    kind = "invalid_request_error" if status < 500 else "upstream_error"
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


ANTHROPIC_ERRORS: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    422: "invalid_request_error",
    429: "rate_limit_error",
    504: "timeout_error",
}


def anthropic_error(status: int, message: str, code: str) -> Json:
    kind = ANTHROPIC_ERRORS.get(status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": message, "code": code}}


CHAT: Final = Api("chat", "/chat/completions", "openai_chat", "openai", openai_error)
RESPONSES: Final = Api("responses", "/responses", "openai_responses", "provider", openai_error)
MESSAGES: Final = Api("messages", "/messages", "anthropic", "provider", anthropic_error)


class Refused(Exception):
    """A request that is answered with an error in its API's form."""

    def __init__(
        self, status: int, message: str, code: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.headers = headers


def in_form(error: Callable[[int, str, str], Json]) -> Callable[[Handler], Handler]:
    """Decorate a handler so that whatever refuses its request is reported in an API's form."""

    def decorate(handler: Handler) -> Handler:
        @wraps(handler)
        async def answered(request: Request) -> Response:
            try:
                return await handler(request)
            except Refused as it:
                return JSONResponse(error(it.status, it.message, it.code), it.status, it.headers)
            except UpstreamFailed as it:
                note(hub_of(request), it.code, it.message)
                return JSONResponse(error(it.status, it.message, it.code), it.status)
            except KNOWN as it:
                problem = problem_of(request, it)
                if problem is None:
                    raise
                body = error(problem.status, problem.message, problem.code)
                return JSONResponse(body, problem.status, problem.headers)

        return answered

    return decorate


def note(hub: Hub, error: str, message: str) -> None:
    """Count and log an error of an upstream."""
    hub.metrics.add("upstream_errors_total", error=error)
    log.warning("the upstream failed: %s", message)
