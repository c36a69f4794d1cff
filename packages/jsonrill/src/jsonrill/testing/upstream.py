"""An HTTP server on loopback, in threads of this process, that sends what scripts say."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from .answers import FakeAnswer
from .script import Cut, Script, Step, Token

Reply = Script | FakeAnswer | Callable[["Exchange"], Script | FakeAnswer]


class Exchange:
    """One request and how much of the response was sent. Other threads may look at any time."""

    def __init__(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> None:
        self.method = method
        self.target = target
        # Names are in lower case.
        self.headers = headers
        self.body = body
        # Bytes of the body and tokens that were sent.
        self.sent = 0
        self.tokens = 0
        # Set when the client closed the connection before the response had ended.
        self.left = threading.Event()
        # Set when nothing more will be sent, for whatever reason.
        self.ended = threading.Event()

    @property
    def json(self) -> Any:
        """The JSON of the request's body; None if it is not JSON."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


class Upstream:
    """A server on a free port of loopback, as a context manager.

    The first request gets the first reply, the second the second, and all that follow the last one.
    A reply is a `Script`, a `FakeAnswer`, or a function that takes the `Exchange` and returns one.
    """

    def __init__(self, *replies: Reply, port: int = 0) -> None:
        if not replies:
            raise TypeError("Upstream needs a reply: a Script, a FakeAnswer, or a function")
        self.exchanges: list[Exchange] = []
        self.closing = threading.Event()
        self._errors: list[Exception] = []
        self._replies = replies
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", port), self)
        # The base URL; clients of OpenAI need `…/v1`.
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Upstream:
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.01,), daemon=True
        )
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop listening, end what is still being sent, and raise what a reply function raised."""
        self.closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        if self._errors:
            raise self._errors[0]

    @property
    def tokens(self) -> int:
        """How many tokens were sent, in all exchanges."""
        return sum(exchange.tokens for exchange in self.exchanges)

    def reply_to(self, exchange: Exchange) -> Script:
        """Note the exchange and return the script of its response."""
        with self._lock:
            number = len(self.exchanges)
            self.exchanges.append(exchange)
        reply = self._replies[min(number, len(self._replies) - 1)]
        if callable(reply):
            try:
                reply = reply(exchange)
            except Exception as error:
                self._errors.append(error)
                return Script.json({"error": {"message": f"the test failed: {error!r}"}}, 500)
        if isinstance(reply, FakeAnswer):
            reply = reply.script(exchange.target, exchange.json)
        return reply


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, address: tuple[str, int], upstream: Upstream) -> None:
        self.upstream = upstream
        super().__init__(address, _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that left: that is not a failure of the server."""


class _Left(Exception):
    """The client has closed the connection, or the server is closing."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server
    connection: socket.socket

    def handle_one_request(self) -> None:
        """Wait for the next request, but not longer than the server runs."""
        while (byte := self._peek(0.05)) is None and not self.server.upstream.closing.is_set():
            pass
        if byte:
            super().handle_one_request()
        else:
            self.close_connection = True

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        exchange = Exchange(self.command, self.path, headers, body)
        try:
            self._send(exchange, self.server.upstream.reply_to(exchange))
        except (OSError, _Left):
            self.close_connection = True
            if not self.server.upstream.closing.is_set():
                exchange.left.set()
        finally:
            exchange.ended.set()

    do_GET = do_PUT = do_DELETE = do_HEAD = do_POST

    def _send(self, exchange: Exchange, script: Script) -> None:
        self.send_response(script.status)
        for name, value in {**script.headers, "transfer-encoding": "chunked"}.items():
            self.send_header(name, value)
        self.end_headers()
        for step in script.steps:
            if isinstance(step, Cut):
                self._cut(step)
                return
            self._step(exchange, step)
        self.wfile.write(b"0\r\n\r\n")

    def _step(self, exchange: Exchange, step: Step) -> None:
        match step:
            case bytes():
                self._check(0)
                # Counted before it is sent, so that a reader of it finds it counted.
                exchange.sent += len(step)
                exchange.tokens += isinstance(step, Token)
                if step:
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(step), step))
            case threading.Event():
                while not step.is_set():
                    self._check(0.005)
            case float() | int():
                until = time.monotonic() + step
                while (rest := until - time.monotonic()) > 0:
                    self._check(min(rest, 0.05))

    def _cut(self, cut: Cut) -> None:
        self.close_connection = True
        if cut is Cut.RESET:
            # Closed without lingering, a connection is reset.
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.connection.close()

    def _check(self, seconds: float) -> None:
        """Wait so long; raise _Left if nothing more can be sent."""
        if self.server.upstream.closing.is_set():
            raise _Left
        byte = self._peek(seconds)
        if byte == b"":
            raise _Left
        if byte:  # the next request, which says nothing about this one
            time.sleep(seconds)

    def _peek(self, seconds: float) -> bytes | None:
        """Return the client's next byte, left there; empty if it has closed, None if none came."""
        self.connection.settimeout(seconds)
        try:
            return self.connection.recv(1, socket.MSG_PEEK)
        except (BlockingIOError, TimeoutError):
            return None
        except OSError:
            return b""
        finally:
            self.connection.settimeout(None)

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing about requests."""
