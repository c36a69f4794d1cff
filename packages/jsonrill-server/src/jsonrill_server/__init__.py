"""Streams that outlive their connection: runs, stores and a server.

resumable runs   `Runs`: generations that survive a reload, a reader and a process; each a `Run`
the server       `serve(settings)` runs it; `create_app(settings)` is the ASGI application

    log.py       append-only logs; memory.py, sqlite.py, redis.py, postgres.py keep them
    records.py   what a record says, and how a log ended
    sources.py   any source → records; produce.py writes, ends and takes over logs
    formats.py   records → events, with the options in options.py; read.py: from any position
    runs.py      `Runs`: start, cancel, read; result.py: `Run`
    web.py       responses for Starlette, FastAPI and Django
    settings.py  the server's settings; server.py: its routes; access.py: who may call them
    process.py   its process; cli.py: its command; demo.py: simulated models
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

if _TYPE_CHECKING:
    from .log import StoreError as StoreError
    from .log import StoreUnavailable as StoreUnavailable
    from .process import serve as serve
    from .result import Run as Run
    from .runs import RunEvent as RunEvent
    from .runs import RunFailed as RunFailed
    from .runs import Runs as Runs
    from .server import create_app as create_app
    from .settings import Settings as Settings

# Loaded when first used: an application that only uses `Runs` does not need the server.
_MODULES = {
    **dict.fromkeys(("RunEvent", "RunFailed", "Runs"), ".runs"),
    **dict.fromkeys(("StoreError", "StoreUnavailable"), ".log"),
    "Run": ".result",
    "Settings": ".settings",
    "create_app": ".server",
    "serve": ".process",
}
__all__ = sorted(_MODULES)


def __getattr__(name: str) -> _Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_import_module(_MODULES[name], __name__), name)
