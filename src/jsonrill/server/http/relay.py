"""POST /v1/chat/completions: to an OpenAI-compatible upstream, and back through a log.

What is generated is published as a stream of its own: it goes on when the client leaves, can be
read again by its id (`Jsonrill-Stream`), and stops when it is cancelled. Where to relay to is said
by the configuration alone, and nothing of a request but its body reaches the upstream.
"""

from __future__ import annotations

import logging
import secrets
from contextlib import suppress
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ...ext.starlette import ByteStreamResponse
from ...options import Wire
from ...runs.hub import Hub
from ...runs.options import VIEW, BadOption, StreamOptions, ViewOptions
from ...runs.positions import START
from ...runs.producer import produce
from ...runs.records import End
from ...store import StoreError
from ..access.permissions import Allowed, hub_of, require_subject
from .publish import media_type, read_body
from .subscribe import answer
from .upstream import (
    PROVIDER,
    Incoming,
    Received,
    Upstream,
    UpstreamFailed,
    check_answer,
    json_object,
)

log = logging.getLogger("jsonrill.server")
OPTIONS = StreamOptions(input="events", provider=PROVIDER)
STOPPED = End("error", "PRODUCER_LOST", "the relay was stopped")
# Headers of the upstream's response that its clients read.
KEPT = ("content-type", "retry-after", "retry-after-ms", "x-should-retry", "x-request-id")
MOST_CHOICES = 128


async def chat_completions(request: Request) -> Response:
    hub, owner = hub_of(request), require_subject(request)
    if not hub.config.upstream:
        return _error(404, "no upstream is configured", "not_configured")
    body = await read_body(request, hub.config.body_bytes)
    asked = json_object(body) if media_type(request) == "application/json" else None
    if asked is None:
        return _error(400, "the body must be a JSON object (application/json)", "invalid_body")
    upstream: Upstream = request.app.state.upstream
    try:
        if asked.get("stream") is True:
            return await _streamed(request, hub, owner, upstream, body, _choices(asked))
        return await _as_it_is(hub, await upstream.send(body))
    except UpstreamFailed as failed:
        _note(hub, failed.code, failed.message)
        return _error(failed.status, failed.message, failed.code)


async def _streamed(
    request: Request, hub: Hub, owner: str, upstream: Upstream, body: bytes, choices: int
) -> Response:
    """Relay an answer as a stream of its own.

    The stream and its reader have their places before the upstream is called: a request that a
    limit refuses is not billed.
    """
    wire = _fragments(request)
    if hub.stopping:
        return _error(503, "the server is stopping", "stopping")
    producer, lease = secrets.token_hex(8), hub.config.relay_lease
    stream = await hub.create(owner, OPTIONS, producer, lease)
    response: ByteStreamResponse | None = None
    try:
        view = ViewOptions(format="openai", fragments=bool(wire), wire=wire or "full")
        allowed = Allowed(stream, await hub.store.status(stream))
        response = await answer(request, allowed, view, START, {"jsonrill-stream": stream})
        async with hub.holding(stream, producer, lease):
            received = await upstream.send(body)
            streams = await received.is_event_stream()
    except BaseException:
        await _give_back(hub, stream, response)
        raise
    if streams:
        incoming = Incoming(hub.config.record_bytes, choices)
        hub.spawn(_generate(hub, stream, producer, received, incoming))
        return response
    await _give_back(hub, stream, response)
    if received.status < 300:
        check_answer(await received.read())
        message = "the upstream was asked for a stream and sent none"
        raise UpstreamFailed(502, message, "upstream_invalid")
    return await _as_it_is(hub, received)


async def _give_back(hub: Hub, stream: str, response: ByteStreamResponse | None) -> None:
    """Free the places of a stream that nothing was written to."""
    if response is not None:
        await response.aclose()
    with suppress(StoreError):
        await hub.store.delete(stream)


async def _as_it_is(hub: Hub, received: Received) -> Response:
    """An answer that is not a stream, or an error: status, body and type are passed on."""
    if received.status >= 400:
        _note(hub, f"status_{received.status // 100}xx", f"it answered {received.status}")
    body = await received.read()
    if received.status < 300:
        check_answer(body)
    headers = {name: received.headers[name] for name in KEPT if name in received.headers}
    return Response(body, received.status, headers)


async def _generate(
    hub: Hub, stream: str, producer: str, received: Received, incoming: Incoming
) -> None:
    """Publish what the upstream sends until it ends, fails, or the stream is cancelled."""
    hub.metrics.add("relays", 1)
    records, lease = incoming.records(received), hub.config.relay_lease
    try:
        end = await produce(hub, stream, producer, records, lease=lease, stopped=STOPPED)
    finally:
        hub.metrics.add("relays", -1)
        await received.close()
    if end is not None and end.code.startswith("UPSTREAM"):
        _note(hub, end.code.lower(), end.message)


def _choices(asked: dict[str, Any]) -> int:
    """The number of choices that a request asks for."""
    count = asked.get("n")
    return count if isinstance(count, int) and 0 < count <= MOST_CHOICES else 1


def _fragments(request: Request) -> Wire | None:
    wire = request.headers.get("jsonrill-fragments")
    if wire and wire not in VIEW["wire"].choices:
        raise BadOption(f"Jsonrill-Fragments is {VIEW['wire'].allowed}")
    return wire or None  # type: ignore[return-value]


def _note(hub: Hub, error: str, message: str) -> None:
    """Count and log an error of the upstream."""
    hub.metrics.add("upstream_errors_total", error=error)
    log.warning("the upstream failed: %s", message)


def _error(status: int, message: str, code: str) -> Response:
    kind = "invalid_request_error" if status < 500 else "upstream_error"
    error = {"message": message, "type": kind, "param": None, "code": code}
    return JSONResponse({"error": error}, status)
