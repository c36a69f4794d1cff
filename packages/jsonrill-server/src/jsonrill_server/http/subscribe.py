"""The reader's routes: a stream as events, in any format, from any position."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from ..access.permissions import Allowed, config_of, hub_of, is_revoked, owned
from ..problems import Problem
from ..runs.answer import BadPosition, has_all, position_of, reply
from ..runs.options import StreamOptions, ViewOptions
from ..runs.positions import Position
from ..runs.records import End
from ..runs.starlette_response import response_of
from ..store import Status
from .publish import read_body

REVOKED = End("error", "REVOKED", "the token is no longer valid")


async def events(request: Request) -> Response:
    """GET /v1/streams/{id}/events: 204 once everything was delivered."""
    return await _read(request)


async def ai_sdk(request: Request) -> Response:
    """GET or POST /v1/streams/{id}/ai-sdk: an AI SDK UI message stream.

    A GET without a position, with which its client resumes, is answered 204 once the stream is
    closed.
    """
    return await _read(request, "ai-sdk", ends=request.method == "GET")


async def ag_ui(request: Request) -> Response:
    """GET or POST /v1/streams/{id}/ag-ui: AG-UI events; the run is named as the client names it."""
    return await _read(request, "ag-ui")


async def _read(request: Request, format: str = "", *, ends: bool = False) -> Response:
    """The events in a format, which is that of the query if none is given.

    204 if nothing comes after the position; with `ends` also without one, if the stream is closed.
    """
    allowed = await owned(request)
    body = await read_body(request, config_of(request).body_bytes)
    asked = {**request.query_params, **({"format": format} if format else {})}
    options = ViewOptions.from_query(asked, StreamOptions.from_bytes(allowed.status.meta))
    if format == "ag-ui":
        thread, run = _run_of(body)
        options = replace(options, thread=thread, run=run)
    position, has_it_all = _position(request, allowed.status)
    if has_it_all or (ends and position is None and allowed.status.closed):
        return Response(status_code=204)
    return await _answer(request, allowed, options, position)


def _run_of(body: bytes) -> tuple[str, str]:
    """Thread and run from an AG-UI request; what is not there is not needed."""
    try:
        fields: Any = json.loads(body) if body else {}
    except (ValueError, RecursionError) as error:
        raise Problem(400, "INVALID_JSON", "the body is not JSON") from error
    if not isinstance(fields, dict):
        raise Problem(422, "BAD_OPTION", "a run is described by an object")
    names = [fields.get(name, "") for name in ("threadId", "runId")]
    if not all(isinstance(name, str) and len(name) <= 256 for name in names):
        raise Problem(422, "BAD_OPTION", "threadId and runId are texts")
    return names[0], names[1]


async def _answer(
    request: Request, allowed: Allowed, options: ViewOptions, position: Position | None
) -> Response:
    """The event stream, which ends when the reader's token is revoked."""

    def revoked() -> End | None:
        return REVOKED if is_revoked(request, allowed.holder) else None

    return response_of(
        await reply(
            hub_of(request),
            allowed.stream,
            allowed.status,
            options,
            position,
            begin=request.method != "HEAD",
            revoked=revoked,
        )
    )


def _position(request: Request, status: Status) -> tuple[Position | None, bool]:
    """The position that a request names, and whether nothing comes after it."""
    try:
        position = position_of(
            request.headers.get("last-event-id"), request.query_params.get("after")
        )
        return position, has_all(status, position)
    except BadPosition as error:
        raise Problem(400, "POSITION", str(error), last=status.last) from error
