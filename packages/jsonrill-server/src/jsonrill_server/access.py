"""Access control by token, host and origin; security headers, metrics and the access log."""

from __future__ import annotations

import hmac
import logging
import re
import time
from typing import Any, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .settings import Settings, parse_tokens
from .web import problem

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
SAFE: Final = ("GET", "HEAD", "OPTIONS")
METHODS: Final = (*SAFE, "POST", "PUT", "PATCH", "DELETE")
PROBES: Final = ("/livez", "/readyz", "/metrics")
CLIENT_GONE: Final = 499
# Bytes of a body that is not part of a stream.
OTHER_BYTES: Final = 1 << 20
access = logging.getLogger("jsonrill_server.access")


class Problem(HTTPException):
    """An error response."""

    def __init__(self, status: int, code: str, message: str, **headers: str) -> None:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        super().__init__(status, message, names)
        self.code = code


class Tokens:
    """The valid tokens; a server without tokens accepts every request."""

    def __init__(self, settings: Settings) -> None:
        self._owners = parse_tokens(settings.tokens)

    def owner(self, request: Request) -> str:
        """Return the owner of the request's token; 401 without a valid one."""
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        if not kind:  # Anthropic's clients use their own header
            token = request.headers.get("x-api-key", "")
        owner = None if self._owners else ""
        for candidate, name in self._owners.items():
            # Every token is compared, each in constant time.
            if hmac.compare_digest(candidate.encode(), token.strip().encode()):
                owner = name
        if owner is None or kind.lower() not in ("", "bearer"):
            realm = 'Bearer realm="jsonrill"'
            raise Problem(401, "TOKEN", "a bearer token is needed", www_authenticate=realm)
        return owner


class Metrics:
    """The metrics that `/metrics` shows."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        common: Any = {"namespace": "jsonrill", "registry": self.registry}
        self.requests = Counter(
            "requests", "Requests by route.", ("route", "method", "status"), **common
        )
        self.seconds = Histogram("request_seconds", "Time until a response ends.", **common)
        self.records = Counter("records", "Records that were appended by requests.", **common)
        self.readers = Gauge("readers", "Readers now.", **common)


class Guard:
    """Refuses unknown hosts (DNS rebinding), pages of other sites (CSRF) and large bodies.

    It adds headers to responses, counts and logs them.
    """

    def __init__(self, app: ASGIApp, settings: Settings, metrics: Metrics) -> None:
        self._app = app
        self._hosts = {host.lower() for host in settings.allowed_hosts}
        self._origins = {origin.lower() for origin in settings.origins}
        self._body_bytes = settings.body_bytes
        self._logs_access = settings.access_log
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status, size = time.monotonic(), 0, 0
        # Only bodies of records are read in pieces.
        limit = self._body_bytes if scope["path"].endswith("/events") else OTHER_BYTES

        async def receive_body() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > limit:
                raise Problem(413, "LIMIT_EXCEEDED", f"a body has at most {limit} bytes here")
            return message

        async def send_response(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(raw=message.setdefault("headers", []))
                path = scope["path"].removeprefix(scope.get("root_path", ""))
                is_page = path == "/" or path.startswith("/web/")
                headers.setdefault("cache-control", "no-cache" if is_page else "no-store")
                for header, value in HEADERS.items():
                    headers.setdefault(header, value)
            await send(message)

        refusal = self._refusal(scope)
        app = refusal or self._app
        try:
            await app(scope, receive_body, send_response)
        except (ClientDisconnect, OSError):
            status = status or CLIENT_GONE
        except Exception:
            status = 500
            raise
        finally:
            # The documented route, without ids; all unknown paths count as one.
            route = getattr(scope.get("route"), "path", "other")
            method = scope["method"] if scope["method"] in METHODS else "OTHER"
            seconds = time.monotonic() - started
            self._metrics.requests.labels(route, method, str(status)).inc()
            self._metrics.seconds.observe(seconds)
            if self._logs_access:
                access.info("%s %s %s %.3f s", method, route, status, seconds)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "").lower()
        name = re.sub(r":\d+$", "", host)
        # Probes send an IP address as the host, which does not identify the caller.
        if not ({"*", host, name} & self._hosts or scope["path"].endswith(PROBES)):
            return problem(421, "HOST", "this server does not answer to that name")
        if scope["method"] not in SAFE and not self._is_ours(headers, host):
            return problem(403, "ORIGIN", "pages of other sites may not call this server")
        return None

    def _is_ours(self, headers: Headers, host: str) -> bool:
        origin = headers.get("origin", "").lower()
        if not origin:
            return headers.get("sec-fetch-site", "none") in ("none", "same-origin")
        return origin in self._origins or origin.partition("://")[2] == host
