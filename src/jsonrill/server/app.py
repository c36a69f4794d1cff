"""The ASGI application: routes, and what stands before them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from ..demo.generations import Demo
from ..runs.config import Config
from ..runs.hub import Hub
from ..store import Store, StoreError, UnknownStream
from .access.guard import Account, Guard
from .access.permissions import hub_of, require_subject
from .http import convert, demo, pages, publish, relay, subscribe
from .http.openapi import document
from .problems import KNOWN, answer

Handler = Callable[[Request], Awaitable[Response]]


async def health(request: Request) -> Response:
    """GET /healthz: 200 while the store answers and the server is not stopping."""
    hub = hub_of(request)
    try:
        await hub.store.status("healthz")
    except UnknownStream:
        pass  # it has answered
    except StoreError:
        return JSONResponse({"status": "store unavailable"}, 503)
    if hub.stopping:
        return JSONResponse({"status": "stopping"}, 503)
    return JSONResponse({"status": "ok"})


async def metrics(request: Request) -> Response:
    """GET /metrics: for those who have a token, if there are tokens."""
    require_subject(request)
    return PlainTextResponse(hub_of(request).metrics.to_text())


async def openapi(request: Request) -> Response:
    demo = hub_of(request).config.demo
    return JSONResponse(document(request.scope.get("root_path", ""), demo=demo))


ROUTES: tuple[tuple[str, str, Handler], ...] = (
    ("POST", "/v1/streams", publish.create),
    ("GET", "/v1/streams/{id}", publish.status),
    ("DELETE", "/v1/streams/{id}", publish.delete),
    ("POST", "/v1/streams/{id}/chunks", publish.append),
    ("POST", "/v1/streams/{id}/close", publish.close),
    ("POST", "/v1/streams/{id}/cancel", publish.cancel),
    ("POST", "/v1/streams/{id}/fail", publish.fail),
    ("GET", "/v1/streams/{id}/value", publish.value),
    ("GET", "/v1/streams/{id}/events", subscribe.events),
    ("GET,POST", "/v1/streams/{id}/ai-sdk", subscribe.ai_sdk),
    ("GET,POST", "/v1/streams/{id}/ag-ui", subscribe.ag_ui),
    ("POST", "/v1/tickets", publish.ticket),
    ("POST", "/v1/convert", convert.convert),
    ("POST", "/v1/chat/completions", relay.chat_completions),
    ("GET", "/healthz", health),
    ("GET", "/metrics", metrics),
    ("GET", "/openapi.json", openapi),
)
PAGE: tuple[tuple[str, str, Handler], ...] = (
    ("GET", "/", pages.index),
    ("POST", "/recognise", pages.recognise),
    ("GET", "/web/{name:path}", pages.web),
)


def create_app(config: Config | None = None, *, store: Store | None = None) -> Starlette:
    """The server as an ASGI application, to run or to mount in another one.

    It opens its store with its lifespan, or, mounted where no lifespan is run, with the first
    request; `app.state.hub.close()` closes it then.
    """
    config = config or Config()
    hub = Hub(config, store)
    upstream = relay.Upstream(config)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await hub.open()
        try:
            yield
        finally:
            await hub.close()
            await upstream.close()

    before = [Middleware(Account, config, hub.metrics), Middleware(Guard, config)]
    if config.origins:
        before.append(_cors(config))
    handlers: dict[Any, Any] = dict.fromkeys(KNOWN, answer)
    app = Starlette(
        routes=_routes(config), middleware=before, exception_handlers=handlers, lifespan=lifespan
    )
    # A path is that of a route or of none: `/web` is not `/web/`.
    app.router.redirect_slashes = False
    app.state.hub = hub
    if config.page:
        app.state.pages = pages.load(config.demo)
    if config.demo:
        app.state.demo = Demo(hub)
    app.state.subjects = config.subjects()
    app.state.upstream = upstream
    return app


def _routes(config: Config) -> list[Route]:
    """One route per path, so that a wrong method is told from a wrong path."""
    by_path: dict[str, dict[str, Handler]] = {}
    page = PAGE if config.page else ()
    for methods, path, handler in (*ROUTES, *page, *(demo.ROUTES if config.demo else ())):
        for method in methods.split(","):
            by_path.setdefault(path, {})[method] = handler
    return [
        Route(path, _by_method(path, found), methods=[*found]) for path, found in by_path.items()
    ]


def _by_method(path: str, handlers: dict[str, Handler]) -> Handler:
    async def endpoint(request: Request) -> Response:
        request.scope["jsonrill.route"] = path
        await hub_of(request).open()
        method = "GET" if request.method == "HEAD" else request.method
        return await handlers[method](request)

    return endpoint


def _cors(config: Config) -> Middleware:
    return Middleware(
        CORSMiddleware,
        allow_origins=[*config.origins],
        allow_methods=["GET", "POST", "DELETE"],
        allow_headers=[
            "authorization",
            "content-type",
            "last-event-id",
            "producer-id",
            "producer-seq",
            "jsonrill-fragments",
        ],
        expose_headers=["location", "etag", "jsonrill-stream"],
    )
