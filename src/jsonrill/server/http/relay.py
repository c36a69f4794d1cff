"""POST /v1/chat/completions: to an OpenAI-compatible upstream, and back through a log.

What is generated is published as a stream of its own: it goes on when the client leaves, can be
read again by its id (`Jsonrill-Stream`), and stops when it is cancelled. Where to relay to is said
by the configuration alone, and nothing of a request but its body reaches the upstream.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from contextlib import suppress
from typing import Any

import httpx2
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ...errors import LimitExceeded
from ...eventstream import DONE, SSEDecoder
from ...options import Wire
from ...providers import Reader
from ...providers.statements import Ending
from ...runs.config import Config
from ...runs.hub import Hub
from ...runs.options import VIEW, BadOption, StreamOptions, ViewOptions
from ...runs.positions import START
from ...runs.records import CLOSED, End, Record
from ...store import LogClosed, StoreError, StoreFull, UnknownStream
from ...store.tasks import stop
from ..access.permissions import Allowed, hub_of, require_subject
from .publish import media_type, read_body
from .subscribe import answer

log = logging.getLogger("jsonrill.server")
OPTIONS = StreamOptions(input="events", provider="openai_chat")
# Seconds for which records are held while the store is unreachable.
HOLD = 60.0


class Upstream:
    """The client of the upstream server; opened when first used."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._client: httpx2.AsyncClient | None = None

    async def send(self, body: bytes) -> httpx2.Response:
        """Send a request and return the response without its body yet.

        Raises TimeoutError or httpx2.HTTPError.
        """
        if self._client is None:
            timeout = httpx2.Timeout(None, connect=self._config.upstream_connect)
            self._client = httpx2.AsyncClient(timeout=timeout, trust_env=False)
        headers = {"content-type": "application/json"}
        if key := self._config.key_of_upstream():
            headers["authorization"] = f"Bearer {key}"
        url = f"{self._config.upstream.rstrip('/')}/chat/completions"
        request = self._client.build_request("POST", url, content=body, headers=headers)
        async with asyncio.timeout(self._config.upstream_first):
            return await self._client.send(request, stream=True)

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()


async def chat_completions(request: Request) -> Response:
    hub, owner = hub_of(request), require_subject(request)
    if not hub.config.upstream:
        return _error(404, "no upstream is configured", "not_configured")
    body = await read_body(request, hub.config.body_bytes)
    asked = _parsed(request, body)
    if asked is None:
        return _error(400, "the body must be a JSON object (application/json)", "invalid_body")
    wire = _fragments(request)
    upstream: Upstream = request.app.state.upstream
    try:
        came = await upstream.send(body)
    except TimeoutError:
        return _failed(hub, 504, "the upstream did not answer in time", "upstream_timeout")
    except httpx2.TimeoutException:
        return _failed(hub, 504, "the upstream could not be connected in time", "upstream_timeout")
    except httpx2.HTTPError:
        return _failed(hub, 502, "the upstream could not be reached", "upstream_unreachable")
    streams = came.headers.get("content-type", "").startswith("text/event-stream")
    if not (asked.get("stream") is True and came.status_code == 200 and streams):
        return await _as_it_is(hub, came)
    return await _relayed(request, hub, owner, came, wire)


async def _relayed(
    request: Request, hub: Hub, owner: str, came: httpx2.Response, wire: Wire | None
) -> Response:
    producer = secrets.token_hex(8)
    try:
        stream = await hub.create(owner, OPTIONS, producer, hub.config.relay_lease)
    except BaseException:
        await came.aclose()
        raise
    hub.spawn(_generate(hub, stream, producer, came))
    status = await hub.store.status(stream)
    view = ViewOptions(format="openai", fragments=bool(wire), wire=wire or "full")
    headers = {"jsonrill-stream": stream}
    return await answer(request, Allowed(stream, status), view, START, headers)


async def _as_it_is(hub: Hub, came: httpx2.Response) -> Response:
    """An answer that is not a stream, or an error: status, body and type are passed on."""
    if came.status_code >= 400:
        _note(hub, f"status_{came.status_code // 100}xx", f"it answered {came.status_code}")
    body = bytearray()
    try:
        async with asyncio.timeout(hub.config.upstream_first):
            async for data in came.aiter_bytes():
                body += data
                if len(body) > hub.config.stream_bytes:
                    message = "the upstream's answer is too large"
                    return _failed(hub, 502, message, "upstream_too_large")
    except TimeoutError:
        return _failed(hub, 504, "the upstream stopped answering", "upstream_timeout")
    except httpx2.HTTPError:
        return _failed(hub, 502, "the upstream broke off its answer", "upstream_lost")
    finally:
        await came.aclose()
    kept = ("content-type", "retry-after", "x-request-id")
    headers = {name: came.headers[name] for name in kept if name in came.headers}
    return Response(bytes(body), came.status_code, headers)


async def _generate(hub: Hub, stream: str, producer: str, came: httpx2.Response) -> None:
    """Publish what the upstream sends until it ends, fails, or the stream is cancelled."""
    hub.metrics.add("relays", 1)
    working = asyncio.create_task(_publish(hub, stream, producer, came))
    try:
        async with hub.holding(stream, producer, hub.config.relay_lease, working.cancel):
            await asyncio.wait({working})
    except (StoreError, asyncio.CancelledError):
        await stop(working)
        with suppress(StoreError):
            await hub.end(stream, End("error", "PRODUCER_LOST", "the relay was stopped"))
        raise
    finally:
        hub.metrics.add("relays", -1)
        await came.aclose()
    if not working.cancelled():
        end = working.result()
        if end.code:
            _note(hub, end.code.lower(), end.message)
        with suppress(StoreError):
            await hub.end(stream, end)


async def _publish(hub: Hub, stream: str, producer: str, came: httpx2.Response) -> End:
    """How it ended. Appends name their position, so that one may be repeated."""
    decoder = SSEDecoder(limit=hub.config.record_bytes)
    reader, ending = Reader(OPTIONS.provider), Ending()
    first = 1
    chunks = came.aiter_bytes()
    try:
        while True:
            async with asyncio.timeout(hub.config.upstream_idle):
                data = await anext(chunks, None)
            if data is None:
                break
            bodies = [event.data for event in decoder.feed(data) if event.data.strip()]
            done = any(body.startswith(DONE) for body in bodies)
            records = [Record("events", body) for body in bodies if not body.startswith(DONE)]
            if records:
                await hub.append(stream, producer, records, first, hold=HOLD)
                first += len(records)
                for record in records:
                    ending.feed(reader.feed(record.body))
            if done:
                return CLOSED
    except TimeoutError:
        return End("error", "UPSTREAM_TIMEOUT", "the upstream fell silent")
    except httpx2.HTTPError:
        return End("error", "UPSTREAM_LOST", "the connection to the upstream broke")
    except LimitExceeded:
        return End("error", "LIMIT_EXCEEDED", "an event of the upstream is too large")
    except (LogClosed, UnknownStream, StoreFull):
        return CLOSED  # it has its end already
    if ending.complete:
        return CLOSED
    return End("error", "UPSTREAM_LOST", "the upstream ended before the answer did")


def _parsed(request: Request, body: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(body) if media_type(request) == "application/json" else None
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _fragments(request: Request) -> Wire | None:
    wire = request.headers.get("jsonrill-fragments")
    if wire and wire not in VIEW["wire"].choices:
        raise BadOption(f"Jsonrill-Fragments is {VIEW['wire'].allowed}")
    return wire or None  # type: ignore[return-value]


def _failed(hub: Hub, status: int, message: str, code: str) -> Response:
    _note(hub, code, message)
    return _error(status, message, code)


def _note(hub: Hub, error: str, message: str) -> None:
    """Count and log an error of the upstream."""
    hub.metrics.add("upstream_errors_total", error=error)
    log.warning("the upstream failed: %s", message)


def _error(status: int, message: str, code: str) -> Response:
    kind = "invalid_request_error" if status < 500 else "upstream_error"
    error = {"message": message, "type": kind, "param": None, "code": code}
    return JSONResponse({"error": error}, status)
