"""A provider on this machine: an HTTP server that answers with prepared events."""

from __future__ import annotations

import json
import struct
import threading
from binascii import crc32
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from jsonrill.testing import Script, Step, Token, Upstream
from jsonrill.testing.script import framed


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
    """What the server sends, and how much of it was sent.

    `hold_at` is the number of an event before which it waits until the block ends: a client that
    shows something earlier has not waited for the end.
    """

    def __init__(
        self,
        events: list[dict[str, Any]],
        *,
        hold_at: int | None = None,
        framed: Callable[[dict[str, Any]], bytes] = framed,
    ) -> None:
        self.gate = threading.Event()
        self.url = ""
        self.upstream: Upstream | None = None
        steps: list[Step] = [Token(framed(event)) for event in events]
        if "choices" in events[0]:
            steps.append(b"data: [DONE]\n\n")
        if hold_at is not None:
            steps.insert(hold_at, self.gate)
        kind = "application/vnd.amazon.eventstream" if framed is amazon else "text/event-stream"
        self.script = Script(steps, 200, {"content-type": kind})

    @property
    def sent(self) -> int:
        return self.upstream.tokens if self.upstream is not None else 0


@contextmanager
def serve(replay: Replay) -> Iterator[Replay]:
    """The server, on a free port of the loopback, for as long as the block lasts."""
    with Upstream(replay.script) as replay.upstream:
        replay.url = replay.upstream.url
        try:
            yield replay
        finally:
            replay.gate.set()
