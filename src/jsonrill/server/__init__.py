"""Streams over HTTP: published, resumed, relayed; from one process to many replicas.

`serve(config)` runs a server, `create_app(config)` is the ASGI application to mount elsewhere, and
`EventStreamResponse` an event stream for your own routes. Needs the extra `server`.
"""

from ..ext.starlette import EventStreamResponse
from ..runs.config import Config, ConfigError
from .app import create_app
from .run import serve

__all__ = ["Config", "ConfigError", "EventStreamResponse", "create_app", "serve"]
