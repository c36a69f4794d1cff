"""Who may do what with a stream: its owner everything, a ticket or pass reading alone.

Every handler that touches a stream goes through `owned` or `readable`, on every request. A stream
of somebody else does not exist.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from ...runs.hub import Hub
from ...store import Status, UnknownStream
from ..problems import Problem
from . import tickets
from .credentials import Credentials, Holder

_STREAM: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
# How long a pass is good beyond two connections of the longest kind.
PASS_SECONDS: Final = 600.0
_ASK: Final = {"www-authenticate": 'Bearer realm="jsonrill"'}


class Allowed(NamedTuple):
    """A stream that may be touched, and by whom; `cookie` is a pass for the answer to set."""

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


def credentials_of(request: Request) -> Credentials:
    found: Credentials = request.app.state.credentials
    return found


def holder_of(request: Request) -> Holder | None:
    """Who is asking, by bearer token; None if nobody known."""
    credentials = credentials_of(request)
    if (everybody := credentials.everybody) is not None:
        return everybody
    kind, _, given = request.headers.get("authorization", "").partition(" ")
    found = credentials.of_token(given.strip())
    return found if kind.lower() == "bearer" else None


def is_revoked(request: Request, holder: Holder | None) -> bool:
    """True if the token that something was allowed by holds no more."""
    return holder is not None and credentials_of(request).holder(holder.mark) is None


def require_holder(request: Request) -> Holder:
    """Who is asking, by token; 401 for anybody else."""
    holder = holder_of(request)
    if holder is None:
        raise Problem(401, "TOKEN", "a bearer token is needed", _ASK)
    return holder


def require_subject(request: Request) -> str:
    """The name of who is asking, by token; 401 for anybody else."""
    return require_holder(request).name


async def owned(request: Request) -> Allowed:
    """The stream in the path, if whoever asks owns it."""
    return await _found(request, require_holder(request))


async def readable(request: Request) -> Allowed:
    """The stream in the path, if whoever asks may read it."""
    stream = str(request.path_params["id"])
    holder = holder_of(request)
    if holder is not None:
        return await _found(request, holder)
    credentials = credentials_of(request)
    cookie = request.cookies.get(cookie_name(stream), "")
    given = tickets.read(credentials.keys, cookie, "pass", stream)
    given = given or await _used_ticket(request, stream)
    holder = credentials.holder(given.mark) if given is not None else None
    if holder is None:
        raise Problem(401, "TOKEN", "a bearer token or an unused ticket is needed", _ASK)
    allowed = await _found(request, holder)
    # A new pass with every answer, good for longer than a connection: it serves to reconnect.
    lasts = 2 * hub_of(request).config.max_connection + PASS_SECONDS
    new = tickets.issue(credentials.keys(holder.mark)[0], "pass", stream, holder.mark, lasts)
    return allowed._replace(cookie=new)


async def _used_ticket(request: Request, stream: str) -> tickets.Permission | None:
    """The ticket in the URL, if it was not used before."""
    hub, text = hub_of(request), request.query_params.get("ticket", "")
    found = tickets.read(credentials_of(request).keys, text, "ticket", stream)
    if found is None or not await hub.store.once(found.name, hub.config.ticket_seconds):
        return None
    return found


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
