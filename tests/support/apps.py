"""Serve ASGI applications on loopback, in this process or in a child process."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import uvicorn

from support import PYTHONPATH, SLACK
from support.processes import free_port

TESTS = Path(__file__).resolve().parent.parent


class Server(uvicorn.Server):
    """uvicorn without its signal handlers, because tests install their own."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def served(app: Any, *, lifespan: str = "auto") -> AsyncIterator[str]:
    """Serve an application in this event loop and yield its URL."""
    config = uvicorn.Config(app, port=0, log_config=None, lifespan=lifespan, ws="none")  # type: ignore[arg-type]
    server = Server(config)
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
        assert not serving.done()
    try:
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        await serving


class App:
    """Run `support.run_app` in a child process. A restart uses the same port."""

    def __init__(self, folder: Path, store: str, **settings: str) -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.environment = {"STORE": store, **settings}
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> App:
        command = [sys.executable, "-m", "uvicorn", "support.run_app:app", "--port", str(self.port)]
        paths = os.pathsep.join((PYTHONPATH, str(TESTS)))
        with open(self.folder / f"app-{self.port}.log", "ab") as log:
            self.process = subprocess.Popen(
                [*command, "--no-access-log"],
                stdout=log,
                stderr=log,
                env={**os.environ, **self.environment, "PYTHONPATH": paths},
            )
        import socket

        until = time.monotonic() + 30 * SLACK
        while time.monotonic() < until:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return self
            assert self.process.poll() is None, self.log()
            time.sleep(0.02)
        raise AssertionError(self.log())

    def log(self) -> str:
        return (self.folder / f"app-{self.port}.log").read_text()

    def end(self, how: int = signal.SIGTERM) -> int:
        assert self.process is not None
        self.process.send_signal(how)
        return self.process.wait(20 * SLACK)

    def send(self, how: int) -> None:
        assert self.process is not None
        self.process.send_signal(how)

    def kill(self) -> None:
        self.end(signal.SIGKILL)

    def __enter__(self) -> App:
        return self.start()

    def __exit__(self, *_: Any) -> None:
        if self.process is not None and self.process.poll() is None:
            self.kill()
