"""An HTTP server on loopback, in threads of this process, that sends what scripts say."""

from __future__ import annotations

import json
import math
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
        # Bytes of the body and tokens that the connection has taken.
        self.sent = 0
        self.tokens = 0
        # Set when the client closed the connection before the response had ended.
        self.left = threading.Event()
        # Set when nothing more will be sent, for whatever reason.
        self.ended = threading.Event()

    @property
    def json(self) -> Any:
        """The JSON of the request's body; None if it is none."""
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
        self.errors: list[Exception] = []
        self.closing = threading.Event()
        self._replies = replies
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", port), self)
        # The base URL; clients of OpenAI want `…/v1`.
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Upstream:
        serving = lambda: self._server.serve_forever(0.01)  # noqa: E731
        self._thread = threading.Thread(target=serving, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop listening, end what is still being sent, and raise what a reply function raised."""
        self.closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        if self.errors:
            raise self.errors[0]

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
        if not isinstance(reply, Script | FakeAnswer):
            try:
                reply = reply(exchange)
            except Exception as error:
                self.errors.append(error)
                return Script.json({"error": {"message": f"the test failed: {error!r}"}}, 500)
        if isinstance(reply, FakeAnswer):
            reply = reply.script(
                exchange.target, exchange.json, exchange.headers.get("user-agent", "")
            )
        return reply


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024

    def __init__(self, address: tuple[str, int], upstream: Upstream) -> None:
        self.upstream = upstream
        super().__init__(address, _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that left is no failure of the server."""


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
        script = self.server.upstream.reply_to(exchange)
        try:
            self._send(exchange, script)
        except (OSError, _Left):
            self.close_connection = True
            if not self.server.upstream.closing.is_set():
                exchange.left.set()
        finally:
            exchange.ended.set()

    do_GET = do_PUT = do_DELETE = do_HEAD = do_POST

    def _send(self, exchange: Exchange, script: Script) -> None:
        headers = {name.lower(): value for name, value in script.headers.items()}
        steps = script.steps
        if script.framing == "chunked":
            headers["transfer-encoding"] = "chunked"
        elif script.framing == "length" and "content-length" not in headers:
            steps = [*steps]
            length = sum(len(step) for step in steps if isinstance(step, bytes))
            headers["content-length"] = str(length)
        if script.framing in ("close", "raw"):
            self.close_connection = True
            headers["connection"] = "close"
        if script.framing != "raw":
            lines = [f"HTTP/1.1 {script.status} {self.responses.get(script.status, ('',))[0]}"]
            lines += [f"{name}: {value}" for name, value in headers.items()]
            self._write("\r\n".join([*lines, "", ""]).encode("latin-1"))
        for step in steps:
            self._step(exchange, step, script.framing == "chunked")
            if isinstance(step, Cut):
                return
        if script.framing == "chunked":
            self._write(b"0\r\n\r\n")
        elif exchange.sent < int(headers.get("content-length", 0)):
            self.close_connection = True

    def _step(self, exchange: Exchange, step: Step, chunked: bool) -> None:
        match step:
            case bytes():
                # Before it is sent: who has read it, finds it counted.
                exchange.sent += len(step)
                exchange.tokens += isinstance(step, Token)
                if step:
                    self._write(b"%x\r\n%b\r\n" % (len(step), step) if chunked else step)
            case Cut():
                self._cut(step)
            case threading.Event():
                while not step.is_set():
                    self._wait(0.005)
            case _:
                self._wait(step)

    def _cut(self, how: Cut) -> None:
        self.close_connection = True
        if how is Cut.HALF:
            self.connection.shutdown(socket.SHUT_WR)
            self._wait(math.inf)
        if how is Cut.RESET:
            # Closed without lingering, a connection is reset.
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.connection.close()

    def _wait(self, seconds: float) -> None:
        """Pause, unless the client leaves."""
        until = time.monotonic() + seconds
        while (rest := until - time.monotonic()) > 0:
            self._check(min(rest, 0.05))

    def _check(self, seconds: float = 0.0) -> None:
        """Raise _Left if nothing more can be sent; wait so long for that."""
        if self.server.upstream.closing.is_set():
            raise _Left
        byte = self._peek(seconds)
        if byte == b"":
            raise _Left
        if byte:  # the next request, which says nothing about this one
            time.sleep(seconds)

    def _peek(self, seconds: float) -> bytes | None:
        """The next byte of the client, left there; empty if it has closed, None if none came."""
        self.connection.settimeout(seconds)
        try:
            return self.connection.recv(1, socket.MSG_PEEK)
        except (BlockingIOError, TimeoutError):
            return None
        except OSError:
            return b""
        finally:
            self.connection.settimeout(None)

    def _write(self, data: bytes) -> None:
        """Send all of it; a client that does not read is waited for as long as the server runs."""
        rest = memoryview(data)
        while rest:
            self._check()
            self.connection.settimeout(0.05)
            try:
                rest = rest[self.connection.send(rest) :]
            except TimeoutError:
                pass
            finally:
                self.connection.settimeout(None)

    def log_message(self, format: str, *args: Any) -> None:
        """Tests want no lines about each request."""
