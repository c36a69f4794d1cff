"""The reader's routes: a stream as events, in any format, from any position."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from ...ext.starlette import ByteStreamResponse
from ...runs.hub import Hub
from ...runs.options import StreamOptions, ViewOptions
from ...runs.positions import START, Position, parse
from ...runs.reader import Reader
from ...runs.records import End
from ...runs.render import rendering
from ...runs.view import last_words
from ..access.permissions import Allowed, hub_of, is_revoked, readable
from ..problems import Problem
from .publish import read_body

AI_SDK = {"x-vercel-ai-ui-message-stream": "v1"}
STOPPED = End("error", "STOPPED", "the server was stopped before the stream ended")
TOO_LONG = End("error", "LIMIT_EXCEEDED", "the connection lasted longer than the server allows")
REVOKED = End("error", "REVOKED", "the token is no longer valid")


async def events(request: Request) -> Response:
    """GET /v1/streams/{id}/events: 204 once everything was delivered."""
    allowed = await readable(request)
    kept = StreamOptions.from_bytes(allowed.status.meta)
    options = ViewOptions.from_query(request.query_params, kept)
    position = _position(request)
    last, mark = allowed.status.last, allowed.status.mark
    if position.seq > last and position.mark is None:
        raise Problem(400, "POSITION", "the stream is not that long", last=last)
    if allowed.status.closed and position.done == last and position.is_in(last, mark):
        return _nothing_more(request, allowed)
    return await answer(request, allowed, options, position)


async def ai_sdk(request: Request) -> Response:
    """GET or POST /v1/streams/{id}/ai-sdk: an AI SDK UI message stream, from the start.

    A GET, with which a client resumes, is answered 204 once the stream is closed.
    """
    allowed = await readable(request)
    if request.method == "GET" and allowed.status.closed:
        return _nothing_more(request, allowed)
    await read_body(request, hub_of(request).config.body_bytes)
    options = _dialect(request, allowed, "ai-sdk")
    return await answer(request, allowed, options, START, AI_SDK)


async def ag_ui(request: Request) -> Response:
    """GET or POST /v1/streams/{id}/ag-ui: AG-UI events; the run is named as the client names it."""
    allowed = await readable(request)
    body = await read_body(request, hub_of(request).config.body_bytes)
    options = _dialect(request, allowed, "ag-ui")
    thread, run = _run_of(body)
    return await answer(request, allowed, replace(options, thread=thread, run=run), START)


def _dialect(request: Request, allowed: Allowed, format: str) -> ViewOptions:
    kept = StreamOptions.from_bytes(allowed.status.meta)
    return ViewOptions.from_query({**request.query_params, "format": format}, kept)


def _run_of(body: bytes) -> tuple[str, str]:
    """Thread and run from an AG-UI request; what is not there is not needed."""
    try:
        given: Any = json.loads(body) if body else {}
    except (ValueError, RecursionError) as error:
        raise Problem(400, "INVALID_JSON", "the body is not JSON") from error
    if not isinstance(given, dict):
        raise Problem(422, "BAD_OPTION", "a run is described by an object")
    names = [given.get(name, "") for name in ("threadId", "runId")]
    if not all(isinstance(name, str) and len(name) <= 256 for name in names):
        raise Problem(422, "BAD_OPTION", "threadId and runId are texts")
    return names[0], names[1]


async def answer(
    request: Request,
    allowed: Allowed,
    options: ViewOptions,
    position: Position,
    headers: dict[str, str] | None = None,
) -> ByteStreamResponse:
    """The event stream. Its place among the readers is given back when the answer ends.

    Clients that cannot resume are served until the server must end; then they get an error, because
    they would take the end of the response for that of the stream.
    """
    hub = hub_of(request)
    work = rendering(StreamOptions.from_bytes(allowed.status.meta), options)

    def revoked() -> bool:
        return is_revoked(request, allowed.holder)

    source = Counted(hub, allowed, options, position)
    if request.method != "HEAD":
        await source.begin()
    response = ByteStreamResponse(
        source,
        heartbeat=hub.config.heartbeat,
        send_timeout=hub.config.send_timeout,
        retry=hub.config.retry if work.closes else None,
        lasts=hub.config.max_connection,
        headers=headers,
        stopping=lambda: (hub.stopping if work.ids else hub.must_end) or revoked(),
        last_words=lambda: b"" if work.ids else last_words(work, why_ended(hub, revoked())),
    )
    source.response = response
    allowed.hand_out(request, response)
    return response


def why_ended(hub: Hub, revoked: bool = False) -> End:
    """Why the server ends a response before its stream has ended."""
    return REVOKED if revoked else STOPPED if hub.stopping else TOO_LONG


class Counted:
    """A reader's bytes. Begun before the answer, so that a refusal can still be one; closed by
    the response, also if it never got to read anything."""

    def __init__(
        self, hub: Hub, allowed: Allowed, options: ViewOptions, position: Position
    ) -> None:
        self._hub = hub
        self._stream = allowed.stream
        self._seen = position.seq
        self._counted = hub.reader(allowed.stream, allowed.status, options, position)
        self._stack = AsyncExitStack()
        self._reader: Reader | None = None
        self.response: ByteStreamResponse | None = None

    async def begin(self) -> None:
        self._reader = await self._stack.enter_async_context(self._counted)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        reader = self._reader
        assert reader is not None
        async for chunk in reader.chunks():
            yield chunk
            # Asked for more, so this has been sent.
            self._seen = self._hub.sent(self._stream, reader.position.seq, self._seen)

    async def aclose(self) -> None:
        await self._stack.aclose()
        if self.response is not None:
            self._hub.metrics.add("sent_bytes_total", self.response.bytes_sent)
            self._hub.metrics.add("readers_cut_total", self.response.cut)


def _position(request: Request) -> Position:
    text = request.headers.get("last-event-id") or request.query_params.get("after") or ""
    try:
        return parse(text) if text else START
    except ValueError as error:
        raise Problem(400, "POSITION", str(error)) from error


def _nothing_more(request: Request, allowed: Allowed) -> Response:
    response = Response(status_code=204)
    allowed.hand_out(request, response)
    return response
