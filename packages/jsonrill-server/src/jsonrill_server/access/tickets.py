"""Signed permissions to read one stream, for clients that can send no header.

A ticket goes into a URL: short-lived and good for one request. That request answers with a pass in
a cookie, which lets a browser reconnect; it is good for reading the same stream and nothing else.
Both name the token they were made for by its mark, and end with it.
"""

from __future__ import annotations

import base64
import json
import secrets
import time
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from .credentials import first_good, signature_of

Kind = Literal["ticket", "pass"]


class Permission(NamedTuple):
    """Permission to read a stream until a time; `name` is unique."""

    kind: Kind
    stream: str
    mark: str
    until: float
    name: str


def issue(key: bytes, kind: Kind, stream: str, mark: str, seconds: float) -> str:
    fields = [kind, stream, mark, time.time() + seconds, secrets.token_hex(8)]
    payload = _encoded(json.dumps(fields).encode())
    return f"{payload}.{_encoded(signature_of(key, payload))}"


def read(
    keys: Callable[[str], Sequence[bytes]], text: str, kind: Kind, stream: str
) -> Permission | None:
    """The permission, if it is genuine, of this kind, for this stream and still good.

    `keys` gives those of the token with a mark; none if that token is no longer valid.
    """
    payload, _, signature = text.partition(".")
    try:
        permission = Permission(*json.loads(_decoded(payload)))
        good = first_good(keys(permission.mark), payload, _decoded(signature))
    except (ValueError, TypeError, RecursionError):
        return None  # signed with another key
    good = (
        good
        and permission.kind == kind
        and permission.stream == stream
        and permission.until > time.time()
    )
    return permission if good else None


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
