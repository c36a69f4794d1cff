"""A provider on this machine: an HTTP server that answers with prepared server-sent events."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Replay:
    """What the server sends, and how far it has come.

    `hold_at` is the number of an event before which it waits until `go_on` is called: a client
    that shows something earlier has not waited for the end.
    """

    def __init__(self, events: list[dict[str, Any]], *, hold_at: int | None = None) -> None:
        self.events = events
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
            name = f"event: {event['type']}\n" if "type" in event else ""
            yield f"{name}data: {json.dumps(event)}\n\n".encode()
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
            self.send_header("Content-Type", "text/event-stream")
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
