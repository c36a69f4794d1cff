"""A proxy before Redis that answers chosen commands with an error, breaks off or keeps silent."""

from __future__ import annotations

import asyncio
import hashlib
from types import TracebackType

from jsonrill.ext.tasks import stop
from jsonrill_server.store import redis as redis_store
from support.redis_server import RedisServer

ERRORS = {
    "NOREPLICAS": b"-NOREPLICAS Not enough good replicas to write.\r\n",
    "LOADING": b"-LOADING Redis is loading the dataset in memory\r\n",
    "READONLY": b"-READONLY You can't write against a read only replica.\r\n",
    "OOM": b"-OOM command not allowed when used memory > 'maxmemory'.\r\n",
    "MISCONF": b"-MISCONF Redis is configured to save RDB snapshots, but cannot.\r\n",
    "CLUSTERDOWN": b"-CLUSTERDOWN The cluster is down\r\n",
    "MASTERDOWN": b"-MASTERDOWN Link with MASTER is down.\r\n",
    "TRYAGAIN": b"-TRYAGAIN Multiple keys request during rehashing of slot\r\n",
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
