"""What goes wrong between a client and the server."""

from __future__ import annotations

from typing import Any

from jsonrill.errors import JsonrillError


class ClientError(JsonrillError):
    """A request failed, or a stream did; `status` is that of the response, if there was one."""

    code = "CLIENT"
    _fields = (*JsonrillError._fields, "status")

    def __init__(
        self, message: str = "", *, code: str = "", status: int | None = None, **place: Any
    ) -> None:
        super().__init__(message, **place)
        self.code = code or type(self).code
        self.status = status


class Unavailable(ClientError):
    """The server could not be reached, or could not answer, for as long as the client tries."""

    code = "UNAVAILABLE"


class Unauthorized(ClientError):
    """The token is missing or wrong (401), or does not allow this (403)."""


class StreamNotFound(ClientError, LookupError):
    """There is no such stream, or it belongs to another token."""


class Conflict(ClientError):
    """The stream has ended (`CLOSED`), is written by a relay (`TAKEN`) or by a later client of the
    same name (`STALE_EPOCH`), or the server lost records (`SEQUENCE_GAP`)."""


class Refused(ClientError, ValueError):
    """The server does not take this request: an option, a record, or a position is wrong."""


class StreamFailed(ClientError):
    """The stream that was read ended with an error; `code` is the producer's or the server's."""


class StreamCancelled(StreamFailed):
    """The stream that was read was cancelled."""
