"""Stores: append-only logs of streams in memory, in a SQLite file or in Redis.

`open_store(url)` chooses: `memory:`, `sqlite:///relative.db` or `sqlite:////absolute.db`,
`redis://host:port/db` (also `rediss://`, `unix://`).
"""

from __future__ import annotations

from .base import (
    Bounds,
    Entry,
    LogClosed,
    LogGap,
    LogLost,
    OutOfOrder,
    Status,
    Store,
    StoreError,
    StoreFull,
    StoreUnavailable,
    StreamTaken,
    Tail,
    Turn,
    TurnRefused,
    UnknownStream,
)
from .memory import MemoryStore
from .sqlite import SqliteStore

__all__ = [
    "Bounds",
    "Entry",
    "LogClosed",
    "LogGap",
    "LogLost",
    "MemoryStore",
    "OutOfOrder",
    "SqliteStore",
    "Status",
    "Store",
    "StoreError",
    "StoreFull",
    "StoreUnavailable",
    "StreamTaken",
    "Tail",
    "Turn",
    "TurnRefused",
    "UnknownStream",
    "open_store",
]


def open_store(url: str, bounds: Bounds | None = None) -> Store:
    """Return the store that a URL names, not yet opened; ValueError for an unknown scheme."""
    scheme, _, rest = url.partition(":")
    if scheme == "memory" and not rest:
        return MemoryStore(bounds)
    if scheme == "sqlite" and rest.startswith("///") and len(rest) > 3:
        return SqliteStore(rest[3:], bounds)
    if scheme in ("redis", "rediss", "unix") and rest.startswith("//"):
        try:
            from .redis import RedisStore
        except ModuleNotFoundError as error:
            raise ValueError("a Redis store needs: pip install 'jsonrill[redis]'") from error
        return RedisStore(url, bounds)
    raise ValueError(f"a store is memory:, sqlite:///file or redis://host, not {scheme}:")
