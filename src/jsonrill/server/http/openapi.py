"""The OpenAPI document of the server, as it is served. Options come from the table that they
are checked against."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ...demo.generations import ORDER
from ...options import Option
from ...runs.options import STREAM, VIEW

Json = dict[str, Any]

_TEXT: Final[Json] = {"type": "string"}
_ID: Final[Json] = {
    "name": "id",
    "in": "path",
    "required": True,
    "description": "The stream's id, as its creation told it.",
    "schema": {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"},
}
_POSITION: Final = r"^[0-9]{1,15}(\.[0-9]{1,9}(\.[1-9][0-9]{0,8})?)?$"
_PRODUCER_ID: Final[Json] = {
    "name": "Producer-Id",
    "in": "header",
    "description": "Who publishes; one producer at a time holds a stream.",
    "schema": {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$"},
}


def _query(name: str, description: str, schema: Json) -> Json:
    return {"name": name, "in": "query", "description": description, "schema": schema}


def _view(*, resumes: bool = True, formats: bool = True) -> list[Json]:
    only_resuming = () if resumes else ("every", "size")
    found = [
        # In a query an entity is one text.
        _query(option.name, option.help, _TEXT if option.name == "entity" else option.json_schema)
        for option in VIEW.values()
        if option.name not in only_resuming and (formats or option.name != "format")
    ]
    if resumes:
        position = {"type": "string", "pattern": _POSITION}
        found += [
            _query("after", "The last event id that was received.", position),
            _query("ticket", "A ticket, for clients without headers.", _TEXT),
            {"name": "Last-Event-ID", "in": "header", "schema": position},
        ]
    return found


_STRING: Final[Json] = {"type": "string"}
_BOOLEAN: Final[Json] = {"type": "boolean"}


def _options(table: dict[str, Option]) -> Json:
    properties = {name: option.json_schema for name, option in table.items()}
    return {"type": "object", "additionalProperties": False, "properties": properties}


_ERROR: Final[Json] = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {"code": {"type": ["string", "null"]}, "message": _STRING},
        },
        "last": {"type": "integer"},
    },
}
_STATE: Final[Json] = {
    "type": "object",
    "required": ["id", "input", "last", "closed", "bytes", "many"],
    "properties": {
        "id": _STRING,
        "input": {"type": "string", "enum": [*STREAM["input"].choices]},
        "last": {"type": "integer", "minimum": 0},
        "closed": _BOOLEAN,
        "bytes": {"type": "integer", "minimum": 0},
        "many": _BOOLEAN,
    },
}
_STATUSES: Final = {
    400: "What was sent cannot be read.",
    401: "A token or ticket is needed.",
    403: "Pages of other sites may not do this.",
    404: "There is no such stream, or it is somebody else's.",
    409: "The stream has ended, is held by another producer, or is not that long.",
    413: "Too large.",
    415: "A media type that does not fit.",
    422: "An option that is unknown or has a wrong value.",
    429: "Too many.",
    502: "The upstream failed.",
    503: "The store cannot be reached.",
    504: "The upstream is too slow.",
}


def _json(schema: Json) -> Json:
    return {"application/json": {"schema": schema}}


def _answers(good: Mapping[int, tuple[str, Json | None]], *bad: int) -> Json:
    answers: Json = {}
    for status, (text, content) in good.items():
        answers[str(status)] = {"description": text, **({"content": content} if content else {})}
    for status in bad:
        answers[str(status)] = {"description": _STATUSES[status], "content": _json(_ERROR)}
    return answers


# One event: its data is JSON, or [DONE] in the event CLOSE.
_EVENTS: Final = {
    "text/event-stream": {
        "schema": {
            "type": "object",
            "required": ["data"],
            "properties": {"data": _STRING, "id": _STRING, "event": _STRING},
        }
    }
}
_ANY: Final[Json] = {"application/json": {"schema": {}}}
_RECORDS: Final[Json] = {
    "required": True,
    "content": {
        "text/plain": {"schema": _STRING},
        "application/json": {"schema": {}},
        "application/x-ndjson": {"schema": _STRING},
        "text/event-stream": {"schema": _STRING},
    },
}


def _operation(name: str, summary: str, answers: Json, **more: Any) -> Json:
    return {"operationId": name, "summary": summary, "responses": answers, **more}


def document(root: str = "", *, demo: bool = False) -> Json:
    """The document; `root` is where the application is mounted."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "jsonrill", "version": "1", "description": "Resumable JSON streams."},
        "servers": [{"url": root or "/"}],
        "security": [{"token": []}, {}],
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "paths": {**_publishing(), **_reading(), **_others(), **(_demo() if demo else {})},
    }


def _publishing() -> Json:
    state = {200: ("How the stream is now.", _json(_STATE))}
    owned = (401, 403, 404, 503)
    return {
        "/v1/streams": {
            "post": _operation(
                "create",
                "Make a stream",
                _answers({201: ("Made.", _ANY)}, 400, 401, 403, 413, 415, 422, 429, 503),
                requestBody={"content": _json(_options(STREAM))},
                parameters=[_PRODUCER_ID],
            )
        },
        "/v1/streams/{id}": {
            "parameters": [_ID],
            "get": _operation("status", "How far a stream is", _answers(state, *owned)),
            "delete": _operation(
                "delete", "Forget a stream", _answers({204: ("Forgotten.", None)}, *owned)
            ),
        },
        "/v1/streams/{id}/chunks": {
            "parameters": [_ID],
            "post": _operation(
                "append",
                "Add records",
                _answers({200: ("The last record.", _ANY)}, 400, *owned, 409, 413, 415, 422, 429),
                requestBody=_RECORDS,
                parameters=[
                    _PRODUCER_ID,
                    {
                        "name": "Producer-Seq",
                        "in": "header",
                        "description": "Number of the first record; makes a retry safe.",
                        "schema": {"type": "integer", "minimum": 1, "maximum": 99_999_999_999},
                    },
                ],
            ),
        },
        "/v1/streams/{id}/close": {
            "parameters": [_ID],
            "post": _operation("close", "The stream is complete", _answers(state, *owned)),
        },
        "/v1/streams/{id}/cancel": {
            "parameters": [_ID],
            "post": _operation("cancel", "Nobody wants the rest", _answers(state, *owned)),
        },
        "/v1/streams/{id}/fail": {
            "parameters": [_ID],
            "post": _operation(
                "fail",
                "The producer cannot go on",
                _answers(state, 400, *owned, 413, 415, 422),
                requestBody={
                    "content": _json(
                        {
                            "type": "object",
                            "additionalProperties": False,
                            "properties": {
                                "code": {"type": "string", "minLength": 1, "maxLength": 64},
                                "message": _STRING,
                            },
                        }
                    )
                },
            ),
        },
    }


def _reading() -> Json:
    readable = (401, 403, 404, 429, 503)
    events = {200: ("Events.", _EVENTS), 204: ("Nothing more will come.", None)}
    anything: Json = {"content": {"application/json": {"schema": {}}}}
    dialects: Json = {}
    for name in ("ai-sdk", "ag-ui"):
        dialects[f"/v1/streams/{{id}}/{name}"] = {"parameters": [_ID]}
        for method in ("get", "post"):
            more = {"requestBody": anything} if method == "post" else {}
            dialects[f"/v1/streams/{{id}}/{name}"][method] = _operation(
                f"{name}-{method}",
                f"A stream for {name} clients",
                _answers(events, 400, *readable, 413, 422),
                parameters=_view(resumes=False, formats=False),
                **more,
            )
    tag = {"name": "If-None-Match", "in": "header", "schema": _STRING}
    return {
        "/v1/streams/{id}/events": {
            "parameters": [_ID],
            "get": _operation(
                "events",
                "A stream as server-sent events",
                _answers(events, 400, *readable, 422),
                parameters=_view(),
            ),
        },
        "/v1/streams/{id}/value": {
            "parameters": [_ID],
            "get": _operation(
                "value",
                "What a stream says so far",
                _answers({200: ("The value.", _ANY), 304: ("As before.", None)}, *readable),
                parameters=[tag],
            ),
        },
        **dialects,
    }


def _others() -> Json:
    options = _query("options", "Options as for a new stream, as JSON.", _TEXT)
    chat = {
        "type": "object",
        "properties": {"model": _STRING, "messages": {"type": "array"}, "stream": _BOOLEAN},
    }
    ticket = {"type": "object", "required": ["stream"], "properties": {"stream": _STRING}}
    plain = {"text/plain": {"schema": _STRING}}
    wire = {
        "name": "Jsonrill-Fragments",
        "in": "header",
        "description": "Add json_update_fragments to tool-call deltas.",
        "schema": {"type": "string", "enum": [*VIEW["wire"].choices]},
    }
    return {
        "/v1/convert": {
            "post": _operation(
                "convert",
                "A body in, events out",
                _answers({200: ("Events.", _EVENTS)}, 400, 401, 403, 413, 415, 422),
                parameters=[options, *_view(resumes=False)],
                requestBody=_RECORDS,
            )
        },
        "/v1/tickets": {
            "post": _operation(
                "ticket",
                "A ticket to read one stream",
                _answers({201: ("Made.", _ANY)}, 400, 401, 403, 404, 413, 415, 422, 503),
                requestBody={
                    "required": True,
                    "content": _json({**ticket, "additionalProperties": False}),
                },
            )
        },
        "/v1/chat/completions": {
            "post": _operation(
                "relay",
                "Relay to the upstream",
                _answers(
                    {200: ("The upstream's answer.", {**_ANY, **_EVENTS})},
                    *(400, 401, 403, 404, 413, 422, 429, 502, 503, 504),
                ),
                parameters=[wire],
                requestBody={"required": True, "content": _json(chat)},
            )
        },
        "/healthz": {
            "get": _operation(
                "health",
                "Whether it works",
                _answers({200: ("It does.", _ANY), 503: ("Not now.", _ANY)}),
            )
        },
        "/metrics": {
            "get": _operation(
                "metrics", "Numbers", _answers({200: ("Prometheus text.", plain)}, 401)
            )
        },
    }


def _demo() -> Json:
    order = {**_options(ORDER), "required": ["model"]}
    return {
        "/demo/models": {
            "get": _operation(
                "models", "The simulated models", _answers({200: ("They.", _ANY)}, 401)
            )
        },
        "/demo/streams": {
            "post": _operation(
                "generate",
                "Let a simulated model write a stream",
                _answers({201: ("Made.", _ANY)}, 400, 401, 403, 413, 415, 422, 429, 503),
                requestBody={"required": True, "content": _json(order)},
            )
        },
    }
