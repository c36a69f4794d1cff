"""The client of the server: publish a stream, and read it with resume, sync or async.

Operations are generators of steps (`operations.py`, `steps.py`), which know how often and how long
to try; `Client` and `AsyncClient` only carry the steps out. What is published is numbered, so that
a request whose answer was lost can be repeated: each record is stored once. What is read has ids,
so that a reader whose connection broke goes on after the last event that it has.
"""

from .asynchronous import AsyncClient
from .errors import (
    ClientError,
    Conflict,
    Refused,
    StreamCancelled,
    StreamFailed,
    StreamNotFound,
    Unauthorized,
    Unavailable,
)
from .operations import StreamStatus
from .threaded import Client

__all__ = [
    "AsyncClient",
    "Client",
    "ClientError",
    "Conflict",
    "Refused",
    "StreamCancelled",
    "StreamFailed",
    "StreamNotFound",
    "StreamStatus",
    "Unauthorized",
    "Unavailable",
]
