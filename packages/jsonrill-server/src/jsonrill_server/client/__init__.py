"""The client of the server: publish a stream, and read it with resume, sync or async.

Operations are coroutines, written once (`operations.py`); an event loop carries them out for
`AsyncClient`, and the thread that calls it for `Client` (`carriers.py`). What is published is
numbered, so that a request whose answer was lost can be repeated: each record is stored once. What
is read has ids, so that a reader whose connection broke goes on after the last event that it has.
"""

from .asynchronous import AsyncClient
from .blocking import Client
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
