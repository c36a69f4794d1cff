"""The ASGI application: routes and middleware."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from jsonrill_server.tasks import stop

from .access.credentials import Credentials
from .access.guard import Guard
from .access.permissions import config_of, hub_of, require_subject
from .config import Config
from .demo.generations import Demo
from .http import demo, pages, publish, subscribe
from .http.openapi import document
from .http.producers import HEADERS as PRODUCER_HEADERS
from .problems import KNOWN, answer
from .runs.hub import Hub
from .runs.shutdown import before_the_end
from .store import Status, Store, open_store

log = logging.getLogger("jsonrill_server")
Handler = Callable[[Request], Awaitable[Response]]


async def live(request: Request) -> Response:
    """GET /livez: 200 while the process answers at all."""
    return JSONResponse({"status": "ok"})


async def ready(request: Request) -> Response:
    """GET /readyz: 200 while the store takes writes and the server is not stopping."""
    hub = hub_of(request)
    if hub.draining:
        return JSONResponse({"status": "stopping"}, 503)
    if not await hub.readiness.check():
        return JSONResponse({"status": "store unavailable"}, 503)
    return JSONResponse({"status": "ok"})


async def metrics(request: Request) -> Response:
    """GET /metrics: the metrics; with a token, if the server has tokens."""
    require_subject(request)
    return PlainTextResponse(hub_of(request).metrics.to_text())


async def openapi(request: Request) -> Response:
    demo = config_of(request).demo
    return JSONResponse(document(request.scope.get("root_path", ""), demo=demo))


ROUTES: tuple[tuple[str, str, Handler], ...] = (
    ("POST", "/v1/streams", publish.create),
    ("GET", "/v1/streams/{id}", publish.status),
    ("DELETE", "/v1/streams/{id}", publish.delete),
    ("POST", "/v1/streams/{id}/events", publish.append),
    ("POST", "/v1/streams/{id}/close", publish.close),
    ("POST", "/v1/streams/{id}/cancel", publish.cancel),
    ("GET", "/v1/streams/{id}/value", publish.value),
    ("GET", "/v1/streams/{id}/events", subscribe.events),
    ("GET,POST", "/v1/streams/{id}/ai-sdk", subscribe.ai_sdk),
    ("GET,POST", "/v1/streams/{id}/ag-ui", subscribe.ag_ui),
    ("GET", "/livez", live),
    ("GET", "/readyz", ready),
    ("GET", "/healthz", ready),
    ("GET", "/metrics", metrics),
    ("GET", "/openapi.json", openapi),
)
PAGE: tuple[tuple[str, str, Handler], ...] = (
    ("GET", "/", pages.index),
    ("GET", "/web/{name:path}", pages.web),
)


class _ServerHub(Hub):
    """Continues the demo's generations whose process is gone."""

    def __init__(self, config: Config, store: Store) -> None:
        super().__init__(config, store)
        self.simulated = Demo(self) if config.demo else None

    async def goes_on(self, stream: str, status: Status) -> bool:
        return self.simulated is not None and await self.simulated.take_over(stream, status)


def create_app(config: Config | None = None, *, store: Store | None = None) -> Starlette:
    """The server as an ASGI application, to run or to mount in another one.

    It opens its store with its lifespan, or, mounted where no lifespan is run, with the first
    request; `app.state.hub.close()` closes it then.
    """
    config = config or Config.from_environment()
    hub = _ServerHub(config, store or open_store(config.store, config.bounds()))

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await hub.open()
        watching = asyncio.create_task(hub.metrics.watch_loop())
        try:
            with before_the_end(config.drain, hub.drain, hub.stop):
                yield
        finally:
            await stop(watching)
            await hub.close()

    # By name: Starlette 0.37 passes `app` by its name, and then takes nothing by position.
    before = [Middleware(Guard, config=config, metrics=hub.metrics)]
    if config.origins:
        before.append(_cors(config))
    handlers: dict[Any, Any] = dict.fromkeys(KNOWN, answer)
    app = Starlette(
        routes=_routes(config),
        middleware=before,
        exception_handlers=handlers,
        lifespan=lifespan,
    )
    # A path is that of a route or of none: `/web` is not `/web/`.
    app.router.redirect_slashes = False
    app.state.hub = hub
    app.state.config = config
    if config.page:
        app.state.pages = pages.load(config.demo, config.in_memory)
    app.state.demo = hub.simulated
    app.state.credentials = Credentials(config)
    return app


def _routes(config: Config) -> list[Route]:
    """Return one route per path, so that a wrong method gets 405 and a wrong path 404."""
    by_path: dict[str, dict[str, Handler]] = {}
    more = [*(PAGE if config.page else ()), *(demo.ROUTES if config.demo else ())]
    for methods, path, handler in (*ROUTES, *more):
        for method in methods.split(","):
            by_path.setdefault(path, {})[method] = handler
    # The page's files are the only answers that are compressed: streams must not be held back.
    zipped = [Middleware(GZipMiddleware)]
    files = {path for _, path, _ in PAGE}
    return [
        Route(
            path,
            _by_method(path, handlers),
            methods=[*handlers],
            middleware=zipped if path in files else None,
        )
        for path, handlers in by_path.items()
    ]


def _by_method(path: str, handlers: dict[str, Handler]) -> Handler:
    async def endpoint(request: Request) -> Response:
        request.scope["jsonrill.route"] = path
        if path != "/livez":  # alive is also who cannot reach the store
            await hub_of(request).open()
        handler = handlers.get(request.method) or handlers["GET"]  # of a HEAD
        return await handler(request)

    return endpoint


def _cors(config: Config) -> Middleware:
    return Middleware(
        CORSMiddleware,
        allow_origins=[*config.origins],
        allow_methods=["GET", "HEAD", "POST", "DELETE"],
        allow_headers=[
            "authorization",
            "content-type",
            "last-event-id",
            "if-none-match",
            "x-api-key",
            "anthropic-version",
            "anthropic-beta",
            "x-request-id",
            *PRODUCER_HEADERS,
        ],
        expose_headers=["location", "etag", "x-request-id", *PRODUCER_HEADERS],
    )
