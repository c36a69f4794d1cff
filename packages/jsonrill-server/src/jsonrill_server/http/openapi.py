"""Builds the server's OpenAPI document from a table of routes.

Options come from the table that the server checks them with, so that each is described once. All
errors have one form, so that a route lists its other responses alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from jsonrill.partial_stream.stream import MODES

from ..demo.generations import Order
from ..runs.options import FORMATS, STREAM
from .publish import Ending

Json = dict[str, Any]


def _object(properties: Json, *required: str, **more: Any) -> Json:
    """An object schema; `required` names the properties that must be there."""
    return {"type": "object", "required": [*required], "properties": properties, **more}


def _content(schema: Json, *kinds: str) -> Json:
    return {kind: {"schema": schema} for kind in kinds or ("application/json",)}


def _matching(pattern: str) -> Json:
    return {"type": "string", "pattern": pattern}


def _body(schema: Json, *, required: bool = True) -> Json:
    return {"required": required, "content": _content(schema)}


_TEXT: Final[Json] = {"type": "string"}
_BOOLEAN: Final[Json] = {"type": "boolean"}
_COUNT: Final[Json] = {"type": "integer", "minimum": 0, "maximum": 2**53 - 1}
_ANY: Final = _content({})
_ERROR: Final = _object({"code": {"type": ["string", "null"]}, "message": _TEXT}, "code", "message")
# One event: its data is JSON, or [DONE] in the event CLOSE.
_EVENT: Final = _object({"data": _TEXT, "id": _TEXT, "event": _TEXT}, "data")
_EVENTS: Final = _content(_EVENT, "text/event-stream")
_RECORDS: Final[Json] = {
    "required": True,
    "content": {
        **_ANY,
        **_content(_TEXT, "text/plain", "application/x-ndjson", "text/event-stream"),
    },
}
_ASKED: Final = {"model": _TEXT, "stream": _BOOLEAN}
_CHAT: Final = _object({**_ASKED, "messages": {"type": "array"}})
_MESSAGES: Final = _object({**_CHAT["properties"], "max_tokens": {"type": "integer", "minimum": 1}})
_RESPONSE: Final = _object({**_ASKED, "input": {}})
_POSITION: Final = _matching(r"^[0-9]{1,15}(\.[0-9]{1,9})?(-[0-9a-f]{8})?$")
_STATE: Final = _object(
    {
        "id": _TEXT,
        "input": _TEXT,
        "last": _COUNT,
        "closed": _BOOLEAN,
        "bytes": _COUNT,
        "options": {"type": "object"},
    },
    *("id", "input", "last", "closed", "bytes", "options"),
)

# Every parameter by its name: where it is, what it is, and its schema.
_PARAMETERS: Final[dict[str, tuple[str, str, Json]]] = {
    "id": ("path", "The id that creating it gave.", _matching("^[A-Za-z0-9_-]{1,64}$")),
    "format": ("query", "What the events are.", {"type": "string", "enum": [*FORMATS]}),
    "mode": ("query", "When updates are sent.", {"type": "string", "enum": [*MODES]}),
    "entity": ("query", "What of the document is an entity: a key, or a pattern.", _TEXT),
    "send": ("query", "What an update has.", {"type": "string", "enum": ["data", "delta", "both"]}),
    "after": ("query", "The id of the last event received.", _POSITION),
    "Last-Event-ID": ("header", "The same, as EventSource sends it.", _POSITION),
    "If-None-Match": ("header", "The ETag of the value you have.", _TEXT),
    "Producer-Id": ("header", "A producer that numbers its requests.", _TEXT),
    "Producer-Epoch": ("header", "Raised when the producer is restarted.", _COUNT),
    "Producer-Seq": ("header", "Number of the request in its epoch, from 0.", _COUNT),
}
_VIEW: Final = "mode entity send"
_READING: Final = f"format {_VIEW} after Last-Event-ID"
_NUMBERED: Final = "Producer-Id Producer-Epoch Producer-Seq"


def _named(names: str) -> list[Json]:
    """Parameters in the form of OpenAPI."""
    return [
        {"name": name, "in": place, "description": text, "schema": schema, **_needed(place)}
        for name in names.split()
        for place, text, schema in [_PARAMETERS[name]]
    ]


def _needed(place: str) -> Json:
    return {"required": True} if place == "path" else {}


def _route(
    summary: str,
    good: Mapping[int, Json | None],
    parameters: str = "",
    body: Json | None = None,
) -> Json:
    """One operation; `good` has the content of its responses that are no errors."""
    responses: Json = {
        str(status): {
            "description": HTTPStatus(status).phrase,
            **({"content": content} if content else {}),
        }
        for status, content in good.items()
    }
    error = _content(_object({"error": _ERROR}, "error"))
    responses["default"] = {"description": "An error.", "content": error}
    described = {"summary": summary, "responses": responses, "parameters": _named(parameters)}
    return described | ({"requestBody": body} if body else {})


def _routes() -> dict[str, Json]:
    """Every route by its method and path. Its length: it is a table, a row for each."""
    new = STREAM.json_schema()
    state = {200: _content(_STATE)}
    to_read = {200: _EVENTS, 204: None}
    one = "/v1/streams/{id}"
    sent = _body({}, required=False)
    ready = {200: _ANY, 503: _ANY}
    return {
        "POST /v1/streams": _route("Create a stream", {201: _ANY}, body=_body(new, required=False)),
        f"GET {one}": _route("Get the state of a stream", state),
        f"DELETE {one}": _route("Delete a stream", {204: None}),
        f"POST {one}/events": _route("Append records", {200: _ANY}, _NUMBERED, _RECORDS),
        f"POST {one}/close": _route(
            "Close a stream", state, body=_body(Ending.model_json_schema(), required=False)
        ),
        f"POST {one}/cancel": _route("Cancel a stream", state),
        f"GET {one}/events": _route("Read server-sent events", to_read, _READING),
        f"GET {one}/value": _route("Get the value so far", {200: _ANY, 304: None}, "If-None-Match"),
        f"GET {one}/ai-sdk": _route("Resume with the AI SDK", to_read, _VIEW),
        f"POST {one}/ai-sdk": _route("Read with the AI SDK", to_read, _VIEW, sent),
        f"GET {one}/ag-ui": _route("Read AG-UI events", to_read, _VIEW),
        f"POST {one}/ag-ui": _route("Read with a client of AG-UI", to_read, _VIEW, sent),
        "GET /livez": _route("Check that the process answers", {200: _ANY}),
        "GET /readyz": _route("Check that requests may be sent here", ready),
        "GET /healthz": _route("Check that requests may be sent here", ready),
        "GET /metrics": _route(
            "Get metrics in Prometheus format", {200: _content(_TEXT, "text/plain")}
        ),
    }


def _demo_routes() -> dict[str, Json]:
    answer = {200: {**_ANY, **_EVENTS}}
    return {
        "GET /v1/models": _route("List the simulated models, as OpenAI does", {200: _ANY}),
        "POST /v1/chat/completions": _route("Create a chat completion", answer, body=_body(_CHAT)),
        "POST /v1/responses": _route("Create a response", answer, body=_body(_RESPONSE)),
        "POST /v1/messages": _route("Create a message", answer, body=_body(_MESSAGES)),
        "GET /demo/models": _route("List the simulated models", {200: _ANY}),
        "POST /demo/streams": _route(
            "Let a simulated model write a stream",
            {201: _ANY},
            body=_body(Order.model_json_schema()),
        ),
    }


def document(root: str = "", *, demo: bool = False) -> Json:
    """The OpenAPI document; `root` is where the application is mounted."""
    paths: Json = {}
    for at, route in (_routes() | (_demo_routes() if demo else {})).items():
        method, path = at.split()
        shared = _named(" ".join(re.findall(r"\{(\w+)\}", path)))
        operation = {"operationId": re.sub(r"\W+", "-", at.lower()).strip("-"), **route}
        paths.setdefault(path, {"parameters": shared})[method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {"title": "jsonrill", "version": "1", "description": "Resumable JSON streams."},
        "servers": [{"url": root or "/"}],
        "security": [{"token": []}, {}],
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "paths": paths,
    }
