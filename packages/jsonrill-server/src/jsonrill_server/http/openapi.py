"""Builds the server's OpenAPI document from a table of routes.

Options come from the table that the server checks them with, so that each is described once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from jsonrill.options import Option

from ..demo.generations import ORDER
from ..runs.options import STREAM, VIEW

Json = dict[str, Any]
# Status code → description and content of a response that is no error.
Good = dict[int, tuple[str, Json | None]]

_STATUSES: Final = {
    "400": "The request cannot be read.",
    "401": "A token or ticket is missing or not valid.",
    "403": "Pages of other sites may not send this request.",
    "404": "There is no such stream, or it belongs to another owner.",
    "405": "The stream takes no such request.",
    "409": "The stream is closed, held by another producer, or shorter than this position.",
    "410": "The log is lost, or ended with an error.",
    "413": "The request is too large.",
    "415": "The media type is not supported.",
    "422": "An option is unknown or has a value that is not allowed.",
    "429": "There are too many streams, readers or requests.",
    "502": "The upstream failed.",
    "503": "The store is unreachable or the server is stopping.",
    "504": "The upstream is too slow.",
}
# Errors of every request about one stream, of one that reads it, and of one that sends an object.
_OWNED: Final = "401 403 404 503"
_READABLE: Final = f"{_OWNED} 429"
_POSTED: Final = "400 401 403 413 415 422"


def _text(**more: Any) -> Json:
    return {"type": "string", **more}


def _integer(**more: Any) -> Json:
    return {"type": "integer", **more}


def _object(properties: Json, *required: str, **more: Any) -> Json:
    """An object schema; `required` names the properties that must be there."""
    needed = {"required": [*required]} if required else {}
    return {"type": "object", **needed, "properties": properties, **more}


def _closed(properties: Json, *required: str) -> Json:
    return _object(properties, *required, additionalProperties=False)


def _options(table: dict[str, Option], *required: str) -> Json:
    return _closed({name: option.json_schema for name, option in table.items()}, *required)


def _json(schema: Json) -> Json:
    return {"application/json": {"schema": schema}}


def _body(schema: Json, *, required: bool = True) -> Json:
    return {"required": required, "content": _json(schema)}


_ANY: Final = _json({})
_BOOLEAN: Final[Json] = {"type": "boolean"}
_TOLD: Final = ("code", "message")
_ERROR: Final = _object(
    {
        "error": _object({"code": {"type": ["string", "null"]}, "message": _text()}, *_TOLD),
        "last": _integer(),
    },
    "error",
)
_STATE: Final[Json] = {
    "id": _text(),
    "input": _text(enum=[*STREAM["input"].choices]),
    "last": _integer(minimum=0),
    "closed": _BOOLEAN,
    "bytes": _integer(minimum=0),
    "many": _BOOLEAN,
    "options": _object({}),
}
# One event: its data is JSON, or [DONE] in the event CLOSE.
_EVENT: Final = _object({"data": _text(), "id": _text(), "event": _text()}, "data")
_EVENTS: Final[Json] = {"text/event-stream": {"schema": _EVENT}}
_TEXT_TYPES: Final = ("text/plain", "application/x-ndjson", "text/event-stream")
_RECORDS: Final[Json] = {
    "required": True,
    "content": {**_ANY, **{kind: {"schema": _text()} for kind in _TEXT_TYPES}},
}
_BYTES: Final[Json] = {"content": {"*/*": {"schema": {}}}}
_ASKED: Final = {"model": _text(), "stream": _BOOLEAN}
_CHAT: Final = _object({**_ASKED, "messages": {"type": "array"}})
_MESSAGES: Final = _object({**_CHAT["properties"], "max_tokens": _integer(minimum=1)})
_RESPONSE: Final = _object({**_ASKED, "input": {}, "background": _BOOLEAN, "store": _BOOLEAN})
_FAILURE: Final = _closed({"code": _text(minLength=1, maxLength=64), "message": _text()})


def _parameter(name: str, place: str, description: str, schema: Json, **more: Any) -> Json:
    return {"name": name, "in": place, "description": description, "schema": schema, **more}


_NAME: Final = _text(pattern="^[A-Za-z0-9_-]{1,64}$")
_POSITION: Final = _text(pattern=r"^[0-9]{1,15}(\.[0-9]{1,9}(\.[1-9][0-9]{0,8})?)?(-[0-9a-f]{8})?$")
_ID: Final = _parameter("id", "path", "The id that creating the stream gave.", _NAME, required=True)
_COUNT: Final = _integer(minimum=0, maximum=2**53 - 1)
_NUMBERED: Final = [
    _parameter("Producer-Id", "header", "A producer that numbers its requests.", _text()),
    _parameter("Producer-Epoch", "header", "Raised when the producer is restarted.", _COUNT),
    _parameter("Producer-Seq", "header", "Number of the request in its epoch, from 0.", _COUNT),
]
_PATH: Final = _parameter(
    "path", "path", "The stream's name; it may have slashes.", _text(minLength=1), required=True
)
_CLOSES: Final = _parameter(
    "Stream-Closed", "header", "Close the stream with this request.", _text(enum=["true", "false"])
)
_LIFE: Final = [
    _parameter(
        "Stream-TTL", "header", "Seconds after its last use.", _text(pattern="^(0|[1-9][0-9]*)$")
    ),
    _parameter("Stream-Expires-At", "header", "When it is deleted.", _text(format="date-time")),
    _CLOSES,
]
_ORDER: Final = _parameter(
    "Stream-Seq", "header", "Greater, as text, than in any request before.", _text()
)
_OFFSETS: Final = [
    _parameter("offset", "query", "-1, now, or a Stream-Next-Offset.", _text()),
    _parameter("live", "query", "Wait for what is new.", _text(enum=["long-poll", "sse"])),
    _parameter("cursor", "query", "The Stream-Cursor of the last response.", _text()),
]
_TAG: Final = _parameter("If-None-Match", "header", "The ETag of the value you have.", _text())
_WIRE: Final = _parameter(
    "Jsonrill-Fragments",
    "header",
    "Add json_update_fragments to tool-call deltas, in this form.",
    _text(enum=[*VIEW["wire"].choices]),
)
_RUN: Final = _parameter(
    "Idempotency-Key",
    "header",
    "A name for this request; repeated, it gets the same answer, and the upstream is not called.",
    _text(pattern="^[!-~]{1,256}$"),
)
_STREAMED: Final = _parameter("stream", "query", "Read its events.", _BOOLEAN)
_AFTER: Final = _parameter(
    "starting_after", "query", "The number of the last event received.", _integer(minimum=0)
)
_MODEL: Final = _parameter("name", "path", "The model.", _text(), required=True)
_NEW: Final = _parameter("options", "query", "Options as for a new stream, as JSON.", _text())
_RESUMING: Final = [
    _parameter("after", "query", "The id of the last event received.", _POSITION),
    _parameter("Last-Event-ID", "header", "The same, as EventSource sends it.", _POSITION),
    _parameter("ticket", "query", "A ticket, for clients that cannot send headers.", _text()),
]


def _view(*left_out: str) -> list[Json]:
    """The options of a view as query parameters, in which entity and mode are one text each."""
    return [
        _parameter(
            name, "query", it.help, _text() if name in ("entity", "mode") else it.json_schema
        )
        for name, it in VIEW.items()
        if name not in left_out
    ]


class Route(NamedTuple):
    """One operation: `at` is its method and path, `bad` the status codes of its errors."""

    at: str
    name: str
    summary: str
    good: Good
    bad: str = ""
    parameters: list[Json] = []
    body: Json | None = None

    def operation(self) -> Json:
        """The OpenAPI operation object."""
        responses = {
            str(status): {"description": text, **({"content": content} if content else {})}
            for status, (text, content) in self.good.items()
        }
        for status in sorted(self.bad.split()):
            responses[status] = {"description": _STATUSES[status], "content": _json(_ERROR)}
        described: Json = {"operationId": self.name, "summary": self.summary}
        described |= {"responses": responses, "parameters": self.parameters}
        return described | ({"requestBody": self.body} if self.body else {})


def _routes() -> Iterator[Route]:
    """Every route. Its length: it is a table, a row for each."""
    created: Good = {201: ("The stream was created.", _ANY)}
    state: Good = {200: ("The state of the stream.", _json(_object(_STATE, *_STATE)))}
    events: Good = {200: ("The events.", _EVENTS)}
    to_read: Good = {**events, 204: ("The stream is closed; there are no more events.", None)}
    options = _body(_options(STREAM), required=False)
    bad = f"{_POSTED} 429 503"
    yield Route("POST /v1/streams", "create", "Create a stream", created, bad, [], options)
    one = "/v1/streams/{id}"
    yield Route(f"GET {one}", "status", "Get the state of a stream", state, _OWNED)
    deleted: Good = {204: ("The stream was deleted.", None)}
    yield Route(f"DELETE {one}", "delete", "Delete a stream", deleted, _OWNED)
    last: Good = {200: ("The number of the last record.", _ANY)}
    bad = f"{_POSTED} 404 405 409 429 503"
    yield Route(f"POST {one}/chunks", "append", "Append records", last, bad, _NUMBERED, _RECORDS)
    yield Route(f"POST {one}/close", "close", "Close a stream that is complete", state, _OWNED)
    yield Route(f"POST {one}/cancel", "cancel", "Cancel a stream", state, _OWNED)
    failure = _body(_FAILURE, required=False)
    bad = f"{_POSTED} 404 503"
    yield Route(f"POST {one}/fail", "fail", "Close with an error", state, bad, [], failure)
    bad = f"{_READABLE} 400 422"
    shown = [*_view(), *_RESUMING]
    yield Route(f"GET {one}/events", "events", "Read server-sent events", to_read, bad, shown)
    value: Good = {200: ("The value.", _ANY), 304: ("The value has not changed.", None)}
    yield Route(f"GET {one}/value", "value", "Get the value so far", value, _READABLE, [_TAG])
    shown = _view("every", "size", "format")
    for name in ("ai-sdk", "ag-ui"):
        for method, body in (("get", None), ("post", _body({}, required=False))):
            at, summary = f"{method.upper()} {one}/{name}", f"Read with a client for {name}"
            yield Route(at, f"{name}-{method}", summary, to_read, f"{bad} 413", shown, body)
    yield from _durable(f"{one}/durable", "by id", [*_OFFSETS, _TAG, _RESUMING[-1]])
    yield from _durable("/v1/durable/{path}", "by name", [*_OFFSETS, _TAG])
    there: Good = {201: ("The stream was created.", None), 200: ("It is there already.", None)}
    at, bad = "PUT /v1/durable/{path}", "400 401 403 409 413 429 503"
    yield Route(at, "durable-create", "Create a stream by name", there, bad, _LIFE, _BYTES)
    shown = [_NEW, *_view("every", "size")]
    at = "POST /v1/convert"
    yield Route(at, "convert", "Convert a body into events", events, _POSTED, shown, _RECORDS)
    ticket: Good = {201: ("The ticket.", _ANY)}
    asked = _body(_closed({"stream": _text()}, "stream"))
    bad = f"{_POSTED} 404 503"
    at = "POST /v1/tickets"
    yield Route(at, "ticket", "Create a ticket to read one stream", ticket, bad, [], asked)
    answer: Good = {200: ("The upstream's answer.", {**_ANY, **_EVENTS})}
    bad = "400 401 403 404 413 422 429 502 503 504"
    for at, name, body in (
        ("POST /v1/chat/completions", "relay", _CHAT),
        ("POST /v1/responses", "relay-response", _RESPONSE),
        ("POST /v1/messages", "relay-message", _MESSAGES),
    ):
        extra = [_WIRE, _RUN] if body is _CHAT else [_RUN]
        yield Route(at, name, "Relay to an upstream", answer, bad, extra, _body(body))
    at, shown = "GET /v1/responses/{id}", [_STREAMED, _AFTER]
    bad = f"{_READABLE} 400"
    yield Route(at, "retrieve-response", "Read a response again", answer, bad, shown)
    at, bad = "DELETE /v1/responses/{id}", f"{_OWNED} 502 504"
    gone: Good = {200: ("The response was deleted.", _ANY)}
    yield Route(at, "delete-response", "Delete a response", gone, bad)
    at = "POST /v1/responses/{id}/cancel"
    yield Route(at, "cancel-response", "Stop generating a response", answer, bad)
    models: Good = {200: ("The models of all upstreams.", _ANY)}
    bad = "401 404 502 504"
    yield Route("GET /v1/models", "list-models", "List the models", models, bad)
    at = "GET /v1/models/{name}"
    yield Route(at, "model", "Get one model", models, bad, [_MODEL])
    live: Good = {200: ("The process answers.", _ANY)}
    yield Route("GET /livez", "livez", "Check that the process answers", live)
    ready: Good = {200: ("The server is ready.", _ANY), 503: (_STATUSES["503"], _ANY)}
    for name in ("readyz", "healthz"):
        yield Route(f"GET /{name}", name, "Check that requests may be sent here", ready)
    metrics: Good = {200: ("The metrics.", {"text/plain": {"schema": _text()}})}
    yield Route("GET /metrics", "metrics", "Get metrics in Prometheus format", metrics, "401")


def _durable(path: str, how: str, reading: list[Json]) -> Iterator[Route]:
    """The routes of the Durable Streams protocol for one stream."""
    name = f"durable-{how.split()[-1]}"
    data: Good = {
        200: ("What comes after the offset.", {"*/*": {"schema": {}}}),
        204: ("There is nothing new.", None),
        304: ("The same as before.", None),
    }
    state: Good = {200: ("The state of the stream, in headers.", None)}
    done: Good = {
        200: ("The numbered request was accepted.", None),
        204: ("The body was appended, or is there already.", None),
    }
    deleted: Good = {204: ("The stream was deleted.", None)}
    bad = f"{_READABLE} 400 410"
    yield Route(f"GET {path}", f"{name}-read", f"Read a stream {how}", data, bad, reading)
    yield Route(f"HEAD {path}", f"{name}-head", f"Get the state {how}", state, f"{_OWNED} 400")
    sent = [_CLOSES, _ORDER, *_NUMBERED]
    bad = f"{_OWNED} 400 405 409 413 429"
    yield Route(f"POST {path}", f"{name}-append", f"Append {how}", done, bad, sent, _BYTES)
    yield Route(f"DELETE {path}", f"{name}-delete", f"Delete {how}", deleted, f"{_OWNED} 400")


def _demo_routes() -> Iterator[Route]:
    models: Good = {200: ("The list of models.", _ANY)}
    yield Route("GET /demo/models", "models", "List the simulated models", models, "401")
    created: Good = {201: ("The stream was created.", _ANY)}
    order = _body(_options(ORDER, "model"))
    bad = f"{_POSTED} 429 503"
    at, summary = "POST /demo/streams", "Let a simulated model write a stream"
    yield Route(at, "generate", summary, created, bad, [], order)


def document(root: str = "", *, demo: bool = False) -> Json:
    """The OpenAPI document; `root` is where the application is mounted."""
    paths: Json = {}
    for route in (*_routes(), *(_demo_routes() if demo else ())):
        method, path = route.at.split()
        named = {"{id}": _ID, "{path}": _PATH}
        shared = {"parameters": [it for name, it in named.items() if name in path]}
        paths.setdefault(path, shared)[method.lower()] = route.operation()
    return {
        "openapi": "3.1.0",
        "info": {"title": "jsonrill", "version": "1", "description": "Resumable JSON streams."},
        "servers": [{"url": root or "/"}],
        "security": [{"token": []}, {}],
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "paths": paths,
    }
