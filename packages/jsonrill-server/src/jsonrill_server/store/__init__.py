"""Stores: append-only logs of streams in memory, in a SQLite file, in Redis or in PostgreSQL.

`open_store(url)` chooses: `memory:`, `sqlite:///relative.db` or `sqlite:////absolute.db`,
`redis://host:port/db` (also `rediss://`, `unix://`), `postgresql://user@host/database` (also
`postgres://`). A store is a subclass of `Store` (`logs.py`) in a module of its own, and one line
of `KINDS`.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import Final, NamedTuple

from .base import (
    Bounds,
    Entry,
    LogClosed,
    LogGap,
    LogLost,
    Status,
    StoreError,
    StoreFull,
    StoreUnavailable,
    StreamTaken,
    Tail,
    Turn,
    TurnRefused,
    UnknownStream,
)
from .logs import Store
from .memory import MemoryStore
from .sqlite import SqliteStore

__all__ = [
    "KINDS",
    "Bounds",
    "Entry",
    "LogClosed",
    "LogGap",
    "LogLost",
    "MemoryStore",
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


class _Kind(NamedTuple):
    """A kind of store: its module and class, what its URLs look like, the extra that it needs."""

    module: str
    name: str
    form: str
    extra: str = ""


KINDS: Final = {
    "memory": _Kind("memory", "MemoryStore", "memory:"),
    "sqlite": _Kind("sqlite", "SqliteStore", "sqlite:///file"),
    "redis": _Kind("redis", "RedisStore", "redis://host", "redis"),
    "postgresql": _Kind("postgres", "PostgresStore", "postgresql://host/database", "postgres"),
}
_ALSO: Final = {
    "rediss": "redis",
    "unix": "redis",
    "postgres": "postgresql",
}


# Drivers repeat in their errors what they do not understand, which may be a piece of a password. So
# user and password have escapes for what separates the parts of a URL, and ports are numbers.
_USER: Final = r"(?:[^/?#@%\s]|%[0-9A-Fa-f]{2})*@"
_HOST: Final = r"(?:\[[^\]/?#@]*\]|[^/?#@:,\[\]]*)(?::\d*)?"
_NETWORK: Final = re.compile(rf"//(?:{_USER})?{_HOST}(?:,{_HOST})*(?:/[^?#@]*)?(?:\?[^#]*)?")


def open_store(url: str, bounds: Bounds | None = None) -> Store:
    """Return the store that a URL names, not yet opened; ValueError for an unknown scheme."""
    scheme, _, rest = url.partition(":")
    kind = KINDS.get(_ALSO.get(scheme, scheme))
    if kind is None:
        forms = ", ".join(kind.form for kind in KINDS.values())
        raise ValueError(f"a store is one of {forms}, and this is none of them")
    try:
        module = import_module(f".{kind.module}", __name__)
    except ModuleNotFoundError as error:
        raise ValueError(
            f"the store {kind.form} needs: pip install 'jsonrill-server[{kind.extra}]'"
        ) from error
    store: type[Store] = getattr(module, kind.name)
    if not store.takes(rest) or (kind.extra and not _NETWORK.fullmatch(rest)):
        raise ValueError(
            f"write the URL of such a store as {kind.form}, and characters of a password that mean"
            " something in a URL as %40 (@), %2F (/), %3A (:), %23 (#), %3F (?), %25 (%)"
        )
    return store.at(url, bounds)
