"""POST /v1/convert: events for a request body, sent while it arrives; nothing is stored."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from jsonrill.eventstream import DONE, encode_event
from jsonrill.ext.starlette import ByteStreamResponse

from ..access.permissions import config_of, hub_of, require_subject
from ..runs.answer import why_ended
from ..runs.options import BadOption, StreamOptions, ViewOptions
from ..runs.records import CLOSED, End, Record
from ..runs.render import Rendering, rendering
from ..runs.steps import Steps
from ..runs.view import closing_bytes
from .intake import BadBody, Intake, intake_for
from .publish import media_type


async def convert(request: Request) -> Response:
    """`options` says how to read the body: a JSON object as for a new stream."""
    require_subject(request)
    hub = hub_of(request)
    query = dict(request.query_params)
    try:
        own = json.loads(query.pop("options", "{}"))
    except (ValueError, RecursionError) as error:
        raise BadOption("options is a JSON object") from error
    view = ViewOptions.from_query(query, StreamOptions.from_json(own))
    # The options and the mode are of one request: what the mode does not use is refused.
    options = StreamOptions.from_json({**own, "mode": view.modes})
    work = await hub.schemas.compiling(options, lambda: rendering(options, view))
    intake = intake_for(media_type(request), options.input, config_of(request).record_bytes)
    return ByteStreamResponse(
        _converted(request, intake, work, hub.settings.stream_bytes),
        heartbeat=hub.settings.heartbeat,
        send_timeout=hub.settings.send_timeout,
        max_seconds=hub.settings.max_connection,
        # The body is read from the same connection: its end is reported to that reader.
        listen=False,
        # Nothing is stored, so that no format can resume.
        stopping=lambda: hub.must_end,
        closing_bytes=lambda: closing_bytes(work, why_ended(hub)),
    )


async def _converted(
    request: Request, intake: Intake, work: Rendering, limit: int
) -> AsyncIterator[bytes]:
    end, size, steps = CLOSED, 0, Steps(work.heavy is not None)
    try:
        async for data in request.stream():
            size += len(data)
            if size > limit:
                raise BadBody(f"a body has at most {limit} bytes", 413)
            async for events in _events(work, intake.feed(data), steps):
                yield _encoded(events)
        async for events in _events(work, intake.flush(), steps):
            yield _encoded(events)
    except BadBody as bad:
        end = End("error", bad.code, bad.message, bad.line)
    except ClientDisconnect:
        return
    async for events in steps.of(work.end_in_parts(end), size):
        yield _encoded(events)
    if work.closes:
        yield encode_event(DONE, event="CLOSE")


def _events(work: Rendering, records: list[Record], steps: Steps) -> AsyncIterator[list[str]]:
    return steps.of(work.feed_in_parts(records), sum(len(record.body) for record in records))


def _encoded(events: list[str]) -> bytes:
    return b"".join([encode_event(data) for data in events])
