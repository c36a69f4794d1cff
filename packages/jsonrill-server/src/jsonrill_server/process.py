"""The server as a process: its listening socket, its connections, its end."""

from __future__ import annotations

import asyncio
import errno
import gc
import logging
import signal
import socket
from contextlib import suppress
from typing import Final

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from .server import create_app
from .settings import Settings

HEAD_BYTES: Final = 64 << 10
# Connections besides readers: publishers, health checks, metrics.
OTHERS: Final = 200


class Connection(HttpToolsProtocol):
    """Closed if the head of a request takes too long, or is too large."""

    head_timeout = 10.0
    _timer: asyncio.TimerHandle | None = None
    _head = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._timer is not None:
            self._head += len(data)
            if self._head > HEAD_BYTES:
                self._stop_timer()
                self.send_400_response("The head of this request is too large.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._timer is None:
            self._await_head()

    def on_headers_complete(self) -> None:
        self._stop_timer()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        self._head = 0
        self._timer = self.loop.call_later(self.head_timeout, self.transport.close)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def serve(settings: Settings | None = None) -> None:
    """Run a server until a signal ends it."""
    settings = settings or Settings()
    settings.check_exposure()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    _raise_limit()
    # A full garbage collection takes up to a second while a large document is rendered.
    gc.set_threshold(700, 10, 300)
    app = create_app(settings)
    server = _server(app, settings)
    with _listening_socket(settings) as listener:
        # uvicorn raises the signal that ended it again; with this handler the process ends well.
        signal.signal(signal.SIGTERM, lambda number, frame: server.handle_exit(number, frame))
        with suppress(KeyboardInterrupt):
            asyncio.run(_run(app, server, listener))


async def _run(app: FastAPI, server: uvicorn.Server, listener: socket.socket) -> None:
    await app.state.server.runs.open()  # here it is one line if the store cannot be used
    host, port = listener.getsockname()[:2]
    print(f"jsonrill listens on http://{f'[{host}]' if ':' in host else host}:{port}", flush=True)
    await server.serve(sockets=[listener])


def _raise_limit() -> None:
    """Allow as many open files as the system does: each reader needs one."""
    with suppress(ImportError, ValueError, OSError):  # Windows has no such limit
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _listening_socket(settings: Settings) -> socket.socket:
    is_v6 = ":" in settings.host
    family = socket.AF_INET6 if is_v6 else socket.AF_INET
    address = settings.host.strip("[]"), settings.port
    try:
        listener = socket.create_server(address, family=family, backlog=2048, dualstack_ipv6=is_v6)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise OSError(f"port {settings.port} is in use: choose another with --port") from None
        raise
    # Connections inherit both. Without a delay, an event is sent before the last one is confirmed.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # the kernel notices clients that vanished
        milliseconds = int(settings.send_timeout * 1000)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)
    return listener


def _server(app: FastAPI, settings: Settings) -> uvicorn.Server:
    config = uvicorn.Config(
        app,
        http=type("Bounded", (Connection,), {"head_timeout": settings.head_timeout}),
        ws="none",
        access_log=False,
        log_config=None,
        server_header=False,
        lifespan="on",
        limit_concurrency=settings.readers + OTHERS,
        timeout_graceful_shutdown=max(1, int(settings.grace)),
    )
    return uvicorn.Server(config)
