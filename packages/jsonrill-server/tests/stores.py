"""Every kind of store with the server that it needs, started once and emptied for each test."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol

from databases import SYNCED, PostgresServer, RedisServer

# The schemes of URLs, one for each kind of store.
KINDS = ("memory", "sqlite", "redis", "postgresql")
# Those that have a server, which can die.
SERVED = tuple(kind for kind in KINDS if kind not in ("memory", "sqlite"))


class StoreServer(Protocol):
    """The interface of a store's server for tests."""

    name: str

    @property
    def url(self) -> str: ...
    def start(self) -> None: ...
    def end(self, how: int = ...) -> None:
        """End the server with a signal, by default SIGTERM."""

    def send(self, how: int) -> None:
        """Send a signal to all its processes: SIGSTOP, SIGCONT."""

    def empty(self) -> None: ...
    def cpu(self) -> float:
        """Return the processor time that it has used, in seconds."""


def new_server(kind: str, folder: Path, **settings: Any) -> Any:
    """Return a server of this kind, not started yet; it keeps its data when it is restarted."""
    if kind == "postgresql":
        return PostgresServer(**settings)
    return RedisServer(folder, aof=True, options=SYNCED)


class StoreServers:
    """`servers[kind]` is running; None for a store without a server."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._running: dict[str, Any] = {}

    def __getitem__(self, kind: str) -> Any:
        if kind not in SERVED:
            return None
        if kind not in self._running:
            folder = self._stack.enter_context(tempfile.TemporaryDirectory())
            server = new_server(kind, Path(folder))
            self._running[kind] = self._stack.enter_context(server)
        return self._running[kind]

    def url(self, kind: str, folder: Path) -> str:
        """Return the URL of an empty store; a file is made in `folder`."""
        if kind == "memory":
            return "memory:"
        if kind == "sqlite":
            return f"sqlite:///{folder}/log.db"
        self[kind].empty()
        return str(self[kind].url)

    def close(self) -> None:
        self._stack.close()
