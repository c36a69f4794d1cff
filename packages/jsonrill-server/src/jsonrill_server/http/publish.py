"""The producer's routes: create a stream, append to it, close it, read its state."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from jsonrill import eventstream

from ..access.permissions import (
    config_of,
    hub_of,
    owned,
    require_subject,
)
from ..config import Config
from ..problems import Problem
from ..runs.options import StreamOptions
from ..runs.positions import Position
from ..runs.records import CANCELLED, CLOSED, End
from ..runs.render import check_options
from ..runs.value import value_of
from ..store import TurnRefused
from .intake import Intake, intake_for
from .producers import accepted, check_repeated, turn_of

Model = TypeVar("Model", bound=BaseModel)
# Bytes of a body that says something about a stream, and is not part of it.
LONGEST_BODY: Final = 64 << 10


class Ending(BaseModel):
    """The body of POST …/close; without one the stream is complete."""

    model_config = ConfigDict(extra="forbid", strict=True)

    status: Literal["complete", "error"] = "complete"
    code: str = Field("FAILED", min_length=1, max_length=64)
    message: str = "the producer failed"


async def create(request: Request) -> Response:
    """POST /v1/streams: options in, the id and its URLs out."""
    hub, owner = hub_of(request), require_subject(request)
    body = await read_body(request, config_of(request).record_bytes)
    options = await hub.schemas.in_turn(lambda: StreamOptions.from_json(_from_json(request, body)))
    # Whatever is asked for later must not find these options wrong.
    await hub.schemas.compiling(options, lambda: check_options(options))
    if turn_of(request) is not None:
        raise Problem(400, "HEADER", "Producer-Seq numbers requests that append to a stream")
    stream = await hub.create(owner, options, "", options.lease or config_of(request).lease)
    urls = urls_of(request, stream)
    return JSONResponse({"id": stream, "urls": urls}, 201, {"location": urls["stream"]})


def urls_of(request: Request, stream: str) -> dict[str, str]:
    base = f"{request.scope.get('root_path', '')}/v1/streams/{stream}"
    parts = ("close", "cancel", "events", "value", "ai-sdk", "ag-ui")
    return {"stream": base, **{part: f"{base}/{part}" for part in parts}}


async def append(request: Request) -> Response:
    """POST /v1/streams/{id}/events: records in, as they arrive; the number of the last one out."""
    hub, allowed = hub_of(request), await owned(request)
    options = StreamOptions.from_bytes(allowed.status.meta)
    turn, limit = turn_of(request), config_of(request).record_bytes
    intake = intake_for(media_type(request), options.input, limit)
    lease = options.lease or config_of(request).lease
    if turn is not None or allowed.status.closed or _is_short(request, limit):
        # All of it or nothing: a short body with a fault in it leaves no trace.
        records = await _all_records(request, intake, config_of(request))
        try:
            last = await hub.append(allowed.stream, "", records, turn=turn, lease=lease)
        except TurnRefused as refused:
            assert turn is not None
            check_repeated(turn, refused)
            headers = accepted(refused.epoch, refused.seq)
            return JSONResponse({"last": refused.tail.last}, headers=headers)
        headers = {} if turn is None else accepted(turn.epoch, turn.seq)
        return JSONResponse({"last": last}, headers=headers)
    async with hub.holding(allowed.stream, "", lease):
        last = allowed.status.last
        async for records in _records(request, intake):
            last = await hub.append(allowed.stream, "", records)
    return JSONResponse({"last": last})


async def _records(request: Request, intake: Intake) -> AsyncIterator[list[Any]]:
    async for data in request.stream():
        if records := intake.feed(data):
            yield records
    if records := intake.flush():
        yield records


async def _all_records(request: Request, intake: Intake, config: Config) -> list[Any]:
    all_records: list[Any] = []
    size, limit, most = 0, config.body_bytes, config.stream_entries
    async for records in _records(request, intake):
        all_records += records
        size += sum(len(record.body) for record in records)
        if size > limit:
            raise Problem(413, "LIMIT_EXCEEDED", f"a body has at most {limit} bytes")
        if len(all_records) > most:
            raise Problem(413, "LIMIT_EXCEEDED", f"a stream has at most {most} records")
    return all_records


async def close(request: Request) -> Response:
    """POST /v1/streams/{id}/close: the stream is complete, or failed and readers get the ERROR.

    To say so twice is no error.
    """
    allowed = await owned(request)
    ending = await body_as(request, Ending)
    failed = End("error", ending.code, ending.message[:4096])
    await hub_of(request).end(allowed.stream, CLOSED if ending.status == "complete" else failed)
    return await _state(request, allowed.stream)


async def cancel(request: Request) -> Response:
    """POST /v1/streams/{id}/cancel: stop the stream; a simulated model stops writing."""
    allowed = await owned(request)
    await hub_of(request).end(allowed.stream, CANCELLED)
    return await _state(request, allowed.stream)


async def status(request: Request) -> Response:
    """GET /v1/streams/{id}: the state of the stream."""
    allowed = await owned(request)
    return await _state(request, allowed.stream)


async def _state(request: Request, stream: str) -> Response:
    status = await hub_of(request).store.status(stream)
    options = StreamOptions.from_bytes(status.meta)
    body = {"id": stream, "input": options.input, "last": status.last, "closed": status.closed}
    more = {"bytes": status.size, "options": options.given}
    return JSONResponse({**body, **more})


async def delete(request: Request) -> Response:
    """DELETE /v1/streams/{id}: delete the stream; its readers get an error."""
    allowed = await owned(request)
    await hub_of(request).store.delete(allowed.stream)
    return Response(status_code=204)


async def value(request: Request) -> Response:
    """GET /v1/streams/{id}/value: the current value; its ETag is the last record."""
    allowed = await owned(request)
    tag = f'"{Position(allowed.status.last, mark=allowed.status.mark)}"'
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={"etag": tag})
    body, position = await value_of(hub_of(request).store, allowed.stream, allowed.status)
    return Response(body, media_type="application/json", headers={"etag": f'"{position}"'})


async def body_as(request: Request, model: type[Model]) -> Model:
    """The body as this model; 422 with what is wrong with it first, without what was sent."""
    try:
        return model.model_validate(_from_json(request, await read_body(request, LONGEST_BODY)))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        wrong = f"{place}: {first['msg']}" if place else "the body must be a JSON object"
        raise Problem(422, "BAD_OPTION", wrong) from None


def _from_json(request: Request, body: bytes) -> Any:
    """The body as JSON; `{}` if there is none. Another media type is refused (CSRF)."""
    if not body:
        return {}
    if media_type(request) != "application/json":
        raise Problem(415, "MEDIA_TYPE", "the body must be application/json")
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Problem(400, "INVALID_JSON", "the body is not JSON") from error


async def read_body(request: Request, limit: int) -> bytes:
    body = bytearray()
    async for data in request.stream():
        body += data
        if len(body) > limit:
            raise Problem(413, "LIMIT_EXCEEDED", f"a body has at most {limit} bytes here")
    return bytes(body)


def media_type(request: Request) -> str:
    return eventstream.media_type(request.headers.get("content-type", ""))


def _is_short(request: Request, limit: int) -> bool:
    length = request.headers.get("content-length", "")
    return length.isascii() and length.isdigit() and len(length) < 12 and int(length) <= limit
