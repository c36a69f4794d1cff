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
from .guard import subject_of

_STREAM: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ASK: Final = {"www-authenticate": 'Bearer realm="jsonrill"'}


class Allowed(NamedTuple):
    """A stream that may be touched; `cookie` is a pass to hand out with the answer."""

    stream: str
    status: Status
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


def require_subject(request: Request) -> str:
    """Who is asking, by token; 401 for anybody else."""
    subject = subject_of(request, request.app.state.subjects)
    if subject is None:
        raise Problem(401, "TOKEN", "a bearer token is needed", _ASK)
    return subject


async def owned(request: Request) -> Allowed:
    """The stream in the path, if whoever asks owns it."""
    return await _found(request, require_subject(request))


async def readable(request: Request) -> Allowed:
    """The stream in the path, if whoever asks may read it."""
    hub, stream = hub_of(request), str(request.path_params["id"])
    subject = subject_of(request, request.app.state.subjects)
    if subject is not None:
        return await _found(request, subject)
    cookie = request.cookies.get(cookie_name(stream), "")
    if given := tickets.read(hub.signing_key, cookie, "pass", stream):
        return await _found(request, given.subject)
    ticket = tickets.read(hub.signing_key, request.query_params.get("ticket", ""), "ticket", stream)
    if ticket is None or not await hub.store.once(ticket.name, hub.config.ticket_seconds):
        raise Problem(401, "TOKEN", "a bearer token or an unused ticket is needed", _ASK)
    allowed = await _found(request, ticket.subject)
    lasts = hub.config.max_connection
    new = tickets.issue(hub.signing_key, "pass", stream, ticket.subject, lasts)
    return allowed._replace(cookie=new)


async def _found(request: Request, subject: str) -> Allowed:
    stream = str(request.path_params["id"])
    if not _STREAM.fullmatch(stream):
        raise UnknownStream(stream)
    status = await hub_of(request).status(stream)
    if status.owner != subject:
        raise UnknownStream(stream)
    return Allowed(stream, status)


def cookie_name(stream: str) -> str:
    return f"jsonrill_{stream}"
