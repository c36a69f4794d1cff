"""Requests to models: to an upstream, and back through a log.

POST /v1/chat/completions, /v1/responses and /v1/messages. What is generated is published as a
stream of its own: it goes on when the client leaves, can be read again by its id
(`Jsonrill-Stream`), and stops when it is cancelled. Where to relay to is said by the configuration
alone.

A request with an `Idempotency-Key` names its run: the stream's id is made from the owner and the
key, so that the store itself tells whether there is such a run already, in any process.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from base64 import urlsafe_b64encode
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from jsonrill.dialects.native import ResponseState, split_response_id
from jsonrill.ext.starlette import ByteStreamResponse
from jsonrill.ext.tasks import stop
from jsonrill.jsontext import dumps, without_constants
from jsonrill.options import Wire

from ..access.permissions import Allowed, config_of, hub_of, require_subject
from ..http.publish import media_type, read_body
from ..http.subscribe import answer
from ..problems import Problem
from ..runs.claim import Claim
from ..runs.hub import Hub
from ..runs.options import VIEW, BadOption, StreamOptions, ViewOptions
from ..runs.positions import START, Position
from ..runs.producer import HOLD
from ..runs.records import CLOSED, End, Record, from_entry
from ..store import StoreError, StreamTaken, UnknownStream
from .apis import CHAT, RESPONSES, Api, Handler, in_form, logged, no_model, note
from .generation import RelayRun
from .references import check_references
from .upstream import Received, UpstreamFailed, check_answer, json_object
from .upstreams import Upstream, Upstreams

log = logging.getLogger("jsonrill_server")
# Headers of the upstream's response that its clients read.
KEPT: Final = (
    *("content-type", "retry-after", "retry-after-ms", "x-should-retry"),
    *("x-request-id", "request-id"),
)
MOST_CHOICES: Final = 128
LONGEST_KEY: Final = 256
# Bytes of a body that would hold up the event loop if it were written anew.
LARGE: Final = 1 << 20
# A request that is repeated would get the same failure.
FINAL: Final = {"x-should-retry": "false"}


@dataclass(frozen=True, slots=True)
class RelayRequest:
    """A request: what the client sent (`value`), and what is sent to its upstream (`body`)."""

    api: Api
    owner: str
    value: dict[str, Any]
    upstream: Upstream
    body: bytes
    # The name of its run and what it is compared by; "" if the request has no name.
    run: str
    digest: str

    @property
    def streamed(self) -> bool:
        return self.value.get("stream") is True

    @property
    def background(self) -> bool:
        return self.api is RESPONSES and self.value.get("background") is True

    @property
    def is_kept(self) -> bool:
        """Whether the answer is kept as a run, so that it can be read again."""
        kept = self.api is RESPONSES and self.value.get("store") is not False
        return self.streamed or self.background or bool(self.run) or kept

    def options(self) -> StreamOptions:
        options = StreamOptions(input="events", provider=self.api.provider)
        options.notes = {
            "api": self.api.name,
            "upstream": self.upstream.name,
            "background": self.background,
            "request": self.digest,
            "id": secrets.token_hex(8),
        }
        return options


def upstreams_of(request: Request) -> Upstreams:
    upstreams: Upstreams = request.app.state.upstreams
    return upstreams


def relayed(api: Api) -> Handler:
    """The handler of POST for an API, as its own clients send it."""
    return in_form(api.error)(partial(_relay, api))


async def _relay(api: Api, request: Request) -> Response:
    asked = await _read(request, api)
    if not asked.is_kept:
        received = await _send(request, asked)
        return _passed(hub_of(request), received, await _body_of(received))
    while True:
        try:
            claim = await _create(request, asked)
        except StreamTaken:
            again = await _again(request, asked)
            if again is None:
                continue  # the run has gone in the meantime, as it does if the upstream refuses
            return again
        return await _begin(request, asked, claim)


async def _read(request: Request, api: Api) -> RelayRequest:
    """Return the request with the upstream for its model; raises Problem."""
    owner, upstreams = require_subject(request), upstreams_of(request)
    if not upstreams.all:
        raise Problem(404, "not_configured", "no upstream is configured")
    body = await read_body(request, config_of(request).body_bytes)
    value = json_object(body) if media_type(request) == "application/json" else None
    if value is None:
        raise Problem(400, "invalid_body", "the body must be a JSON object (application/json)")
    model = value.get("model")
    chosen = upstreams.choose(model if isinstance(model, str) else "")
    if chosen is None:
        raise no_model(model)
    await check_references(request, owner, value)
    changes: dict[str, Any] = {}
    if isinstance(model, str) and chosen.model != model:
        changes["model"] = chosen.model
    if api is RESPONSES:
        changes |= _as_the_upstream_knows_it(value)
    sent = dumps({**value, **changes}).encode() if changes else body
    key = request.headers.get("idempotency-key", "")
    if len(key) > LONGEST_KEY:
        raise Problem(400, "key", f"an Idempotency-Key has at most {LONGEST_KEY} characters")
    digest = _digest(api.name, _canonical(body, value)) if key else ""
    run = _digest(owner, key) if key else ""
    return RelayRequest(api, owner, value, chosen.upstream, sent, run, digest)


def _as_the_upstream_knows_it(value: dict[str, Any]) -> dict[str, Any]:
    """The fields of a request for a response that the upstream gets with other values."""
    changes: dict[str, Any] = {}
    if value.get("background") is True and value.get("stream") is not True:
        changes["stream"] = True  # so that it can be read while it is generated
    before = value.get("previous_response_id")
    if isinstance(before, str) and (own := split_response_id(before)[0]) != before:
        changes["previous_response_id"] = own
    return changes


def _canonical(body: bytes, value: dict[str, Any]) -> str:
    """A text that is the same for the same request; a large one must be the same in each byte."""
    return (
        json.dumps(value, sort_keys=True) if len(body) < LARGE else body.decode("utf-8", "replace")
    )


def _digest(*parts: str) -> str:
    """A text of 24 characters, as long as the random id of a stream."""
    digest = blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=18)
    return urlsafe_b64encode(digest.digest()).decode()


async def _send(request: Request, asked: RelayRequest) -> Received:
    return await upstreams_of(request).send(
        asked.upstream, "POST", asked.api.path, asked.body, request.headers
    )


async def _create(request: Request, asked: RelayRequest) -> Claim:
    """A new run, and the claim to it. The limits of streams are checked here."""
    hub = hub_of(request)
    if hub.stopping:
        raise Problem(503, "stopping", "the server is stopping")
    producer, options = secrets.token_hex(8), asked.options()
    lease = config_of(request).relay_lease
    stream = await hub.create(asked.owner, options, producer, lease, asked.run)
    # If this process is halted for longer than its lease, it does not take itself for lost.
    hub.producing[stream] = producer
    return Claim(hub, stream, producer, lease, options)


async def _begin(request: Request, asked: RelayRequest, claim: Claim) -> Response:
    """Relay an answer as a stream of its own; one that is not streamed has one record.

    The stream and its reader have their places before the upstream is called: a request that a
    limit refuses is not billed.
    """
    hub, stream = claim.hub, claim.stream
    response: ByteStreamResponse | None = None
    wants_stream, body = asked.streamed or asked.background, b""
    try:
        if asked.streamed:
            response = await _reader(request, asked, stream)
        async with hub.holding(stream, claim.producer, claim.lease):
            received = await _send(request, asked)
            streams = wants_stream and await received.is_event_stream()
            if not streams:
                body = await _body_of(received)
        if wants_stream and not streams and received.status < 300:
            message = "the upstream was asked for a stream and sent none"
            raise UpstreamFailed(502, "upstream_invalid", message)
    except BaseException:
        await _give_back(hub, stream, response)
        raise
    if streams:
        choices = _choices(asked.value) if asked.api is CHAT else 1
        where = (hub, upstreams_of(request), asked.upstream, claim)
        run = RelayRun(*where, asked.api.provider, choices, asked.background)
        hub.spawn(run.generate(received))
        if response is not None:
            return response
        await _found(hub, stream, first=True)
        return await current(hub, stream)
    if received.status >= 300:
        await _give_back(hub, stream, response)
        return _passed(hub, received, body)
    record = Record("events", _as_event(asked.api, body))
    # The answer has been paid for: it is passed on, even if it cannot be kept.
    try:
        await claim.append([record], HOLD)
        await claim.end(CLOSED)
    except StoreError as error:
        log.warning("an answer could not be kept: %s", type(error).__name__)
    finally:
        hub.producing.pop(stream, None)
    return _whole(asked.api, stream, [record, CLOSED], received)


def _as_event(api: Api, body: bytes) -> str:
    """The record of an answer that was not streamed."""
    if api is not RESPONSES:
        return without_constants(body.decode("utf-8", "replace"))
    response = json_object(body) or {}
    kind = f"response.{response.get('status', 'completed')}"
    return dumps({"type": kind, "sequence_number": 0, "response": response}, finite=True)


def _whole(
    api: Api, stream: str, log: list[Record | End], received: Received | None = None
) -> Response:
    """The response of a run that was not streamed; a failure if it has no answer."""
    headers = {} if received is None else _kept(received)
    headers = {**headers, "content-type": "application/json", "jsonrill-stream": stream}
    if not isinstance(log[0], Record):
        end = log[0]
        raise Problem(502, end.code, end.message or "there is no answer", FINAL)
    if api is not RESPONSES:
        return Response(log[0].body, 200, headers)
    state = ResponseState(stream)
    state.feed(json.loads(log[0].body))
    return Response(dumps(state.value()), 200, headers)


async def _again(request: Request, asked: RelayRequest) -> Response | None:
    """The answer to a request whose key has a run already: that run; None if it has gone."""
    hub = hub_of(request)
    try:
        kept = StreamOptions.from_bytes((await hub.status(asked.run)).meta)
        if kept.notes.get("request") != asked.digest:
            message = "this Idempotency-Key was used for another request"
            raise Problem(422, "idempotency_key_reused", message)
        once = not (asked.streamed or asked.background)
        # As long as nothing has arrived, the upstream may still refuse the request.
        log = await _found(hub, asked.run, first=not once)
        if asked.streamed:
            return await _reader(request, asked, asked.run)
        if asked.background:
            return await current(hub, asked.run)
        return _whole(asked.api, asked.run, log)
    except UnknownStream:
        return None


async def _reader(request: Request, asked: RelayRequest, stream: str) -> ByteStreamResponse:
    allowed = Allowed(stream, await hub_of(request).store.status(stream))
    return await read_run(request, asked.api, allowed, START)


async def read_run(
    request: Request, api: Api, allowed: Allowed, position: Position
) -> ByteStreamResponse:
    """The events of a run, as the API's own clients read them."""
    wire = _fragments(request)
    view = ViewOptions(
        format=api.format, fragments=bool(wire), wire=wire or "full", run=allowed.stream
    )
    headers = {"jsonrill-stream": allowed.stream}
    return await answer(request, allowed, view, position, headers, resumes=False)


async def _found(hub: Hub, stream: str, *, first: bool) -> list[Record | End]:
    """Wait for the first records of a run, or for all of them."""

    async def read() -> list[Record | End]:
        log: list[Record | End] = []
        async for batch in hub.store.read(stream):
            log += map(from_entry, batch)
            if first:
                break
        return log

    reading = asyncio.create_task(read())
    try:
        while not (await asyncio.wait({reading}, timeout=1))[0]:
            await hub.status(stream)  # ends the run if its producer is lost
        return reading.result()
    finally:
        await stop(reading)


async def current(hub: Hub, stream: str) -> Response:
    """The response object of a run as it is now."""
    value, _ = await response_of(hub, stream)
    return json_response(value, {"jsonrill-stream": stream})


def json_response(value: Any, headers: dict[str, str] | None = None) -> Response:
    """A response with JSON, in which an upstream may have written anything."""
    return Response(dumps(value), 200, headers, "application/json")


async def response_of(hub: Hub, stream: str) -> tuple[dict[str, Any], ResponseState]:
    """The response object of a run as it is now, and what its events say."""
    status = await hub.status(stream)
    background = StreamOptions.from_bytes(status.meta).notes.get("background") is True
    state, end = ResponseState(stream, background=background), CLOSED
    async for entry in logged(hub, stream, status.last):
        if isinstance(entry, End):
            end = entry
        else:
            state.feed(entry)
    if end.reason != "closed" and not state.ended:
        return state.failed(end.error()), state
    return (state.value() if status.last else state.value(status="queued")), state


async def _give_back(hub: Hub, stream: str, response: ByteStreamResponse | None) -> None:
    """Free the places of a stream that nothing was written to."""
    hub.producing.pop(stream, None)
    if response is not None:
        await response.aclose()
    with suppress(StoreError):
        await hub.store.delete(stream)


async def _body_of(received: Received) -> bytes:
    """The body of an answer that is not streamed, or of an error."""
    body = await received.read()
    if received.status < 300:
        check_answer(body)
    return body


def _passed(hub: Hub, received: Received, body: bytes) -> Response:
    """Status, body and type of an answer that is not kept, or of an error."""
    if received.status >= 400:
        note(hub, f"status_{received.status // 100}xx", f"it answered {received.status}")
    return Response(body, received.status, _kept(received))


def _kept(received: Received) -> dict[str, str]:
    return {name: received.headers[name] for name in KEPT if name in received.headers}


def _choices(asked: dict[str, Any]) -> int:
    """The number of choices that a request asks for."""
    count = asked.get("n")
    return count if isinstance(count, int) and 0 < count <= MOST_CHOICES else 1


def _fragments(request: Request) -> Wire | None:
    wire = request.headers.get("jsonrill-fragments")
    if wire and wire not in VIEW["wire"].choices:
        raise BadOption(f"Jsonrill-Fragments is {VIEW['wire'].allowed}")
    return wire or None  # type: ignore[return-value]
