"""Permissions on a stream: its owner may do everything, others nothing.

Every handler that touches a stream goes through `owned`, on every request. The stream of another
owner answers as if it did not exist.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from starlette.requests import Request

from ..config import Config
from ..problems import Problem
from ..runs.hub import Hub
from ..store import Status, UnknownStream
from .credentials import Credentials, Holder

_STREAM: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ASK: Final = {"www-authenticate": 'Bearer realm="jsonrill"'}


class Allowed(NamedTuple):
    """A stream and the holder of the token that may use it."""

    stream: str
    status: Status
    holder: Holder


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


def is_revoked(request: Request, holder: Holder) -> bool:
    """Return True if the token behind this permission is no longer valid."""
    return credentials_of(request).holder(holder.mark) is None


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
    holder = require_holder(request)
    stream = str(request.path_params["id"])
    if not _STREAM.fullmatch(stream):
        raise UnknownStream(stream)
    status = await hub_of(request).status(stream)
    if status.owner != holder.name:
        raise UnknownStream(stream)
    return Allowed(stream, status, holder)
