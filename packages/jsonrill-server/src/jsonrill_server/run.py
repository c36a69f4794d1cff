"""The server as a process, or several: its listening socket and its end."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import socket
import sys
import time
from types import FrameType

import uvicorn

from .app import create_app
from .config import Config, without_secrets
from .http.connection import Connection
from .log_lines import to_stderr
from .runs.descriptors import RESERVED, bounded, raise_limit
from .store import StoreError, open_store

# Connections beside readers: publishers, health checks, metrics.
OTHERS = 200
# Connections that wait to be accepted, and how many the event loop accepts before it looks at one
# of them: those that are too many must be closed before the next ones take their descriptors.
WAITING = 2048
ACCEPTED_AT_ONCE = 8


def listening_socket(config: Config) -> socket.socket:
    """Return a listening socket; every connection inherits its options."""
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    # The protocol is named: event loops switch Nagle's algorithm off only where it is TCP for
    # certain, and with it the second piece of an answer waits 40 ms for the client's receipt.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        # A client that vanished without a word is noticed by the kernel, and only so.
        milliseconds = int(config.tcp_user_timeout * 1000)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)
    try:
        listener.bind((config.host.strip("[]"), config.port))
    except OSError as error:
        listener.close()
        if error.errno != errno.EADDRINUSE:
            raise
        busy = f"port {config.port} of {config.host} is in use: choose another with --port"
        raise OSError(busy) from None
    # From here on clients can connect; they wait until the application is up.
    listener.listen(WAITING)
    return listener


def serve(config: Config | None = None) -> None:
    """Run a server until a signal ends it."""
    config = config or Config.from_environment()
    config.check_exposure()
    to_stderr()
    raise_limit(_connections(config) + RESERVED)
    server = _server(config)
    asyncio.run(_check_store(config))
    listener = listening_socket(config)
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    print(f"jsonrill listens on http://{shown}:{port}", flush=True)
    try:
        if config.workers > 1:
            _run_workers(config, listener)
        else:
            _run(server, listener)
    finally:
        listener.close()


async def _check_store(config: Config) -> None:
    """Open the store once, so that a server that listens has one; raises StoreError."""
    store = open_store(config.store, config.bounds())
    store.on_error = lambda what, error: None  # what is raised is enough
    try:
        await store.open()
    except (StoreError, OSError) as error:
        reason = " ".join(str(error).split())
        shown = without_secrets(config.store)
        raise StoreError(f"the store {shown} cannot be opened: {reason}") from error
    finally:
        await store.close()


def _connections(config: Config) -> int:
    return config.concurrency or config.readers + OTHERS


def _server(config: Config) -> uvicorn.Server:
    connections = _connections(config)

    class Bounded(Connection):
        head_timeout = config.head_timeout
        most = bounded(connections + OTHERS, 0.25)

    return _Server(
        uvicorn.Config(
            create_app(config),
            http=Bounded,
            ws="none",
            access_log=False,
            log_config=None,
            server_header=False,
            lifespan="on",
            limit_concurrency=bounded(connections, 0.5),
            backlog=ACCEPTED_AT_ONCE,
            timeout_keep_alive=max(1, int(config.keep_alive)),
            timeout_graceful_shutdown=max(1, int(config.grace)),
        )
    )


class _Server(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(WAITING)  # asyncio takes `backlog` for both numbers


def _run(server: uvicorn.Server, listener: socket.socket) -> None:
    def end(number: int, frame: FrameType | None) -> None:
        server.should_exit = True

    # uvicorn raises the signal that ended it again: as it was told, the process ends well.
    signal.signal(signal.SIGTERM, end)
    try:
        asyncio.run(server.serve(sockets=[listener]))
    except KeyboardInterrupt:  # uvicorn raises the signal again once all is closed
        pass


def _run_workers(config: Config, listener: socket.socket) -> None:
    """Several processes on one socket. One that dies is replaced; a signal ends them all."""
    workers: set[int] = set()
    stopping = False

    def end(number: int, frame: FrameType | None) -> None:
        nonlocal stopping
        stopping = True
        for worker in workers:
            os.kill(worker, signal.SIGTERM)

    def start() -> None:
        worker = os.fork()
        if worker == 0:
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.signal(number, signal.SIG_DFL)
            code = 1
            try:
                _run(_server(config), listener)
                code = 0
            finally:
                os._exit(code)
        workers.add(worker)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    for _ in range(config.workers):
        start()
    while workers:
        gone, _ = os.wait()
        workers.discard(gone)
        if not stopping:
            print("a worker has ended and is replaced", file=sys.stderr, flush=True)
            time.sleep(1)  # one that cannot start is not started all the time
            if not stopping:
                start()
