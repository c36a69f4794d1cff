"""What stands before every route: which hosts and origins are answered, and who is asking.

Nothing here knows what a route does. A stream's owner is checked in `access.py` by each handler.
"""

from __future__ import annotations

import hmac
import json
import logging
import time
from typing import Any, Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...runs.config import Config
from ...runs.metrics import Metrics
from ..problems import Problem

CSP: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS: Final = {
    "content-security-policy": CSP,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
SAFE: Final = {"GET", "HEAD", "OPTIONS"}
access = logging.getLogger("jsonrill.access")


class Guard:
    """Refuses foreign hosts (DNS rebinding) and other sites' pages (CSRF); adds the headers."""

    def __init__(self, app: ASGIApp, config: Config) -> None:
        self._app = app
        self._hosts = {host.lower() for host in config.allowed_hosts}
        self._origins = {origin.lower() for origin in config.origins}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=message.setdefault("headers", []))
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("cache-control", "no-store")
            await send(message)

        problem = self._refusal(scope)
        if problem is not None:
            await problem.response()(scope, receive, guarded)
        else:
            await self._app(scope, receive, guarded)

    def _refusal(self, scope: Scope) -> Problem | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "").lower()
        if "*" not in self._hosts and not {host, _without_port(host)} & self._hosts:
            return Problem(421, "HOST", "this server does not answer to that name")
        if scope["method"] not in SAFE and not self._is_ours(headers, host):
            return Problem(403, "ORIGIN", "pages of other sites may not call this server")
        return None

    def _is_ours(self, headers: Headers, host: str) -> bool:
        origin = headers.get("origin")
        if origin is None:
            return headers.get("sec-fetch-site", "none") in ("none", "same-origin")
        return origin.lower() in self._origins or _netloc(origin) == host


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() else host


def _netloc(origin: str) -> str:
    try:
        return urlsplit(origin.lower()).netloc
    except ValueError:
        return ""


class Account:
    """One line of JSON per request and the counters: routes and statuses, never what was sent."""

    def __init__(self, app: ASGIApp, config: Config, metrics: Metrics) -> None:
        self._app = app
        self._logs = config.access_log
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = time.monotonic()
        seen: dict[str, Any] = {"status": 0, "bytes": 0}

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                seen["status"] = message["status"]
            else:
                seen["bytes"] += len(message.get("body", b""))
            await send(message)

        try:
            await self._app(scope, receive, counted)
        finally:
            self._count(scope, seen, time.monotonic() - begun)

    def _count(self, scope: Scope, seen: dict[str, Any], seconds: float) -> None:
        route = _route(scope)
        status = str(seen["status"])
        self._metrics.add(
            "requests_total", route=route, method=_method(scope["method"]), status=status
        )
        self._metrics.add("request_seconds_total", seconds, route=route)
        if self._logs:
            line = {"method": _method(scope["method"]), "route": route, **seen}
            access.info(json.dumps({**line, "seconds": round(seconds, 4)}))


def _route(scope: Scope) -> str:
    """The route as it is written in the documentation, without ids; paths that are none are one."""
    return str(scope.get("jsonrill.route", "other"))


def _method(method: str) -> str:
    return method if method in {*SAFE, "POST", "PUT", "PATCH", "DELETE"} else "OTHER"


def subject_of(request: Request, subjects: dict[str, str]) -> str | None:
    """Who is asking, by bearer token; None if nobody known. Without tokens everybody is `""`."""
    if not subjects:
        return ""
    kind, _, given = request.headers.get("authorization", "").partition(" ")
    found = None
    for token, subject in subjects.items():
        # Every token is compared, each in constant time.
        if hmac.compare_digest(token.encode(), given.strip().encode()):
            found = subject
    return found if kind.lower() == "bearer" else None
