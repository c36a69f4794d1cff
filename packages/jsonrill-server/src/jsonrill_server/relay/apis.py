"""The APIs that are relayed, and how each reports an error."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from jsonrill.providers.fields import as_object, as_text
from jsonrill.testing.answers import ANTHROPIC_ERRORS

from ..access.permissions import hub_of
from ..problems import KNOWN, Problem, problem_of
from ..runs.hub import Hub
from ..runs.records import End, from_entry
from .upstream import UpstreamFailed, json_object

log = logging.getLogger("jsonrill_server")
Json = dict[str, Any]
Handler = Callable[[Request], Awaitable[Response]]
# Status, message and code of an error → the body of its response.
Form = Callable[[int, str, str], Json]


@dataclass(frozen=True, slots=True)
class Api:
    """`path` is that of its requests, `provider` reads its events, `format` shows them."""

    name: str
    path: str
    provider: str
    format: str
    error: Form


def openai_error(status: int, message: str, code: str) -> Json:
    kind = "invalid_request_error" if status < 500 else "upstream_error"
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def anthropic_error(status: int, message: str, code: str) -> Json:
    kind = ANTHROPIC_ERRORS.get(status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": message, "code": code}}


CHAT: Final = Api("chat", "/chat/completions", "openai_chat", "openai", openai_error)
RESPONSES: Final = Api("responses", "/responses", "openai_responses", "provider", openai_error)
MESSAGES: Final = Api("messages", "/messages", "anthropic", "provider", anthropic_error)


def is_anthropic(request: Request) -> bool:
    return "anthropic-version" in request.headers


def in_form(form: Form | None = None) -> Callable[[Handler], Handler]:
    """Decorate a handler so that whatever refuses its request is reported in an API's form.

    Without a form it is that of the client that asks.
    """

    def decorate(handler: Handler) -> Handler:
        @wraps(handler)
        async def answered(request: Request) -> Response:
            try:
                return await handler(request)
            except KNOWN as error:
                problem = problem_of(request, error)
                if problem is None:
                    raise
                if isinstance(problem, UpstreamFailed):
                    note(hub_of(request), problem.code, problem.message)
                shown = form or (anthropic_error if is_anthropic(request) else openai_error)
                body = shown(problem.status, problem.message, problem.code)
                return JSONResponse(body, problem.status, problem.headers)

        return answered

    return decorate


async def logged(hub: Hub, stream: str, last: int) -> AsyncIterator[Json | End]:
    """The events in the log of a run, and its end, up to the record with the number `last`."""
    if last:
        async for batch in hub.store.read(stream):
            for entry in map(from_entry, batch):
                yield entry if isinstance(entry, End) else json_object(entry.body) or {}
            if batch[-1].seq >= last:
                return


def response_id(event: Json) -> str:
    """The upstream's id of the response that an event is about; "" if it does not say so."""
    return as_text(as_object(event.get("response")).get("id")) or ""


def no_model(name: Any) -> Problem:
    message = f"the model {name!r} does not exist: no upstream has it"
    return Problem(404, "model_not_found", message)


def note(hub: Hub, error: str, message: str) -> None:
    """Count and log an error of an upstream."""
    hub.metrics.add("upstream_errors_total", error=error)
    log.warning("the upstream failed: %s", message)
