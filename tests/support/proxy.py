"""A TCP proxy on loopback that breaks connections off."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import urlsplit


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
