"""Streams over HTTP: published, resumed, relayed; from one process to many replicas.

`serve(config)` runs a server, `create_app(config)` is the ASGI application to mount elsewhere, and
`EventStreamResponse` an event stream for your own routes. Needs the extra `server`.
"""

try:
    from ..ext.starlette import EventStreamResponse
    from ..runs.config import Config, ConfigError
    from .app import create_app
    from .run import serve
except ModuleNotFoundError as missing:
    said = f"the server needs an extra: pip install 'jsonrill[server]' ({missing})"
    raise ModuleNotFoundError(said, name=missing.name) from missing

__all__ = ["Config", "ConfigError", "EventStreamResponse", "create_app", "serve"]
