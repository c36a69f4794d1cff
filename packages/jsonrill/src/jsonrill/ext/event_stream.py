"""What the response of every framework has that is an event stream. Needs no package."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, Final, NamedTuple

from ..eventstream import HEARTBEAT, HEARTBEAT_SECONDS
from .tasks import stop

HEADERS: Final = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store, no-transform",
    # Proxies hold back what looks like a page.
    "x-accel-buffering": "no",
    "x-content-type-options": "nosniff",
}
# A comment, so that proxies in between pass the beginning of the response on.
OPENING: Final = b": open\n"
TICK: Final = 1.0
_END: Final = b""


class Reply(NamedTuple):
    """A response before a framework makes one of it: a body, or a source of events."""

    status: int
    headers: Mapping[str, str] = {}
    body: bytes = b""
    source: Any = None
    # How the events are sent: the arguments of `ByteStreamResponse`.
    sending: Mapping[str, Any] = {}


def beginning(retry: int | None) -> bytes:
    """What is sent in the block of the first event: alone, some clients take it for an event.

    It is not the same for all: after a restart they would come back at the same moment.
    """
    return b"" if retry is None else b"retry: %d\n" % (random.uniform(0.75, 1.25) * retry)


async def with_heartbeats(
    source: Any,
    *,
    heartbeat: float = HEARTBEAT_SECONDS,
    retry: int | None = None,
    max_seconds: float = float("inf"),
    stopping: Callable[[], bool] = bool,
    closing_bytes: Callable[[], bytes] = bytes,
    **_: Any,
) -> AsyncIterator[bytes]:
    """Yield the bytes of a source, with heartbeats, for frameworks that send what is iterated.

    The arguments are those of `ByteStreamResponse`. The source is closed in any case.
    """
    clock = asyncio.get_running_loop().time
    until, prefix = clock() + max_seconds, beginning(retry)
    items, next_one = aiter(source), None
    try:
        yield OPENING
        sent = clock()
        while True:
            if next_one is None:
                next_one = asyncio.ensure_future(anext(items, _END))
            await asyncio.wait({next_one}, timeout=min(TICK, heartbeat / 2))
            over = stopping() or clock() >= until  # also of a source that never pauses
            if next_one.done():
                chunk, next_one = next_one.result(), None
                if chunk is _END:
                    return
                if not over:
                    yield prefix + chunk
                    prefix, sent = b"", clock()
            if over:
                if words := closing_bytes():
                    yield words
                return
            elif clock() - sent >= heartbeat:
                yield HEARTBEAT
                sent = clock()
    finally:
        await stop(next_one)
        await source.aclose()
