"""Streams that outlive their connection: runs, stores and a server.

resumable runs   `Runs`: generations that survive a reload, a reader and a process; each a `Run`
the server       `serve(config)` runs it; `create_app(config)` is the ASGI application to mount
                 elsewhere; `Config` has its settings
an event stream  `EventStreamResponse`, for routes of your own

The folders are the journey of a record. A part imports only from parts above it.

    bounds.py    how much a store takes: defaults
    store/       append-only logs: memory, SQLite, Redis, PostgreSQL
    runs/        a log with a producer and readers, in formats; `Runs`
    demo/        simulated models
    config.py    the settings of the server
    log_lines.py what the server logs
    problems.py  errors as HTTP answers
    access/      tokens, owners, hosts and origins
    http/        the routes
    app.py       the ASGI application
    run.py       the server as a process, or several
    cli.py       the command `jsonrill serve`
"""

import typing as _typing
from importlib import import_module as _import_module

if _typing.TYPE_CHECKING:
    from jsonrill_server.event_stream_response import EventStreamResponse as EventStreamResponse

    from .app import create_app as create_app
    from .config import Config as Config
    from .run import serve as serve
    from .runs.api import RunEvent as RunEvent
    from .runs.api import RunFailed as RunFailed
    from .runs.api import Runs as Runs
    from .runs.run import Run as Run
    from .runs.settings import ConfigError as ConfigError

# Loaded when first used: who runs streams in an app of his own needs no HTTP server.
_MODULES: _typing.Final = {
    **dict.fromkeys(("RunEvent", "RunFailed", "Runs"), ".runs.api"),
    "Config": ".config",
    "ConfigError": ".runs.settings",
    "EventStreamResponse": "jsonrill_server.event_stream_response",
    "Run": ".runs.run",
    "create_app": ".app",
    "serve": ".run",
}


def __getattr__(name: str) -> _typing.Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_import_module(_MODULES[name], __name__), name)


__all__ = [
    "Config",
    "ConfigError",
    "EventStreamResponse",
    "Run",
    "RunEvent",
    "RunFailed",
    "Runs",
    "create_app",
    "serve",
]
