"""One HTTP connection: closed if the head of a request takes too long.

The web server bounds what comes after the head (bodies, readers, idle connections) through the
application's own limits; a head that never ends reaches no application.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_BYTES = 64 << 10


class Connection(HttpToolsProtocol):
    """Waits for a head from the moment it is made, and from the first byte of each next one."""

    head_timeout = 10.0
    _patience: asyncio.TimerHandle | None = None
    _head = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._patience is not None:
            self._head += len(data)
            if self._head > HEAD_BYTES:
                self._head_arrived()
                self.send_400_response("The head of this request is too large.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._patience is None:
            self._await_head()

    def on_headers_complete(self) -> None:
        self._head_arrived()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_arrived()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        self._head = 0
        self._patience = self.loop.call_later(self.head_timeout, self._give_up)

    def _head_arrived(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _give_up(self) -> None:
        self._patience = None
        self.transport.close()
