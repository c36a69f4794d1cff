"""Signed permissions to read one stream, for clients that can send no header.

A ticket goes into a URL: short-lived and good for one request. That request answers with a pass in
a cookie, which lets a browser reconnect; it is good for reading the same stream and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import time
from typing import Literal, NamedTuple

Kind = Literal["ticket", "pass"]


class Permission(NamedTuple):
    """Who may read which stream, until when; `name` is unlike that of any other."""

    kind: Kind
    stream: str
    subject: str
    until: float
    name: str


def issue(key: bytes, kind: Kind, stream: str, subject: str, seconds: float) -> str:
    fields = [kind, stream, subject, time.time() + seconds, secrets.token_hex(8)]
    payload = _encoded(json.dumps(fields).encode())
    return f"{payload}.{_signature(key, payload)}"


def read(key: bytes, text: str, kind: Kind, stream: str) -> Permission | None:
    """The permission, if it is genuine, of this kind, for this stream and still good."""
    payload, _, signature = text.partition(".")
    if not text.isascii() or not hmac.compare_digest(_signature(key, payload), signature):
        return None
    found = Permission(*json.loads(_decoded(payload)))
    good = found.kind == kind and found.stream == stream and found.until > time.time()
    return found if good else None


def _signature(key: bytes, payload: str) -> str:
    return _encoded(hmac.digest(key, payload.encode(), hashlib.sha256))


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
