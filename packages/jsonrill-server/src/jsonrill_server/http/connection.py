"""One HTTP connection: closed if the head of a request, or the rest of its body, takes too long.

The web server bounds what is between the two (bodies, readers, idle connections) through the
application's own limits; a head that never ends reaches no application, and a body that goes on
after its answer, such as a 401, is not read by one.
"""

from __future__ import annotations

import asyncio
from typing import Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_BYTES: Final = 64 << 10
# Seconds that a client has to end a request that was answered before its end. To close at once
# would make it lose the answer.
REST_SECONDS: Final = 5.0
# Answered also by a server that is full: a probe that fails would have it killed.
ALIVE: Final = b"/livez"


class Connection(HttpToolsProtocol):
    """Waits for a head from the moment it is made, and from the first byte of each next one."""

    head_timeout = 10.0
    # Connections at a time; those that are more are closed at once.
    most = 1 << 30
    _head_timer: asyncio.TimerHandle | None = None
    _rest_timer: asyncio.TimerHandle | None = None
    _head = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self.most:
            transport.abort()
        else:
            self._await_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._head_timer is not None:
            self._head += len(data)
            if self._head > HEAD_BYTES:
                self._head_arrived()
                self.send_400_response("The head of this request is too large.")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._head_timer is None:
            self._await_head()

    def on_headers_complete(self) -> None:
        self._head_arrived()
        limit = self.limit_concurrency
        if self.url.partition(b"?")[0] == ALIVE:
            self.limit_concurrency = None
        super().on_headers_complete()
        self.limit_concurrency = limit

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.cycle.response_complete and self.cycle.more_body and self._rest_timer is None:
            self._rest_timer = self.loop.call_later(REST_SECONDS, self.transport.close)

    def on_message_complete(self) -> None:
        self._rest_arrived()
        super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_arrived()
        self._rest_arrived()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        self._head = 0
        self._head_timer = self.loop.call_later(self.head_timeout, self._give_up)

    def _head_arrived(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _rest_arrived(self) -> None:
        if self._rest_timer is not None:
            self._rest_timer.cancel()
            self._rest_timer = None

    def _give_up(self) -> None:
        self._head_timer = None
        self.transport.close()
