"""Permissions on a stream: its owner may do everything, a ticket or pass allows reading.

Every handler that touches a stream goes through `owned` or `readable`, on every request. The stream
of another owner answers as if it did not exist.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from ..config import Config
from ..problems import Problem
from ..runs.hub import Hub
from ..store import Status, UnknownStream
from . import tickets
from .credentials import Credentials, Holder

_STREAM: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
# How long a pass is good beyond two connections of the longest kind.
PASS_SECONDS: Final = 600.0
_ASK: Final = {"www-authenticate": 'Bearer realm="jsonrill"'}


class Allowed(NamedTuple):
    """A stream and who may use it; `cookie` is a pass that the response sets."""

    stream: str
    status: Status
    holder: Holder | None = None
    cookie: str | None = None

    def hand_out(self, request: Request, response: Response) -> None:
        if self.cookie is not None:
            response.set_cookie(
                cookie_name(self.stream),
                self.cookie,
                path=request.url.path,
                httponly=True,
                samesite="strict",
                secure=request.url.scheme == "https",
            )


def hub_of(request: Request) -> Hub:
    hub: Hub = request.app.state.hub
    return hub


def config_of(request: Request) -> Config:
    config: Config = request.app.state.config
    return config


def credentials_of(request: Request) -> Credentials:
    credentials: Credentials = request.app.state.credentials
    return credentials


def holder_of(request: Request) -> Holder | None:
    """Return the holder of the request's bearer token; None if it is missing or unknown."""
    credentials = credentials_of(request)
    if (everybody := credentials.everybody) is not None:
        return everybody
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    if not kind:  # Anthropic's clients have a header of their own
        return credentials.of_token(request.headers.get("x-api-key", "").strip())
    holder = credentials.of_token(token.strip())
    return holder if kind.lower() == "bearer" else None


def is_revoked(request: Request, holder: Holder | None) -> bool:
    """True if the token behind this permission is no longer valid."""
    return holder is not None and credentials_of(request).holder(holder.mark) is None


def require_holder(request: Request) -> Holder:
    """Return the holder of the request's token; 401 without a valid one."""
    holder = holder_of(request)
    if holder is None:
        raise Problem(401, "TOKEN", "a bearer token is needed", _ASK)
    return holder


def require_subject(request: Request) -> str:
    """Return the name of the token's holder; 401 without a valid token."""
    return require_holder(request).name


async def owned(request: Request) -> Allowed:
    """Return the stream in the path if the client owns it; else 401 or 404."""
    return await _found(request, require_holder(request))


async def readable(request: Request) -> Allowed:
    """Return the stream in the path if the client may read it; else 401 or 404."""
    stream = str(request.path_params["id"])
    holder = holder_of(request)
    if holder is not None:
        return await _found(request, holder)
    credentials = credentials_of(request)
    cookie = request.cookies.get(cookie_name(stream), "")
    permission = tickets.read(credentials.keys, cookie, "pass", stream)
    permission = permission or await _used_ticket(request, stream)
    holder = credentials.holder(permission.mark) if permission is not None else None
    if holder is None:
        raise Problem(401, "TOKEN", "a bearer token or an unused ticket is needed", _ASK)
    allowed = await _found(request, holder)
    # A new pass with every answer, good for longer than a connection: it serves to reconnect.
    max_seconds = 2 * config_of(request).max_connection + PASS_SECONDS
    new = tickets.issue(credentials.keys(holder.mark)[0], "pass", stream, holder.mark, max_seconds)
    return allowed._replace(cookie=new)


async def _used_ticket(request: Request, stream: str) -> tickets.Permission | None:
    """Return the ticket in the URL if it was not used before."""
    hub, text = hub_of(request), request.query_params.get("ticket", "")
    permission = tickets.read(credentials_of(request).keys, text, "ticket", stream)
    if permission is None or not await hub.store.once(
        permission.name, config_of(request).ticket_seconds
    ):
        return None
    return permission


async def _found(request: Request, holder: Holder) -> Allowed:
    stream = str(request.path_params["id"])
    if not _STREAM.fullmatch(stream):
        raise UnknownStream(stream)
    status = await hub_of(request).status(stream)
    if status.owner != holder.name:
        raise UnknownStream(stream)
    return Allowed(stream, status, holder)


def cookie_name(stream: str) -> str:
    return f"jsonrill_{stream}"
