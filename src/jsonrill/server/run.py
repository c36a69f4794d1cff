"""The server as a process: its listening socket, its signals, its end."""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
from types import FrameType

import uvicorn

from ..runs.config import Config
from ..runs.hub import Hub
from .app import create_app
from .http.connection import Connection

# Connections beside readers: publishers, health checks, metrics.
OTHERS = 200


def listening_socket(config: Config) -> socket.socket:
    """Bound and ready. What is set on it holds for every connection it accepts."""
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        # A client that vanished without a word is noticed by the kernel, and only so.
        milliseconds = int(config.tcp_user_timeout * 1000)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)
    listener.bind((config.host.strip("[]"), config.port))
    # From here on clients can connect; they wait until the application is up.
    listener.listen(2048)
    return listener


class _Server(uvicorn.Server):
    """Readers are let go as soon as the process is told to end, to resume elsewhere."""

    hub: Hub

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.hub.stop()
        super().handle_exit(sig, frame)


def serve(config: Config | None = None) -> None:
    """Run until a signal ends it."""
    config = config or Config.from_environment()
    config.check_exposure()
    patience = config.head_timeout
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(message)s")
    for quiet in ("httpx2", "httpcore2"):
        logging.getLogger(quiet).setLevel(logging.WARNING)

    class Patient(Connection):
        head_timeout = patience

    app = create_app(config)
    server = _Server(
        uvicorn.Config(
            app,
            http=Patient,
            ws="none",
            access_log=False,
            log_config=None,
            server_header=False,
            lifespan="on",
            limit_concurrency=config.concurrency or config.readers + OTHERS,
            timeout_graceful_shutdown=max(1, int(config.grace)),
        )
    )
    server.hub = app.state.hub
    listener = listening_socket(config)
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    print(f"jsonrill listens on http://{shown}:{port}", flush=True)
    try:
        asyncio.run(server.serve(sockets=[listener]))
    except KeyboardInterrupt:  # uvicorn raises the signal again once all is closed
        pass
    finally:
        listener.close()
