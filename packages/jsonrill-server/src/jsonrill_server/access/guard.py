"""The middleware before every route: checks of host and origin, access log, metrics.

Nothing here knows what a route does. Each handler checks a stream's owner (`permissions.py`).
"""

from __future__ import annotations

import ipaddress
import logging
import time
from typing import Any, Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..config import Config
from ..log_lines import new_id, request_id
from ..problems import CLIENT_GONE, Problem
from ..runs.metrics import Metrics

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
    "cache-control": "no-store",
}
SAFE: Final = {"GET", "HEAD", "OPTIONS"}
METHODS: Final = {*SAFE, "POST", "PUT", "PATCH", "DELETE"}
PROBES: Final = {"/livez", "/readyz", "/healthz", "/metrics"}
access = logging.getLogger("jsonrill_server.access")
log = logging.getLogger("jsonrill_server")


class Guard:
    """Refuses foreign hosts (DNS rebinding) and other sites' pages (CSRF); adds the headers.

    Each request is counted, and has one line in the log: its route and status, never what was sent.
    Its id, the client's or a new one, is in its answer and in all its log lines.
    """

    def __init__(self, app: ASGIApp, config: Config, metrics: Metrics) -> None:
        self._app = app
        self._hosts = {host.lower() for host in config.allowed_hosts}
        self._origins = {origin.lower() for origin in config.origins}
        self._logs = config.access_log
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = time.monotonic()
        seen: dict[str, Any] = {"status": 0, "bytes": 0}
        name = new_id(Headers(scope=scope).get("x-request-id", ""))
        request_id.set(name)

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                seen["status"] = message["status"]
                headers = MutableHeaders(raw=message.setdefault("headers", []))
                for header, value in (*HEADERS.items(), ("x-request-id", name)):
                    headers.setdefault(header, value)
            else:
                seen["bytes"] += len(message.get("body", b""))
            await send(message)

        problem = self._refusal(scope)
        app = self._app if problem is None else problem.response()
        try:
            await app(scope, receive, counted)
        except Exception as error:
            # A server raises OSError when it cannot send to the client any more.
            if isinstance(error, ClientDisconnect) or (
                isinstance(error, OSError) and seen["status"]
            ):
                seen["status"] = seen["status"] or CLIENT_GONE
            else:
                # The answer to this is made further out; it says no more than that.
                seen["status"] = 500
                log.exception("a request failed")
            raise
        finally:
            self._count(scope, seen, time.monotonic() - begun)

    def _count(self, scope: Scope, seen: dict[str, Any], seconds: float) -> None:
        # The route as it is written in the documentation, without ids; paths that are none are one.
        route = str(scope.get("jsonrill.route", "other"))
        method = scope["method"] if scope["method"] in METHODS else "OTHER"
        status = str(seen["status"])
        self._metrics.add("requests_total", route=route, method=method, status=status)
        self._metrics.observe("request_seconds", seconds, route=route)
        if self._logs:
            line = {"method": method, "route": route, **seen, "seconds": round(seconds, 4)}
            access.info("", extra={"fields": line})

    def _refusal(self, scope: Scope) -> Problem | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "").lower()
        name = _without_port(host)
        known = "*" in self._hosts or bool({host, name} & self._hosts)
        # A probe sends an address, or no name. An address cannot be rebound.
        if not known and not (_path(scope) in PROBES and (not host or _is_address(name))):
            return Problem(421, "HOST", "this server does not answer to that name")
        if scope["method"] not in SAFE and not self._is_ours(headers, host):
            return Problem(403, "ORIGIN", "pages of other sites may not call this server")
        return None

    def _is_ours(self, headers: Headers, host: str) -> bool:
        origin = headers.get("origin")
        if origin is None:
            return headers.get("sec-fetch-site", "none") in ("none", "same-origin")
        return origin.lower() in self._origins or _netloc(origin) == host


def _path(scope: Scope) -> str:
    """The path below where the application is mounted."""
    path, root = str(scope["path"]), str(scope.get("root_path", ""))
    return path.removeprefix(root)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() else host


def _netloc(origin: str) -> str:
    try:
        return urlsplit(origin.lower()).netloc
    except ValueError:
        return ""
