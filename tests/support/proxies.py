"""Proxies on loopback that break connections off, and that answer for Redis with errors."""

from __future__ import annotations

import asyncio
import hashlib
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from urllib.parse import urlsplit

from jsonrill_server.store import redis as redis_store
from jsonrill_server.tasks import stop
from support.databases import RedisServer


class CuttingProxy:
    """Passes bytes on, and cuts each connection after `cut()` bytes of the response (None: never).

    `connections` counts them, `cuts` those that were cut. With `lose_answers` so many first
    requests reach the server, and their answers do not come back.
    """

    def __init__(self, url: str, cut: Callable[[], int | None], lose_answers: int = 0) -> None:
        self._target = urlsplit(url)
        self._cut = cut
        self.lose_answers = lose_answers
        self.connections = self.cuts = 0
        self._server = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.url = f"http://127.0.0.1:{self._server.getsockname()[1]}"
        self._open: set[socket.socket] = set()
        self._closed = False

    def __enter__(self) -> CuttingProxy:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closed = True
        with suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        for link in [*self._open]:
            _close(link)

    def _accept(self) -> None:
        while not self._closed:
            try:
                link, _ = self._server.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(link,), daemon=True).start()

    def _serve(self, link: socket.socket) -> None:
        assert self._target.hostname and self._target.port
        try:
            there = socket.create_connection((self._target.hostname, self._target.port), 10)
        except OSError:
            _close(link)
            return
        there.settimeout(None)
        self._open |= {link, there}
        threading.Thread(target=self._forward, args=(link, there), daemon=True).start()
        left = self._cut()
        if self.lose_answers > 0:
            self.lose_answers -= 1
            left = 0
        with suppress(OSError):
            while data := there.recv(65536):
                if left is not None and len(data) >= left:
                    link.sendall(data[:left])
                    self.cuts += 1
                    break
                left = None if left is None else left - len(data)
                link.sendall(data)
        for one in (link, there):
            _close(one)
            self._open.discard(one)

    def _forward(self, link: socket.socket, there: socket.socket) -> None:
        with suppress(OSError):
            while data := link.recv(65536):
                there.sendall(data)
        with suppress(OSError):
            there.shutdown(socket.SHUT_WR)


def _close(link: socket.socket) -> None:
    with suppress(OSError):
        link.shutdown(socket.SHUT_RDWR)
    link.close()


ERRORS = {
    "NOREPLICAS": b"-NOREPLICAS Not enough good replicas to write.\r\n",
    "LOADING": b"-LOADING Redis is loading the dataset in memory\r\n",
    "READONLY": b"-READONLY You can't write against a read only replica.\r\n",
    "OOM": b"-OOM command not allowed when used memory > 'maxmemory'.\r\n",
    "MISCONF": b"-MISCONF Redis is configured to save RDB snapshots, but cannot.\r\n",
    "MASTERDOWN": b"-MASTERDOWN Link with MASTER is down.\r\n",
    "BUSY": b"-BUSY Redis is busy running a script.\r\n",
    "NOPERM": b"-NOPERM this user has no permissions to run the command\r\n",
    "NOAUTH": b"-NOAUTH Authentication required.\r\n",
    "WRONGTYPE": b"-WRONGTYPE Operation against a key holding the wrong kind of value\r\n",
    "ERR": b"-ERR something new\r\n",
    "RESET": None,
    "SILENCE": b"",
}
SCRIPTS = {
    hashlib.sha1(text.encode()).hexdigest(): name
    for name in ("FIND", "SWAP", "DROP", "TICK")
    for text in [getattr(redis_store, f"_{name}")]
}
COMMANDS = (*SCRIPTS.values(), "SUBSCRIBE", "*")


class Faults:
    """`fault = (command, error)` is what goes wrong now; `*` is every command."""

    def __init__(self, server: RedisServer) -> None:
        self._port = server.port
        self._links: set[asyncio.Task[None]] = set()
        self._proxy: asyncio.Server | None = None
        self.fault: tuple[str, str] | None = None
        self.met = 0
        self.url = ""

    async def __aenter__(self) -> Faults:
        self._proxy = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = self._proxy.sockets[0].getsockname()[1]
        self.url = f"redis://127.0.0.1:{port}/0"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        assert self._proxy is not None
        self._proxy.close()
        await stop(*self._links)

    async def _serve(self, client: asyncio.StreamReader, answers: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._links.add(task)
        try:
            redis, commands = await asyncio.open_connection("127.0.0.1", self._port)
            back = asyncio.create_task(_pump(redis, answers))
            try:
                while command := await _command(client):
                    name, raw = command
                    answer = self._answer(name)
                    if answer is None:
                        break
                    (commands if answer == b"pass" else answers).write(
                        raw if answer == b"pass" else answer
                    )
            finally:
                commands.close()
                await stop(back)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._links.discard(task)
            answers.close()

    def _answer(self, name: str) -> bytes | None:
        if self.fault is None or self.fault[0] not in (name, "*"):
            return b"pass"
        self.met += 1
        return ERRORS[self.fault[1]]


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    while data := await source.read(65536):
        sink.write(data)
    sink.close()


async def _command(client: asyncio.StreamReader) -> tuple[str, bytes] | None:
    """The name of the next command, or of the script it runs, and its bytes."""
    raw = await client.readline()
    if not raw:
        return None
    words = []
    for _ in range(int(raw[1:])):
        head = await client.readline()
        body = await client.readexactly(int(head[1:]) + 2)
        words.append(body[:-2])
        raw += head + body
    name = words[0].decode().upper()
    if name == "EVALSHA":
        name = SCRIPTS[words[1].decode()]
    return name, raw
