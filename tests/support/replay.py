"""A provider on this machine: an HTTP server that answers with prepared events."""

from __future__ import annotations

import json
import struct
import threading
from binascii import crc32
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def server_sent(event: dict[str, Any]) -> bytes:
    name = f"event: {event['type']}\n" if "type" in event else ""
    return f"{name}data: {json.dumps(event)}\n\n".encode()


def amazon(event: dict[str, Any]) -> bytes:
    """application/vnd.amazon.eventstream: lengths, headers, payload, and checksums of both."""
    [(kind, body)] = event.items()
    headers = b""
    for name, value in (
        (":message-type", "event"),
        (":event-type", kind),
        (":content-type", "application/json"),
    ):
        headers += struct.pack("!B", len(name)) + name.encode()
        headers += struct.pack("!BH", 7, len(value)) + value.encode()  # 7: a string
    payload = json.dumps(body).encode()
    head = struct.pack("!II", 16 + len(headers) + len(payload), len(headers))
    message = head + struct.pack("!I", crc32(head)) + headers + payload
    return message + struct.pack("!I", crc32(message))


class Replay:
    """What the server sends, and how far it has come.

    `hold_at` is the number of an event before which it waits until `go_on` is called: a client
    that shows something earlier has not waited for the end.
    """

    def __init__(
        self,
        events: list[dict[str, Any]],
        *,
        hold_at: int | None = None,
        framed: Callable[[dict[str, Any]], bytes] = server_sent,
    ) -> None:
        self.events = events
        self.framed = framed
        self.sent = 0
        self.url = ""
        self._hold_at = hold_at
        self._gate = threading.Event()

    def go_on(self) -> None:
        self._gate.set()

    def lines(self) -> Iterator[bytes]:
        for number, event in enumerate(self.events):
            if number == self._hold_at:
                assert self._gate.wait(10), "nobody told the server to go on"
            yield self.framed(event)
            self.sent += 1
        if "choices" in self.events[0]:
            yield b"data: [DONE]\n\n"


@contextmanager
def serve(replay: Replay) -> Iterator[Replay]:
    """The server, on a free port of the loopback, for as long as the block lasts."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(200)
            if replay.framed is server_sent:
                self.send_header("Content-Type", "text/event-stream")
            else:
                self.send_header("Content-Type", "application/vnd.amazon.eventstream")
            self.end_headers()
            try:
                for line in replay.lines():
                    self.wfile.write(line)
                    self.wfile.flush()
            except (BrokenPipeError, ConnectionResetError):
                pass  # the client has seen enough

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    replay.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield replay
    finally:
        replay.go_on()
        server.shutdown()
        server.server_close()
        thread.join()
