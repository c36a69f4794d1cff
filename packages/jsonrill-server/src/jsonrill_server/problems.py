"""Error responses: a status and a small JSON body."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from jsonrill.errors import JsonrillError

from .runs.options import BadOption, TooMany
from .store import (
    LogClosed,
    LogGap,
    LogLost,
    StoreError,
    StoreFull,
    StoreUnavailable,
    StreamTaken,
    UnknownStream,
)

log = logging.getLogger("jsonrill_server")
# What nginx calls it when a client goes before it was answered.
CLIENT_GONE: Final = 499


class Problem(JsonrillError):
    """An error response; `more` is added to its body."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        headers: Mapping[str, str] | None = None,
        *,
        line: int | None = None,
        **more: Any,
    ) -> None:
        super().__init__(message, line=line)
        self.status = status
        self.code = code
        self.headers = headers
        self.more = more

    def response(self) -> Response:
        return JSONResponse({"error": self.to_dict(), **self.more}, self.status, self.headers)


def _of_store(error: StoreError) -> Problem:
    match error:
        case UnknownStream():
            return Problem(404, "UNKNOWN", "there is no such stream")
        case LogGap() | LogLost():
            return Problem(410, "LOG_LOST", str(error))
        case LogClosed():
            return Problem(409, "CLOSED", "the stream has ended")
        case StreamTaken():
            return Problem(409, "TAKEN", "another producer holds this stream")
        case StoreFull(bound="stream_bytes" | "stream_entries"):
            return Problem(413, "LIMIT_EXCEEDED", str(error))
        case StoreFull():
            return Problem(429, "TOO_MANY", str(error), {"retry-after": "10"})
        case StoreUnavailable():
            return Problem(503, "UNAVAILABLE", "the store cannot be reached", {"retry-after": "1"})
    return Problem(500, "STORE", "the store failed")


def problem_of(request: Request, error: Exception) -> Problem | None:
    """Return a known error as a problem; None if the client has gone and needs no answer."""
    match error:
        case Problem():
            return error
        case StoreError():
            problem = _of_store(error)
            if problem.status >= 500:
                name = type(error).__name__
                request.app.state.hub.metrics.add("store_errors_total", task="request")
                log.error("the store failed: %s: %s", name, error)
            return problem
        case BadOption():
            return Problem(422, "BAD_OPTION", str(error))
        case TooMany():
            return Problem(429, "TOO_MANY", str(error), {"retry-after": "5"})
        case HTTPException():
            code = {404: "NOT_FOUND", 405: "METHOD"}.get(error.status_code, "HTTP")
            # Routes raise problems; what Starlette does not find is a route.
            message = NO_ROUTE if error.status_code == 404 else error.detail
            return Problem(error.status_code, code, message, error.headers)
    return None


async def answer(request: Request, error: Exception) -> Response:
    """Return the response for a known error."""
    problem = problem_of(request, error)
    if problem is not None:
        return problem.response()
    return Response(status_code=CLIENT_GONE)  # the client has gone; this is for the log


NO_ROUTE = "this server has no such route; /openapi.json lists them"
KNOWN = (Problem, StoreError, BadOption, TooMany, HTTPException, ClientDisconnect)
