"""GET and DELETE /v1/responses/{id}, also as a stream from any event on, and POST …/cancel.

A response is read from the log of its run, so that it does not matter whether this process relays
it, or another one did. The number of an event is that of its record, counted from 0.
"""

from __future__ import annotations

from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from jsonrill.dialects.native import ResponseState, split_response_id

from ..access.permissions import Allowed, hub_of, owned
from ..problems import Problem
from ..runs.options import StreamOptions
from ..runs.positions import START, Position
from ..runs.records import CANCELLED
from ..store import Status, UnknownStream
from .apis import RESPONSES, in_form
from .generation import cancel_response, delete_response
from .requests import current, json_response, read_run, response_of, upstreams_of

TRUE: Final = ("true", "1")


@in_form(RESPONSES.error)
async def retrieve(request: Request) -> Response:
    """GET /v1/responses/{id}: the response as it is now; with `stream=true` its events."""
    allowed, _ = await _run(request)
    if request.query_params.get("stream", "").lower() not in TRUE:
        return await current(hub_of(request), allowed.stream)
    return await read_run(request, RESPONSES, allowed, _position(request, allowed.status))


@in_form(RESPONSES.error)
async def cancel(request: Request) -> Response:
    """POST /v1/responses/{id}/cancel: stop generating; a response that has ended stays."""
    allowed, kept = await _run(request)
    value, _ = await _cancelled(request, allowed.stream, kept)
    return json_response(value)


@in_form(RESPONSES.error)
async def delete(request: Request) -> Response:
    """DELETE /v1/responses/{id}: delete it, at the upstream first; one in progress is cancelled."""
    id = str(request.path_params["id"])
    allowed, kept = await _run(request)
    _, state = await _cancelled(request, allowed.stream, kept)
    upstreams = upstreams_of(request)
    upstream = upstreams.named(kept.notes.get("upstream", ""))
    if upstream and state.id:
        await delete_response(upstreams, upstream, state.id)
    await hub_of(request).store.delete(allowed.stream)
    return json_response({"id": id, "object": "response", "deleted": True})


async def _cancelled(
    request: Request, stream: str, kept: StreamOptions
) -> tuple[dict[str, Any], ResponseState]:
    """Stop a response that is still generated, here and at the upstream; return what it is."""
    hub, upstreams = hub_of(request), upstreams_of(request)
    await hub.end(stream, CANCELLED)
    value, state = await response_of(hub, stream)
    upstream = upstreams.named(kept.notes.get("upstream", ""))
    if (
        value.get("status") == "cancelled"
        and kept.notes.get("background")
        and upstream
        and state.id
    ):
        await cancel_response(upstreams, upstream, state.id)
    return value, state


async def _run(request: Request) -> tuple[Allowed, StreamOptions]:
    """The run that a response's id names, if the client owns it."""
    id = str(request.path_params["id"])
    unknown = Problem(404, "not_found", f"there is no response with the id {id!r}")
    request.path_params["id"] = split_response_id(id)[1]
    try:
        allowed = await owned(request)
    except UnknownStream:
        raise unknown from None
    kept = StreamOptions.from_bytes(allowed.status.meta)
    if kept.notes.get("api") != RESPONSES.name:
        raise unknown
    return allowed, kept


def _position(request: Request, status: Status) -> Position:
    text = request.query_params.get("starting_after", "")
    if not text:
        return START
    if not (text.isascii() and text.isdigit() and len(text) < 12):
        raise Problem(400, "invalid_value", "starting_after is the number of an event, from 0")
    last = status.last - status.closed  # the last record of a closed log says how it ended
    if int(text) + 1 > last:
        message = f"starting_after is past the last event, which is {last - 1}"
        raise Problem(400, "invalid_value", message)
    return Position(int(text) + 1)
