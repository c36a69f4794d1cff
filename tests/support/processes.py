"""Servers in their own processes, and a reader over a raw socket."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections import deque
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from jsonrill.eventstream import SSEDecoder, SSEEvent
from support import PYTHONPATH, SLACK


def free_port() -> int:
    """Return a free loopback port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


# Only the command `serve`: loading the library's commands makes the start 50 % slower.
_SERVE = (
    "import typer; from jsonrill_server.cli import add; app = typer.Typer(); add(app);"
    "app.callback()(lambda: None); app()"
)
SERVE = ("-c", _SERVE)
# The same with demo models that answer without the pauses of real ones.
FAST_DEMO = ("-c", f"from jsonrill_server import demo; demo.PACE = 0.0005; {_SERVE}")


class Server:
    """`jsonrill serve` on a free port of loopback. Settings are its flags."""

    def __init__(self, folder: Path, *, program: Any = SERVE, **settings: Any) -> None:
        self.program = program
        self.settings = {"port": 0, "access_log": False, **settings}
        self.folder = folder
        self.process: subprocess.Popen[str] | None = None
        self.url = ""

    def start(self) -> Server:
        command = [sys.executable, *self.program, "serve"]
        for name, value in self.settings.items():
            flag = name.replace("_", "-")
            if isinstance(value, bool):
                command.append(f"--{flag}" if value else f"--no-{flag}")
            else:
                command += [f"--{flag}", str(value)]
        with open(self.folder / "server.log", "ab") as log:
            self.process = subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env={**os.environ, "PYTHONPATH": PYTHONPATH},
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith("jsonrill listens on "), self.log()
        self.url = line.split()[-1]
        # A restart uses the same port.
        self.settings["port"] = urlsplit(self.url).port
        return self

    def log(self) -> str:
        return (self.folder / "server.log").read_text()

    def send(self, how: int) -> None:
        assert self.process is not None
        self.process.send_signal(how)

    def end(self, how: int = signal.SIGTERM) -> int:
        assert self.process is not None
        self.process.send_signal(how)
        code = self.process.wait(20 * SLACK)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code

    def kill(self) -> None:
        self.end(signal.SIGKILL)

    def __enter__(self) -> Server:
        return self.start()

    def __exit__(self, *_: Any) -> None:
        assert self.process is not None
        if self.process.poll() is None:
            self.end()
        elif self.process.stdout is not None:
            self.process.stdout.close()


class Events:
    """One connection to an event stream, as raw bytes over a socket."""

    def __init__(self, url: str, *, headers: dict[str, str] | None = None, buffer: int = 0) -> None:
        self.url = urlsplit(url)
        self.headers = headers or {}
        self.buffer = buffer
        self.status = 0
        self.answer: dict[str, str] = {}
        self.decoder = SSEDecoder()
        self._decoded: deque[SSEEvent] = deque()
        self.raw = b""

    async def __aenter__(self) -> Events:
        link = socket.socket()
        if self.buffer:
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, self.buffer)
        link.setblocking(False)
        loop = asyncio.get_running_loop()
        assert self.url.hostname is not None
        try:
            await loop.sock_connect(link, (self.url.hostname, self.url.port))
        except OSError:
            link.close()
            raise
        self.reader, self.writer = await asyncio.open_connection(sock=link, limit=1 << 16)
        target = self.url.path + (f"?{self.url.query}" if self.url.query else "")
        lines = [f"GET {target} HTTP/1.1", f"Host: {self.url.netloc}"]
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        self.writer.write("\r\n".join([*lines, "", ""]).encode())
        try:
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        except BaseException:
            self.writer.close()
            raise
        self.status = int(head[0].split()[1])
        fields = [line.partition(": ") for line in head[1:] if line]
        self.answer = {name.lower(): value for name, _, value in fields}
        return self

    async def __aexit__(self, *_: Any) -> None:
        self.writer.close()
        with suppress(OSError):
            await self.writer.wait_closed()

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the body in pieces; raise ConnectionError if the connection breaks."""
        if "content-length" in self.answer:
            yield await self.reader.readexactly(int(self.answer["content-length"]))
            return
        while True:
            try:
                size = int(await self.reader.readuntil(b"\r\n"), 16)
                data = await self.reader.readexactly(size + 2)
            except (asyncio.IncompleteReadError, ValueError) as error:
                raise ConnectionError("broken off") from error
            if not size:
                return
            if len(self.raw) < 10_000:
                self.raw += data[:-2]
            yield data[:-2]

    async def __aiter__(self) -> AsyncIterator[SSEEvent]:
        """Yield the events; a later loop continues after the last one."""
        while self._decoded:
            yield self._decoded.popleft()
        async for chunk in self.chunks():
            self._decoded += self.decoder.feed(chunk)
            while self._decoded:
                yield self._decoded.popleft()


async def all_events(url: str, **headers: str) -> list[SSEEvent]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    async with asyncio.timeout(20 * SLACK), Events(url, headers=named) as events:
        assert events.status == 200, events.status
        return [event async for event in events]
